//! What is simulated, as plain data: nodes, links, the elements on them, and flows. `lab` makes it from TOML.

mod path;
mod table;

pub use crate::background::{BackgroundKind, BackgroundSpec, Size, SourceSpec, TransfersSpec};
pub use crate::element::gilbert_elliott::{Chain, GilbertElliottSpec};
pub use crate::element::interruption::{Interruption, InterruptionSpec, When};
pub use crate::element::red::{RedSpec, Thresholds};

use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Bytes, Rate};
pub use path::*;
pub use table::*;

/// A whole scenario. Elements are numbered in the order in which they stand here, and equal times are decided by that
/// number: first the directions of the links (`2 · link`, and one more for [`LinkSpec::back`]), then the paths of splits,
/// then the elements on them (link by link, forward before back; then path by path), then the hosts of the flows (sender
/// before receiver), then background traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// For people.
    pub name: String,
    /// Simulated time.
    pub duration: Nanos,
    /// Names of the nodes; [`LinkSpec`] and [`FlowSpec`] refer to them by position.
    pub nodes: Vec<String>,
    /// Links, each with two directions.
    pub links: Vec<LinkSpec>,
    /// Flows.
    pub flows: Vec<FlowSpec>,
    /// Traffic beside them, counted but not looked at.
    pub background: Vec<BackgroundSpec>,
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

/// One direction of a link: elements at its entry, a queue, a transmitter, elements at its exit, a delay.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionSpec {
    /// Bits per second; `None` transmits in no time.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Nanos,
    /// How much may wait.
    pub queue: QueueSpec,
    /// What acts on packets here, in order.
    pub elements: Vec<ElementSpec>,
    /// How the link is simulated; results are the same where both apply.
    pub form: LinkForm,
}

/// A drop-tail queue's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// The limit.
    pub limit: QueueLimit,
    /// ns-2's convention: the packet in transmission counts against the limit (limit B: B − 1 waiting and 1 in service).
    pub limit_counts_service: bool,
}

/// The unit of a queue limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Nothing is ever dropped here.
    Unlimited,
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes on the wire.
    Bytes(u64),
}

/// How a link is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkForm {
    /// Computed where nothing can act on a waiting packet, else queued.
    #[default]
    Auto,
    /// Always an explicit queue.
    Queued,
}

/// Something that acts on packets of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementSpec {
    /// Random queue swaps (Blanton & Allman §2.2).
    Swap {
        /// Which two packets change places.
        mode: SwapMode,
        /// Swaps per event, all at one instant.
        count: u32,
        /// Time between events.
        gap: Gap,
    },
    /// Each packet, or each byte, is lost with this probability, independently.
    Bernoulli {
        /// 0 to 1. No default.
        p: f64,
        /// What is lost with probability `p`. Default: the packet.
        per: Per,
        /// Before the queue, or after transmission. Default: before.
        at: Place,
        /// Which packets may be lost. Default: all.
        only: Only,
    },
    /// Loss in bursts.
    GilbertElliott(GilbertElliottSpec),
    /// Delay spikes, or outages.
    Interruption(InterruptionSpec),
    /// Random early detection.
    Red(RedSpec),
    /// The n-th arrivals are treated by hand.
    Script {
        /// Before the queue, or after transmission (a dropped packet has then used up its transmission slot).
        at: Place,
        /// Which packets are counted and treated. Default: all.
        only: Only,
        /// What happens to whom; arrivals count from 0, retransmissions included.
        rules: Vec<ScriptRule>,
    },
    /// The link's delay is redrawn at intervals (Leung & Ma 2005 §IV-A).
    RedrawnDelay(RedrawnDelaySpec),
    /// Packets go over several paths side by side (Leung & Ma 2005 §IV-B).
    Split(SplitSpec),
    /// The head of the queue is moved back (Fukuda, Nobayashi & Ikenaga 2018 §3).
    Demote(DemoteSpec),
    /// Linux's network emulator.
    Netem(NetemSpec),
    /// Delay, loss and rate as a trace has them.
    PathTrace(PathTraceSpec),
    /// Packets leave when a trace lets them.
    Deliveries(DeliveriesSpec),
}

/// Where on a link an element acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Before the queue.
    #[default]
    Entry,
    /// After transmission, before the propagation delay.
    Exit,
}

/// What a loss probability belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// A packet of whatever size.
    #[default]
    Packet,
    /// A byte on the wire; a packet is lost with the first of its bytes (ns-2: `ErrorModel`, unit `byte`).
    Byte,
}

/// Which packets an element sees; the others pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Only {
    /// All of them.
    #[default]
    All,
    /// Those that take up sequence numbers: data, SYN, FIN, and cross traffic.
    Data,
    /// Pure ACKs.
    Acks,
}

impl Only {
    #[inline]
    pub(crate) fn covers(self, data: bool) -> bool {
        match self {
            Only::All => true,
            Only::Data => data,
            Only::Acks => !data,
        }
    }
}

/// One line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptRule {
    /// Which arrival, counted from 0.
    pub nth: u64,
    /// What happens to it.
    pub action: ScriptAction,
}

/// What a script does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptAction {
    /// It disappears.
    Drop,
    /// It goes on this much later; others overtake it.
    Delay(Nanos),
    /// It goes on twice.
    Duplicate,
}

/// Which two packets a swap exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwapMode {
    /// Two of the queue's slots, drawn uniformly; nothing happens if one is empty or both are the same.
    Slots,
    /// Two different waiting packets, drawn uniformly.
    Literal,
    /// A waiting packet and the one behind it.
    Neighbours,
}

/// Time between events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Exponentially distributed with this mean.
    Exponential(Nanos),
    /// Always the same.
    Constant(Nanos),
}

/// One flow: a sender's stack on one node, a receiver on another.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// For people.
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
    /// Whether the connection begins with a SYN, or is established at its start.
    pub handshake: bool,
    /// Sizes on the wire.
    pub wire: WireSpec,
    /// What is sent.
    pub app: AppSpec,
}

/// How many bytes a segment takes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireSpec {
    /// ns-2: payload and a fixed header; an ACK takes 40 bytes and 8 for each SACK block.
    Ns2 {
        /// Header of a data segment.
        header: u32,
    },
    /// IPv4 and TCP headers with the options really carried, padded to four bytes.
    Ipv4,
}

/// What an application sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppSpec {
    /// When it begins. Default 0 s.
    pub start: Nanos,
    /// The start is later by a random time below this, uniform, another in each seed. Default 0 s.
    pub jitter: Nanos,
    /// Bytes to send; `None` never stops.
    pub bytes: Option<Bytes>,
}
