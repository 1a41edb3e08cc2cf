//! The congestion window in an algorithm's view: a copy, which is written back after the call if the slot may write.

use super::answers::{check, LARGEST};
use super::{Board, Context};
use ackclock_tcp::event;
use ackclock_tcp::facts::gate;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The congestion window and the slow start threshold, in real-valued bytes.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Window {
    cwnd: AtomicU64,
    ssthresh: AtomicU64,
    writable: AtomicBool,
}

impl Window {
    fn new(w: &event::Window, writable: bool) -> Self {
        Window {
            cwnd: AtomicU64::new(w.cwnd.to_bits()),
            ssthresh: AtomicU64::new(w.ssthresh.to_bits()),
            writable: AtomicBool::new(writable),
        }
    }

    /// A read-only copy.
    pub(crate) fn read(w: &event::Window) -> Self {
        Self::new(w, false)
    }

    /// Lends it for one call that may write; changes take effect if the call succeeds and leaves a segment of `mss`.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        w: &mut event::Window,
        mss: u32,
        call: impl FnOnce(&Bound<'py, Window>) -> PyResult<R>,
    ) -> PyResult<R> {
        let lent = Bound::new(py, Self::new(w, true))?;
        let answer = call(&lent);
        let view = lent.get();
        view.writable.store(false, Ordering::Relaxed);
        let answer = answer?;
        let written = view.value();
        fits(&written, mss).map_err(|e| PyValueError::new_err(format!("left {e}")))?;
        *w = written;
        Ok(answer)
    }

    pub(crate) fn value(&self) -> event::Window {
        let number = |n: &AtomicU64| f64::from_bits(n.load(Ordering::Relaxed));
        event::Window { cwnd: number(&self.cwnd), ssthresh: number(&self.ssthresh) }
    }

    fn set(&self, to: &AtomicU64, name: &str, bytes: f64) -> PyResult<()> {
        if !self.writable.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err(format!(
                "this window is read-only; {name} can be set only while a method runs that gets it for writing"
            )));
        }
        check(name, bytes, 0.0, if name == "cwnd" { LARGEST } else { f64::INFINITY })?;
        to.store(bytes.to_bits(), Ordering::Relaxed);
        Ok(())
    }
}

/// Checks that window and threshold hold a segment, as every part of the engine assumes; returns the fault if not.
pub(crate) fn fits(w: &event::Window, mss: u32) -> Result<(), String> {
    for (name, bytes) in [("cwnd", w.cwnd), ("ssthresh", w.ssthresh)] {
        if bytes < f64::from(mss) {
            return Err(format!("{name} = {bytes} B, allowed: one segment ({mss} B) or more"));
        }
    }
    Ok(())
}

#[pymethods]
impl Window {
    #[new]
    fn made(cwnd: f64, ssthresh: f64) -> PyResult<Self> {
        check("cwnd", cwnd, 0.0, LARGEST)?;
        check("ssthresh", ssthresh, 0.0, f64::INFINITY)?;
        Ok(Self::read(&event::Window { cwnd, ssthresh }))
    }
    /// Whether the next segment may be sent: compares the whole segments of `cwnd`, and `extra` bytes, with the data between
    /// `snd_una` and `snd_nxt`.
    #[pyo3(signature = (cx, extra = 0))]
    fn admits(&self, cx: &Bound<'_, Context>, extra: u64) -> bool {
        gate::window(&self.value(), extra.min(LARGEST as u64), &cx.get().0)
    }
    /// Whether a segment's worth of `cwnd` is unused by the network (RFC 6675 section 5 (C)).
    fn admits_by_pipe(&self, py: Python<'_>, board: &Bound<'_, Board>, cx: &Bound<'_, Context>) -> PyResult<bool> {
        Ok(gate::pipe(&self.value(), board.get().reading(py)?, &cx.get().0))
    }
    /// Congestion window, bytes (RFC 5681 section 2).
    #[getter]
    fn cwnd(&self) -> f64 {
        self.value().cwnd
    }
    #[setter]
    fn set_cwnd(&self, bytes: f64) -> PyResult<()> {
        self.set(&self.cwnd, "cwnd", bytes)
    }
    /// Slow start threshold, bytes (RFC 5681 section 3.1).
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.value().ssthresh
    }
    #[setter]
    fn set_ssthresh(&self, bytes: f64) -> PyResult<()> {
        self.set(&self.ssthresh, "ssthresh", bytes)
    }
    fn __repr__(&self) -> String {
        let w = self.value();
        format!("<Window cwnd {} B, ssthresh {} B>", w.cwnd, w.ssthresh)
    }
}
