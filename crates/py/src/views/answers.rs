//! The results of algorithms: values created in Python and read by the engine.

use super::context::members;
use ackclock_tcp::congestion::Cut as EngineCut;
use ackclock_tcp::detect;
use ackclock_tcp::event;
use ackclock_tcp::facts::answer;
use ackclock_tcp::facts::gate;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::startup;
use ackclock_tcp::timeout;
use ackclock_tcp::undo;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A detector's verdict after an ACK or a timer.
#[pyclass(frozen, eq, module = "ackclock.slots")]
#[derive(PartialEq)]
pub(crate) struct Verdict(pub(crate) detect::Verdict);

#[pymethods]
impl Verdict {
    /// Nothing is missing.
    #[classattr]
    const CLEAR: Verdict = Verdict(detect::Verdict::Clear);
    /// Something is missing: Disorder.
    #[classattr]
    const SUSPECT: Verdict = Verdict(detect::Verdict::Suspect);
    /// An event with nothing left to repair: the window is cut and no phase begins.
    #[classattr]
    const REPAIRED: Verdict = Verdict(detect::Verdict::Repaired);
    /// One segment is to be sent now, regardless of the window.
    #[classattr]
    const PROBE: Verdict = Verdict(detect::Verdict::Probe);
    /// Bytes newly marked lost, as a new event: an episode begins if none is running.
    #[staticmethod]
    fn lost(bytes: u64) -> Self {
        Verdict(detect::Verdict::Lost(bytes))
    }
    /// Bytes newly marked lost, as part of an earlier event.
    #[staticmethod]
    fn more(bytes: u64) -> Self {
        Verdict(detect::Verdict::More(bytes))
    }
    fn __repr__(&self) -> String {
        format!("<Verdict {:?}>", self.0)
    }
}

/// A transmission: the segment to send, or the one that was sent.
#[pyclass(frozen, eq, module = "ackclock.slots")]
#[derive(PartialEq)]
pub(crate) struct Xmit(pub(crate) answer::Xmit);

#[pymethods]
impl Xmit {
    /// The segment at `snd_nxt`; below `snd_max` that is a retransmission.
    #[classattr]
    const NEW: Xmit = Xmit(answer::Xmit::New);
    /// Retransmits the segment that contains this offset.
    #[staticmethod]
    fn again(offset: u64) -> Self {
        Xmit(answer::Xmit::Again(Offset(offset)))
    }
    /// The offset of the retransmission; None for `NEW`.
    #[getter]
    fn offset(&self) -> Option<u64> {
        match self.0 {
            answer::Xmit::New => None,
            answer::Xmit::Again(at) => Some(at.0),
        }
    }
    fn __repr__(&self) -> String {
        format!("<Xmit {:?}>", self.0)
    }
}

/// The effect on the retransmission timer.
#[pyclass(frozen, eq, eq_int, hash, from_py_object, module = "ackclock.slots", rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rearm {
    /// RFC 6298 section 5: restarted by an ACK of new data.
    OnNewData,
    /// Restarted now.
    Restart,
    /// Left running.
    Keep,
}

/// The next step that the owner of Recovery or Loss wants.
#[pyclass(frozen, eq, module = "ackclock.slots")]
#[derive(PartialEq)]
pub(crate) struct Flow(pub(crate) answer::Flow);

#[pymethods]
impl Flow {
    /// The phase continues; the timer is restarted by an ACK of new data.
    #[classattr]
    const CONTINUE: Flow = Flow(answer::Flow::Continue(answer::Rearm::OnNewData));
    /// The phase is over.
    #[classattr]
    const DONE: Flow = Flow(answer::Flow::Done { grow: false });
    /// The phase is over, and the ACK that ended it also grows the window.
    #[classattr]
    const DONE_AND_GROW: Flow = Flow(answer::Flow::Done { grow: true });
    /// From Recovery only: the same episode continues in Loss, without back-off.
    #[classattr]
    const RESTART: Flow = Flow(answer::Flow::Restart);
    /// From Loss only: `snd_nxt` goes back to `snd_una`.
    #[classattr]
    const REWIND: Flow = Flow(answer::Flow::Rewind);
    /// A fast retransmit begins a new episode; from Recovery the old one ends with it.
    #[classattr]
    const BEGIN: Flow = Flow(answer::Flow::Begin);
    /// The phase continues, with this effect on the timer.
    #[staticmethod]
    fn continue_with(rearm: Rearm) -> Self {
        Flow(answer::Flow::Continue(match rearm {
            Rearm::OnNewData => answer::Rearm::OnNewData,
            Rearm::Restart => answer::Rearm::Restart,
            Rearm::Keep => answer::Rearm::Keep,
        }))
    }
    fn __repr__(&self) -> String {
        format!("<Flow {:?}>", self.0)
    }
}

/// The repair of lost data after a timeout.
#[pyclass(frozen, eq, module = "ackclock.slots")]
#[derive(PartialEq)]
pub(crate) struct Repair(pub(crate) timeout::Repair);

#[pymethods]
impl Repair {
    /// Data marked lost is sent.
    #[classattr]
    const MARKS: Repair = Repair(timeout::Repair::Marks);
    /// `snd_nxt` goes back to `snd_una`, and SACKed data is skipped.
    #[classattr]
    const REWIND: Repair = Repair(timeout::Repair::Rewind { skip_sacked: true });
    /// `snd_nxt` goes back to `snd_una`, and everything is retransmitted.
    #[classattr]
    const REWIND_ALL: Repair = Repair(timeout::Repair::Rewind { skip_sacked: false });
    fn __repr__(&self) -> String {
        format!("<Repair {:?}>", self.0)
    }
}

/// The effect of a loss on the window. The threshold is set immediately; the window is a target that recovery reaches in
/// its own way. Both in bytes.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Cut(pub(crate) EngineCut);

#[pymethods]
impl Cut {
    #[new]
    fn new(ssthresh: f64, cwnd: f64) -> PyResult<Self> {
        check("ssthresh", ssthresh, 0.0, LARGEST)?;
        check("cwnd", cwnd, 0.0, LARGEST)?;
        Ok(Cut(EngineCut { ssthresh, cwnd }))
    }
    /// New slow start threshold, bytes.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh
    }
    /// Target window, bytes.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }
    fn __repr__(&self) -> String {
        format!("<Cut to ssthresh {} B, cwnd {} B>", self.0.ssthresh, self.0.cwnd)
    }
}

/// The effect of an ACK on slow start.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Advice(pub(crate) startup::Advice);

#[pymethods]
impl Advice {
    /// No change.
    #[classattr]
    const KEEP: Advice = Advice(startup::Advice::Keep);
    /// Sets the slow start threshold, bytes.
    #[staticmethod]
    fn ssthresh(bytes: f64) -> PyResult<Self> {
        check("ssthresh", bytes, 0.0, f64::INFINITY)?;
        Ok(Advice(startup::Advice::Ssthresh(bytes)))
    }
    /// From now on, slow start opens the window by this share, 0 to 1, of the usual amount; at the first loss it returns
    /// to 1.
    #[staticmethod]
    fn growth(share: f64) -> PyResult<Self> {
        check("share", share, 0.0, 1.0)?;
        Ok(Advice(startup::Advice::Growth(share as f32)))
    }
    fn __repr__(&self) -> String {
        format!("<Advice {:?}>", self.0)
    }
}

/// The amount compared with the window before new data is sent in Open.
#[pyclass(frozen, eq, eq_int, hash, from_py_object, module = "ackclock.slots", rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Gate {
    /// The data between `snd_una` and `snd_nxt`, in whole segments of the window.
    Window,
    /// RFC 6675's `pipe`.
    Pipe,
}

impl From<Gate> for gate::Gate {
    fn from(g: Gate) -> Self {
        match g {
            Gate::Window => gate::Gate::Window,
            Gate::Pipe => gate::Gate::Pipe,
        }
    }
}

/// The window remembered by an episode that a timeout begins during another one's repair.
#[pyclass(frozen, eq, eq_int, hash, from_py_object, module = "ackclock.slots", rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Prior {
    /// The current window at the timeout.
    AtTimeout,
    /// The window remembered by the interrupted episode.
    BeforeInterrupted,
}

impl From<Prior> for undo::Prior {
    fn from(p: Prior) -> Self {
        match p {
            Prior::AtTimeout => undo::Prior::AtTimeout,
            Prior::BeforeInterrupted => undo::Prior::BeforeInterrupted,
        }
    }
}

/// The event that revealed a loss.
#[pyclass(frozen, eq, eq_int, hash, from_py_object, module = "ackclock.slots", rename_all = "SCREAMING_SNAKE_CASE")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// A detector's verdict.
    Fast,
    /// A retransmission timeout.
    Rto,
    /// The network reported congestion (RFC 3168): the window is cut and nothing is repaired.
    Ecn,
}

impl Cause {
    /// The single object for it, so that `is` works.
    pub(super) fn object(py: Python<'_>, c: event::Cause) -> PyResult<Py<Cause>> {
        static ALL: PyOnceLock<[Py<Cause>; 3]> = PyOnceLock::new();
        let all = ALL.get_or_try_init(py, || members(py, ["FAST", "RTO", "ECN"]))?;
        let at = match c {
            event::Cause::Fast => 0,
            event::Cause::Rto => 1,
            event::Cause::Ecn => 2,
        };
        Ok(all[at].clone_ref(py))
    }
}

/// The largest window that may be requested, bytes.
pub(crate) const LARGEST: f64 = (1u64 << 50) as f64;

/// Refuses a value that is not a number, or is out of range.
pub(crate) fn check(name: &str, number: f64, least: f64, most: f64) -> PyResult<()> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("{name} = {number}, allowed: a number from {least} to {most}")))
}
