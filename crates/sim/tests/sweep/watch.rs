//! The measurements of one run.

use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// Counts of one flow that the run's results do not have.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) undone: u64,
    /// The longest time in which data was outstanding and `snd_una` did not advance.
    pub(crate) stall: Nanos,
    /// The position of the first retransmission among the data packets sent.
    pub(crate) first_repair: Option<u64>,
    sent: u64,
    snd_una: Offset,
    snd_max: Offset,
    /// When `snd_una` last advanced, or data became outstanding.
    moved: Time,
}

impl Watch for Counts {
    fn tcp(&mut self, at: Time, _: u32, side: Side, e: Event) {
        if side != Side::Sender {
            return;
        }
        match e {
            Event::Timeout { .. } => self.timeouts += 1,
            Event::Phase { to: Phase::Recovery, .. } => self.fast_recoveries += 1,
            Event::Mistake { undone: true, .. } => self.undone += 1,
            Event::Acked { ack, .. } if ack > self.snd_una => {
                self.stall = self.stall.max(at.since(self.moved));
                (self.snd_una, self.moved) = (ack, at);
            }
            _ => {}
        }
    }

    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        if from != Side::Sender {
            return;
        }
        if self.snd_una >= self.snd_max {
            self.moved = at;
        }
        self.snd_max = self.snd_max.max(seg.seq + u64::from(seg.len));
        if sends > 1 && self.first_repair.is_none() {
            self.first_repair = Some(self.sent);
        }
        self.sent += 1;
    }
}
