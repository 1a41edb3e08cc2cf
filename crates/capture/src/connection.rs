//! One TCP connection of a capture: takes its segments as they come, and leaves a record and the verdicts.

use crate::both::{Arrivals, BothWays, There};
use crate::ids::Ids;
use crate::judge::{judge, Facts};
use crate::place::{Hints, Place, Side, Why};
use crate::rtt::{Durations, Summary};
use crate::seen::{Seen, Way};
use crate::stream::cases::Cases;
use crate::stream::{older, Missed, Stream};
use crate::verdict::{Counts, Retransmission};
use ackclock_wire::options::{Options, Timestamps};

/// What is wanted of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Where it was captured, seen from the data of the way that carries more of them. Default: found out.
    pub at: Option<Side>,
    /// Whether to keep each retransmission, not only their counts. Default: no.
    pub each: bool,
    /// Whether to make the densities of RFC 5236, which take time and memory. Default: no.
    pub densities: bool,
}

/// What a SYN said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SynFacts {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// The shift of its sender's windows, at most 14 (RFC 7323 §2.3).
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack: bool,
    /// The timestamps option.
    pub timestamps: bool,
}

/// One way of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionRecord {
    /// What its SYN said, if that was captured.
    pub syn: Option<SynFacts>,
    /// All packets.
    pub packets: u64,
    /// Packets with payload.
    pub segments: u64,
    /// Payload bytes that were acknowledged or seen here, each counted once.
    pub bytes: u64,
    /// The numbers of the first byte and of what follows the last, unwrapped as in [`crate::Seen::seq`].
    pub span: (u64, u64),
    /// Payload bytes of all segments, repetitions too.
    pub carried: u64,
    /// Payload bytes that others acknowledged, but that never came by here.
    pub unseen: u64,
    /// From the first packet with payload to the last acknowledgment of something new, or else to the last packet with payload,
    /// nanoseconds.
    pub duration: i64,
    /// The largest payload of a packet, bytes. A device may have joined segments.
    pub largest: u32,
    /// Verdicts on what was sent again. SYNs and probes of a shut window or a silent peer are not among them.
    pub retransmissions: Counts,
    /// SYNs that were sent again.
    pub syns_again: u64,
    /// Round trips of its data: from its sender to the receiver and back. On the way: the sum of the two halves.
    pub rtt: Summary,
    /// From here to the receiver and back.
    pub onward: Summary,
    /// From here back to the sender, and what that sent in answer: by the timestamps.
    pub backward: Summary,
    /// Its receiver sent SACK blocks.
    pub sack_seen: bool,
    /// Duplicates that its receiver reported (DSACK).
    pub dsacks: u64,
    /// Whether its segments carry timestamps.
    pub timestamps: bool,
    /// Whether it ended with a FIN that was seen.
    pub fin: bool,
    /// Whether a RST came this way.
    pub reset: bool,
}

impl DirectionRecord {
    /// Bytes a second times 8; `None` without a duration.
    pub fn goodput(&self) -> Option<f64> {
        (self.duration > 0).then(|| self.bytes as f64 * 8e9 / self.duration as f64)
    }
}

/// A whole connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The frame of its first packet.
    pub first_frame: u64,
    /// When its first packet was captured, nanoseconds.
    pub start: i64,
    /// When its last packet was.
    pub end: i64,
    /// Where it was captured.
    pub place: Place,
    /// Why we think so.
    pub why: Why,
    /// The two ways, [`Way::Out`] first.
    pub ways: [DirectionRecord; 2],
}

impl Record {
    /// The way with more data.
    pub fn main_way(&self) -> Way {
        if self.ways[1].bytes > self.ways[0].bytes {
            Way::Back
        } else {
            Way::Out
        }
    }

    /// One way of it.
    pub fn way(&self, way: Way) -> &DirectionRecord {
        &self.ways[way as usize]
    }
}

/// What is left of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The connection as a whole.
    pub record: Record,
    /// Each retransmission in the order of frames, where that was wanted.
    pub retransmissions: Vec<Retransmission>,
}

/// A connection while its packets come in.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    wanted: Wanted,
    record: Record,
    /// The data of each way with the acknowledgments of the other.
    pub(crate) streams: [Stream; 2],
    pub(crate) ids: [Ids; 2],
    answers: [Answers; 2],
    /// What is noted for the capture of the other side, or known from it.
    there: Option<There>,
    /// Where it was captured, if that is known.
    given: Option<Place>,
    /// What has been judged, where each is wanted.
    found: Vec<Retransmission>,
    /// Packets that look as only their own host sees them.
    as_sent: [bool; 2],
}

/// When the data of one way answer the other way's acknowledgments: half a round trip to their sender.
#[derive(Clone, Debug, Default)]
struct Answers {
    /// The last timestamp of the other way that was waited for, and when it passed.
    value: Option<u32>,
    at: i64,
    /// It has not been echoed yet.
    waiting: bool,
    backward: Durations,
}

impl Connection {
    /// A connection of which nothing has been seen.
    pub fn new(wanted: Wanted) -> Self {
        Connection { wanted, ..Connection::default() }
    }

    /// The same, for a capture of the receiver's side: what arrives is noted (56 bytes a segment), so that the capture of the
    /// sender's side can be judged with it.
    pub fn noting_arrivals(wanted: Wanted) -> Self {
        Connection { wanted, there: Some(There::Noting(Box::default())), ..Connection::default() }
    }

    /// The same, for the capture of the sender's side, with what [`Connection::noting_arrivals`] found at the receiver's. Clocks may
    /// differ. Packets that a device joined or cut in between are found again if the size of a segment is known.
    pub fn knowing_arrivals(wanted: Wanted, mut arrivals: Box<BothWays>) -> Self {
        arrivals.iter_mut().for_each(Arrivals::sort);
        Connection { wanted, there: Some(There::Known(arrivals)), ..Connection::default() }
    }

    /// The same, captured at this place.
    pub fn standing(self, place: Place) -> Self {
        Connection { given: Some(place), ..self }
    }

    /// Bytes that a full segment carries: arrivals are noted segment by segment.
    pub fn full_segment(&mut self, bytes: u32) {
        if let Some(There::Noting(ways)) = &mut self.there {
            ways.iter_mut().for_each(|way| way.full_segment(bytes));
        }
    }

    /// The options of a SYN; call it before [`Connection::on`] with the same segment.
    pub fn on_syn(&mut self, way: Way, options: &Options) {
        self.record.ways[way as usize].syn = Some(SynFacts {
            mss: options.mss,
            window_scale: options.window_scale.map(|s| s.min(ackclock_wire::options::MAX_SHIFT)),
            sack: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
        });
    }

    /// A packet whose checksum was not filled in: only its sender's host sees such.
    pub fn on_missing_checksum(&mut self, way: Way) {
        self.as_sent[way as usize] = true;
    }

    /// The next segment, in the order of the capture.
    #[inline]
    pub fn on(&mut self, seen: &Seen) {
        if self.record.first_frame == 0 {
            self.record.first_frame = seen.frame;
            self.record.start = seen.at;
        }
        self.record.end = seen.at;
        let (w, back) = (seen.way as usize, seen.way.back() as usize);
        let top = self.ids[w].top();
        let order = self.ids[w].next(seen.id).unwrap_or(0);
        if let Some(there) = &mut self.there {
            there.on(seen);
        }
        let way = &mut self.record.ways[w];
        way.packets += 1;
        way.segments += u64::from(seen.len > 0);
        way.carried += u64::from(seen.len);
        way.largest = way.largest.max(seen.len);
        let skipped = if top > 0 { order.saturating_sub(top + 1) } else { 0 };
        if seen.len > 0 || seen.flags & 0x07 != 0 {
            let missed = if skipped > 0 { self.missed(seen, skipped) } else { Missed::default() };
            self.streams[w].data(seen, order, missed);
        }
        if let Some(ack) = seen.ack {
            self.streams[back].ack(seen, ack, order, skipped);
        }
        if let Some(t) = seen.timestamps {
            self.answer(w, back, seen, t);
        }
        if self.streams[back].wants_judgment() {
            self.judge_settled(seen.way.back(), seen.at);
        }
    }

    /// Counts packets that came one way, in order, with their segments and bytes; the last came at `end`.
    pub(crate) fn count(&mut self, way: Way, packets: u64, (segments, bytes): (u64, u64), end: i64) {
        let record = &mut self.record.ways[way as usize];
        record.packets += packets;
        record.segments += segments;
        record.carried += bytes;
        self.record.end = end;
    }

    /// Whether nothing need be noted of each packet, nor be judged soon.
    pub(crate) fn follows_all(&self) -> bool {
        self.there.is_none() && !self.streams.iter().any(Stream::wants_judgment)
    }

    /// The largest payload so far, bytes.
    pub(crate) fn largest(&self, way: Way) -> u32 {
        self.record.ways[way as usize].largest
    }

    /// Judges what is long ago, so that memory is bounded by what is in flight.
    #[cold]
    fn judge_settled(&mut self, way: Way, now: i64) {
        let place = self.place().0;
        if let Some(cases) = self.streams[way as usize].settled(now) {
            self.judge(way, place, &cases);
        }
    }

    fn judge(&mut self, way: Way, place: Place, cases: &Cases) {
        let w = way as usize;
        let (ids, ack_ids) = (&self.ids[w], &self.ids[way.back() as usize]);
        let arrivals = match &self.there {
            Some(There::Known(ways)) => Some(&ways[w]),
            Some(There::Noting(_)) | None => None,
        };
        let side = place.side(way);
        let found = judge(&Facts { way, side, stream: &self.streams[w], cases, arrivals, ids, ack_ids });
        found.iter().for_each(|r| self.record.ways[w].retransmissions.add(&r.judged));
        if self.wanted.each {
            self.found.extend(found);
        }
    }

    /// The `skipped` packets that are missing right before this one, if they must have been data. (Where a host sends
    /// acknowledgments of its own they may be those.)
    #[cold]
    fn missed(&self, seen: &Seen, skipped: u64) -> Missed {
        let w = seen.way as usize;
        let way = &self.record.ways[w];
        let acks = way.packets - way.segments;
        if !self.ids[w].count_in_any_order() || 16 * acks > way.packets + 48 {
            return Missed::default();
        }
        let (far, near) = (self.streams[w].onward.smallest(), self.half(seen.way));
        Missed { packets: skipped, round_trip: far.zip(near).map(|(f, n)| f + n) }
    }

    /// Half a round trip to the sender of data: from a timestamp that goes to it to the data that echo it first.
    #[inline(always)]
    pub(crate) fn answer(&mut self, w: usize, back: usize, seen: &Seen, t: Timestamps) {
        let own = &mut self.answers[w];
        let value = own.value.unwrap_or(0);
        let echoed = own.waiting & (seen.len > 0) & (t.echo == value);
        own.waiting &= !(echoed | older(value, t.echo));
        if echoed {
            own.backward.add(seen.at - own.at);
        }
        // Without a branch: it cannot be foreseen.
        let other = &mut self.answers[back];
        let begins = !other.waiting & (other.value != Some(t.value));
        other.value = if begins { Some(t.value) } else { other.value };
        other.at = if begins { seen.at } else { other.at };
        other.waiting |= begins;
    }

    /// The capture ended.
    pub fn finish(self) -> Report {
        self.finish_noting().0
    }

    /// The same, with what arrived each way, if that was noted here or is known from the receiver's side.
    pub fn finish_noting(mut self) -> (Report, Option<Box<BothWays>>) {
        for way in [Way::Out, Way::Back] {
            self.record_way(way);
        }
        let (place, why) = self.place();
        self.record.place = place;
        self.record.why = why;
        for way in [Way::Out, Way::Back] {
            self.record.ways[way as usize].rtt = rtt(place.side(way), &self.record.ways[way as usize]);
            if let Some(cases) = self.streams[way as usize].take_cases() {
                self.judge(way, place, &cases);
            }
        }
        self.found.sort_by_key(|r| r.frame);
        let arrivals = self.there.map(|there| match there {
            There::Noting(mut noted) => {
                noted.iter_mut().zip(&self.streams).for_each(|(n, s)| n.refuse(s.refused.iter().copied()));
                noted.iter_mut().zip(&self.record.ways).for_each(|(n, way)| n.lacks(way.unseen));
                noted
            }
            There::Known(known) => known,
        });
        (Report { record: self.record, retransmissions: self.found }, arrivals)
    }

    fn record_way(&mut self, way: Way) {
        let (stream, facts) = (&self.streams[way as usize], self.streams[way as usize].facts);
        let backward = self.answers[way as usize].backward.summary();
        let record = &mut self.record.ways[way as usize];
        record.bytes = stream.bytes();
        record.span = stream.span();
        record.unseen = stream.unseen();
        let end = facts.acked_at.unwrap_or(facts.last_at);
        record.duration = facts.first_at.map_or(0, |first| end - first);
        record.syns_again = facts.syns_again;
        record.onward = stream.onward.summary();
        record.backward = backward;
        record.sack_seen = facts.sack_seen;
        record.dsacks = facts.dsacks;
        record.timestamps = stream.timestamps;
        record.fin = facts.fin;
    }

    /// The smallest half round trip to the host from which `way` goes.
    fn half(&self, way: Way) -> Option<i64> {
        let (near, far) = (&self.answers[way as usize].backward, &self.streams[way.back() as usize]);
        near.smallest().into_iter().chain(far.onward.smallest()).min().or(far.facts.handshake)
    }

    fn place(&self) -> (Place, Why) {
        if let Some(place) = self.given {
            return (place, Why::Given);
        }
        if let Some(side) = self.wanted.at {
            return (Place::of(side, self.record.main_way()), Why::Given);
        }
        let hints = Hints { out: self.half(Way::Out), back: self.half(Way::Back), as_sent: self.as_sent };
        hints.place()
    }
}

/// Whole round trips, as they show at one side.
fn rtt(side: Side, way: &DirectionRecord) -> Summary {
    let sum = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a + b);
    match side {
        Side::Sender => way.onward,
        Side::Receiver => way.backward,
        Side::Middle => Summary {
            samples: way.onward.samples.min(way.backward.samples),
            min: sum(way.onward.min, way.backward.min),
            median: sum(way.onward.median, way.backward.median),
            p95: sum(way.onward.p95, way.backward.p95),
        },
    }
}
