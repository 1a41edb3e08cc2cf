//! The scoreboard, lent for one call.

#![expect(unsafe_code, reason = "the scoreboard belongs to the engine and is lent to Python for one call")]

use ackclock_tcp::facts::scoreboard::{Marks, Scoreboard, Sent};
use ackclock_tcp::seq::Offset;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The data that has been sent and not yet acknowledged, with its state.
///
/// It is lent: after the method that received it has returned, it can no longer be used.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Board {
    board: AtomicPtr<Scoreboard>,
    writable: AtomicBool,
}

impl Board {
    /// Lends the board for one read-only call.
    pub(crate) fn lend<'py, R>(
        py: Python<'py>,
        board: &Scoreboard,
        call: impl FnOnce(&Bound<'py, Board>) -> PyResult<R>,
    ) -> PyResult<R> {
        Self::lend_pointer(py, ptr::from_ref(board).cast_mut(), false, call)
    }

    /// Lends it for one call that may mark.
    pub(crate) fn lend_mut<'py, R>(
        py: Python<'py>,
        board: &mut Scoreboard,
        call: impl FnOnce(&Bound<'py, Board>) -> PyResult<R>,
    ) -> PyResult<R> {
        Self::lend_pointer(py, ptr::from_mut(board), true, call)
    }

    fn lend_pointer<'py, R>(
        py: Python<'py>,
        board: *mut Scoreboard,
        writable: bool,
        call: impl FnOnce(&Bound<'py, Board>) -> PyResult<R>,
    ) -> PyResult<R> {
        let view = Board { board: AtomicPtr::new(board), writable: AtomicBool::new(writable) };
        let lent = Bound::new(py, view)?;
        let answer = call(&lent);
        lent.get().board.store(ptr::null_mut(), Ordering::Relaxed);
        answer
    }

    pub(super) fn reading(&self, _py: Python<'_>) -> PyResult<&Scoreboard> {
        let board = self.board.load(Ordering::Relaxed);
        // SAFETY: it is not null only while `lend_pointer`, whose caller holds the scoreboard, waits for the call; `_py` shows
        // that no other thread runs Python meanwhile, and each use of the reference ends before Python continues.
        unsafe { board.as_ref() }.ok_or_else(|| {
            PyRuntimeError::new_err(
                "this Board was valid for one call, which has ended; keep the values, not the board",
            )
        })
    }

    #[expect(clippy::mut_from_ref, reason = "the exclusive access is that of the engine, which waits")]
    fn writing(&self, py: Python<'_>) -> PyResult<&mut Scoreboard> {
        self.reading(py)?;
        if !self.writable.load(Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err(
                "this Board is read-only; only a detector, a recovery and a timeout may mark segments",
            ));
        }
        // SAFETY: as in `reading`; it was lent by `lend_mut`, so the engine's access is exclusive, and no reference from
        // `reading` outlives the method that created it.
        Ok(unsafe { &mut *self.board.load(Ordering::Relaxed) })
    }
}

#[pymethods]
impl Board {
    /// Bytes assumed to be in the network (RFC 6675 section 4).
    #[getter]
    fn pipe(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.reading(py)?.pipe())
    }
    /// Bytes SACKed and not yet acknowledged cumulatively.
    #[getter]
    fn sacked(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.reading(py)?.sacked())
    }
    /// Bytes marked lost, retransmitted or not.
    #[getter]
    fn lost(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.reading(py)?.lost())
    }
    /// Segments marked lost and not retransmitted.
    #[getter]
    fn lost_to_send(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.reading(py)?.lost_to_send())
    }
    /// End of the highest SACKed segment, an offset; None if nothing is SACKed.
    #[getter]
    fn highest_sacked(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        Ok(self.reading(py)?.highest_sacked().map(|o| o.0))
    }
    /// The lowest segment marked lost and not retransmitted: its first offset.
    #[getter]
    fn first_lost(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        Ok(self.reading(py)?.first_lost().map(|o| o.0))
    }
    /// The lowest segment below the highest SACKed one that was neither SACKed nor retransmitted.
    #[getter]
    fn first_hole(&self, py: Python<'_>) -> PyResult<Option<Segment>> {
        Ok(self.reading(py)?.first_hole().copied().map(Segment))
    }
    /// The segments outstanding, oldest first: copies.
    fn segments(&self, py: Python<'_>) -> PyResult<Vec<Segment>> {
        Ok(self.reading(py)?.iter().copied().map(Segment).collect())
    }
    /// The segments that the last ACK newly delivered: copies. A segment SACKed earlier and acknowledged now is not included.
    fn newly(&self, py: Python<'_>) -> PyResult<Vec<Segment>> {
        Ok(self.reading(py)?.newly().copied().map(Segment).collect())
    }
    /// The segment that contains the offset, if it is outstanding: a copy.
    fn get(&self, py: Python<'_>, offset: u64) -> PyResult<Option<Segment>> {
        Ok(self.reading(py)?.get(Offset(offset)).copied().map(Segment))
    }
    /// Segments outstanding.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.reading(py)?.len())
    }
    /// Mark the oldest segment lost, unless it is SACKed; return the bytes newly marked.
    fn mark_head_lost(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.writing(py)?.mark_head_lost())
    }
    /// Mark the segment that contains the offset lost; if it was retransmitted, the retransmission counts as lost. Return the
    /// bytes newly marked.
    fn mark_lost(&self, py: Python<'_>, offset: u64) -> PyResult<u64> {
        Ok(self.writing(py)?.mark_lost(Offset(offset)))
    }
    /// Mark everything that is not SACKed lost; return the bytes newly marked.
    fn mark_rest_lost(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.writing(py)?.mark_rest_lost())
    }
    /// Mark lost every hole that has at least this many SACKed segments above it; return the bytes newly marked.
    fn mark_holes_under(&self, py: Python<'_>, segments: u32) -> PyResult<u64> {
        Ok(self.writing(py)?.mark_holes_under(segments))
    }
    /// Mark lost every hole below the offset, if it is outstanding; return the bytes newly marked.
    fn mark_holes_below(&self, py: Python<'_>, offset: u64) -> PyResult<u64> {
        Ok(self.writing(py)?.mark_holes_below(Offset(offset)))
    }
    /// Mark lost the segments that RFC 6675 section 4 (IsLost) considers lost; return the bytes newly marked.
    fn mark_is_lost(&self, py: Python<'_>, dupthresh: u32, mss: u32) -> PyResult<u64> {
        Ok(self.writing(py)?.mark_is_lost(dupthresh, mss))
    }
    /// Remove every loss mark.
    fn unmark_lost(&self, py: Python<'_>) -> PyResult<()> {
        self.writing(py)?.unmark_lost();
        Ok(())
    }
    /// Forget all SACK information (RFC 2018 section 5.1).
    fn clear_sacks(&self, py: Python<'_>) -> PyResult<()> {
        self.writing(py)?.clear_sacks();
        Ok(())
    }
}

/// One segment that was sent: a copy.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Segment(pub(crate) Sent);

#[pymethods]
impl Segment {
    /// First offset.
    #[getter]
    fn start(&self) -> u64 {
        self.0.start.0
    }
    /// The offset after its last.
    #[getter]
    fn end(&self) -> u64 {
        self.0.end().0
    }
    /// Sequence space: payload, and one for a FIN; bytes.
    #[getter]
    fn len(&self) -> u32 {
        self.0.len
    }
    /// When it was sent last, ns.
    #[getter]
    fn at(&self) -> u64 {
        self.0.at.0
    }
    /// The congestion window when it was sent last, bytes.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.0.cwnd
    }
    /// How often it was sent; stops at 255.
    #[getter]
    fn sends(&self) -> u8 {
        self.0.sends
    }
    /// Whether a SACK block reported it.
    #[getter]
    fn sacked(&self) -> bool {
        self.0.marks.any(Marks::SACKED)
    }
    /// Whether a judge considers it lost.
    #[getter]
    fn lost(&self) -> bool {
        self.0.marks.any(Marks::LOST)
    }
    /// Whether it was retransmitted since it was last considered lost.
    #[getter]
    fn resent(&self) -> bool {
        self.0.marks.any(Marks::REXMIT)
    }
    /// Whether it is a probe of a zero window or of the tail.
    #[getter]
    fn probe(&self) -> bool {
        self.0.marks.any(Marks::PROBE)
    }
    fn __repr__(&self) -> String {
        format!("<Segment {} to {}, sent {} times>", self.0.start, self.0.end(), self.0.sends)
    }
}
