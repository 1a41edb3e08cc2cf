//! A simulated run as captured at both of its hosts, and the truth about its retransmissions.

use ackclock_capture::{Seen, Way};
use ackclock_sim::engine::Sim;
use ackclock_sim::fate::{Fates, Verdict};
use ackclock_sim::scenario::Scenario;
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::options::Timestamps;

/// The start of numbers: unwrapped ones do not depend on the position of the wrap.
const BASE: u64 = 1 << 32;

/// A capture at each host, and the truth.
#[derive(Default)]
pub(crate) struct Captures {
    pub(crate) sender: Vec<Seen>,
    pub(crate) receiver: Vec<Seen>,
    /// At the node behind the shared link.
    pub(crate) middle: Vec<Seen>,
    fates: Fates,
    /// For each packet of the sender: its retransmission, if it is one, and its frame.
    sent: Vec<(Option<u32>, u64)>,
    again: u32,
    numbers: [u32; 2],
    /// For each retransmission: its frame at the sender and, if it passed there, at the receiver and in the
    /// middle.
    pub(crate) frames: Vec<(u64, Option<u64>, Option<u64>)>,
}

impl Captures {
    /// Runs `s`.
    pub(crate) fn of(s: &Scenario, stack: &Stack, seed: u64) -> Self {
        let mut sim = Sim::new(s, std::slice::from_ref(stack), seed, Captures::default()).expect("a possible scenario");
        sim.run();
        sim.into_watch()
    }

    /// The truth about each retransmission.
    pub(crate) fn truth(&self) -> Vec<Verdict> {
        self.fates.each()
    }

    fn add(&mut self, at: Time, side: Option<Side>, from: Side, number: u32, seg: &Segment) -> u64 {
        let list = match side {
            Some(Side::Sender) => &mut self.sender,
            Some(Side::Receiver) => &mut self.receiver,
            None => &mut self.middle,
        };
        let frame = list.len() as u64 + 1;
        let mut seen = Seen {
            frame,
            at: at.0 as i64,
            way: if from == Side::Sender { Way::Out } else { Way::Back },
            seq: BASE + seg.seq.0,
            len: seg.len,
            flags: seg.flags,
            ack: seg.has(Segment::ACK).then_some(BASE + seg.ack.0),
            window: seg.wnd.min(65_535) as u16,
            timestamps: (seg.opts & Segment::TIMESTAMPS != 0)
                .then_some(Timestamps { value: seg.tsval, echo: seg.tsecr }),
            id: Some(number as u16),
            ..Seen::default()
        };
        for (left, right) in seg.sack_blocks() {
            seen.sack[usize::from(seen.sacks)] = (BASE + left.0, BASE + right.0);
            seen.sacks += 1;
        }
        list.push(seen);
        frame
    }
}

impl Watch for Captures {
    const HEARS_HOPS: bool = true;

    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        let number = self.numbers[from as usize];
        self.numbers[from as usize] += 1;
        let frame = self.add(at, Some(from), from, number, seg);
        if from == Side::Receiver {
            return;
        }
        let again = seg.len > 0 && sends > 1;
        self.sent.push((again.then_some(self.again), frame));
        if again {
            self.again += 1;
            self.frames.push((frame, None, None));
            self.fates.retransmitted(seg.seq.0, seg.seq_len() as u32, sends, None);
        }
    }

    fn dropped(&mut self, Dropped { to, seg, sends, .. }: Dropped<'_>) {
        if to == Side::Receiver && sends > 0 {
            self.fates.dropped(seg.seq.0, seg.seq_len() as u32, sends);
        }
    }

    fn arrived(&mut self, at: Time, _: u32, to: Side, number: u32, seg: &Segment) {
        let from = if to == Side::Sender { Side::Receiver } else { Side::Sender };
        let frame = self.add(at, Some(to), from, number, seg);
        if let (Side::Receiver, Some((Some(again), _))) = (to, self.sent.get(number as usize)) {
            let first = &mut self.frames[*again as usize].1;
            *first = first.or(Some(frame));
        }
    }

    fn passed(&mut self, at: Time, link: u32, _: u32, to: Side, number: u32, seg: &Segment) {
        // Data leaves that node on the third link, and acknowledgments leave it on the first link's way back.
        if link != 4 && link != 1 {
            return;
        }
        let from = if to == Side::Sender { Side::Receiver } else { Side::Sender };
        let frame = self.add(at, None, from, number, seg);
        if let (Side::Receiver, Some((Some(again), _))) = (to, self.sent.get(number as usize)) {
            let first = &mut self.frames[*again as usize].2;
            *first = first.or(Some(frame));
        }
    }

    fn refused(&mut self, _: Time, _: u32, to: Side, _: Refusal, _: &Segment, sends: u8, missing: &[(Offset, Offset)]) {
        if to == Side::Receiver && sends > 0 {
            missing.iter().for_each(|(l, r)| self.fates.refused(l.0, (r.0 - l.0) as u32, sends));
        }
    }

    fn doubled(&mut self, _: Time, _: u32, to: Side, seg: &Segment, sends: u8) {
        if to == Side::Receiver && sends > 0 {
            self.fates.doubled(seg.seq.0, seg.seq_len() as u32, sends);
        }
    }
}
