//! `elements`: what acts on the packets of one direction of a link.

use super::amount;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::bytes_schema;
use schemars::JsonSchema;

/// Something that acts on the packets of one direction.
#[derive(JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "elements")]
pub(super) enum Element {
    /// At random times waiting packets change places (Blanton & Allman §2.2). Needs a rate.
    Swap {
        /// Which two change places.
        mode: SwapMode,
        /// Swaps at each event.
        #[schemars(range(min = 1, max = 100_000), extend("default" = 1))]
        count: Option<u32>,
        /// Time between events.
        gap: Gap,
    },
    /// Each packet is lost with the same probability, or with its bytes' share of it.
    Bernoulli {
        /// That probability.
        #[schemars(range(min = 0.0, max = 1.0))]
        p: f64,
        /// To what the probability belongs.
        #[schemars(extend("default" = "packet"))]
        per: Option<Per>,
        /// Where on the link.
        #[schemars(extend("default" = "entry"))]
        at: Option<Place>,
        /// Which packets it sees. Without it all.
        only: Option<Only>,
    },
    /// Loss in bursts: a channel that is good or bad, and changes by packets (`p`, `r`) or by time (`good_for`, `bad_for`).
    #[schemars(extend("oneOf" = [
        { "required": ["p", "r"], "properties": { "good_for": false, "bad_for": false } },
        { "required": ["good_for", "bad_for"], "properties": { "p": false, "r": false } },
    ]))]
    GilbertElliott {
        /// Probability with which the channel turns bad after a packet.
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
        p: Option<f64>,
        /// Probability with which it turns good again: a bad spell lasts 1 / `r` packets.
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
        r: Option<f64>,
        /// How long it is good, on average.
        good_for: Option<Nanos>,
        /// How long it is bad, on average.
        bad_for: Option<Nanos>,
        /// Probability with which a packet is lost while it is good.
        #[schemars(range(min = 0.0, max = 1.0), extend("default" = 0.0))]
        good_loss: Option<f64>,
        /// Probability with which a packet is lost while it is bad.
        #[schemars(range(min = 0.0, max = 1.0), extend("default" = 1.0))]
        bad_loss: Option<f64>,
        /// Where on the link.
        #[schemars(extend("default" = "entry"))]
        at: Option<Place>,
        /// Which packets it sees. Without it all.
        only: Option<Only>,
    },
    /// Packets that come during a spike wait for its end, then go on in order.
    #[schemars(extend("oneOf" = [{ "required": ["times"] }, { "required": ["gap"] }]))]
    DelaySpike {
        #[serde(flatten)]
        spikes: Interruption,
    },
    /// Packets that come during an outage are lost.
    #[schemars(extend("oneOf" = [{ "required": ["times"] }, { "required": ["gap"] }]))]
    Outage {
        #[serde(flatten)]
        outages: Interruption,
    },
    /// Random early detection as ns-2's (Floyd & Jacobson 1993). Needs a rate; the queue's `limit` holds besides.
    Red {
        /// Below this average of what waits nothing is dropped: packets, or bytes on the wire.
        #[schemars(schema_with = "amount")]
        min: (),
        /// From this average on everything is dropped, or with `gentle` from twice it on. Above `min`, in the same unit.
        #[schemars(schema_with = "amount")]
        max: (),
        /// Probability at `max`, before drops are spaced.
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0, "default" = 0.1))]
        max_p: Option<f64>,
        /// Weight of the newest length in the average.
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0, "default" = 0.002))]
        weight: Option<f64>,
        /// Above `max` the probability goes from `max_p` to 1 at twice `max`.
        #[schemars(extend("default" = true))]
        gentle: Option<bool>,
        /// Drops are at least 1 / p packets apart.
        #[schemars(extend("default" = true))]
        wait: Option<bool>,
        /// To what the probability belongs.
        #[schemars(extend("default" = "packet"))]
        per: Option<Per>,
        /// A typical packet on the wire, by which idle time and, per byte, sizes are measured.
        #[schemars(schema_with = "bytes_schema", extend("default" = "500 B"))]
        #[serde(default)]
        mean_packet: (),
    },
    /// The n-th arrivals, counted from 0, retransmissions included, are treated by hand; at least one is.
    #[schemars(extend("anyOf" = [{ "required": ["drop"] }, { "required": ["duplicate"] }, { "required": ["delay"] }]))]
    Script {
        /// Where on the link.
        #[schemars(extend("default" = "entry"))]
        at: Option<Place>,
        /// Which packets are counted. Without it all.
        only: Option<Only>,
        /// These disappear, as in `[14, 26]`.
        drop: Option<Vec<u64>>,
        /// These go on twice.
        duplicate: Option<Vec<u64>>,
        /// These go on later and are overtaken.
        delay: Option<Vec<Late>>,
    },
}

/// Which two packets change places.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SwapMode {
    /// Two of the queue's slots, drawn uniformly; nothing happens if one is empty. The queue needs a limit in packets.
    Slots,
    /// Two waiting packets.
    Literal,
    /// A waiting packet and the one behind it.
    Neighbours,
}

/// Time between events, above zero.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(title = "gap")]
pub(super) enum Gap {
    /// Exponentially distributed with this mean, as in `{ exponential = "1 s" }`.
    Exponential(Nanos),
    /// Always this.
    Constant(Nanos),
}

/// Where on a link an element acts.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Place {
    /// Before the queue.
    Entry,
    /// After transmission.
    Exit,
}

/// Which packets an element sees; the others pass.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Only {
    /// Those that take up sequence numbers: data, SYN, FIN, and unresponsive sources'.
    Data,
    /// Pure ACKs.
    Acks,
}

/// What a probability belongs to.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Per {
    /// A packet of whatever size.
    Packet,
    /// A byte on the wire.
    Byte,
}

/// When a link is interrupted.
#[derive(JsonSchema)]
pub(super) struct Interruption {
    /// When each begins, as in `["5 s", "20 s"]`.
    #[schemars(length(min = 1))]
    times: Option<Vec<Nanos>>,
    /// Time from the end of one to the next, at least 1 ms.
    gap: Option<Gap>,
    /// How long each lasts.
    length: Nanos,
    /// Where on the link. At the exit what waits does not fill the queue.
    #[schemars(extend("default" = "exit"))]
    at: Option<Place>,
    /// Which packets it sees. Without it all.
    only: Option<Only>,
}

/// One arrival that goes on later.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "delay")]
pub(super) struct Late {
    /// Which arrival, counted from 0.
    nth: u64,
    /// By how much.
    by: Nanos,
}
