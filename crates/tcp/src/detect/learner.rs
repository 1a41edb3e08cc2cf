//! Events of the connection from which a detector, or its rule for `dupthresh`, learns.

use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::Scoreboard;
use crate::seq::Offset;
use crate::time::{Nanos, Time};

/// Events of the connection for those components that learn: detectors, and their rules for `dupthresh`. A component that does
/// not adapt leaves it empty.
pub trait Learner {
    /// The handshake took `rtt`, and ended now.
    fn on_handshake(&mut self, _rtt: Nanos, _now: Time) {}
    /// Reordering was measured.
    fn on_reorder(&mut self, _sample: &ReorderSample, _w: &Window, _cx: &Ctx) {}
    /// A DSACK reported a segment that a fast retransmit had resent. That copy was needless, whatever happens to the rest of its
    /// episode. Called once for each such segment.
    fn on_needless(&mut self, _w: &Window, _cx: &Ctx) {}
    /// The partial ACK to be processed next shows that the data at `from` was only late. With `waits`, that ACK marks nothing
    /// lost.
    fn on_late_original(&mut self, _from: Offset, _waits: bool, _board: &Scoreboard, _cx: &Ctx) {}
    /// A Recovery or Loss phase ended.
    fn on_recovered(&mut self, _cx: &Ctx) {}
    /// The window was reduced; `w` is the window after it.
    fn on_cut(&mut self, _w: &Window, _cx: &Ctx) {}
    /// In Disorder a duplicate ACK released nothing although there was data to send (limited transmit ended before the threshold
    /// was reached), and nothing was sent for `idle`.
    fn on_stall(&mut self, _idle: Nanos, _w: &Window, _cx: &Ctx) {}
    /// The retransmission timer fired during a run of `dup_run` duplicates.
    fn on_rto(&mut self, _dup_run: u32, _w: &Window, _cx: &Ctx) {}
    /// Without SACK, more duplicates arrived than the `segments` outstanding can explain.
    fn on_excess(&mut self, _segments: u32) {}
}

/// The lessons of a detector whose `threshold` learns, except from timeouts.
macro_rules! threshold_learns {
    () => {
        fn on_reorder(&mut self, sample: &$crate::facts::reorder::ReorderSample, w: &Window, cx: &Ctx) {
            self.threshold.on_reorder(sample, w, cx);
        }
        fn on_needless(&mut self, w: &Window, cx: &Ctx) {
            self.threshold.on_needless(w, cx);
        }
        fn on_recovered(&mut self, cx: &Ctx) {
            self.threshold.on_recovered(cx);
        }
        fn on_cut(&mut self, w: &Window, cx: &Ctx) {
            self.threshold.on_cut(w, cx);
        }
        fn on_stall(&mut self, idle: $crate::time::Nanos, w: &Window, cx: &Ctx) {
            self.threshold.on_stall(idle, w, cx);
        }
    };
}
pub(super) use threshold_learns;
