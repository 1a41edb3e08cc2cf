//! Every sequence of a few operations on a board of four segments, against the naive one.

use super::{Both, Op, MSS};

/// Segments sent before the first operation.
const SENT: usize = 4;

/// Operations that differ on such a board: ACKs of each length, of half a segment more, with each block of whole segments, with
/// blocks of half segments and with two blocks; each mark at each segment.
fn operations() -> Vec<Op> {
    let whole = u64::from(MSS);
    let mut all = vec![Op::Push(MSS)];
    for n in 0..=SENT {
        all.extend([0, whole / 2].map(|bytes| Op::Ack(n, bytes, vec![])));
    }
    for (acked, first) in [(0, 0), (1, 1)] {
        for i in first..SENT {
            all.extend((1..=SENT - i).map(|n| Op::Ack(acked, 0, vec![(i, 0, whole * n as u64)])));
        }
    }
    all.extend((0..SENT - 1).map(|i| Op::Ack(0, 0, vec![(i, whole / 2, whole)])));
    let (second, third, fourth, middle) = ((1, 0, whole), (2, 0, 2 * whole), (3, 0, whole), (1, 0, 2 * whole));
    for blocks in [[second, fourth], [fourth, second], [middle, third]] {
        all.push(Op::Ack(0, 0, blocks.to_vec()));
    }
    for i in 0..SENT {
        all.extend([Op::Resend(i), Op::MarkLost(i), Op::MarkHolesBelow(i, 0)]);
        all.extend([0, 3].map(|ago| Op::MarkSentBefore(i, ago)));
    }
    all.extend((1..SENT as u32).map(Op::MarkHolesUnder));
    all.extend([Op::Split(MSS / 2, false), Op::Split(MSS / 2, true)]);
    all.extend([Op::ResendLost, Op::MarkHead, Op::MarkRest, Op::MarkIsLost, Op::Unmark, Op::ClearSacks, Op::Rewind]);
    all
}

/// Applies every sequence of `more` operations; returns the number of boards compared.
fn follow(both: &Both, all: &[Op], more: usize) -> u64 {
    let after = |op: &Op| {
        let mut next = both.clone();
        next.apply(op);
        next.compare();
        1 + if more > 1 { follow(&next, all, more - 1) } else { 0 }
    };
    all.iter().map(after).sum()
}

/// All sequences of three operations; of four if `ACKCLOCK_EXHAUSTIVE` is set.
#[test]
fn every_short_sequence_of_operations_leaves_the_board_that_a_naive_one_has() {
    let length = if std::env::var_os("ACKCLOCK_EXHAUSTIVE").is_some() { 4 } else { 3 };
    let mut both = Both::default();
    (0..SENT).for_each(|_| both.apply(&Op::Push(MSS)));
    let all = operations();
    let compared = follow(&both, &all, length);
    let sequences = (all.len() as u64).pow(length as u32);
    assert!(compared > sequences, "{compared} boards for {sequences} sequences");
    eprintln!("{sequences} sequences of {} operations, {compared} boards", all.len());
}
