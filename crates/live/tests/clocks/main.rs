//! Three owners of the clock drive the same engine: the simulator, the virtual sockets of the conformance runner, and the live
//! driver's loop with a clock and a device that stand still. A random conversation must make the same decisions under each.
//!
//! The path between the two ends is always the simulator's, with the same random numbers. `ACKCLOCK_SCHEDULES` is the number of
//! schedules; default: 300.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

mod application;
mod conversation;
mod driver;
mod schedule;
mod simulator;
mod sockets;
mod taken;

use conversation::Conversation;
use schedule::Schedule;

const SCHEDULES: u64 = 300;

fn schedules() -> u64 {
    std::env::var("ACKCLOCK_SCHEDULES").map_or(SCHEDULES, |n| n.parse().unwrap())
}

/// How often each thing happened in all schedules, so that a test without them fails.
#[derive(Debug, Default)]
struct Tally {
    packets: usize,
    timeouts: usize,
    episodes: usize,
    closed: usize,
    reset: usize,
    probes: usize,
}

impl Tally {
    fn add(&mut self, conversation: &Conversation) {
        use ackclock_tcp::event::Event;
        use ackclock_tcp::segment::Segment;
        for end in &conversation.ends {
            self.packets += end.packets.len();
            let events = |wanted: fn(&Event) -> bool| end.events.iter().filter(|(_, e)| wanted(e)).count();
            self.timeouts += events(|e| matches!(e, Event::Timeout { .. }));
            self.episodes += events(|e| matches!(e, Event::Phase { .. }));
            self.probes += events(|e| matches!(e, Event::Persist { .. }));
            let sent = |flag: u8| end.packets.iter().any(|(_, seg)| seg.has(flag));
            self.closed += usize::from(sent(Segment::FIN));
            self.reset += usize::from(sent(Segment::RST));
        }
    }
}

#[test]
fn the_same_conversation_makes_the_same_decisions_under_each_clock() {
    let mut tally = Tally::default();
    let mut differ = Vec::new();
    let mut whole = 0;
    for seed in 0..schedules() {
        let schedule = Schedule::draw(seed);
        let simulated = simulator::run(&schedule);
        for (clock, other) in [("sockets", sockets::run(&schedule)), ("driver", driver::run(&schedule))] {
            if let Some(difference) = simulated.difference(&other) {
                differ.push(format!("seed {seed}, {}: simulator and {clock} differ\n{difference}", schedule.stack));
            }
        }
        tally.add(&simulated);
        whole += u64::from(simulated.is_whole());
    }
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), schedules(), differ.join("\n"));
    let Tally { packets, timeouts, episodes, closed, reset, probes } = tally;
    let all = [packets / 100, timeouts, episodes, closed, reset, probes];
    assert!(all.iter().all(|n| *n as u64 > schedules() / 10), "too little happens: {tally:?}");
    assert!(whole > schedules() / 3, "too few conversations are compared to their end: {whole}");
    println!("{} schedules, {whole} to their end: {tally:?}", schedules());
}
