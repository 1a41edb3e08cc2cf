//! Needless retransmissions found by timestamps, by the data that ACKs after a timeout cover, and by RTTs too short to be
//! true (RFC 3522, RFC 4015, RFC 5682, RFC 3708 §4, Linux).

use super::*;
use crate::spurious::{eifel::EifelSpec, linux::LinuxSpec, rtt_min::RttMinSpec, SpuriousSpec};
use crate::startup::{fixed::FixedSpec, StartupSpec};
use crate::timeout::frto::{Form, FrtoSpec};
use crate::timeout::TimeoutSpec;
use crate::undo::{
    eifel_response::EifelResponseSpec, restore::RestoreSpec, slow_start_back::SlowStartBackSpec, UndoSpec,
};

const RWND: u32 = 1_000_000;

/// The stack with an initial window of `cwnd` segments and a threshold of `ssthresh` segments.
fn starting(stack: Stack, cwnd: u32, ssthresh: u32) -> Sender {
    let fixed = FixedSpec { initial_window_segs: cwnd, ssthresh_segs: Some(ssthresh) };
    let mut s = Sender::new(&Stack { startup: StartupSpec::Fixed(fixed), ..stack }, MSS, u64::from(RWND));
    s.on_handshake(Nanos::from_millis(100), Time::ZERO);
    s.write(10_000_000);
    send(&mut s, ms(0));
    s
}

/// An ACK of everything before segment `n` that echoes a timestamp; returns, for each verdict, whether anything was
/// restored.
fn echo(s: &mut Sender, at: u64, n: u64, tsecr: u32, blocks: &[(u64, u64)]) -> Vec<bool> {
    let mut ack = Segment {
        ack: Offset(seg(n)),
        wnd: RWND,
        tsecr,
        opts: Segment::TIMESTAMPS,
        flags: Segment::ACK,
        ..Segment::EMPTY
    };
    blocks.iter().for_each(|b| ack.push_sack(Offset(seg(b.0)), Offset(seg(b.1))));
    let mut heard: Vec<(Time, Event)> = vec![];
    s.on_ack(ms(at), &ack, &mut heard);
    let undone = |h: &(Time, Event)| if let Event::Mistake { undone, .. } = h.1 { Some(undone) } else { None };
    heard.iter().filter_map(undone).collect()
}

/// Fires the retransmission timer at `at` and sends all segments that may be sent.
fn time_out(s: &mut Sender, at: u64) -> Vec<(u64, u64)> {
    s.on_timer(ms(at), &mut ());
    send(s, ms(at))
}

fn eifel(judge: EifelSpec) -> Stack {
    let undo = EifelResponseSpec { initial_window_segs: Some(3), ..Default::default() };
    Stack { spurious: SpuriousSpec::Eifel(judge), undo: UndoSpec::EifelResponse(undo), ..named("eifel") }
}

fn segs(w: Window) -> (f64, f64) {
    (w.cwnd / 1000.0, w.ssthresh / 1000.0)
}

#[test]
fn an_echo_older_than_the_retransmission_restores_at_most_the_flight_and_an_initial_window() {
    // Spec B3's vector: cwnd 20, FlightSize 20, ssthresh 10; then an ACK of 1, or of 10.
    for (acked, cwnd) in [(1, 20.0), (10, 13.0)] {
        let mut s = starting(eifel(EifelSpec::default()), 20, 10);
        assert_eq!(time_out(&mut s, 1000), [(seg(0), 1000)]);
        assert_eq!(segs(s.window()), (1.0, 10.0));
        assert_eq!(echo(&mut s, 1050, acked, 0, &[]), [true]);
        assert_eq!((s.phase(), segs(s.window())), (Phase::Open, (cwnd, 20.0)));
        // (8): new data, but no more than that ACK allows.
        let sent = send(&mut s, ms(1050));
        assert_eq!(sent.len() as u64, acked.min(3));
        assert!(sent.iter().all(|x| x.0 >= seg(20)), "{sent:?}");
    }
}

#[test]
fn an_echo_not_older_than_the_retransmission_is_genuine_even_if_the_clock_cannot_tell() {
    for tsecr in [1000, 1001] {
        let mut s = starting(eifel(EifelSpec::default()), 20, 10);
        time_out(&mut s, 1000);
        assert_eq!(echo(&mut s, 1050, 1, tsecr, &[]), [true; 0]);
        // Only the first ACK of new data is judged.
        assert_eq!(echo(&mut s, 1051, 2, 0, &[]), [true; 0]);
        assert_eq!(s.phase(), Phase::Loss);
    }
}

#[test]
fn when_all_is_acknowledged_only_a_receiver_known_to_report_duplicates_is_believed() {
    // RFC 3522 §3.2 (5): otherwise a window of lost ACKs looks the same.
    let run = |dsack_before: bool, dsack_now: bool| {
        let mut s = starting(eifel(EifelSpec::default()), 4, 10);
        if dsack_before {
            echo(&mut s, 100, 1, 0, &[(0, 1)]);
            send(&mut s, ms(100));
        }
        let last = s.positions().2 .0 / 1000;
        let at = s.next_timer().unwrap().0 / 1_000_000;
        time_out(&mut s, at);
        let block = [(last - 1, last)];
        echo(&mut s, at + 50, last, 0, if dsack_now { &block } else { &[] })
    };
    assert_eq!((run(false, false), run(true, false)), (vec![], vec![true]));
    assert_eq!((run(false, true), run(true, true)), (vec![], vec![]));
}

#[test]
fn the_first_retransmission_of_a_repair_is_watched_and_no_later_one() {
    // A second timeout of the same segment at 3 s: the ACK that echoes the first retransmission is genuine.
    let mut s = starting(eifel(EifelSpec::default()), 20, 10);
    time_out(&mut s, 1000);
    time_out(&mut s, 3000);
    assert_eq!(echo(&mut s, 3050, 1, 1000, &[]), [true; 0]);
    // The ACK of the original is not, although it arrived after two timeouts.
    let mut s = starting(eifel(EifelSpec::default()), 20, 10);
    time_out(&mut s, 1000);
    time_out(&mut s, 3000);
    assert_eq!(echo(&mut s, 3050, 1, 0, &[]), [true]);
    assert_eq!(segs(s.window()), (20.0, 20.0));
}

#[test]
fn a_timeout_in_the_middle_of_a_fast_recovery_is_not_watched() {
    let mut s = starting(eifel(EifelSpec::default()), 20, 10);
    (1..=3).for_each(|n| _ = echo(&mut s, 100 + n, 0, 0, &[]));
    send(&mut s, ms(103));
    assert_eq!(s.phase(), Phase::Recovery);
    let at = s.next_timer().unwrap().0 / 1_000_000;
    time_out(&mut s, at);
    assert_eq!((s.phase(), s.episodes()), (Phase::Loss, 2));
    assert_eq!(echo(&mut s, at + 50, 1, 0, &[]), [true; 0]);
}

#[test]
fn a_needless_fast_retransmit_is_judged_only_if_asked_and_gives_back_an_initial_window_over_the_flight() {
    for (asked, want) in [(false, vec![]), (true, vec![true])] {
        let mut s = starting(eifel(EifelSpec { judge_fast_retransmits: asked }), 20, 10);
        (1..=5).for_each(|n| _ = echo(&mut s, 100 + n, 0, 0, &[]));
        assert_eq!(send(&mut s, ms(105))[0], (seg(0), 1000));
        assert_eq!(echo(&mut s, 106, 6, 0, &[]), want);
        if asked {
            let flight = s.ctx(ms(106)).flight() as f64 / 1000.0;
            assert_eq!((s.phase(), segs(s.window())), (Phase::Open, (20.0f64.min(flight + 3.0), 20.0)));
        }
    }
}

#[test]
fn after_a_needless_timeout_three_duplicates_begin_a_fast_retransmit_again() {
    // RFC 4015 §4: although nothing beyond `recover` is acknowledged.
    let mut s = starting(eifel(EifelSpec::default()), 20, 10);
    time_out(&mut s, 1000);
    assert_eq!(echo(&mut s, 1050, 1, 0, &[]), [true]);
    (1..=3).for_each(|n| _ = echo(&mut s, 1050 + n, 1, 0, &[]));
    assert_eq!(s.phase(), Phase::Recovery);
    assert_eq!(send(&mut s, ms(1053))[0], (seg(1), 1000));
}

#[test]
fn after_a_needless_timeout_the_first_sample_of_new_data_makes_the_timer_slower() {
    // RFC 4015 §3.1 (11). SRTT 100 ms, RTTVAR 50 ms before; the new data takes 700 ms: SRTT 700, RTTVAR 350.
    for (adapt, timeout_ms) in [(true, 700 + 4 * 350), (false, 1000)] {
        let undo = EifelResponseSpec { adapt_timer: adapt, ..Default::default() };
        let stack = Stack { undo: UndoSpec::EifelResponse(undo), ..named("eifel") };
        let mut s = starting(stack, 20, 10);
        time_out(&mut s, 1000);
        assert_eq!(echo(&mut s, 1050, 2, 0, &[]), [true]);
        assert_eq!(send(&mut s, ms(1050)).len(), 2);
        // An ACK of the old window is not a sample of new data, so the back-off stays.
        echo(&mut s, 1100, 20, 0, &[]);
        assert_eq!(s.slots.rto.backed_off(), Nanos::from_secs(2));
        echo(&mut s, 1750, 21, 1050, &[]);
        let rto = s.slots.rto.backed_off().0 / 1_000_000;
        assert!(if adapt { rto == timeout_ms } else { (1000..1400).contains(&rto) }, "{rto} ms, {timeout_ms}");
    }
}

/// `name` with F-RTO in that form, ten segments in flight, and the timer fired at one second.
fn in_doubt(name: &str, form: Form, data: u64) -> Sender {
    let timeout = TimeoutSpec::Frto(FrtoSpec { form, ..Default::default() });
    let undo = UndoSpec::EifelResponse(EifelResponseSpec::default());
    let stack = Stack { timeout, undo, ..named(name) };
    assert_eq!(stack.validate(), Ok(()));
    let fixed = FixedSpec { initial_window_segs: 10, ssthresh_segs: Some(10) };
    let mut s = Sender::new(&Stack { startup: StartupSpec::Fixed(fixed), ..stack }, MSS, u64::from(RWND));
    s.write(data * 1000);
    send(&mut s, ms(0));
    assert_eq!(time_out(&mut s, 1000), [(seg(0), 1000)]);
    s
}

/// The segments sent after an ACK of everything before segment `n`, and the verdicts that it led to.
fn answer(s: &mut Sender, at: u64, n: u64, blocks: &[(u64, u64)]) -> (Vec<u64>, Vec<bool>) {
    let verdicts = echo(s, at, n, 0, blocks);
    (send(s, ms(at)).iter().map(|x| (x.0 - 1) / 1000).collect(), verdicts)
}

#[test]
fn two_advancing_acks_after_a_timeout_show_that_it_was_needless() {
    // RFC 5682 §2.1: step 2b sends two new segments, step 3b is the verdict.
    let mut s = in_doubt("newreno", Form::Basic, 100);
    assert_eq!(answer(&mut s, 1050, 1, &[]), (vec![10, 11], vec![]));
    let (sent, verdicts) = answer(&mut s, 1060, 2, &[]);
    assert_eq!((verdicts, s.phase(), s.board().lost()), (vec![true], Phase::Open, 0));
    assert!(sent.iter().all(|n| *n >= 12), "{sent:?}");
    // FlightSize is 10 and one segment is acknowledged; but the window is never larger than before (decision 0051).
    assert_eq!(segs(s.window()), (10.0, 10.0));
    assert_eq!(s.board().iter().filter(|x| x.sends > 1).count(), 0, "only the first was sent again");
}

#[test]
fn a_duplicate_as_the_second_ack_after_a_timeout_leads_to_repair_with_three_segments_at_most() {
    // RFC 5682 §2.1 (3a).
    let mut s = in_doubt("newreno", Form::Basic, 100);
    answer(&mut s, 1050, 1, &[]);
    assert_eq!(answer(&mut s, 1060, 1, &[]), (vec![], vec![]));
    assert_eq!((s.phase(), segs(s.window()).0), (Phase::Loss, 2.0));
    assert_eq!(answer(&mut s, 1070, 3, &[]), (vec![3], vec![]));
}

#[test]
fn a_duplicate_as_the_first_ack_after_a_timeout_decides_without_sack_but_not_with_it() {
    let mut s = in_doubt("newreno", Form::Basic, 100);
    assert_eq!(answer(&mut s, 1050, 0, &[]), (vec![], vec![]));
    assert_eq!(answer(&mut s, 1060, 1, &[]), (vec![1, 2], vec![]), "slow start over what is lost");
    let mut s = in_doubt("rfc-6675", Form::Sack, 100);
    assert_eq!(answer(&mut s, 1050, 0, &[(4, 5)]), (vec![], vec![]));
    assert_eq!(answer(&mut s, 1060, 1, &[(4, 5)]), (vec![10, 11], vec![]));
}

#[test]
fn an_ack_of_everything_or_nothing_new_to_send_leaves_the_question_open() {
    for (name, form, cwnd) in [("newreno", Form::Basic, 2.0), ("rfc-6675", Form::Sack, 2.0)] {
        let mut s = in_doubt(name, form, 100);
        let (sent, verdicts) = answer(&mut s, 1050, 10, &[]);
        assert_eq!((sent.len(), verdicts, s.phase(), segs(s.window()).0), (2, vec![], Phase::Open, cwnd), "{name}");
        let mut s = in_doubt(name, form, 10);
        assert_eq!(answer(&mut s, 1050, 1, &[]), (vec![1, 2], vec![]), "{name}");
        assert_eq!(answer(&mut s, 1060, 2, &[]).1, [true; 0], "{name}");
    }
}

#[test]
fn with_sack_a_report_of_old_data_is_the_verdict_and_one_of_new_data_alone_is_none() {
    // RFC 5682 §3.1 (3b), (3a).
    for (ack, block, needless) in [(1, (4, 5), true), (2, (9, 10), true), (1, (10, 11), false)] {
        let mut s = in_doubt("rfc-6675", Form::Sack, 100);
        assert_eq!(answer(&mut s, 1050, 1, &[]), (vec![10, 11], vec![]));
        let (sent, verdicts) = answer(&mut s, 1060, ack, &[block]);
        assert_eq!(verdicts, if needless { vec![true] } else { vec![] }, "ACK {ack} {block:?}");
        let phase = if needless { Phase::Open } else { Phase::Loss };
        assert_eq!(s.phase(), phase);
        assert!(needless || (segs(s.window()).0 <= 3.0 && sent == [1]), "{sent:?}");
    }
}

#[test]
fn linux_believes_any_report_of_an_original_even_before_new_data_went() {
    let mut s = in_doubt("rfc-6675", Form::Linux, 100);
    assert_eq!(answer(&mut s, 1050, 0, &[(4, 5)]).1, [true]);
    // But a report of the new data alone means that the loss was real.
    let mut s = in_doubt("rfc-6675", Form::Linux, 100);
    assert_eq!(answer(&mut s, 1050, 1, &[]), (vec![10, 11], vec![]));
    assert_eq!(answer(&mut s, 1060, 1, &[(10, 11)]), (vec![1], vec![]));
    assert_eq!(s.phase(), Phase::Loss);
}

#[test]
fn a_timeout_before_the_end_of_another_timeouts_repair_asks_nothing() {
    // RFC 5682 §2.1 (1): recover is above snd_una.
    for (name, form) in [("newreno", Form::Basic), ("rfc-6675", Form::Sack)] {
        let mut s = in_doubt(name, form, 100);
        answer(&mut s, 1050, 1, &[]);
        let at = s.next_timer().unwrap().0 / 1_000_000;
        assert_eq!(time_out(&mut s, at), [(seg(1), 1000)]);
        assert_eq!(answer(&mut s, at + 50, 2, &[]), (vec![2, 3], vec![]), "{name}");
    }
}

#[test]
fn a_timeout_of_a_segment_that_no_ack_has_followed_asks_again() {
    let mut s = in_doubt("rfc-6675", Form::Sack, 100);
    assert_eq!(time_out(&mut s, 3000), [(seg(0), 1000)]);
    assert_eq!(answer(&mut s, 3050, 1, &[]), (vec![10, 11], vec![]));
    assert_eq!(answer(&mut s, 3060, 2, &[]).1, [true]);
}

#[test]
fn with_sack_a_timeout_in_a_fast_recovery_asks_nothing_and_without_it_does() {
    for (name, form, sent) in [("newreno", Form::Basic, vec![10, 11]), ("rfc-6675", Form::Sack, vec![1])] {
        let timeout = TimeoutSpec::Frto(FrtoSpec { form, ..Default::default() });
        let mut s = starting(Stack { timeout, ..named(name) }, 10, 10);
        s.stream_end = Offset(seg(100));
        for n in 1..=3 {
            echo(&mut s, 100 + n, 0, 0, if form == Form::Sack { &[(7, 10)][..] } else { &[] });
        }
        s.maxburst = 1;
        s.burst_left = 1;
        assert_eq!(send(&mut s, ms(103)), [(seg(0), 1000)]);
        s.maxburst = u32::MAX;
        let at = s.next_timer().unwrap().0 / 1_000_000;
        time_out(&mut s, at);
        assert_eq!(s.phase(), Phase::Loss);
        assert_eq!(answer(&mut s, at + 50, 1, &[]).0[..1], sent[..1], "{name}");
    }
}

#[test]
fn an_ack_sooner_than_three_quarters_of_the_shortest_round_trip_shows_a_needless_timeout() {
    // The smallest RTT is 100 ms.
    for (share, at, verdicts) in [(0.75, 74, vec![true]), (0.75, 75, vec![]), (0.5, 49, vec![true]), (0.5, 50, vec![])]
    {
        let undo = SlowStartBackSpec { undo_timeouts: true, ..Default::default() };
        let judge = RttMinSpec { share, ..Default::default() };
        let stack =
            Stack { spurious: SpuriousSpec::RttMin(judge), undo: UndoSpec::SlowStartBack(undo), ..named("newreno") };
        let mut s = starting(stack, 10, 20);
        echo(&mut s, 100, 1, 0, &[]);
        send(&mut s, ms(100));
        let fired = s.next_timer().unwrap().0 / 1_000_000;
        time_out(&mut s, fired);
        assert_eq!(echo(&mut s, fired + at, 2, 0, &[]), verdicts, "{share} after {at} ms");
        assert_eq!(s.window().ssthresh == 11_000.0, !verdicts.is_empty());
    }
}

/// A SACK stack with Linux's judge and undo, a window of 20 and a threshold of 10.
fn linux(judge: LinuxSpec) -> Sender {
    let undo = UndoSpec::Restore(RestoreSpec::default());
    starting(Stack { spurious: SpuriousSpec::Linux(judge), undo, ..named("rfc-6675") }, 20, 10)
}

const DSACK_ONLY: LinuxSpec = LinuxSpec { dsack: true, timestamps: false };
const STAMPS_ONLY: LinuxSpec = LinuxSpec { dsack: false, timestamps: true };

/// Segment 0 is overtaken by `dups` others and resent at the third one.
fn overtaken(s: &mut Sender, dups: u64) {
    for n in 1..=dups {
        echo(s, 100 + n, 0, 0, &[(1, n + 1)]);
        send(s, ms(100 + n));
    }
    assert_eq!((s.phase(), s.board().get(Offset(seg(0))).unwrap().sends), (Phase::Recovery, 2));
}

#[test]
fn linux_restores_window_and_threshold_when_every_retransmission_was_reported_twice() {
    // During the recovery, and after its end.
    let mut s = linux(DSACK_ONLY);
    overtaken(&mut s, 6);
    assert_eq!(echo(&mut s, 120, 7, 0, &[(0, 1)]), [true]);
    // 3/4 of the window of 20 is more than the old threshold of 10.
    assert_eq!((s.phase(), segs(s.window())), (Phase::Open, (20.0, 15.0)));
    let mut s = linux(DSACK_ONLY);
    overtaken(&mut s, 6);
    let all = (s.positions().2 .0 - 1) / 1000;
    assert_eq!(echo(&mut s, 150, all, 0, &[]), [true; 0]);
    assert_eq!((s.phase(), segs(s.window())), (Phase::Open, (10.0, 10.0)));
    assert_eq!(echo(&mut s, 160, all, 0, &[(0, 1)]), [true]);
    assert_eq!(segs(s.window()), (20.0, 15.0));
    assert_eq!(echo(&mut s, 161, all, 0, &[(0, 1)]), [true; 0]);
}

#[test]
fn linux_believes_an_old_timestamp_on_the_full_ack_and_on_a_partial_one_when_nothing_resent_is_out() {
    for full in [true, false] {
        let mut s = linux(STAMPS_ONLY);
        overtaken(&mut s, 6);
        let n = if full { s.recover.unwrap().0 / 1000 } else { 7 };
        assert_eq!(echo(&mut s, 120, n, 50, &[]), [true], "full: {full}");
        assert_eq!((s.phase(), segs(s.window())), (Phase::Open, (20.0, 15.0)));
    }
    // An echo of the retransmission or of a later segment proves nothing.
    let mut s = linux(STAMPS_ONLY);
    overtaken(&mut s, 6);
    assert_eq!(echo(&mut s, 120, 7, 103, &[]), [true; 0]);
    // Segments 0 and 2 resent, and only 0 acknowledged.
    let mut s = linux(STAMPS_ONLY);
    for n in 3..=12 {
        echo(&mut s, 100 + n, 0, 0, &[(3, n + 1), (1, 2)]);
        send(&mut s, ms(100 + n));
    }
    assert_eq!(s.board().get(Offset(seg(2))).unwrap().sends, 2);
    assert_eq!(echo(&mut s, 120, 2, 50, &[(3, 13)]), [true; 0]);
    assert_eq!(echo(&mut s, 121, 13, 50, &[]), [true]);
}

#[test]
fn linux_takes_a_timeout_back_by_an_old_timestamp_on_new_data_only() {
    let mut s = linux(STAMPS_ONLY);
    time_out(&mut s, 1000);
    assert_eq!(echo(&mut s, 1050, 0, 0, &[(4, 5)]), [true; 0]);
    assert_eq!(echo(&mut s, 1051, 1, 0, &[(4, 5)]), [true]);
    assert_eq!((s.phase(), s.board().lost(), segs(s.window())), (Phase::Open, 0, (20.0, 15.0)));
}

#[test]
fn linux_restores_the_state_before_the_recovery_that_a_timeout_interrupted() {
    let mut s = linux(DSACK_ONLY);
    overtaken(&mut s, 6);
    let at = s.next_timer().unwrap().0 / 1_000_000;
    time_out(&mut s, at);
    assert_eq!((s.phase(), s.episodes()), (Phase::Loss, 2));
    // Both copies of segment 0 must be reported.
    assert_eq!(echo(&mut s, at + 50, 1, 0, &[(0, 1)]), [true; 0]);
    assert_eq!(echo(&mut s, at + 51, 8, 0, &[(0, 1)]), [true]);
    assert_eq!((s.phase(), segs(s.window())), (Phase::Open, (20.0, 15.0)));
}

#[test]
fn what_is_sacked_when_a_timeout_is_found_needless_does_not_add_to_the_burst() {
    let mut s = Sender::new(&opened(named("frto"), 20), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    s.on_timer(ms(1000), &mut ());
    assert_eq!(send(&mut s, ms(1000)), [(seg(0), 1000)]);
    ack(&mut s, ms(1100), seg(1), 1_000_000, &[]);
    assert_eq!(send(&mut s, ms(1100)).len(), 2, "F-RTO's new segments");
    // Segment 1 was overtaken by the rest, whose first reports were lost: one ACK SACKs 18 segments.
    ack(&mut s, ms(1101), seg(1), 1_000_000, &[(seg(2), seg(20))]);
    assert_eq!((s.phase(), s.board().pipe()), (Phase::Open, 3000));
    // RFC 3390's initial window of 1000-byte segments, not the 17 that were SACKed and leave room in the old window.
    assert_eq!(send(&mut s, ms(1101)).len(), 4);
}

#[test]
fn an_ack_of_a_part_of_what_the_timeout_resent_leads_to_repair() {
    // RFC 5682 §2.1 (2a).
    let mut s = in_doubt("newreno", Form::Basic, 100);
    ack(&mut s, ms(1050), seg(0) + 500, RWND, &[]);
    assert_eq!(send(&mut s, ms(1050)), [(seg(1), 1000)], "what is lost, and no new data");
    assert_eq!(s.phase(), Phase::Loss);
}
