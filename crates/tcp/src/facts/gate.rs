//! Rule 25. The two send gates. The algorithm in charge, not the stack, chooses the gate.

use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Scoreboard;
use crate::units::Bytes;

/// Which gate the sequencer uses in Open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Whole segments of the window against the data between `snd_una` and `snd_nxt`.
    Window,
    /// RFC 6675's `cwnd − pipe ≥ 1 SMSS`.
    Pipe,
}

/// Bytes as a real number. Bytes in flight fit a signed integer, which the processor converts in one step.
#[inline]
pub(crate) fn real(bytes: Bytes) -> f64 {
    bytes as i64 as f64
}

/// `cwnd` in whole segments, as bytes: a fraction does not count until it has become a full segment (RFC 5681 §3.1).
#[inline]
pub fn whole_segments(cwnd: f64, mss: u32) -> Bytes {
    (cwnd / f64::from(mss)) as u64 * u64::from(mss)
}

/// Whether the whole segments of `cwnd` cover `need` bytes. Divides only where rounding down can change the result.
#[inline]
pub fn covers(cwnd: f64, need: Bytes, mss: u32) -> bool {
    let short = cwnd - real(need);
    short >= f64::from(mss) || (short >= 0.0 && whole_segments(cwnd, mss) >= need)
}

/// Window gate: may the next segment be sent, with `extra` bytes above the whole segments of `cwnd`?
#[inline]
pub fn window(w: &Window, extra: Bytes, cx: &Ctx) -> bool {
    let used = cx.snd_nxt - cx.snd_una;
    cx.next_len > 0 && whole_segments(w.cwnd, cx.mss) + extra >= used + payload(cx.next_len, cx.mss)
}

/// The window needed by a segment that takes `len` of sequence space. A FIN on a full segment is free, because a
/// window of one segment could otherwise never send it.
#[inline]
pub(crate) fn payload(len: u32, mss: u32) -> Bytes {
    u64::from(len.min(mss))
}

/// Pipe gate: is there a segment's worth of `cwnd` that is not in the network (RFC 6675 §5 (C))?
#[inline]
pub fn pipe(w: &Window, board: &Scoreboard, cx: &Ctx) -> bool {
    w.cwnd - real(board.pipe()) >= cx.smss()
}
