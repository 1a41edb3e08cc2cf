//! One TCP connection of a capture: takes its segments in order, and produces a record and the verdicts.

pub mod opening;
mod record;

use crate::both::{Arrivals, BothWays, There};
use crate::ids::Ids;
use crate::judge::{judge, Facts};
use crate::place::{Hints, Place, Side, Why};
use crate::rtt::Durations;
use crate::seen::{Heading, Seen, Way};
use crate::stream::copies::Cases;
use crate::stream::{older, Known, Stream};
use crate::verdict::{Counts, Retransmission};
use ackclock_tcp::segment::Segment;
use ackclock_wire::options::{Options, Timestamps};
use opening::Opening;
pub use record::{DirectionRecord, Record, Report, SynFacts};

/// Hop limits with which hosts send packets.
const INITIAL: [u8; 4] = [32, 64, 128, 255];

/// The requested analysis of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The place of capture, relative to the data of the direction that carries more. Default: detected.
    pub at: Option<Side>,
    /// Whether to keep each retransmission, and not only their counts. Default: no.
    pub each: bool,
    /// Whether to compute the densities of RFC 5236, which take time and memory. Default: no.
    pub densities: bool,
}

/// A connection while its packets are read.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Connection {
    /// The data of each direction, with the acknowledgments of the other.
    pub(crate) streams: [Stream; 2],
    answers: [Answers; 2],
    /// Half round trips from here back to the sender of each way.
    backward: [Durations; 2],
    pub(crate) ids: [Ids; 2],
    wanted: Wanted,
    counted: [Counted; 2],
    opening: Opening,
    first_frame: u64,
    start: i64,
    end: i64,
    last_frame: u64,
    /// The records for the capture of the other side, or the arrivals known from it.
    there: Option<There>,
    /// Where it was captured, if given.
    given: Option<Place>,
    /// The judged retransmissions, if each is requested.
    found: Vec<Retransmission>,
    /// Packets without a complete checksum, and with a hop limit that no router has lowered.
    unfinished: [bool; 2],
    near: [bool; 2],
}

/// The counts of one way while its packets are read.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    packets: u64,
    segments: u64,
    carried_bytes: u64,
    largest: u32,
    /// Packets that announce a window of zero, without SYN and RST.
    zero_windows: u64,
    syns: u64,
    fins: u64,
    resets: u64,
    syn: Option<SynFacts>,
    retransmissions: Counts,
}

/// Times at which data of one way replies to acknowledgments of the other way: half a round trip to their sender.
#[derive(Clone, Debug, Default)]
struct Answers {
    /// The last pending timestamp of the other way, and when it passed.
    value: Option<u32>,
    at: i64,
    /// The newest timestamp of the other way.
    newest: Option<u32>,
    /// It has not been echoed yet.
    waiting: bool,
    /// Whether the last data of this way had PSH: its sender had written no more.
    pushed: bool,
}

impl Connection {
    /// A connection without packets so far.
    pub fn new(wanted: Wanted) -> Self {
        Connection { wanted, ..Connection::default() }
    }

    /// Like [`Connection::new`], for a capture of the receiver's side: arrivals are recorded (56 bytes a segment), so that they
    /// can be used to judge the capture of the sender's side.
    pub fn noting_arrivals(wanted: Wanted) -> Self {
        Connection { wanted, there: Some(There::Noting(Box::default())), ..Connection::default() }
    }

    /// Like [`Connection::new`], for the capture of the sender's side, with the arrivals from [`Connection::noting_arrivals`] at
    /// the receiver's. Clocks may differ. Packets that a device joined or split in between are recognized if the size of a
    /// segment is known.
    pub fn knowing_arrivals(wanted: Wanted, mut arrivals: Box<BothWays>) -> Self {
        arrivals.iter_mut().for_each(Arrivals::sort);
        Connection { wanted, there: Some(There::Known(arrivals)), ..Connection::default() }
    }

    /// Returns the connection with a given place of capture.
    pub fn standing(self, place: Place) -> Self {
        Connection { given: Some(place), ..self }
    }

    /// Payload bytes of a full segment: arrivals are recorded segment by segment.
    pub fn full_segment(&mut self, bytes: u32) {
        if let Some(There::Noting(ways)) = &mut self.there {
            ways.iter_mut().for_each(|way| way.full_segment(bytes));
        }
    }

    /// The options of a SYN. Must be called before [`Connection::on`] with the same segment.
    pub fn on_syn(&mut self, way: Way, options: &Options) {
        self.counted[way as usize].syn = Some(SynFacts {
            mss: options.mss,
            window_scale: options.window_scale.map(|s| s.min(ackclock_wire::options::MAX_SHIFT)),
            sack: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
        });
    }

    /// Looks for a form of one of the first packets that only their sender's host sees, or its neighbours.
    pub fn look(&mut self, seen: &Seen) {
        let way = seen.way as usize;
        self.unfinished[way] |= seen.unfinished;
        self.near[way] |= INITIAL.contains(&seen.hop_limit) && seen.heading != Heading::In;
    }

    /// The next segment, in the order of the capture.
    #[inline]
    pub fn on(&mut self, seen: &Seen) {
        if seen.flags & 0x07 != 0 || !self.opening.is_open() {
            self.opening.on(seen);
        }
        if self.first_frame == 0 {
            (self.first_frame, self.start, self.end) = (seen.frame, seen.at, seen.at);
        }
        (self.end, self.last_frame) = (self.end.max(seen.at), seen.frame);
        let (w, back) = (seen.way as usize, seen.way.back() as usize);
        let top = self.ids[w].top();
        let order = self.ids[w].next(seen.id).unwrap_or(0);
        if let Some(there) = &mut self.there {
            there.on(seen);
        }
        let way = &mut self.counted[w];
        way.packets += 1;
        way.segments += u64::from(seen.len > 0);
        way.carried_bytes += u64::from(seen.len);
        way.largest = way.largest.max(seen.len);
        way.zero_windows += u64::from(seen.window == 0 && seen.flags & (Segment::SYN | Segment::RST) == 0);
        way.syns += u64::from(seen.has(Segment::SYN));
        way.fins += u64::from(seen.has(Segment::FIN));
        way.resets += u64::from(seen.has(Segment::RST));
        let skipped = if top > 0 { order.saturating_sub(top + 1) } else { 0 };
        if seen.len > 0 || seen.flags & 0x07 != 0 || self.streams[w].is_probe(seen) {
            let known = if self.streams[w].is_below(seen) { self.known(seen.way) } else { Known::default() };
            self.streams[w].data(seen, order, known);
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

    /// Counts packets of one way, in order, with their segments and bytes; the last was captured at `end`, as `frame`.
    pub(crate) fn count(&mut self, way: Way, packets: u64, (segments, bytes): (u64, u64), (end, frame): (i64, u64)) {
        let counted = &mut self.counted[way as usize];
        counted.packets += packets;
        counted.segments += segments;
        counted.carried_bytes += bytes;
        (self.end, self.last_frame) = (self.end.max(end), frame);
    }

    /// Whether no single packet has to be recorded, or judged soon.
    pub(crate) fn follows_all(&self) -> bool {
        self.there.is_none() && self.opening.is_open() && !self.streams.iter().any(Stream::wants_judgment)
    }

    /// When the last payload of each way was captured.
    pub(crate) fn last_data(&self) -> [i64; 2] {
        [&self.streams[0], &self.streams[1]].map(|stream| stream.facts.last_at)
    }

    /// When payload of [`Way::Out`] was last acknowledged for the first time.
    pub(crate) fn acked_at(&self) -> Option<i64> {
        self.streams[Way::Out as usize].facts.acked_at
    }

    /// Whether a segment carries payload from above the highest byte captured.
    pub(crate) fn is_new(&self, seen: &Seen) -> bool {
        !self.streams[seen.way as usize].is_below(seen)
    }

    /// The largest payload so far, bytes.
    pub(crate) fn largest(&self, way: Way) -> u32 {
        self.counted[way as usize].largest
    }

    /// Judges the cases that are long past, so that memory is bounded by the data in flight.
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
        let round_trip = self.round_trip(way);
        let found = judge(&Facts { way, round_trip, side, stream: &self.streams[w], cases, arrivals, ids, ack_ids });
        found.iter().for_each(|r| self.counted[w].retransmissions.add(r));
        if self.wanted.each {
            self.found.extend(found);
        }
    }

    /// What is known of the data of one way besides its own segments.
    fn known(&self, way: Way) -> Known {
        Known { round_trip: self.round_trip(way), ordered: self.ids[way as usize].show_order() }
    }

    /// The smallest round-trip time between the hosts so far: from here to the receiver of one way, and from here to its sender.
    pub(crate) fn round_trip(&self, way: Way) -> Option<i64> {
        let (far, near) = (self.streams[way as usize].onward.smallest(), self.half(way));
        far.zip(near).map(|(f, n)| f + n)
    }

    /// Half a round trip to the sender of data: from a timestamp sent to it to the first data that echoes it.
    ///
    /// A timestamp in data is left out, since its answer may wait for an application, and so is one that follows data with PSH: the
    /// sender had nothing more to send then. (RFC 7323 §4.1 has the same purpose: idle time is no round trip.)
    #[inline(always)]
    pub(crate) fn answer(&mut self, w: usize, back: usize, seen: &Seen, t: Timestamps) {
        let own = &mut self.answers[w];
        let value = own.value.unwrap_or(0);
        let echoed = own.waiting & (seen.len > 0) & (t.echo == value);
        own.waiting &= !(echoed | older(value, t.echo));
        if echoed {
            self.backward[w].add(seen.at - own.at);
        }
        // Computed without branches, which would be unpredictable.
        own.pushed = if seen.len > 0 { seen.has(Segment::PSH) } else { own.pushed };
        let other = &mut self.answers[back];
        // Other packets with this value may have passed: before the capture began, or while an older one waited.
        let is_first = older(other.newest.unwrap_or(t.value.wrapping_sub(1)), t.value);
        let is_known = other.newest.is_some() | (seen.flags & Segment::SYN != 0);
        other.newest = if is_first { Some(t.value) } else { other.newest };
        let is_new = !other.waiting & is_first;
        other.value = if is_new { Some(t.value) } else { other.value };
        other.at = if is_new { seen.at } else { other.at };
        other.waiting |= is_new & is_known & (seen.len == 0) & !other.pushed;
    }

    /// The capture has ended.
    pub fn finish(self) -> Report {
        self.finish_noting().0
    }

    /// Like [`Connection::finish`], with the arrivals each way, if they were recorded here or are known from the receiver's side.
    pub fn finish_noting(mut self) -> (Report, Option<Box<BothWays>>) {
        let (place, why) = self.place();
        let mut ways = [Way::Out, Way::Back].map(|way| self.record_way(way));
        for way in [Way::Out, Way::Back] {
            let (w, record) = (way as usize, &mut ways[way as usize]);
            record.rtt = record::rtt(place.side(way), record, self.opening.round_trip());
            if let Some(cases) = self.streams[w].take_cases() {
                self.judge(way, place, &cases);
            }
            record.retransmissions = self.counted[w].retransmissions;
        }
        let (first_frame, start, end, opening) = (self.first_frame, self.start, self.end, self.opening);
        let record = Record { first_frame, start, end, last_frame: self.last_frame, place, why, opening, ways };
        self.found.sort_by_key(|r| r.frame);
        let arrivals = self.there.map(|there| match there {
            There::Noting(mut noted) => {
                noted.iter_mut().zip(&self.streams).for_each(|(n, s)| n.refuse(s.refused.iter().copied()));
                noted.iter_mut().zip(&record.ways).for_each(|(n, way)| n.lacks(way.unseen_bytes));
                noted
            }
            There::Known(known) => known,
        });
        (Report { record, retransmissions: self.found }, arrivals)
    }

    fn record_way(&self, way: Way) -> DirectionRecord {
        let (stream, facts) = (&self.streams[way as usize], self.streams[way as usize].facts);
        let Counted { packets, segments, carried_bytes, largest, syns, fins, resets, syn, retransmissions, .. } =
            self.counted[way as usize];
        let end = facts.acked_at.unwrap_or(facts.last_at);
        DirectionRecord {
            syn,
            packets,
            segments,
            bytes: stream.bytes(),
            acknowledged_bytes: stream.acknowledged(),
            span: stream.span(),
            carried_bytes,
            unseen_bytes: stream.unseen(),
            // Times may go back.
            duration: facts.first_at.map_or(0, |first| (end - first).max(0)),
            first_data: facts.first_at.unwrap_or(0),
            acks: facts.acks,
            largest,
            retransmissions,
            repeats: facts.repeats,
            fills: facts.fills,
            window_probes: facts.window_probes,
            keep_alives: facts.keep_alives,
            zero_windows: self.counted[way.back() as usize].zero_windows,
            syns,
            fins,
            resets,
            onward: stream.onward.summary(),
            backward: self.backward[way as usize].summary(),
            sack_seen: facts.sack_seen,
            sacks_outside: facts.sacks_outside,
            dsacks: facts.dsacks,
            timestamps: stream.timestamps,
            ..DirectionRecord::default()
        }
    }

    /// The smallest half round trip to the host at which `way` begins.
    fn half(&self, way: Way) -> Option<i64> {
        let (near, far) = (&self.backward[way as usize], &self.streams[way.back() as usize]);
        near.smallest().into_iter().chain(far.onward.smallest()).min().or(far.facts.handshake)
    }

    /// The direction with more data so far.
    fn main_way(&self) -> Way {
        let [out, back] = [&self.streams[0], &self.streams[1]].map(Stream::bytes);
        record::more(out, back)
    }

    fn place(&self) -> (Place, Why) {
        if let Some(place) = self.given {
            return (place, Why::Given);
        }
        if let Some(side) = self.wanted.at {
            return (Place::of(side, self.main_way()), Why::Given);
        }
        let as_sent = if self.unfinished[0] == self.unfinished[1] { self.near } else { self.unfinished };
        let hints = Hints { out: self.half(Way::Out), back: self.half(Way::Back), as_sent };
        hints.place()
    }
}
