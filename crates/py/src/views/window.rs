//! The congestion window as an algorithm sees it: a copy, written back after the call where the slot may write.

use ackclock_tcp::event;
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

    /// A copy for reading.
    pub(crate) fn read(w: &event::Window) -> Self {
        Self::new(w, false)
    }

    /// Lends it for one call that may write; what is written counts if the call succeeds.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        w: &mut event::Window,
        call: impl FnOnce(&Bound<'py, Window>) -> PyResult<R>,
    ) -> PyResult<R> {
        let lent = Bound::new(py, Self::new(w, true))?;
        let answer = call(&lent);
        let view = lent.get();
        view.writable.store(false, Ordering::Relaxed);
        if answer.is_ok() {
            *w = view.value();
        }
        answer
    }

    pub(crate) fn value(&self) -> event::Window {
        let number = |n: &AtomicU64| f64::from_bits(n.load(Ordering::Relaxed));
        event::Window { cwnd: number(&self.cwnd), ssthresh: number(&self.ssthresh) }
    }

    fn set(&self, to: &AtomicU64, name: &str, bytes: f64) -> PyResult<()> {
        if !self.writable.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err(format!(
                "this window is for reading: {name} can be set only in a method that is lent it for writing, while it runs"
            )));
        }
        if !(bytes.is_finite() && bytes >= 0.0) {
            return Err(PyValueError::new_err(format!("{name} = {bytes}, allowed: a number of bytes from 0")));
        }
        to.store(bytes.to_bits(), Ordering::Relaxed);
        Ok(())
    }
}

#[pymethods]
impl Window {
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
