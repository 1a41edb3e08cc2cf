use crate::play::{ack, data};
use ackclock_sim::watch::Side;
use ackclock_trace::fate::{Fates, Verdict};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

const NEEDED: Verdict = Verdict::Known { needless: false };
const NEEDLESS: Verdict = Verdict::Known { needless: true };

/// Sends [from, to) for the `sends`-th time, with itself as token.
fn send(f: &mut Fates, from: u64, to: u64, sends: u8, token: u64) -> Verdict {
    f.on_sent(0, Side::Sender, &data(from, (to - from) as u32), sends, token)
}

fn fate(f: &mut Fates, from: u64, to: u64, arrived: bool) -> Vec<(u64, bool)> {
    f.on_fate(0, Side::Receiver, &data(from, (to - from) as u32), arrived);
    f.settled().collect()
}

#[test]
fn a_retransmission_of_lost_data_is_needed() {
    let mut f = Fates::new(1);
    assert_eq!(send(&mut f, 1, 1001, 1, 1), Verdict::First);
    assert_eq!(fate(&mut f, 1, 1001, false), []);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), NEEDED);
}

#[test]
fn a_retransmission_of_data_that_arrived_is_needless() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    fate(&mut f, 1, 1001, true);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), NEEDLESS);
    f.on_fate(0, Side::Sender, &ack(1001, &[]), true);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), NEEDLESS, "acknowledged and forgotten data have arrived");
}

#[test]
fn the_verdict_waits_for_earlier_copies_under_way() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), Verdict::Open);
    assert_eq!(send(&mut f, 1, 1001, 3, 3), Verdict::Open);
    assert_eq!(fate(&mut f, 1, 1001, false), [(2, false)], "the first copy was lost, the third waits for the second");
    assert_eq!(fate(&mut f, 1, 1001, true), [(3, true)]);
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
    fate(&mut f, 1, 501, true);
    fate(&mut f, 501, 1001, false);
    assert_eq!(send(&mut f, 1, 1001, 2, 3), NEEDED, "half of it was lost");
    assert_eq!(send(&mut f, 1, 501, 3, 4), NEEDLESS);
    assert_eq!(send(&mut f, 901, 1101, 3, 5), NEEDED, "the last hundred bytes are new");
}

#[test]
fn the_networks_own_duplicates_do_not_count() {
    let mut f = Fates::new(1);
    send(&mut f, 1, 1001, 1, 1);
    fate(&mut f, 1, 1001, false);
    fate(&mut f, 1, 1001, true);
    assert_eq!(send(&mut f, 1, 1001, 2, 2), NEEDLESS, "one of the two packets that the copy became has arrived");
    send(&mut f, 1001, 2001, 1, 3);
    send(&mut f, 2001, 3001, 1, 4);
    fate(&mut f, 1001, 2001, true);
    fate(&mut f, 1001, 2001, true);
    fate(&mut f, 2001, 3001, false);
    assert_eq!(send(&mut f, 2001, 3001, 2, 5), NEEDED, "what became of others' duplicates says nothing");
}

#[derive(Clone, Debug)]
enum Op {
    Send(u64, u64),
    Fate(bool),
    Ack,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1u64..40, 1u64..8).prop_map(|(a, n)| Op::Send(a, n)),
        3 => any::<bool>().prop_map(Op::Fate),
        1 => Just(Op::Ack),
    ]
}

/// Every transmission with its fate, byte by byte.
#[derive(Default)]
struct Naive {
    sent: Vec<(u64, u64, Option<bool>)>,
    under_way: VecDeque<usize>,
    verdicts: BTreeMap<u64, bool>,
}

impl Naive {
    fn lost_nowhere(&self, byte: u64, before: usize) -> bool {
        self.sent[..before].iter().any(|&(a, b, fate)| (a..b).contains(&byte) && fate != Some(false))
    }

    fn needless(&self, nth: usize) -> bool {
        let (a, b, _) = self.sent[nth];
        (a..b).all(|byte| self.lost_nowhere(byte, nth))
    }

    fn seen_before(&self, a: u64, b: u64) -> bool {
        self.sent.iter().any(|&(x, y, _)| x < b && a < y)
    }

    fn received_up_to(&self) -> u64 {
        (1..).find(|&b| !self.sent.iter().any(|&(x, y, f)| (x..y).contains(&b) && f == Some(true))).unwrap_or(1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn on_a_path_that_keeps_order_verdicts_equal_a_naive_recount(ops in proptest::collection::vec(op(), 1..60)) {
        let (mut f, mut n) = (Fates::new(1), Naive::default());
        let mut again = 0;
        for op in ops {
            match op {
                Op::Send(a, len) => {
                    let (a, b) = (a, a + len);
                    let token = n.sent.len() as u64;
                    let sends = if n.seen_before(a, b) { 2 } else { 1 };
                    again += usize::from(sends > 1);
                    n.sent.push((a, b, None));
                    n.under_way.push_back(token as usize);
                    if let Verdict::Known { needless } = send(&mut f, a, b, sends, token) {
                        prop_assert_eq!(n.verdicts.insert(token, needless), None);
                    }
                }
                Op::Fate(arrived) => {
                    let Some(i) = n.under_way.pop_front() else { continue };
                    n.sent[i].2 = Some(arrived);
                    for (token, needless) in fate(&mut f, n.sent[i].0, n.sent[i].1, arrived) {
                        prop_assert_eq!(n.verdicts.insert(token, needless), None);
                    }
                }
                Op::Ack => f.on_fate(0, Side::Sender, &ack(n.received_up_to(), &[]), true),
            }
        }
        f.finish();
        n.verdicts.extend(f.settled());
        prop_assert_eq!(n.verdicts.len(), again);
        for (&token, &needless) in &n.verdicts {
            prop_assert_eq!(needless, n.needless(token as usize), "transmission {}", token);
        }
    }
}
