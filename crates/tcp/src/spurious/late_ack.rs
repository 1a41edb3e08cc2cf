//! Late acknowledgment: what was held to be lost is acknowledged after all.
//!
//! Source: MsQuic, `QuicLossDetectionProcessAckBlocks` and `QuicLossDetectionDetectAndHandleLostPackets` in `src/core/loss_detection.c`
//! (commit 02a99b5364d6), `CubicCongestionControlOnSpuriousCongestionEvent` in `src/core/cubic.c` (commit 006a12ae3e46), in our
//! words. RFC 9002 names no response to such a loss.
//!
//! Idea: packets that are held to be lost are remembered. If an acknowledgment takes the last of them away, and nothing sent
//! after the cut has been acknowledged before, the cut was a mistake.
//!
//! | source | here |
//! | --- | --- |
//! | LostPackets | `board.lost()` and, of what has been resent, `lost` |
//! | IsInRecovery, RecoverySentPacketNumber | `watch`: ends when something is delivered that was sent after the cut |
//! | TwoPto | twice the timeout without back-off: older ones are forgotten, and prove nothing |
//! | HasHadCongestionEvent = FALSE | `ep.recover` goes back to `snd_una` |
//!
//! Departures: a TCP acknowledgment does not say which copy arrived. It was the original if nothing was resent, if the copy was sent
//! less than the smallest round trip ago, or if the ACK of the oldest segment echoes an older timestamp (decision 0161). More
//! than 512 of them at once prove nothing. Unsaid: what is given back is the affair of the slot `undo`.

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

/// Lost copies remembered at once.
const CAPACITY: usize = 512;

/// A copy that was held to be lost, and is not known to have arrived.
#[derive(Clone, Copy)]
struct Lost {
    end: Offset,
    sent: Time,
    /// When another copy was sent in its place.
    resent: Time,
    episode: u32,
}

/// The judge at work.
#[derive(Default)]
pub struct LateAck {
    /// The newest episode and when it began, as long as it may be a mistake.
    watch: Option<(u32, Time)>,
    /// What has been resent.
    lost: VecDeque<Lost>,
}

/// Whether a segment that was sent again arrived by an earlier copy.
fn is_original(s: &Sent, ack: &AckEvent, cx: &Ctx) -> bool {
    let echoed = || ack.tsecr.is_some_and(|echo| is_older(echo, timestamp(s.at)));
    is_too_soon(s.at, cx) || (s.start == ack.prior_una && echoed())
}

/// Whether nothing sent at `at` can have been acknowledged by now.
fn is_too_soon(at: Time, cx: &Ctx) -> bool {
    cx.min_rtt.is_some_and(|min| cx.now.since(at) < min)
}

impl LateAck {
    /// What was sent longer than two timeouts ago will not come any more.
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

    /// Whether an ACK delivers something that was sent after the cut at `began`.
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
    #[inline]
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
        // What was sent before the cut opens the window again.
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
