//! Two connections and a network with one list of events: each packet can be lost, late or duplicated
//! independently.

use crate::rng::Rng;
use ackclock_tcp::connection::{reset_for, CloseReason, Connection, State};
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::BTreeMap;

/// The behaviour of the network, in percent of packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Path {
    /// Lost from the first to the second end, and back.
    pub(crate) loss: [u64; 2],
    /// Delayed by a random time of up to two round trips.
    pub(crate) late: u64,
    pub(crate) doubled: u64,
    /// Everything sent between these two times is lost.
    pub(crate) outage: Option<(Time, Time)>,
    /// Everything sent between these two times leaves at the second one.
    pub(crate) held: Option<(Time, Time)>,
}

/// One-way delay without disturbances.
pub(crate) const DELAY: Nanos = Nanos::from_millis(50);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    Arrive(Segment),
    Write(u64),
    Close,
    /// The application reads; it repeats this as long as data is expected.
    Read(u64),
}

/// One line of the log: time, sender, segment (trains split up), and whether the network lost it.
pub(crate) type Line = (Time, usize, Offset, u32, Offset, bool);

pub(crate) struct Net {
    pub(crate) ends: [Connection; 2],
    pub(crate) now: Time,
    path: Path,
    rng: Rng,
    events: BTreeMap<(Time, u64), (usize, Do)>,
    count: u64,
    pub(crate) written: [u64; 2],
    pub(crate) received: [u64; 2],
    /// The furthest that the peer has ever let this end send, as far as this end can know.
    edge: [Offset; 2],
    /// Segments that one input may release.
    pub(crate) maxburst: Option<u32>,
    pub(crate) log: Vec<Line>,
    pub(crate) heard: [Vec<(Time, Event)>; 2],
}

impl Net {
    /// `rwnd`: the other end's window as each end knows it before the first ACK (0 before a handshake).
    pub(crate) fn new(ends: [Connection; 2], rwnd: u64, path: Path, seed: u64) -> Net {
        Net {
            ends,
            now: Time::ZERO,
            path,
            rng: Rng(seed),
            events: BTreeMap::new(),
            count: 0,
            written: [0; 2],
            received: [0; 2],
            edge: [Offset(1 + rwnd); 2],
            maxburst: None,
            log: vec![],
            heard: [vec![], vec![]],
        }
    }

    pub(crate) fn at(&mut self, at: Time, end: usize, what: Do) {
        if let Do::Write(n) = what {
            self.written[end] += n;
        }
        self.count += 1;
        self.events.insert((at, self.count), (end, what));
    }

    /// Runs until no events are left, everything is delivered and closed, or the time is over.
    pub(crate) fn run(&mut self, until: Time) {
        (0..2).for_each(|e| self.say(e));
        while let Some(at) = self.next_time().filter(|t| *t <= until && !self.finished()) {
            self.step(at);
        }
    }

    /// Runs everything still in flight or armed; returns how many packets that took.
    pub(crate) fn calm_down(&mut self) -> usize {
        let before = self.log.len();
        let until = self.now + Nanos::from_secs(10_000);
        while let Some(at) = self.next_time().filter(|t| *t <= until) {
            self.step(at);
        }
        self.log.len() - before
    }

    fn next_time(&self) -> Option<Time> {
        let timers = self.ends.iter().filter_map(Connection::next_timer);
        timers.chain(self.events.keys().next().map(|k| k.0)).min().map(|t| t.max(self.now))
    }

    pub(crate) fn step(&mut self, at: Time) {
        self.now = at;
        while let Some(entry) = self.events.first_entry().filter(|e| e.key().0 <= at) {
            let (end, what) = entry.remove();
            self.happen(end, what);
            self.say(end);
        }
        for e in 0..2 {
            if self.ends[e].next_timer().is_some_and(|t| t <= at) {
                let before = self.heard[e].len();
                self.ends[e].on_timer(at, &mut self.heard[e]);
                let asks = |h: &&(Time, Event)| matches!(h.1, Event::Timeout { .. } | Event::Persist { .. });
                let fired = self.heard[e][before..].iter().find(asks).copied();
                let sent = self.log.len();
                self.say(e);
                if let Some(why) = fired {
                    assert!(self.log.len() > sent, "{why:?} led to no transmission");
                }
                assert!(self.ends[e].next_timer().is_none_or(|t| t > at), "the timer stands still");
            }
        }
    }

    fn happen(&mut self, end: usize, what: Do) {
        match what {
            Do::Arrive(seg) => {
                if self.ends[end].state() == State::Closed {
                    if let Some(reset) = reset_for(&seg) {
                        self.transmit(end, reset);
                    }
                    return;
                }
                if seg.has(Segment::ACK) {
                    self.edge[end] = self.edge[end].max(seg.ack + u64::from(seg.wnd));
                } else if seg.has(Segment::SYN) {
                    self.edge[end] = self.edge[end].max(Offset(1 + u64::from(seg.wnd)));
                }
                self.ends[end].on_segment(self.now, &seg, &mut self.heard[end]);
                self.received[end] = self.received[end].max(self.ends[end].received());
                assert!(self.received[end] <= self.written[1 - end], "delivered what was never written");
            }
            Do::Write(n) => self.ends[end].write(n),
            // RFC 9293 §3.10.4: a close before that would end the connection.
            Do::Close if matches!(self.ends[end].state(), State::SynSent | State::Listen) => {
                self.at(self.now + Nanos::from_millis(10), end, Do::Close);
            }
            Do::Close => self.ends[end].close(),
            Do::Read(n) => {
                self.ends[end].consume(n);
                let unread = self.ends[end].receiver().is_some_and(|r| r.unread() > 0);
                if unread || self.received[end] < self.written[1 - end] {
                    let later = self.now + Nanos::from_millis(1 + self.rng.below(3000));
                    self.at(later, end, Do::Read(n));
                }
            }
        }
    }

    /// Takes the segments that an end sends after one input.
    fn say(&mut self, end: usize) {
        let mut out = Segment::EMPTY;
        let mut carried = 0;
        while self.ends[end].poll_transmit(self.now, &mut out, &mut self.heard[end]) {
            let train = u32::from(out.train);
            assert!(out.len.is_multiple_of(train), "a train of unequal segments");
            for i in 0..train {
                let each =
                    Segment { seq: out.seq + u64::from(i * out.len / train), len: out.len / train, train: 1, ..out };
                self.check(end, &each);
                self.transmit(end, each);
                carried += u32::from(each.seq_len() > 0);
            }
            assert!(carried < 5000, "never stops sending: {out:?}");
        }
        assert!(self.maxburst.is_none_or(|n| carried <= n), "{carried} segments after one input");
    }

    fn check(&self, end: usize, seg: &Segment) {
        let syn = seg.has(Segment::SYN);
        let probe = seg.seq_len() == 1;
        assert!(syn || probe || seg.end() <= self.edge[end], "{seg:?} lies beyond the edge {}", self.edge[end]);
        let data_end = 1 + self.written[end];
        assert!(seg.len == 0 || seg.seq.0 + u64::from(seg.len) <= data_end, "{seg:?} carries what was never written");
        assert!(!seg.has(Segment::FIN) || seg.end().0 == data_end + 1, "{seg:?} has its FIN in the wrong place");
    }

    fn transmit(&mut self, from: usize, seg: Segment) {
        let dark = self.path.outage.is_some_and(|(a, b)| (a..b).contains(&self.now));
        let lost = self.rng.below(100) < self.path.loss[from] || dark;
        self.log.push((self.now, from, seg.seq, seg.len, seg.ack, lost));
        let sets_out = self.path.held.filter(|(a, b)| (*a..*b).contains(&self.now)).map_or(self.now, |h| h.1);
        let copies = 1 + u64::from(self.rng.below(100) < self.path.doubled);
        for _ in 0..copies * u64::from(!lost) {
            let extra = if self.rng.below(100) < self.path.late { self.rng.below(4 * DELAY.0) } else { 0 };
            self.at(sets_out + DELAY + Nanos(extra), 1 - from, Do::Arrive(seg));
        }
    }

    pub(crate) fn all_delivered(&self) -> bool {
        self.received[0] == self.written[1] && self.received[1] == self.written[0]
    }

    /// Everything is delivered once and in order, both ends have closed, and neither waits for anything but
    /// time.
    pub(crate) fn finished(&self) -> bool {
        let over = |c: &Connection| matches!(c.state(), State::Closed | State::TimeWait);
        self.unreachable() || self.ends.iter().all(over) && self.all_delivered()
    }

    /// The handshake was given up (its eighth SYN was not answered).
    pub(crate) fn unreachable(&self) -> bool {
        self.ends.iter().any(|c| c.close_reason() == Some(CloseReason::Unreachable))
    }

    /// For messages: the state of everything.
    pub(crate) fn describe(&self) -> String {
        let end = |e: usize| {
            let c = &self.ends[e];
            let s = c.sender().map(|s| (s.positions(), s.phase(), s.board().to_string()));
            let s: Option<((Offset, Offset, Offset), Phase, String)> = s;
            let (state, why) = (c.state(), c.close_reason());
            format!("{state:?} {why:?} received {} of {}: {s:?}", self.received[e], self.written[1 - e])
        };
        format!("at {}: {} | {}", self.now, end(0), end(1))
    }
}
