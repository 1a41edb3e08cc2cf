//! The packets that path elements see, and their results.

use ackclock_sim::scenario::custom;
use ackclock_tcp::time::Nanos;
use pyo3::prelude::*;

/// A packet that arrives at a path element.
#[pyclass(frozen, eq, module = "ackclock.slots")]
#[derive(PartialEq)]
pub(crate) struct Packet(pub(crate) custom::Packet);

#[pymethods]
impl Packet {
    /// When it arrives, ns since the run began.
    #[getter]
    fn now(&self) -> u64 {
        self.0.at.0
    }
    /// Its number among the packets that the element sees, from 0.
    #[getter]
    fn nth(&self) -> u64 {
        self.0.nth
    }
    /// Bytes on the wire.
    #[getter]
    fn size(&self) -> u32 {
        self.0.wire
    }
    /// Whether it takes up sequence numbers (data, SYN, FIN, an unresponsive source's); else it is a pure ACK.
    #[getter]
    fn data(&self) -> bool {
        self.0.data
    }
    fn __repr__(&self) -> String {
        let custom::Packet { at, nth, wire, data } = self.0;
        let what = if data { "data" } else { "ACK" };
        format!("<Packet {nth}: {what}, {wire} B, at {} ns>", at.0)
    }
}

/// The fate of a packet.
#[pyclass(frozen, eq, module = "ackclock.slots")]
#[derive(PartialEq)]
pub(crate) struct Fate(pub(crate) custom::Verdict);

#[pymethods]
impl Fate {
    /// It passes.
    #[classattr]
    const PASS: Fate = Fate(custom::Verdict::Pass);
    /// It is lost.
    #[classattr]
    const DROP: Fate = Fate(custom::Verdict::Drop);
    /// It passes twice.
    #[classattr]
    const DUPLICATE: Fate = Fate(custom::Verdict::Duplicate);
    /// It passes after this delay in ns.
    #[staticmethod]
    fn delay(ns: u64) -> Self {
        Fate(custom::Verdict::Delay(Nanos(ns)))
    }
    fn __repr__(&self) -> String {
        match self.0 {
            custom::Verdict::Pass => "Fate.PASS".to_owned(),
            custom::Verdict::Drop => "Fate.DROP".to_owned(),
            custom::Verdict::Duplicate => "Fate.DUPLICATE".to_owned(),
            custom::Verdict::Delay(by) => format!("Fate.delay({})", by.0),
        }
    }
}
