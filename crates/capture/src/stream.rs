//! The data of one direction and its acknowledgments, as they pass the place of capture: facts, no verdicts.
//!
//! Idea: data that is sent once and acknowledged is kept in a ring for a while. Anything unusual (bytes seen before, holes,
//! SACK blocks, acknowledgments without news) is passed to [`copies::Cases`], which is allocated on first use.

pub(crate) mod copies;
mod episodes;
mod order;
mod out_of_order;
pub(crate) mod place;
mod ring;

use crate::ranges::Ranges;
use crate::rtt::Durations;
use crate::seen::Seen;
use copies::{Bare, Cases};
use episodes::Episodes;
use order::Order;
use ring::Ring;

/// Acknowledged segments that are kept, for the frame of an earlier copy and the order of transmission.
const HISTORY: usize = 64;
/// The maximum number of segments kept: if no acknowledgments were captured, the oldest are forgotten.
const MOST: usize = 1 << 16;
/// Older samples are not recent: the smallest retransmission timeout (RFC 6298 §2.4), nanoseconds.
const LATE: i64 = 1_000_000_000;

/// What is known of a connection when a segment is not the next in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// The smallest round-trip time between the hosts, nanoseconds.
    pub(crate) round_trip: Option<i64>,
    /// Whether identifications show the order of transmission.
    pub(crate) ordered: bool,
}

/// A segment as first captured here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) frame: u64,
    /// Its place in the order of transmission ([`crate::ids::Ids`]); 0 if unknown.
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

/// The largest and the smallest recent round-trip time; 0 if there was none.
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

    /// The shortest possible round-trip time at `at`: a queue drains no faster than time passes.
    fn smallest(&self, at: i64) -> i64 {
        (self.now.1.min(self.before.1) - (at - self.last)).max(0)
    }
}

/// The data of one way. The fields that nearly every packet changes are together at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Stream {
    /// The end of the highest byte captured.
    hi: u64,
    /// The highest acknowledgment.
    una: u64,
    started: bool,
    /// Whether its segments carry timestamps.
    pub(crate) timestamps: bool,
    acked_once: bool,
    /// Nothing is held above a hole, and no case waits for an acknowledgment: an acknowledgment only needs to advance.
    calm: bool,
    /// There are enough unusual cases to judge the old ones.
    crowded: bool,
    /// Whether the last acknowledgment that advanced passed one segment, and the most that any passed while nothing was missing.
    single: bool,
    window: u16,
    most: u32,
    /// The receiver's `TS.Recent` if everything that passes here arrived; `None` before the first timestamp.
    recent: Option<u32>,
    /// The newest timestamp that it has echoed.
    echoed: Option<u32>,
    /// For the last acknowledgment known not to have been overtaken on its way: its place in the order of transmission, and its
    /// timestamp.
    last_ack: (u64, Option<u32>),
    /// First copies in the order of their numbers.
    ring: Ring,
    /// The number of acknowledged copies at its beginning.
    acked: usize,
    /// The total number of acknowledged copies.
    passed: u64,
    late: Late,
    /// Half round trips from here to the receiver and back.
    pub(crate) onward: Durations,
    pub(crate) facts: Facts,
    /// Allocated when an acknowledgment repeats the last one, without SACK.
    episodes: Option<Box<Episodes>>,
    /// Allocated when something is unusual.
    order: Option<Box<Order>>,
    /// Below `hi`, but never captured here.
    holes: Ranges,
    /// The byte that probes a closed window, until the receiver takes it.
    probe: Option<Sent>,
    sacked: Ranges,
    cases: Option<Box<Cases>>,
    /// Frames of refused segments, if this is the receiver's side.
    pub(crate) refused: Vec<u64>,
}

/// Counts and other facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Facts {
    pub(crate) last_at: i64,
    /// When payload was last acknowledged for the first time.
    pub(crate) acked_at: Option<i64>,
    /// The largest unambiguous round-trip time.
    pub(crate) largest: i64,
    pub(crate) acks: u64,
    /// When an acknowledgment last came that did not just advance.
    pub(crate) odd_ack_at: i64,
    /// The number of acknowledgments that arrived after a later one, among those examined.
    pub(crate) acks_overtaken: u64,
    /// The first sequence number that is data.
    pub(crate) base: u64,
    /// Bytes below, as far as they were not captured, may have passed before the capture began: 0 if a SYN began it, and the highest
    /// number until it is known.
    pub(crate) unsure: u64,
    /// When the first payload was captured, and its timestamp.
    pub(crate) first_at: Option<i64>,
    pub(crate) first_tsval: u32,
    /// The number of the FIN, once captured.
    pub(crate) fin: Option<u64>,
    pub(crate) syns_again: u64,
    /// When the last SYN was captured.
    pub(crate) syn_at: i64,
    /// From the last SYN of several to its acknowledgment: it is unknown which of them it answers, so the round-trip time may be
    /// longer.
    pub(crate) handshake: Option<i64>,
    pub(crate) sack_seen: bool,
    /// Acknowledgments with SACK blocks far from these data.
    pub(crate) sacks_outside: u64,
    pub(crate) dsacks: u64,
    /// Reports of duplicates for data captured here only once.
    pub(crate) stray_dsacks: u64,
    /// Segments of which all bytes, or only some, had been captured before.
    pub(crate) repeats: u64,
    pub(crate) fills: u64,
    /// Probes of a closed window (RFC 9293 §3.8.6.1), and of a silent peer (§3.8.4).
    pub(crate) window_probes: u64,
    pub(crate) keep_alives: u64,
    /// The last probe, until it is answered.
    pub(crate) probed_at: Option<i64>,
}

impl Stream {
    /// A segment with data, SYN or FIN; `known` is asked only if it is not the next in order.
    #[inline]
    pub(crate) fn data(&mut self, s: &Seen, order: u64, known: Known) {
        let plain = s.flags & 0x07 == 0 && self.takes_data();
        if plain && self.is_next(s) {
            self.append(s, order);
        } else if plain && s.seq == self.hi && self.ring.len() < MOST {
            self.suspect(s);
            self.append(s, order);
        } else {
            self.odd(s, order, known);
            self.crowded = self.cases.as_ref().is_some_and(|c| c.many());
        }
    }

    /// Whether the receiver's last window was zero.
    fn is_closed(&self) -> bool {
        self.acked_once && self.window == 0
    }

    /// Whether a segment begins below the highest byte captured or acknowledged.
    pub(crate) fn is_below(&self, s: &Seen) -> bool {
        s.seq < self.hi
    }

    /// Whether the state allows the next segment to be the next in order; the rest depends on the segment.
    pub(crate) fn takes_data(&self) -> bool {
        self.facts.first_at.is_some() && !self.is_closed()
    }

    /// Whether a segment directly follows all others, with a timestamp no older than the receiver's.
    #[inline(always)]
    pub(crate) fn is_next(&self, s: &Seen) -> bool {
        s.seq == self.hi && self.ring.len() < MOST && !self.is_old(s)
    }

    #[inline(always)]
    fn is_old(&self, s: &Seen) -> bool {
        let tsval = s.timestamps.map_or(0, |t| t.value);
        self.timestamps && self.recent.is_some_and(|r| older(tsval, r))
    }

    /// A segment that directly follows all others.
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

    /// An acknowledgment; `order` is its place in the transmissions of its host, and `skipped` packets are missing directly
    /// before it.
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

    /// Whether the state allows the next acknowledgment to be one that only advances; the rest depends on the acknowledgment.
    pub(crate) fn takes_acks(&self) -> bool {
        self.calm
    }

    /// Whether it acknowledges new data, all of which was captured.
    #[inline]
    pub(crate) fn advances(&self, ack: u64) -> bool {
        ack > self.una && ack <= self.hi
    }

    /// An acknowledgment that just advances.
    ///
    /// `segments` is the likely number that it passes, so that they need not be counted.
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, s: &Seen, ack: u64, segments: u64) {
        self.note_news(s.at, ack, self.hi);
        self.una = ack;
        self.window = s.window;
        if let Some(t) = s.timestamps {
            self.recent = Some(t.echo);
            self.echoed = self.recent;
        }
        if let Some(at) = self.pass(ack, true, segments) {
            self.sample(s.at, s.at - at);
        }
    }

    /// The acknowledgment number is about to advance: notes the time if payload that was captured, up to `captured`, is
    /// acknowledged for the first time. The numbers of SYN and FIN are not payload.
    #[inline(always)]
    fn note_news(&mut self, at: i64, ack: u64, captured: u64) {
        let Facts { base, fin, .. } = self.facts;
        if ack > base && fin.is_none_or(|fin| self.una < fin) && self.una < captured {
            self.facts.acked_at = Some(at);
        }
    }

    /// A first copy after all others.
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

    /// Passes the copies acknowledged below `ack`, probably `segments` of them; returns when the last of them was sent. `calm`:
    /// nothing was missing.
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

    /// The number of first copies that an acknowledgment up to `ack` would pass.
    fn passes(&self, ack: u64) -> u64 {
        self.ring.pass(self.acked, ack).0 as u64
    }

    /// The positions of the data and their acknowledgments: the end of the highest byte captured, and the highest acknowledgment.
    #[inline]
    pub(crate) fn edges(&self) -> (u64, u64) {
        (self.hi, self.una)
    }

    /// Counts captured packets with acknowledgments.
    pub(crate) fn acks_came(&mut self, packets: u64) {
        self.facts.acks += packets;
    }

    /// The time between two ticks of the sender's timestamps, nanoseconds: an upper bound; `None` without two different ones.
    pub(crate) fn tick(&self) -> Option<i64> {
        let last = self.ring.get(self.ring.len().checked_sub(1)?).filter(|_| self.timestamps)?;
        let ticks = last.tsval.wrapping_sub(self.facts.first_tsval);
        let time = last.at - self.facts.first_at?;
        (0 < ticks && ticks < 1 << 31).then(|| time / i64::from(ticks))
    }

    /// Whether acknowledgments without SACK show that a hole is being filled.
    fn in_episode(&self) -> bool {
        self.episodes.as_ref().is_some_and(|e| e.active())
    }

    /// Removes and returns all unusual cases, if there were any.
    pub(crate) fn take_cases(&mut self) -> Option<Box<Cases>> {
        self.cases.take()
    }

    /// Whether there are enough unusual cases to judge the old ones.
    #[inline]
    pub(crate) fn wants_judgment(&self) -> bool {
        self.crowded
    }

    /// Removes and returns the cases long past at `now`.
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

    /// Whether an acknowledgment without news is one of those caused by out-of-order segments that were all useful.
    pub(crate) fn accounted(&self, bare: &Bare) -> bool {
        !self.facts.sack_seen && self.episodes.as_ref().is_some_and(|e| e.exact(bare.episode))
    }

    /// Payload bytes that were captured here, each counted once.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = self.hi.saturating_sub(self.facts.base).saturating_sub(self.holes.total());
        numbers.saturating_sub(u64::from(self.facts.fin.is_some()))
    }

    /// Payload bytes that acknowledgments prove to have arrived, from the first byte captured on.
    pub(crate) fn acknowledged(&self) -> u64 {
        let end = self.facts.fin.map_or(self.una, |fin| fin.min(self.una));
        end.saturating_sub(self.facts.base)
    }

    /// The number of the first data byte, and that after the last one captured or acknowledged.
    pub(crate) fn span(&self) -> (u64, u64) {
        if !self.started {
            return (0, 0);
        }
        (self.facts.base, self.hi.max(self.una).max(self.facts.base))
    }

    /// Bytes that were acknowledged but never captured here.
    pub(crate) fn unseen(&self) -> u64 {
        let below = |(left, right): (u64, u64)| right.min(self.una).saturating_sub(left);
        self.holes.iter().map(below).sum()
    }
}

/// The record of a segment from `seq` on; the caller sets its length.
fn sent(s: &Seen, order: u64, seq: u64) -> Sent {
    let tsval = s.timestamps.map_or(0, |t| t.value);
    Sent { seq, at: s.at, frame: s.frame, order, len: 0, tsval }
}

/// Whether timestamp `a` is older than `b`; the order wraps (RFC 7323 §5.2).
#[inline]
pub(crate) fn older(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}
