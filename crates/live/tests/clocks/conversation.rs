//! What two ends decided and said, and the path between two that are not the simulator's own.

use crate::schedule::Schedule;
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_live::emulator::{Emulator, Reading};
use ackclock_sim::engine::outside::Entering;
use ackclock_sim::watch::Side;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;
use ackclock_wire::write::mark_congestion;
use ackclock_wire::{parse, Checksums};
use std::fmt::Debug;

/// The decisions of both ends, the caller first.
#[derive(Default)]
pub(crate) struct Conversation {
    pub(crate) ends: [End; 2],
    /// Until then the order of events is defined, and no end is in TIME-WAIT, where a host answers and no longer the connection.
    pub(crate) until: Time,
}

/// The sender's events at one end, and its packets.
#[derive(Default)]
pub(crate) struct End {
    pub(crate) events: Vec<(Time, Event)>,
    pub(crate) packets: Vec<(Time, Segment)>,
}

/// More turns at one instant than any end needs.
const MOST_TURNS: u32 = 10_000;

impl Conversation {
    /// Whether all of it is compared.
    pub(crate) fn is_whole(&self) -> bool {
        let last = |end: &End| end.packets.last().is_none_or(|(at, _)| *at <= self.until);
        self.ends.iter().all(last)
    }

    /// The first difference, in words.
    pub(crate) fn difference(&self, other: &Conversation) -> Option<String> {
        let mut found = Vec::new();
        for (name, a, b) in [("caller", &self.ends[0], &other.ends[0]), ("callee", &self.ends[1], &other.ends[1])] {
            let until = self.until;
            found.extend(first(&format!("{name}'s events"), before(&a.events, until), before(&b.events, until)));
            found.extend(first(&format!("{name}'s packets"), before(&a.packets, until), before(&b.packets, until)));
        }
        found.into_iter().min_by_key(|(at, _)| *at).map(|(_, words)| words)
    }
}

/// The part of a list up to and including `until`.
fn before<T>(list: &[(Time, T)], until: Time) -> &[(Time, T)] {
    &list[..list.partition_point(|(at, _)| *at <= until)]
}

/// The first place where two lists differ, with its time.
fn first<T: PartialEq + Debug>(name: &str, a: &[(Time, T)], b: &[(Time, T)]) -> Option<(Time, String)> {
    let place = (0..a.len().max(b.len())).find(|i| a.get(*i) != b.get(*i))?;
    let at = a.get(place).into_iter().chain(b.get(place)).map(|(at, _)| *at).min()?;
    let before: Vec<_> = a[..place].iter().rev().take(2).collect();
    Some((at, format!("{name}, number {place}:\n  {:?}\n  {:?}\n  before: {before:?}", a.get(place), b.get(place))))
}

/// A host with one connection, whose clock stands still between these calls.
pub(crate) trait Machine {
    /// A packet arrives: it is processed, and what it allows is sent.
    fn arrive(&mut self, now: Time, packet: &[u8]);
    /// When [`Machine::wake`] must be called.
    fn next(&self) -> Option<Time>;
    /// A timer or the application is due.
    fn wake(&mut self, now: Time);
    /// The next packet that was sent.
    fn sent(&mut self) -> Option<Vec<u8>>;
}

/// Both machines talk over the path of the schedule until its end. Returns the packets of both.
pub(crate) fn converse(schedule: &Schedule, machines: [&mut dyn Machine; 2]) -> [Vec<(Time, Segment)>; 2] {
    let emulator = Emulator::new(&schedule.plan, schedule.seed, Ignored).unwrap();
    let end = Time::ZERO + schedule.plan.scenario.duration;
    let mut between =
        Between { emulator, reading: Reading::default(), machines, clocks: [None; 2], packets: Default::default() };
    let mut turns = (Time::ZERO, 0);
    while let Some(now) = between.next().filter(|at| *at <= end) {
        turns = if turns.0 == now { (now, turns.1 + 1) } else { (now, 0) };
        assert!(turns.1 < MOST_TURNS, "seed {}: it never gets past {now}", schedule.seed);
        between.step(now);
    }
    between.packets
}

struct Between<'a> {
    emulator: Emulator<Ignored>,
    reading: Reading,
    machines: [&'a mut dyn Machine; 2],
    /// What is added to each end's timestamps.
    clocks: [Option<u32>; 2],
    packets: [Vec<(Time, Segment)>; 2],
}

impl Between<'_> {
    fn next(&self) -> Option<Time> {
        let machines = self.machines.iter().filter_map(|m| m.next());
        self.emulator.next_event().into_iter().chain(machines).min()
    }

    /// As in the simulator: first the network, then the caller, then the callee.
    fn step(&mut self, now: Time) {
        while let Some(mut packet) = self.emulator.next(now) {
            if packet.seg.opts & Segment::CE != 0 {
                mark_congestion(&mut packet.bytes);
            }
            let to = usize::from(packet.to == Side::Receiver);
            self.machines[to].arrive(now, &packet.bytes);
            self.emulator.give_back(packet.bytes);
            self.carry(now, to);
        }
        for end in 0..2 {
            if self.machines[end].next().is_some_and(|at| at <= now) {
                self.machines[end].wake(now);
                self.carry(now, end);
            }
        }
    }

    /// Puts the packets of one end on the path.
    fn carry(&mut self, now: Time, end: usize) {
        let from = [Side::Sender, Side::Receiver][end];
        while let Some(bytes) = self.machines[end].sent() {
            let packet = parse(&bytes, Checksums::Verify).unwrap();
            let entering = self.reading.sent(from, &packet, bytes.len() as u32);
            let mut seg = entering.seg;
            if seg.opts & Segment::TIMESTAMPS != 0 {
                let clock = (now.0 / 1_000_000) as u32;
                let own = *self.clocks[end].get_or_insert(seg.tsval.wrapping_sub(clock));
                seg.tsval = seg.tsval.wrapping_sub(own);
                // A SYN echoes nothing.
                let peer = self.clocks[1 - end].filter(|_| seg.has(Segment::ACK));
                seg.tsecr = peer.map_or(seg.tsecr, |peer| seg.tsecr.wrapping_sub(peer));
            }
            self.packets[end].push((now, plain(seg)));
            self.emulator.put(now, 0, from, entering, &bytes);
        }
    }
}

/// A segment in a form in which equal ones are equal: fields that have no meaning are zero.
pub(crate) fn plain(mut seg: Segment) -> Segment {
    for unused in &mut seg.sack[usize::from(seg.blocks.min(4))..] {
        *unused = (0, 0);
    }
    if seg.opts & Segment::TIMESTAMPS == 0 {
        (seg.tsval, seg.tsecr) = (0, 0);
    }
    if !seg.has(Segment::ACK) {
        seg.ack = Segment::EMPTY.ack;
    }
    seg
}

/// Listens to the path, and needs nothing.
struct Ignored;

impl ackclock_sim::watch::Watch for Ignored {
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}

#[test]
fn packets_that_leave_while_another_enters_can_still_be_taken_out() {
    let text = r#"
[run]
duration = "1 s"
[[link]]
from = "A"
to = "B"
rate = "8 Mbps"
delay = "10 ms"
[[flow]]
from = "A"
to = "B"
stack = "newreno"
"#;
    let plan = Plan::parse("test.toml", text, &Overrides::default()).unwrap();
    let mut emulator = Emulator::new(&plan, 1, Ignored).unwrap();
    let ms = |n: u64| Time(n * 1_000_000);
    // A packet of 1000 bytes takes 1 ms on the link.
    for (at, name) in [(0, b"first"), (5, b"other"), (50, b"third")] {
        let seg = Segment { len: 960, flags: Segment::ACK, ..Segment::EMPTY };
        emulator.put(ms(at), 0, Side::Sender, Entering { seg, wire: 1000, sends: 1, resend: None }, name);
    }
    assert_eq!(emulator.next_event(), Some(ms(11)));
    let left: Vec<_> = std::iter::from_fn(|| emulator.next(ms(100))).map(|p| (p.at, p.bytes)).collect();
    let want = [(11, b"first"), (16, b"other"), (61, b"third")].map(|(at, name)| (ms(at), name.to_vec()));
    assert_eq!(left, want);
}
