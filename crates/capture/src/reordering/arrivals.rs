//! The reordering of captured packets.
//!
//! Source: RFC 4737 §3; RFC 6864 §4 (an identification need not be a counter: it is checked before use).

use super::{since, OrderSource, Reordered};
use crate::seen::Seen;
use ackclock_sim::reordering::Reordering;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};

/// The number of packets examined before the basis of the order is decided.
const LOOKED_AT: usize = 16;
/// A step of identifications up to this size, in either direction, may be due to reordering.
const NEAR: i32 = 4096;
/// After a SYN, whose identification may be unrelated, only a step up to this size may be due to reordering.
const NEAR_SYN: i32 = 64;
/// One in this many steps may be irregular.
const FEW: u32 = 16;
/// The start of numbers, so that packets sent before the first captured one have a number below it.
const FIRST: u64 = 1 << 20;
/// Bits of the sequence number within one value of the clock.
const WITHIN: u32 = 34;

/// The packets of one way, in the order of their arrival here. The fields that every packet changes are together at the
/// beginning.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Arrivals {
    first: i64,
    /// The highest identification: unwrapped, and as in the header.
    top: (u64, u16),
    /// Payload of a full segment, bytes.
    segment: u32,
    source: Option<OrderSource>,
    /// Whether densities are requested.
    densities: bool,
    order: Reordering,
    /// The clock and the sequence number of the first packet with them.
    clock: Option<(u32, u64)>,
    early: Vec<Early>,
    /// Frames of late packets, if requested.
    late: Option<Vec<u64>>,
}

/// The fields of a packet that may show its place.
#[derive(Clone, Copy, Debug)]
struct Early {
    at: i64,
    frame: u64,
    id: Option<u16>,
    clock: Option<u32>,
    seq: u64,
    len: u32,
    flags: u8,
}

impl Early {
    fn of(seen: &Seen) -> Early {
        let clock = seen.timestamps.map(|t| t.value);
        Early { at: seen.at, frame: seen.frame, id: seen.id, clock, seq: seen.seq, len: seen.len, flags: seen.flags }
    }
}

impl Arrivals {
    /// The state before any packet. `segment`: the payload of a full segment in bytes, if known; a device may have joined
    /// several. With `densities`, those of RFC 5236 are computed if each packet has a number of its own.
    pub fn new(segment: Option<u32>, densities: bool) -> Self {
        Arrivals {
            early: Vec::new(),
            source: None,
            order: Reordering::default(),
            first: 0,
            top: (FIRST, 0),
            clock: None,
            segment: segment.filter(|s| *s > 0).unwrap_or(u32::MAX),
            densities,
            late: None,
        }
    }

    /// Keeps the frames of late packets.
    pub fn keep_late(&mut self) {
        self.late = Some(Vec::new());
    }

    /// A packet was late.
    #[cold]
    fn keep(&mut self, frame: u64) {
        if let Some(late) = &mut self.late {
            late.push(frame);
        }
    }

    /// Sets the payload of a full segment in bytes, which is known after the handshake.
    pub fn full_segment(&mut self, bytes: u32) {
        self.segment = bytes.max(1);
    }

    /// The next packet of this way. `round_trip` is the smallest known round-trip time, nanoseconds: if only sequence numbers
    /// show the order, data that fills a hole later than that may be a retransmission.
    #[inline]
    pub fn on(&mut self, seen: &Seen, round_trip: Option<i64>) {
        let late = if self.source == Some(OrderSource::Identification) {
            self.by_identification(seen.at, seen.id, seen.len)
        } else {
            self.by_others(seen, round_trip)
        };
        if late {
            self.keep(seen.frame);
        }
    }

    #[inline(never)]
    fn by_others(&mut self, seen: &Seen, round_trip: Option<i64>) -> bool {
        match self.source {
            Some(OrderSource::Identification) => self.by_identification(seen.at, seen.id, seen.len),
            Some(OrderSource::Timestamps) => {
                self.by_timestamps(seen.at, seen.timestamps.map(|t| t.value), seen.seq, seen.len)
            }
            Some(OrderSource::Sequence | OrderSource::Acks | OrderSource::Sender) => {
                self.by_sequence(seen.at, seen.seq, seen.len, round_trip)
            }
            None => {
                self.look(Early::of(seen), round_trip);
                false
            }
        }
    }

    #[cold]
    fn look(&mut self, packet: Early, round_trip: Option<i64>) {
        if self.early.is_empty() {
            self.first = packet.at;
        }
        self.early.push(packet);
        if self.early.len() >= LOOKED_AT {
            self.settle(round_trip);
        }
    }

    /// Decides the basis of the order, and processes the packets that waited for it.
    fn settle(&mut self, round_trip: Option<i64>) {
        let mut early = std::mem::take(&mut self.early);
        // The answer to a SYN may have an identification unrelated to the later ones (Linux uses 0).
        if let [a, b, ..] = early[..] {
            let goes_on = step(a.id, b.id).is_some_and(|s| (1..=NEAR_SYN).contains(&s));
            if a.flags & Segment::SYN != 0 && !goes_on {
                early.remove(0);
            }
        }
        let source = if count_up(&early) {
            OrderSource::Identification
        } else if early.iter().all(|p| p.clock.is_some()) {
            OrderSource::Timestamps
        } else {
            OrderSource::Sequence
        };
        if let (OrderSource::Identification, Some(first)) = (source, early.first()) {
            self.top = (FIRST, first.id.unwrap_or(0));
            // The first to arrive need not be the first that was sent.
            let mut number = 0;
            let steps = early.windows(2).map(|w| step(w[0].id, w[1].id).unwrap_or(0));
            let before = steps.map(|s| (number += s, number).1).min().unwrap_or(0).min(0);
            if self.densities {
                self.order = Reordering::with_densities(FIRST.saturating_add_signed(i64::from(before)));
            }
        }
        self.source = Some(source);
        early.iter().for_each(|p| self.take(source, p, round_trip));
    }

    fn take(&mut self, source: OrderSource, p: &Early, round_trip: Option<i64>) {
        let late = match source {
            OrderSource::Identification => self.by_identification(p.at, p.id, p.len),
            OrderSource::Timestamps => self.by_timestamps(p.at, p.clock, p.seq, p.len),
            OrderSource::Sequence | OrderSource::Acks | OrderSource::Sender => {
                self.by_sequence(p.at, p.seq, p.len, round_trip)
            }
        };
        if late {
            self.keep(p.frame);
        }
    }

    #[inline]
    fn by_identification(&mut self, at: i64, id: Option<u16>, len: u32) -> bool {
        // Here 0 is an ordinary number, though elsewhere it means none.
        let id = id.unwrap_or(0);
        let distance = i32::from(id.wrapping_sub(self.top.1) as i16);
        // A number far away is not a step: counting continues after the highest.
        let number =
            if distance.abs() > NEAR { self.top.0 + 1 } else { self.top.0.saturating_add_signed(distance.into()) };
        let at = since(self.first, at);
        let (more, late) = if len > self.segment {
            self.joined(at, number, len)
        } else {
            (0, self.order.arrive(at, number, len).is_some())
        };
        let last = number + u64::from(more);
        if last >= self.top.0 {
            self.top = (last, id.wrapping_add(more as u16));
            // The lower limit of a step back.
            self.order.forget_below(last.saturating_sub(NEAR as u64));
        }
        late
    }

    /// A packet that a device joined from several; returns the number of the others besides the first, and whether any was late.
    #[cold]
    fn joined(&mut self, at: Time, number: u64, len: u32) -> (u32, bool) {
        let packets = len.div_ceil(self.segment);
        let mut late = false;
        for i in 0..packets {
            late |= self.order.arrive(at, number + u64::from(i), len / packets).is_some();
        }
        (packets - 1, late)
    }

    #[inline]
    fn by_timestamps(&mut self, at: i64, clock: Option<u32>, seq: u64, len: u32) -> bool {
        let (Some(clock), true) = (clock, len > 0) else { return false };
        let (clock_0, seq_0) = *self.clock.get_or_insert((clock, seq));
        let ticks = FIRST.saturating_add_signed(i64::from(clock.wrapping_sub(clock_0) as i32));
        let within = (1u64 << (WITHIN - 1)).saturating_add_signed(seq.wrapping_sub(seq_0) as i64) & ((1 << WITHIN) - 1);
        let number = (ticks & ((1 << (63 - WITHIN)) - 1)) << WITHIN | within;
        self.order.arrive_span(since(self.first, at), number, number + u64::from(len), len).is_some()
    }

    #[inline]
    fn by_sequence(&mut self, at: i64, seq: u64, len: u32, round_trip: Option<i64>) -> bool {
        if len == 0 {
            return false;
        }
        let patience = Nanos(round_trip.map_or(u64::MAX, |r| r.max(0) as u64));
        self.order.arrive_original(since(self.first, at), seq, seq + u64::from(len), len, patience).is_some()
    }

    /// The largest payload with which packets after identification `last` need only be counted ([`Arrivals::on_arrivals`]), in bytes.
    pub(crate) fn countable(&self, last: u16) -> Option<u32> {
        let counts = self.source == Some(OrderSource::Identification) && !self.densities;
        (counts && self.top.1 == last && self.order.next() == self.top.0 + 1).then_some(self.segment)
    }

    /// Counts packets that arrived in order, each with the next identification.
    pub(crate) fn on_arrivals(&mut self, packets: u64, bytes: u64) {
        self.order.arrive_next(packets, packets, bytes);
        self.top = (self.top.0 + packets, self.top.1.wrapping_add(packets as u16));
        self.order.forget_below(self.top.0.saturating_sub(NEAR as u64));
    }

    /// The results so far; `None` before the first packet.
    pub fn finish(mut self, round_trip: Option<i64>) -> Option<Reordered> {
        if self.source.is_none() && !self.early.is_empty() {
            self.settle(round_trip);
        }
        Some(Reordered { source: self.source?, order: self.order, late: self.late.unwrap_or_default() })
    }
}

/// The step from one identification to another, if it may be due to reordering.
fn step(from: Option<u16>, to: Option<u16>) -> Option<i32> {
    let distance = i32::from(to.unwrap_or(0).wrapping_sub(from.unwrap_or(0)) as i16);
    (distance != 0 && distance.abs() <= NEAR).then_some(distance)
}

/// Whether identifications show the order of these packets.
fn count_up(packets: &[Early]) -> bool {
    let steps = packets.windows(2).map(|w| step(w[0].id, w[1].id));
    let (mut near, mut wild, mut up) = (0u32, 0u32, 0i32);
    for step in steps {
        match step {
            Some(distance) => {
                near += 1;
                up += distance.signum();
            }
            None => wild += 1,
        }
    }
    near > 0 && wild <= near / FEW && up > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_wire::options::Timestamps;

    const MSS: u32 = 1000;

    /// Packet `n` of a transfer, arriving at a millisecond; its identification, clock and sequence number follow from `n`.
    fn packet(n: u64, ms: i64) -> Seen {
        Seen {
            at: ms * 1_000_000,
            seq: (1 << 32) + n * u64::from(MSS),
            len: MSS,
            flags: Segment::ACK,
            id: Some((65_500 + n) as u16),
            timestamps: Some(Timestamps { value: (u32::MAX - 20).wrapping_add(n as u32 / 2), echo: 0 }),
            ..Seen::default()
        }
    }

    const ORDER: [u64; 40] = [
        0, 1, 2, 3, 5, 6, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 22, 23, 19, 20, 24, 25, 26, 27, 28, 29, 30,
        33, 34, 35, 36, 37, 32, 38, 39, 40, 41,
    ];

    fn measured(change: impl Fn(&mut Seen)) -> Reordered {
        let mut arrivals = Arrivals::new(Some(MSS), true);
        for (ms, n) in (0..).zip(ORDER) {
            let mut seen = packet(n, ms);
            change(&mut seen);
            arrivals.on(&seen, Some(50_000_000));
        }
        arrivals.finish(Some(50_000_000)).unwrap()
    }

    fn ledger() -> Reordering {
        let mut order = Reordering::with_densities(FIRST);
        for (ms, n) in (0..).zip(ORDER) {
            order.arrive(since(0, ms * 1_000_000), FIRST + n, MSS);
        }
        order
    }

    #[test]
    fn identifications_timestamps_and_sequence_numbers_tell_the_same_order() {
        let truth = ledger();
        let by_id = measured(|_| {});
        assert_eq!((by_id.source, &by_id.order), (OrderSource::Identification, &truth));
        let by_clock = measured(|s| s.id = None);
        let by_seq = measured(|s| (s.id, s.timestamps) = (None, None));
        assert_eq!((by_clock.source, by_seq.source), (OrderSource::Timestamps, OrderSource::Sequence));
        for other in [by_clock.order, by_seq.order] {
            assert_eq!((other.late(), other.gaps()), (truth.late(), truth.gaps()));
            assert_eq!((other.packets(), other.runs()), (truth.packets(), truth.runs()));
        }
        assert_eq!(truth.late().packets, 4);
    }

    #[test]
    fn random_identifications_are_not_believed() {
        let random = measured(|s| s.id = s.id.map(|id| id.wrapping_mul(40_503)));
        assert_eq!((random.source, random.order.late()), (OrderSource::Timestamps, ledger().late()));
        let constant = measured(|s| (s.id, s.timestamps) = (Some(0), None));
        assert_eq!(constant.source, OrderSource::Sequence);
    }

    #[test]
    fn identifications_that_go_down_as_often_as_up_do_not_count_packets() {
        let packets =
            |ids: &[u16]| ids.iter().map(|id| Early::of(&Seen { id: Some(*id), ..packet(0, 0) })).collect::<Vec<_>>();
        assert!(!count_up(&packets(&[5, 6, 5, 6, 5])));
        assert!(count_up(&packets(&[5, 6, 5, 6, 7])));
    }

    #[test]
    fn the_answer_to_a_syn_may_have_an_identification_of_its_own() {
        let mut arrivals = Arrivals::new(None, true);
        arrivals.on(&Seen { flags: Segment::SYN | Segment::ACK, id: Some(0), len: 0, ..packet(0, 0) }, None);
        (1..30).for_each(|n| arrivals.on(&packet(n, n as i64), None));
        let found = arrivals.finish(None).unwrap();
        assert_eq!(
            (found.source, found.order.packets(), found.order.late().packets),
            (OrderSource::Identification, 29, 0)
        );
    }

    #[test]
    fn packets_that_a_device_joined_count_one_by_one() {
        let mut arrivals = Arrivals::new(Some(MSS), true);
        for n in [0u64, 3, 6, 12, 9, 15] {
            arrivals.on(&Seen { len: 3 * MSS, ..packet(n, n as i64) }, None);
        }
        let order = arrivals.finish(None).unwrap().order;
        assert_eq!((order.packets(), order.late().packets, order.duplicates()), (18, 3, 0));
        assert_eq!(order.late().extents.keys().collect::<Vec<_>>(), [&3, &4, &5]);
    }

    #[test]
    fn by_sequence_numbers_alone_a_packet_a_round_trip_late_is_a_retransmission() {
        let mut arrivals = Arrivals::new(None, true);
        let bare = |n, ms| Seen { id: None, timestamps: None, ..packet(n, ms) };
        for (n, ms) in [(0, 0), (2, 1), (1, 5), (4, 10), (5, 20), (3, 70), (6, 71)] {
            arrivals.on(&bare(n, ms), Some(50_000_000));
        }
        let order = arrivals.finish(Some(50_000_000)).unwrap().order;
        assert_eq!((order.packets(), order.late().packets), (6, 1));
    }
}
