//! SACK blocks of a late ACK, below `snd_una` (Linux's `tcp_ack`, `old_ack`).

use super::*;

/// Ten segments were sent, and the first five are acknowledged.
fn flight(late_sack: bool) -> Sender {
    let mut stack = named("linux-2025");
    assert!(stack.options.late_sack, "as Linux does");
    stack.options.late_sack = late_sack;
    let mut s = Sender::new(&stack, MSS, 1_000_000);
    s.write(u64::from(10 * MSS));
    assert_eq!(send(&mut s, ms(0)).len(), 10);
    hear(&mut s, 100, 5, &[]);
    assert_eq!((s.positions().0, s.board().sacked()), (Offset(seg(5)), 0));
    s
}

/// An ACK of everything before segment `n`; returns how many events it led to.
fn hear(s: &mut Sender, at: u64, n: u64, blocks: &[(u64, u64)]) -> usize {
    let mut ack = Segment { ack: Offset(seg(n)), wnd: 77_000, flags: Segment::ACK, ..Segment::EMPTY };
    blocks.iter().for_each(|b| ack.push_sack(Offset(seg(b.0)), Offset(seg(b.1))));
    let mut heard: Vec<(Time, Event)> = vec![];
    s.on_ack(ms(at), &ack, &mut heard);
    heard.len()
}

#[test]
fn the_blocks_of_a_late_ack_are_read_where_the_stack_says_so() {
    for (late_sack, sacked) in [(false, 0), (true, 2 * u64::from(MSS))] {
        let mut s = flight(late_sack);
        let before = s.window();
        hear(&mut s, 110, 2, &[(7, 9)]);
        assert_eq!((s.board().sacked(), s.positions().0, s.window()), (sacked, Offset(seg(5)), before));
    }
}

#[test]
fn of_a_late_ack_only_what_lies_above_the_acknowledged_counts() {
    let mut s = flight(true);
    hear(&mut s, 110, 2, &[(3, 6)]);
    assert_eq!(s.board().sacked(), u64::from(MSS), "the rest of the block is acknowledged");
    assert_eq!(hear(&mut s, 120, 2, &[(3, 6)]), 0, "the same again tells nothing");
    assert_eq!(hear(&mut s, 130, 1, &[(2, 4)]), 0, "nor does what is acknowledged");
    assert_eq!(hear(&mut s, 140, 2, &[]), 0);
}

#[test]
fn what_an_earlier_ack_acknowledged_is_not_news_of_a_late_one() {
    let mut s = flight(true);
    assert_eq!(s.board().newly().count(), 5);
    hear(&mut s, 110, 2, &[(7, 9)]);
    assert_eq!(s.board().newly().map(|x| x.start).collect::<Vec<_>>(), [Offset(seg(7)), Offset(seg(8))]);
}

#[test]
fn a_loss_is_found_by_late_acks() {
    let mut s = flight(true);
    // The newest segments arrived, as reported by three ACKs that overtake each other; segment 5 is
    // lost.
    hear(&mut s, 110, 4, &[(8, 10)]);
    hear(&mut s, 111, 3, &[(7, 10)]);
    hear(&mut s, 112, 2, &[(6, 10)]);
    // At once, or when RACK's reordering window has passed.
    let mut again = send(&mut s, ms(112));
    while let Some(at) = s.next_timer().filter(|at| again.is_empty() && *at < ms(250)) {
        s.on_timer(at, &mut ());
        again = send(&mut s, at);
    }
    assert_eq!((again.first().map(|x| x.0), s.phase()), (Some(seg(5)), Phase::Recovery), "without a timeout");
}
