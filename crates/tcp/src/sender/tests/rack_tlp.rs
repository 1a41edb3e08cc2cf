//! RACK-TLP: the example runs of RFC 8985 with their times, and its rules for probes and timeouts.
//!
//! They date from when PRR meant RFC 6937, so the stack here has the slow start bound of that RFC.

use super::*;
use crate::detect::rack_tlp::{RackTlpSpec, Rules};
use crate::detect::DetectSpec;
use crate::recovery::prr::{Bound, Order, PrrSpec};
use crate::recovery::RecoverySpec;
use std::collections::{BTreeMap, BTreeSet};

const RTT: u64 = 100;

/// A sender, and a receiver whose ACK of each segment arrives a round trip after the segment was sent.
struct Path {
    s: Sender,
    /// Arrival times of the ACKs in milliseconds, in order of sending.
    answers: Vec<(u64, u64)>,
    received: BTreeSet<u64>,
    /// Which copies of which segments are lost.
    lost: Vec<(u64, u64)>,
    sent: BTreeMap<u64, u64>,
    /// Send times and segments.
    log: Vec<(u64, Vec<u64>)>,
    timeouts: usize,
    heard: Vec<(Time, Event)>,
}

fn rack(bound: Bound, tlp: bool) -> Stack {
    Stack {
        detect: DetectSpec::RackTlp(RackTlpSpec { tlp, ..RackTlpSpec::default() }),
        recovery: RecoverySpec::Prr(PrrSpec { bound, order: Order::Marks, ..PrrSpec::default() }),
        ..opened(named("rack-tlp"), 20)
    }
}

impl Path {
    fn new(stack: &Stack, lost: &[(u64, u64)]) -> Path {
        let s = Sender::new(stack, MSS, 1_000_000);
        let (answers, received, sent) = (vec![], BTreeSet::new(), BTreeMap::new());
        Path { s, answers, received, lost: lost.to_vec(), sent, log: vec![], timeouts: 0, heard: vec![] }
    }

    fn speak(&mut self, at: u64) {
        let went: Vec<u64> = send(&mut self.s, ms(at)).iter().map(|x| (x.0 - 1) / 1000).collect();
        for n in &went {
            let copy = self.sent.entry(*n).or_insert(0);
            *copy += 1;
            if !self.lost.contains(&(*n, *copy)) {
                self.answers.push((at + RTT, *n));
            }
        }
        if !went.is_empty() {
            self.log.push((at, went));
        }
    }

    /// Writes segments at their times (in milliseconds), and runs until nothing more happens.
    fn run(&mut self, writes: &[(u64, u64)]) {
        let mut writes = writes.to_vec();
        loop {
            let timer = self.s.next_timer().map(|t| t.0 / 1_000_000);
            let all = [writes.first().map(|w| w.0), self.answers.first().map(|a| a.0), timer];
            let Some(now) = all.into_iter().flatten().min() else { return };
            assert!(now < 60_000, "goes on for ever: {:?}", self.log);
            if writes.first().is_some_and(|w| w.0 == now) {
                self.s.write(writes.remove(0).1 * 1000);
            } else if self.answers.first().is_some_and(|a| a.0 == now) {
                let (_, n) = self.answers.remove(0);
                self.answer(now, n);
            } else {
                let before = self.heard.len();
                self.s.on_timer(ms(now), &mut self.heard);
                let new = &self.heard[before..];
                self.timeouts += new.iter().filter(|h| matches!(h.1, Event::Timeout { .. })).count();
            }
            self.speak(now);
        }
    }

    /// The ACK of a segment, with SACK blocks from the highest down, and a DSACK if the segment had arrived before.
    fn answer(&mut self, now: u64, n: u64) {
        let again = !self.received.insert(n);
        let next = (0..).find(|k| !self.received.contains(k)).unwrap();
        let mut blocks = if again { vec![(seg(n), seg(n + 1))] } else { vec![] };
        for k in self.received.iter().rev().filter(|k| **k > next) {
            match blocks.last_mut() {
                Some(b) if b.0 == seg(k + 1) => b.0 = seg(*k),
                _ => blocks.push((seg(*k), seg(k + 1))),
            }
        }
        blocks.truncate(4);
        let mut answer = Segment { ack: Offset(seg(next)), wnd: 1_000_000, flags: Segment::ACK, ..Segment::EMPTY };
        blocks.iter().for_each(|b| answer.push_sack(Offset(b.0), Offset(b.1)));
        self.s.on_ack(ms(now), &answer, &mut self.heard);
    }
}

/// Returns the segments sent and their times, without the first flight, and the timeouts.
fn run(stack: &Stack, writes: &[(u64, u64)], lost: &[(u64, u64)]) -> (Vec<(u64, Vec<u64>)>, usize) {
    let mut p = Path::new(stack, lost);
    p.run(writes);
    assert!(p.s.all_acked());
    (p.log, p.timeouts)
}

#[test]
fn a_probe_shows_the_loss_of_a_tail_and_a_lost_retransmission_is_found_without_a_timeout() {
    // RFC 8985 §3.4: P1 to P3 are lost, and then the copy of P1.
    let lost = [(1, 1), (2, 1), (3, 1), (1, 2)];
    let (log, timeouts) = run(&rack(Bound::Ssrb, true), &[(0, 4)], &lost);
    assert_eq!(log, [(0, vec![0, 1, 2, 3]), (300, vec![3]), (400, vec![1, 2]), (500, vec![1])]);
    assert_eq!(timeouts, 0);
}

#[test]
fn a_second_loss_of_the_same_flight_is_found_by_the_ack_of_the_first_retransmission() {
    // RFC 8985 §9.1 (1): P1 and P3 are lost; P0 has given an RTT sample.
    let writes = [(0, 1), (100, 1), (130, 1), (160, 1)];
    let (log, timeouts) = run(&rack(Bound::Ssrb, true), &writes, &[(1, 1), (3, 1)]);
    assert_eq!(log[4..], [(230, vec![1]), (330, vec![3])]);
    assert_eq!(timeouts, 0);
}

#[test]
fn a_lost_retransmission_is_found_by_the_delivery_of_one_sent_with_it() {
    // RFC 8985 §9.1 (2): P1 and P2 are lost, and P1's copy.
    let writes = [(0, 1), (100, 1), (130, 1), (160, 1)];
    let (log, timeouts) = run(&rack(Bound::Ssrb, true), &writes, &[(1, 1), (2, 1), (1, 2)]);
    assert_eq!(log[4..], [(260, vec![1, 2]), (360, vec![1])]);
    assert_eq!(timeouts, 0);
}

#[test]
fn a_timeout_does_not_touch_what_was_sent_just_before_it() {
    // RFC 8985 §3.5, §6.3: only the ACK of P1 is late; P2 and P3 have just been sent.
    let mut p = Path::new(&rack(Bound::Ssrb, false), &[(1, 1)]);
    p.run(&[(0, 1)]);
    for (at, n) in [(100, 1), (1050, 1), (1080, 1)] {
        p.s.write(n * 1000);
        p.speak(at);
    }
    p.answers.clear();
    p.s.on_timer(ms(1100), &mut ());
    assert_eq!((p.s.phase(), p.s.board().lost(), p.s.board().pipe()), (Phase::Loss, 1000, 2000));
    assert_eq!(send(&mut p.s, ms(1100)), [(seg(1), 1000)]);
    ack(&mut p.s, ms(1110), seg(4), 1_000_000, &[]);
    assert_eq!((p.s.phase(), p.s.board().lost()), (Phase::Open, 0));
}

#[test]
fn a_timeout_long_after_the_last_send_holds_all_to_be_lost() {
    // RFC 8985 §6.3.
    let mut p = Path::new(&rack(Bound::Ssrb, false), &[]);
    p.run(&[(0, 1)]);
    p.s.write(5000);
    p.speak(100);
    p.s.on_timer(ms(1100), &mut ());
    assert_eq!((p.s.board().lost(), p.s.board().pipe()), (5000, 0));
}

/// A flight of ten with a window of twenty, all of it lost, with a known RTT.
fn a_lost_flight(bound: Bound) -> (Vec<(u64, usize)>, usize, Window) {
    let mut stack = rack(bound, true);
    stack.congestion = crate::congestion::CongestionSpec::Aimd(crate::congestion::aimd::AimdSpec {
        cut_from: crate::congestion::CutFrom::Window,
        ..Default::default()
    });
    let lost: Vec<_> = (0..10).map(|n| (n, 1)).collect();
    let mut p = Path::new(&stack, &lost);
    p.s.on_handshake(Nanos::from_millis(RTT), Time::ZERO);
    p.run(&[(0, 10)]);
    let mut rounds: BTreeMap<u64, usize> = BTreeMap::new();
    p.log.iter().for_each(|(at, n)| *rounds.entry(*at).or_default() += n.len());
    (rounds.into_iter().collect(), p.timeouts, p.s.window())
}

#[test]
fn a_whole_flight_lost_is_repaired_in_slow_start_from_the_probe_on() {
    // RFC 8985 §9.3: probe at 2 RTT, then 1 + 2 + 4 + 3 in four round trips; the window ends at ssthresh.
    let (rounds, timeouts, w) = a_lost_flight(Bound::Ssrb);
    assert_eq!(rounds, [(0, 10), (200, 1), (300, 2), (400, 4), (500, 3)]);
    assert_eq!((timeouts, w), (0, Window { cwnd: 10_000.0, ssthresh: 10_000.0 }));
}

#[test]
fn with_rfc_9937_the_same_takes_a_round_trip_more_because_a_sack_is_no_safe_ack() {
    let (rounds, timeouts, w) = a_lost_flight(Bound::Rfc9937);
    assert_eq!(rounds, [(0, 10), (200, 1), (300, 1), (400, 2), (500, 4), (600, 2)]);
    assert_eq!((timeouts, w), (0, Window { cwnd: 10_000.0, ssthresh: 10_000.0 }));
}

#[test]
fn the_third_sacked_segment_means_a_loss_until_reordering_is_seen_and_then_only_time_does() {
    // RFC 8985 §6.2 step 4. The ACKs arrive a millisecond apart.
    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=2 {
        ack(&mut s, ms(100 + n), seg(0), 1_000_000, &[(seg(1), seg(n + 1))]);
        assert_eq!(s.phase(), Phase::Disorder);
    }
    ack(&mut s, ms(103), seg(0), 1_000_000, &[(seg(1), seg(4))]);
    assert_eq!(s.phase(), Phase::Recovery);

    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(0), 1_000_000, &[(seg(1), seg(2))]);
    // Segment 0 was late: that is reordering. Its own hole now waits for a quarter of the smallest RTT.
    ack(&mut s, ms(101), seg(2), 1_000_000, &[]);
    assert_eq!(s.phase(), Phase::Open);
    for n in 3..=9 {
        ack(&mut s, ms(99 + n), seg(2), 1_000_000, &[(seg(3), seg(n + 1))]);
        assert_eq!(s.phase(), Phase::Disorder, "segment {n}");
    }
    // Sent at 0, the newest delivered segment took 108 ms; the smallest RTT is 100 ms.
    assert_eq!(s.next_timer(), Some(ms(108 + 25)));
    s.on_timer(ms(133), &mut ());
    assert_eq!((s.phase(), s.board().lost()), (Phase::Recovery, 1000));
}

#[test]
fn a_dsack_makes_the_next_hole_wait_for_half_a_round_trip() {
    // RFC 8985 §6.2 step 4.
    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.write(1_000_000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(0), 1_000_000, &[(seg(1), seg(2))]);
    ack(&mut s, ms(100), seg(2), 1_000_000, &[]);
    ack(&mut s, ms(100), seg(2), 1_000_000, &[(seg(0), seg(1))]);
    ack(&mut s, ms(100), seg(2), 1_000_000, &[(seg(3), seg(4))]);
    assert_eq!((s.phase(), s.next_timer()), (Phase::Disorder, Some(ms(100 + 50))));
}

#[test]
fn the_ack_of_an_earlier_copy_says_nothing_about_when_the_last_was_sent() {
    // RFC 8985 §6.2 step 2: faster than the smallest RTT. The echo of an ACK that only SACKs is that of an earlier segment (RFC 7323
    // §4.3) and says nothing.
    for (now, tsecr, believed) in [(350, None, false), (350, Some(0), false), (400, None, true), (400, Some(0), true)] {
        let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
        s.write(5000);
        send(&mut s, ms(0));
        ack(&mut s, ms(100), seg(1), 1_000_000, &[]);
        // The ACKs stop: the last segment, number 4, is the probe.
        assert_eq!(s.next_timer(), Some(ms(300)));
        s.on_timer(ms(300), &mut ());
        assert_eq!(send(&mut s, ms(300)), [(seg(4), 1000)]);
        let mut answer = Segment { ack: Offset(seg(1)), wnd: 1_000_000, flags: Segment::ACK, ..Segment::EMPTY };
        answer.push_sack(Offset(seg(4)), Offset(seg(5)));
        if let Some(echo) = tsecr {
            (answer.opts, answer.tsecr) = (Segment::TIMESTAMPS, echo);
        }
        s.on_ack(ms(now), &answer, &mut ());
        assert_eq!(s.board().lost() > 0, believed, "at {now} ms, echo {tsecr:?}");
    }
}

#[test]
fn a_probe_as_quick_as_the_handshake_is_believed_to_have_arrived() {
    // RFC 8985 §6.2 step 1: the minimum is over all RTT measurements. The SYN is short, so its RTT is below that of full segments.
    for (handshake, believed) in [(Some(RTT - 2), true), (None, false)] {
        let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
        if let Some(rtt) = handshake {
            s.on_handshake(Nanos::from_millis(rtt), Time::ZERO);
        }
        s.write(5000);
        send(&mut s, ms(0));
        ack(&mut s, ms(RTT), seg(1), 1_000_000, &[]);
        let at = s.next_timer().expect("a probe");
        s.on_timer(at, &mut ());
        assert_eq!(send(&mut s, at), [(seg(4), 1000)]);
        let then = at + Nanos::from_millis(RTT - 1);
        ack(&mut s, then, seg(1), 1_000_000, &[(seg(4), seg(5))]);
        assert_eq!(s.board().lost() > 0, believed, "after a handshake of {handshake:?} ms");
    }
}

#[test]
fn a_probe_of_new_data_goes_although_the_window_is_full() {
    // RFC 8985 §7.3.
    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.on_handshake(Nanos::from_millis(RTT), Time::ZERO);
    s.write(1_000_000);
    assert_eq!(send(&mut s, ms(0)).len(), 20);
    assert_eq!(s.next_timer(), Some(ms(200)));
    s.on_timer(ms(200), &mut ());
    assert_eq!(send(&mut s, ms(200)), [(seg(20), 1000)]);
    // One probe at a time: the retransmission timer fires next, a second after the probe.
    assert_eq!(s.next_timer(), Some(ms(1200)));
}

#[test]
fn new_data_start_the_probes_timer_again_whether_it_runs_or_not() {
    // RFC 8985 §7.2. It expires at 200 ms and finds that data was sent at 150 ms.
    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.on_handshake(Nanos::from_millis(RTT), Time::ZERO);
    s.write(2000);
    send(&mut s, ms(0));
    s.write(1000);
    assert_eq!(send(&mut s, ms(150)).len(), 1);
    s.on_timer(ms(200), &mut ());
    assert_eq!((send(&mut s, ms(200)), s.next_timer()), (vec![], Some(ms(350))));
    s.on_timer(ms(350), &mut ());
    assert_eq!(send(&mut s, ms(350)), [(seg(2), 1000)]);
    // Everything is acknowledged; after a silence the first segment starts it.
    ack(&mut s, ms(450), seg(3), 1_000_000, &[]);
    assert_eq!(s.next_timer(), None);
    s.write(2000);
    assert_eq!(send(&mut s, ms(900)).len(), 2);
    assert_eq!(s.next_timer(), Some(ms(900 + 1000)), "no round trip was measured since the probe: the RTO");
    ack(&mut s, ms(1000), seg(5), 1_000_000, &[]);
    s.write(2000);
    assert_eq!(send(&mut s, ms(1500)).len(), 2);
    assert_eq!(s.next_timer(), Some(ms(1500 + 200)));
}

#[test]
fn a_single_segment_is_probed_later_because_its_ack_may_be_delayed() {
    // RFC 8985 §7.2.
    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.on_handshake(Nanos::from_millis(RTT), Time::ZERO);
    s.write(1000);
    send(&mut s, ms(0));
    assert_eq!(s.next_timer(), Some(ms(400)));
}

/// Sixty segments; the first is lost, and so is its first copy. Returns the number of episodes, and the thresholds that
/// they cut to.
fn copy_lost(respond_lost_rexmit: bool) -> (u32, Vec<f64>) {
    let spec = PrrSpec { order: Order::Marks, respond_lost_rexmit, ..PrrSpec::default() };
    let stack = Stack { recovery: RecoverySpec::Prr(spec), ..rack(Bound::Rfc9937, true) };
    let mut p = Path::new(&stack, &[(0, 1), (0, 2)]);
    p.run(&[(0, 60)]);
    assert!(p.s.all_acked() && p.timeouts == 0);
    let cuts = p.heard.iter().filter_map(|(_, e)| match e {
        Event::Window { by: Slot::Congestion, from, to, .. } if from.ssthresh != to.ssthresh => Some(to.ssthresh),
        _ => None,
    });
    (p.s.episodes(), cuts.collect())
}

#[test]
fn a_lost_retransmission_cuts_the_window_a_second_time_from_what_is_still_on_its_way() {
    // RFC 9937 §6.1, RFC 8985 §9.3, decision 0041: SACKed data does not count for the second cut.
    let (episodes, cuts) = copy_lost(true);
    assert_eq!((episodes, cuts.len(), cuts[0]), (2, 2, 10_000.0));
    assert!((4000.0..=6000.0).contains(&cuts[1]), "{cuts:?}");
    assert_eq!(copy_lost(false), (1, vec![10_000.0]));
}

#[test]
fn rack_tlp_is_refused_with_parts_that_do_not_resend_by_its_marks() {
    let refused = |s: Stack| s.validate().expect_err("makes no sense").key;
    let rack = named("rack-tlp");
    assert_eq!(refused(Stack { recovery: named("rfc-6675").recovery, ..rack.clone() }), "recovery");
    assert_eq!(refused(Stack { recovery: named("prr").recovery, ..rack.clone() }), "recovery");
    assert_eq!(refused(Stack { timeout: named("newreno").timeout, ..rack.clone() }), "timeout");
    let mut plain = rack.clone();
    (plain.options.sack, plain.options.dsack, plain.dup_rule) = (false, false, DupRule::Rfc5681);
    assert_eq!(refused(plain), "detect");
    let none = RackTlpSpec { dupthresh: 0, ..RackTlpSpec::default() };
    assert_eq!(refused(Stack { detect: DetectSpec::RackTlp(none), ..rack }), "detect.dupthresh");
}

/// Arrival time of an ACK, the segment that it acknowledges up to, and its blocks.
type Answer<'a> = (u64, u64, &'a [(u64, u64)]);

/// Ten segments, the last of which is probed at 200 ms; then a second flight of one. Returns the window after it.
fn probed(answers: &[Answer]) -> f64 {
    let mut s = Sender::new(&rack(Bound::Ssrb, true), MSS, 1_000_000);
    s.on_handshake(Nanos::from_millis(RTT), Time::ZERO);
    s.write(10_000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(9), 1_000_000, &[]);
    let at = s.next_timer().unwrap();
    s.on_timer(at, &mut ());
    assert_eq!(send(&mut s, at), [(seg(9), 1000)]);
    s.write(1000);
    send(&mut s, at);
    for (now, una, blocks) in answers {
        ack(&mut s, ms(*now), *una, 1_000_000, blocks);
    }
    assert_eq!(s.phase(), Phase::Open);
    s.window().cwnd
}

#[test]
fn a_probe_that_repaired_a_loss_cuts_the_window_and_one_whose_both_copies_arrived_does_not() {
    // RFC 8985 §7.4.2, three cases: the ACK passes the probe without a DSACK, or with one, or it is a plain duplicate from a
    // receiver without DSACK.
    let (cut, grown) = (2000.0, 23_000.0);
    assert_eq!(probed(&[(600, seg(11), &[])]), cut);
    assert_eq!(probed(&[(600, seg(10), &[]), (601, seg(10), &[(seg(9), seg(10))]), (602, seg(11), &[])]), grown);
    assert_eq!(probed(&[(600, seg(10), &[]), (601, seg(10), &[]), (602, seg(11), &[])]), grown);
}

/// Linux's rules over a path on which nothing is lost: a segment is overtaken by `by` others; returns the threshold after
/// it.
fn overtaken(by: u64) -> u32 {
    let detect = DetectSpec::RackTlp(RackTlpSpec { rules: Rules::Linux, ..RackTlpSpec::default() });
    let mut s = Sender::new(&Stack { detect, ..opened(named("linux-2025"), 20) }, MSS, 1_000_000);
    s.write(40_000);
    send(&mut s, ms(0));
    // A first round trip, so that the reordering window is a quarter of it.
    ack(&mut s, ms(100), seg(1), 1_000_000, &[]);
    for n in 1..=by {
        ack(&mut s, ms(100 + n), seg(1), 1_000_000, &[(seg(2), seg(2 + n))]);
    }
    ack(&mut s, ms(101 + by), seg(2 + by), 1_000_000, &[]);
    let cx = s.ctx(ms(102 + by));
    s.slots.detect.dupthresh(&s.w, &cx).expect("a threshold")
}

#[test]
fn by_linuxs_rules_the_threshold_is_the_largest_distance_by_which_a_segment_was_overtaken() {
    assert_eq!([2, 5, 12].map(overtaken), [3, 6, 13], "tcp_check_sack_reordering counts the segment itself");
}

#[test]
fn by_linuxs_rules_an_ack_that_only_sacks_opens_the_window_once_reordering_is_above_three() {
    let grown = |reordered: bool| {
        let mut s = Sender::new(&opened(named("linux-2025"), 20), MSS, 1_000_000);
        s.write(100_000);
        send(&mut s, ms(0));
        ack(&mut s, ms(100), seg(1), 1_000_000, &[]);
        if reordered {
            // The first hole shows that there is reordering; the second is four segments long.
            for (hole, end) in [(1, 4), (4, 8)] {
                ack(&mut s, ms(100), seg(hole), 1_000_000, &[(seg(hole + 1), seg(end))]);
                ack(&mut s, ms(101), seg(end), 1_000_000, &[]);
            }
        } else {
            ack(&mut s, ms(101), seg(8), 1_000_000, &[]);
        }
        send(&mut s, ms(101));
        let before = s.window().cwnd;
        ack(&mut s, ms(102), seg(8), 1_000_000, &[(seg(9), seg(11))]);
        assert_eq!(s.phase(), Phase::Disorder, "reordered: {reordered}");
        (s.window().cwnd - before) / 1000.0
    };
    assert_eq!([false, true].map(grown), [0.0, 2.0]);
}

#[test]
fn by_linuxs_rules_the_timer_restarts_when_the_oldest_segment_is_resent() {
    let mut s = Sender::new(&opened(named("linux-2025"), 20), MSS, 1_000_000);
    s.write(100_000);
    send(&mut s, ms(0));
    ack(&mut s, ms(100), seg(1), 1_000_000, &[]);
    send(&mut s, ms(100));
    // 100 ms plus the minimum deviation of 200 ms: the timer runs until 400 ms.
    (2..6).for_each(|n| ack(&mut s, ms(198 + n), seg(1), 1_000_000, &[(seg(2), seg(2 + n))]));
    assert_eq!(send(&mut s, ms(204))[0], (seg(1), 1000));
    assert!(s.timers.rto.is_some_and(|at| at >= ms(504)), "{:?}", s.timers.rto);
}
