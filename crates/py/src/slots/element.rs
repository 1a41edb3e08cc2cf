//! `elements`: what is the fate of packets on a link?

use super::algorithm::{answered, senseless, Algorithm, Hook, LONGEST};
use crate::views::{Fate, Packet as PacketView};
use ackclock_sim::scenario::custom::{Packet, PathElement, Verdict};
use ackclock_tcp::time::Nanos;
use pyo3::prelude::*;

/// A class's declaration of its possible actions on packets.
#[derive(Clone, Copy)]
pub(super) struct Declared {
    pub(super) delays: bool,
    pub(super) reorders: bool,
    pub(super) loses: bool,
    pub(super) duplicates: bool,
}

impl Declared {
    pub(super) fn read(found: &Bound<'_, PyAny>) -> PyResult<Self> {
        let of = |name: &str| -> PyResult<bool> { found.getattr(name)?.extract() };
        let delays = of("delays")?;
        // Packets can only get out of order if some are delayed.
        let reorders = delays && of("reorders")?;
        Ok(Declared { delays, reorders, loses: of("loses")?, duplicates: of("duplicates")? })
    }
}

/// A running instance of a subclass of `ackclock.Element`.
pub(super) struct Element {
    algorithm: Algorithm,
    packet: Hook,
    declared: Declared,
}

impl Element {
    pub(super) fn new(algorithm: Algorithm, declared: Declared) -> Self {
        Element { packet: algorithm.method("packet"), algorithm, declared }
    }
}

impl PathElement for Element {
    fn packet(&mut self, packet: &Packet) -> Verdict {
        let declared = self.declared;
        self.algorithm
            .ask(&self.packet, Some(packet.at), Verdict::Pass, |f| read(&f.call1((PacketView(*packet),))?, declared))
    }
}

/// A result that the class has declared.
fn read(answer: &Bound<'_, PyAny>, declared: Declared) -> PyResult<Verdict> {
    if answer.is_none() {
        return Ok(Verdict::Pass);
    }
    let allowed = "None, Fate.PASS, Fate.DROP, Fate.DUPLICATE or Fate.delay(ns)";
    let verdict = answered::<Fate>(answer, allowed)?.0;
    let (property, is) = match verdict {
        Verdict::Pass => return Ok(verdict),
        Verdict::Drop => ("loses", declared.loses),
        Verdict::Duplicate => ("duplicates", declared.duplicates),
        Verdict::Delay(Nanos(ns)) if ns > LONGEST => {
            return Err(senseless(answer, &format!("a delay of at most {LONGEST} ns")))
        }
        Verdict::Delay(_) => ("delays", declared.delays),
    };
    match is {
        true => Ok(verdict),
        false => Err(senseless(answer, &format!("a fate that the class declares; its `{property}` is False"))),
    }
}
