//! Assigns frames to connections, and unwraps their sequence numbers to 64 bits.
//!
//! Source: RFC 9293 §3.4 (sequence numbers), RFC 6864 §4 (a packet's identification is unique: two packets with the same
//! identification and otherwise the same content are one that was captured twice).
//! Idea: an [`Analysis`] keeps a state for each connection, and is called for each of its segments. Connections are in slots that
//! a table finds by addresses and ports. Nothing depends on the table's order. The same addresses and ports in two VLANs are two
//! connections, unless their numbers show that they are one.

mod flow;
mod repeats;
mod table;
mod vlans;

use crate::datagrams::{Datagrams, Numbered};
use crate::link::{self, content, glance, plain, Content, Kind, Parsed};
use crate::read::Frame;
use crate::seen::{Heading, Seen, Way};
use ackclock_tcp::segment::Segment;
use ackclock_wire::packet::Captured;
pub use flow::{Flow, Mptcp, Syn};
use repeats::Repeats;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use table::{Key, Table};
use vlans::Vlans;

/// Steps of the time between two packets of a file, nanoseconds: further back than the one or further ahead than the other is a
/// jump of the clock.
const SECOND: i64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND as u64;

/// An analysis of connections.
pub trait Analysis {
    /// The state of one connection.
    type State;

    /// The first segment of a connection has been read; [`Analysis::segment`] is called for it next.
    fn begin(&mut self, flow: &Flow) -> Self::State;

    /// A segment of a connection. The data in `flow` already includes it.
    fn segment(&mut self, flow: &Flow, state: &mut Self::State, seen: &Seen);

    /// The connection has no further segments.
    fn end(&mut self, flow: &Flow, state: Self::State, why: Ended);
}

/// Why a connection has no further segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// The capture has ended.
    Capture,
    /// Its two ends opened another connection between the same ports.
    Reused,
    /// There were more connections than the limit. Any later segments of the connection are counted as another connection.
    Limit,
}

/// The contents of a capture besides the segments of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Packets.
    pub packets: u64,
    /// Their bytes before truncation.
    pub bytes: u64,
    /// Packets with a TCP segment, repeats included.
    pub segments: u64,
    /// Connections, including connections ended by the limit.
    pub connections: u64,
    /// Unfinished connections that the limit ended; they are reported as far as they were known.
    pub cut_by_limit: u64,
    /// Packets that were captured twice; the second copy is left out.
    pub repeats: u64,
    /// Packets with a time before that of the previous packet.
    pub times_back: u64,
    /// How often times jump from one packet to the next: back by more than a second, or forward by more than a day. The clock was
    /// set, a time was never written (it is 0), or files were joined. Such a time says nothing about the time before it.
    pub time_jumps: u64,
    /// Segments with truncated options.
    pub options_cut: u64,
    /// SYNs that ask to join a connection of several paths (RFC 8684 §3.2).
    pub mptcp_joins: u64,
    /// The earliest and the latest time, nanoseconds since 1970; `None` without packets. A time of 0 beside times of another day
    /// was never written, and is not the earliest.
    pub span: Option<(i64, i64)>,
    /// Packets and bytes of other kinds, in the order of [`Kind::ALL`].
    pub others: [(u64, u64); Kind::ALL.len()],
    /// The link types that are not read, by their numbers in the registry, with their packets.
    pub unread_links: BTreeMap<u16, u64>,
    /// UDP with sequence numbers; not included in `others`.
    pub numbered: Vec<Numbered>,
}

/// All connections of a capture while it is read.
pub struct Flows<'a, A: Analysis> {
    analysis: &'a mut A,
    slots: Vec<Slot<A::State>>,
    free: Vec<usize>,
    table: Table,
    vlans: Vlans,
    limit: usize,
    /// The interface whose packets are analysed. Default: all.
    interface: Option<u32>,
    at: i64,
    datagrams: Datagrams,
    /// The current packet.
    seen: Seen,
    traffic: Traffic,
}

/// A connection. Its existence and the fields that every segment changes are at the beginning of cache lines.
#[repr(C, align(64))]
struct Slot<S> {
    /// `None` once it has ended.
    state: Option<S>,
    repeats: Repeats,
    flow: Flow,
}

impl<'a, A: Analysis> Flows<'a, A> {
    /// A table without connections; at most `limit` of them (at least 1) are in memory at a time.
    pub fn new(analysis: &'a mut A, limit: usize) -> Self {
        let limit = limit.clamp(1, (1 << 31) - 2);
        let table = Table::default();
        Flows {
            analysis,
            slots: vec![],
            free: vec![],
            table,
            vlans: Vlans::default(),
            limit,
            interface: None,
            at: i64::MAX,
            datagrams: Datagrams::default(),
            seen: Seen::default(),
            traffic: Traffic::default(),
        }
    }

    /// Analyses the packets of one interface alone. The others only show which connections there are, so that these have the same
    /// numbers.
    #[must_use]
    pub fn at_interface(mut self, interface: Option<u32>) -> Self {
        self.interface = interface;
        self
    }

    /// Takes the next packet.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.traffic.packets += 1;
        self.traffic.bytes += u64::from(frame.original);
        // One comparison for both: a step back is the larger number. The first packet is one.
        if frame.at.wrapping_sub(self.at) as u64 > DAY {
            self.step(frame.at);
        }
        self.at = frame.at;
        // Three call sites on purpose: with one, the compiler builds `Captured` on the stack for every packet.
        match glance(frame) {
            Some(tcp) => self.segment(tcp, frame, frame.heading, 0),
            None => self.other_ip(frame),
        }
    }

    #[inline(never)]
    fn other_ip(&mut self, frame: &Frame<'_>) {
        match plain(frame) {
            Some(tcp) => self.segment(tcp, frame, frame.heading, 0),
            None => self.rarer(frame),
        }
    }

    #[cold]
    #[inline(never)]
    fn rarer(&mut self, frame: &Frame<'_>) {
        let Parsed { content, heading, vlan } = content(frame);
        match content {
            Content::Tcp(tcp) => self.segment(tcp, frame, heading, vlan),
            Content::Udp(datagram) => {
                self.other(Kind::Udp, frame.original);
                self.datagrams.on(&datagram, frame.number, frame.at, frame.original, self.limit);
            }
            Content::Other(kind) => {
                self.other(kind, frame.original);
                if kind == Kind::Link {
                    *self.traffic.unread_links.entry(frame.link).or_default() += 1;
                }
            }
        }
    }

    /// The next packet has this time, which is earlier than the last one or far later.
    #[cold]
    fn step(&mut self, at: i64) {
        let traffic = &mut self.traffic;
        let Some((first, last)) = &mut traffic.span else {
            traffic.span = Some((at, at));
            return;
        };
        *last = self.at.max(*last);
        // Beside times of another day, 0 says that none was written.
        let never = |time: i64, other: i64| time == 0 && other.unsigned_abs() > DAY;
        if never(*first, at) {
            *first = at;
        } else if !never(at, *first) {
            *first = at.min(*first);
        }
        traffic.times_back += u64::from(at < self.at);
        traffic.time_jumps += u64::from(at > self.at || self.at.saturating_sub(at) > SECOND);
    }

    #[cold]
    fn other(&mut self, kind: Kind, bytes: u32) {
        let place = &mut self.traffic.others[kind as usize];
        place.0 += 1;
        place.1 += u64::from(bytes);
    }

    #[inline(always)]
    fn segment(&mut self, tcp: Captured<'_>, frame: &Frame<'_>, heading: Heading, vlan: u32) {
        self.traffic.segments += 1;
        let key = Key::of(&tcp);
        let mut place = self.table.find(&key);
        if vlan != 0 || self.vlans.are_any() {
            place = self.in_vlan(place, frame, vlan);
        }
        if tcp.flags() & Segment::SYN != 0 {
            place = self.opening(place, frame);
        }
        let place = match place {
            Some(place) => place,
            None => match self.begin(key, frame, vlan) {
                Some(place) => place,
                None => return,
            },
        };
        let (slot, way) = taken_apart(place);
        let Some(Slot { state: Some(state), repeats, flow }) = self.slots.get_mut(slot) else { return };
        let seen = &mut self.seen;
        seen.heading = heading;
        let mark = flow.see(&tcp, way, frame, seen);
        if self.interface.is_some_and(|only| only != frame.interface) {
            flow.count(frame, seen);
            return;
        }
        if repeats.is_one(&mark, seen, frame.interface, flow.segments[way as usize]) {
            self.traffic.repeats += 1;
            return;
        }
        flow.count(frame, seen);
        if self.traffic.time_jumps > 0 {
            seen.after_jump = flow.is_after_jump(self.traffic.time_jumps);
        }
        if tcp.options_cut {
            self.traffic.options_cut += 1;
        }
        self.analysis.segment(flow, state, seen);
    }

    /// A SYN. If it begins another connection between the same ports, the earlier one's slot is freed.
    #[cold]
    #[inline(never)]
    fn opening(&mut self, place: Option<u32>, frame: &Frame<'_>) -> Option<u32> {
        let (slot, way) = taken_apart(place?);
        if self.slots.get(slot)?.flow.goes_on_with(&link::segment(frame)?, way) {
            return place;
        }
        self.end(slot, Ended::Reused);
        None
    }

    /// The connection of a segment in a VLAN, if it has begun. `first` is the one between these ends that needs no VLAN to be
    /// found.
    #[cold]
    #[inline(never)]
    fn in_vlan(&mut self, first: Option<u32>, frame: &Frame<'_>, vlan: u32) -> Option<u32> {
        let flow = |place: u32| &self.slots[taken_apart(place).0].flow;
        let is_home = |place: &u32| flow(*place).vlan == vlan;
        if let Some(known) = first.filter(is_home) {
            return Some(known);
        }
        let tcp = link::segment(frame)?;
        let key = Key::of(&tcp);
        if let Some(known) = self.vlans.find(&key, vlan) {
            return Some(known);
        }
        let fits = |place: &u32| flow(*place).fits(&tcp, taken_apart(*place).1);
        let found = first.into_iter().chain(self.vlans.between(&key)).find(fits);
        match found {
            Some(place) => self.vlans.learn(key, vlan, place),
            None => self.vlans.note(vlan),
        }
        found
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, key: Key, frame: &Frame<'_>, vlan: u32) -> Option<u32> {
        let tcp = link::segment(frame)?;
        if self.slots.len() - self.free.len() >= self.limit {
            self.make_room();
        }
        self.traffic.connections += 1;
        let mut flow = Flow::new(self.traffic.connections, key, &tcp, frame.at, vlan);
        flow.is_after_jump(self.traffic.time_jumps);
        let way = if *flow.key() == key { Way::Out } else { Way::Back };
        let (there, back) = (*flow.key(), flow.key().back());
        let state = Some(self.analysis.begin(&flow));
        let new = Slot { state, repeats: Repeats::default(), flow };
        let slot = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(slot) {
            Some(place) => *place = new,
            None => self.slots.push(new),
        }
        // Another connection between the same ends is found by its VLAN.
        let is_second = self.table.find(&there).is_some();
        for (key, way) in [(there, Way::Out), (back, Way::Back)] {
            let place = put_together(slot, way);
            match is_second {
                true => self.vlans.insert(key, vlan, place),
                // A host that connects to itself has only one way.
                false if way == Way::Back && back == there => {}
                false => self.table.insert(&key, place),
            }
        }
        Some(put_together(slot, way))
    }

    /// Ends up to an eighth of the connections, in the order in which they finished. If none is finished, ends the few that have
    /// been idle longest.
    #[cold]
    fn make_room(&mut self) {
        let mut all: Vec<_> =
            self.connections().map(|(i, flow)| (Reverse(flow.is_finished()), flow.last, flow.number, i)).collect();
        let finished = all.iter().filter(|c| c.0 .0).count();
        let most = if finished > 0 { finished.min(self.limit / 8) } else { self.limit / 64 };
        let most = most.clamp(1, all.len().max(1));
        if most < all.len() {
            all.select_nth_unstable(most - 1);
            all.truncate(most);
        }
        all.sort_unstable();
        for (Reverse(finished), _, _, slot) in all {
            self.traffic.cut_by_limit += u64::from(!finished);
            self.end(slot, Ended::Limit);
        }
    }

    /// The connections that have not ended, with their slots.
    fn connections(&self) -> impl Iterator<Item = (usize, &Flow)> {
        self.slots.iter().enumerate().filter(|(_, slot)| slot.state.is_some()).map(|(i, slot)| (i, &slot.flow))
    }

    fn end(&mut self, slot: usize, why: Ended) {
        let Some(Slot { state, flow, .. }) = self.slots.get_mut(slot) else { return };
        if let Some(state) = state.take() {
            for key in [*flow.key(), flow.key().back()] {
                if self.table.find(&key).is_some_and(|place| taken_apart(place).0 == slot) {
                    self.table.remove(&key);
                }
                self.vlans.remove(&key, |place| taken_apart(place).0 == slot);
            }
            self.free.push(slot);
            self.traffic.mptcp_joins += flow.mptcp_joins();
            self.analysis.end(flow, state, why);
        }
    }

    /// Ends all connections, in the order in which they began, and returns the other contents.
    pub fn finish(mut self) -> Traffic {
        let mut left: Vec<_> = self.connections().map(|(i, flow)| (flow.number, i)).collect();
        left.sort_unstable();
        for (_, slot) in left {
            self.end(slot, Ended::Capture);
        }
        if self.traffic.packets > 0 {
            let (_, last) = self.traffic.span.get_or_insert((self.at, self.at));
            *last = self.at.max(*last);
        }
        let (numbered, (packets, bytes)) = self.datagrams.finish();
        let udp = &mut self.traffic.others[Kind::Udp as usize];
        *udp = (udp.0 - packets, udp.1 - bytes);
        self.traffic.numbered = numbered;
        self.traffic
    }
}

/// The value in the table: a slot and a way.
fn put_together(slot: usize, way: Way) -> u32 {
    (slot as u32) << 1 | u32::from(way == Way::Back)
}

fn taken_apart(place: u32) -> (usize, Way) {
    ((place >> 1) as usize, if place & 1 == 0 { Way::Out } else { Way::Back })
}
