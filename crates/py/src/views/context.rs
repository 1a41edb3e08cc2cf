//! The sender as seen by every algorithm.

use ackclock_tcp::event;
use ackclock_tcp::facts::ctx::Ctx;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::PyClass;

/// The four phases of a sender.
#[pyclass(frozen, eq, eq_int, hash, module = "ackclock.slots", rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// No data is missing.
    Open,
    /// Data is missing, and it is unclear whether it is lost.
    Disorder,
    /// A loss is being repaired after a judge's verdict.
    Recovery,
    /// A loss is being repaired after a retransmission timeout.
    Loss,
}

impl Phase {
    /// The single object for it, so that `is` works.
    fn object(py: Python<'_>, p: event::Phase) -> PyResult<Py<Phase>> {
        static ALL: PyOnceLock<[Py<Phase>; 4]> = PyOnceLock::new();
        let all = ALL.get_or_try_init(py, || members(py, ["OPEN", "DISORDER", "RECOVERY", "LOSS"]))?;
        let at = match p {
            event::Phase::Open => 0,
            event::Phase::Disorder => 1,
            event::Phase::Recovery => 2,
            event::Phase::Loss => 3,
        };
        Ok(all[at].clone_ref(py))
    }
}

/// The members of an enumeration, by their names.
pub(super) fn members<T: PyClass, const N: usize>(py: Python<'_>, names: [&str; N]) -> PyResult<[Py<T>; N]> {
    let class = py.get_type::<T>();
    let mut all = Vec::with_capacity(N);
    for name in names {
        all.push(class.getattr(name)?.cast_into::<T>()?.unbind());
    }
    all.try_into().map_err(|_| PyRuntimeError::new_err("an enumeration without its members"))
}

/// The sender at one instant: a copy. Offsets count bytes of the stream from 1, times are whole nanoseconds since the run
/// began, and unknown values are None.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Context(pub(crate) Ctx);

#[pymethods]
impl Context {
    /// The current time, ns.
    #[getter]
    fn now(&self) -> u64 {
        self.0.now.0
    }
    /// Lowest unacknowledged offset.
    #[getter]
    fn snd_una(&self) -> u64 {
        self.0.snd_una.0
    }
    /// Next offset to send; below `snd_max` after going back.
    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.0.snd_nxt.0
    }
    /// One past the highest offset ever sent.
    #[getter]
    fn snd_max(&self) -> u64 {
        self.0.snd_max.0
    }
    /// Outstanding bytes, `snd_max - snd_una` (RFC 5681 section 2, FlightSize).
    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight()
    }
    /// The room for a new segment at `snd_max`, bytes.
    #[getter]
    fn room(&self) -> u64 {
        self.0.room
    }
    /// First unsent offset when the newest episode began.
    #[getter]
    fn recover(&self) -> Option<u64> {
        self.0.recover.map(|o| o.0)
    }
    /// Whether a timeout began the newest episode.
    #[getter]
    fn timed_out(&self) -> bool {
        self.0.timed_out
    }
    /// Smoothed round-trip time, ns.
    #[getter]
    fn srtt(&self) -> Option<u64> {
        self.0.srtt.map(|t| t.0)
    }
    /// Smallest round-trip time seen, ns.
    #[getter]
    fn min_rtt(&self) -> Option<u64> {
        self.0.min_rtt.map(|t| t.0)
    }
    /// Retransmission timeout without back-off, ns.
    #[getter]
    fn rto(&self) -> u64 {
        self.0.rto.0
    }
    /// When the running retransmission timer fires, ns.
    #[getter]
    fn rto_at(&self) -> Option<u64> {
        self.0.rto_at.map(|t| t.0)
    }
    /// Maximum segment size, bytes of payload.
    #[getter]
    fn mss(&self) -> u32 {
        self.0.mss
    }
    /// Sequence space that the next segment at `snd_nxt` would take, bytes; 0 if none can be sent.
    #[getter]
    fn next_len(&self) -> u32 {
        self.0.next_len
    }
    /// The phase.
    #[getter]
    fn phase(&self, py: Python<'_>) -> PyResult<Py<Phase>> {
        Phase::object(py, self.0.phase)
    }
    /// Whether the last transmission stopped because the window was full (RFC 7661).
    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.0.cwnd_limited
    }
    fn __repr__(&self) -> String {
        let cx = &self.0;
        format!("<Context at {}: {:?}, {} to {}>", cx.now, cx.phase, cx.snd_una, cx.snd_max)
    }
}
