//! Linux without SACK, exchange by exchange: the segments sent follow from Linux's arithmetic by hand (`tcp_add_reno_sack`,
//! `tcp_cwnd_reduction`, `tcp_try_undo_partial`, `tcp_process_loss`).

use super::*;
use crate::startup::{fixed::FixedSpec, StartupSpec};

/// Linux's Reno without SACK: ten segments are outstanding, as many as the window and the threshold allow. `rwnd` is the peer's
/// window in segments.
fn linux(rwnd: u32) -> Sender {
    let fixed = FixedSpec { initial_window_segs: 10, ssthresh_segs: Some(10) };
    let stack = Stack { startup: StartupSpec::Fixed(fixed), ..named("linux-reno-2025").without_sack() };
    let mut s = Sender::new(&stack, MSS, u64::from(rwnd) * u64::from(MSS));
    s.on_handshake(Nanos::from_millis(100), Time::ZERO);
    s.write(10_000_000);
    assert_eq!(send(&mut s, ms(0)).len(), 10);
    s
}

/// An ACK of everything before segment `n`, with or without an echoed timestamp; returns the segments that it releases.
fn acked(s: &mut Sender, at: u64, n: u64, tsecr: Option<u32>) -> Vec<u64> {
    let wnd = s.peer.wnd;
    let opts = if tsecr.is_some() { Segment::TIMESTAMPS } else { 0 };
    let ack =
        Segment { ack: Offset(seg(n)), wnd, opts, tsecr: tsecr.unwrap_or(0), flags: Segment::ACK, ..Segment::EMPTY };
    s.on_ack(ms(at), &ack, &mut ());
    send(s, ms(at)).iter().map(|sent| sent.0 / u64::from(MSS)).collect()
}

fn dupthresh(s: &Sender) -> Option<u32> {
    s.slots.detect.dupthresh(&s.w, &s.ctx(ms(0)))
}

#[test]
fn each_duplicate_makes_room_for_a_segment_and_the_third_begins_a_proportional_recovery() {
    let mut s = linux(1000);
    let sent: Vec<_> = (1..=6).map(|n| acked(&mut s, 100 + n, 0, None)).collect();
    // 12 are outstanding when the head is lost; half as many as then arrive are sent.
    assert_eq!(sent, [vec![10], vec![11], vec![0], vec![], vec![12], vec![]]);
    assert_eq!((s.phase(), s.window().ssthresh), (Phase::Recovery, 5000.0));
    assert_eq!((s.board.presumed(), s.board.pipe()), (6000, 13_000 - 6000));
}

#[test]
fn after_the_last_segment_of_a_recovery_its_echoes_begin_no_other_one() {
    let mut s = linux(1000);
    (1..=4).for_each(|n| _ = acked(&mut s, 100 + n, 0, None));
    acked(&mut s, 200, 12, None);
    assert_eq!((s.phase(), s.board.presumed()), (Phase::Recovery, 0));
    (1..=4).for_each(|n| _ = acked(&mut s, 200 + n, 12, None));
    assert_eq!((s.phase(), s.episodes(), s.board.presumed()), (Phase::Recovery, 1, 0));
    acked(&mut s, 210, 13, None);
    assert_eq!((s.phase(), s.window().cwnd), (Phase::Open, 5000.0));
}

#[test]
fn a_partial_ack_eats_duplicates_and_its_head_goes_again_with_the_next_that_arrives() {
    let mut s = linux(1000);
    (1..=6).for_each(|n| _ = acked(&mut s, 100 + n, 0, None));
    // 4 acknowledged: one filled the hole, the other three are among the six duplicates. 9 are outstanding, 3 have arrived, and 1
    // is lost: 5 are left.
    assert!(acked(&mut s, 200, 4, None).is_empty());
    assert_eq!((s.phase(), s.board.presumed(), s.window().cwnd), (Phase::Recovery, 3000, 5000.0));
    assert_eq!(acked(&mut s, 201, 4, None), [4]);
}

#[test]
fn more_duplicates_than_segments_under_way_are_reordering() {
    let mut s = linux(10);
    (1..=9).for_each(|n| _ = acked(&mut s, 100 + n, 0, None));
    assert_eq!((dupthresh(&s), s.board.presumed()), (Some(3), 9000));
    acked(&mut s, 110, 0, None);
    assert_eq!((dupthresh(&s), s.board.presumed()), (Some(10), 9000));
}

#[test]
fn an_old_echo_on_a_partial_ack_gives_the_window_back_and_teaches_how_far_it_was_late() {
    let mut s = linux(1000);
    (1..=3).for_each(|n| _ = acked(&mut s, 100 + n, 0, Some(1)));
    assert_eq!(s.phase(), Phase::Recovery);
    acked(&mut s, 110, 4, Some(50));
    assert_eq!((s.phase(), s.window().cwnd, dupthresh(&s)), (Phase::Open, 10_000.0, Some(4)));
    (1..=3).for_each(|n| _ = acked(&mut s, 110 + n, 4, Some(50)));
    assert_eq!(s.phase(), Phase::Disorder, "three are no longer enough");
}

#[test]
fn duplicates_that_an_undo_leaves_over_may_begin_the_next_recovery_at_once() {
    let mut s = linux(1000);
    (1..=5).for_each(|n| _ = acked(&mut s, 100 + n, 0, Some(1)));
    // Two acknowledged leave four of the five duplicates.
    assert_eq!(acked(&mut s, 110, 2, Some(50)).first(), Some(&2));
    assert_eq!((s.phase(), s.episodes(), s.board.presumed()), (Phase::Recovery, 2, 4000));
}

#[test]
fn after_a_timeout_an_ack_of_originals_alone_shows_that_it_was_needless() {
    for (next, phase) in [(2, Phase::Open), (1, Phase::Loss)] {
        let mut s = linux(1000);
        let at = s.next_timer().unwrap().0 / 1_000_000;
        s.on_timer(ms(at), &mut ());
        assert_eq!(send(&mut s, ms(at)), [(seg(0), 1000)]);
        // The resent segment is among them, so the copies cannot be told apart.
        assert_eq!(acked(&mut s, at + 50, 1, None), [10, 11]);
        assert_eq!(s.phase(), Phase::Loss);
        acked(&mut s, at + 60, next, None);
        assert_eq!((s.phase(), s.window().cwnd >= 10_000.0), (phase, phase == Phase::Open), "ACK of {next}");
    }
}
