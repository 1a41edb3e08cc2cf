//! Eifel detection: after a retransmission, the original's timestamp is echoed.
//!
//! Source: RFC 3522 §3.2; Ludwig & Katz 2000 for the idea.
//!
//! Idea: an ACK that echoes a timestamp older than the retransmission's was triggered by an earlier segment, so nothing was
//! lost. Only the first ACK of new data after the retransmission that began the repair is checked.
//!
//! | source | here |
//! | --- | --- |
//! | RetransmitTS | `watch`, set once per repair and never overwritten |
//! | SpuriousRecovery = SPUR_TO, or dupacks + 1 | a `Mistake` with its cause; the duplicates go into its sample |
//! | step (5): a DSACK before, or data left outstanding | `dsack_seen`, `snd_una < snd_max` |
//!
//! Departures: none. Equal timestamps, from a clock coarser than the time between the two, count as genuine (§3.2).
//! Unsaid: "loss recovery has already started" is read as: the episode before has not ended.

use super::Spurious;
use crate::event::Cause;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::segment::{is_older, timestamp};
use crate::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EifelSpec {
    /// Whether a fast retransmit is judged, too, as RFC 3522 does. Default: no, because RFC 4015 responds to timeouts only,
    /// and a verdict ends the repair.
    pub judge_fast_retransmits: bool,
}

/// The judge at work.
pub struct Eifel {
    spec: EifelSpec,
    /// The episode that the next retransmission begins, if it is to be watched.
    next: Option<u32>,
    /// The episode watched and the timestamp of its first retransmission.
    watch: Option<(u32, u32)>,
    /// A DSACK has arrived on this connection.
    dsack_seen: bool,
}

impl Eifel {
    pub(super) fn new(spec: &EifelSpec) -> Self {
        Eifel { spec: spec.clone(), next: None, watch: None, dsack_seen: false }
    }

    /// §3.2 (4), (5): whether this first ACK of new data shows that the retransmission was needless.
    fn original_came(&self, ack: &AckEvent, stamp: u32, cx: &Ctx) -> bool {
        let older = ack.tsecr.is_some_and(|echo| is_older(echo, stamp));
        // A DSACK means that only a window's ACKs were lost (§3.3).
        older && ack.dsack.is_none() && (self.dsack_seen || cx.snd_una < cx.snd_max)
    }
}

impl Spurious for Eifel {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) {
        let id = ledger.count();
        // §3.2: not again while loss recovery is in progress, whether after another timeout or for another segment.
        let under_way = id > 1 && ledger.get(id - 1).is_some_and(|ep| ep.ended.is_none());
        self.next = (!under_way).then_some(id);
    }
    fn on_retransmit(&mut self, _: &Sent, _: Time, ep: &mut Episode, cx: &Ctx) {
        if self.next == Some(ep.id) {
            // §3.2 (2).
            (self.next, self.watch) = (None, Some((ep.id, timestamp(cx.now))));
        }
    }
    fn passes_over(&self, ack: &AckEvent, _: &Ctx) -> bool {
        ack.dsack.is_none() && self.watch.is_none()
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        let mut verdict = None;
        if ack.advances()
            && let Some((id, stamp)) = self.watch.take()
        {
            verdict = self.original_came(ack, stamp, cx).then_some(id);
        }
        self.dsack_seen |= ack.dsack.is_some();
        let ep = ledger.get(verdict?).filter(|ep| !ep.void)?;
        if ep.cause == Cause::Fast && !self.spec.judge_fast_retransmits {
            return None;
        }
        // RFC 4015 §4: from here on three duplicates trigger a fast retransmit again, whatever `recover` was.
        ep.recover = ack.prior_una;
        let (dupacks, first_dup, last_dup) = (ack.dup_run, ep.first_dup, ep.last_dup);
        let sample = ReorderSample {
            dupacks,
            first_dup,
            last_dup,
            filled: cx.now,
            resent: Some(ep.began),
            segments: ep.retransmits,
        };
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: (ep.cause == Cause::Fast).then_some(sample) })
    }
}
