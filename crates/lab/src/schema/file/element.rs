//! `elements`: what acts on the packets of one direction of a link.

use super::{amount, packets, rate, without_defaults, Direction};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::bytes_schema;
use schemars::{JsonSchema, Schema};

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
        /// While the average is below `max`, packets that may be marked are marked in place of dropped (RFC 3168 §5); flows
        /// whose stack has `options.ecn = true` send such packets.
        #[schemars(extend("default" = false))]
        ecn: Option<bool>,
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
    /// The delay is redrawn from a normal distribution, on top of the link's own; packets overtake (Leung & Ma 2005 §IV-A).
    RedrawnDelay {
        /// The distribution's mean, above zero.
        mean: Nanos,
        /// Its standard deviation.
        deviation: Nanos,
        /// Time between draws; the first is at 0 s.
        every: Nanos,
        /// What happens to a draw that is not above zero.
        #[schemars(extend("default" = "again"))]
        below_zero: Option<BelowZero>,
        /// Whether a packet may arrive before one that left earlier.
        #[schemars(extend("default" = true))]
        overtaking: Option<bool>,
        /// Whose draws they are.
        #[schemars(extend("default" = "own"))]
        draws: Option<Draws>,
    },
    /// Packets go over several paths side by side, in place of this one (Leung & Ma 2005 §IV-B). Beside it may stand only what
    /// acts before the queue.
    Split {
        /// The paths, at least one of them with a weight above 0.
        #[schemars(length(min = 1))]
        paths: Vec<SplitPath>,
        /// How a packet's path is chosen.
        #[schemars(extend("default" = "turns"))]
        choice: Option<SplitChoice>,
    },
    /// The head of the queue is moved back, again and again (Fukuda, Nobayashi & Ikenaga 2018 §3). Needs a rate.
    Demote {
        /// By so many places, whenever more wait; no other packet is moved until it has been sent.
        #[schemars(range(min = 1, max = 1_000_000))]
        interval: u32,
        /// Only so many of those that wait are looked at. Without it all.
        #[schemars(schema_with = "packets")]
        #[serde(default)]
        device: (),
    },
    /// Linux's network emulator, before the queue (tc-netem(8)).
    #[schemars(extend("dependentRequired" = { "reorder": ["delay"], "gap": ["delay"] }))]
    Netem {
        /// Delay of each packet.
        #[schemars(extend("default" = "0 s"))]
        delay: Option<Nanos>,
        /// By how much it varies: half the width, or the standard deviation. At most 2147483647 ns.
        #[schemars(extend("default" = "0 s"))]
        jitter: Option<Nanos>,
        /// How much of the random number before is in the next.
        #[schemars(range(min = 0.0, max = 1.0), extend("default" = 0.0))]
        jitter_correlation: Option<f64>,
        /// How it varies.
        #[schemars(extend("default" = "uniform"))]
        distribution: Option<Distribution>,
        /// Probability with which a packet skips the delay. Without it 0, or 1 beside `gap`.
        #[schemars(range(min = 0.0, max = 1.0))]
        reorder: Option<f64>,
        /// How much of the random number for that before is in the next.
        #[schemars(range(min = 0.0, max = 1.0), extend("default" = 0.0))]
        reorder_correlation: Option<f64>,
        /// At most one in so many packets skips it. Without it 1 beside `reorder`.
        #[schemars(range(min = 1, max = 1_000_000))]
        gap: Option<u32>,
        /// Packets follow each other at this rate. Without it at once.
        #[schemars(schema_with = "rate")]
        #[serde(default)]
        rate: (),
        /// The emulator's queue.
        #[schemars(schema_with = "packets", extend("default" = "1000 packets"))]
        #[serde(default)]
        limit: (),
    },
    /// Delay, loss and rate follow a table of values with commas between. Its first line has the names of the columns: `time_s`,
    /// and some of `delay_ms` (on top of the link's), `loss` (a probability), `rate_mbps` (in place of the link's; 0 sends
    /// nothing). A row is in force until the next; the first has time 0.
    #[schemars(extend("oneOf" = [{ "required": ["file"] }, { "required": ["data"] }]))]
    PathTrace {
        /// The table's file, relative to the scenario's.
        file: Option<String>,
        /// The table itself.
        data: Option<String>,
        /// After this much time it begins again. Without it its last row stays in force.
        repeat: Option<Nanos>,
        /// Where packets are lost.
        #[schemars(extend("default" = "exit"))]
        at: Option<Place>,
    },
    /// In place of the rate, instants at which the link delivers, in mahimahi's form (Netravali 2015): each line is a
    /// millisecond. The trace begins again after its last.
    #[schemars(extend("oneOf" = [{ "required": ["file"] }, { "required": ["data"] }]))]
    Deliveries {
        /// The trace's file, relative to the scenario's.
        file: Option<String>,
        /// The trace itself.
        data: Option<String>,
        /// What each instant delivers, bytes on the wire, 1 B to 1 MiB.
        #[schemars(schema_with = "bytes_schema", extend("default" = "1500 B"))]
        #[serde(default)]
        bytes: (),
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

/// What happens to a delay that is not above zero.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BelowZero {
    /// It is drawn again.
    Again,
    /// It is zero.
    Zero,
}

/// Whether the directions of a link share draws.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Draws {
    /// The direction's own.
    Own,
    /// Those of the link: the other direction's with the same keys are the same.
    Link,
}

/// How a split chooses.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SplitChoice {
    /// Weighted round robin, packet by packet.
    Turns,
    /// A draw for each packet.
    Random,
}

/// One of the paths of a split. What it does not say is as in the link.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "paths", transform = as_in_the_link)]
pub(super) struct SplitPath {
    /// Its share is this over the sum of all.
    #[schemars(range(max = 1_000_000))]
    weight: u32,
    #[serde(flatten)]
    way: Direction,
}

fn as_in_the_link(path: &mut Schema) {
    without_defaults(path);
    path.insert("required".to_owned(), vec!["weight"].into());
}

/// How netem's delay varies.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Distribution {
    /// From `delay` less `jitter` to `delay` and `jitter`.
    Uniform,
    /// Normal, cut off near four standard deviations.
    Normal,
}
