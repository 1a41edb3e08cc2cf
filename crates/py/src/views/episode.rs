//! Episodes, the ledger of the last four, verdicts on them, and losses.

#![expect(unsafe_code, reason = "the ledger belongs to the engine and is lent to Python for one call")]

use super::answers::{check, Cause};
use super::{Sample, Window};
use ackclock_tcp::congestion::LossEvent;
use ackclock_tcp::facts::episode::{self, Mistake as EngineMistake};
use ackclock_tcp::seq::Offset;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Mutex;

/// The record of one loss event. `recover`, `proven_spurious` and `void` may be set while the method that received it runs.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Episode(Mutex<Lent>);

struct Lent {
    ep: episode::Episode,
    writable: bool,
}

impl Episode {
    fn made(ep: episode::Episode, writable: bool) -> Self {
        Episode(Mutex::new(Lent { ep, writable }))
    }

    /// Lends it for one call that may write; changes take effect if the call succeeds.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        ep: &mut episode::Episode,
        call: impl FnOnce(&Bound<'py, Episode>) -> PyResult<R>,
    ) -> PyResult<R> {
        let lent = Bound::new(py, Self::made(ep.clone(), true))?;
        let answer = call(&lent);
        let written = lent.get().close()?;
        if answer.is_ok() {
            *ep = written;
        }
        answer
    }

    fn close(&self) -> PyResult<episode::Episode> {
        self.with(|lent| {
            lent.writable = false;
            lent.ep.clone()
        })
    }

    fn with<R>(&self, read: impl FnOnce(&mut Lent) -> R) -> PyResult<R> {
        self.0.lock().map(|mut lent| read(&mut lent)).map_err(|_| PyRuntimeError::new_err("this Episode is broken"))
    }

    pub(crate) fn value(&self) -> PyResult<episode::Episode> {
        self.with(|lent| lent.ep.clone())
    }

    fn write(&self, set: impl FnOnce(&mut episode::Episode)) -> PyResult<()> {
        let written = self.with(|lent| {
            if lent.writable {
                set(&mut lent.ep);
            }
            lent.writable
        })?;
        written.then_some(()).ok_or_else(|| {
            PyRuntimeError::new_err("this Episode was writable for one call, which has ended; it is read-only now")
        })
    }
}

#[pymethods]
impl Episode {
    /// 1 for the first of a connection.
    #[getter]
    fn id(&self) -> PyResult<u32> {
        Ok(self.value()?.id)
    }
    /// The event that began it.
    #[getter]
    fn cause(&self, py: Python<'_>) -> PyResult<Py<Cause>> {
        Cause::object(py, self.value()?.cause)
    }
    /// When it began, ns.
    #[getter]
    fn began(&self) -> PyResult<u64> {
        Ok(self.value()?.began.0)
    }
    /// First unsent offset when it began; a recovery may move it.
    #[getter]
    fn recover(&self) -> PyResult<u64> {
        Ok(self.value()?.recover.0)
    }
    #[setter]
    fn set_recover(&self, offset: u64) -> PyResult<()> {
        if !(1..1 << 62).contains(&offset) {
            return Err(PyValueError::new_err(format!("recover = {offset}, allowed: an offset from 1")));
        }
        self.write(|ep| ep.recover = Offset(offset))
    }
    /// The window before the cut, never inflated: read-only.
    #[getter]
    fn prior(&self) -> PyResult<Window> {
        Ok(Window::read(&self.value()?.prior))
    }
    /// The window that the cut aims at, bytes.
    #[getter]
    fn target(&self) -> PyResult<f64> {
        Ok(self.value()?.target)
    }
    /// Outstanding bytes when it began, without data that Disorder sent beyond the window.
    #[getter]
    fn flight(&self) -> PyResult<u64> {
        Ok(self.value()?.flight)
    }
    /// Segments retransmitted in it.
    #[getter]
    fn retransmits(&self) -> PyResult<u32> {
        Ok(self.value()?.retransmits)
    }
    /// Those proven needless.
    #[getter]
    fn proven_spurious(&self) -> PyResult<u32> {
        Ok(self.value()?.proven_spurious)
    }
    #[setter]
    fn set_proven_spurious(&self, segments: u32) -> PyResult<()> {
        self.write(|ep| ep.proven_spurious = segments)
    }
    /// Duplicates before the hole was filled (Blanton & Allman's D).
    #[getter]
    fn dupacks_to_fill(&self) -> PyResult<u32> {
        Ok(self.value()?.dupacks_to_fill)
    }
    /// The first duplicate of the hole, ns (when the episode began, if no duplicates began it).
    #[getter]
    fn first_dup(&self) -> PyResult<u64> {
        Ok(self.value()?.first_dup.0)
    }
    /// The last duplicate before the hole was filled, ns.
    #[getter]
    fn last_dup(&self) -> PyResult<u64> {
        Ok(self.value()?.last_dup.0)
    }
    /// When the hole was filled, ns: the first advancing ACK of its Recovery.
    #[getter]
    fn filled(&self) -> PyResult<Option<u64>> {
        Ok(self.value()?.filled.map(|t| t.0))
    }
    /// When its phase ended, ns.
    #[getter]
    fn ended(&self) -> PyResult<Option<u64>> {
        Ok(self.value()?.ended.map(|t| t.0))
    }
    /// Whether undo is impossible.
    #[getter]
    fn void(&self) -> PyResult<bool> {
        Ok(self.value()?.void)
    }
    #[setter]
    fn set_void(&self, void: bool) -> PyResult<()> {
        self.write(|ep| ep.void = void)
    }
    /// The information about reordering from a retransmission proved needless; None before the hole is filled.
    fn sample(&self) -> PyResult<Option<Sample>> {
        Ok(self.value()?.sample().map(Sample))
    }
    fn __repr__(&self) -> PyResult<String> {
        let ep = self.value()?;
        Ok(format!("<Episode {} ({:?}), began {}>", ep.id, ep.cause, ep.began))
    }
}

/// The last four episodes, lent for one call.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Ledger {
    ledger: AtomicPtr<episode::Ledger>,
    out: Mutex<Vec<Py<Episode>>>,
}

impl Ledger {
    /// Lends it for one call; changes to its episodes take effect if the call succeeds.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        ledger: &mut episode::Ledger,
        call: impl FnOnce(&Bound<'py, Ledger>) -> PyResult<R>,
    ) -> PyResult<R> {
        let view = Ledger { ledger: AtomicPtr::new(ptr::from_mut(ledger)), out: Mutex::default() };
        let lent = Bound::new(py, view)?;
        let answer = call(&lent);
        let view = lent.get();
        view.ledger.store(ptr::null_mut(), Ordering::Relaxed);
        for ep in view.out.lock().map(|mut out| std::mem::take(&mut *out)).unwrap_or_default() {
            let written = ep.get().close()?;
            if let Some(ep) = ledger.get(written.id).filter(|_| answer.is_ok()) {
                *ep = written;
            }
        }
        answer
    }

    #[expect(clippy::mut_from_ref, reason = "the exclusive access is that of the engine, which waits")]
    fn reach(&self, _py: Python<'_>) -> PyResult<&mut episode::Ledger> {
        let ledger = self.ledger.load(Ordering::Relaxed);
        // SAFETY: it is not null only while `lend`, which holds the ledger exclusively, waits for the call; `_py` shows that
        // no other thread runs Python meanwhile, and each use of the reference ends before Python continues.
        unsafe { ledger.as_mut() }
            .ok_or_else(|| PyRuntimeError::new_err("this Ledger was valid for one call, which has ended"))
    }

    /// The object for an episode in this call: one for each.
    fn hand_out(&self, py: Python<'_>, ep: Option<episode::Episode>) -> PyResult<Option<Py<Episode>>> {
        let Some(ep) = ep else { return Ok(None) };
        let mut out = self.out.lock().map_err(|_| PyRuntimeError::new_err("this Ledger is broken"))?;
        for known in out.iter() {
            if known.get().value()?.id == ep.id {
                return Ok(Some(known.clone_ref(py)));
            }
        }
        let new = Py::new(py, Episode::made(ep, true))?;
        out.push(new.clone_ref(py));
        Ok(Some(new))
    }
}

#[pymethods]
impl Ledger {
    /// The episode whose phase (Recovery or Loss) is running.
    #[getter]
    fn open(&self, py: Python<'_>) -> PyResult<Option<Py<Episode>>> {
        let ep = self.reach(py)?.open().cloned();
        self.hand_out(py, ep)
    }
    /// The newest episode, running or not.
    #[getter]
    fn newest(&self, py: Python<'_>) -> PyResult<Option<Py<Episode>>> {
        let ep = self.reach(py)?.newest().cloned();
        self.hand_out(py, ep)
    }
    /// Episodes begun so far; also the newest one's number.
    #[getter]
    fn count(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.reach(py)?.count())
    }
    /// The episode with this number, if it is still remembered.
    fn get(&self, py: Python<'_>, id: u32) -> PyResult<Option<Py<Episode>>> {
        let ep = self.reach(py)?.get(id).cloned();
        self.hand_out(py, ep)
    }
}

/// A judge's verdict: this episode was a mistake.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Mistake(pub(crate) EngineMistake);

#[pymethods]
impl Mistake {
    /// The verdict on an episode; `reordered` tells detectors to learn about reordering from its retransmission.
    #[new]
    #[pyo3(signature = (episode, reordered = true))]
    fn new(episode: &Bound<'_, Episode>, reordered: bool) -> PyResult<Self> {
        let ep = episode.get().value()?;
        if ep.id == 0 {
            return Err(PyValueError::new_err("this Episode has not begun"));
        }
        let sample = ep.sample().filter(|_| reordered);
        Ok(Mistake(EngineMistake { episode: ep.id, cause: ep.cause, sample }))
    }
    /// The episode's number.
    #[getter]
    fn episode(&self) -> u32 {
        self.0.episode
    }
    /// The event that had begun it.
    #[getter]
    fn cause(&self, py: Python<'_>) -> PyResult<Py<Cause>> {
        Cause::object(py, self.0.cause)
    }
    /// Its information about reordering, if any.
    #[getter]
    fn sample(&self) -> Option<Sample> {
        self.0.sample.map(Sample)
    }
    fn __repr__(&self) -> String {
        format!("<Mistake: episode {} ({:?})>", self.0.episode, self.0.cause)
    }
}

/// The facts of a loss on which a cut may depend: a copy.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Loss(pub(crate) LossEvent);

#[pymethods]
impl Loss {
    /// The event that revealed it.
    #[getter]
    fn cause(&self, py: Python<'_>) -> PyResult<Py<Cause>> {
        Cause::object(py, self.0.cause)
    }
    /// Outstanding bytes, without data that Disorder sent beyond the window.
    #[getter]
    fn flight(&self) -> u64 {
        self.0.flight
    }
    /// The peer's window when it was revealed, bytes.
    #[getter]
    fn rwnd(&self) -> u64 {
        self.0.rwnd
    }
    /// The start of the loss, an offset.
    #[getter]
    fn first(&self) -> u64 {
        self.0.first.0
    }
    /// The congestion window when the lowest segment marked lost (if none is, the oldest) was sent, bytes.
    #[getter]
    fn cwnd_at_send(&self) -> f64 {
        self.0.cwnd_at_send
    }
    /// When that segment was sent last, ns.
    #[getter]
    fn sent_at(&self) -> u64 {
        self.0.sent_at.0
    }
    /// The number of its transmissions.
    #[getter]
    fn sends(&self) -> u8 {
        self.0.sends
    }
    /// Whether the timer expired again for the same loss.
    #[getter]
    fn repeated(&self) -> bool {
        self.0.repeated
    }
}

/// Refuses values in a congestion control's memory that are not numbers.
pub(crate) fn finite(numbers: &[f64]) -> PyResult<()> {
    numbers.iter().try_for_each(|n| check("a number that save() returned", *n, f64::MIN, f64::MAX))
}
