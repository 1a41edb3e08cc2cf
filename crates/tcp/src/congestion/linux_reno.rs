//! Reno as in Linux: whole segments, growth by delivered data, half the window at a loss.
//!
//! Source: Linux 6.18 (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh` in `net/ipv4/tcp_cong.c`), in our words.
//!
//! Idea: below ssthresh the window grows by one segment per segment delivered, above it by one per window delivered. An
//! ACK that delivers many segments counts for all of them. A loss halves the window, not the outstanding data.
//!
//! | Linux | here |
//! | --- | --- |
//! | acked_sacked | `linux::Delivered` |
//! | tcp_is_cwnd_limited, max_packets_out | `linux::Usage` |
//! | snd_cwnd_cnt | `linux::Count` |
//!
//! Departures: delivered data is counted in bytes, so a short segment counts together with the next one.

use super::linux::{whole, Count, Growth, REORDERING};
use super::{Congestion, Cut, LossEvent};
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;

/// Linux's Reno at work.
#[derive(Default)]
pub struct LinuxReno(Growth);

impl Congestion for LinuxReno {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        self.0.on_ack(ack, w, cx, |cwnd, _| cwnd);
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        Some(REORDERING)
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        self.0.count = Count::default();
        // tcp_enter_loss: the phase has made its cut.
        if l.repeated || (l.in_recovery && l.cause == Cause::Rto) {
            return Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        }
        let half = f64::from((whole(w.cwnd, cx) / 2).max(2)) * cx.smss();
        Cut { ssthresh: half, cwnd: half }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, loss, whole as window};
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;

    /// The window, in segments, after one ACK that delivers `n`.
    fn after(w: Window, delivered: u64) -> f64 {
        let mut w = w;
        let ack = AckEvent { ack: Offset(1 + 1000 * delivered), delivered: 1000 * delivered, ..blank() };
        LinuxReno::default().on_ack(&ack, &mut w, &context());
        w.cwnd / 1000.0
    }

    #[test]
    fn an_ack_counts_for_every_segment_that_it_delivers() {
        let slow = Window { cwnd: 10_000.0, ssthresh: 1e9 };
        assert_eq!([1, 2, 10].map(|n| after(slow, n)), [11.0, 12.0, 20.0]);
        assert_eq!([9, 10, 25].map(|n| after(window(10.0), n)), [10.0, 11.0, 12.0]);
        let nearly = Window { cwnd: 10_000.0, ssthresh: 12_000.0 };
        assert_eq!(after(nearly, 14), 13.0, "two segments reach the threshold, the other twelve fill a window");
    }

    #[test]
    fn an_ack_that_only_sacks_opens_the_window_where_reordering_exceeds_three_segments() {
        // tcp_may_raise_cwnd: sysctl_tcp_reordering is 3.
        assert_eq!(LinuxReno::default().grows_by_sack_above(), Some(3));
    }

    #[test]
    fn a_loss_halves_the_window_in_whole_segments_and_never_below_two() {
        let cut = |segs| LinuxReno::default().on_loss(&loss(Cause::Fast, 1), &window(segs), &context());
        assert_eq!([11.0, 4.0, 3.0].map(|n| cut(n).ssthresh), [5000.0, 2000.0, 2000.0]);
        let again = LossEvent { repeated: true, ..loss(Cause::Rto, 1) };
        assert_eq!(LinuxReno::default().on_loss(&again, &window(7.0), &context()).ssthresh, 7000.0);
    }
}
