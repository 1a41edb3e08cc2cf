//! Paths that lose most packets: a transfer of 300 segments still ends, and no sender waits longer than its timer allows.

use crate::net::{Do, Net, Path, DELAY};
use crate::{secs, stacks, MSS};
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::event::Event;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};

/// 300 segments.
const BYTES: u64 = 300 * MSS as u64;

/// 300 segments one way, written at once.
fn sent_over(stack: &Stack, path: Path, seed: u64) -> Net {
    let ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(stack, side, MSS, 50_000));
    let mut net = Net::new(ends, 50_000, path, seed);
    net.at(secs(0), 0, Do::Write(BYTES));
    net.run(secs(360_000));
    net
}

/// The longest time that the stack may wait before it retries (RFC 6298 §2.5, §5.5: at least 60 s; else its own limit).
fn longest_wait(stack: &Stack) -> Nanos {
    match (&stack.detect, &stack.rto) {
        // The packet's own timer, and after extreme losses the same time again before anything is sent.
        (DetectSpec::TcpPr(s), _) => s.max.times(2),
        // Net/2's timer counts whole ticks.
        (_, RtoSpec::Net2Ticks(s)) => s.tick.times(u64::from(s.max_ticks)),
        (_, RtoSpec::Rfc6298(s)) => s.max,
        // The kernel's timer wheel has steps of 512 ticks for timers between 4,032 and 32,256 ticks.
        (_, RtoSpec::Linux(s)) => s.max + Nanos(512 * 1_000_000_000 / u64::from(s.hz)),
        (DetectSpec::Quic(s), _) => s.max_pto,
        (detect, rto) => panic!("{}: how long may {detect:?} with {rto:?} wait?", stack.name),
    }
}

/// The times at which the sender sent data, first to last.
fn sends(net: &Net) -> impl Iterator<Item = Time> + '_ {
    net.log.iter().filter(|l| l.1 == 0 && l.3 > 0).map(|l| l.0)
}

/// The longest silence of the sender before everything had arrived, and its start. An ACK of new data restarts the timer, whether
/// or not it releases a segment (RFC 6298 §5.3); SACKs also restart Linux's timer (`tcp_clean_rtx_queue`).
fn longest_silence(net: &Net, hears_sacks: bool) -> (Nanos, Time) {
    let (mut una, mut last, mut longest) = (0, Time::ZERO, (Nanos::ZERO, Time::ZERO));
    for &(at, ref e) in &net.heard[0] {
        match e {
            Event::Acked { ack, .. } if ack.0 > una => una = ack.0,
            Event::Acked { delivered: 1.., .. } if hears_sacks => {}
            Event::Sent { .. } => {}
            _ => continue,
        }
        longest = longest.max((at.since(last), last));
        last = at;
    }
    longest
}

#[test]
fn under_30_and_under_50_percent_of_loss_each_way_300_segments_arrive_and_no_timer_waits_longer_than_allowed() {
    let (mut timeouts, mut longest) = (0, Nanos::ZERO);
    for stack in stacks() {
        for (loss, seeds) in [(30, 4), (50, 2)] {
            for seed in 0..seeds {
                let net = sent_over(&stack, Path { loss: [loss; 2], ..Path::default() }, seed);
                let who = format!("{} {:?} {loss} % seed {seed}", stack.name, stack.ack);
                // In order and once: `received` counts the data that the receiver delivers, and `Net` checks that it was sent.
                assert_eq!(net.received[1], BYTES, "{who}: {}", net.describe());
                let (wait, from) = longest_silence(&net, matches!(stack.rto, RtoSpec::Linux(_)));
                assert!(wait <= longest_wait(&stack), "{who}: silent for {wait} from {from} on");
                longest = longest.max(wait);
                timeouts += net.heard[0].iter().filter(|h| matches!(h.1, Event::Timeout { .. })).count();
            }
        }
    }
    println!("{timeouts} timeouts, longest silence {longest}");
    assert!(timeouts > 10_000 && longest >= Nanos::from_secs(60), "too quiet: {timeouts}, {longest}");
}

#[test]
fn after_an_outage_of_a_minute_the_next_try_comes_within_the_longest_wait_and_gets_through() {
    for stack in stacks() {
        for seed in 0..8 {
            // At any point of a round trip, early and late in the transfer.
            let from = Time(150_000_000 + 57_000_000 * seed);
            let until = from + Nanos::from_secs(60);
            let net = sent_over(&stack, Path { outage: Some((from, until)), ..Path::default() }, seed);
            let who = format!("{} {:?} outage from {from}", stack.name, stack.ack);
            assert_eq!(net.received[1], BYTES, "{who}: {}", net.describe());
            let before = sends(&net).filter(|t| *t < until).max().expect("sent before");
            let again = sends(&net).find(|t| *t >= until).expect("sent again");
            assert!(again.since(until) <= longest_wait(&stack), "{who}: tried again only at {again}");
            // Each wait is at most twice the previous one, which was during the outage (RFC 6298 §5.5); plus a tick for Net/2.
            let (waited, twice) = (again.since(before), before.since(from).times(2) + Nanos::from_secs(4));
            assert!(waited <= twice, "{who}: silent from {before} to {again}");
            let advance =
                net.heard[0].iter().find(|(t, e)| *t >= until && matches!(e, Event::Acked { delivered: 1.., .. }));
            let round_trip = DELAY.times(2) + Nanos::from_millis(200);
            assert!(advance.is_some_and(|a| a.0 <= again + round_trip), "{who}: {advance:?} after {again}");
        }
    }
}
