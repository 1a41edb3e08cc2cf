//! What a detector, or its rule for `dupthresh`, hears of the connection to learn from it.

use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::Scoreboard;
use crate::seq::Offset;
use crate::time::Nanos;

/// What becomes of the connection, for whoever learns from it: detectors, and their rules for `dupthresh`. One that stays as it is leaves
/// it empty.
pub trait Learner {
    /// Reordering was measured.
    fn on_reorder(&mut self, _sample: &ReorderSample, _w: &Window, _cx: &Ctx) {}
    /// A DSACK reported a segment that a fast retransmit had sent a second time: that copy was needless, whatever becomes of the
    /// rest of its episode. Of each such segment once.
    fn on_needless(&mut self, _w: &Window, _cx: &Ctx) {}
    /// By the partial ACK that comes next, what lay at `from` was only late. With `waits` nothing is marked lost by it.
    fn on_late_original(&mut self, _from: Offset, _waits: bool, _board: &Scoreboard, _cx: &Ctx) {}
    /// A Recovery or Loss phase ended.
    fn on_recovered(&mut self, _cx: &Ctx) {}
    /// The window was reduced; `w` is the window after it.
    fn on_cut(&mut self, _w: &Window, _cx: &Ctx) {}
    /// In Disorder a duplicate ACK let nothing out though there was something to send (limited transmit came to its end before the
    /// threshold was reached), and nothing went for so long.
    fn on_stall(&mut self, _idle: Nanos, _w: &Window, _cx: &Ctx) {}
    /// The retransmission timer fired in the middle of `dup_run` duplicates.
    fn on_rto(&mut self, _dup_run: u32, _w: &Window, _cx: &Ctx) {}
    /// Without SACK more duplicates came than segments can have arrived, of `segments` that were outstanding.
    fn on_excess(&mut self, _segments: u32) {}
}
