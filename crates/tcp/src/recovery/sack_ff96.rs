//! SACK recovery with a counter of packets in the pipe.
//!
//! Source: Fall & Floyd 1996 §2.4 ("sack1"); as ns-2.35's `Agent/TCP/Sack1` behaves.
//!
//! Idea: estimate the segments in the network, subtract one for each duplicate and two for a partial ACK (the original and
//! its retransmission have both left), and send holes first, then new data, while `pipe < cwnd`.
//!
//! | source | here |
//! | --- | --- |
//! | pipe | `pipe`, segments; a separate counter, *not* `Scoreboard::pipe` (RFC 6675's) |
//! | recover | `ep.recover` (first unsent) |
//!
//! Departures: none known. Unsaid, and taken from ns-2's behaviour (decision 0005): `pipe` is compared with `cwnd` in whole
//! segments. The first retransmission is not added to `pipe` (the lost segment, still counted in FlightSize, represents it),
//! and nothing else is sent on the ACK that begins the recovery. A partial ACK does not mark the head lost: only SACK holes
//! are resent.
//!
//! Blanton & Allman 2002, Appendix A, changed the parts that reordering upsets: each change is a switch of [`SackFf96Spec`].

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which holes are retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HoleRule {
    /// Any hole below the highest SACKed segment.
    #[default]
    Ff96,
    /// Holes that the detector has marked lost.
    Dupthresh,
}

/// Parameters: Blanton & Allman's Appendix A, each change a switch; all off is plain `sack1`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SackFf96Spec {
    /// `pipe` at entry is the data outstanding and not SACKed, without the segment presumed lost, and never falls below
    /// zero. Default: no, FlightSize less the duplicates.
    pub exact_entry: bool,
    /// A duplicate takes one off `pipe` only if it carries new SACK information. Default: no.
    pub new_sack_only: bool,
    /// Partial ACKs take two off `pipe` at most as often as segments were resent, then one. Default: no.
    pub limit_double_decrease: bool,
    /// A partial ACK without SACK information, over an empty scoreboard, takes off the data it acknowledges. Default: no.
    pub face_value: bool,
    /// Which holes are retransmitted. Default: "ff96".
    pub hole_rule: HoleRule,
}

impl SackFf96Spec {
    pub(super) fn needs(&self) -> Vec<Requirement> {
        let marks = Requirement {
            need: Need::MarksInRecovery,
            key: "recovery.hole_rule",
            found: "\"dupthresh\"",
            allowed: "only with a detector that marks holes during recovery (detect.judge_in_recovery = true), otherwise none is retransmitted",
        };
        let by_marks = (self.hole_rule == HoleRule::Dupthresh).then_some(marks);
        [Requirement::sack("recovery", "\"sack-ff96\"")].into_iter().chain(by_marks).collect()
    }

    /// Returns the description with all changes of Appendix A, and holes chosen by the detector's threshold.
    pub fn blanton_allman() -> Self {
        SackFf96Spec {
            exact_entry: true,
            new_sack_only: true,
            limit_double_decrease: true,
            face_value: true,
            hole_rule: HoleRule::Dupthresh,
        }
    }
}

/// `sack1` at work.
pub struct SackFf96 {
    spec: SackFf96Spec,
    /// Segments estimated to be in the network; may go below zero, as in ns-2.
    pipe: i64,
    entry: Entry,
    /// Segments resent in the episode and not yet taken off by a partial ACK.
    resent: u32,
}

/// Progress of a recovery's entry.
#[derive(Clone, Copy, Default, PartialEq)]
enum Entry {
    /// The first retransmission is due.
    Resend,
    /// It was sent; nothing more on this ACK.
    Hold,
    /// `pipe` decides.
    #[default]
    Past,
}

impl SackFf96 {
    pub(super) fn new(spec: &SackFf96Spec) -> Self {
        SackFf96 { spec: spec.clone(), pipe: 0, entry: Entry::Past, resent: 0 }
    }

    /// Segments that a partial ACK takes off: the original and its retransmission have both left the network.
    fn left_by_partial(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> i64 {
        if self.spec.face_value && !ack.has_sack && board.sacked() == 0 {
            return segments(ack.acked(), cx);
        }
        if self.spec.limit_double_decrease && self.resent == 0 {
            return 1;
        }
        self.resent = self.resent.saturating_sub(1);
        2
    }

    fn hole(&self, board: &Scoreboard) -> Option<Xmit> {
        match self.spec.hole_rule {
            HoleRule::Ff96 => board.first_hole().map(|s| Xmit::Again(s.start)),
            HoleRule::Dupthresh => board.first_lost().map(Xmit::Again),
        }
    }
}

/// Bytes as segments; a partial segment counts as one.
fn segments(bytes: Bytes, cx: &Ctx) -> i64 {
    bytes.div_ceil(u64::from(cx.mss)) as i64
}

impl Recovery for SackFf96 {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        w.cwnd = ep.target;
        self.pipe = if self.spec.exact_entry {
            segments(cx.flight() - board.sacked(), cx) - 1
        } else {
            segments(cx.flight(), cx) - i64::from(ack.map_or(0, |a| a.dup_run))
        };
        (self.entry, self.resent) = (Entry::Resend, 0);
        Flow::Continue(Rearm::Restart)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if ack.ack >= ep.recover {
            return Flow::Done { grow: false };
        }
        if self.entry == Entry::Hold {
            self.entry = Entry::Past;
        }
        if ack.advances() {
            self.pipe -= self.left_by_partial(ack, board, cx);
        } else if ack.sacked > 0 || !self.spec.new_sack_only {
            self.pipe -= 1;
        }
        if self.spec.exact_entry {
            self.pipe = self.pipe.max(0);
        }
        Flow::Continue(if ack.advances() { Rearm::Restart } else { Rearm::OnNewData })
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        match self.entry {
            Entry::Resend => return Some(Xmit::Again(cx.snd_una)),
            Entry::Hold => return None,
            // Rule 27.
            Entry::Past if self.pipe >= (w.cwnd / cx.smss()) as i64 => return None,
            Entry::Past => {}
        }
        self.hole(board).or((cx.next_len > 0).then_some(Xmit::New))
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        self.resent += u32::from(matches!(x, Xmit::Again(_)));
        match self.entry {
            Entry::Resend => {
                self.entry = Entry::Hold;
                // Appendix A: the segment presumed lost was left out, so its retransmission counts.
                self.pipe += i64::from(self.spec.exact_entry);
            }
            Entry::Hold | Entry::Past => self.pipe += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Phase;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode};
    use crate::time::Time;

    const RECOVER: Offset = Offset(13_001);

    /// Thirteen segments from offset 1 on are outstanding; `sacked` of them, from the second on, are SACKed.
    fn entered(spec: SackFf96Spec, sacked: u64, dup_run: u32) -> (SackFf96, Scoreboard, Ctx) {
        let (mut r, mut board) = (SackFf96::new(&spec), Scoreboard::default());
        (0..13).for_each(|n| _ = board.push(Offset(1 + 1000 * n), 1000, Time(0), 11_000.0, false));
        board.apply_sack((Offset(1001), Offset(1001 + 1000 * sacked)), &mut Default::default());
        let cx = Ctx { snd_nxt: RECOVER, snd_max: RECOVER, phase: Phase::Recovery, ..context() };
        let ack = AckEvent { dup_run, is_dup: true, has_sack: true, sacked: 1000, ..blank() };
        let (mut ep, mut w) = (episode(), episode().prior);
        r.enter(Some(&ack), &mut ep, &mut w, &mut board, &cx);
        let head = *board.iter().next().unwrap();
        r.on_sent(Xmit::Again(head.start), &head, &cx);
        (r, board, cx)
    }

    /// `pipe` after an ACK.
    fn hear(r: &mut SackFf96, board: &mut Scoreboard, cx: &Ctx, ack: &AckEvent) -> i64 {
        r.on_ack(ack, 0, &mut episode(), &mut episode().prior, board, cx);
        r.pipe
    }

    fn partial(from: u64, to: u64, has_sack: bool) -> AckEvent {
        AckEvent { prior_una: Offset(from), ack: Offset(to), has_sack, ..blank() }
    }

    #[test]
    fn pipe_at_entry_is_exact_however_many_duplicates_it_took() {
        // Appendix A: four are SACKed, but only three ACKs said so. 13 - 4, less the one presumed lost, plus its copy.
        let exact = SackFf96Spec { exact_entry: true, ..Default::default() };
        assert_eq!(entered(exact, 4, 3).0.pipe, 9);
        assert_eq!(entered(SackFf96Spec::default(), 4, 3).0.pipe, 10);
    }

    #[test]
    fn partial_acks_take_two_off_as_often_as_segments_were_resent_and_then_one() {
        let limited = SackFf96Spec { limit_double_decrease: true, ..Default::default() };
        for (spec, want) in [(limited, [8, 7, 6]), (SackFf96Spec::default(), [8, 6, 4])] {
            let (mut r, mut board, cx) = entered(spec, 3, 3);
            let acks = [0, 1, 2].map(|n| partial(1 + 1000 * n, 1001 + 1000 * n, true));
            assert_eq!(acks.map(|a| hear(&mut r, &mut board, &cx, &a)), want);
        }
    }

    #[test]
    fn an_ack_without_sack_information_over_an_empty_scoreboard_is_taken_at_face_value() {
        let spec = SackFf96Spec { face_value: true, limit_double_decrease: true, ..Default::default() };
        let (mut r, mut board, cx) = entered(spec, 3, 3);
        board.acknowledge(Offset(4001), &mut Default::default());
        assert_eq!(hear(&mut r, &mut board, &cx, &partial(4001, 7001, true)), 8, "it has SACK information");
        assert_eq!(hear(&mut r, &mut board, &cx, &partial(7001, 10_001, false)), 5);
    }

    #[test]
    fn at_face_value_the_ack_that_fills_the_hole_takes_off_what_duplicates_took_off_before() {
        // Decision 0014. Ten of thirteen are SACKed, so three are in the network; the ACK that fills the hole covers eleven,
        // only one of them newly.
        let (mut r, mut board, cx) = entered(SackFf96Spec::blanton_allman(), 10, 10);
        assert_eq!(r.pipe, 3);
        board.acknowledge(Offset(11_001), &mut Default::default());
        let filling = AckEvent { delivered: 1000, ..partial(1, 11_001, false) };
        assert_eq!(hear(&mut r, &mut board, &cx, &filling), 0, "two are outstanding");
    }

    #[test]
    fn an_exact_pipe_never_falls_below_zero() {
        let exact = SackFf96Spec { exact_entry: true, ..Default::default() };
        for (spec, want) in [(exact, 0), (SackFf96Spec::default(), -2)] {
            let (mut r, mut board, cx) = entered(spec, 10, 10);
            assert_eq!(r.pipe, 3);
            let dup = AckEvent { is_dup: true, sacked: 1000, ..blank() };
            let after = [(); 5].map(|()| hear(&mut r, &mut board, &cx, &dup));
            assert_eq!(after[4], want);
        }
    }
}
