//! Which segments an established connection accepts: RFC 9293 §3.10.7.4 test by test, RFC 5961.

use super::*;

/// A segment from the peer of a connection that has sent and received nothing.
fn from_peer(flags: u8, seq: u64, len: u32, ack: u64) -> Segment {
    Segment { seq: Offset(seq), len, ack: Offset(ack), flags, wnd: RWND as u32, ..Segment::EMPTY }
}

/// The state that a refused segment must not touch.
fn standing(c: &Connection) -> (State, Bytes, Bytes, usize) {
    (c.state(), c.received(), c.acked(), c.receiver().map_or(0, |r| r.out_of_order().count()))
}

#[test]
fn data_whose_acknowledgment_is_wrong_are_not_taken() {
    let flags = Segment::ACK;
    for (seg, why, answers) in [
        (from_peer(flags, 1, 500, 99_999), Refusal::Ack, 1),
        (from_peer(flags, 501, 500, 99_999), Refusal::Ack, 1),
        (from_peer(flags | Segment::FIN, 1, 0, 99_999), Refusal::Ack, 1),
        (from_peer(0, 1, 500, 1), Refusal::Flags, 0),
        (from_peer(Segment::FIN, 1, 0, 1), Refusal::Flags, 0),
        (from_peer(Segment::PSH, 1, 500, 99_999), Refusal::Flags, 0),
    ] {
        let (_, mut b) = pair(&stack());
        let before = standing(&b);
        let got = b.on_segment(ms(1), &seg, &mut ());
        assert_eq!((got.refused, got.bytes), (Some(why), 0), "{seg:?}");
        assert_eq!((standing(&b), speak(&mut b, ms(1)).len()), (before, answers), "{seg:?}");
    }
}

#[test]
fn an_acknowledgment_older_than_the_largest_window_is_refused() {
    let (mut a, mut b) = pair(&stack());
    a.write(3 * RWND);
    let mut now = ms(1);
    while a.acked() < 2 * RWND {
        converse(&mut a, &mut b, now);
        now += Nanos::from_millis(1);
    }
    let una = 1 + a.acked();
    let mut take = |seq, ack| a.on_segment(ms(10_000), &from_peer(Segment::ACK, seq, 10, ack), &mut ()).refused;
    assert_eq!(take(1, una - RWND), None, "as old as a window is large");
    assert_eq!(take(11, una - RWND - 1), Some(Refusal::Ack));
    assert_eq!(take(11, 1), Some(Refusal::Ack));
    assert_eq!((a.received(), speak(&mut a, ms(10_000)).len()), (10, 1));
}

#[test]
fn the_sequence_number_is_looked_at_before_the_acknowledgment() {
    let (_, mut b) = pair(&stack());
    let got = b.on_segment(ms(1), &from_peer(Segment::ACK, 1 + 10 * RWND, 500, 99_999), &mut ());
    assert_eq!(got.refused, Some(Refusal::Window));
    let got = b.on_segment(ms(1), &from_peer(Segment::RST, 1 + 10 * RWND, 0, 99_999), &mut ());
    assert_eq!((got.refused, b.state()), (Some(Refusal::Window), State::Established));
}

#[test]
fn a_rst_counts_exactly_where_data_is_expected_whatever_it_acknowledges() {
    let (_, mut b) = pair(&stack());
    for (seq, answers) in [(2, 1), (100, 0), (RWND, 0), (1 + RWND + 1, 0), (0, 0)] {
        hear(&mut b, ms(1), &[from_peer(Segment::RST, seq, 0, 0)]);
        assert_eq!((b.state(), speak(&mut b, ms(1)).len()), (State::Established, answers), "{seq}: one answer in all");
    }
    hear(&mut b, ms(2), &[from_peer(Segment::RST | Segment::ACK, 1, 0, 99_999)]);
    assert_eq!(b.close_reason(), Some(CloseReason::Reset));
}

#[test]
fn a_rst_is_not_judged_by_its_timestamp() {
    let mut stack = stack();
    stack.options.timestamps = true;
    for opts in [0, Segment::TIMESTAMPS] {
        let (_, mut b) = pair(&stack);
        let data = Segment { tsval: 1000, opts: Segment::TIMESTAMPS, ..from_peer(Segment::ACK, 1, 100, 1) };
        hear(&mut b, ms(1), &[data]);
        let rst = Segment { tsval: 1, opts, ..from_peer(Segment::RST, 101, 0, 0) };
        hear(&mut b, ms(2), &[rst]);
        assert_eq!(b.close_reason(), Some(CloseReason::Reset), "RFC 7323 §5.2");
    }
}

#[test]
fn a_syn_is_answered_and_changes_nothing() {
    for seq in [0, 1, 500, 1 << 40] {
        let (_, mut b) = pair(&stack());
        let before = standing(&b);
        hear(&mut b, ms(1), &[from_peer(Segment::SYN, seq, 0, 0), from_peer(Segment::SYN | Segment::ACK, seq, 0, 1)]);
        assert_eq!((standing(&b), speak(&mut b, ms(1)).len()), (before, 1), "{seq}");
    }
}

#[test]
fn one_forged_segment_starts_no_war_of_acks() {
    let (mut a, mut b) = pair(&stack());
    // b believes data that a never sent, so each finds the other's ACKs wrong.
    hear(&mut b, ms(1), &[from_peer(Segment::ACK, 1, 500, 1)]);
    let mut sent = 0;
    for round_trip in 0..10_000 {
        let now = ms(1 + round_trip);
        let (from_a, from_b) = (speak(&mut a, now), speak(&mut b, now));
        sent += from_a.len() + from_b.len();
        hear(&mut b, now, &from_a);
        hear(&mut a, now, &from_b);
    }
    assert!(sent <= 2 * 21, "{sent} ACKs in ten seconds; each end may send one every half second");
}

#[test]
fn a_flood_of_segments_that_are_refused_costs_two_answers_a_second() {
    for flags in [Segment::SYN, Segment::SYN | Segment::ACK, Segment::RST, Segment::ACK] {
        let (_, mut b) = pair(&stack());
        let mut answers = 0;
        for i in 0..10_000 {
            let seq = if flags == Segment::RST { 2 } else { 1 };
            hear(&mut b, ms(i), &[from_peer(flags, seq, 0, 99_999)]);
            answers += speak(&mut b, ms(i)).len();
        }
        assert_eq!((answers, b.state()), (20, State::Established), "flags {flags:#x}");
    }
}

#[test]
fn the_next_answer_goes_exactly_half_a_second_after_the_last() {
    let (_, mut b) = pair(&stack());
    let answers = [0, 499, 500, 999, 1000].map(|at| {
        hear(&mut b, ms(at), &[from_peer(Segment::SYN, 1, 0, 0)]);
        speak(&mut b, ms(at)).len()
    });
    assert_eq!(answers, [1, 0, 1, 0, 1]);
}

#[test]
fn data_outside_the_window_are_always_answered() {
    let (_, mut b) = pair(&stack());
    for i in 0..100 {
        hear(&mut b, ms(i), &[from_peer(Segment::ACK, 1 + 2 * RWND, 1, 1)]);
        assert_eq!(speak(&mut b, ms(i)).len(), 1, "a probe wants to know the window");
    }
}

#[test]
fn a_fin_beyond_the_window_is_cut_off_and_comes_again() {
    for (len, fin_fits) in [(RWND - 1, true), (RWND, false), (RWND + 1, false)] {
        let (_, mut b) = pair(&stack());
        let seg = from_peer(Segment::ACK | Segment::FIN, 1, len as u32, 1);
        let got = b.on_segment(ms(1), &seg, &mut ());
        let (state, why) = match fin_fits {
            true => (State::CloseWait, None),
            false => (State::Established, Some(Refusal::Window)),
        };
        assert_eq!((b.state(), u64::from(got.bytes), got.refused), (state, len.min(RWND), why), "{len} bytes");
        let sent = speak(&mut b, ms(1));
        assert_eq!(sent.iter().map(|s| s.ack.0).collect::<Vec<_>>(), [1 + len.min(RWND) + u64::from(fin_fits)]);
        let got = b.on_segment(ms(2), &seg, &mut ());
        assert_eq!((b.state(), got.bytes), (State::CloseWait, (len - len.min(RWND)) as u32), "{len} bytes, again");
    }
}

#[test]
fn a_fin_that_waited_for_data_makes_the_later_close_a_passive_one() {
    let (mut a, mut b) = pair(&stack());
    hear(&mut b, ms(1), &[from_peer(Segment::ACK | Segment::FIN, 501, 500, 1), from_peer(Segment::ACK, 1, 500, 1)]);
    assert_eq!((b.state(), b.received()), (State::CloseWait, 1000));
    b.close();
    assert_eq!(b.state(), State::LastAck);
    let fin = speak(&mut b, ms(2));
    a.write(1000);
    a.close();
    speak(&mut a, ms(2));
    hear(&mut a, ms(3), &fin);
    hear(&mut b, ms(3), &speak(&mut a, ms(3)));
    assert_eq!(b.close_reason(), Some(CloseReason::Finished), "no TIME-WAIT for who closed second");
}
