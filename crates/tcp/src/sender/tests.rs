//! The sequencer with its parts: persist, limited transmit, cuts, DSACK, and the traces of the RFCs.

mod answers;
mod bbr;
mod ecn;
mod fack;
mod invariants;
mod late;
mod late_sack;
mod linux;
mod mistakes;
mod ncr;
mod needless;
mod no_sack;
mod pacing;
mod prr;
mod quic;
mod rack_tlp;
mod rate_halving;
mod rr_tcp;
mod seams;
mod tcp_pr;

use super::*;
use crate::congestion::CongestionSpec;
use crate::congestion::CutFrom;
use crate::event::Event;
use crate::facts::episode::Ledger;
use crate::stack::Stack;
use crate::testing::{ms, named};
use crate::time::Nanos;

const MSS: u32 = 1000;

/// The segments sent now, as (start, sequence space).
fn send(s: &mut Sender, now: Time) -> Vec<(u64, u64)> {
    let (mut out, mut sent) = (Segment::EMPTY, Vec::new());
    while s.poll_transmit(now, &mut out, &mut ()) {
        sent.push((out.seq.0, out.seq_len()));
        assert!(sent.len() < 10_000, "never stops sending");
    }
    sent
}

fn ack(s: &mut Sender, now: Time, ack: u64, wnd: u32, blocks: &[(u64, u64)]) {
    let mut seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd, flags: Segment::ACK, ..Segment::EMPTY };
    blocks.iter().for_each(|b| seg.push_sack(Offset(b.0), Offset(b.1)));
    s.on_ack(now, &seg, &mut ());
}

#[test]
fn the_short_way_to_read_an_ack_has_the_results_of_the_long_one() {
    let sender = || {
        let mut s = Sender::new(&named("linux-2025"), MSS, 20_000);
        s.write(50_000);
        send(&mut s, ms(0));
        s
    };
    let (mut short, mut long) = (sender(), sender());
    // The ACK, its window, and whether it covers whole segments.
    for (at, ack, wnd, whole) in [(100, 2001, 20_000, true), (130, 3001, 15_000, true), (140, 3501, 20_000, false)] {
        let (ack, flags, opts) = (Offset(ack), Segment::ACK, Segment::TIMESTAMPS);
        let seg = Segment { seq: Offset::DATA, ack, wnd, flags, opts, tsecr: 7, ..Segment::EMPTY };
        let plain = short.take_plain(&seg).map(|sent| short.read_plain(ms(at), &seg, sent));
        assert_eq!(plain.is_some(), whole);
        assert_eq!(plain.unwrap_or_else(|| short.read_ack(ms(at), &seg)), long.read_ack(ms(at), &seg));
        let facts = |s: &Sender| (s.positions(), s.edge, s.peer.wnd, s.min_rtt, s.board.pipe(), s.board.len());
        assert_eq!(facts(&short), facts(&long));
    }
}

#[test]
fn every_probe_goes_out_even_when_one_input_may_release_one_segment() {
    let mut stack = named("reno");
    stack.limits.maxburst_segs = Some(1);
    let mut s = Sender::new(&stack, MSS, 0);
    s.write(5000);
    assert_eq!(send(&mut s, ms(0)), []);
    for want in [1000, 3000, 7000, 15_000] {
        assert_eq!(s.next_timer(), Some(ms(want)));
        s.on_timer(ms(want), &mut ());
        assert_eq!(send(&mut s, ms(want)), [(1, 1)], "probe at {want} ms");
    }
}

#[test]
fn when_silly_window_avoidance_has_waited_long_enough_all_that_the_window_allows_is_sent() {
    let mut s = Sender::new(&named("reno"), MSS, 4000);
    s.write(10_000);
    assert_eq!(send(&mut s, ms(0)), [(1, 1000)]);
    // 300 bytes of window: less than a segment and less than half of the largest window seen.
    ack(&mut s, ms(100), 1001, 300, &[]);
    assert_eq!(send(&mut s, ms(100)), []);
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    assert_eq!(send(&mut s, at), [(1001, 300)]);
    // Nothing is beyond the window, so this is not a probe, and its loss is a loss.
    assert!(!s.persist.is_running() && s.timers.rto.is_some());
}

/// The stack with an initial window of `n` segments.
fn opened(mut stack: Stack, n: u32) -> Stack {
    let spec = crate::startup::fixed::FixedSpec { initial_window_segs: n, ssthresh_segs: None };
    stack.startup = crate::startup::StartupSpec::Fixed(spec);
    stack
}

/// The start of segment `n`.
fn seg(n: u64) -> u64 {
    1 + n * u64::from(MSS)
}

#[test]
fn no_rescue_goes_before_an_ack_beyond_the_first_retransmission() {
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 100_000);
    s.write(10_000);
    assert_eq!(send(&mut s, ms(0)).len(), 10);
    let mut sent = vec![];
    for n in 1..9 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[(seg(1), seg(n + 1))]);
        sent.extend(send(&mut s, ms(100 + n)));
    }
    assert_eq!(sent, [(seg(0), 1000)], "the last segment is still on its way");
    // Segment 9 was lost, too: the ACK of the retransmission releases the rescue, once.
    ack(&mut s, ms(200), seg(9), 100_000, &[]);
    assert_eq!(send(&mut s, ms(200)), [(seg(9), 1000)]);
}

#[test]
fn the_rescue_waits_for_more_than_the_first_retransmission_and_goes_once_in_a_recovery() {
    // RFC 6675 §4, NextSeg (4): HighACK > RescueRxt, "a single rescue retransmission per entry into loss recovery".
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 100_000);
    s.write(10_000);
    send(&mut s, ms(0));
    // 0, 1 and 9 are lost.
    let mut sent = vec![];
    for n in 2..9 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[(seg(2), seg(n + 1))]);
        sent.extend(send(&mut s, ms(100 + n)));
    }
    assert_eq!(sent, [(seg(0), 1000), (seg(1), 1000)]);
    ack(&mut s, ms(200), seg(1), 100_000, &[(seg(2), seg(9))]);
    assert_eq!(send(&mut s, ms(200)), [], "the first retransmission has arrived, and no more");
    ack(&mut s, ms(201), seg(9), 100_000, &[]);
    assert_eq!(send(&mut s, ms(201)), [(seg(9), 1000)]);
    // New data is now at the end; it is no reason for another rescue.
    s.write(1000);
    assert_eq!(send(&mut s, ms(202)), [(seg(10), 1000)]);
    assert_eq!((s.phase(), send(&mut s, ms(203))), (Phase::Recovery, vec![]));
}

#[test]
fn a_partial_ack_of_less_than_a_segment_deflates_by_what_it_acknowledges_and_adds_nothing_back() {
    let mut s = Sender::new(&opened(named("newreno"), 10), MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    for n in 0..3 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[]);
    }
    assert_eq!((s.phase(), s.slots.recovery.inflation()), (Phase::Recovery, 3000.0));
    ack(&mut s, ms(200), seg(0) + 400, 100_000, &[]);
    assert_eq!(s.slots.recovery.inflation(), 2600.0);
    ack(&mut s, ms(201), seg(1) + 400, 100_000, &[]);
    assert_eq!(s.slots.recovery.inflation(), 2600.0);
}

/// One line of RFC 9937 §8's figure 1: after an ACK, pipe and window in segments, and the segments sent: `N` new data, `R` a
/// retransmission, `-` nothing.
fn trace_of(stack: Stack, lost: std::ops::Range<u64>) -> (Vec<u64>, Vec<u64>, Vec<String>) {
    let mut s = Sender::new(&opened(stack, 20), MSS, 1_000_000);
    s.write(1_000_000);
    assert_eq!(send(&mut s, ms(0)).len(), 20);
    let (mut pipe, mut cwnd, mut sends) = (vec![], vec![], vec![]);
    let mut arrived: Vec<u64> = (0..20).filter(|n| !lost.contains(n)).collect();
    let mut new_sent = 20;
    let mut at = 0;
    while at < arrived.len() && sends.len() < 21 {
        let newest = arrived[at];
        at += 1;
        ack(&mut s, ms(100 + at as u64), seg(0), 1_000_000, &[(seg(lost.end), seg(newest + 1))]);
        pipe.push(s.board().pipe() / 1000);
        cwnd.push((s.window().cwnd / 1000.0) as u64);
        let mut letters = String::new();
        for (start, _) in send(&mut s, ms(100 + at as u64)) {
            if start == seg(new_sent) {
                arrived.push(new_sent);
                new_sent += 1;
                letters.push('N');
            } else {
                letters.push('R');
            }
        }
        sends.push(if letters.is_empty() { "-".into() } else { letters });
    }
    (pipe, cwnd, sends)
}

#[test]
fn rfc_6675_repairs_one_loss_as_figure_1_of_rfc_9937_shows() {
    let (pipe, cwnd, sends) = trace_of(named("rfc-6675"), 0..1);
    assert_eq!(pipe, [19, 19, 18, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
    assert_eq!(cwnd[..3], [20, 20, 10]);
    assert!(cwnd[3..].iter().all(|c| *c == 10), "{cwnd:?}");
    assert_eq!(sends.concat(), "NNR---------NNNNNNNNN");
}

#[test]
fn rfc_6675_repairs_fifteen_losses_as_figure_1_of_rfc_9937_shows() {
    let (pipe, cwnd, sends) = trace_of(named("rfc-6675"), 0..15);
    assert_eq!(pipe[..5], [19, 19, 4, 9, 9]);
    assert_eq!(cwnd[..5], [20, 20, 10, 10, 10]);
    assert_eq!(sends[..5], ["N", "N", "RRRRRR", "R", "R"]);
}

#[test]
fn limited_transmit_sends_one_new_segment_on_each_of_the_first_two_duplicates() {
    // RFC 3042 §2: duplicates counted without a verdict, so a threshold of 6.
    let mut stack = opened(named("rfc-6675"), 10);
    stack.detect = crate::detect::DetectSpec::DupAck(crate::detect::dup_ack::DupAckSpec {
        threshold: crate::detect::threshold::ThresholdSpec::Fixed(crate::detect::threshold::fixed::FixedSpec {
            segments: 6,
        }),
        ..Default::default()
    });
    for (data, rwnd, want) in [(100, 100, "11000"), (100, 11, "10000"), (11, 100, "10000"), (10, 100, "00000")] {
        let mut s = Sender::new(&stack, MSS, rwnd * 1000);
        s.write(data * 1000);
        assert_eq!(send(&mut s, ms(0)).len(), 10);
        let sent: String = (1..=5)
            .map(|n| {
                ack(&mut s, ms(100 + n), seg(0), rwnd as u32 * 1000, &[(seg(1), seg(n + 1))]);
                send(&mut s, ms(100 + n)).len().to_string()
            })
            .collect();
        assert_eq!(sent, want, "{data} segments of data, window of {rwnd}");
        assert_eq!(s.window().cwnd, 10_000.0, "the window stays as it is");
    }
}

#[test]
fn a_duplicate_without_new_sack_information_releases_nothing() {
    // RFC 3042 §2: with SACK, only if the duplicate has new SACK information.
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    let old = [(seg(1), seg(2))];
    ack(&mut s, ms(100), seg(0), 100_000, &old);
    assert_eq!(send(&mut s, ms(100)).len(), 1);
    for n in 1..9 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &old);
        assert_eq!(send(&mut s, ms(100 + n)), [], "repetition {n}");
    }
    assert_eq!(s.phase(), Phase::Disorder);
}

#[test]
fn what_limited_transmit_sent_does_not_count_when_the_flight_is_halved() {
    // RFC 5681 §3.2 (2): FlightSize is 12 segments, of which two were sent beyond the window.
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    for n in 1..=3 {
        ack(&mut s, ms(100 + n), seg(0), 100_000, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    assert_eq!((s.phase(), s.window()), (Phase::Recovery, Window { cwnd: 5000.0, ssthresh: 5000.0 }));
}

#[test]
fn a_window_of_15_is_cut_to_ssthresh_7_and_cwnd_7_and_a_half() {
    // ns-2: the window is halved, ssthresh in whole segments, never below two.
    for (window, rwnd, ssthresh, cwnd) in
        [(15, 100, 7.0, 7.5), (14, 100, 7.0, 7.0), (30, 9, 4.0, 4.5), (3, 100, 2.0, 1.5)]
    {
        let mut stack = opened(named("reno"), window);
        stack.congestion = crate::congestion::CongestionSpec::Aimd(crate::congestion::aimd::AimdSpec {
            cut_from: crate::congestion::CutFrom::Window,
            ..Default::default()
        });
        let mut s = Sender::new(&stack, MSS, rwnd * 1000);
        s.write(100_000);
        send(&mut s, ms(0));
        (0..3).for_each(|n| ack(&mut s, ms(100 + n), seg(0), rwnd as u32 * 1000, &[]));
        let want = Window { cwnd: cwnd * 1000.0, ssthresh: ssthresh * 1000.0 };
        assert_eq!((s.phase(), s.window()), (Phase::Recovery, want), "window {window}, peer's {rwnd}");
    }
}

#[test]
fn a_timeout_leaves_a_window_of_one_segment_and_cuts_what_was_outstanding_once() {
    for name in Stack::names().filter(|n| !named(n).build(MSS).detect.owns_rto()) {
        let mut stack = named(name);
        // Linux's probe replaces the first timeout.
        if let crate::detect::DetectSpec::RackTlp(rack) = &mut stack.detect {
            rack.tlp = false;
        }
        let (cut, as_ns2) = match &stack.congestion {
            CongestionSpec::Aimd(a) if a.cut_from == CutFrom::Window => (7000.0, true),
            CongestionSpec::Net2(_) => (7000.0, true),
            CongestionSpec::Cubic(_) => (10_500.0, false),
            CongestionSpec::Cubic2008(_) | CongestionSpec::LinuxCubic(_) => (10_000.0, false),
            CongestionSpec::LinuxReno => (7000.0, false),
            // It leaves the threshold as it is, at the peer's window.
            CongestionSpec::Bbr(_) => (100_000.0, false),
            CongestionSpec::NetstackReno => (7000.0, true),
            CongestionSpec::Aimd(_)
            | CongestionSpec::Vegas(_)
            | CongestionSpec::TcpPr
            | CongestionSpec::Quic(_)
            | CongestionSpec::Custom(_) => (7500.0, false),
        };
        let mut s = Sender::new(&opened(stack.clone(), 15), MSS, 100_000);
        s.write(100_000);
        send(&mut s, ms(0));
        use crate::rto::RtoSpec;
        // The first timeout is a second, in Net/2 twelve ticks of half a second. Linux's timer wheel has steps of 32 ms for
        // these timers, and of 256 ms for timers of more than two seconds.
        let (first, all) = match stack.rto {
            RtoSpec::Net2Ticks(_) => (6000, [6000, 18_000, 42_000]),
            RtoSpec::Linux(_) => (1024, [1024, 3040, 7168]),
            RtoSpec::Rfc6298(_) | RtoSpec::Quic(_) | RtoSpec::Custom(_) => (1000, [1000, 3000, 7000]),
        };
        for at in all {
            s.on_timer(ms(at), &mut ());
            assert_eq!(send(&mut s, ms(at)), [(seg(0), 1000)], "{name} at {at} ms");
            let ssthresh = if at == first || !as_ns2 { cut } else { 2000.0 };
            assert_eq!(s.window(), Window { cwnd: 1000.0, ssthresh }, "{name} at {at} ms");
        }
    }
}

/// The DSACK and the SACKed bytes that a sender of ten segments (two acknowledged before) reads.
fn read(ack: u64, blocks: &[(u64, u64)]) -> (Option<(u64, u64)>, u64) {
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 100_000);
    s.write(100_000);
    send(&mut s, ms(0));
    s.read_ack(ms(50), &Segment { ack: Offset(seg(2)), wnd: 60_000, flags: Segment::ACK, ..Segment::EMPTY });
    let mut segm = Segment { ack: Offset(ack), wnd: 60_000, flags: Segment::ACK, ..Segment::EMPTY };
    blocks.iter().for_each(|b| segm.push_sack(Offset(b.0), Offset(b.1)));
    let e = s.read_ack(ms(100), &segm);
    (e.dsack.map(|d| (d.0 .0, d.1 .0)), e.sacked)
}

#[test]
fn the_first_block_is_a_dsack_if_it_lies_below_the_ack_of_its_segment_or_inside_the_second() {
    // RFC 2883 §4 and §5.
    let below = Some((seg(1), seg(2)));
    let inside = Some((seg(4), seg(5)));
    let check = |ack, blocks: &[(u64, u64)], dsack, sacked| {
        assert_eq!(read(ack, blocks), (dsack, sacked), "ACK {ack} with {blocks:?}");
    };
    check(seg(2), &[(seg(1), seg(2))], below, 0);
    check(seg(2), &[(seg(1), seg(2)), (seg(4), seg(5))], below, 1000);
    // Below the ACK of this segment, but above the previous ACK.
    check(seg(5), &[(seg(3), seg(4))], Some((seg(3), seg(4))), 0);
    check(seg(2), &[(seg(4), seg(5)), (seg(4), seg(7))], inside, 3000);
    check(seg(2), &[(seg(4), seg(5)), (seg(6), seg(7))], None, 2000);
    // It reaches beyond the ACK: not a DSACK, and the part above counts.
    check(seg(3), &[(seg(2), seg(5))], None, 2000);
    // Only the first block can be a DSACK.
    check(seg(3), &[(seg(4), seg(5)), (seg(1), seg(2))], None, 1000);
    check(seg(2), &[(seg(4), seg(4)), (seg(4), seg(5))], None, 1000);
}

#[test]
fn the_last_segment_counts_as_sacked_when_its_data_is_whether_the_block_covers_the_fin_or_not() {
    for name in ["sack-ff96", "rfc-6675"] {
        for fin in [0, 1] {
            let mut s = Sender::new(&opened(named(name), 4), MSS, 100_000);
            s.write(4000);
            s.close();
            assert_eq!(send(&mut s, ms(0)).last(), Some(&(seg(3), 1001)));
            for (n, end) in [seg(2), seg(3), seg(4) + fin].into_iter().enumerate() {
                ack(&mut s, ms(100 + n as u64), seg(0), 100_000, &[(seg(1), end)]);
            }
            assert_eq!((s.phase(), s.board().sacked()), (Phase::Recovery, 3001), "{name}");
            assert_eq!(send(&mut s, ms(110))[0], (seg(0), 1000));
        }
    }
}

#[test]
fn limited_transmit_ends_with_the_run_of_duplicates_and_only_what_it_sent_is_left_out_of_the_flight() {
    // RFC 3042 §2: on duplicates only. RFC 5681 §3.2 (2).
    let mut s = Sender::new(&opened(named("rfc-6675"), 10), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=2 {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(4), seg(4 + n))]);
        assert_eq!(send(&mut s, ms(100 + n)).len(), 1);
    }
    // The hole at segment 3 stays while the ACK advances: the window slides, and nothing is sent beyond it.
    for n in 1..=3 {
        ack(&mut s, ms(110 + n), seg(n), 1_000_000, &[(seg(4), seg(6))]);
        send(&mut s, ms(110 + n));
        let (una, _, max) = s.positions();
        assert_eq!((s.phase(), max - una), (Phase::Disorder, s.window().cwnd as u64));
    }
    ack(&mut s, ms(120), seg(3), 1_000_000, &[(seg(4), seg(7))]);
    assert_eq!((s.phase(), s.window().ssthresh), (Phase::Recovery, 6500.0));
}
