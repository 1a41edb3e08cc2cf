//! All that is found out about each connection of a capture in one pass.

mod usual;

#[cfg(test)]
mod tests;

use crate::both::BothWays;
use crate::connection::{Connection, Record, Report, Wanted};
use crate::flows::{Analysis, Ended, Flow, Syn};
use crate::place::{Place, Side};
use crate::reordering::acks::ByAcks;
use crate::reordering::arrivals::Arrivals;
use crate::reordering::Reordered;
use crate::seen::{Seen, Way};
use crate::stalls::{Found, Stalls};
use crate::verdict::Retransmission;
use ackclock_tcp::segment::Segment;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use usual::Usual;

/// What was found about a connection.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Its number in the capture, from 1, by its first segment.
    pub number: u64,
    /// Its ends, as in [`Flow::ends`].
    pub ends: [SocketAddr; 2],
    /// What their SYNs said.
    pub syns: [Option<Syn>; 2],
    /// The connection as a whole, and what became of its data each way.
    pub record: Record,
    /// Each retransmission, where that was wanted.
    pub retransmissions: Vec<Retransmission>,
    /// Reordering and stalls, [`Way::Out`] first.
    pub ways: [Course; 2],
    /// Why no more of it came.
    pub ended: Ended,
    /// Where both its ends were captured: what the other file tells ([`crate::pair`]).
    pub beside: Option<Beside>,
    /// What came by each way, where that was to be noted.
    pub(crate) noted: Option<Box<BothWays>>,
}

/// How the packets of one way fared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// How much they were reordered; `None` without packets to tell it from.
    pub reordering: Option<Reordered>,
    /// Where they stood still.
    pub stalls: Found,
}

/// What the file of the other end says of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The way whose data begin at the end that this file is of.
    pub sent_here: Way,
    /// The other file: its place among the files given.
    pub file: usize,
    /// The connection's number there.
    pub number: u64,
    /// Segments with and without data that came to the other end this way, and how many of them were seen to leave here.
    pub came: u64,
    /// See `came`.
    pub known: u64,
}

/// What a further look at a connection is for.
#[derive(Debug)]
pub(crate) enum Task {
    /// Noting what comes, in segments of this size.
    Note { segment: Option<u32> },
    /// Judging with what came to the other end; it was captured at this one.
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
    /// The end that sends this way.
    pub fn source(&self, way: Way) -> SocketAddr {
        self.ends[way as usize]
    }

    /// The ways with data that this file tells of, the main one first: of two files each tells of the data that were sent there.
    pub fn ways_with_data(&self) -> impl Iterator<Item = Way> + '_ {
        let main = self.record.main_way();
        let told = |way: &Way| self.beside.is_none_or(|other| other.sent_here == *way);
        [main, main.back()].into_iter().filter(|way| self.record.way(*way).segments > 0).filter(told)
    }

    /// A way as people write it: `10.0.0.1:5001 > 10.0.0.2:80`.
    pub fn name(&self, way: Way) -> String {
        format!("{} > {}", self.source(way), self.source(way.back()))
    }
}

/// What a survey found.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// The connections, by their first segments.
    pub connections: Vec<Surveyed>,
    /// How many were not chosen.
    pub passed_over: u64,
    /// How many with fewer bytes were beyond the limit.
    pub left_out: u64,
}

/// Surveys all connections, or the chosen ones.
#[derive(Debug)]
pub struct Survey {
    wanted: Wanted,
    chosen: Option<(SocketAddr, SocketAddr)>,
    /// Only these connections, by their numbers, and what is to be done with each.
    tasks: Option<BTreeMap<u64, Task>>,
    /// How many are kept at the end, by their bytes. Twice as many are kept meanwhile.
    limit: usize,
    found: Vec<Surveyed>,
    passed_over: u64,
    left_out: u64,
}

/// A connection while its segments come.
#[derive(Debug, Default)]
pub struct State(Option<Box<Work>>);

#[derive(Debug)]
#[repr(C, align(64))]
struct Work {
    usual: Usual,
    /// The scales of the windows that are sent each way, as far as they are known.
    shifts: [Option<u8>; 2],
    connection: Connection,
    ways: [OneWay; 2],
}

#[derive(Debug)]
#[repr(C, align(64))]
struct OneWay {
    stalls: Stalls,
    arrivals: Arrivals,
    /// Made with the first data.
    acks: Option<Box<ByAcks>>,
    /// Payload of a full segment, bytes; 0 if it is not known.
    segment: u32,
}

impl OneWay {
    fn new(wanted: Wanted) -> Self {
        OneWay { stalls: Stalls::default(), arrivals: Arrivals::new(None, wanted.densities), acks: None, segment: 0 }
    }
}

impl Default for Survey {
    /// Surveys all connections, however many.
    fn default() -> Self {
        Survey::new(Wanted::default(), usize::MAX, None)
    }
}

impl Survey {
    /// Of at most `limit` connections, those with the most bytes; with `chosen`, only those between these two ends.
    pub fn new(wanted: Wanted, limit: usize, chosen: Option<(SocketAddr, SocketAddr)>) -> Self {
        Survey { wanted, chosen, tasks: None, limit: limit.max(1), found: Vec::new(), passed_over: 0, left_out: 0 }
    }

    /// A second look, at some connections only.
    pub(crate) fn again(wanted: Wanted, tasks: BTreeMap<u64, Task>) -> Self {
        Survey { tasks: Some(tasks), ..Survey::new(wanted, usize::MAX, None) }
    }

    /// What was found, by the connections' first segments.
    pub fn finish(mut self) -> Everything {
        self.leave_out();
        self.found.sort_by_key(|f| f.number);
        Everything { connections: self.found, passed_over: self.passed_over, left_out: self.left_out }
    }

    /// Leaves out what is beyond the limit.
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
        let mut work = Work { usual: Usual::default(), connection, shifts: [None; 2], ways };
        if self.wanted.each {
            work.ways.iter_mut().for_each(|own| own.arrivals.keep_late());
        }
        State(Some(Box::new(work)))
    }

    #[inline]
    fn segment(&mut self, flow: &Flow, state: &mut State, seen: &Seen) {
        let Some(work) = &mut state.0 else { return };
        if !work.usual(seen) {
            work.unusual(flow, seen);
        }
    }

    fn end(&mut self, flow: &Flow, state: State, why: Ended) {
        let Some(mut work) = state.0 else { return };
        work.catch_up();
        let Work { connection, ways, .. } = *work;
        let (Report { record, retransmissions }, noted) = connection.finish_noting();
        let [out, back] = ways;
        let course = |way: Way, own: OneWay| {
            let (side, rtt) = (record.place.side(way), record.way(way).rtt);
            let reordering = match side {
                Side::Sender => own.acks.and_then(|acks| acks.finish()),
                Side::Receiver | Side::Middle => own.arrivals.finish(rtt.min),
            };
            Course { reordering, stalls: own.stalls.finish(side, rtt.median) }
        };
        let ways = [course(Way::Out, out), course(Way::Back, back)];
        let (number, ends, syns) = (flow.number, flow.ends, flow.syns);
        let beside = None;
        self.found.push(Surveyed { number, ends, syns, record, retransmissions, ways, ended: why, beside, noted });
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

    /// Any packet, if all parts are up to date.
    fn any(&mut self, flow: &Flow, seen: &Seen) {
        if seen.has(Segment::SYN) {
            self.syn(flow, seen.way);
        }
        self.connection.on(seen);
        let own = &mut self.ways[seen.way as usize];
        own.arrivals.on(seen, own.stalls.answer());
        if seen.len > 0 {
            own.acks.get_or_insert_with(|| Box::new(ByAcks::new(own.segment))).sent(seen);
            own.stalls.data(seen);
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
                own.segment = bytes;
                if let Some(acks) = &mut own.acks {
                    acks.full_segment(bytes);
                }
            }
        }
    }
}
