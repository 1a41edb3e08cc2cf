//! ACK division (Savage, Cardwell, Wetherall & Anderson 1999): one segment, many ACKs.

use crate::talk::Talk;
use crate::{every_stack_survives, MSS};
use ackclock_tcp::congestion::aimd::AimdSpec;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::fixed::FixedSpec;
use ackclock_tcp::startup::StartupSpec;
use ackclock_tcp::time::Time;

#[test]
fn an_ack_for_every_hundred_bytes_does_no_harm_but_to_the_window() {
    every_stack_survives(|peer, seg| {
        let from = peer.next;
        let doubled = peer.take(seg);
        let parts = (peer.next - from).div_ceil(100).saturating_sub(1);
        let mut acks: Vec<_> = (1..=parts.min(9)).map(|n| peer.ack_of(from + 100 * n)).collect();
        acks.push(peer.truth(doubled));
        acks
    });
}

#[test]
fn an_ack_that_ends_in_mid_segment_does_no_harm() {
    // The rest of the segment is held; later ACKs and blocks begin inside it.
    every_stack_survives(|peer, seg| {
        let from = peer.next;
        _ = peer.take(seg);
        let to = from + peer.rng.below(peer.next - from + 1);
        let (mut part, truth) = (peer.ack_of(to), peer.truth(None));
        truth.sack_blocks().for_each(|b| part.push_sack(b.0, b.1));
        if peer.rng.below(2) == 0 {
            vec![part]
        } else {
            vec![part, truth]
        }
    });
}

/// The window's growth, in segments, on the ACKs of ten segments, each acknowledged in `pieces`
/// pieces.
fn growth(congestion: &CongestionSpec, slow_start: bool, pieces: u64) -> f64 {
    let fixed = FixedSpec { initial_window_segs: 10, ssthresh_segs: (!slow_start).then_some(10) };
    let (congestion, startup) = (congestion.clone(), StartupSpec::Fixed(fixed));
    let stack = Stack { congestion, startup, ..Stack::named("rfc-6675").expect("listed") };
    let mut talk = Talk::with_window(&stack, 100_000, 1);
    let before = talk.c.sender().expect("a sender").window().cwnd;
    talk.speak();
    for n in 1..=10 * pieces {
        // An RTT of 100 ms, with one ACK after another.
        talk.now = Time(100_000_000 + 100_000 * n);
        let ack = talk.peer.ack_of(1 + n * u64::from(MSS) / pieces);
        talk.on_ack(&ack);
    }
    (talk.c.sender().expect("a sender").window().cwnd - before) / f64::from(MSS)
}

#[test]
fn ack_division_opens_a_window_that_counts_acks_and_not_one_that_counts_bytes() {
    let aimd = |abc_limit_segs| CongestionSpec::Aimd(AimdSpec { abc_limit_segs, ..AimdSpec::default() });
    let rules = [
        ("aimd", aimd(None)),
        ("aimd, L = 1", aimd(Some(1))),
        ("aimd, L = 2", aimd(Some(2))),
        ("net2", CongestionSpec::Net2(Default::default())),
        ("cubic", CongestionSpec::Cubic(Default::default())),
        ("cubic-2008", CongestionSpec::Cubic2008(Default::default())),
        ("linux-reno", CongestionSpec::LinuxReno),
        ("linux-cubic", CongestionSpec::LinuxCubic(Default::default())),
        ("vegas", CongestionSpec::Vegas(Default::default())),
        ("tcp-pr", CongestionSpec::TcpPr),
        ("quic", CongestionSpec::Quic(Default::default())),
    ];
    let mut got = vec![];
    for (name, rule) in rules {
        let round = |x: f64| (x * 100.0).round() / 100.0;
        let each = [(true, 1), (true, 10), (false, 1), (false, 10)].map(|(s, n)| round(growth(&rule, s, n)));
        println!("{name:25} {each:?}");
        got.push((name, each));
    }
    // Ten segments in ten ACKs and in a hundred; in slow start, and in congestion avoidance.
    let want = [
        // Only the peer's window of a hundred segments limits it.
        ("aimd", [10.0, 90.1, 0.96, 7.34]),
        ("aimd, L = 1", [10.0, 10.0, 1.0, 1.0]),
        ("aimd, L = 2", [10.0, 10.0, 1.0, 1.0]),
        // Its own largest window limits it.
        ("net2", [10.0, 55.54, 2.89, 18.65]),
        // Grows by time in congestion avoidance.
        ("cubic", [10.0, 90.0, 0.92, 0.95]),
        ("cubic-2008", [10.0, 90.0, 0.0, 0.0]),
        // Whole segments, by delivered data: no more for many ACKs than for few.
        ("linux-reno", [10.0, 10.0, 1.0, 1.0]),
        ("linux-cubic", [10.0, 10.0, 0.0, 0.0]),
        // Grows once per round trip (or two) in both phases.
        ("vegas", [1.0, 1.0, 2.0, 2.0]),
        ("tcp-pr", [10.0, 10.0, 0.96, 0.96]),
        ("quic", [10.0, 10.0, 0.96, 0.95]),
    ];
    assert_eq!(got, want);
}
