//! Bytes arrive unchanged: every kind of stack, in both directions, over IPv4 and IPv6, with and without
//! impairments, across 2³².

use crate::harm::{Harm, Swapped};
use crate::trial;
use ackclock_live::bench::{Direction, Family, Outcome, Transfer, DEVICE};
use ackclock_live::error::LiveError;
use ackclock_live::namespace::Namespace;
use ackclock_live::netlink::Device;
use ackclock_live::report;
use ackclock_live::supervise::{supervise, Answer};
use ackclock_live::veth::Veth;
use ackclock_tcp::stack::Stack;
use ackclock_wire::Buffers;
use libtest_mimic::Trial;
use std::time::{Duration, Instant};

/// Without SACK and with it, by ACKs and by time, from 1988 to today.
const STACKS: [&str; 9] =
    ["tahoe", "reno", "newreno", "sack-ff96", "rfc-6675", "rack-tlp", "linux-reno-2025", "linux-2025", "late"];
/// The longest time of a transfer.
const LIMIT: Duration = Duration::from_secs(25);

pub(crate) fn transfer(stack: &str, direction: Direction, family: Family) -> Transfer {
    Transfer {
        direction,
        family,
        offload: false,
        bytes: 2_000_000,
        mtu: 1500,
        stack: Stack::named(stack).unwrap(),
        buffers: Buffers { send: 1 << 20, receive: 1 << 18 },
        realtime: false,
        pcap: None,
    }
}

/// Runs a transfer, with impaired frames if there is a seed.
pub(crate) fn run(transfer: &Transfer, harm: Option<u64>) -> Result<Outcome, LiveError> {
    let (bench, link) = transfer.prepare()?;
    within_limit(|shared| match harm {
        Some(seed) => transfer.run(&bench, Harm::new(link, seed), shared),
        None => transfer.run(&bench, link, shared),
    })
}

pub(crate) fn within_limit<T: Send>(
    work: impl FnOnce(&ackclock_live::supervise::Shared) -> Result<T, LiveError> + Send,
) -> Result<T, LiveError> {
    #[expect(clippy::disallowed_methods, reason = "a live test")]
    let began = Instant::now();
    supervise(&mut |_| if began.elapsed() < LIMIT { Answer::GoOn } else { Answer::Stop }, work)
}

/// The bytes are equal, and the numbers wrapped at 2³² once.
fn holds(outcome: Result<Outcome, LiveError>, bytes: u64) {
    let outcome = outcome.unwrap();
    assert!(outcome.hashes_equal, "{outcome:?}");
    assert_eq!((outcome.bytes, outcome.wraps, outcome.counts.malformed), (bytes, 1, 0), "{outcome:?}");
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (n, stack) in STACKS.into_iter().enumerate() {
        for (direction, verb) in [(Direction::Send, "sends"), (Direction::Receive, "receives")] {
            for family in [Family::V4, Family::V6] {
                for harm in [None, Some(n as u64)] {
                    let through = if harm.is_some() { "through_harm" } else { "undisturbed" };
                    let name = format!("{}_{verb}_unchanged_bytes_over_{family:?}_{through}", stack.replace('-', "_"));
                    trials.push(trial(name, move || {
                        let transfer = transfer(stack, direction, family);
                        holds(run(&transfer, harm), transfer.bytes);
                    }));
                }
            }
        }
    }
    for direction in [Direction::Send, Direction::Receive] {
        let name = format!("hashes_differ_where_bytes_do_when_we_{direction:?}");
        trials.push(trial(name, move || damaged(direction)));
        for family in [Family::V4, Family::V6] {
            let name = |what: &str| format!("{what}_carry_unchanged_bytes_when_we_{direction:?}_over_{family:?}");
            trials.push(trial(name("trains"), move || {
                let transfer =
                    Transfer { offload: true, bytes: 20_000_000, ..transfer("linux-2025", direction, family) };
                let outcome = run(&transfer, None).unwrap();
                let frames = outcome.counts.sent.max(outcome.counts.received);
                assert!(frames < 20_000_000 / 4000, "no trains: {outcome:?}");
                holds(Ok(outcome), 20_000_000);
            }));
            trials.push(trial(name("harmed_trains"), move || {
                let transfer = Transfer { offload: true, ..transfer("linux-2025", direction, family) };
                holds(run(&transfer, Some(99)), transfer.bytes);
            }));
            for offload in [false, true] {
                let what = if offload { "packet_sockets_with_trains" } else { "packet_sockets" };
                trials.push(trial(name(what), move || over_a_packet_socket(direction, family, offload)));
            }
        }
    }
    trials
}

fn damaged(direction: Direction) {
    let transfer = transfer("linux-2025", direction, Family::V4);
    let (bench, link) = transfer.prepare().unwrap();
    let outcome = within_limit(|shared| transfer.run(&bench, Swapped::new(link), shared)).unwrap();
    assert!(outcome.bytes == transfer.bytes && !outcome.hashes_equal, "{outcome:?}");
    assert_eq!(report::entry(&transfer, &outcome)["hashes_equal"], false);
}

fn over_a_packet_socket(direction: Direction, family: Family, offload: bool) {
    let transfer = Transfer { offload, ..transfer("linux-2025", direction, family) };
    // The addresses of a bench, on a device of the other kind.
    let (bench, _) = transfer.prepare().unwrap();
    let namespace = Namespace::new().unwrap();
    let prefix = if bench.addresses.1.is_ipv4() { 24 } else { 64 };
    let device = Device { addresses: vec![(bench.addresses.1, prefix)], ..Device::default() };
    let veth = Veth::new(&namespace, DEVICE, &device, offload).unwrap();
    let bench = ackclock_live::bench::Bench { namespace, ..bench };
    let outcome = within_limit(|shared| transfer.run(&bench, veth, shared)).unwrap();
    let frames = outcome.counts.sent.max(outcome.counts.received);
    assert_eq!(frames < 1_000, offload, "{outcome:?}");
    holds(Ok(outcome), transfer.bytes);
}
