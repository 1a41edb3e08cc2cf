//! Usual packets: data directly after all earlier data, and acknowledgments that just advance.
//!
//! Idea: nearly all packets are of these two kinds, and all parts of an analysis agree on the position of such a packet. So the
//! position is tested once, and the counts are kept here, for all parts. Any other packet first brings the parts up to date;
//! after it, a check shows whether usual packets can be handled together again.

use super::Work;
use crate::reordering::acks::ByAcks;
use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;

/// The state kept for all parts together while packets are usual. The fields that every packet changes are together.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Usual {
    lanes: [Lane; 2],
    /// When the last usual packet was captured, and its frame.
    end: (i64, u64),
}

/// One way, since the parts were last up to date. The default accepts no packet.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// The last packet's place in the order of transmission.
    order: u64,
    packets: u64,
    segments: u64,
    /// The number of full segments in its acknowledged data.
    covered: u64,
    /// The position of its data when the parts were last up to date.
    hi: u64,
    /// Payload of a full segment, bytes; 0 if unknown.
    segment: u32,
    /// A larger segment is not usual, bytes.
    largest: u32,
    /// Whether each packet has the next identification; if not, none has any.
    counted: bool,
    /// Whether data directly after the last data is usual.
    data: bool,
    /// Whether an acknowledgment of its data that advances is usual.
    acks: bool,
    /// Whether an acknowledgment that does not advance is usual if it carries data of the other way.
    calm: bool,
    /// Whether arrivals need only be counted.
    counts: bool,
    /// Whether there were data that the other way's packets answer.
    answered: bool,
}

impl Lane {
    /// The next packet's place in the order of transmission.
    #[inline(always)]
    fn next(&self) -> u64 {
        self.order + u64::from(self.counted)
    }

    /// Whether a packet is the next in order, without anything that needs closer examination.
    #[inline(always)]
    fn expects(&self, seen: &Seen) -> bool {
        const LOOKED_AT: u8 = Segment::SYN | Segment::FIN | Segment::RST | Segment::ACK;
        let in_order = match seen.id {
            Some(id) => self.counted && id == self.next() as u16,
            None => !self.counted,
        };
        in_order && seen.flags & LOOKED_AT == Segment::ACK && seen.sacks == 0 && seen.window != 0
    }
}

impl Work {
    /// Takes a packet if it is usual.
    #[inline(always)]
    pub(super) fn usual(&mut self, seen: &Seen) -> bool {
        // Each way has its own code, so that all memory locations are known in advance.
        match seen.way {
            Way::Out => self.usual_of::<0, 1>(seen),
            Way::Back => self.usual_of::<1, 0>(seen),
        }
    }

    #[inline(always)]
    fn usual_of<const OWN: usize, const OTHER: usize>(&mut self, seen: &Seen) -> bool {
        let (w, b) = (OWN, OTHER);
        let Some(ack) = seen.ack else { return false };
        let (own, other) = (&self.usual.lanes[w], &self.usual.lanes[b]);
        let streams = &mut self.connection.streams;
        let (sends, (_, una)) = (seen.len > 0, streams[b].edges());
        let advances = streams[b].advances(ack);
        let usual = own.expects(seen)
            && if advances { other.acks } else { other.calm && sends && ack == una }
            && (!sends || own.data && seen.len <= own.largest && streams[w].is_next(seen));
        if !usual {
            return false;
        }
        let (order, counts, answered) = (own.next(), own.counts, other.answered);
        self.know_round_trip(seen);
        let streams = &mut self.connection.streams;
        self.usual.end = (seen.at, seen.frame);
        self.usual.lanes[w].order = order;
        self.usual.lanes[w].packets += 1;
        if !counts {
            let way = &mut self.ways[w];
            way.arrivals.on(seen, way.stalls.answer());
        }
        if sends {
            self.usual.lanes[w].segments += 1;
            streams[w].append(seen, order);
            self.ways[w].stalls.data(seen);
        }
        if advances {
            let other = &mut self.usual.lanes[b];
            let segments = ByAcks::segments(ack - una, other.segment);
            other.covered += segments;
            streams[b].advance_to(seen, ack, segments);
        } else {
            streams[b].overtaken_ack(seen, order);
            streams[b].beside_data(seen);
        }
        if answered {
            self.ways[b].stalls.ack(seen, self.shifts[w]);
        }
        if let Some(t) = seen.timestamps {
            self.connection.answer(w, b, seen, t);
        }
        true
    }

    /// Brings all parts up to date.
    pub(super) fn catch_up(&mut self) {
        for way in [Way::Out, Way::Back] {
            let (w, b) = (way as usize, way.back() as usize);
            let Lane { packets, segments, covered, hi, counted, counts, .. } = std::mem::take(&mut self.usual.lanes[w]);
            let (now, una) = self.connection.streams[w].edges();
            if packets > 0 {
                let bytes = now - hi;
                self.connection.count(way, packets, (segments, bytes), self.usual.end);
                self.connection.ids[w].on_arrivals(if counted { packets } else { 0 });
                self.connection.streams[b].acks_came(packets);
                if counts {
                    self.ways[w].arrivals.on_arrivals(packets, bytes);
                }
            }
            if segments + covered > 0
                && let Some(acks) = &mut self.ways[w].acks
            {
                acks.on_arrivals(now, una, covered);
            }
        }
    }

    /// Determines whether the next packets may be usual; all parts are up to date.
    pub(super) fn resume(&mut self) {
        if self.connection.follows_all() {
            // One after the other: an array would be written and copied.
            self.usual.lanes[0] = self.lane(Way::Out);
            self.usual.lanes[1] = self.lane(Way::Back);
        }
    }

    fn lane(&self, way: Way) -> Lane {
        let w = way as usize;
        let Some(order) = self.connection.ids[w].in_order() else { return Lane::default() };
        let (stream, own) = (&self.connection.streams[w], &self.ways[w]);
        let (hi, una) = stream.edges();
        let acks = own.acks.as_deref();
        let even = acks.is_some_and(|acks| acks.sent_below() == hi);
        let calm = stream.takes_acks() && acks.is_none_or(|acks| acks.knows(una));
        let segment = acks.and_then(|acks| acks.countable(una));
        let countable = own.arrivals.countable(order as u16).filter(|_| order != 0);
        Lane {
            order,
            counted: order != 0,
            segment: segment.unwrap_or(0),
            hi,
            largest: self.connection.largest(way).min(countable.unwrap_or(u32::MAX)),
            data: even && stream.takes_data() && self.exchanges.goes_on(way),
            acks: even && calm && segment.is_some(),
            calm,
            counts: countable.is_some(),
            answered: own.stalls.has_begun(),
            ..Lane::default()
        }
    }
}
