//! Both sides of a connection: the fate of each copy is known.
//!
//! Idea: a packet is recognized at the receiver by its identification, sequence number, length and timestamp. The receiver's
//! capture also shows refusals (PAWS, RFC 7323 §5.3). The order of transmission is exactly that of the sender's capture:
//! identical packets are taken in their order, and a packet that left once and arrived twice was duplicated on its way. Clocks
//! are not compared. A device may have joined segments into one packet, or split one: both sides are compared segment by
//! segment, and identifications increment across the parts (Linux 6.18, `net/ipv4/af_inet.c`, `inet_gso_segment`).

use crate::reordering::{since, OrderSource, Reordered};
use crate::seen::{Seen, Way};
use ackclock_sim::reordering::Reordering;
use ackclock_tcp::segment::Segment;

/// The arrivals at the receiver of one way, and which of them it refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    list: Vec<Arrival>,
    /// Frames, ascending.
    refused: Vec<u64>,
    /// Payload of a full segment, bytes; 0 if unknown.
    segment: u32,
    /// Segments that were sent.
    left: u64,
    /// The number of the first data that arrived, if their capture has no SYN before them.
    begins: Option<u32>,
    /// The receiver acknowledged data missing from its capture.
    gaps: bool,
}

/// Identifies a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    seq: u32,
    len: u32,
    id: u16,
    tsval: u32,
    /// Without payload: its acknowledgment number.
    ack: u32,
}

/// A segment as it arrived at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    key: Key,
    frame: u64,
    at: i64,
    /// Its number in the order of transmission, once it is matched.
    number: Option<u64>,
}

/// The fate of a copy; the worst of its parts counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// It arrived, and its bytes were taken or already present.
    Taken(u64),
    /// It arrived, and was discarded.
    Refused(u64),
    /// It did not arrive.
    Lost,
}

/// A transmitted packet, with the fields by which it is recognized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    pub(crate) seq: u64,
    pub(crate) len: u32,
    pub(crate) id: Option<u16>,
    pub(crate) tsval: u32,
}

/// The arrivals of the segments that were sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// Segments that arrived while both captures ran.
    pub arrived: u64,
    /// The number of arrivals whose transmission was captured.
    pub known: u64,
    /// Their order.
    pub reordered: Reordered,
}

impl Parcel {
    fn of(seen: &Seen) -> Parcel {
        Parcel { seq: seen.seq, len: seen.len, id: seen.id, tsval: seen.timestamps.map_or(0, |t| t.value) }
    }

    /// Its segments, from the first byte.
    fn parts(self, segment: u32) -> impl Iterator<Item = Key> {
        let size = if segment == 0 { u32::MAX } else { segment };
        let count = self.len.div_ceil(size).max(1);
        (0..count).map(move |k| {
            let begin = k.saturating_mul(size);
            Key {
                seq: (self.seq as u32).wrapping_add(begin),
                len: (self.len - begin).min(size),
                id: self.id.map_or(0, |id| id.wrapping_add(k as u16)),
                tsval: self.tsval,
                ack: 0,
            }
        })
    }
}

/// A packet's segments.
fn keys(seen: &Seen, segment: u32) -> impl Iterator<Item = Key> {
    let bare = seen.len == 0 && !seen.has(Segment::FIN);
    let ack = if bare { seen.ack.unwrap_or(0) as u32 } else { 0 };
    Parcel::of(seen).parts(segment).map(move |key| Key { ack, ..key })
}

impl Arrivals {
    /// Bytes that a full segment carries.
    pub(crate) fn full_segment(&mut self, bytes: u32) {
        self.segment = bytes;
    }

    /// A packet arrived. Must be called for each packet, in the order of the receiver's capture.
    pub fn arrived(&mut self, seen: &Seen) {
        if self.list.is_empty() && !seen.has(Segment::SYN) {
            self.begins = Some(seen.seq as u32);
        }
        let arrivals =
            keys(seen, self.segment).map(|key| Arrival { key, frame: seen.frame, at: seen.at, number: None });
        self.list.extend(arrivals);
    }

    /// The receiver refused the data of these frames.
    pub(crate) fn refuse(&mut self, frames: impl Iterator<Item = u64>) {
        self.refused.extend(frames);
    }

    /// The receiver acknowledged bytes that are not in its capture.
    pub(crate) fn lacks(&mut self, bytes: u64) {
        self.gaps = bytes > 0;
    }

    /// Whether a packet that is not here may have arrived nevertheless: the capture misses packets.
    pub(crate) fn has_gaps(&self) -> bool {
        self.gaps
    }

    /// Whether these bytes may have arrived before their capture began.
    pub(crate) fn may_precede(&self, seq: u64) -> bool {
        self.begins.is_some_and(|first| ((seq as u32).wrapping_sub(first) as i32) < 0)
    }

    /// All arrivals are recorded. Must be called before the first query.
    pub(crate) fn sort(&mut self) {
        self.list.sort_unstable();
        self.refused.sort_unstable();
    }

    /// The positions of the arrivals of a segment.
    fn same(&self, key: Key) -> std::ops::Range<usize> {
        let from = self.list.partition_point(|a| a.key < key);
        let count = self.list[from..].iter().take_while(|a| a.key == key).count();
        from..from + count
    }

    /// A packet left the sender. Must be called for each packet, in the order of the sender's capture.
    pub(crate) fn sent(&mut self, seen: &Seen) {
        for key in keys(seen, self.segment) {
            let same = self.same(key);
            if let Some(arrival) = self.list[same].iter_mut().find(|a| a.number.is_none()) {
                arrival.number = Some(self.left);
            }
            self.left += 1;
        }
    }

    /// The fate of the bytes of a packet from `from` up to `to`.
    pub(crate) fn fate(&self, parcel: Parcel, (from, to): (u64, u64)) -> Fate {
        // A FIN belongs to the last part.
        let within = |key: &Key| {
            let begin = key.seq.wrapping_sub(parcel.seq as u32);
            let last = begin + key.len >= parcel.len;
            parcel.seq + u64::from(begin) < to && (last || from < parcel.seq + u64::from(begin + key.len))
        };
        let parts = parcel.parts(self.segment).filter(within);
        parts.map(|key| self.fate_of_one(key)).max().unwrap_or(Fate::Lost)
    }

    fn fate_of_one(&self, key: Key) -> Fate {
        let mut fate = Fate::Lost;
        for arrival in &self.list[self.same(key)] {
            if self.refused.binary_search(&arrival.frame).is_err() {
                return Fate::Taken(arrival.frame);
            }
            fate = Fate::Refused(arrival.frame);
        }
        fate
    }

    /// The order in which the transmitted segments arrived, after all of them; `None` if none arrived.
    pub fn between(mut self) -> Option<Between> {
        // A segment that arrived more often than it was sent was duplicated on its way.
        for i in 1..self.list.len() {
            if self.list[i].number.is_none() && self.list[i].key == self.list[i - 1].key {
                self.list[i].number = self.list[i - 1].number;
            }
        }
        // Parts of one packet stay in their order: their keys ascend, except where numbers wrap.
        self.list.sort_by_key(|a| (a.frame, a.number));
        // Either capture may have begun earlier, or ended later.
        let is_known = |a: &Arrival| a.number.is_some();
        let whole = self.list.iter().position(is_known).zip(self.list.iter().rposition(is_known));
        let shared = whole.map_or(&self.list[..], |(from, to)| &self.list[from..=to]);
        let first = shared.first()?.at;
        let mut order = Reordering::with_densities(0);
        let (mut known, mut late) = (0, Vec::new());
        for arrival in shared {
            if let Some(number) = arrival.number {
                if order.arrive(since(first, arrival.at), number, arrival.key.len).is_some() {
                    late.push(arrival.frame);
                }
                known += 1;
            }
        }
        Some(Between {
            arrived: shared.len() as u64,
            known,
            reordered: Reordered { source: OrderSource::Sender, order, late },
        })
    }
}

/// The arrivals each way, [`Way::Out`] first.
pub type BothWays = [Arrivals; 2];

/// The relation of a connection to the capture of its other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum There {
    /// Packets are recorded for it.
    Noting(Box<BothWays>),
    /// These packets arrived at the receiver.
    Known(Box<BothWays>),
}

impl There {
    /// A packet of this capture.
    pub(crate) fn on(&mut self, seen: &Seen) {
        let way = match seen.way {
            Way::Out => 0,
            Way::Back => 1,
        };
        match self {
            There::Noting(ways) => ways[way].arrived(seen),
            There::Known(ways) => ways[way].sent(seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_wire::options::Timestamps;

    fn seen(frame: u64, id: u16, value: u32) -> Seen {
        Seen {
            frame,
            seq: (1 << 32) + 7,
            len: 100,
            id: Some(id),
            timestamps: Some(Timestamps { value, echo: 0 }),
            ..Seen::default()
        }
    }

    #[test]
    fn a_copy_is_found_again_by_its_numbers_and_is_taken_if_one_packet_of_it_is() {
        let mut arrivals = Arrivals::default();
        [seen(3, 1, 50), seen(4, 2, 60), seen(5, 2, 60), seen(6, 3, 60)].iter().for_each(|s| arrivals.arrived(s));
        arrivals.refuse([3, 4].into_iter());
        arrivals.sort();
        let fate = |id, tsval| {
            let seq = (2 << 32) + 7;
            arrivals.fate(Parcel { seq, len: 100, id: Some(id), tsval }, (seq, seq + 100))
        };
        assert_eq!([fate(1, 50), fate(2, 60), fate(3, 60)], [Fate::Refused(3), Fate::Taken(5), Fate::Taken(6)]);
        assert_eq!([fate(4, 60), fate(3, 61)], [Fate::Lost, Fate::Lost]);
    }

    #[test]
    fn what_a_device_joined_is_found_again_segment_by_segment() {
        let mut arrivals = Arrivals::default();
        arrivals.full_segment(100);
        let at = |n: u64| (1 << 32) + 7 + 100 * n;
        // Five segments left as one packet, identifications from 9 on; the third was lost, and the first two were joined again.
        arrivals.arrived(&Seen { len: 200, ..seen(1, 9, 50) });
        arrivals.arrived(&Seen { seq: at(3), ..seen(2, 12, 50) });
        arrivals.arrived(&Seen { seq: at(4), len: 30, ..seen(3, 13, 50) });
        arrivals.sort();
        let parcel = Parcel { seq: at(0), len: 430, id: Some(9), tsval: 50 };
        let fates = [(0, 2), (1, 3), (2, 3), (3, 4), (4, 5)]
            .map(|(l, r)| arrivals.fate(parcel, (at(l), at(r).min(at(0) + 430))));
        assert_eq!(fates, [Fate::Taken(1), Fate::Lost, Fate::Lost, Fate::Taken(2), Fate::Taken(3)]);
        arrivals.sent(&Seen { len: 430, ..seen(70, 9, 50) });
        let between = arrivals.between().unwrap();
        assert_eq!((between.arrived, between.known, between.reordered.order.late().packets), (4, 4, 0));
    }

    #[test]
    fn packets_are_numbered_as_they_left_and_counted_as_they_came() {
        let packet = |frame, n: u64, copy: u16| Seen {
            frame,
            seq: 1000 * n,
            len: 1000,
            id: Some(10 * n as u16 + copy),
            at: 7,
            ..Seen::default()
        };
        // 2 is retransmitted after 4; the copies overtake each other, the path duplicates 0, and the transmission of 9 was not
        // captured.
        let sent = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (2, 1), (5, 0)];
        let arrived = [(0, 0), (1, 0), (3, 0), (2, 1), (4, 0), (2, 0), (5, 0), (9, 0), (0, 0)];
        let mut arrivals = Arrivals::default();
        (1..).zip(arrived).for_each(|(frame, (n, copy))| arrivals.arrived(&packet(frame, n, copy)));
        arrivals.sort();
        sent.iter().for_each(|(n, copy)| arrivals.sent(&packet(1, *n, *copy)));
        let found = arrivals.between().unwrap();
        assert_eq!(
            (found.arrived, found.known, found.reordered.order.duplicates()),
            (9, 8, 1),
            "9 came between others"
        );
        let extents: Vec<_> = found.reordered.order.late().extents.clone().into_iter().collect();
        assert_eq!((found.reordered.source, extents), (OrderSource::Sender, vec![(1, 1), (3, 1)]));
    }
}
