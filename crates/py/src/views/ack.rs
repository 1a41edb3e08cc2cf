//! The facts of an ACK, and a measurement of reordering.

use ackclock_tcp::facts::ack::{self, AckEvent};
use ackclock_tcp::facts::reorder::ReorderSample;
use pyo3::prelude::*;

/// The content of one acceptable ACK: a copy.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Ack(pub(crate) AckEvent);

#[pymethods]
impl Ack {
    /// Its cumulative acknowledgment, an offset.
    #[getter]
    fn ack(&self) -> u64 {
        self.0.ack.0
    }
    /// `snd_una` before it.
    #[getter]
    fn prior_una(&self) -> u64 {
        self.0.prior_una.0
    }
    /// Bytes newly acknowledged cumulatively.
    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked()
    }
    /// Whether the cumulative point moved.
    #[getter]
    fn advances(&self) -> bool {
        self.0.advances()
    }
    /// Bytes newly reported by SACK.
    #[getter]
    fn sacked(&self) -> u64 {
        self.0.sacked
    }
    /// Bytes newly reported, cumulatively or by SACK.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }
    /// Duplicates in a row, this one included; on an advancing ACK, the length of the run that just
    /// ended.
    #[getter]
    fn dup_run(&self) -> u32 {
        self.0.dup_run
    }
    /// Whether it counts as a duplicate by the stack's rule.
    #[getter]
    fn is_dup(&self) -> bool {
        self.0.is_dup
    }
    /// Whether it carries SACK blocks (a DSACK alone does not count).
    #[getter]
    fn has_sack(&self) -> bool {
        self.0.has_sack
    }
    /// Whether it echoes a congestion mark, and the connection uses ECN.
    #[getter]
    fn ece(&self) -> bool {
        self.0.ece
    }
    /// Whether any data that it delivered had been sent more than once.
    #[getter]
    fn covers_retransmit(&self) -> bool {
        self.0.covers_retransmit
    }
    /// The DSACK block: its first offset and the one after its last.
    #[getter]
    fn dsack(&self) -> Option<(u64, u64)> {
        self.0.dsack.map(|(a, b)| (a.0, b.0))
    }
    /// Time since the newest delivered segment was sent, ns, if it was sent once (Karn).
    #[getter]
    fn rtt(&self) -> Option<u64> {
        self.0.rtt.map(|t| t.0)
    }
    /// The echoed timestamp, if the option is in use.
    #[getter]
    fn tsecr(&self) -> Option<u32> {
        self.0.tsecr
    }
    /// The segment sent last among the delivered ones.
    #[getter]
    fn newest(&self) -> Option<Newest> {
        self.0.newest.map(Newest)
    }
    fn __repr__(&self) -> String {
        format!("<Ack {}, {} B delivered, {} duplicates>", self.0.ack, self.0.delivered, self.0.dup_run)
    }
}

/// The most recently sent of the segments that an ACK delivered (RFC 8985 section 6.2).
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Newest(ack::Newest);

#[pymethods]
impl Newest {
    /// When it was sent last, ns.
    #[getter]
    fn at(&self) -> u64 {
        self.0.at.0
    }
    /// The offset after its last.
    #[getter]
    fn end(&self) -> u64 {
        self.0.end.0
    }
    /// Whether it was sent more than once.
    #[getter]
    fn retransmitted(&self) -> bool {
        self.0.retransmitted
    }
}

/// One measurement of reordering: a hole, and the duplicate ACKs that it caused before it filled.
#[pyclass(frozen, module = "ackclock.slots")]
pub(crate) struct Sample(pub(crate) ReorderSample);

#[pymethods]
impl Sample {
    /// Duplicate ACKs until the hole filled (Blanton & Allman's D, N).
    #[getter]
    fn dupacks(&self) -> u32 {
        self.0.dupacks
    }
    /// When the first of them arrived, ns.
    #[getter]
    fn first_dup(&self) -> u64 {
        self.0.first_dup.0
    }
    /// When the last of them arrived, ns.
    #[getter]
    fn last_dup(&self) -> u64 {
        self.0.last_dup.0
    }
    /// When the ACK that filled the hole arrived, ns.
    #[getter]
    fn filled(&self) -> u64 {
        self.0.filled.0
    }
    /// When the hole was retransmitted, ns; None if it was not. That retransmission is proved needless.
    #[getter]
    fn resent(&self) -> Option<u64> {
        self.0.resent.map(|t| t.0)
    }
    /// Segments retransmitted for it, all needlessly.
    #[getter]
    fn segments(&self) -> u32 {
        self.0.segments
    }
    /// Mean time between two of the duplicates, ns; zero if there was only one.
    #[getter]
    fn spacing(&self) -> u64 {
        self.0.spacing().0
    }
}
