//! Needed, refused or needless: the verdict on every retransmission during a run.
//!
//! The verdicts are those of [`ackclock_sim::fate`]. They depend on the fate of every copy, never on DSACKs. A verdict may
//! follow later than its retransmission, when the last earlier copy has arrived or been dropped.
//!
//! Copies are distinguished by their number (`sends`, 1 is the first), so a path may deliver them in any order. A number stays
//! at 255, so copies from the 255th on count as one; earlier copies are still known. If the network duplicates a packet, both
//! packets count as a single copy: it is lost when all of its packets are lost, and taken when one of them is taken.

mod stream;

use ackclock_sim::fate::Verdict;
use ackclock_sim::watch::Side;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use std::ops::Range;
use stream::Stream;

/// Follows every copy of every segment of a run.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    /// Two streams for each flow: the data of the sender, and that of the receiver.
    streams: Vec<[Stream; 2]>,
    /// The last packet that arrived: its host may still refuse it.
    arrived: Option<Arrived>,
    settled: Vec<(u64, Verdict)>,
}

/// The state of a segment when it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not a retransmission.
    First,
    /// A retransmission whose verdict is known.
    Known(Verdict),
    /// A retransmission while earlier copies are in flight: the verdict follows in [`Fates::settled`].
    Open,
}

/// A packet with data at its host.
#[derive(Clone, Debug)]
struct Arrived {
    flow: u32,
    from: Side,
    range: Range<u64>,
    sends: u8,
}

impl Fates {
    /// Returns an empty record for a run of `flows` flows.
    pub fn new(flows: u32) -> Self {
        let mut f = Fates::default();
        f.streams.resize_with(flows as usize, Default::default);
        f
    }

    /// A segment was sent; `token` is returned with the verdict if that is still open.
    pub fn on_sent(&mut self, flow: u32, from: Side, seg: &Segment, sends: u8, token: u64) -> Standing {
        self.keep();
        // SYNs are not numbered.
        if seg.seq_len() == 0 || sends == 0 {
            return Standing::First;
        }
        self.stream(flow, from).send(seg.seq.0..seg.end().0, sends, token)
    }

    /// The `sends`-th copy of a segment was dropped on its way to the host `to`.
    pub fn on_dropped(&mut self, flow: u32, to: Side, seg: &Segment, sends: u8) {
        self.keep();
        if seg.seq_len() > 0 {
            let i = self.reach(flow);
            self.streams[i][index(peer(to))].dropped(seg.seq.0..seg.end().0, sends, &mut self.settled);
        }
    }

    /// The `sends`-th copy of a segment reached the host `to`, which took it unless the next call is [`Fates::on_refused`].
    pub fn on_arrived(&mut self, flow: u32, to: Side, seg: &Segment, sends: u8) {
        self.keep();
        if seg.seq_len() > 0 {
            let range = seg.seq.0..seg.end().0;
            self.arrived = Some(Arrived { flow, from: peer(to), range, sends });
        }
        if seg.has(Segment::ACK) {
            self.stream(flow, to).acked(seg.ack.0);
        }
    }

    /// The host threw away these parts of the segment that has just arrived, and does not have them.
    pub fn on_refused(&mut self, missing: &[(Offset, Offset)]) {
        if let Some(arrived) = self.arrived.take() {
            self.end(arrived, missing);
        }
    }

    /// The network duplicated the `sends`-th copy of a segment on its way to the host `to`.
    pub fn on_doubled(&mut self, flow: u32, to: Side, seg: &Segment, sends: u8) {
        self.keep();
        if seg.seq_len() > 0 {
            self.stream(flow, peer(to)).doubled(seg.seq.0..seg.end().0, sends);
        }
    }

    /// The end of the run: a copy still in flight counts as taken.
    pub fn finish(&mut self) {
        self.keep();
        for s in self.streams.iter_mut().flatten() {
            s.finish(&mut self.settled);
        }
    }

    /// Whether there are new verdicts.
    pub fn has_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    /// Removes and returns the new verdicts, with the tokens of their retransmissions.
    pub fn settled(&mut self) -> std::vec::Drain<'_, (u64, Verdict)> {
        self.settled.drain(..)
    }

    /// The last packet that arrived was taken.
    fn keep(&mut self) {
        if let Some(arrived) = self.arrived.take() {
            self.end(arrived, &[]);
        }
    }

    /// A packet that arrived was taken, except these parts.
    #[inline(never)]
    fn end(&mut self, Arrived { flow, from, range, sends }: Arrived, missing: &[(Offset, Offset)]) {
        let i = self.reach(flow);
        self.streams[i][index(from)].arrived(range, sends, missing, &mut self.settled);
    }

    fn reach(&mut self, flow: u32) -> usize {
        let i = flow as usize;
        if i >= self.streams.len() {
            self.widen(i);
        }
        i
    }

    #[cold]
    fn widen(&mut self, flow: usize) {
        self.streams.resize_with(flow + 1, Default::default);
    }

    fn stream(&mut self, flow: u32, from: Side) -> &mut Stream {
        let i = self.reach(flow);
        &mut self.streams[i][index(from)]
    }
}

fn index(side: Side) -> usize {
    match side {
        Side::Sender => 0,
        Side::Receiver => 1,
    }
}

fn peer(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}
