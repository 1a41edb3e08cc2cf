//! Verdicts from captures of simulated runs compared with the truth: 30 paths, each with seven pairs of hosts.

mod hand;
mod paths;
mod seen;
mod tally;

use ackclock_capture::connection::{Connection, Wanted};
use ackclock_capture::place::Side;
use ackclock_capture::verdict::Retransmission;
use ackclock_capture::Seen;
use ackclock_sim::scenario::PeerSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use seen::Captures;
use std::collections::BTreeMap;
use tally::Tally;

const BOTH: PeerSpec = PeerSpec { sack: None, dsack: None, timestamps: None };
const NO_DSACK: PeerSpec = PeerSpec { dsack: Some(false), ..BOTH };
const NO_SACK: PeerSpec = PeerSpec { sack: Some(false), ..BOTH };
const NO_TIMESTAMPS: PeerSpec = PeerSpec { timestamps: Some(false), ..BOTH };
const NEITHER: PeerSpec = PeerSpec { timestamps: Some(false), dsack: Some(false), ..BOTH };

/// Size of each transfer.
const BYTES: u64 = 3_000_000;

fn judged(seen: &[Seen], at: Option<Side>) -> BTreeMap<u64, Retransmission> {
    let mut connection = Connection::new(Wanted { at, each: true, ..Wanted::default() });
    seen.iter().for_each(|s| connection.on(s));
    connection.finish().retransmissions.into_iter().map(|r| (r.frame, r)).collect()
}

/// All paths with this stack and these options of its peer: from the sender's side and from the receiver's.
fn tallies(stack: &str, peer: PeerSpec, at: impl Fn(Side) -> Option<Side>) -> [Tally; 2] {
    tallies_of(1, stack, peer, at)
}

/// The same with `seeds` seeds of each path.
fn tallies_of(seeds: u64, stack: &str, peer: PeerSpec, at: impl Fn(Side) -> Option<Side>) -> [Tally; 2] {
    let stack = Stack::named(stack).expect("a named stack");
    let mut tallies = [Tally::default(), Tally::default()];
    for (path, seed) in paths::PATHS.iter().flat_map(|path| (1..=seeds).map(move |seed| (path, seed))) {
        let mut scenario = paths::scenario(path, BYTES);
        scenario.flows[0].peer = peer;
        let captures = Captures::of(&scenario, &stack, seed);
        let truth = captures.truth();
        let [sender, receiver] = &mut tallies;
        let got = judged(&captures.sender, at(Side::Sender));
        sender.add(path.0, &truth, captures.frames.iter().map(|f| Some(f.0)), &captures.sender, &got);
        let got = judged(&captures.receiver, at(Side::Receiver));
        receiver.add(path.0, &truth, captures.frames.iter().map(|f| f.1), &captures.receiver, &got);
    }
    tallies
}

#[test]
fn from_the_senders_side_with_dsack_needless_ones_are_found_and_no_others() {
    for (stack, peer) in [("linux-2025", BOTH), ("linux-2025", NO_TIMESTAMPS), ("rfc-6675", BOTH)] {
        let [sender, _] = tallies(stack, peer, Some);
        assert!(sender.needless > 400, "too few to say anything: {sender}");
        assert!(sender.precision() >= 0.99 && sender.recall() >= 0.99, "{stack} {peer:?}: {sender}");
        assert!(sender.guessed() <= 0.05, "{stack} {peer:?}: {sender}");
        assert!(sender.decided() >= 0.97, "{stack} {peer:?}: {sender}");
    }
}

#[test]
fn from_the_senders_side_without_dsack_no_wrong_verdict_counts_as_sure() {
    let cases = [
        ("linux-2025", NO_DSACK, 0.85),
        ("linux-2025", NO_SACK, 0.5),
        ("linux-2025", NEITHER, 0.8),
        ("newreno", BOTH, 0.6),
    ];
    for (stack, peer, decided) in cases {
        let [sender, _] = tallies(stack, peer, Some);
        assert_eq!(sender.wrong, 0, "{stack} {peer:?}: {sender}");
        assert!(sender.decided() >= decided, "{stack} {peer:?}: {sender}");
        assert!(sender.guessed() <= 0.05, "{stack} {peer:?}: {sender}");
    }
}

#[test]
fn from_the_receivers_side_every_copy_that_is_listed_is_right() {
    for (stack, peer) in [("linux-2025", BOTH), ("rfc-6675", BOTH), ("linux-2025", NO_SACK), ("linux-2025", NEITHER)] {
        let [_, receiver] = tallies(stack, peer, Some);
        let wrong = (receiver.wrong, receiver.unknown, receiver.invented, receiver.overlooked);
        assert_eq!(wrong, (0, 0, 0, 0), "{stack}: {receiver}");
        let [_, more] = tallies_of(4, stack, peer, Some);
        assert!((more.likely + more.extra) * 50 <= more.all, "{stack}: {more}");
    }
}

#[test]
fn the_place_of_a_capture_is_detected() {
    let [given, found] = [tallies("linux-2025", BOTH, Some), tallies("linux-2025", BOTH, |_| None)];
    for (given, found) in given.iter().zip(&found) {
        assert_eq!(given.to_string(), found.to_string());
    }
}

#[test]
fn from_both_sides_every_verdict_is_right() {
    for (stack, peer) in [("linux-2025", BOTH), ("linux-2025", NO_DSACK), ("linux-2025", NO_SACK), ("newreno", BOTH)] {
        let stack_named = Stack::named(stack).expect("a named stack");
        let mut tally = Tally::default();
        for path in paths::PATHS {
            let mut scenario = paths::scenario(path, BYTES);
            scenario.flows[0].peer = peer;
            // Long enough for all: packets in flight at the end would count as taken.
            scenario.duration = Nanos::from_secs(600);
            let captures = Captures::of(&scenario, &stack_named, 1);
            let mut there =
                Connection::noting_arrivals(Wanted { at: Some(Side::Receiver), each: false, ..Wanted::default() });
            captures.receiver.iter().for_each(|s| there.on(s));
            let arrivals = there.finish_noting().1.expect("they were noted");
            let mut here = Connection::knowing_arrivals(
                Wanted { at: Some(Side::Sender), each: true, ..Wanted::default() },
                arrivals,
            );
            captures.sender.iter().for_each(|s| here.on(s));
            let got = here.finish().retransmissions.into_iter().map(|r| (r.frame, r)).collect();
            let frames = captures.frames.iter().map(|f| Some(f.0));
            tally.add(path.0, &captures.truth(), frames, &captures.sender, &got);
        }
        assert!(tally.all > 1000, "too few to say anything: {tally}");
        assert_eq!((tally.right, tally.extra, tally.likely), (tally.all, 0, 0), "{stack} {peer:?}: {tally}");
    }
}

#[test]
fn in_the_middle_no_wrong_verdict_counts_as_sure() {
    for (stack, peer) in [("linux-2025", BOTH), ("linux-2025", NO_DSACK), ("linux-2025", NO_SACK), ("rfc-6675", BOTH)] {
        let stack_named = Stack::named(stack).expect("a named stack");
        let mut tally = Tally::default();
        for path in paths::PATHS {
            let mut scenario = paths::with_middle(path, BYTES);
            scenario.flows[0].peer = peer;
            let captures = Captures::of(&scenario, &stack_named, 1);
            let got = judged(&captures.middle, Some(Side::Middle));
            let frames = captures.frames.iter().map(|f| f.2);
            tally.add(path.0, &captures.truth(), frames, &captures.middle, &got);
        }
        assert_eq!((tally.wrong, tally.overlooked), (0, 0), "{stack} {peer:?}: {tally}");
        assert!(tally.decided() >= 0.55, "{stack} {peer:?}: {tally}");
    }
}

#[test]
fn which_end_opened_the_connection_changes_no_verdict() {
    let stack = Stack::named("linux-2025").expect("a named stack");
    let mut again = 0;
    for path in paths::PATHS {
        let mut scenario = paths::scenario(path, 8 * BYTES);
        scenario.flows[0].peer = NO_SACK;
        let seen = Captures::of(&scenario, &stack, 1).sender;
        let turned: Vec<_> = seen.iter().map(|s| Seen { way: s.way.back(), ..*s }).collect();
        for at in [None, Some(Side::Sender)] {
            let (one, other) = (judged(&seen, at), judged(&turned, at));
            again += one.len();
            let verdicts =
                |all: BTreeMap<u64, Retransmission>| all.into_values().map(|r| (r.frame, r.judged)).collect::<Vec<_>>();
            assert_eq!(verdicts(one), verdicts(other), "{} {at:?}", path.0);
        }
    }
    assert!(again > 4000, "too few to say anything: {again}");
}
