use crate::play::{ack, data};
use ackclock_sim::fate::Verdict::{self, Needed, Needless, Refused};
use ackclock_sim::watch::Side;
use ackclock_tcp::seq::Offset;
use ackclock_trace::fate::{Fates, Standing};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Sends [from, to) for the `sends`-th time, with itself as token.
fn send(f: &mut Fates, from: u64, to: u64, sends: u8, token: u64) -> Standing {
    f.on_sent(0, Side::Sender, &data(from, (to - from) as u32), sends, token)
}

fn drop(f: &mut Fates, from: u64, to: u64, sends: u8) -> Vec<(u64, Verdict)> {
    f.on_dropped(0, Side::Receiver, &data(from, (to - from) as u32), sends);
    f.settled().collect()
}

fn take(f: &mut Fates, from: u64, to: u64, sends: u8) -> Vec<(u64, Verdict)> {
    refuse(f, from, to, sends, 0..0)
}

/// [from, to) arrives, and the receiver throws `missing` away.
fn refuse(f: &mut Fates, from: u64, to: u64, sends: u8, missing: Range<u64>) -> Vec<(u64, Verdict)> {
    f.on_arrived(0, Side::Receiver, &data(from, (to - from) as u32), sends);
    let missing = (Offset(missing.start), Offset(missing.end));
    f.on_refused(if missing.0 < missing.1 { std::slice::from_ref(&missing) } else { &[] });
    f.settled().collect()
}

fn acked(f: &mut Fates, upto: u64) {
    f.on_arrived(0, Side::Sender, &ack(upto, &[]), 0);
}

#[test]
fn a_retransmission_of_lost_data_is_needed() {
    let mut f = Fates::new(1);
    assert_eq!(send(&mut f, 1, 1001, 1, 1), Standing::First);
    assert_eq!(drop(&mut f, 1, 1001, 1), []);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), Standing::Known(Needed));
}

#[test]
fn a_retransmission_of_data_that_were_taken_is_needless() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    f.on_arrived(0, Side::Receiver, &data(1, 1000), 1);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), Standing::Known(Needless), "nobody said that it was refused");
    acked(&mut f, 1001);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), Standing::Known(Needless), "acknowledged and forgotten data was taken");
}

#[test]
fn a_retransmission_of_data_that_the_receiver_threw_away_is_refused() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    refuse(&mut f, 1, 1001, 1, 1..1001);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), Standing::Known(Refused));
    take(&mut f, 1, 1001, 2);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), Standing::Known(Needless), "of its copies one was taken");
    // Data that the receiver already had was not thrown away.
    send(&mut f, 1001, 2001, 1, 4);
    send(&mut f, 1001, 2001, 2, 5);
    take(&mut f, 1001, 2001, 2);
    assert_eq!(refuse(&mut f, 1001, 2001, 1, 0..0), [(5, Needless)], "by its timestamp, say");
}

#[test]
fn a_refusal_is_reported_while_the_verdict_is_open() {
    let mut f = Fates::new(1);
    for (from, token) in [(1, 1), (1001, 2)] {
        send(&mut f, from, from + 1000, 1, token);
    }
    assert_eq!(send(&mut f, 1, 2001, 2, 3), Standing::Open);
    assert_eq!(send(&mut f, 1, 2001, 3, 4), Standing::Open);
    assert_eq!(refuse(&mut f, 1, 1001, 1, 1..1001), []);
    assert_eq!(take(&mut f, 1001, 2001, 1), [(3, Refused)], "one half refused, the other taken");
    assert_eq!(drop(&mut f, 1, 2001, 2), [(4, Refused)]);
}

#[test]
fn what_was_not_sent_or_dropped_outweighs_what_was_refused() {
    let mut f = Fates::new(1);
    for (from, token) in [(1, 1), (1001, 2)] {
        send(&mut f, from, from + 1000, 1, token);
    }
    assert_eq!(send(&mut f, 1, 2001, 2, 3), Standing::Open);
    refuse(&mut f, 1, 1001, 1, 1..1001);
    assert_eq!(drop(&mut f, 1001, 2001, 1), [(3, Needed)]);
    assert_eq!(send(&mut f, 1, 1001, 3, 4), Standing::Open, "the second copy is under way");
    f.finish();
    assert_eq!(f.settled().collect::<Vec<_>>(), [(4, Needless)]);
}

#[test]
fn a_segment_that_the_window_cuts_is_refused_from_there_on() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    refuse(&mut f, 1, 1001, 1, 601..1001);
    assert_eq!(send(&mut f, 1, 601, 2, 2), Standing::Known(Needless));
    assert_eq!(send(&mut f, 601, 1001, 2, 3), Standing::Known(Refused));
}

#[test]
fn the_verdict_waits_for_earlier_copies_under_way() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), Standing::Open);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), Standing::Open);
    assert_eq!(drop(&mut f, 1, 1001, 1), [(2, Needed)], "the first copy was lost, the third waits for the second");
    assert_eq!(take(&mut f, 1, 1001, 2), [(3, Needless)]);
}

#[test]
fn a_copy_that_overtakes_an_earlier_one_settles_only_what_came_after_itself() {
    let mut f = Fates::new(1);
    for n in 1..=3 {
        send(&mut f, 1, 1001, n, n.into());
    }
    assert_eq!(take(&mut f, 1, 1001, 2), [(3, Needless)], "of the first copy nothing is known yet");
    acked(&mut f, 1001);
    assert_eq!(drop(&mut f, 1, 1001, 1), [(2, Needed)], "not forgotten by the acknowledgement");
}

#[test]
fn as_many_copies_are_told_apart_as_have_a_number() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    for n in 2..=255 {
        assert_eq!(send(&mut f, 1, 1001, n, n.into()), Standing::Open, "{n}");
    }
    assert_eq!(send(&mut f, 1, 1001, 255, 256), Standing::Open, "the 256th");
    let latest_first = (2..=255).rev().chain([255]);
    assert!(latest_first.flat_map(|n| drop(&mut f, 1, 1001, n)).next().is_none(), "all wait for the first");
    let mut verdicts = drop(&mut f, 1, 1001, 1);
    verdicts.sort_unstable();
    assert_eq!(verdicts, (2..=256).map(|token| (token, Needed)).collect::<Vec<_>>());
}

#[test]
fn a_copy_under_way_at_the_end_counts_as_taken() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    send(&mut f, 1, 1001, 2, 2);
    f.finish();
    assert_eq!(f.settled().collect::<Vec<_>>(), [(2, Needless)]);
}

#[test]
fn a_retransmission_is_needed_if_any_of_its_bytes_was_lost_or_never_sent() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 501, 1, 1);
    send(&mut f, 501, 1001, 1, 2);
    take(&mut f, 1, 501, 1);
    drop(&mut f, 501, 1001, 1);
    assert_eq!(send(&mut f, 1, 1001, 2, 3), Standing::Known(Needed), "half of it was lost");
    assert_eq!(send(&mut f, 1, 501, 3, 4), Standing::Known(Needless));
    assert_eq!(send(&mut f, 901, 1101, 3, 5), Standing::Known(Needed), "the last hundred bytes are new");
}

#[test]
fn a_copy_that_the_network_doubled_is_lost_when_both_packets_are() {
    let mut f = Fates::new(1);
    let doubled = |f: &mut Fates, from| f.on_doubled(0, Side::Receiver, &data(from, 1000), 1);
    for (token, from) in [1, 1001, 2001, 3001].into_iter().enumerate() {
        send(&mut f, from, from + 1000, 1, token as u64);
        doubled(&mut f, from);
    }
    drop(&mut f, 1, 1001, 1);
    assert_eq!(send(&mut f, 1, 1001, 2, 12), Standing::Open);
    assert_eq!(take(&mut f, 1, 1001, 1), [(12, Needless)], "one of the two packets that the copy became has arrived");
    drop(&mut f, 1001, 2001, 1);
    drop(&mut f, 1001, 2001, 1);
    assert_eq!(send(&mut f, 1001, 2001, 2, 13), Standing::Known(Needed), "both lost");
    take(&mut f, 2001, 3001, 1);
    drop(&mut f, 2001, 3001, 1);
    assert_eq!(send(&mut f, 2001, 3001, 2, 14), Standing::Known(Needless), "the first arrived");
    doubled(&mut f, 3001);
    drop(&mut f, 3001, 4001, 1);
    drop(&mut f, 3001, 4001, 1);
    assert_eq!(send(&mut f, 3001, 4001, 2, 15), Standing::Open, "doubled twice: a third is under way");
    assert_eq!(drop(&mut f, 3001, 4001, 1), [(15, Needed)]);
    send(&mut f, 4001, 5001, 1, 5);
    doubled(&mut f, 4001);
    refuse(&mut f, 4001, 5001, 1, 4001..5001);
    assert_eq!(send(&mut f, 4001, 5001, 2, 16), Standing::Open, "one refused, the other under way");
    assert_eq!(drop(&mut f, 4001, 5001, 1), [(16, Refused)]);
}

#[derive(Clone, Debug)]
enum Op {
    Send(u64, u64),
    /// Drops one of the packets in flight, selected by a share of their number.
    Drop(f64),
    /// Delivers a packet, selected in the same way; the bytes between two shares are thrown away if the second share is larger.
    Arrive(f64, f64, f64),
    Double(f64),
    Ack,
}

fn op() -> impl Strategy<Value = Op> {
    let share = || 0.0..1.0;
    prop_oneof![
        8 => (1u64..40, 1u64..8).prop_map(|(a, n)| Op::Send(a, n)),
        3 => share().prop_map(Op::Drop),
        2 => share().prop_map(|which| Op::Arrive(which, 0.0, 0.0)),
        2 => share().prop_map(|which| Op::Arrive(which, 0.0, 1.0)),
        2 => (share(), share(), share()).prop_map(|(which, a, b)| Op::Arrive(which, a, b)),
        2 => share().prop_map(Op::Double),
        2 => Just(Op::Ack),
    ]
}

/// A transmission, and the fates of its packets.
#[derive(Default)]
struct Copy {
    start: u64,
    end: u64,
    sends: u8,
    under_way: u32,
    arrived: bool,
    taken: BTreeSet<u64>,
}

/// Every transmission, examined byte by byte.
#[derive(Default)]
struct Naive {
    copies: Vec<Copy>,
    /// The copy of each packet in flight.
    packets: Vec<usize>,
    verdicts: BTreeMap<u64, Verdict>,
}

impl Naive {
    fn of_byte(&self, byte: u64, before: usize) -> Verdict {
        let mut with = self.copies[..before].iter().filter(|c| (c.start..c.end).contains(&byte));
        if with.clone().any(|c| c.taken.contains(&byte) || c.under_way > 0) {
            Needless
        } else if with.any(|c| c.arrived) {
            Refused
        } else {
            Needed
        }
    }

    fn verdict(&self, nth: usize) -> Verdict {
        let Copy { start, end, .. } = self.copies[nth];
        (start..end).map(|byte| self.of_byte(byte, nth)).max().unwrap()
    }

    /// Sends a segment; its bytes only have copies with lower numbers.
    fn send(&mut self, start: u64, end: u64) -> u8 {
        let before = self.copies.iter().filter(|c| c.start < end && start < c.end).map(|c| c.sends).max();
        let sends = before.unwrap_or(0) + 1;
        self.packets.push(self.copies.len());
        self.copies.push(Copy { start, end, sends, under_way: 1, ..Copy::default() });
        sends
    }

    fn received_up_to(&self) -> u64 {
        (1..).find(|b| !self.copies.iter().any(|c| c.taken.contains(b))).unwrap_or(1)
    }

    fn packet(&self, share: f64) -> usize {
        (share * self.packets.len() as f64) as usize
    }

    fn hear(&mut self, verdicts: Vec<(u64, Verdict)>) -> Result<(), TestCaseError> {
        for (token, verdict) in verdicts {
            prop_assert_eq!(self.verdicts.insert(token, verdict), None);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
    #[test]
    fn verdicts_equal_a_naive_recount_in_whatever_order_copies_arrive(ops in proptest::collection::vec(op(), 1..80)) {
        let (mut f, mut n) = (Fates::new(1), Naive::default());
        for op in ops {
            match op {
                Op::Send(a, len) => {
                    let token = n.copies.len() as u64;
                    let sends = n.send(a, a + len);
                    if let Standing::Known(verdict) = send(&mut f, a, a + len, sends, token) {
                        n.hear(vec![(token, verdict)])?;
                    }
                }
                Op::Ack => acked(&mut f, n.received_up_to()),
                Op::Drop(_) | Op::Arrive(..) | Op::Double(_) if n.packets.is_empty() => {}
                Op::Drop(share) => {
                    let i = n.packets.remove(n.packet(share));
                    let c = &mut n.copies[i];
                    c.under_way -= 1;
                    let verdicts = drop(&mut f, c.start, c.end, c.sends);
                    n.hear(verdicts)?;
                }
                Op::Arrive(share, from, to) => {
                    let i = n.packets.remove(n.packet(share));
                    let c = &mut n.copies[i];
                    c.under_way -= 1;
                    c.arrived = true;
                    let at = |share: f64| c.start + (share * (c.end - c.start) as f64).round() as u64;
                    let missing = at(from)..at(to);
                    c.taken.extend((c.start..c.end).filter(|b| !missing.contains(b)));
                    let verdicts = refuse(&mut f, c.start, c.end, c.sends, missing);
                    n.hear(verdicts)?;
                }
                Op::Double(share) => {
                    let i = n.packets[n.packet(share)];
                    n.packets.push(i);
                    let c = &mut n.copies[i];
                    c.under_way += 1;
                    f.on_doubled(0, Side::Receiver, &data(c.start, (c.end - c.start) as u32), c.sends);
                }
            }
        }
        f.finish();
        let verdicts = f.settled().collect();
        n.hear(verdicts)?;
        prop_assert_eq!(n.verdicts.len(), n.copies.iter().filter(|c| c.sends > 1).count());
        for (&token, &verdict) in &n.verdicts {
            prop_assert_eq!(verdict, n.verdict(token as usize), "transmission {}", token);
        }
    }
}
