//! A simulation described as plain data: nodes, links, the elements on them, and flows. `lab` builds it from TOML.

mod background;

pub use crate::element::bernoulli::BernoulliSpec;
pub use crate::element::delay_spike::DelaySpikeSpec;
pub use crate::element::deliveries::DeliveriesSpec;
pub use crate::element::demote::DemoteSpec;
pub use crate::element::direction::{DirectionSpec, LinkForm, QueueLimit, QueueSpec};
pub use crate::element::gilbert_elliott::{Chain, GilbertElliottSpec};
pub use crate::element::interruption::{InterruptionSpec, When};
pub use crate::element::netem::{Distribution, NetemSpec};
pub use crate::element::outage::OutageSpec;
pub use crate::element::packet::{Only, Per, Place};
pub use crate::element::path_trace::{PathRow, PathTraceSpec};
pub use crate::element::properties::{Acts, Properties, RateUse};
pub use crate::element::red::{RedSpec, Thresholds};
pub use crate::element::redrawn_delay::{BelowZero, Draws, RedrawnDelaySpec};
pub use crate::element::script::{ScriptAction, ScriptRule, ScriptSpec};
pub use crate::element::split::{SplitChoice, SplitPath, SplitSpec};
pub use crate::element::swap::{SwapMode, SwapSpec};
pub use crate::element::table::{BadRow, Rows};
pub use crate::element::{custom, ElementSpec};
pub use crate::rng::{Between, Gap};
pub(crate) use background::LARGEST_TRANSFER;
pub use background::{BackgroundKind, BackgroundSpec, Size, SourceSpec, TransfersSpec};

use crate::error::Fault;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::stack::{Options, Stack};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Bytes;

/// A whole scenario. Elements are numbered in their order here, and the lower number goes first at equal times: first the
/// directions of the links (`2 · link`, and one more for [`LinkSpec::back`]), then the paths of splits, then the elements on
/// them (link by link, forward before back; then path by path), then the hosts of the flows (sender before receiver), then
/// background traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A name for display.
    pub name: String,
    /// Simulated time.
    pub duration: Nanos,
    /// Names of the nodes; [`LinkSpec`] and [`FlowSpec`] refer to them by position.
    pub nodes: Vec<String>,
    /// Links, each with two directions.
    pub links: Vec<LinkSpec>,
    /// Flows.
    pub flows: Vec<FlowSpec>,
    /// Background traffic, counted but not observed.
    pub background: Vec<BackgroundSpec>,
}

impl Scenario {
    /// One direction of a link by its directed number (`2 · link`, and one more for [`LinkSpec::back`]).
    pub(crate) fn direction(&self, link: usize) -> &DirectionSpec {
        let l = &self.links[link / 2];
        if link % 2 == 1 {
            &l.back
        } else {
            &l.forward
        }
    }

    /// The node where a directed link (`2 · link`, and one more for [`LinkSpec::back`]) begins.
    pub fn leaves(&self, link: u32) -> u32 {
        let l = &self.links[link as usize / 2];
        if link % 2 == 1 {
            l.to
        } else {
            l.from
        }
    }
}

/// A link: two independent directions between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// One end (position in [`Scenario::nodes`]).
    pub from: u32,
    /// The other end.
    pub to: u32,
    /// `from` → `to`.
    pub forward: DirectionSpec,
    /// `to` → `from`.
    pub back: DirectionSpec,
}

/// One flow: a sender's stack on one node, a receiver on another.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// A name for display.
    pub name: String,
    /// The sender's node.
    pub from: u32,
    /// The receiver's node.
    pub to: u32,
    /// Position of the sender's stack in the list given to the run.
    pub stack: u32,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The receiver's window.
    pub window: Bytes,
    /// The receiver's ACK policy.
    pub ack: AckSpec,
    /// The options of the receiver's TCP.
    pub peer: PeerSpec,
    /// Whether the connection begins with a SYN; otherwise it is established from the start.
    pub handshake: bool,
    /// How sizes on the wire are computed.
    pub wire: WireSpec,
    /// The application.
    pub app: AppSpec,
    /// The flow that it waits for. Default: none.
    pub after: Option<After>,
}

/// The flow before another, and the time between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// The flow whose last byte must be acknowledged; it comes before this one in the scenario, and has a size.
    pub flow: u32,
    /// The application begins this much later, in addition to its start and jitter. Default: 0 s.
    pub think: Option<Gap>,
}

/// Options of the receiver's TCP. Default: as in the sender's stack. An option is in use if both ends have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerSpec {
    /// Selective acknowledgments (RFC 2018).
    pub sack: Option<bool>,
    /// Reports of duplicates (RFC 2883).
    pub dsack: Option<bool>,
    /// Timestamps (RFC 7323).
    pub timestamps: Option<bool>,
}

impl PeerSpec {
    /// Returns the options of the receiver's TCP, given the options of its stack. Without SACK nothing carries a DSACK.
    pub fn of(self, own: Options) -> Options {
        let sack = self.sack.unwrap_or(own.sack);
        let dsack = sack && self.dsack.unwrap_or(own.dsack);
        Options { sack, dsack, timestamps: self.timestamps.unwrap_or(own.timestamps), ..own }
    }

    /// The stack of the sender after a handshake with this receiver.
    pub(crate) fn met(self, stack: &Stack) -> Stack {
        let peer = self.of(stack.options);
        let mut stack = if peer.sack { stack.clone() } else { stack.without_sack() };
        stack.options.timestamps &= peer.timestamps;
        stack
    }
}

/// The size of a segment on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireSpec {
    /// ns-2: payload and a fixed header; an ACK takes 40 bytes and 8 for each SACK block.
    Ns2 {
        /// Header of a data segment.
        header: u32,
    },
    /// IPv4 and TCP headers with the options actually carried, padded to four bytes.
    Ipv4,
}

/// An application's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppSpec {
    /// When it begins. Default: 0 s.
    pub start: Nanos,
    /// The start is delayed by a random time below this, uniformly distributed, different for each seed. Default: 0 s.
    pub jitter: Nanos,
    /// Bytes to send; `None`: it never stops.
    pub bytes: Option<Bytes>,
    /// How it writes them. Default: all at once.
    pub pieces: Option<PiecesSpec>,
}

/// Data written in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiecesSpec {
    /// Bytes written at a time; the last piece has the rest.
    pub size: Bytes,
    /// When the next piece is written.
    pub next: Next,
}

/// When the next piece is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// After this time, whether or not the previous piece has arrived.
    Every(Gap),
    /// When everything is acknowledged, after this time. Default: immediately.
    Acked(Option<Gap>),
}

impl PiecesSpec {
    /// The value out of range.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let gap = match self.next {
            Next::Every(gap) => gap.fault("gap"),
            Next::Acked(think) => think.and_then(|think| think.fault("think")),
        };
        gap.or_else(|| Fault::bytes("size", self.size, 1..=LARGEST_TRANSFER))
    }
}
