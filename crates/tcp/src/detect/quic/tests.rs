//! Cases that can be computed by hand from RFC 9002, and rules for which it gives no numbers.

use super::*;
use crate::event::Cause;
use crate::facts::ack::Newest;
use crate::seq::Offset;
use crate::testing::{blank, context, wide};

fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

fn seg(n: u64) -> Offset {
    Offset(1 + 1000 * n)
}

/// A detector and a scoreboard; SRTT 100 ms, PTO 2 s.
struct Bench {
    d: Quic,
    board: Scoreboard,
    cx: Ctx,
}

fn bench(spec: QuicSpec) -> Bench {
    let srtt = Some(Nanos::from_millis(100));
    let cx = Ctx { srtt, min_rtt: srtt, rto: Nanos::from_secs(2), ..context() };
    Bench { d: Quic::new(&spec), board: Scoreboard::default(), cx }
}

impl Bench {
    fn at(&mut self, now: u64) -> Ctx {
        self.cx.now = ms(now);
        self.cx
    }

    /// Sends or resends segment `n`.
    fn send(&mut self, now: u64, n: u64) {
        let cx = self.at(now);
        let again = self.board.get(seg(n)).is_some();
        let sent = if again {
            *self.board.resend(seg(n), cx.now, 1e9).unwrap()
        } else {
            self.board.push(seg(n), 1000, cx.now, 1e9, false)
        };
        self.d.on_sent(Xmit::New, &sent, &cx);
    }

    /// An ACK at `now` that reports segment `n`.
    fn sack(&mut self, now: u64, n: u64) -> Verdict {
        let cx = self.at(now);
        let s = *self.board.get(seg(n)).unwrap();
        let mut found = Default::default();
        self.board.begin_ack();
        self.board.apply_sack((s.start, s.end()), &mut found);
        let newest = Some(Newest { at: s.at, end: s.end(), retransmitted: s.sends > 1 });
        let rtt = (s.sends == 1).then(|| cx.now.since(s.at));
        let ack = AckEvent { delivered: 1000, sacked: 1000, newest, rtt, ..blank() };
        self.d.on_ack(&ack, &wide(), &mut self.board, &cx)
    }

    fn lost(&self) -> Vec<u64> {
        let lost = self.board.iter().filter(|s| s.marks.any(Marks::LOST) && !s.marks.any(Marks::REXMIT));
        lost.map(|s| (s.start.0 - 1) / 1000).collect()
    }
}

#[test]
fn acknowledging_packet_4_loses_packet_1_and_not_packet_2() {
    let mut b = bench(QuicSpec::default());
    (1..=4).for_each(|n| b.send(n, n));
    assert_eq!((b.sack(80, 3), b.lost()), (Verdict::Clear, vec![]));
    assert_eq!((b.sack(81, 4), b.lost()), (Verdict::Lost(1000), vec![1]));
}

#[test]
fn with_a_smoothed_round_trip_of_100_and_a_last_one_of_80_ms_a_packet_is_lost_after_112_and_a_half() {
    let mut b = bench(QuicSpec::default());
    b.send(0, 0);
    b.send(10, 1);
    assert_eq!((b.sack(90, 1), b.d.deadline()), (Verdict::Clear, Some(Time(112_500_000))));
    let cx = Ctx { now: Time(112_500_000), ..b.cx };
    assert_eq!(b.d.on_timer(&wide(), &mut b.board, &cx), Verdict::Lost(1000));
    assert_eq!(b.d.deadline(), Some(ms(2010)), "no loss timer: the probe's, from the last packet");
}

#[test]
fn a_retransmission_has_a_place_of_its_own_and_is_lost_by_it() {
    let mut b = bench(QuicSpec::default());
    (0..4).for_each(|n| b.send(n, n));
    assert_eq!(b.sack(100, 3), Verdict::Lost(1000));
    b.d.on_cut(&wide(), &b.cx);
    // Segment 0 is resent, then 4, 5, 6: with 6 the copy is lost, and it was sent after the cut.
    [(101, 0), (102, 4), (103, 5), (104, 6)].into_iter().for_each(|(at, n)| b.send(at, n));
    b.sack(190, 1);
    b.sack(191, 2);
    assert_eq!((b.sack(202, 4), b.sack(203, 5)), (Verdict::Clear, Verdict::Clear));
    assert_eq!((b.sack(204, 6), b.lost()), (Verdict::Lost(1000), vec![0]));
}

#[test]
fn a_loss_of_what_was_sent_before_the_last_cut_is_no_new_event() {
    let mut b = bench(QuicSpec::default());
    (0..6).for_each(|n| b.send(n, n));
    assert_eq!(b.sack(100, 3), Verdict::Lost(1000));
    b.d.on_cut(&wide(), &b.cx);
    assert_eq!((b.sack(101, 4), b.lost()), (Verdict::More(1000), vec![0, 1]));
}

#[test]
fn seven_lost_packets_of_which_the_first_and_last_are_7_s_apart_are_persistent_congestion_at_a_pto_of_2_s() {
    // RFC 9002 §7.6.3; an RTT had been measured before.
    let mut b = bench(QuicSpec::default());
    b.send(0, 1);
    b.send(1000, 2);
    assert_eq!(b.sack(1200, 1), Verdict::Clear);
    for (at, n) in [(2000, 3), (3000, 4), (4000, 5), (5000, 6), (6000, 7), (8000, 8), (12_000, 9)] {
        b.send(at, n);
    }
    assert_eq!((b.sack(12_200, 9), b.lost()), (Verdict::Collapsed(7000), vec![2, 3, 4, 5, 6, 7, 8]));
    b.d.on_cut(&wide(), &b.cx);
    assert_eq!(b.d.recovery_start, None);
}

#[test]
fn an_acknowledged_packet_in_between_or_an_unmeasured_round_trip_is_no_persistent_congestion() {
    for (acked_between, measured) in [(true, true), (false, false), (false, true)] {
        let mut b = bench(QuicSpec::default());
        let srtt = b.cx.srtt;
        b.cx.srtt = srtt.filter(|_| measured);
        [(0, 1), (4000, 2)].into_iter().for_each(|(at, n)| b.send(at, n));
        b.cx.srtt = srtt;
        [(7000, 3), (12_000, 4)].into_iter().for_each(|(at, n)| b.send(at, n));
        let found = if acked_between { b.sack(12_050, 2) } else { Verdict::Clear };
        assert_eq!(found == Verdict::Clear, !acked_between);
        let verdict = b.sack(12_200, 4);
        assert!(verdict.lost() > 0);
        let want = if measured && !acked_between { Cause::Rto } else { Cause::Fast };
        assert_eq!(verdict.cause(), want, "{acked_between} {measured}");
    }
}

#[test]
fn the_probe_timeout_doubles_up_to_a_minute_and_an_acknowledgment_ends_that() {
    let mut b = bench(QuicSpec::default());
    b.send(0, 0);
    let mut at = 0;
    for secs in [2, 4, 8, 16, 32, 60, 60] {
        at += secs * 1000;
        assert_eq!(b.d.deadline(), Some(ms(at)));
        let cx = b.at(at);
        let want = if at == 2000 { Verdict::Probe } else { Verdict::More(1000) };
        assert_eq!(b.d.on_timer(&wide(), &mut b.board, &cx), want);
        b.send(at, 0);
    }
    b.send(at, 1);
    b.sack(at + 100, 0);
    assert_eq!(b.d.deadline(), Some(ms(at + 2000)));
}

#[test]
fn a_probe_goes_to_what_is_missing_when_the_last_segment_has_arrived() {
    let mut b = bench(QuicSpec::default());
    [0, 1].into_iter().for_each(|n| b.send(n, n));
    b.sack(100, 1);
    let cx = b.at(120);
    assert_eq!(b.d.on_timer(&wide(), &mut b.board, &cx), Verdict::Lost(1000));
    b.send(120, 0);
    let cx = b.at(2120);
    assert_eq!((b.d.on_timer(&wide(), &mut b.board, &cx), b.lost()), (Verdict::More(1000), vec![0]));
}

#[test]
fn a_loss_that_was_none_widens_both_thresholds_if_asked() {
    for (adapt, packets, round_trips) in [(false, 3, 1.125), (true, 5, 1.5)] {
        let mut b = bench(QuicSpec { adapt, ..QuicSpec::default() });
        (0..6).for_each(|n| b.send(0, n));
        // Packet 0 is declared lost by number 4, and arrives at 150 ms, before it is sent again.
        assert_eq!((b.sack(100, 4), b.lost()), (Verdict::Lost(2000), vec![0, 1]));
        assert_eq!(b.sack(150, 0), Verdict::Clear);
        assert_eq!((b.d.spec.packet_threshold, b.d.spec.time_threshold), (packets, round_trips));
    }
}

#[test]
fn a_packet_sent_at_the_moment_of_the_cut_still_belongs_to_what_the_cut_answered() {
    // RFC 9002 B.5: sent_time <= congestion_recovery_start_time.
    for (first, want) in [(100, Verdict::More(5000)), (101, Verdict::Lost(5000))] {
        let mut b = bench(QuicSpec::default());
        (0..6).for_each(|n| b.send(n, n));
        assert_eq!(b.sack(100, 3), Verdict::Lost(1000));
        b.d.on_cut(&wide(), &b.cx);
        [(first, 6), (101, 7), (102, 8), (103, 9)].into_iter().for_each(|(at, n)| b.send(at, n));
        assert_eq!((b.sack(230, 9), b.lost()), (want, vec![0, 1, 2, 4, 5, 6]), "sent at {first} ms");
    }
}

#[test]
fn before_the_first_sample_a_packet_is_lost_nine_eighths_of_the_initial_round_trip_after_it_was_sent() {
    // A.4: smoothed_rtt = kInitialRtt, 333 ms. The timeout of that time is three times as long (§6.2.2).
    let cx = Ctx { srtt: None, rto: Nanos::from_millis(999), ..context() };
    assert_eq!(Quic::new(&QuicSpec::default()).loss_delay(&cx), Nanos(374_625_000));
}
