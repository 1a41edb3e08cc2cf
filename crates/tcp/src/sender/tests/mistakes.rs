//! Needless retransmissions found by DSACK: the state that is restored, and how the detectors adapt (Blanton & Allman 2002).

use super::*;
use crate::detect::delayed::DelayTarget;
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::threshold::{fixed::FixedSpec, ThresholdSpec};
use crate::detect::DetectSpec;
use crate::disorder::{extended::ExtendedSpec, DisorderSpec};
use crate::facts::episode::Episode;
use crate::spurious::{dsack::DsackSpec, SpuriousSpec};
use crate::undo::{slow_start_back::SlowStartBackSpec, UndoSpec};

const RWND: u32 = 1_000_000;
const RESENT: (u64, u64) = (1, 1001);
/// No verdict.
const NONE: [bool; 0] = [];

/// Processes an ACK and returns the sender's events.
fn hear(s: &mut Sender, now: Time, ack: u64, blocks: &[(u64, u64)]) -> Vec<(Time, Event)> {
    let mut seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd: RWND, flags: Segment::ACK, ..Segment::EMPTY };
    blocks.iter().for_each(|b| seg.push_sack(Offset(b.0), Offset(b.1)));
    let mut heard = vec![];
    s.on_ack(now, &seg, &mut heard);
    heard
}

/// For each verdict in `heard`, whether the undo slot restored anything.
fn verdicts(heard: &[(Time, Event)]) -> Vec<bool> {
    let undone = |h: &(Time, Event)| if let Event::Mistake { undone, .. } = h.1 { Some(undone) } else { None };
    heard.iter().filter_map(undone).collect()
}

fn sender(stack: Stack, segs: u32) -> Sender {
    let mut s = Sender::new(&opened(stack, segs), MSS, u64::from(RWND));
    s.on_handshake(Nanos::from_millis(48), Time::ZERO);
    s.write(10_000_000);
    send(&mut s, ms(0));
    s
}

/// Lets the detector's timer fire before `at`.
fn wait(s: &mut Sender, at: Time) {
    while let Some(t) = s.slots.detect.deadline().filter(|t| *t < at) {
        s.on_timer(t, &mut ());
        assert!(s.next_timer().is_none_or(|next| next > t), "a timer stands still");
        send(s, t);
    }
}

/// The segment at `snd_una` is overtaken by `dups` others, one per millisecond from `at + 1` on, and arrives at `filled`.
fn overtaken_until(s: &mut Sender, at: u64, dups: u64, filled: u64) {
    let una = s.positions().0 .0;
    let end = |n: u64| una + n * u64::from(MSS);
    for n in 1..=dups {
        wait(s, ms(at + n));
        ack(s, ms(at + n), una, RWND, &[(end(1), end(n + 1))]);
        send(s, ms(at + n));
    }
    wait(s, ms(filled));
    ack(s, ms(filled), end(dups + 1), RWND, &[]);
    send(s, ms(filled));
}

/// The same, with the arrival one millisecond after the last of them.
fn overtaken(s: &mut Sender, at: u64, dups: u64) {
    overtaken_until(s, at, dups, at + dups + 1);
}

/// Everything sent is acknowledged.
fn acknowledged(s: &mut Sender, at: Time) {
    let max = s.positions().2 .0;
    ack(s, at, max, RWND, &[]);
    send(s, at);
}

/// One needless fast retransmit of segment 0 in a window of 40, with everything acknowledged at 150 ms.
fn mistaken(stack: Stack) -> Sender {
    let mut s = sender(stack, 40);
    overtaken(&mut s, 100, 10);
    assert_eq!((s.phase(), s.episodes()), (Phase::Recovery, 1));
    let recover = s.recover.unwrap().0;
    ack(&mut s, ms(150), recover, RWND, &[]);
    assert_eq!((s.phase(), s.window()), (Phase::Open, Window { cwnd: 20_000.0, ssthresh: 20_000.0 }));
    send(&mut s, ms(150));
    s
}

/// Two smoothed round trips after the end of that episode.
fn last_moment(s: &Sender) -> Time {
    ms(150) + s.ctx(ms(150)).srtt.unwrap().times(2)
}

fn with(name: &str, spurious: DsackSpec, undo: SlowStartBackSpec) -> Stack {
    Stack { spurious: SpuriousSpec::Dsack(spurious), undo: UndoSpec::SlowStartBack(undo), ..named(name) }
}

#[test]
fn a_dsack_after_a_needless_fast_retransmit_of_a_window_of_40_leads_back_to_40_by_slow_start() {
    let mut s = mistaken(named("dsack"));
    let una = s.positions().0 .0;
    let heard = hear(&mut s, ms(190), una, &[RESENT]);
    assert_eq!(verdicts(&heard), [true]);
    assert_eq!(s.window(), Window { cwnd: 20_000.0, ssthresh: 40_000.0 });
    assert_eq!(send(&mut s, ms(190)), [], "no burst");
    for n in 1..=20 {
        ack(&mut s, ms(200 + n), una + n * u64::from(MSS), RWND, &[]);
        assert_eq!(s.window().cwnd, 20_000.0 + n as f64 * 1000.0);
        assert_eq!(send(&mut s, ms(200 + n)).len(), 2, "two for each ACK");
    }
    ack(&mut s, ms(221), una + 21_000, RWND, &[]);
    assert_eq!(s.window().cwnd, 40_025.0, "congestion avoidance again");
    // The same report again says nothing new.
    assert_eq!(verdicts(&hear(&mut s, ms(222), una + 21_000, &[RESENT])), NONE);
}

#[test]
fn with_restore_cwnd_the_window_itself_comes_back_at_once() {
    let undo = SlowStartBackSpec { restore_cwnd: true, ..Default::default() };
    let mut s = mistaken(with("dsack", DsackSpec::default(), undo));
    let una = s.positions().0 .0;
    assert_eq!(verdicts(&hear(&mut s, ms(190), una, &[RESENT])), [true]);
    assert_eq!(s.window(), Window { cwnd: 40_000.0, ssthresh: 40_000.0 });
}

#[test]
fn a_dsack_before_the_end_of_the_episode_is_noted_and_the_end_undoes() {
    let mut s = sender(named("dsack"), 40);
    overtaken(&mut s, 100, 10);
    let (una, recover) = (s.positions().0 .0, s.recover.unwrap().0);
    assert_eq!(verdicts(&hear(&mut s, ms(120), una, &[RESENT])), NONE);
    assert_eq!((s.phase(), s.window().ssthresh), (Phase::Recovery, 20_000.0));
    assert_eq!(verdicts(&hear(&mut s, ms(150), recover, &[])), [true]);
    assert_eq!((s.phase(), s.window()), (Phase::Open, Window { cwnd: 20_000.0, ssthresh: 40_000.0 }));
    // Also on the ACK that ends it.
    let mut s = sender(named("dsack"), 40);
    overtaken(&mut s, 100, 10);
    assert_eq!(verdicts(&hear(&mut s, ms(150), recover, &[RESENT])), [true]);
    assert_eq!(s.window(), Window { cwnd: 20_000.0, ssthresh: 40_000.0 });
}

#[test]
fn a_dsack_gives_back_until_two_smoothed_round_trips_after_the_end_and_not_a_nanosecond_later() {
    for (late, undone) in [(0, true), (1, false)] {
        let mut s = mistaken(named("dsack-inc"));
        let (una, at) = (s.positions().0 .0, last_moment(&s) + Nanos(late));
        let before = s.window();
        assert_eq!(verdicts(&hear(&mut s, at, una, &[RESENT])), [undone]);
        assert_eq!(s.window().ssthresh, if undone { 40_000.0 } else { before.ssthresh });
        // Its reordering sample counts either way: three duplicates no longer trigger anything.
        overtaken(&mut s, 300, 3);
        assert_eq!(s.episodes(), 1, "{late} ns late");
    }
}

#[test]
fn before_the_first_sample_a_dsack_gives_back_until_two_timeouts_after_the_end() {
    // The first flight is reordered: Karn's rule ends the only measurement, and the DSACK arrives before the next one.
    for (at, undone) in [(190, true), (2150, true), (2151, false)] {
        let mut s = Sender::new(&opened(named("dsack"), 40), MSS, u64::from(RWND));
        s.write(10_000_000);
        send(&mut s, ms(0));
        overtaken(&mut s, 100, 10);
        let recover = s.recover.unwrap().0;
        ack(&mut s, ms(150), recover, RWND, &[]);
        let cx = s.ctx(ms(150));
        assert_eq!((cx.phase, cx.srtt, cx.rto), (Phase::Open, None, Nanos::from_secs(1)));
        assert_eq!(verdicts(&hear(&mut s, ms(at), recover, &[RESENT])), [undone], "at {at} ms");
    }
}

#[test]
fn the_last_duplicate_of_an_episode_is_the_last_before_the_hole_filled() {
    // The fast retransmit is sent at 103 ms; duplicates arrive until 110 ms, and one caused by the repair arrives after
    // the filling ACK.
    for filled in [111, 150] {
        let mut s = sender(named("dsack"), 40);
        overtaken_until(&mut s, 100, 10, filled);
        let una = s.positions().0 .0;
        ack(&mut s, ms(filled + 1), una, RWND, &[(una + 1000, una + 2000)]);
        let sample = s.cold.ledger.newest().and_then(Episode::sample).unwrap();
        assert_eq!((sample.first_dup, sample.last_dup, sample.filled), (ms(101), ms(110), ms(filled)));
        assert_eq!((sample.dupacks, sample.spacing()), (10, Nanos::from_millis(1)));
    }
}

#[test]
fn the_two_targets_of_the_delay_differ_where_the_filling_ack_comes_later_than_the_next_duplicate_would() {
    // X up to the filling ACK is 8 and 47 ms; up to the duplicate after the tenth 8 ms in both cases: delta = (X + 1) / 2.
    for (target, filled, delta) in [
        (DelayTarget::Fill, 111, 4_500_000),
        (DelayTarget::LastDup, 111, 4_500_000),
        (DelayTarget::Fill, 150, 24_000_000),
        (DelayTarget::LastDup, 150, 4_500_000),
    ] {
        let mut stack = named("dsack-del");
        let DetectSpec::Delayed(spec) = &mut stack.detect else { panic!("dsack-del is DEL") };
        spec.target = target;
        let mut s = sender(stack, 40);
        overtaken_until(&mut s, 100, 10, filled);
        let recover = s.recover.unwrap().0;
        ack(&mut s, ms(160), recover, RWND, &[]);
        send(&mut s, ms(160));
        assert_eq!(verdicts(&hear(&mut s, ms(190), recover, &[RESENT])), [true]);
        let third = three_dups(&mut s, 200);
        assert_eq!(s.slots.detect.deadline(), Some(third + Nanos(delta)), "{target:?}, filled at {filled} ms");
    }
}

#[test]
fn with_no_round_trips_to_wait_only_the_end_of_the_episode_undoes() {
    let spec = DsackSpec { pending_srtts: 0, ..Default::default() };
    let mut s = mistaken(with("dsack", spec, Default::default()));
    let una = s.positions().0 .0;
    assert_eq!(verdicts(&hear(&mut s, ms(151), una, &[RESENT])), [false]);
}

#[test]
fn a_dsack_after_a_newer_episode_has_begun_teaches_and_gives_nothing_back() {
    let mut s = mistaken(named("dsack-inc"));
    let una = s.positions().0 .0;
    for n in 1..=3 {
        ack(&mut s, ms(160 + n), una, RWND, &[(una + 1000, una + 1000 * (n + 1))]);
        send(&mut s, ms(160 + n));
    }
    assert_eq!((s.episodes(), s.phase()), (2, Phase::Recovery));
    let before = s.window();
    assert_eq!(verdicts(&hear(&mut s, ms(165), una, &[RESENT])), [false]);
    assert_eq!(s.window(), before);
    acknowledged(&mut s, ms(200));
    overtaken(&mut s, 300, 3);
    assert_eq!(s.episodes(), 2, "the threshold is 4 now");
}

#[test]
fn an_episode_with_one_retransmission_that_was_needed_is_no_mistake() {
    let mut s = sender(named("dsack"), 40);
    // Segments 0 and 5 are missing; 0 was only late.
    for n in 1..=4 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    for n in 6..=30 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(6), seg(n + 1)), (seg(1), seg(5))]);
        send(&mut s, ms(100 + n));
    }
    assert_eq!(s.board().get(Offset(seg(5))).unwrap().sends, 2);
    ack(&mut s, ms(140), seg(5), RWND, &[(seg(6), seg(31))]);
    let recover = s.recover.unwrap().0;
    assert_eq!(verdicts(&hear(&mut s, ms(150), recover, &[RESENT])), NONE);
    assert_eq!(s.window().ssthresh, 20_000.0);
    // The mistake is found only when its second retransmission is reported, too.
    assert_eq!(verdicts(&hear(&mut s, ms(151), recover, &[(seg(5), seg(6))])), [true]);
}

/// After a timeout with a window of four: everything had arrived, and the ACK shows it.
fn timed_out(spurious: DsackSpec, undo: SlowStartBackSpec) -> (Vec<bool>, f64) {
    let mut s = sender(with("dsack", spurious, undo), 4);
    s.on_timer(ms(1000), &mut ());
    assert_eq!(send(&mut s, ms(1000)), [(seg(0), 1000)]);
    let heard = hear(&mut s, ms(1050), seg(4), &[RESENT]);
    assert_eq!(s.phase(), Phase::Open);
    (verdicts(&heard), s.window().ssthresh)
}

#[test]
fn a_needless_timeout_is_judged_and_undone_only_if_the_stack_says_so() {
    let judge = DsackSpec { judge_timeouts: true, ..Default::default() };
    let undo = SlowStartBackSpec { undo_timeouts: true, ..Default::default() };
    assert_eq!(timed_out(DsackSpec::default(), undo.clone()), (vec![], 2000.0));
    assert_eq!(timed_out(judge.clone(), SlowStartBackSpec::default()), (vec![false], 2000.0));
    assert_eq!(timed_out(judge, undo), (vec![true], 4000.0));
}

#[test]
fn a_dsack_at_snd_una_over_an_empty_scoreboard_indicates_lost_acks_and_optionally_stops_the_undo() {
    // RFC 3708 (A.1), with SND.UNA as it was before the ACK.
    let judge = DsackSpec { judge_timeouts: true, stop_on_lost_acks: true, ..Default::default() };
    let undo = SlowStartBackSpec { undo_timeouts: true, ..Default::default() };
    assert_eq!(timed_out(judge.clone(), undo), (vec![], 2000.0));
    // After a fast retransmit ACKs did arrive, so it does not apply.
    let mut s = sender(with("dsack", judge, Default::default()), 40);
    for n in 1..=5 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    let recover = s.recover.unwrap().0;
    assert_eq!(verdicts(&hear(&mut s, ms(150), recover, &[RESENT])), [true]);
}

#[test]
fn a_segment_resent_twice_proves_nothing_even_if_in_two_episodes() {
    // RFC 3708 (A.3).
    let judge = DsackSpec { judge_timeouts: true, ..Default::default() };
    let undo = SlowStartBackSpec { undo_timeouts: true, ..Default::default() };
    let mut s = sender(with("dsack", judge, undo), 10);
    for n in 1..=3 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(100 + n));
    }
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    assert_eq!(send(&mut s, at), [(seg(0), 1000)]);
    assert_eq!((s.episodes(), s.phase()), (2, Phase::Loss));
    let max = s.positions().2 .0;
    assert_eq!(verdicts(&hear(&mut s, at + Nanos::from_millis(50), max, &[RESENT])), NONE);
    assert_eq!(s.phase(), Phase::Open);
}

#[test]
fn a_duplicate_of_data_never_resent_optionally_ends_the_undo_for_good() {
    // RFC 3708 (A.4); Blanton & Allman merely ignore such a duplicate.
    for (stop, undone) in [(false, true), (true, false)] {
        let spec = DsackSpec { stop_on_network_duplicate: stop, ..Default::default() };
        let mut s = mistaken(with("dsack", spec, Default::default()));
        let una = s.positions().0 .0;
        assert_eq!(verdicts(&hear(&mut s, ms(155), una, &[(seg(7), seg(8))])), NONE);
        assert_eq!(verdicts(&hear(&mut s, ms(160), una, &[RESENT])), [undone]);
    }
}

#[test]
fn extended_limited_transmit_sends_on_the_first_two_duplicates_and_then_on_every_second() {
    // Blanton & Allman §6.1, with its example of nine duplicates before the hole fills.
    let threshold = ThresholdSpec::Fixed(FixedSpec { segments: 12 });
    let detect = DetectSpec::DupAck(DupAckSpec { threshold, ..Default::default() });
    for (disorder, counts, burst) in [
        (DisorderSpec::LimitedTransmit, "110000000", 9),
        (DisorderSpec::Extended(ExtendedSpec::default()), "110101010", 6),
        (DisorderSpec::Extended(ExtendedSpec { every_dup: true, ..Default::default() }), "111111111", 2),
    ] {
        let mut s = sender(Stack { detect: detect.clone(), disorder, ..named("dsack") }, 20);
        let sent: String = (1..=9)
            .map(|n| {
                ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(1), seg(n + 1))]);
                send(&mut s, ms(100 + n)).len().to_string()
            })
            .collect();
        assert_eq!((sent.as_str(), s.window().cwnd), (counts, 20_000.0));
        // Slow start adds one of these segments.
        ack(&mut s, ms(110), seg(10), RWND, &[]);
        assert_eq!(send(&mut s, ms(110)).len(), burst);
    }
}

#[test]
fn extended_limited_transmit_ends_with_the_run_of_duplicates() {
    // The hole at segment 3 stays while the ACK advances: the window slides, and nothing is sent beyond it.
    let disorder = DisorderSpec::Extended(ExtendedSpec::default());
    let mut s = sender(Stack { disorder, ..named("rfc-6675") }, 10);
    for n in 1..=2 {
        ack(&mut s, ms(100 + n), seg(0), RWND, &[(seg(4), seg(4 + n))]);
        assert_eq!(send(&mut s, ms(100 + n)).len(), 1);
    }
    for n in 1..=3 {
        ack(&mut s, ms(110 + n), seg(n), RWND, &[(seg(4), seg(6))]);
        send(&mut s, ms(110 + n));
        let (una, _, max) = s.positions();
        assert_eq!((s.phase(), max - una), (Phase::Disorder, s.window().cwnd as u64));
    }
}

/// `dsack-del` after one needless fast retransmit with ten duplicates a millisecond apart, detected in time: X is the 8 ms
/// from the third duplicate to the ACK that filled the hole, g is 1 ms, so `delta` is (0 + 8 + 1) / 2 = 4.5 ms.
fn delayed() -> (Sender, u64) {
    let mut s = mistaken(named("dsack-del"));
    let una = s.positions().0 .0;
    assert_eq!(verdicts(&hear(&mut s, ms(190), una, &[RESENT])), [true]);
    (s, una)
}

fn three_dups(s: &mut Sender, at: u64) -> Time {
    let una = s.positions().0 .0;
    for n in 1..=3 {
        ack(s, ms(at + n), una, RWND, &[(una + 1000, una + 1000 * (n + 1))]);
        send(s, ms(at + n));
    }
    ms(at + 3)
}

#[test]
fn the_third_duplicate_only_arms_and_the_ack_that_fills_the_hole_cancels() {
    let (mut s, una) = delayed();
    let third = three_dups(&mut s, 200);
    assert_eq!((s.phase(), s.next_timer()), (Phase::Disorder, Some(third + Nanos(4_500_000))));
    ack(&mut s, ms(207), una + 4000, RWND, &[]);
    assert_eq!((s.phase(), s.episodes(), s.slots.detect.deadline()), (Phase::Open, 1, None));
}

#[test]
fn if_nothing_fills_the_hole_the_timer_resends_it_and_is_not_due_again() {
    let (mut s, una) = delayed();
    let at = three_dups(&mut s, 200) + Nanos(4_500_000);
    s.on_timer(at, &mut ());
    assert_eq!((s.phase(), s.episodes()), (Phase::Recovery, 2));
    assert_eq!(send(&mut s, at)[0], (una, 1000));
    assert_eq!(s.slots.detect.deadline(), None);
    assert!(s.next_timer().unwrap() > at);
}

#[test]
fn after_a_delayed_fast_retransmit_x_counts_from_the_third_duplicate_and_g_from_the_last() {
    // The timer fires 4.5 ms after the third duplicate, at 207.5 ms: (4.5 + 8 + 1) / 2, and (4.5 + 6 + 1) / 2 if the last
    // duplicate arrived before it.
    for (dups, filled, delta) in [(10, 211, 6_750_000), (6, 209, 5_750_000)] {
        let (mut s, una) = delayed();
        overtaken_until(&mut s, 200, dups, filled);
        assert_eq!((s.phase(), s.episodes()), (Phase::Recovery, 2));
        let recover = s.recover.unwrap().0;
        assert_eq!(verdicts(&hear(&mut s, ms(230), recover, &[(una, una + 1000)])), [true]);
        send(&mut s, ms(230));
        let third = three_dups(&mut s, 300);
        assert_eq!(s.slots.detect.deadline(), Some(third + Nanos(delta)), "{dups} duplicates");
    }
}

#[test]
fn a_timeout_sets_the_delay_back_to_nothing() {
    let (mut s, _) = delayed();
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    send(&mut s, at);
    assert_eq!((s.phase(), s.slots.detect.deadline()), (Phase::Loss, None));
    // The window grows until it can cause three duplicates.
    for n in 1..=3 {
        acknowledged(&mut s, at + Nanos::from_millis(50 * n));
    }
    let before = s.episodes();
    three_dups(&mut s, at.0 / 1_000_000 + 200);
    assert_eq!((s.phase(), s.episodes()), (Phase::Recovery, before + 1));
}

#[test]
fn with_new_sack_only_a_duplicate_without_new_information_releases_nothing_in_recovery() {
    // Blanton & Allman, Appendix A, whatever the stack's duplicate rule is.
    let dup_rule = DupRule::Rfc5681;
    let mut s = sender(Stack { dup_rule, disorder: DisorderSpec::Nothing, ..named("dsack") }, 10);
    let at = three_dups(&mut s, 100);
    assert_eq!(s.phase(), Phase::Recovery);
    for n in 1..=20 {
        let now = at + Nanos::from_millis(n);
        ack(&mut s, now, seg(0), RWND, &[(seg(1), seg(4))]);
        assert_eq!(send(&mut s, now), [], "repetition {n}");
    }
}

#[test]
fn a_window_restored_at_once_is_used_in_bursts_of_at_most_maxburst() {
    // Fall & Floyd 1996 §5: `maxburst` segments for one ACK, even where the window would allow more.
    let undo = SlowStartBackSpec { restore_cwnd: true, ..SlowStartBackSpec::default() };
    for (maxburst, want) in [(u32::MAX, [20, 1, 1, 1, 1, 1, 1, 1]), (4, [4, 4, 4, 4, 4, 4, 2, 1])] {
        let mut s = mistaken(with("dsack", DsackSpec::default(), undo.clone()));
        s.maxburst = maxburst;
        let una = s.positions().0 .0;
        hear(&mut s, ms(190), una, &[RESENT]);
        assert_eq!(s.window().cwnd, 40_000.0);
        let mut bursts = vec![send(&mut s, ms(190)).len()];
        for n in 1..8 {
            ack(&mut s, ms(200 + n), una + n * u64::from(MSS), RWND, &[]);
            bursts.push(send(&mut s, ms(200 + n)).len());
            assert_eq!(send(&mut s, ms(200 + n)), [], "nor later, without another ACK");
        }
        assert_eq!(bursts, want);
    }
}

/// The thresholds reported in `heard`.
fn thresholds(heard: &[(Time, Event)]) -> Vec<u32> {
    let threshold =
        |h: &(Time, Event)| if let Event::Threshold { dupthresh, .. } = h.1 { Some(dupthresh) } else { None };
    heard.iter().filter_map(threshold).collect()
}

#[test]
fn the_threshold_in_force_is_reported_on_the_first_ack_after_a_mistake_and_after_a_timeout() {
    let mut s = mistaken(named("dsack-inc"));
    let una = s.positions().0 .0;
    assert_eq!(thresholds(&hear(&mut s, ms(190), una, &[RESENT])), [4], "nothing had listened before");
    assert_eq!(thresholds(&hear(&mut s, ms(191), una + 1000, &[])), [0u32; 0], "told once");
    let mut heard = vec![];
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut heard);
    assert_eq!(thresholds(&heard), [3]);
    let mut s = sender(named("newreno"), 10);
    assert_eq!(thresholds(&hear(&mut s, ms(50), 1001, &[])), [3]);
    // A judge that counts nothing has no threshold to report.
    let mut s = sender(named("tahoe"), 10);
    s.slots.detect = crate::detect::AnyDetect::Custom(Box::new(Silent));
    assert_eq!(thresholds(&hear(&mut s, ms(50), 1001, &[])), [0u32; 0]);
}

/// A judge that never sees a loss.
struct Silent;

impl crate::detect::Detector for Silent {
    fn on_ack(&mut self, _: &AckEvent, _: &Window, _: &mut Scoreboard, _: &Ctx) -> Verdict {
        Verdict::Clear
    }
}

impl crate::detect::Timekeeper for Silent {}

impl crate::detect::Learner for Silent {}

#[test]
fn a_timeout_voids_the_episode_that_it_interrupts() {
    let mut s = sender(named("dsack"), 40);
    overtaken(&mut s, 100, 10);
    assert_eq!((s.phase(), s.episodes()), (Phase::Recovery, 1));
    let (una, at) = (s.positions().0 .0, s.next_timer().unwrap());
    s.on_timer(at, &mut ());
    send(&mut s, at);
    assert_eq!((s.phase(), s.episodes()), (Phase::Loss, 2));
    // Everything that the fast recovery resent was needless, but the later resends were not, so nothing is learnt.
    assert_eq!(verdicts(&hear(&mut s, at + Nanos::from_millis(10), una, &[RESENT])), NONE);
    assert_eq!(s.slots.detect.dupthresh(&s.w, &s.ctx(at)), Some(3));
}

#[test]
fn told_of_each_dsack_inc_learns_of_a_needless_copy_beside_one_that_was_needed() {
    use crate::detect::threshold::inc::{IncSpec, UpdatePer};
    // Segments 0 and 1 are missing; both are resent. Segment 0 had only been late, segment 1 was lost.
    let learnt = [UpdatePer::Segment, UpdatePer::Dsack].map(|update_per| {
        let mut stack = named("dsack-inc");
        let threshold = ThresholdSpec::Inc(IncSpec { update_per, ..Default::default() });
        stack.detect = DetectSpec::DupAck(DupAckSpec { threshold, judge_in_recovery: true, ..Default::default() });
        let mut s = sender(stack, 40);
        let mut resent = vec![];
        for n in 1..=30 {
            ack(&mut s, ms(100 + n), 1, RWND, &[(2001, 2001 + n * 1000)]);
            resent.extend(send(&mut s, ms(100 + n)).into_iter().filter(|sent| sent.0 <= 1001));
        }
        assert_eq!(resent, [(1, 1000), (1001, 1000)]);
        ack(&mut s, ms(140), 1001, RWND, &[(2001, 32_001)]);
        let at = |s: &Sender| s.slots.detect.dupthresh(&s.w, &s.ctx(ms(150)));
        let before = at(&s);
        assert_eq!(verdicts(&hear(&mut s, ms(150), 1001, &[RESENT, (2001, 32_001)])), NONE);
        let after = at(&s);
        // Repeating the same report is no news.
        hear(&mut s, ms(151), 1001, &[RESENT, (2001, 32_001)]);
        assert_eq!(at(&s), after);
        let recover = s.recover.unwrap().0;
        assert_eq!(verdicts(&hear(&mut s, ms(190), recover, &[])), NONE, "the episode as a whole was no mistake");
        (before, after, at(&s))
    });
    assert_eq!(learnt, [(Some(3), Some(3), Some(3)), (Some(3), Some(4), Some(4))]);
}

#[test]
fn of_a_segment_sent_three_times_nobody_knows_which_copy_was_needless() {
    use crate::detect::threshold::inc::{IncSpec, UpdatePer};
    let mut stack = named("dsack-inc");
    let threshold = ThresholdSpec::Inc(IncSpec { update_per: UpdatePer::Dsack, ..Default::default() });
    stack.detect = DetectSpec::DupAck(DupAckSpec { threshold, judge_in_recovery: true, ..Default::default() });
    let mut s = sender(stack, 40);
    for n in 1..=10 {
        ack(&mut s, ms(100 + n), 1, RWND, &[(1001, 1001 + n * 1000)]);
        send(&mut s, ms(100 + n));
    }
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    send(&mut s, at);
    assert_eq!(s.board.iter().next().map(|sent| sent.sends), Some(3));
    hear(&mut s, at + Nanos::from_millis(10), 11_001, &[RESENT]);
    assert_eq!(s.slots.detect.dupthresh(&s.w, &s.ctx(at)), Some(3));
}
