//! Results of a run without a listener: counts.

use crate::fate::{Causes, Verdicts};
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Bytes;

/// The counts of a run so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// The time up to which the run has advanced.
    pub at: Time,
    /// Events that the loop has handled. This is not a result, because fusing changes it.
    pub events: u64,
    /// In the order of the scenario's flows.
    pub flows: Vec<FlowResult>,
    /// Answered requests, of flows whose next piece waits for the ACK of the previous one, in the order of their ends.
    pub turns: Vec<Turn>,
    /// In the order of the scenario's background traffic.
    pub background: Vec<BackgroundResult>,
    /// Directed links: position `2 · link`, and one more for the direction `back`.
    pub links: Vec<LinkResult>,
}

/// A request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The flow.
    pub flow: u32,
    /// When it was written.
    pub began: Time,
    /// When its last byte was acknowledged.
    pub ended: Time,
}

/// The counts of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowResult {
    /// When its application begins, or its first packet entered if its host is elsewhere; `None` while it waits for another flow.
    pub started: Option<Time>,
    /// Payload bytes that the receiver has in order.
    pub delivered: Bytes,
    /// Payload bytes that the sender knows to be delivered.
    pub acked: Bytes,
    /// Packets with data sent by the sender, retransmissions included.
    pub data_sent: u64,
    /// Packets whose data had been sent before.
    pub retransmitted: u64,
    /// Retransmissions with at least one byte that no earlier copy had delivered: [`Verdict::Needed`](crate::fate::Verdict).
    pub needed: u64,
    /// Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver threw away:
    /// [`Verdict::Refused`](crate::fate::Verdict).
    pub refused: u64,
    /// The others: [`Verdict::Needless`](crate::fate::Verdict).
    pub needless: u64,
    /// The needless retransmissions by cause; those of a TCP that does not tell the cause appear in none of these.
    pub needless_by: Causes,
    /// When the last byte of a fixed size was acknowledged.
    pub finished: Option<Time>,
}

/// The counts of one kind of background traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackgroundResult {
    /// Transfers that began.
    pub started: u64,
    /// Transfers whose data was acknowledged completely.
    pub finished: u64,
    /// Arrivals that found the maximum number of transfers in progress.
    pub turned_away: u64,
    /// The sum of the durations of the finished transfers.
    pub time: Nanos,
    /// Packets with data sent, retransmissions included.
    pub packets_sent: u64,
    /// Of transfers: packets whose data had been sent before.
    pub retransmitted: u64,
    /// The needed retransmissions, as in [`FlowResult::needed`].
    pub needed: u64,
    /// The refused retransmissions, as in [`FlowResult::refused`].
    pub refused: u64,
    /// The needless retransmissions, as in [`FlowResult::needless`].
    pub needless: u64,
    /// Of a source: packets that arrived.
    pub packets_delivered: u64,
    /// Of transfers: payload acknowledged; of a source: bytes on the wire that arrived.
    pub delivered: Bytes,
}

impl BackgroundResult {
    /// Adds the verdicts on a transfer's retransmissions.
    pub(crate) fn add(&mut self, verdicts: Verdicts) {
        let Verdicts { needed, refused, needless, needless_by: _ } = verdicts;
        self.needed += needed;
        self.refused += refused;
        self.needless += needless;
    }
}

/// The counts of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkResult {
    /// Drops by cause.
    pub drops: Drops,
    /// Packets that RED marked instead of dropping them.
    pub marks: u64,
    /// The longest queue in packets (of a split: of any of its paths), the packet in transmission included; `None` where the
    /// queue is never full (unlimited, or fed only by a slower link).
    pub max_queue: Option<u32>,
    /// Events of swap processes.
    pub swap_events: u64,
    /// Swap events that found fewer than two packets waiting.
    pub swap_skipped: u64,
}

impl LinkResult {
    /// Adds the counts of a path of the link's split to the link's.
    pub(crate) fn add(&mut self, path: &LinkResult) {
        let Drops { queue, loss, early, script } = path.drops;
        self.drops.queue += queue;
        self.drops.loss += loss;
        self.drops.early += early;
        self.drops.script += script;
        self.marks += path.marks;
        self.max_queue = self.max_queue.max(path.max_queue);
        self.swap_events += path.swap_events;
        self.swap_skipped += path.swap_skipped;
    }
}

/// Dropped packets by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// The queue was full.
    pub queue: u64,
    /// A loss model dropped it, or the link was interrupted.
    pub loss: u64,
    /// The queue was getting long (RED).
    pub early: u64,
    /// The scenario's script dropped it.
    pub script: u64,
}

impl Drops {
    /// The sum of all drops.
    pub fn total(&self) -> u64 {
        self.queue + self.loss + self.early + self.script
    }
}
