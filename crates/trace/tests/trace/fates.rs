use crate::play::{ack, data};
use ackclock_sim::watch::Side;
use ackclock_trace::fate::{Fates, Verdict};
use proptest::prelude::*;
use std::collections::BTreeMap;

const NEEDED: Verdict = Verdict::Known { needless: false };
const NEEDLESS: Verdict = Verdict::Known { needless: true };

/// Sends [from, to) for the `sends`-th time, with itself as token.
fn send(f: &mut Fates, from: u64, to: u64, sends: u8, token: u64) -> Verdict {
    f.on_sent(0, Side::Sender, &data(from, (to - from) as u32), sends, token)
}

fn fate(f: &mut Fates, from: u64, to: u64, sends: u8, arrived: bool) -> Vec<(u64, bool)> {
    f.on_fate(0, Side::Receiver, &data(from, (to - from) as u32), sends, arrived);
    f.settled().collect()
}

#[test]
fn a_retransmission_of_lost_data_is_needed() {
    let mut f = Fates::new(1);
    assert_eq!(send(&mut f, 1, 1001, 1, 1), Verdict::First);
    assert_eq!(fate(&mut f, 1, 1001, 1, false), []);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), NEEDED);
}

#[test]
fn a_retransmission_of_data_that_arrived_is_needless() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    fate(&mut f, 1, 1001, 1, true);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), NEEDLESS);
    f.on_fate(0, Side::Sender, &ack(1001, &[]), 0, true);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), NEEDLESS, "acknowledged and forgotten data have arrived");
}

#[test]
fn the_verdict_waits_for_earlier_copies_under_way() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), Verdict::Open);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), Verdict::Open);
    assert_eq!(
        fate(&mut f, 1, 1001, 1, false),
        [(2, false)],
        "the first copy was lost, the third waits for the second"
    );
    assert_eq!(fate(&mut f, 1, 1001, 2, true), [(3, true)]);
}

#[test]
fn a_copy_that_overtakes_an_earlier_one_settles_only_what_came_after_itself() {
    let mut f = Fates::new(1);
    for n in 1..=3 {
        send(&mut f, 1, 1001, n, n.into());
    }
    assert_eq!(fate(&mut f, 1, 1001, 2, true), [(3, true)], "of the first copy nothing is known yet");
    f.on_fate(0, Side::Sender, &ack(1001, &[]), 0, true);
    assert_eq!(fate(&mut f, 1, 1001, 1, false), [(2, false)], "not forgotten by the acknowledgement");
}

#[test]
fn as_many_copies_are_told_apart_as_have_a_number() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    for n in 2..=255 {
        assert_eq!(send(&mut f, 1, 1001, n, n.into()), Verdict::Open, "{n}");
    }
    assert_eq!(send(&mut f, 1, 1001, 255, 256), Verdict::Open, "the 256th");
    let latest_first = (2..=255).rev().chain([255]);
    assert!(latest_first.flat_map(|n| fate(&mut f, 1, 1001, n, false)).next().is_none(), "all wait for the first");
    let mut verdicts = fate(&mut f, 1, 1001, 1, false);
    verdicts.sort_unstable();
    assert_eq!(verdicts, (2..=256).map(|token| (token, false)).collect::<Vec<_>>());
}

#[test]
fn a_copy_under_way_at_the_end_was_dropped_nowhere() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    send(&mut f, 1, 1001, 2, 2);
    f.finish();
    assert_eq!(f.settled().collect::<Vec<_>>(), [(2, true)]);
}

#[test]
fn a_retransmission_is_needed_if_any_of_its_bytes_was_lost_or_never_sent() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 501, 1, 1);
    send(&mut f, 501, 1001, 1, 2);
    fate(&mut f, 1, 501, 1, true);
    fate(&mut f, 501, 1001, 1, false);
    assert_eq!(send(&mut f, 1, 1001, 2, 3), NEEDED, "half of it was lost");
    assert_eq!(send(&mut f, 1, 501, 3, 4), NEEDLESS);
    assert_eq!(send(&mut f, 901, 1101, 3, 5), NEEDED, "the last hundred bytes are new");
}

#[test]
fn a_copy_that_the_network_doubled_is_lost_when_both_packets_are() {
    let mut f = Fates::new(1);
    let doubled = |f: &mut Fates, from| f.on_doubled(0, Side::Receiver, &data(from, 1000), 1);
    for (token, from) in [1, 1001, 2001, 3001].into_iter().enumerate() {
        send(&mut f, from, from + 1000, 1, token as u64);
        doubled(&mut f, from);
    }
    fate(&mut f, 1, 1001, 1, false);
    assert_eq!(send(&mut f, 1, 1001, 2, 12), Verdict::Open);
    assert_eq!(fate(&mut f, 1, 1001, 1, true), [(12, true)], "one of the two packets that the copy became has arrived");
    fate(&mut f, 1001, 2001, 1, false);
    fate(&mut f, 1001, 2001, 1, false);
    assert_eq!(send(&mut f, 1001, 2001, 2, 13), NEEDED, "both lost");
    fate(&mut f, 2001, 3001, 1, true);
    fate(&mut f, 2001, 3001, 1, false);
    assert_eq!(send(&mut f, 2001, 3001, 2, 14), NEEDLESS, "the first arrived");
    doubled(&mut f, 3001);
    fate(&mut f, 3001, 4001, 1, false);
    fate(&mut f, 3001, 4001, 1, false);
    assert_eq!(send(&mut f, 3001, 4001, 2, 15), Verdict::Open, "doubled twice: a third is under way");
    assert_eq!(fate(&mut f, 3001, 4001, 1, false), [(15, false)]);
}

#[derive(Clone, Debug)]
enum Op {
    Send(u64, u64),
    /// Of one of the packets under way, as a share of their number.
    Fate(f64, bool),
    Double(f64),
    Ack,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1u64..40, 1u64..8).prop_map(|(a, n)| Op::Send(a, n)),
        3 => (0.0..1.0, any::<bool>()).prop_map(|(which, arrived)| Op::Fate(which, arrived)),
        1 => (0.0..1.0).prop_map(Op::Double),
        1 => Just(Op::Ack),
    ]
}

/// A transmission, and what became of the packets that it is.
#[derive(Default)]
struct Copy {
    start: u64,
    end: u64,
    sends: u8,
    under_way: u32,
    arrived: bool,
}

/// Every transmission, looked at byte by byte.
#[derive(Default)]
struct Naive {
    copies: Vec<Copy>,
    /// The copy that each packet under way is.
    packets: Vec<usize>,
    verdicts: BTreeMap<u64, bool>,
}

impl Naive {
    fn lost_nowhere(&self, byte: u64, before: usize) -> bool {
        let with = self.copies[..before].iter().filter(|c| (c.start..c.end).contains(&byte));
        with.into_iter().any(|c| c.arrived || c.under_way > 0)
    }

    fn needless(&self, nth: usize) -> bool {
        let Copy { start, end, .. } = self.copies[nth];
        (start..end).all(|byte| self.lost_nowhere(byte, nth))
    }

    /// Sends a segment; its bytes have had copies with lower numbers only.
    fn send(&mut self, start: u64, end: u64) -> u8 {
        let before = self.copies.iter().filter(|c| c.start < end && start < c.end).map(|c| c.sends).max();
        let sends = before.unwrap_or(0) + 1;
        self.packets.push(self.copies.len());
        self.copies.push(Copy { start, end, sends, under_way: 1, arrived: false });
        sends
    }

    fn received_up_to(&self) -> u64 {
        (1..).find(|b| !self.copies.iter().any(|c| c.arrived && (c.start..c.end).contains(b))).unwrap_or(1)
    }

    fn packet(&self, share: f64) -> usize {
        (share * self.packets.len() as f64) as usize
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
                    if let Verdict::Known { needless } = send(&mut f, a, a + len, sends, token) {
                        prop_assert_eq!(n.verdicts.insert(token, needless), None);
                    }
                }
                Op::Ack => f.on_fate(0, Side::Sender, &ack(n.received_up_to(), &[]), 0, true),
                Op::Fate(..) | Op::Double(_) if n.packets.is_empty() => {}
                Op::Fate(share, arrived) => {
                    let i = n.packets.remove(n.packet(share));
                    let c = &mut n.copies[i];
                    c.under_way -= 1;
                    c.arrived |= arrived;
                    for (token, needless) in fate(&mut f, c.start, c.end, c.sends, arrived) {
                        prop_assert_eq!(n.verdicts.insert(token, needless), None);
                    }
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
        n.verdicts.extend(f.settled());
        prop_assert_eq!(n.verdicts.len(), n.copies.iter().filter(|c| c.sends > 1).count());
        for (&token, &needless) in &n.verdicts {
            prop_assert_eq!(needless, n.needless(token as usize), "transmission {}", token);
        }
    }
}
