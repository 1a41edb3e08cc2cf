//! Late acknowledgment: data declared lost is acknowledged after all.
//!
//! Source: MsQuic, `QuicLossDetectionProcessAckBlocks` and `QuicLossDetectionDetectAndHandleLostPackets` in
//! `src/core/loss_detection.c` (commit 02a99b5364d6), `CubicCongestionControlOnSpuriousCongestionEvent` in `src/core/cubic.c`
//! (commit 006a12ae3e46), in our words. RFC 9002 gives no response to such a loss.
//!
//! Idea: packets declared lost are remembered. If an acknowledgment covers the last of them, and nothing sent after the cut was
//! acknowledged before, the cut was a mistake.
//!
//! | source | here |
//! | --- | --- |
//! | LostPackets | `board.lost()` and, for resent data, `lost` |
//! | IsInRecovery, RecoverySentPacketNumber | `watch`: ends when data sent after the cut is delivered |
//! | TwoPto | twice the timeout without back-off: older ones are dropped and prove nothing |
//! | HasHadCongestionEvent = FALSE | `ep.recover` goes back to `snd_una` |
//!
//! Departures: a TCP acknowledgment does not say which copy arrived. It was the original if nothing was resent, if the copy was
//! sent less than the smallest RTT ago, or if the ACK of the oldest segment echoes an older timestamp (decision 0061). Beyond 512
//! lost copies nothing is proved. Unsaid: the response, which is left to the slot `undo`.

use super::Spurious;
use crate::event::Cause;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::segment::{is_older, timestamp};
use crate::seq::Offset;
use crate::time::Time;
use std::collections::VecDeque;

/// The most lost copies remembered.
const CAPACITY: usize = 512;

/// A copy declared lost and not known to have arrived.
#[derive(Clone, Copy)]
struct Lost {
    end: Offset,
    sent: Time,
    /// When another copy replaced it.
    resent: Time,
    episode: u32,
}

/// The judge at work.
#[derive(Default)]
pub struct LateAck {
    /// The newest episode and when it began, as long as it may be a mistake.
    watch: Option<(u32, Time)>,
    /// Lost copies of resent segments.
    lost: VecDeque<Lost>,
}

/// Whether an earlier copy of a resent segment arrived.
fn is_original(s: &Sent, ack: &AckEvent, cx: &Ctx) -> bool {
    let echoed = || ack.tsecr.is_some_and(|echo| is_older(echo, timestamp(s.at)));
    is_too_soon(s.at, cx) || (s.start == ack.prior_una && echoed())
}

/// Whether nothing sent at `at` can have been acknowledged by now.
fn is_too_soon(at: Time, cx: &Ctx) -> bool {
    cx.min_rtt.is_some_and(|min| cx.now.since(at) < min)
}

impl LateAck {
    /// Drops copies sent more than two timeouts ago, which will not arrive any more.
    fn forget(&mut self, cx: &Ctx) {
        let (watched, two) = (self.watch.map(|w| w.0), cx.rto.times(2));
        let mut genuine = false;
        self.lost.retain(|l| {
            let hopeless = cx.now.since(l.sent) > two;
            genuine |= hopeless && watched == Some(l.episode);
            !hopeless
        });
        if genuine {
            self.watch = None;
        }
    }

    /// Whether an ACK delivers data sent after the cut at `began`.
    fn ends_recovery(ack: &AckEvent, began: Time, cx: &Ctx) -> bool {
        ack.newest.is_some_and(|n| n.at >= began && !(n.retransmitted && is_too_soon(n.at, cx)))
    }
}

impl Spurious for LateAck {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) {
        self.forget(cx);
        self.watch = Some((ledger.count(), cx.now));
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, cx: &Ctx) {
        self.forget(cx);
        if self.lost.len() == CAPACITY {
            self.watch = None;
            return;
        }
        self.lost.push_back(Lost { end: seg.end(), sent: before, resent: seg.at, episode: ep.id });
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        self.watch.is_none()
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        self.forget(cx);
        let (id, began) = self.watch?;
        for s in board.newly().filter(|s| s.sends > 1 && is_original(s, ack, cx)) {
            if let Some(i) = self.lost.iter().rposition(|l| l.end == s.end() && l.resent == s.at) {
                self.lost.remove(i);
            }
        }
        if !self.lost.is_empty() || board.lost() > 0 {
            if Self::ends_recovery(ack, began, cx) {
                self.watch = None;
            }
            return None;
        }
        self.watch = None;
        let ep = ledger.get(id).filter(|ep| !ep.void && ep.cause != Cause::Ecn)?;
        ep.proven_spurious = ep.retransmits;
        // Data sent before the cut opens the window again.
        ep.recover = ack.prior_una;
        let sample = ReorderSample {
            dupacks: ack.dup_run,
            first_dup: ep.first_dup,
            last_dup: ep.last_dup,
            filled: cx.now,
            resent: Some(ep.began),
            segments: ep.retransmits,
        };
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: Some(sample) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ack::Newest;
    use crate::testing::{blank, context, ms};
    use crate::time::Nanos;

    #[test]
    fn data_sent_after_the_cut_ends_a_recovery_unless_an_earlier_copy_of_it_must_have_arrived() {
        let ends = |at: u64, retransmitted: bool| {
            let newest = Some(Newest { at: ms(at), end: Offset(1), retransmitted });
            let cx = Ctx { now: ms(150), min_rtt: Some(Nanos::from_millis(100)), ..context() };
            LateAck::ends_recovery(&AckEvent { newest, ..blank() }, ms(20), &cx)
        };
        assert!(ends(20, false) && ends(50, true));
        assert!(!ends(19, false), "sent before the cut");
        assert!(!ends(51, true), "resent less than a round trip ago");
        assert!(ends(51, false));
    }
}
