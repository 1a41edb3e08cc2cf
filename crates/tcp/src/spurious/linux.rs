//! Linux's judge: DSACKs counted against retransmissions, and timestamps older than the first retransmission.
//!
//! Source: Linux 6 (`tcp_may_undo` and its five callers), in our words; RFC 2883; RFC 3522 for the timestamps.
//!
//! Idea: an episode was a mistake when as many DSACKs arrived as segments were resent, or when an ACK was triggered by a segment
//! sent before the first retransmission.
//!
//! | source | here |
//! | --- | --- |
//! | undo_marker | `marker`, `snd_una` when the episode began |
//! | undo_retrans (−1 before the first) | `owed`, `None` before the first |
//! | retrans_stamp | `stamp` |
//! | try_undo_recovery, _dsack, _partial, _loss | the four cases of `may_undo` |
//!
//! Departures: an ECN echo forbids the undo: the sequencer makes the episode void (decision 0040).
//! Unsaid: a timeout inside a recovery keeps the count, since the kernel sets its marker only once.

use super::Spurious;
use crate::error::StackError;
use crate::event::Phase;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::Requirement;
use crate::segment::{is_older, timestamp};
use crate::seq::Offset;
use crate::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxSpec {
    /// Whether DSACKs are counted. Default: yes.
    pub dsack: bool,
    /// Whether timestamps are checked. Default: yes.
    pub timestamps: bool,
}

impl Default for LinuxSpec {
    fn default() -> Self {
        LinuxSpec { dsack: true, timestamps: true }
    }
}

impl LinuxSpec {
    pub(super) fn needs(&self) -> Vec<Requirement> {
        self.dsack.then(|| Requirement::sack("spurious", "\"linux\"")).into_iter().collect()
    }

    /// The same with timestamps alone, if they are checked.
    pub(super) fn without_sack(&self) -> Option<LinuxSpec> {
        self.timestamps.then_some(LinuxSpec { dsack: false, timestamps: true })
    }

    pub(super) fn validate(&self) -> Result<(), StackError> {
        let asks = self.dsack || self.timestamps;
        StackError::unless(asks, "spurious.dsack", &"false", "true, or spurious.timestamps = true")
    }
}

/// The judge at work.
pub struct Linux {
    spec: LinuxSpec,
    /// The newest episode, if it may still be undone, and where it began.
    marker: Option<(u32, Offset)>,
    /// Retransmissions that no DSACK has answered.
    owed: Option<u32>,
    /// The timestamp of the first retransmission.
    stamp: Option<u32>,
}

impl Linux {
    pub(super) fn new(spec: &LinuxSpec) -> Self {
        Linux { spec: spec.clone(), marker: None, owed: None, stamp: None }
    }

    /// Whether everything resent was reported as a duplicate.
    fn all_reported(&self) -> bool {
        self.spec.dsack && self.owed == Some(0)
    }

    /// Whether the ACK was triggered by a segment sent before the first retransmission; without a retransmission, this holds for
    /// any ACK (`tcp_packet_delayed`).
    fn answers_original(&self, ack: &AckEvent) -> bool {
        match (ack.tsecr, self.stamp) {
            _ if !self.spec.timestamps => false,
            (Some(echo), Some(stamp)) => is_older(echo, stamp),
            (None, Some(_)) => false,
            (_, None) => true,
        }
    }

    /// The phase decides which proof counts now.
    fn may_undo(&self, ack: &AckEvent, recover: Offset, board: &Scoreboard, cx: &Ctx) -> bool {
        match cx.phase {
            // try_undo_dsack.
            Phase::Open | Phase::Disorder => self.all_reported(),
            // try_undo_loss.
            Phase::Loss => ack.advances() && (self.all_reported() || self.answers_original(ack)),
            // try_undo_recovery.
            Phase::Recovery if ack.ack >= recover => self.all_reported() || self.answers_original(ack),
            // try_undo_dsack, try_undo_partial.
            Phase::Recovery => {
                self.all_reported() || (ack.advances() && self.answers_original(ack) && board.resends_out() == 0)
            }
        }
    }
}

impl Spurious for Linux {
    fn on_begin(&mut self, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) {
        let id = ledger.count();
        let under_way = id > 1 && ledger.get(id - 1).is_some_and(|ep| ep.ended.is_none());
        match (&mut self.marker, under_way) {
            // Nothing can be undone any more, and this stays so.
            (None, true) => {}
            (Some((episode, _)), true) => *episode = id,
            (_, false) => {
                // tcp_init_undo: retransmissions still in flight may cause DSACKs, too.
                let out = board.resends_out();
                (self.marker, self.stamp) = (Some((id, cx.snd_una)), None);
                self.owed = (out > 0).then_some(out);
            }
        }
    }
    fn answers_late_original(&self, ack: &AckEvent) -> bool {
        self.marker.is_some() && self.answers_original(ack)
    }
    fn on_retransmit(&mut self, _: &Sent, _: Time, _: &mut Episode, cx: &Ctx) {
        self.owed = Some(self.owed.unwrap_or(0).saturating_add(1));
        self.stamp.get_or_insert(timestamp(cx.now));
    }
    fn passes_over(&self, ack: &AckEvent, cx: &Ctx) -> bool {
        ack.dsack.is_none() && !cx.phase.repairs() && !self.all_reported()
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        let (id, from) = self.marker?;
        if let (Some(owed), Some((_, right))) = (&mut self.owed, ack.dsack) {
            *owed -= u32::from(*owed > 0 && right > from);
        }
        let ep = ledger.get(id).filter(|ep| !ep.void)?;
        if !self.may_undo(ack, ep.recover, board, cx) {
            return None;
        }
        self.marker = None;
        // A partial ACK shows how far the segment was overtaken (tcp_check_sack_reordering in _partial); use that, or the first.
        let partial = cx.phase == Phase::Recovery && ack.advances() && ack.ack < ep.recover;
        let (dupacks, first_dup, last_dup) = (ack.dup_run, ep.first_dup, ep.last_dup);
        let now = ReorderSample {
            dupacks,
            first_dup,
            last_dup,
            filled: cx.now,
            resent: Some(ep.began),
            segments: ep.retransmits,
        };
        if cx.phase == Phase::Recovery && ack.ack < ep.recover {
            // A repair undone midway leaves no echoes to wait for.
            ep.recover = ack.prior_una;
        }
        let sample = ep.sample().or(partial.then_some(now)).filter(|_| self.answers_original(ack));
        Some(Mistake { episode: ep.id, cause: ep.cause, sample })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{blank, context, episode, ms};

    /// A judge that watches the first episode, in which a segment was resent at 50 ms.
    fn watching() -> (Linux, Ledger) {
        let mut ledger = Ledger::default();
        ledger.begin(episode());
        let mut judge = Linux::new(&LinuxSpec::default());
        judge.on_begin(&mut ledger, &Scoreboard::default(), &context());
        judge.stamp = Some(50);
        (judge, ledger)
    }

    #[test]
    fn a_partial_ack_of_an_original_measures_how_far_it_was_overtaken_and_the_last_ack_does_not() {
        // tcp_try_undo_partial calls tcp_check_sack_reordering, tcp_try_undo_recovery does not.
        let recover = episode().recover.0;
        for (ack, measured) in [(recover - 1, true), (recover, false)] {
            let (mut judge, mut ledger) = watching();
            let ack = AckEvent { ack: Offset(ack), prior_una: Offset(1), tsecr: Some(49), dup_run: 4, ..blank() };
            let cx = Ctx { now: ms(90), phase: Phase::Recovery, ..context() };
            let mistake = judge.on_ack(&ack, &mut ledger, &Scoreboard::default(), &cx).expect("a mistake");
            assert_eq!(mistake.sample.map(|s| s.dupacks), measured.then_some(4), "{ack:?}");
        }
    }

    #[test]
    fn an_original_can_only_be_late_while_an_episode_may_be_undone() {
        let old = AckEvent { tsecr: Some(49), ..blank() };
        let (mut judge, _) = watching();
        assert!(judge.answers_late_original(&old));
        assert!(!judge.answers_late_original(&AckEvent { tsecr: Some(50), ..old }), "sent after the resent copy");
        judge.marker = None;
        assert!(!judge.answers_late_original(&old));
    }
}
