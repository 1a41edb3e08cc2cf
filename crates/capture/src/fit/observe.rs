//! Collects the data for a fit in a pass of its own, so that the default analysis costs no more.

use super::log::Log;
use super::{FEWEST, MOST_IDLE};
use crate::connection::{Connection, Record, Wanted};
use crate::flows::{Analysis, Ended, Flow};
use crate::place::Side;
use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// Segments kept of all flows together: 40 bytes each.
const MOST_SEGMENTS: usize = 4_000_000;

/// The data of one flow, and its acknowledgments.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its connection's number in the file.
    pub number: u64,
    /// `10.0.0.1:5001 > 10.0.0.2:80`.
    pub name: String,
    /// The sender and the receiver.
    pub(crate) hosts: [IpAddr; 2],
    /// Its place of capture, relative to the data.
    pub side: Side,
    pub(crate) record: Record,
    pub(crate) way: Way,
    pub(crate) log: Log,
    pub(crate) headers: u32,
    /// Whether there was no memory for more segments.
    pub(crate) cut: bool,
}

impl Observed {
    pub(crate) fn first_at(&self) -> i64 {
        self.log.sent.first().map_or(i64::MAX, |s| s.at)
    }

    /// From its first data to the last acknowledgment of new data, nanoseconds.
    pub(crate) fn duration(&self) -> i64 {
        (self.log.last_news - self.first_at()).max(0)
    }

    /// The reason why no path can be fitted to it.
    pub(crate) fn refusal(&self) -> Option<String> {
        let name = &self.name;
        if self.log.sent.is_empty() {
            return Some(format!("{name}: there is no data"));
        }
        match self.side {
            Side::Sender => {}
            Side::Receiver => {
                return Some(format!(
                    "{name}: found a capture at the receiver, which shows neither sending times nor the queue; allowed: a capture at the sender"
                ))
            }
            Side::Middle => {
                return Some(format!(
                    "{name}: found a capture from the middle of the path or an unknown place; allowed: a capture at the sender; if it is one, say so (at: sender)"
                ))
            }
        }
        if self.cut {
            return Some(format!("{name}: allowed: {MOST_SEGMENTS} segments in all; choose one flow"));
        }
        if self.duration() <= 0 {
            return Some(format!("{name}: nothing was acknowledged"));
        }
        let (idle, closed) = (self.log.idle, self.log.closed);
        let share = (idle + closed) as f64 / self.duration() as f64;
        (self.log.sent.len() >= FEWEST && share > MOST_IDLE).then(|| {
            let (percent, why) = (share * 100.0, if idle >= closed { "the application sent nothing" } else { "the receiver's window had no room" });
            format!("{name}: for {percent:.0} % of the time everything was acknowledged and {why}, so the path did not limit it")
        })
    }
}

/// Each connection of a file once: as it was observed at the interface of its sender, if it was.
pub fn at_senders(interfaces: Vec<Vec<Observed>>) -> Vec<Observed> {
    let mut by_number: BTreeMap<u64, Observed> = BTreeMap::new();
    for one in interfaces.into_iter().flatten() {
        let is_better = |o: &Observed| (o.side == Side::Sender, !o.log.sent.is_empty());
        match by_number.get(&one.number) {
            Some(known) if is_better(known) >= is_better(&one) => {}
            Some(_) | None => drop(by_number.insert(one.number, one)),
        }
    }
    by_number.into_values().collect()
}

/// Collects the data of all connections, or of those between two ends.
#[derive(Debug)]
pub struct Observer {
    at: Option<Side>,
    chosen: Option<(SocketAddr, SocketAddr)>,
    room: usize,
    found: Vec<Observed>,
}

/// A connection while its segments are read.
#[derive(Debug, Default)]
pub struct State(Option<Box<(Connection, [Log; 2], bool)>>);

impl Observer {
    /// `at`: where the capture was made, if known; `chosen`: the sender and the receiver of the only flow to observe.
    pub fn new(at: Option<Side>, chosen: Option<(SocketAddr, SocketAddr)>) -> Self {
        Observer { at, chosen, room: MOST_SEGMENTS, found: Vec::new() }
    }

    /// The observed flows.
    pub fn finish(self) -> Vec<Observed> {
        self.found
    }
}

impl Analysis for Observer {
    type State = State;

    fn begin(&mut self, flow: &Flow) -> State {
        let [a, b] = flow.ends;
        if self.chosen.is_some_and(|c| c != (a, b) && c != (b, a)) {
            return State(None);
        }
        let wanted = Wanted { at: self.at, each: true, ..Wanted::default() };
        State(Some(Box::new((Connection::new(wanted), [Log::default(), Log::default()], false))))
    }

    fn segment(&mut self, flow: &Flow, state: &mut State, seen: &Seen) {
        let Some(work) = &mut state.0 else { return };
        let (connection, logs, cut) = &mut **work;
        if seen.has(Segment::SYN)
            && let Some(syn) = flow.syn(seen.way)
        {
            connection.on_syn(seen.way, &syn.options);
        }
        connection.on(seen);
        if self.room == 0 {
            *cut = true;
        } else {
            self.room -= logs[seen.way as usize].data(seen);
        }
        if seen.ack.is_some() {
            let shift = if seen.has(Segment::SYN) { 0 } else { flow.window_shift(seen.way).unwrap_or(0) };
            logs[seen.way.back() as usize].ack(seen, shift);
        }
    }

    fn end(&mut self, flow: &Flow, state: State, _why: Ended) {
        let Some(work) = state.0 else { return };
        let (connection, mut logs, cut) = *work;
        let report = connection.finish();
        // A named flow has a direction.
        let way = match self.chosen {
            Some((from, _)) if from == flow.ends[0] => Way::Out,
            Some(_) => Way::Back,
            None => report.record.main_way(),
        };
        let mut log = std::mem::take(&mut logs[way as usize]);
        let verdicts: Vec<_> = report.retransmissions.into_iter().filter(|r| r.way == way).collect();
        log.judge(&verdicts);
        let [a, b] = match way {
            Way::Out => flow.ends,
            Way::Back => [flow.ends[1], flow.ends[0]],
        };
        let record = report.record;
        let options = if record.way(way).timestamps { 12 } else { 0 };
        let headers = options + if a.is_ipv6() { 60 } else { 40 };
        let side = record.place.side(way);
        self.room += logs[way.back() as usize].sent.len();
        let hosts = [a.ip(), b.ip()];
        let (number, name) = (flow.number, format!("{a} > {b}"));
        self.found.push(Observed { number, name, hosts, side, record, way, log, headers, cut });
    }
}
