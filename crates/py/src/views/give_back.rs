//! The interface through which an undo restores state, lent for one call.

use super::{Episode, Window};
use ackclock_tcp::event;
use ackclock_tcp::time::Time;
use ackclock_tcp::undo;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The state when a mistake has been found, and the means to undo it.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct GiveBack {
    w: Py<Window>,
    at: undo::Standing,
    /// The undo's result; `None` after the call has ended.
    answer: Mutex<Option<undo::GiveBack>>,
}

impl GiveBack {
    /// Lends it for one call, and returns the state to be restored besides the window.
    pub(crate) fn lend<'py>(
        py: Python<'py>,
        at: undo::Standing,
        w: &mut event::Window,
        mss: u32,
        call: impl FnOnce(&Bound<'py, GiveBack>) -> PyResult<()>,
    ) -> PyResult<undo::GiveBack> {
        Window::lend(py, w, mss, |w| {
            let answer = Mutex::new(Some(undo::GiveBack::default()));
            let lent = Bound::new(py, GiveBack { w: w.clone().unbind(), at, answer })?;
            let called = call(&lent);
            let answer = lent.get().answer.lock().unwrap_or_else(PoisonError::into_inner).take();
            called.map(|()| answer.unwrap_or_default())
        })
    }

    fn edit(&self, change: impl FnOnce(&mut undo::GiveBack)) -> PyResult<()> {
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let over = || PyRuntimeError::new_err("this GiveBack was valid for one call, which has ended");
        answer.as_mut().map(change).ok_or_else(over)
    }
}

#[pymethods]
impl GiveBack {
    /// The window, for writing.
    #[getter]
    fn w(&self, py: Python<'_>) -> Py<Window> {
        self.w.clone_ref(py)
    }
    /// Bytes newly reported as delivered, cumulatively or by SACK, by the ACK that revealed the mistake.
    #[getter]
    fn acked(&self) -> u64 {
        self.at.acked
    }
    /// The outstanding data as counted by the gate in Open, bytes.
    #[getter]
    fn outstanding(&self) -> u64 {
        self.at.outstanding
    }
    /// Restore the state that the congestion control saved when the episode began. This happens after the call; the last
    /// request counts.
    fn restore_congestion(&self, episode: &Bound<'_, Episode>) -> PyResult<()> {
        let saved = episode.get().value()?.cc_undo.get();
        self.edit(|answer| answer.congestion = Some(saved))
    }
    /// Tell the retransmission timer that its timeout at that time was spurious, ns (RFC 4015 section 3.1 (11)). This
    /// happens after the call; the last time given counts.
    fn fired_for_nothing(&self, at: u64) -> PyResult<()> {
        self.edit(|answer| answer.fired = Some(Time(at)))
    }
}
