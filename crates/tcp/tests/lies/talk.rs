//! A sender, a peer, and a path of 100 ms between them; every sent segment is checked.

use crate::heap::measured;
use crate::peer::{Lie, Peer};
use crate::rng::Rng;
use crate::{MSS, RWND};
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::event::{Event, Observer, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes written, all at once; the peer lies about the first three quarters.
pub(crate) const BYTES: u64 = 200 * MSS as u64;
const LIES_END: u64 = BYTES * 3 / 4;
/// Arrivals and time after which the peer becomes honest, however far it got.
const MOST_LIES: u64 = 1500;
const LONGEST: Nanos = Nanos::from_secs(300);
const DELAY: Nanos = Nanos::from_millis(50);
/// Percentage of segments lost while the peer lies.
const LOSS: u64 = 4;
/// A ring of 128 records of 32 bytes, and lists. The longest is `spurious/dsack`'s: at most 512 records of 64 bytes.
const MOST_BYTES_HELD: isize = 128 * 32 + 512 * 64 + 4096;

/// The outcome of one run, or of many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    pub(crate) runs: u64,
    pub(crate) sent: u64,
    pub(crate) resent: u64,
    pub(crate) acks: u64,
    pub(crate) timeouts: u64,
    pub(crate) recoveries: u64,
    pub(crate) mistakes: u64,
    pub(crate) probes: u64,
    /// The largest window, bytes.
    pub(crate) cwnd: f64,
    /// Most segments that one ACK or timer released.
    pub(crate) burst: u64,
    /// Most bytes on the heap.
    pub(crate) held: isize,
}

impl Reports {
    pub(crate) fn add(&mut self, o: &Reports) {
        self.runs += o.runs.max(1);
        self.sent += o.sent;
        self.resent += o.resent;
        self.acks += o.acks;
        self.timeouts += o.timeouts;
        self.recoveries += o.recoveries;
        self.mistakes += o.mistakes;
        self.probes += o.probes;
        self.cwnd = self.cwnd.max(o.cwnd);
        self.burst = self.burst.max(o.burst);
        self.held = self.held.max(o.held);
    }
}

impl Observer for Reports {
    fn event(&mut self, _: Time, e: Event) {
        match e {
            Event::Sent { sends, .. } => (self.sent, self.resent) = (self.sent + 1, self.resent + u64::from(sends > 1)),
            Event::Acked { .. } => self.acks += 1,
            Event::Timeout { .. } => self.timeouts += 1,
            Event::Phase { to: Phase::Recovery, .. } => self.recoveries += 1,
            Event::Mistake { .. } => self.mistakes += 1,
            Event::Persist { .. } => self.probes += 1,
            Event::Window { to, .. } => self.cwnd = self.cwnd.max(to.cwnd),
            _ => {}
        }
    }
}

pub(crate) struct Talk {
    pub(crate) c: Connection,
    pub(crate) peer: Peer,
    pub(crate) reports: Reports,
    pub(crate) now: Time,
    who: String,
    rng: Rng,
    loss: u64,
    held: isize,
    /// The peer's right edge: the current one, and the furthest ever.
    edge: u64,
    furthest: u64,
    /// Segments in flight, to the peer (1) and back (0).
    wire: BTreeMap<(Time, u64), (usize, Segment)>,
    count: u64,
}

impl Talk {
    pub(crate) fn new(stack: &Stack, seed: u64) -> Talk {
        Self::with_window(stack, RWND, seed)
    }

    /// The peer's window is `rwnd` bytes.
    pub(crate) fn with_window(stack: &Stack, rwnd: u64, seed: u64) -> Talk {
        let (mut c, _, held) = measured(|| Connection::established(stack, Sides::Sender, MSS, rwnd));
        c.write(BYTES);
        let (now, rng, wire, edge) = (Time::ZERO, Rng(seed), BTreeMap::new(), 1 + rwnd);
        let (who, reports) = (format!("{} {:?} seed {seed}", stack.name, stack.options), Reports::default());
        let peer = Peer::new(rwnd, seed);
        Talk { c, peer, reports, now, who, rng, loss: LOSS, held, edge, furthest: edge, wire, count: 0 }
    }

    /// The peer lies about three quarters of the data.
    pub(crate) fn hear(&mut self, lie: Lie) {
        self.hear_long(lie, MOST_LIES, LONGEST);
    }

    /// The same, until this many segments have arrived or this time has passed.
    pub(crate) fn hear_long(&mut self, lie: Lie, arrivals: u64, time: Nanos) {
        self.speak();
        let until = self.now + time;
        while self.peer.next < LIES_END && self.peer.arrivals < arrivals && self.now < until {
            self.step(lie);
        }
    }

    /// From here on the peer is honest and nothing is lost: everything must get through. At worst, each of the forty
    /// outstanding segments needs a timer that has backed off, up to two minutes with TCP-PR's stack.
    pub(crate) fn finish(&mut self) {
        self.loss = 0;
        (self.peer.wnd, self.peer.edge) = (RWND, self.peer.edge.max(self.peer.next + RWND));
        // A window taken back may return unprompted, as from a receiver that has room again.
        let update = self.peer.truth(None);
        self.send(0, update);
        let (began, until) = (self.now, self.now + Nanos::from_secs(40 * 120));
        while self.c.acked() < BYTES {
            assert!(self.now < until, "{}: {} of {BYTES} since {began}: {}", self.who, self.c.acked(), self.state());
            self.step(Peer::honest);
        }
    }

    fn state(&self) -> String {
        let s = self.c.sender().expect("a sender");
        format!("{:?} {:?} {:?} at {}: {}", s.positions(), s.phase(), s.window(), self.now, s.board())
    }

    /// Runs the next event.
    fn step(&mut self, lie: Lie) {
        let timer = self.c.next_timer();
        let arrival = self.wire.keys().next().map(|k| k.0);
        let Some(at) = timer.into_iter().chain(arrival).min() else {
            panic!("{}: nothing will ever happen again: {}", self.who, self.state())
        };
        self.now = self.now.max(at);
        match self.wire.first_entry().filter(|e| e.key().0 <= at) {
            Some(e) => match e.remove() {
                (0, ack) => self.on_ack(&ack),
                (_, seg) => {
                    (self.peer.now, self.peer.arrivals) = (self.now, self.peer.arrivals + 1);
                    let answers = lie(&mut self.peer, &seg);
                    answers.into_iter().for_each(|a| self.send(0, a));
                }
            },
            None => {
                let (_, _, more) = measured(|| self.c.on_timer(self.now, &mut self.reports));
                self.held += more;
                let next = self.c.next_timer();
                self.speak();
                assert!(next.is_none_or(|t| t > self.now), "{}: a timer stands still: {}", self.who, self.state());
            }
        }
    }

    pub(crate) fn on_ack(&mut self, ack: &Segment) {
        let (una, _, max) = self.c.sender().expect("a sender").positions();
        // RFC 9293 §3.10.7.4: otherwise it carries no information.
        if (una..=max).contains(&ack.ack) {
            self.edge = ack.ack.0 + u64::from(ack.wnd);
            self.furthest = self.furthest.max(self.edge);
            // The peer must not wait for data that it claimed to have.
            self.peer.next = self.peer.next.max(ack.ack.0);
            self.peer.settle();
        }
        let (_, _, more) = measured(|| self.c.on_segment(self.now, ack, &mut self.reports));
        self.held += more;
        self.speak();
    }

    fn send(&mut self, to: usize, seg: Segment) {
        self.count += 1;
        self.wire.insert((self.now + DELAY, self.count), (to, seg));
    }

    /// Takes the segments sent after one input: none beyond the window, and at most one of them twice (RFC 6675 §4 (4)
    /// lets a rescue repeat a segment just sent). So one input releases at most a window and a segment.
    pub(crate) fn speak(&mut self) {
        let (mut out, mut starts, mut rescues) = (Segment::EMPTY, BTreeSet::new(), 0);
        loop {
            let max = self.c.sender().expect("a sender").positions().2;
            let (more, _, bytes) = measured(|| self.c.poll_transmit(self.now, &mut out, &mut self.reports));
            self.held += bytes;
            if !more {
                break;
            }
            let who = &self.who;
            rescues += u64::from(!starts.insert(out.seq));
            assert!(rescues < 2, "{who}: twice after one input: {out:?} {}", self.state());
            // Data sent before the window shrank may be resent; a byte beyond the window is a probe.
            let edge = if out.seq == max { self.edge } else { self.furthest };
            assert!(out.end() <= Offset(edge) || out.seq_len() == 1, "{who}: {out:?} lies beyond {edge}");
            assert!(out.end().0 <= 1 + BYTES, "{who}: {out:?} was never written");
            if self.rng.below(100) >= self.loss {
                self.send(1, out);
            }
        }
        self.reports.burst = self.reports.burst.max(starts.len() as u64 + rescues);
        self.reports.held = self.reports.held.max(self.held);
        assert!(self.held < MOST_BYTES_HELD, "{}: holds {} bytes: {}", self.who, self.held, self.state());
    }
}
