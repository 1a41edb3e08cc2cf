//! The description of background traffic.

use super::FlowSpec;
use crate::error::Fault;
use crate::rng::Gap;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Bytes, Rate};

/// Background traffic from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundSpec {
    /// The node that sends.
    pub from: u32,
    /// The destination node.
    pub to: u32,
    /// When it begins. Default: 0 s.
    pub start: Nanos,
    /// When it ends: no source sends a packet, and no new transfer begins, from then on. Default: never.
    pub stop: Option<Nanos>,
    /// The kind of traffic.
    pub kind: BackgroundKind,
}

/// A kind of background traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum BackgroundKind {
    /// Transfers of finite size, each a new connection.
    Transfers(TransfersSpec),
    /// Packets at a constant rate, regardless of loss (like UDP).
    Source(SourceSpec),
}

/// Transfers that arrive and end.
#[derive(Clone, Debug, PartialEq)]
pub struct TransfersSpec {
    /// Time from one arrival to the next; exponential gives Poisson arrivals. No default.
    pub gap: Gap,
    /// Payload of each. No default.
    pub size: Size,
    /// The largest number of concurrent transfers; an arrival beyond it is refused. Default: 100.
    pub most: u32,
    /// The properties of each, in the form of a flow. Its nodes and application are ignored.
    pub flow: FlowSpec,
}

/// The size of transfers, in bytes of payload; at least 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// All the same.
    Constant(Bytes),
    /// Exponentially distributed with this mean.
    Exponential(Bytes),
    /// Pareto distributed: a few are very large.
    Pareto {
        /// The mean.
        mean: Bytes,
        /// The exponent, above 1; at 2 or less the variance is infinite.
        shape: f64,
    },
}

/// An unresponsive source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    /// Bits per second on the wire while it sends. No default.
    pub rate: Rate,
    /// Bytes of each packet on the wire. Default: 1000 B.
    pub packet: u32,
    /// Lengths of the on and off periods, beginning with an on period. `None`: always on.
    pub on_off: Option<(Gap, Gap)>,
}

/// The largest transfer, and the largest packet.
pub(crate) const LARGEST_TRANSFER: Bytes = 1 << 50;
const LARGEST_PACKET: u32 = 65_535;

impl BackgroundSpec {
    /// The largest number of concurrent connections.
    pub(crate) fn slots(&self) -> u32 {
        match &self.kind {
            BackgroundKind::Transfers(t) => t.most,
            BackgroundKind::Source(_) => 0,
        }
    }

    /// The fault of a value out of range: key, value found, values allowed.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let early = self.stop.filter(|s| *s <= self.start);
        early.map(|s| Fault::of("stop", s, "a time after `start`")).or_else(|| match &self.kind {
            BackgroundKind::Transfers(t) => {
                let (Size::Constant(mean) | Size::Exponential(mean) | Size::Pareto { mean, .. }) = t.size;
                let shape = match t.size {
                    Size::Pareto { shape, .. } => Some(shape).filter(|s| !(*s > 1.0 && s.is_finite())),
                    Size::Constant(_) | Size::Exponential(_) => None,
                };
                t.gap
                    .fault("gap")
                    .or((!(1..=LARGEST_TRANSFER).contains(&mean)).then(|| Fault::of("size", mean, "1 B to 2^50 B")))
                    .or(shape.map(|s| Fault::of("shape", s, "above 1")))
                    .or((t.most == 0).then(|| Fault::of("most", 0, "at least 1")))
            }
            BackgroundKind::Source(s) => (s.rate.0 == 0)
                .then(|| Fault::of("rate", "0 bps", "at least 1 bps"))
                .or((!(1..=LARGEST_PACKET).contains(&s.packet))
                    .then(|| Fault::of("packet", format!("{} B", s.packet), "1 B to 65535 B")))
                .or(s.on_off.and_then(|(on, off)| on.fault("on").or(off.fault("off")))),
        })
    }
}
