//! What an undo may write to, lent for one call.

#![expect(unsafe_code, reason = "growth and timer belong to the engine and are lent to Python for one call")]

use super::{Episode, Window};
use ackclock_tcp::congestion::{AnyCongestion, Congestion};
use ackclock_tcp::rto::{AnyRto, Rto};
use ackclock_tcp::time::Time;
use ackclock_tcp::undo;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What an undo may write to.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct GiveBack {
    w: Py<Window>,
    congestion: AtomicPtr<AnyCongestion>,
    rto: AtomicPtr<AnyRto>,
    acked: u64,
    outstanding: u64,
}

impl GiveBack {
    /// Lends it for one call.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        give_back: undo::GiveBack<'_>,
        mss: u32,
        call: impl FnOnce(&Bound<'py, GiveBack>) -> PyResult<R>,
    ) -> PyResult<R> {
        let undo::GiveBack { w, congestion, rto, acked, outstanding } = give_back;
        Window::lend(py, w, mss, |w| {
            let view = GiveBack {
                w: w.clone().unbind(),
                congestion: AtomicPtr::new(ptr::from_mut(congestion)),
                rto: AtomicPtr::new(ptr::from_mut(rto)),
                acked,
                outstanding,
            };
            let lent = Bound::new(py, view)?;
            let answer = call(&lent);
            lent.get().congestion.store(ptr::null_mut(), Ordering::Relaxed);
            lent.get().rto.store(ptr::null_mut(), Ordering::Relaxed);
            answer
        })
    }
}

fn over() -> PyErr {
    PyRuntimeError::new_err("this GiveBack was lent for one call, which has ended")
}

#[pymethods]
impl GiveBack {
    /// The window, for writing.
    #[getter]
    fn w(&self, py: Python<'_>) -> Py<Window> {
        self.w.clone_ref(py)
    }
    /// Bytes that the ACK which showed the mistake newly reports as delivered, cumulatively or by SACK.
    #[getter]
    fn acked(&self) -> u64 {
        self.acked
    }
    /// What the gate in Open counts as outstanding, bytes.
    #[getter]
    fn outstanding(&self) -> u64 {
        self.outstanding
    }
    /// Give the congestion control back what it saved when the episode began.
    fn restore_congestion(&self, _py: Python<'_>, episode: &Bound<'_, Episode>) -> PyResult<()> {
        let saved = episode.get().value()?.cc_undo;
        // The place is taken while it is used: a congestion control in Python cannot come back here.
        let congestion = self.congestion.swap(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: it is not null only while `lend`, which holds it exclusively, waits for the call, and nobody else has it: it
        // was taken out of its place just now.
        unsafe { congestion.as_mut() }.ok_or_else(over)?.restore(&saved);
        self.congestion.store(congestion, Ordering::Relaxed);
        Ok(())
    }
    /// Tell the retransmission timer that it fired for nothing at that moment, ns (RFC 4015 section 3.1 (11)).
    fn fired_for_nothing(&self, _py: Python<'_>, at: u64) -> PyResult<()> {
        let rto = self.rto.swap(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: as in `restore_congestion`.
        unsafe { rto.as_mut() }.ok_or_else(over)?.on_spurious_timeout(Time(at));
        self.rto.store(rto, Ordering::Relaxed);
        Ok(())
    }
}
