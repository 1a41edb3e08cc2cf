//! What the scoreboard's records say, counted one by one.

use super::{mss, whole};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Marks, Scoreboard, Sent};
use ackclock_tcp::seq::Offset;

/// Lost, and resent because everything is, not because of the mark.
const GONE_BACK: u8 = 32;

pub(super) fn end(s: &Sent) -> u64 {
    s.start.0 + u64::from(s.len)
}

pub(super) fn sacked(s: &Sent) -> bool {
    s.marks.any(Marks::SACKED)
}

pub(super) fn lost(s: &Sent) -> bool {
    s.marks.any(Marks::LOST)
}

pub(super) fn resent(s: &Sent) -> bool {
    s.marks.any(Marks::REXMIT)
}

/// What an ACK newly delivers. On a late ACK the scoreboard also tells what the ACK before it acknowledged: a known error, which
/// docs/testing.md describes.
pub(super) fn newly(board: &Scoreboard) -> impl Iterator<Item = &Sent> {
    board.newly()
}

/// RFC 6675 §4, SetPipe, without what duplicates say to have arrived.
pub(super) fn pipe(board: &Scoreboard) -> u64 {
    let mut pipe = 0;
    for s in board.iter().filter(|s| !sacked(s)) {
        if !lost(s) {
            pipe += u64::from(s.len);
        }
        if resent(s) {
            pipe += u64::from(s.len);
        }
    }
    pipe.saturating_sub(board.presumed())
}

pub(super) fn bytes(board: &Scoreboard, of: impl Fn(&Sent) -> bool) -> u64 {
    board.iter().filter(|s| of(s)).map(|s| u64::from(s.len)).sum()
}

/// The lowest segment that is lost and not resent.
pub(super) fn first_lost(board: &Scoreboard) -> Option<&Sent> {
    board.iter().find(|s| lost(s) && !sacked(s) && !resent(s) && !s.marks.any(GONE_BACK))
}

/// The highest end that is SACKed.
pub(super) fn highest_sacked(board: &Scoreboard) -> Option<u64> {
    board.iter().filter(|s| sacked(s)).map(end).max()
}

/// The lowest segment below SACKed data that is neither SACKed nor resent.
pub(super) fn first_hole(board: &Scoreboard) -> Option<&Sent> {
    let top = highest_sacked(board)?;
    board.iter().find(|s| !sacked(s) && !resent(s)).filter(|s| end(s) <= top)
}

/// Whether the lowest lost segment is one that was resent since then.
pub(super) fn lost_again_since(board: &Scoreboard, began: ackclock_tcp::time::Time) -> bool {
    first_lost(board).is_some_and(|s| s.sends > 1 && s.at >= began)
}

/// Segments of which a retransmission may be under way.
pub(super) fn retrans_out(board: &Scoreboard) -> u32 {
    board.iter().filter(|s| resent(s) && !sacked(s)).count() as u32
}

pub(super) fn oldest(board: &Scoreboard) -> Option<&Sent> {
    board.iter().next()
}

/// RFC 6675 §5 (C): room for a segment.
pub(super) fn pipe_admits(w: &Window, board: &Scoreboard, cx: &Ctx) -> bool {
    w.cwnd - pipe(board) as f64 >= mss(cx)
}

/// Whole segments of the window, and `extra` bytes, hold what went since `snd_una` and the next segment. A FIN is free beside a
/// full segment.
pub(super) fn window_admits(w: &Window, extra: u64, cx: &Ctx) -> bool {
    let used = cx.snd_nxt.0 - cx.snd_una.0;
    let next = u64::from(cx.next_len.min(cx.mss));
    cx.next_len != 0 && used + next <= whole(w.cwnd, cx) + extra
}

/// The lowest lost segment, else new data, as far as the pipe has room.
pub(super) fn lost_or_new(w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
    if !pipe_admits(w, board, cx) {
        return None;
    }
    lost_or_new_free(board, cx)
}

/// The same with room.
pub(super) fn lost_or_new_free(board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
    match first_lost(board) {
        Some(s) => Some(Xmit::Again(s.start)),
        None => (cx.next_len > 0).then_some(Xmit::New),
    }
}

/// The receiver reneged if it is said to hold the oldest segment when a timer fires (RFC 2018 §8).
pub(super) fn reneged(board: &Scoreboard) -> bool {
    oldest(board).is_some_and(sacked)
}

pub(super) fn at(offset: u64) -> Offset {
    Offset(offset)
}
