//! The scoreboard against a naive one: a list of records, every number counted afresh, SACKed bytes as a bit vector.

use super::*;

const MSS: u32 = 4;
const DUPTHRESH: u32 = 3;

/// `n` segments of four bytes from offset 1 on, sent at times 1, 2, 3 …
fn sent(n: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..n {
        board.push(Offset(1 + 4 * i), MSS, Time(1 + i), 1.0, false);
    }
    board
}

/// One ACK with its SACK blocks.
fn ack(board: &mut Scoreboard, ack: u64, blocks: &[(u64, u64)]) -> Delivered {
    let mut d = Delivered::default();
    board.begin_ack();
    board.acknowledge(Offset(ack), &mut d);
    blocks.iter().for_each(|b| board.apply_sack((Offset(b.0), Offset(b.1)), &mut d));
    board.check();
    d
}

#[test]
fn what_overlapping_blocks_report_is_newly_delivered_once() {
    let mut board = sent(6);
    ack(&mut board, 1, &[(9, 17), (5, 21)]);
    let newly: Vec<_> = board.newly().map(|s| s.start.0).collect();
    assert_eq!(newly, [9, 13, 5, 17]);
}

#[test]
fn after_a_rewind_that_keeps_sacks_the_first_hole_is_not_sacked() {
    let mut board = sent(4);
    ack(&mut board, 1, &[(1, 5), (9, 13)]);
    board.rewind();
    assert_eq!(board.first_hole().map(|s| s.start), Some(Offset(5)));
}

#[test]
fn a_block_that_told_only_part_of_a_segment_is_read_again() {
    let mut board = sent(4);
    assert_eq!(ack(&mut board, 1, &[(7, 13)]).sacked, 4);
    assert_eq!(ack(&mut board, 1, &[(5, 13)]).sacked, 4, "the rest of the segment came");
    let mut board = sent(4);
    assert_eq!(ack(&mut board, 1, &[(7, 9)]).sacked, 0);
    assert_eq!(ack(&mut board, 7, &[(7, 9)]).sacked, 2, "the segment was cut to the part that is held");
}

#[test]
fn a_hole_that_was_resent_before_is_lost_holds_is_not_sent_again() {
    let mut board = sent(6);
    ack(&mut board, 1, &[(5, 9)]);
    board.resend(Offset(1), Time(9), 1.0);
    assert_eq!(board.pipe(), 4 * 4 + 2 * 4, "the original and its copy");
    ack(&mut board, 1, &[(5, 17)]);
    assert_eq!(board.mark_is_lost(DUPTHRESH, MSS), 4);
    assert_eq!((board.first_lost(), board.pipe()), (None, 2 * 4 + 4), "the copy alone");
}

#[test]
fn what_a_mistake_unmarked_is_judged_anew() {
    let mut board = sent(6);
    ack(&mut board, 1, &[(5, 17)]);
    assert_eq!(board.mark_is_lost(DUPTHRESH, MSS), 4);
    board.unmark_lost();
    assert_eq!(board.mark_is_lost(DUPTHRESH, MSS), 4);
}
