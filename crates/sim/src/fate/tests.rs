use super::*;
use proptest::prelude::*;
use std::ops::Range;
use Verdict::{Needed, Needless, Refused};

type Calls<'a> = &'a [(u64, u32, u8)];

fn fates(again: Calls<'_>, dropped: Calls<'_>, refused: Calls<'_>, doubled: Calls<'_>) -> Fates {
    let mut f = Fates::default();
    again.iter().for_each(|&(s, l, n)| f.retransmitted(s, l, n, None));
    dropped.iter().for_each(|&(s, l, n)| f.dropped(s, l, n));
    refused.iter().for_each(|&(s, l, n)| f.refused(s, l, n));
    doubled.iter().for_each(|&(s, l, n)| f.doubled(s, l, n));
    f
}

fn each(again: Calls<'_>, dropped: Calls<'_>, refused: Calls<'_>, doubled: Calls<'_>) -> Vec<Verdict> {
    fates(again, dropped, refused, doubled).each()
}

#[test]
fn needless_retransmissions_are_counted_by_cause_and_the_first_of_each_fast_recovery_apart() {
    let mut f = Fates::default();
    // Recovery 1 was a mistake. Recovery 3 was not, though its second retransmission was.
    let of = |n| Some(Resend::Recovery(n));
    for (start, why) in [(1, of(1)), (11, of(1)), (21, None), (31, of(3)), (41, of(3)), (51, Some(Resend::Later))] {
        f.retransmitted(start, 10, 2, why);
    }
    for (start, why) in [(61, Resend::Probe), (71, Resend::Timeout), (81, Resend::Timeout)] {
        f.retransmitted(start, 10, 2, Some(why));
    }
    f.dropped(31, 10, 1);
    let by = Causes { fast: 1, recovery: 3, probe: 1, timeout: 2 };
    assert_eq!(f.verdicts(), Verdicts { needed: 1, refused: 0, needless: 8, needless_by: by });
    f.refused(1, 10, 1);
    f.dropped(81, 10, 1);
    let by = Causes { fast: 0, timeout: 1, ..by };
    assert_eq!(f.verdicts(), Verdicts { needed: 2, refused: 1, needless: 6, needless_by: by });
}

#[test]
fn a_retransmission_is_needed_if_all_its_earlier_copies_were_dropped() {
    assert_eq!(each(&[(1, 10, 2)], &[], &[], &[]), [Needless]);
    assert_eq!(each(&[(1, 10, 2)], &[(1, 10, 1)], &[], &[]), [Needed]);
    // Its own drop does not affect its verdict, but makes the third copy needed if the first was lost too.
    assert_eq!(each(&[(1, 10, 2)], &[(1, 10, 2)], &[], &[]), [Needless]);
    assert_eq!(each(&[(1, 10, 2), (1, 10, 3)], &[(1, 10, 1), (1, 10, 2)], &[], &[]), [Needed, Needed]);
    assert_eq!(each(&[(1, 10, 2), (1, 10, 3)], &[(1, 10, 1)], &[], &[]), [Needed, Needless]);
    assert_eq!(each(&[(1, 10, 2), (11, 10, 2)], &[(11, 10, 1)], &[], &[]), [Needless, Needed]);
}

#[test]
fn a_retransmission_is_refused_if_a_copy_arrived_and_the_receiver_threw_it_away() {
    assert_eq!(each(&[(1, 10, 2)], &[], &[(1, 10, 1)], &[]), [Refused]);
    // Its own refusal does not affect its verdict.
    assert_eq!(each(&[(1, 10, 2), (1, 10, 3)], &[], &[(1, 10, 2)], &[]), [Needless, Needless]);
    assert_eq!(each(&[(1, 10, 2), (1, 10, 3)], &[(1, 10, 1)], &[(1, 10, 2)], &[]), [Needed, Refused]);
}

#[test]
fn a_copy_that_was_taken_outweighs_one_that_was_refused() {
    assert_eq!(each(&[(1, 10, 3)], &[], &[(1, 10, 1)], &[]), [Needless], "the second was taken");
    assert_eq!(each(&[(1, 10, 3)], &[], &[(1, 10, 1), (1, 10, 2)], &[]), [Refused]);
}

#[test]
fn of_its_bytes_the_worst_decides() {
    // Two small segments retransmitted as one large one.
    assert_eq!(each(&[(1, 20, 2)], &[(11, 10, 1)], &[(1, 10, 1)], &[]), [Needed], "refused, dropped");
    assert_eq!(each(&[(1, 20, 2)], &[], &[(1, 10, 1)], &[]), [Refused], "refused, taken");
    assert_eq!(each(&[(1, 20, 2)], &[], &[(11, 10, 1)], &[]), [Refused], "taken, refused");
    assert_eq!(each(&[(1, 20, 2)], &[(1, 10, 1)], &[], &[]), [Needed], "dropped, taken");
    assert_eq!(each(&[(11, 10, 2)], &[(1, 10, 1)], &[], &[]), [Needless], "another's drop");
    // A large segment lost and retransmitted in halves.
    assert_eq!(each(&[(1, 10, 2), (11, 10, 2)], &[(1, 20, 1)], &[], &[]), [Needed, Needed]);
    // A segment cut by the window's edge: its end was thrown away.
    assert_eq!(each(&[(1, 20, 2)], &[], &[(15, 6, 1)], &[]), [Refused]);
    assert_eq!(each(&[(1, 14, 2), (15, 6, 2)], &[], &[(15, 6, 1)], &[]), [Needless, Refused]);
}

#[test]
fn duplicates_made_by_the_network_are_no_copies() {
    assert_eq!(each(&[(1, 10, 2)], &[(1, 10, 1)], &[], &[(1, 10, 1)]), [Needless]);
    assert_eq!(each(&[(1, 10, 2)], &[(1, 10, 1), (1, 10, 1)], &[], &[(1, 10, 1)]), [Needed]);
    assert_eq!(each(&[(1, 10, 2)], &[], &[(1, 10, 1)], &[(1, 10, 1)]), [Needless], "its twin was taken");
    assert_eq!(each(&[(1, 10, 2)], &[(1, 10, 1)], &[(1, 10, 1)], &[(1, 10, 1)]), [Refused], "its twin was dropped");
    assert_eq!(each(&[(1, 10, 2)], &[(1, 10, 1)], &[(4, 2, 1)], &[(1, 10, 1)]), [Refused], "two bytes of it");
}

/// The fate of one packet: the bytes that the receiver threw away, or a drop.
#[derive(Clone, Debug)]
enum Fate {
    Dropped,
    /// Fractions of its length; the bytes between them were thrown away (no bytes if the second is not larger).
    Arrived(f64, f64),
}

/// The cuts of each round of copies into segments, and the fates of the packets of each segment, the original and its
/// duplicates.
type Round = (Vec<u64>, Vec<Vec<Fate>>);

const LENGTH: u64 = 40;

fn round() -> impl Strategy<Value = Round> {
    let fate = prop_oneof![
        2 => Just(Fate::Dropped),
        1 => Just(Fate::Arrived(0.0, 0.0)),
        2 => Just(Fate::Arrived(0.0, 1.0)),
        1 => (0.0..1.0, 0.0..1.0).prop_map(|(a, b)| Fate::Arrived(a, b)),
    ];
    let packets = proptest::collection::vec(fate, 1..4);
    (proptest::collection::vec(1..LENGTH, 0..6), proptest::collection::vec(packets, 7))
}

/// The fate of each copy of a byte: whether a packet of it arrived, and whether one was taken.
#[derive(Clone, Copy, Default)]
struct Byte {
    arrived: bool,
    taken: bool,
}

fn cut(cuts: &[u64]) -> Vec<Range<u64>> {
    let mut all: Vec<u64> = [0, LENGTH].iter().chain(cuts).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.windows(2).map(|w| w[0]..w[1]).collect()
}

/// As defined, byte by byte.
fn worst(rounds: &[Vec<Byte>], segment: Range<u64>) -> Verdict {
    let of = |at: u64| {
        let mut copies = rounds.iter().map(|r| r[at as usize]);
        if copies.clone().any(|b| b.taken) {
            Needless
        } else if copies.any(|b| b.arrived) {
            Refused
        } else {
            Needed
        }
    };
    segment.map(of).max().unwrap_or(Needless)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
    #[test]
    fn verdicts_equal_a_recount_byte_by_byte(rounds in proptest::collection::vec(round(), 1..5)) {
        let (mut f, mut seen, mut expected) = (Fates::default(), Vec::<Vec<Byte>>::new(), Vec::new());
        for ((cuts, fates), sends) in rounds.iter().zip(1u8..) {
            let mut bytes = vec![Byte::default(); LENGTH as usize];
            for (segment, packets) in cut(cuts).into_iter().zip(fates) {
                let length = (segment.end - segment.start) as u32;
                if sends > 1 {
                    f.retransmitted(segment.start, length, sends, None);
                    expected.push(worst(&seen, segment.clone()));
                }
                packets[1..].iter().for_each(|_| f.doubled(segment.start, length, sends));
                for fate in packets {
                    match *fate {
                        Fate::Dropped => f.dropped(segment.start, length, sends),
                        Fate::Arrived(from, to) => {
                            let at = |share: f64| segment.start + (share * f64::from(length)).round() as u64;
                            let refused = at(from)..at(to);
                            if !refused.is_empty() {
                                f.refused(refused.start, (refused.end - refused.start) as u32, sends);
                            }
                            for i in segment.clone() {
                                let b = &mut bytes[i as usize];
                                b.arrived = true;
                                b.taken |= !refused.contains(&i);
                            }
                        }
                    }
                }
            }
            seen.push(bytes);
        }
        prop_assert_eq!(f.each(), expected);
        let v = f.verdicts();
        prop_assert_eq!(v.needed + v.refused + v.needless, f.each().len() as u64);
    }
}
