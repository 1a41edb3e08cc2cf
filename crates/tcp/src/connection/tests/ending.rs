//! TIME-WAIT: RFC 9293 §3.10.7.4, eighth; RFC 6191.

use super::*;

/// A connection that closed first and is in TIME-WAIT, its peer's FIN, and when the wait ends.
fn waiting(stack: &Stack) -> (Connection, Segment, Time) {
    let (mut a, mut b) = pair(stack);
    b.write(1000);
    a.close();
    converse(&mut a, &mut b, ms(1));
    b.close();
    let fin = speak(&mut b, ms(2));
    hear(&mut a, ms(2), &fin);
    assert_eq!((a.state(), speak(&mut a, ms(2)).len(), fin.len()), (State::TimeWait, 1, 1));
    assert_eq!(a.next_timer(), Some(ms(2) + TIME_WAIT));
    (a, fin[0], ms(2) + TIME_WAIT)
}

#[test]
fn the_fin_sent_again_restarts_the_time_wait() {
    let (mut a, fin, _) = waiting(&stack());
    hear(&mut a, ms(1000), &[fin]);
    assert_eq!((speak(&mut a, ms(1000)).len(), a.next_timer()), (1, Some(ms(1000) + TIME_WAIT)));
    // Also with the data before it.
    hear(&mut a, ms(2000), &[Segment { seq: Offset(1), len: 1000, ..fin }]);
    assert_eq!((speak(&mut a, ms(2000)).len(), a.next_timer()), (1, Some(ms(2000) + TIME_WAIT)));
}

#[test]
fn any_other_fin_does_not_restart_the_time_wait() {
    let (mut a, fin, ends) = waiting(&stack());
    for (n, seg) in [
        Segment { seq: Offset(500_000_000), ..fin },
        Segment { seq: fin.seq + 1, ..fin },
        Segment { seq: fin.seq + 5, len: 100, ..fin },
        Segment { seq: Offset(1), len: 10, ..fin },
        Segment { ack: Offset(99_999), ..fin },
        Segment { seq: Offset(1), len: 1000, ack: Offset(99_999), ..fin },
        Segment { flags: Segment::FIN, ..fin },
        Segment { flags: Segment::ACK, ..fin },
        Segment { flags: Segment::SYN, ..fin },
    ]
    .iter()
    .enumerate()
    {
        hear(&mut a, ms(1000 * (1 + n as u64)), &[*seg]);
        assert_eq!((a.state(), a.next_of_all()), (State::TimeWait, Some(ends)), "{seg:?}");
        speak(&mut a, ms(1000 * (1 + n as u64)));
    }
}

#[test]
fn a_fin_with_an_old_timestamp_does_not_restart_the_time_wait() {
    let mut stack = stack();
    stack.options.timestamps = true;
    let (mut a, fin, ends) = waiting(&stack);
    hear(&mut a, ms(1000), &[Segment { tsval: fin.tsval.wrapping_sub(1), ..fin }]);
    assert_eq!(a.next_timer(), Some(ends));
    hear(&mut a, ms(2000), &[fin]);
    assert_eq!(a.next_timer(), Some(ms(2000) + TIME_WAIT));
}

#[test]
fn a_flood_in_time_wait_is_answered_twice_a_second_and_ends_with_it() {
    let (mut a, fin, ends) = waiting(&stack());
    let mut sent = 0;
    for i in 0..60_000 {
        hear(&mut a, ms(2 + i), &[Segment { flags: Segment::ACK, len: 0, seq: Offset(500_000_000), ..fin }]);
        a.on_timer(ms(2 + i), &mut ());
        sent += speak(&mut a, ms(2 + i)).len();
    }
    assert!(sent <= 121, "{sent} answers in a minute");
    a.on_timer(ends, &mut ());
    assert_eq!(a.close_reason(), Some(CloseReason::Finished));
}

#[test]
fn a_new_syn_may_reuse_the_pair_if_it_is_newer_than_all_that_was_seen() {
    for (old_stamps, offers) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut stack = stack();
        stack.options.timestamps = old_stamps;
        let (a, fin, _) = waiting(&stack);
        let next = fin.seq + 1;
        let recent = fin.tsval;
        let may = |seq: Offset, tsval: Option<u32>| {
            let opts = if tsval.is_some() { Segment::TIMESTAMPS } else { 0 };
            let syn = Segment { seq, flags: Segment::SYN, tsval: tsval.unwrap_or(0), opts, ..Segment::EMPTY };
            a.may_reuse(ms(5000), &syn, offers).is_some()
        };
        // RFC 6191 §2, its list from top to bottom: (timestamps before, timestamps now).
        let (newer, same, older) = (Some(recent + 1), Some(recent), Some(recent.wrapping_sub(1)));
        let want = match (old_stamps, offers) {
            (true, true) => [true, true, true, false, false, false],
            (false, true) => [true, true, true, true, true, true],
            (_, false) => [true, false, true, false, true, false],
        };
        let later_or_earlier = |t| [may(next, t), may(fin.seq, t)];
        assert_eq!([newer, same, older].map(later_or_earlier).concat(), want, "{old_stamps} {offers}");
        assert_eq!(later_or_earlier(None), [true, false], "without timestamps by the sequence number");
    }
}

#[test]
fn who_reuses_a_pair_begins_behind_what_was_used() {
    let mut stack = stack();
    stack.options.timestamps = true;
    let (a, fin, _) = waiting(&stack);
    let syn = Segment { seq: fin.seq + 1, flags: Segment::SYN, tsval: fin.tsval + 1, opts: Segment::TIMESTAMPS, ..fin };
    let want = Reuse { isn_from: Offset(2), tsval_from: Some(5000) };
    assert_eq!(a.may_reuse(ms(5000), &syn, true), Some(want), "a's FIN stood at 1");
    assert_eq!(a.may_reuse(ms(5000), &Segment { flags: Segment::SYN | Segment::ACK, ..syn }, true), None);
    let (established, _) = pair(&stack);
    assert_eq!(established.may_reuse(ms(5000), &syn, true), None, "only in TIME-WAIT");
}
