//! Linux's rules where they differ from the RFCs': one timer for timeout, probe and reordering; late originals; timeouts.

use super::*;

const WND: u32 = 1_000_000;

/// A sender of twenty segments at 0 ms; the first of them is acknowledged at 100 ms, and five more are sent then.
fn flight() -> Sender {
    let mut s = Sender::new(&opened(named("linux-2025"), 20), MSS, u64::from(WND));
    s.write(100_000);
    send(&mut s, ms(0));
    acked(&mut s, 100, 1, 0, &[]);
    send(&mut s, ms(100));
    s
}

/// An ACK up to segment `n` at `at` ms that echoes `tsecr` and SACKs segments from the first to before the second of each pair.
fn acked(s: &mut Sender, at: u64, n: u64, tsecr: u32, sacked: &[(u64, u64)]) {
    let mut ack = Segment { seq: Offset::DATA, ack: Offset(seg(n)), wnd: WND, flags: Segment::ACK, ..Segment::EMPTY };
    (ack.opts, ack.tsecr) = (Segment::TIMESTAMPS, tsecr);
    sacked.iter().for_each(|b| ack.push_sack(Offset(seg(b.0)), Offset(seg(b.1))));
    s.on_ack(ms(at), &ack, &mut ());
}

/// The numbers of the segments sent now.
fn goes(s: &mut Sender, at: u64) -> Vec<u64> {
    send(s, ms(at)).iter().map(|x| (x.0 - 1) / 1000).collect()
}

#[test]
fn a_probe_that_would_come_after_the_timeout_comes_in_its_place() {
    // An RTT of 600 ms: the timeout is 800 ms, two RTTs are 1200.
    let mut s = Sender::new(&opened(named("linux-2025"), 4), MSS, u64::from(WND));
    s.write(4000);
    send(&mut s, ms(0));
    acked(&mut s, 600, 1, 0, &[]);
    s.timers.rto = Some(ms(1400));
    assert_eq!(
        (s.next_timer(), s.slots.detect.stands_in_for_rto()),
        (Some(ms(1400)), crate::detect::StandIn::CountFromOldest)
    );
    s.on_timer(ms(1400), &mut ());
    assert_eq!((s.phase(), goes(&mut s, 1400)), (Phase::Open, vec![3]), "the last segment, as a probe");
    // One probe per tail: now the timeout runs, from the probe.
    let at = s.next_timer().expect("the timeout");
    assert!(at >= ms(1400 + 800), "{at:?}");
    s.on_timer(at, &mut ());
    assert_eq!(s.phase(), Phase::Loss);
}

#[test]
fn a_partial_ack_of_a_late_original_marks_and_resends_nothing_while_retransmissions_are_out() {
    let mut s = flight();
    // Segments 1, 4 and 6 are missing, and there is room to resend two of them.
    acked(&mut s, 105, 1, 0, &[(7, 10), (5, 6), (2, 4)]);
    assert_eq!((s.phase(), goes(&mut s, 105)), (Phase::Recovery, vec![1, 4]));
    // Segment 1 was only late: the ACK answers its original. Segments 11 to 14 were overtaken by 15 to 19.
    acked(&mut s, 107, 4, 0, &[(15, 20), (7, 11), (5, 6)]);
    let waits =
        |x: &&crate::facts::scoreboard::Sent| x.marks.any(crate::facts::scoreboard::Marks::LOST) && x.sends == 1;
    let waiting: Vec<u64> = s.board.iter().filter(waits).map(|x| x.start.0).collect();
    assert_eq!((s.phase(), waiting), (Phase::Recovery, vec![seg(6)]));
    let went = goes(&mut s, 107);
    assert!(!went.is_empty() && went.iter().all(|n| *n >= 22), "new data only: {went:?}");
    // This ends with the next ACK.
    acked(&mut s, 108, 4, 0, &[(15, 21), (7, 11), (5, 6)]);
    assert_eq!(goes(&mut s, 108)[0], 6);
    // It also showed how far segments are overtaken: from segment 1 to the end of segment 19.
    assert_eq!(s.slots.detect.dupthresh(&s.w, &s.ctx(ms(107))), Some(19));
}

#[test]
fn a_timeout_spares_what_was_sent_within_a_round_trip() {
    let mut s = flight();
    // New data was sent at 100 ms, with an RTT of 100 ms known; at 150 ms only the data sent at 0 ms is lost.
    s.timers.rto = Some(ms(150));
    s.on_rto(ms(150), &mut ());
    let lost = s.board.iter().filter(|s| s.marks.any(crate::facts::scoreboard::Marks::LOST)).count();
    assert_eq!((s.board.len(), lost), (21, 19), "segments 1 to 19, not the two sent at 100 ms");
    assert_eq!(s.window().cwnd, 3000.0, "what is on its way, and one more (tcp_enter_loss)");
}

#[test]
fn a_timeout_in_a_recovery_does_not_cut_a_second_time() {
    let mut s = flight();
    acked(&mut s, 105, 1, 0, &[(2, 9)]);
    let ssthresh = s.window().ssthresh;
    assert_eq!(s.phase(), Phase::Recovery);
    send(&mut s, ms(105));
    s.on_rto(ms(500), &mut ());
    assert_eq!((s.phase(), s.window().ssthresh), (Phase::Loss, ssthresh));
    // Without a recovery, the timeout cuts the threshold.
    let mut s = flight();
    let before = s.window().cwnd;
    s.on_rto(ms(500), &mut ());
    assert!(s.window().ssthresh < before, "{:?} of {before}", s.window());
}

#[test]
fn a_sack_of_data_sent_before_the_oldest_was_resent_restarts_the_timer() {
    for (sent_later, anew) in [(false, true), (true, false)] {
        let mut s = flight();
        acked(&mut s, 105, 1, 0, &[(2, 9)]);
        send(&mut s, ms(105));
        let before = s.timers.rto;
        // Segments 9 to 19 were sent at 0 ms, 20 and later at 100 ms or after the retransmission.
        let at = if sent_later { (21, 22) } else { (9, 10) };
        s.board.resend(Offset(seg(1)), ms(if sent_later { 50 } else { 105 }), 1e9);
        acked(&mut s, 140, 1, 0, &[at, (2, 9)]);
        assert_eq!(s.timers.rto > before, anew, "SACKed what was sent later: {sent_later}");
    }
}

#[test]
fn in_a_recovery_the_second_copy_that_a_dsack_reports_counts_as_delivered() {
    let sent = |dsack: bool| {
        let mut s = flight();
        acked(&mut s, 105, 1, 0, &[(2, 5)]);
        send(&mut s, ms(105));
        let mut blocks = vec![(2, 6)];
        if dsack {
            blocks.insert(0, (0, 1));
        }
        acked(&mut s, 106, 1, 0, &blocks);
        goes(&mut s, 106).len()
    };
    // 14/21 of a segment for each delivered segment: three for four, four for five; two of them had been sent before.
    assert_eq!([false, true].map(sent), [1, 2]);
}
