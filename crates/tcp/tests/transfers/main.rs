//! Whole transfers between two connections over a network that loses, delays and duplicates packets. All end with
//! every byte delivered once and in order, or back off as RFC 6298 says; none stalls.

mod bursts;
mod hard;
mod mistakes;
mod net;
#[path = "../shared/rng.rs"]
mod rng;
mod trains;
mod windows;

use ackclock_tcp::ack::linux::LinuxAckSpec;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::detect::Timekeeper;
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::receive_window::drs::DrsSpec;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::rto::RtoSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Jiffies, Nanos, Time};
use net::{Do, Net, Path};
use rng::Rng;

pub(crate) const MSS: u32 = 1000;
const HOURS_10: Time = Time(36_000 * 1_000_000_000);

pub(crate) fn secs(n: u64) -> Time {
    Time(n * 1_000_000_000)
}

fn policies() -> [AckSpec; 4] {
    let (delay, interval) = (Nanos::from_millis(100), Nanos::from_millis(200));
    let heartbeat = AckSpec::Heartbeat { interval, phase: Nanos::from_millis(30) };
    [AckSpec::Every, AckSpec::Delayed { delay }, heartbeat, AckSpec::DelayedReordered { delay }]
}

/// Every named stack with every receiver policy, every second one with timestamps.
pub(crate) fn stacks() -> impl Iterator<Item = Stack> {
    let all = Stack::names().flat_map(|name| policies().map(|ack| (Stack::named(name).expect("listed"), ack)));
    all.enumerate().map(|(i, (stack, ack))| {
        let mut stack = Stack { ack, ..stack };
        stack.options.timestamps = (i + i / 4) % 2 == 1;
        stack
    })
}

fn paths() -> [Path; 8] {
    let quiet = Path::default();
    [
        quiet,
        Path { loss: [3, 0], ..quiet },
        Path { loss: [0, 20], ..quiet },
        Path { late: 20, ..quiet },
        Path { late: 10, doubled: 10, ..quiet },
        Path { loss: [10, 10], late: 10, doubled: 5, ..quiet },
        Path { loss: [30, 30], ..quiet },
        Path { loss: [2, 2], outage: Some((secs(1), secs(61))), ..quiet },
    ]
}

/// One transfer in both directions, written and read in pieces of random size at random times.
fn transfer(stack: &Stack, path: Path, seed: u64) -> Net {
    let mut rng = Rng(seed ^ 0xfeed);
    let shut = rng.below(3) == 0;
    let rwnd = if shut { 2_000 + rng.below(3_000) } else { 20_000 + rng.below(100_000) };
    let handshake = rng.below(2) == 0;
    let ends = if handshake {
        [Connection::connect(stack, MSS, rwnd), Connection::listen(stack, MSS, rwnd)]
    } else {
        [(); 2].map(|()| Connection::established(stack, Sides::Both, MSS, rwnd))
    };
    // `established` rounds the window up to its scale, here at most 1.
    let mut net = Net::new(ends, if handshake { 0 } else { rwnd.next_multiple_of(2) }, path, seed);
    net.maxburst = stack.limits.maxburst_segs;
    for end in 0..2 {
        // Paths that lose half of their packets would exceed any user timeout.
        net.ends[end].set_user_timeout(None);
        if shut {
            net.ends[end].read_by_hand();
            net.at(secs(1), end, Do::Read(500 + rng.below(4000)));
        }
        let (pieces, small) = (rng.below(6), rng.below(2) == 0);
        for _ in 0..pieces {
            let n = if small { 1 + rng.below(700) } else { rng.below(30_000) };
            net.at(Time(rng.below(2_000_000_000)), end, Do::Write(n));
        }
        net.at(Time(2_000_000_000 + rng.below(2_000_000_000)), end, Do::Close);
    }
    net.run(HOURS_10);
    net
}

#[test]
fn every_transfer_ends_with_every_byte_delivered_once_and_in_order() {
    let (mut unreachable, mut seen, mut most) = (0, [0u64; 4], 0);
    for stack in stacks() {
        for (p, path) in paths().into_iter().enumerate() {
            // 276: two ends that had accepted each other's probe stalled.
            for seed in (0..150).chain([276]) {
                let mut stack = stack.clone();
                stack.limits.maxburst_segs = (seed % 3 == 2).then_some(1 + seed as u32 / 3);
                if let (1, AckSpec::Delayed { delay }) = (seed % 4, &stack.ack) {
                    stack.ack = AckSpec::Linux(LinuxAckSpec { delay: *delay, ..Default::default() });
                }
                if seed % 5 == 3 {
                    stack.receive_window = ReceiveWindowSpec::Drs(DrsSpec { initial: 3_000 });
                }
                if seed % 5 == 4 {
                    stack.rto = RtoSpec::Net2Ticks(Default::default());
                }
                let mut net = transfer(&stack, path, 1000 * p as u64 + seed);
                let who = format!("{} {:?} path {p} seed {seed}", stack.name, stack.ack);
                assert!(net.finished(), "{who} did not end {}", net.describe());
                let rest = net.calm_down();
                assert!(rest < 20, "{who}: {rest} packets after the end {}", net.describe());
                most = most.max(rest);
                unreachable += u32::from(net.unreachable());
                seen[0] += net.log.len() as u64;
                for (_, e) in net.heard.iter().flatten() {
                    match e {
                        Event::Timeout { .. } => seen[1] += 1,
                        Event::Phase { to: Phase::Recovery, .. } => seen[2] += 1,
                        Event::Persist { .. } => seen[3] += 1,
                        _ => {}
                    }
                }
            }
        }
    }
    assert!(unreachable < 200, "{unreachable} handshakes were given up");
    let [packets, timeouts, recoveries, probes] = seen;
    println!("{packets} packets, {timeouts} timeouts, {recoveries} recoveries, {probes} probes, at most {most} packets after an end");
    assert!(packets > 1_000_000 && timeouts > 50_000 && recoveries > 5_000 && probes > 10_000, "too quiet: {seen:?}");
}

/// The times at which the retransmission timer fired.
fn timeouts(net: &Net) -> Vec<Time> {
    net.heard[0].iter().filter(|(_, e)| matches!(e, Event::Timeout { .. })).map(|h| h.0).collect()
}

/// Whether timers of doubling spans, each set when the one before it fired, fire at these times on the kernel's wheel.
fn doubles_on_the_wheel(at: &[Time], clock: Jiffies, most: Nanos) -> bool {
    let fires = |set: Time, span: u64| clock.deadline(set, clock.whole(Nanos(span).min(most)));
    let first = |ticks: u64| ticks * clock.whole(Nanos(1)).0;
    (1..1000).any(|ticks| at.windows(2).zip(0..).all(|(w, n)| w[1] == fires(w[0], first(ticks) << n)))
}

#[test]
fn a_dead_path_is_tried_at_doubling_intervals_up_to_the_timers_limit() {
    for stack in stacks().filter(|s| !s.build(MSS).detect.owns_rto()) {
        let ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(&stack, side, MSS, 50_000));
        let dark = Path { outage: Some((secs(5), secs(1_000))), ..Path::default() };
        let mut net = Net::new(ends, 50_000, dark, 1);
        net.at(secs(0), 0, Do::Write(5_000));
        net.at(secs(6), 0, Do::Write(20_000));
        net.run(secs(1_500));
        let at = timeouts(&net);
        let (least, most) = match &stack.rto {
            RtoSpec::Rfc6298(r) => (r.min, r.max),
            RtoSpec::Linux(r) => (r.min, r.max),
            // Net/2's limits are 2 and 128 ticks of half a second.
            _ => (secs(1).since(Time(0)), secs(64).since(Time(0))),
        };
        let gaps: Vec<Nanos> = at.windows(2).map(|w| w[1].since(w[0])).collect();
        assert!(gaps.len() > 8 && gaps[0].0 >= 2 * least.0, "{}: {gaps:?}", stack.name);
        let doubled = match &stack.rto {
            RtoSpec::Linux(r) => doubles_on_the_wheel(&at, Jiffies::per_second(r.hz), most),
            _ => gaps.windows(2).all(|g| g[1] == Nanos(2 * g[0].0).min(most)),
        };
        assert!(doubled, "{}: {gaps:?}", stack.name);
        assert_eq!(net.received[1], 25_000, "{}: {}", stack.name, net.describe());
    }
}

#[test]
fn tcp_pr_tries_a_dead_path_at_doubling_intervals_too() {
    let stack = Stack::named("tcp-pr").expect("listed");
    let ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(&stack, side, MSS, 50_000));
    let dark = Path { outage: Some((secs(5), secs(1_000))), ..Path::default() };
    let mut net = Net::new(ends, 50_000, dark, 1);
    net.at(secs(0), 0, Do::Write(5_000));
    net.at(secs(6), 0, Do::Write(20_000));
    net.run(secs(1_500));
    let at: Vec<Time> = net.log.iter().filter(|l| l.1 == 0 && l.0 > secs(8) && l.3 > 0).map(|l| l.0).collect();
    let gaps: Vec<u64> = at.windows(2).map(|w| (w[1].0 - w[0].0) / 1_000_000).collect();
    assert_eq!(net.received[1], 25_000, "{}", net.describe());
    assert_eq!(gaps[..8], [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
}

#[test]
fn quic_9002_probes_a_dead_path_at_doubling_intervals_of_at_most_a_minute() {
    let stack = Stack::named("quic-9002").expect("listed");
    let ends = [Sides::Sender, Sides::Receiver].map(|side| Connection::established(&stack, side, MSS, 50_000));
    let dark = Path { outage: Some((secs(5), secs(1_000))), ..Path::default() };
    let mut net = Net::new(ends, 50_000, dark, 1);
    net.at(secs(0), 0, Do::Write(5_000));
    net.at(secs(6), 0, Do::Write(20_000));
    net.run(secs(1_500));
    let at: Vec<Time> = net.log.iter().filter(|l| l.1 == 0 && l.0 > secs(6) && l.3 > 0).map(|l| l.0).collect();
    let gaps: Vec<u64> = at.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert!(gaps[..6].windows(2).all(|g| g[1] == 2 * g[0]), "{gaps:?}");
    assert_eq!(gaps[8..12], [60_000_000_000; 4]);
    assert_eq!(net.received[1], 25_000, "{}", net.describe());
}
