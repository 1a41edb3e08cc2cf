//! The data of one way and their acknowledgments, as they pass the place of the capture: facts, no verdicts.
//!
//! Idea: what is sent once and acknowledged costs a place in a ring, for a while. Whatever is out of the ordinary (bytes seen
//! before, holes, SACK blocks, acknowledgments that say nothing new) goes to [`cases`], which is made when it is first needed.

pub(crate) mod cases;
mod episodes;
mod odd;
mod order;
pub(crate) mod place;
mod presumed;
mod ring;

use crate::ranges::Ranges;
use crate::rtt::Durations;
use crate::seen::Seen;
use cases::{Bare, Cases};
use episodes::Episodes;
use order::Order;
pub(crate) use presumed::Missed;
use presumed::Presumed;
use ring::Ring;

/// Acknowledged segments that are kept, for the frame of an earlier copy and the order of sending.
const HISTORY: usize = 64;
/// Segments that are kept at most: with no acknowledgments captured the oldest are forgotten.
const MOST: usize = 1 << 16;
/// What was so long ago is not of late: the smallest retransmission timeout (RFC 6298 §2.4), nanoseconds.
const LATE: i64 = 1_000_000_000;

/// A segment as it was first seen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) frame: u64,
    /// Its place in the order of sending ([`crate::ids::Ids`]); 0 where that is unknown.
    pub(crate) order: u64,
    /// Sequence numbers that it takes.
    pub(crate) len: u32,
    pub(crate) tsval: u32,
}

impl Sent {
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// The largest and the smallest round trips of late; 0 if there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Late {
    since: i64,
    last: i64,
    now: (i64, i64),
    before: (i64, i64),
}

impl Late {
    #[inline]
    fn add(&mut self, at: i64, rtt: i64) {
        let age = at - self.since;
        self.last = at;
        if age <= LATE {
            self.now = (self.now.0.max(rtt), self.now.1.min(rtt));
            return;
        }
        self.before = if age > 2 * LATE { (rtt, rtt) } else { self.now };
        self.since = at;
        self.now = (rtt, rtt);
    }

    fn largest(&self) -> i64 {
        self.now.0.max(self.before.0)
    }

    /// What a round trip takes at least at `at`: a queue drains no faster than time passes.
    fn smallest(&self, at: i64) -> i64 {
        (self.now.1.min(self.before.1) - (at - self.last)).max(0)
    }
}

/// The data of one way. What nearly every packet changes lies together at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Stream {
    /// Behind the highest byte seen.
    hi: u64,
    /// The highest acknowledgment.
    una: u64,
    started: bool,
    /// Its segments carry timestamps.
    pub(crate) timestamps: bool,
    acked_once: bool,
    /// Nothing is held above a hole, no case waits for an acknowledgment: one that advances is all there is to it.
    calm: bool,
    /// There is so much out of the ordinary that what is long ago should be judged.
    crowded: bool,
    /// Whether the last acknowledgment that advanced passed one, and the most that any passed while nothing was missing.
    single: bool,
    window: u16,
    most: u32,
    /// What the receiver would hold as its `TS.Recent` if all that passes here arrived; `None` before the first.
    recent: Option<u32>,
    /// The youngest timestamp that it has echoed.
    echoed: Option<u32>,
    /// Of the last acknowledgment that was not overtaken on its way, as far as that was looked at: its place in the order of
    /// sending, and its timestamp.
    last_ack: (u64, Option<u32>),
    /// First copies in the order of their numbers.
    ring: Ring,
    /// How many of them, from the first on, are acknowledged.
    acked: usize,
    pub(crate) facts: Facts,
    late: Late,
    /// How many have been acknowledged in all.
    passed: u64,
    /// From here to the receiver and back.
    pub(crate) onward: Durations,
    presumed: Presumed,
    /// Made when an acknowledgment repeats the last, without SACK.
    episodes: Option<Box<Episodes>>,
    /// Made when something is out of the ordinary.
    order: Option<Box<Order>>,
    /// Below `hi`, but never seen here.
    holes: Ranges,
    sacked: Ranges,
    cases: Option<Box<Cases>>,
    /// Frames of what was refused, if this is the receiver's side.
    pub(crate) refused: Vec<u64>,
}

/// Counts and the like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Facts {
    pub(crate) last_at: i64,
    /// When something new was acknowledged last.
    pub(crate) acked_at: Option<i64>,
    /// The largest unambiguous round trip.
    pub(crate) largest: i64,
    pub(crate) acks: u64,
    /// How many of these came after one sent later, as far as that was looked at.
    pub(crate) acks_overtaken: u64,
    /// The first sequence number that is data.
    pub(crate) base: u64,
    pub(crate) first_at: Option<i64>,
    pub(crate) fin: bool,
    pub(crate) syns_again: u64,
    /// When the last SYN passed.
    pub(crate) syn_at: i64,
    /// From the last SYN of several to its acknowledgment: which of them it answers is not known, so the round trip may be longer.
    pub(crate) handshake: Option<i64>,
    pub(crate) sack_seen: bool,
    pub(crate) dsacks: u64,
    /// Reports of duplicates of what was seen here once.
    pub(crate) stray_dsacks: u64,
    pub(crate) unseen: u64,
    /// Probes of a silent peer or a shut window.
    pub(crate) probed_at: Option<i64>,
}

impl Stream {
    /// A segment with data, SYN or FIN; `missed`: packets that are missing right before it.
    #[inline]
    pub(crate) fn data(&mut self, s: &Seen, order: u64, missed: Missed) {
        let plain = s.flags & 0x07 == 0 && missed.packets == 0 && self.takes_data();
        if plain && self.is_next(s) {
            self.append(s, order);
        } else if plain && s.seq == self.hi && self.ring.len() < MOST {
            self.suspect(s);
            self.append(s, order);
        } else {
            self.odd(s, order, missed);
            self.crowded = self.cases.as_ref().is_some_and(|c| c.many());
        }
    }

    /// Whether nothing but what a segment itself says hinders it from being the next in order.
    pub(crate) fn takes_data(&self) -> bool {
        self.started && self.hi >= self.presumed.to
    }

    /// Whether a segment goes on right behind all others, and its timestamp is no older than what the receiver holds.
    #[inline(always)]
    pub(crate) fn is_next(&self, s: &Seen) -> bool {
        s.seq == self.hi && self.ring.len() < MOST && !self.is_old(s)
    }

    #[inline(always)]
    fn is_old(&self, s: &Seen) -> bool {
        let tsval = s.timestamps.map_or(0, |t| t.value);
        self.timestamps && self.recent.is_some_and(|r| older(tsval, r))
    }

    /// A segment right behind all others.
    #[inline(always)]
    pub(crate) fn append(&mut self, s: &Seen, order: u64) {
        let tsval = s.timestamps.map_or(0, |t| t.value);
        if s.seq <= self.una && !self.is_old(s) {
            self.recent = Some(tsval);
        }
        self.push(&Sent { seq: s.seq, at: s.at, frame: s.frame, order, len: s.len, tsval });
        self.hi = s.seq + u64::from(s.len);
        self.facts.last_at = s.at;
    }

    /// An acknowledgment; `order` is its own place in what its host sent, and `skipped` packets are missing right before it.
    #[inline]
    pub(crate) fn ack(&mut self, s: &Seen, ack: u64, order: u64, skipped: u64) {
        self.facts.acks += 1;
        let plain = self.calm && s.sacks == 0 && s.flags & 0x07 == 0 && skipped == 0;
        if plain && self.advances(ack) {
            self.advance_to(s, ack, 1);
        } else if plain && ack == self.una && s.len > 0 {
            self.overtaken_ack(s, order);
            self.beside_data(s);
        } else {
            self.odd_ack(s, ack, order, skipped);
            self.crowded = self.cases.as_ref().is_some_and(|c| c.many());
        }
    }

    /// Whether nothing but what an acknowledgment itself says hinders it from being one that just advances.
    pub(crate) fn takes_acks(&self) -> bool {
        self.calm
    }

    /// Whether it acknowledges something new, all of which was seen.
    #[inline]
    pub(crate) fn advances(&self, ack: u64) -> bool {
        ack > self.una && ack <= self.hi
    }

    /// An acknowledgment that just advances.
    ///
    /// It passes `segments`, as it seems: then they need not be counted.
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, s: &Seen, ack: u64, segments: u64) {
        self.una = ack;
        self.window = s.window;
        if let Some(t) = s.timestamps {
            self.recent = Some(t.echo);
            self.echoed = self.recent;
        }
        if let Some(at) = self.pass(ack, true, segments) {
            self.sample(s.at, s.at - at);
        }
        self.facts.acked_at = Some(s.at);
    }

    /// A first copy behind all others.
    #[inline(always)]
    fn push(&mut self, sent: &Sent) {
        self.ring.push(sent);
    }

    #[inline(always)]
    fn sample(&mut self, at: i64, rtt: i64) {
        self.onward.add(rtt);
        self.late.add(at, rtt);
        self.facts.largest = self.facts.largest.max(rtt);
    }

    /// Passes what is acknowledged below `ack`, probably so many `segments`; answers when the last of it was sent. `calm`: nothing was
    /// missing.
    #[inline(always)]
    fn pass(&mut self, ack: u64, calm: bool, segments: u64) -> Option<i64> {
        let segments = segments as usize;
        let sent = self.ring.sent_to((self.acked + segments).saturating_sub(1), ack);
        let (step, last) = match sent {
            Some(_) if segments > 0 => (segments, sent),
            Some(_) | None => self.ring.pass(self.acked, ack),
        };
        self.acked += step;
        self.passed += step as u64;
        if calm {
            self.most = self.most.max(step as u32);
        }
        self.single = step == 1;
        if self.acked > 2 * HISTORY {
            self.ring.forget(self.acked - HISTORY);
            self.acked = HISTORY;
        }
        last
    }

    /// How many first copies an acknowledgment up to `ack` would pass.
    fn passes(&self, ack: u64) -> u64 {
        self.ring.pass(self.acked, ack).0 as u64
    }

    /// Where the data and their acknowledgments are: behind the highest byte seen, and the highest acknowledgment.
    #[inline]
    pub(crate) fn edges(&self) -> (u64, u64) {
        (self.hi, self.una)
    }

    /// Counts packets with acknowledgments that passed.
    pub(crate) fn acks_came(&mut self, packets: u64) {
        self.facts.acks += packets;
    }

    /// Whether a hole is being filled, as acknowledgments without SACK say.
    fn in_episode(&self) -> bool {
        self.episodes.as_ref().is_some_and(|e| e.active())
    }

    /// Takes out all that is out of the ordinary, if anything was.
    pub(crate) fn take_cases(&mut self) -> Option<Box<Cases>> {
        self.cases.take()
    }

    /// Whether there is so much out of the ordinary that what is long ago should be judged.
    #[inline]
    pub(crate) fn wants_judgment(&self) -> bool {
        self.crowded
    }

    /// Takes out what is long ago, at `now`.
    pub(crate) fn settled(&mut self, now: i64) -> Option<Cases> {
        let wait = self.facts.largest.saturating_mul(4).max(LATE);
        let cases = self.cases.as_deref_mut()?;
        if let Some(episodes) = &mut self.episodes {
            episodes.forget_before(cases.bares.first().map_or(0, |b| b.episode));
        }
        let settled = cases.settled(now.saturating_sub(wait));
        self.crowded = cases.many();
        Some(settled)
    }

    /// Whether an acknowledgment without news is one of those that segments out of order cause, all of which were of use.
    pub(crate) fn accounted(&self, bare: &Bare) -> bool {
        !self.facts.sack_seen && self.episodes.as_ref().is_some_and(|e| e.exact(bare.episode))
    }

    /// Payload bytes that were acknowledged or seen here, each counted once.
    pub(crate) fn bytes(&self) -> u64 {
        self.hi.max(self.una).saturating_sub(self.facts.base).saturating_sub(u64::from(self.facts.fin))
    }

    /// The first number that is data, and that behind the last one seen or acknowledged.
    pub(crate) fn span(&self) -> (u64, u64) {
        if !self.started {
            return (0, 0);
        }
        (self.facts.base, self.hi.max(self.una).max(self.facts.base))
    }

    /// Bytes that were acknowledged, and never came by here.
    pub(crate) fn unseen(&self) -> u64 {
        let below = |(left, right): (u64, u64)| right.min(self.una).saturating_sub(left);
        self.facts.unseen + self.holes.iter().map(below).sum::<u64>()
    }
}

/// What is kept of a segment, from `seq` on; its length is set by who knows it.
fn sent(s: &Seen, order: u64, seq: u64) -> Sent {
    let tsval = s.timestamps.map_or(0, |t| t.value);
    Sent { seq, at: s.at, frame: s.frame, order, len: 0, tsval }
}

/// Whether timestamp `a` is older than `b`; the order wraps (RFC 7323 §5.2).
#[inline]
pub(crate) fn older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
