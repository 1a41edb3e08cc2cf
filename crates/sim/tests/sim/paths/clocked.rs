//! A sender with a fixed window that ignores loss: slow start up to the window, then one packet for each arrival. So the
//! reordering on the path does not change the segments that it sends.

use ackclock_sim::host::Endpoint;
use ackclock_sim::scenario::FlowSpec;
use ackclock_sim::watch::Side;
use ackclock_tcp::connection::Outcome;
use ackclock_tcp::event::Observer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;

pub(crate) struct Clocked {
    /// Payload bytes of a packet; 0 for the receiver.
    mss: u32,
    window: u64,
    /// Packets sent, arrived here, and allowed to be sent.
    sent: u64,
    arrived: u64,
    allowed: u64,
}

impl Clocked {
    pub(crate) fn new(f: &FlowSpec, side: Side) -> Self {
        let mss = if side == Side::Sender { f.mss } else { 0 };
        Clocked { mss, window: f.window / u64::from(f.mss), sent: 0, arrived: 0, allowed: 0 }
    }
}

impl Endpoint for Clocked {
    fn on_unexpected<O: Observer>(&mut self, _: Time, seg: &Segment, _: &mut O) -> Outcome {
        self.arrived += 1;
        let window = if self.mss > 0 { self.window.min(1 + self.arrived) } else { 0 };
        self.allowed = self.allowed.max(self.arrived + window);
        Outcome { from: seg.seq, bytes: seg.len, refused: None }
    }

    fn on_timer<O: Observer>(&mut self, _: Time, _: &mut O) {}

    fn next_timer(&self) -> Option<Time> {
        None
    }

    fn poll_transmit<O: Observer>(&mut self, _: Time, out: &mut Segment, _: &mut O) -> bool {
        if self.sent >= self.allowed {
            return false;
        }
        *out = Segment { seq: Offset(1 + self.sent * u64::from(self.mss)), len: self.mss, ..Segment::EMPTY };
        self.sent += 1;
        true
    }

    fn last_sends(&self) -> u8 {
        u8::from(self.mss > 0)
    }

    fn write(&mut self, _: u64) {
        self.allowed = 1;
    }

    fn close(&mut self) {}

    fn acked(&self) -> u64 {
        self.arrived * u64::from(self.mss)
    }

    fn received(&self) -> u64 {
        self.arrived * 1460
    }
}
