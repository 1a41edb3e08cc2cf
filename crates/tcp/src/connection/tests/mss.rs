//! The path carries smaller packets than the handshake assumed.

use super::*;
use crate::startup::fixed::FixedSpec;
use crate::startup::StartupSpec;

/// Ten segments of 1000 bytes outstanding, none of them acknowledged or SACKed.
fn ten_out(name: &str) -> Connection {
    let startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: None });
    let mut c = Connection::established(&Stack { startup, ..named(name) }, Sides::Both, MSS, RWND);
    c.write(15_000);
    assert_eq!(speak(&mut c, ms(0)).len(), 10);
    c
}

fn acks(ack: u64) -> Segment {
    Segment { seq: Offset::DATA, ack: Offset(ack), wnd: 20_000, flags: Segment::ACK, ..Segment::EMPTY }
}

fn ranges(sent: &[Segment]) -> Vec<(u64, u32)> {
    sent.iter().map(|s| (s.seq.0, s.len)).collect()
}

#[test]
fn data_that_was_too_big_is_resent_in_smaller_segments_one_first_and_the_window_stays() {
    for name in ["reno", "rfc-6675", "rack-tlp"] {
        let mut c = ten_out(name);
        let before = c.info().window.expect("a sender");
        assert_eq!(c.on_too_big(ms(10), Offset(1), 600), TooBig::Taken, "{name}");
        let info = c.info();
        assert_eq!((info.snd_mss, info.unacked, info.lost, info.pipe), (600, 20, 20, 0), "{name}");
        assert_eq!(info.window, Some(before), "{name}: no queue was full");
        assert_eq!(ranges(&speak(&mut c, ms(10))), [(1, 600)], "{name}");
        hear(&mut c, ms(20), &[acks(601)]);
        let sent = ranges(&speak(&mut c, ms(20)));
        // Everything lost, in order; the splits are where the records ended.
        assert_eq!(sent[..4], [(601, 400), (1001, 600), (1601, 400), (2001, 600)], "{name}");
        assert_eq!(sent[18], (9601, 400), "{name}");
        assert!(sent.len() > 19 && sent[19].1 == 600, "{name}: then new data, {sent:?}");
    }
}

#[test]
fn what_is_acknowledged_or_not_sent_was_not_too_big_and_a_larger_size_is_no_news() {
    let mut c = ten_out("rfc-6675");
    hear(&mut c, ms(10), &[acks(2001)]);
    speak(&mut c, ms(10));
    let max = c.sender().expect("a sender").positions().2;
    for (at, mss) in [(Offset(2000), 600), (max, 600), (Offset(0), 600), (Offset(2001), 1000), (Offset(2001), 9000)] {
        assert_eq!(c.on_too_big(ms(11), at, mss), TooBig::Ignored, "{at} {mss}");
    }
    assert_eq!((c.info().snd_mss, c.info().lost), (1000, 0));
    assert_eq!(c.on_too_big(ms(11), Offset(max.0 - 1), 600), TooBig::Taken);
}

#[test]
fn no_message_brings_segments_below_five_hundred_bytes() {
    let mut c = ten_out("rfc-6675");
    assert_eq!(c.on_too_big(ms(10), Offset(1), 1), TooBig::Taken);
    assert_eq!(c.info().snd_mss, 500);
    c.set_mss(0);
    assert_eq!(c.info().snd_mss, 500);
    c.set_mss(u32::MAX);
    assert_eq!(c.info().snd_mss, MSS, "and none above what was agreed");
    let mut c = Connection::established(&stack(), Sides::Both, 300, RWND);
    c.write(900);
    speak(&mut c, ms(0));
    assert_eq!((c.on_too_big(ms(1), Offset(1), 100), c.info().snd_mss), (TooBig::Ignored, 300));
}

#[test]
fn a_cap_in_segments_stays_one_in_segments() {
    let mut stack = Stack { startup: StartupSpec::Fixed(FixedSpec::default()), ..stack() };
    stack.limits.cwnd_cap_segs = Some(2);
    let mut c = Connection::established(&stack, Sides::Both, MSS, RWND);
    c.set_mss(500);
    c.write(50_000);
    hear(&mut c, ms(1), &[acks(1)]);
    let mut una = 1;
    for i in 2..10 {
        let sent = speak(&mut c, ms(i));
        let end = sent.last().expect("something may go").end().0;
        assert!(end - una <= 1000, "{} bytes are out", end - una);
        una = end;
        hear(&mut c, ms(i), &[acks(una)]);
    }
    assert_eq!(c.sender().map(|tx| tx.window().cwnd >= 1000.0), Some(true));
}

#[test]
fn data_held_back_that_becomes_a_full_segment_is_sent_and_no_longer_waits() {
    let mut c = Connection::established(&stack(), Sides::Both, MSS, RWND);
    c.set_cork(true);
    c.write(600);
    assert!(speak(&mut c, ms(0)).is_empty());
    assert_eq!(c.next_timer(), Some(ms(1000)), "corked data waits for a timeout");
    c.set_mss(500);
    let sent = speak(&mut c, ms(600));
    assert_eq!(sent.iter().map(|s| s.len).collect::<Vec<_>>(), [500]);
    assert_eq!(c.next_timer(), Some(ms(1600)), "the retransmission timer alone");
}

#[test]
fn the_retransmission_timer_restarts_for_resent_data() {
    let mut c = ten_out("rfc-6675");
    assert_eq!(c.next_timer(), Some(ms(1000)));
    c.on_too_big(ms(900), Offset(1), 600);
    assert_eq!(c.next_timer(), Some(ms(1900)));
}

#[test]
fn a_fin_stays_on_the_last_piece() {
    let mut c = Connection::established(&stack(), Sides::Both, MSS, RWND);
    c.write(1000);
    c.close();
    assert_eq!(ranges(&speak(&mut c, ms(0))), [(1, 1000)]);
    c.on_too_big(ms(10), Offset(1), 500);
    let first = speak(&mut c, ms(10));
    hear(&mut c, ms(20), &[acks(501)]);
    let second = speak(&mut c, ms(20));
    assert_eq!((ranges(&first), ranges(&second)), (vec![(1, 500)], vec![(501, 500)]));
    assert!(!first[0].has(Segment::FIN) && second[0].has(Segment::FIN));
    hear(&mut c, ms(30), &[acks(1002)]);
    assert_eq!((c.state(), c.acked()), (State::FinWait2, 1000));
}

#[test]
fn a_full_segment_that_times_out_three_times_makes_segments_smaller_only_if_asked() {
    for (find, want) in [(false, [1460; 6]), (true, [1460, 1460, 1024, 512, 500, 500])] {
        let mut c = Connection::established(&stack(), Sides::Both, 1460, RWND);
        c.find_black_holes(find);
        c.write(5000);
        speak(&mut c, ms(0));
        let sizes = [(); 6].map(|()| {
            let at = c.next_timer().expect("data is outstanding");
            c.on_timer(at, &mut ());
            let sent = speak(&mut c, at);
            assert_eq!((sent[0].seq, sent[0].len), (Offset::DATA, c.info().snd_mss));
            sent[0].len
        });
        assert_eq!(sizes, want);
    }
}

#[test]
fn a_small_segment_that_times_out_is_no_black_hole() {
    let mut c = Connection::established(&stack(), Sides::Both, 1460, RWND);
    c.find_black_holes(true);
    c.write(1459);
    speak(&mut c, ms(0));
    for _ in 0..6 {
        let at = c.next_timer().expect("data is outstanding");
        c.on_timer(at, &mut ());
        speak(&mut c, at);
    }
    assert_eq!(c.info().snd_mss, 1460);
}
