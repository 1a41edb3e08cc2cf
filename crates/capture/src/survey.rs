//! Surveys all connections of a capture in one pass.

mod fast_path;

#[cfg(test)]
mod tests;

use crate::both::BothWays;
use crate::connection::{Connection, DirectionRecord, Record, Report, Wanted};
use crate::exchanges::Exchanges;
use crate::flows::{Analysis, Ended, Flow, Syn};
use crate::place::{Place, Side};
use crate::reordering::acks::ByAcks;
use crate::reordering::arrivals::Arrivals;
use crate::reordering::Reordered;
use crate::seen::{Seen, Way};
use crate::stalls::{End, Found, Stalls};
use crate::verdict::Retransmission;
use ackclock_tcp::segment::Segment;
use fast_path::Usual;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The number of packets that are looked at for the place of capture, besides their times.
const LOOKED_AT: u8 = 32;

/// The results for a connection.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Its number in the capture, from 1, by its first segment.
    pub number: u64,
    /// Its ends, as in [`Flow::ends`].
    pub ends: [SocketAddr; 2],
    /// The VLANs of its first segment, as in [`Flow::vlan`].
    pub vlan: u32,
    /// The content of their SYNs.
    pub syns: [Option<Syn>; 2],
    /// The connection as a whole, and the fate of its data each way.
    pub record: Record,
    /// Each retransmission, if requested.
    pub retransmissions: Vec<Retransmission>,
    /// Reordering and stalls, [`Way::Out`] first.
    pub ways: [Course; 2],
    /// Requests and answers.
    pub exchanges: Exchanges,
    /// Why it has no further segments.
    pub ended: Ended,
    /// If both its ends were captured: the results from the other file ([`crate::pair`]).
    pub beside: Option<Beside>,
    /// The arrivals each way, if they were to be recorded.
    pub(crate) noted: Option<Box<BothWays>>,
}

/// Reordering and stalls of one way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// The reordering; `None` without packets that show it.
    pub reordering: Option<Reordered>,
    /// The stalls.
    pub stalls: Found,
}

/// The results for a connection from the file of the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The way whose data begins at the end where this file was captured.
    pub sent_here: Way,
    /// The other file: its position among the files given.
    pub file: usize,
    /// The connection's number in that file.
    pub number: u64,
    /// Segments with and without data that arrived at the other end, this way, and the number of them whose transmission was
    /// captured here.
    pub arrived: u64,
    /// See `arrived`.
    pub known: u64,
}

/// The purpose of another pass over a connection.
#[derive(Debug)]
pub(crate) enum Task {
    /// Recording arrivals, in segments of this size.
    Note { segment: Option<u32> },
    /// Judging with the arrivals at the other end; this capture was made at `place`.
    Judge { place: Place, arrivals: Box<BothWays> },
}

impl Task {
    pub(crate) fn begin(self, wanted: Wanted) -> Connection {
        match self {
            Task::Note { segment } => {
                let mut connection = Connection::noting_arrivals(wanted);
                if let Some(bytes) = segment {
                    connection.full_segment(bytes);
                }
                connection
            }
            Task::Judge { place, arrivals } => Connection::knowing_arrivals(wanted, arrivals).standing(place),
        }
    }
}

impl Surveyed {
    /// The end that sends in this direction.
    pub fn source(&self, way: Way) -> SocketAddr {
        self.ends[way as usize]
    }

    /// The ways with data that this file reports, the main one first. With two files, each reports the data sent at its end.
    pub fn ways_with_data(&self) -> impl Iterator<Item = Way> + '_ {
        let main = self.record.main_way();
        let is_reported = |way: &Way| self.beside.is_none_or(|other| other.sent_here == *way);
        [main, main.back()].into_iter().filter(|way| self.record.way(*way).segments > 0).filter(is_reported)
    }

    /// The VLANs of its first segment, the outer one first: `10`, `10.20`; `None` without any.
    pub fn vlans(&self) -> Option<String> {
        const BITS: u32 = 12;
        let levels = (0..u32::BITS / BITS + 1).rev().map(|level| self.vlan.checked_shr(level * BITS).unwrap_or(0));
        let ids: Vec<_> =
            levels.map(|ids| ids & ((1 << BITS) - 1)).skip_while(|id| *id == 0).map(|id| id.to_string()).collect();
        (!ids.is_empty()).then(|| ids.join("."))
    }

    /// A way in the usual form: `10.0.0.1:5001 > 10.0.0.2:80`.
    pub fn name(&self, way: Way) -> String {
        format!("{} > {}", self.source(way), self.source(way.back()))
    }
}

/// The results of a survey.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// The connections, by their first segments.
    pub connections: Vec<Surveyed>,
    /// The number of connections that were not selected.
    pub passed_over: u64,
    /// The number of connections beyond the limit, which have fewer bytes.
    pub left_out: u64,
}

/// Surveys all connections, or the selected ones.
#[derive(Debug)]
pub struct Survey {
    wanted: Wanted,
    chosen: Option<(SocketAddr, SocketAddr)>,
    /// Only these connections, by their numbers, with the task for each.
    tasks: Option<BTreeMap<u64, Task>>,
    /// The number of connections kept at the end: those with the most bytes. Before the end, up to twice as many are kept.
    limit: usize,
    found: Vec<Surveyed>,
    passed_over: u64,
    left_out: u64,
}

/// A connection while its segments are read.
#[derive(Debug, Default)]
pub struct State(Option<Box<Work>>);

#[derive(Debug)]
#[repr(C, align(64))]
struct Work {
    usual: Usual,
    /// The first packets that were looked at for the place of capture.
    looked: u8,
    /// The scales of the windows sent each way, if known.
    shifts: [Option<u8>; 2],
    connection: Connection,
    ways: [OneWay; 2],
    exchanges: Exchanges,
}

#[derive(Debug)]
#[repr(C, align(64))]
struct OneWay {
    stalls: Stalls,
    arrivals: Arrivals,
    /// Allocated with the first data.
    acks: Option<Box<ByAcks>>,
    /// Payload of a full segment, bytes; 0 if unknown.
    segment: u32,
}

impl OneWay {
    fn new(wanted: Wanted) -> Self {
        OneWay { stalls: Stalls::default(), arrivals: Arrivals::new(None, wanted.densities), acks: None, segment: 0 }
    }
}

impl Default for Survey {
    /// Surveys all connections, without a limit.
    fn default() -> Self {
        Survey::new(Wanted::default(), usize::MAX, None)
    }
}

impl Survey {
    /// Keeps at most `limit` connections, those with the most bytes; with `chosen`, only those between these two ends.
    pub fn new(wanted: Wanted, limit: usize, chosen: Option<(SocketAddr, SocketAddr)>) -> Self {
        Survey { wanted, chosen, tasks: None, limit: limit.max(1), found: Vec::new(), passed_over: 0, left_out: 0 }
    }

    /// A second pass over selected connections.
    pub(crate) fn again(wanted: Wanted, tasks: BTreeMap<u64, Task>) -> Self {
        Survey { tasks: Some(tasks), ..Survey::new(wanted, usize::MAX, None) }
    }

    /// The results, in the order of the connections' first segments.
    pub fn finish(mut self) -> Everything {
        self.leave_out();
        self.found.sort_by_key(|f| f.number);
        Everything { connections: self.found, passed_over: self.passed_over, left_out: self.left_out }
    }

    /// Removes connections beyond the limit.
    fn leave_out(&mut self) {
        if self.found.len() <= self.limit {
            return;
        }
        let bytes = |f: &Surveyed| f.record.ways[0].bytes + f.record.ways[1].bytes;
        self.found.sort_by_key(|f| (std::cmp::Reverse(bytes(f)), f.number));
        self.left_out += (self.found.len() - self.limit) as u64;
        self.found.truncate(self.limit);
    }
}

/// Payload of a full segment: the smaller of both announcements (RFC 9293 §3.7.1), less the timestamps (RFC 6691 §2).
pub(crate) fn full_segment(syns: &[Option<Syn>; 2]) -> Option<u32> {
    const TIMESTAMPS: u16 = 12;
    let [Some(one), Some(other)] = syns else { return None };
    let mss = one.options.mss?.min(other.options.mss?);
    let stamped = one.options.timestamps.is_some() && other.options.timestamps.is_some();
    Some(u32::from(mss.saturating_sub(if stamped { TIMESTAMPS } else { 0 })).max(1))
}

impl Analysis for Survey {
    type State = State;

    fn begin(&mut self, flow: &Flow) -> State {
        let [a, b] = flow.ends;
        if self.chosen.is_some_and(|c| c != (a, b) && c != (b, a)) {
            self.passed_over += 1;
            return State(None);
        }
        let connection = match &mut self.tasks {
            None => Connection::new(self.wanted),
            Some(tasks) => match tasks.remove(&flow.number) {
                Some(task) => task.begin(self.wanted),
                None => return State(None),
            },
        };
        let ways = [OneWay::new(self.wanted), OneWay::new(self.wanted)];
        let mut work = Work {
            usual: Usual::default(),
            looked: 0,
            connection,
            shifts: [None; 2],
            ways,
            exchanges: Exchanges::default(),
        };
        if self.wanted.each {
            work.ways.iter_mut().for_each(|own| own.arrivals.keep_late());
        }
        State(Some(Box::new(work)))
    }

    #[inline]
    fn segment(&mut self, flow: &Flow, state: &mut State, seen: &Seen) {
        let Some(work) = &mut state.0 else { return };
        if work.looked < LOOKED_AT {
            work.looked += 1;
            work.connection.look(seen);
        }
        if !work.usual(seen) {
            work.unusual(flow, seen);
        }
    }

    fn end(&mut self, flow: &Flow, state: State, why: Ended) {
        let Some(mut work) = state.0 else { return };
        work.catch_up();
        let Work { connection, ways, exchanges, .. } = *work;
        let exchanges = exchanges.finish(connection.last_data());
        let (Report { record, retransmissions }, noted) = connection.finish_noting();
        if record.ways.iter().all(|way| way.packets == 0) {
            return; // It is at another interface.
        }
        let [out, back] = ways;
        let course = |way: Way, own: OneWay| {
            let (side, rtt) = (record.place.side(way), record.way(way).rtt);
            let reordering = match side {
                Side::Sender => own.acks.and_then(|acks| acks.finish()),
                Side::Receiver | Side::Middle => own.arrivals.finish(rtt.min),
            };
            let DirectionRecord { first_data, duration, .. } = *record.way(way);
            let during = (first_data, first_data.saturating_add(duration));
            let counts = record.way(way).retransmissions;
            let end = End {
                last: (record.end, record.last_frame),
                during,
                acks: record.way(way).acks > 0,
                lossy: (counts.needless + counts.refused) * 10 <= counts.total,
                smallest: rtt.min,
            };
            Course { reordering, stalls: own.stalls.finish(side, rtt.median, end) }
        };
        let ways = [course(Way::Out, out), course(Way::Back, back)];
        let (number, ends, syns) = (flow.number, flow.ends, flow.syns);
        let beside = None;
        self.found.push(Surveyed {
            number,
            ends,
            vlan: flow.vlan,
            syns,
            record,
            retransmissions,
            ways,
            exchanges,
            ended: why,
            beside,
            noted,
        });
        if self.found.len() >= self.limit.saturating_mul(2) {
            self.leave_out();
        }
    }
}

impl Work {
    /// A packet that is not usual.
    #[inline(never)]
    fn unusual(&mut self, flow: &Flow, seen: &Seen) {
        self.catch_up();
        self.any(flow, seen);
        self.resume();
    }

    /// Tells the round-trip time before this packet where a wait is to be judged by it.
    #[inline(always)]
    fn know_round_trip(&mut self, seen: &Seen) {
        let own = &mut self.ways[seen.way as usize].stalls;
        if seen.len > 0 && own.asks(seen) {
            own.know(self.connection.round_trip(seen.way));
        }
    }

    /// Any packet, when all parts are up to date.
    fn any(&mut self, flow: &Flow, seen: &Seen) {
        if seen.has(Segment::SYN) {
            self.syn(flow, seen.way);
        }
        self.know_round_trip(seen);
        if seen.after_jump {
            self.exchanges.jump();
        }
        if seen.len > 0 && self.connection.is_new(seen) {
            self.exchanges.data(seen, self.connection.last_data(), self.connection.acked_at());
        }
        self.connection.on(seen);
        let own = &mut self.ways[seen.way as usize];
        own.arrivals.on(seen, own.stalls.answer());
        if seen.len > 0 {
            own.acks.get_or_insert_with(|| Box::new(ByAcks::new(own.segment))).sent(seen);
            own.stalls.data(seen);
        }
        if seen.has(Segment::FIN) {
            own.stalls.closed(seen);
        }
        if seen.ack.is_some() {
            let other = &mut self.ways[seen.way.back() as usize];
            if let Some(acks) = &mut other.acks {
                acks.acked(seen);
            }
            other.stalls.ack(seen, self.shifts[seen.way as usize]);
        }
    }

    #[cold]
    fn syn(&mut self, flow: &Flow, way: Way) {
        if let Some(syn) = flow.syn(way) {
            self.connection.on_syn(way, &syn.options);
        }
        self.shifts = [Way::Out, Way::Back].map(|way| flow.window_shift(way));
        if let Some(bytes) = full_segment(&flow.syns) {
            for own in &mut self.ways {
                own.arrivals.full_segment(bytes);
                own.stalls.full_segment(bytes);
                own.segment = bytes;
                if let Some(acks) = &mut own.acks {
                    acks.full_segment(bytes);
                }
            }
        }
    }
}
