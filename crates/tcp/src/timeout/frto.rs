//! F-RTO: after a timeout, resend one segment, then send new data; the ACKs show whether anything was lost.
//!
//! Source: RFC 5682 §2.1 (basic), §3.1 (with SACK); Linux 6's variant of the latter.
//!
//! Idea: the ACKs of originals advance over data that was never resent. So the sender holds back the other retransmissions
//! for two ACKs. If these show that originals arrive, the timeout was needless.
//!
//! | source | here |
//! | --- | --- |
//! | steps 1, 2, 3 | `Step::First`, `Step::First`, `Step::Second` |
//! | conventional recovery | `Step::Conventional`: lost segments, by their marks, as in `timeout/sack` |
//! | recover, RecoveryPoint (one lower) | `point` |
//!
//! Departures: everything is marked lost at once and only held back, so conventional recovery never goes back N. The window
//! does not limit the new segments (§2.1 (2b)). Repeated retransmissions of one segment may probe again.
//! Unsaid: how to tell that another repair is in progress (decision 0052: an outstanding segment was resent or is marked
//! lost).

use super::{Repair, Timeout};
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Mistake};
use crate::facts::gate;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::needs::{Need, Requirement};
use crate::seq::Offset;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// New segments that step 2 sends.
const PROBES: u8 = 2;

/// The variants of F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// RFC 5682 §2.1, without SACK; a duplicate decides.
    #[default]
    Basic,
    /// RFC 5682 §3.1.
    Sack,
    /// Linux: as `sack`, but any ACK of data never resent decides, even before new data is sent.
    Linux,
    /// Linux without SACK: the same, unless the ACK also covers resent data.
    LinuxNoSack,
}

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FrtoSpec {
    /// The variant of F-RTO. Default: "basic".
    pub form: Form,
    /// Drop SACK information at the timeout (RFC 5682 §3.1 (1); Linux does not). Default: no.
    pub clear_sacks: bool,
}

impl FrtoSpec {
    pub(super) fn needs(&self) -> Vec<Requirement> {
        let sack = |found| {
            let allowed = "\"basic\", or options.sack = true";
            Some(Requirement { need: Need::Sack, key: "timeout.form", found, allowed })
        };
        let form = match self.form {
            Form::Basic => None,
            Form::Sack => sack("\"sack\""),
            Form::Linux => sack("\"linux\""),
            Form::LinuxNoSack => None,
        };
        form.into_iter().chain([super::no_going_back("\"frto\"")]).collect()
    }

    pub(super) fn without_sack(&self) -> Option<FrtoSpec> {
        match self.form {
            Form::Basic | Form::Sack => None,
            Form::Linux | Form::LinuxNoSack => Some(FrtoSpec { form: Form::LinuxNoSack, ..self.clone() }),
        }
    }
}

/// Progress of the detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The first retransmission is due or outstanding; the first ACK decides.
    First { sent: bool },
    /// New segments that may still be sent; the second ACK decides.
    Second { left: u8 },
    /// Data was lost, or it is impossible to tell.
    Conventional,
}

/// F-RTO at work.
pub struct Frto {
    spec: FrtoSpec,
    step: Step,
    /// One past the highest offset sent when the last timeout was examined: RFC 5682's recover, RecoveryPoint.
    point: Offset,
    /// One past the highest offset sent when the timer fired.
    max_then: Offset,
    /// End of the resent data.
    resent_end: Offset,
    /// The episode of the last timeout.
    episode: u32,
}

impl Frto {
    pub(super) fn new(spec: &FrtoSpec) -> Self {
        let none = Offset(0);
        Frto { spec: spec.clone(), step: Step::Conventional, point: none, max_then: none, resent_end: none, episode: 0 }
    }

    /// §3.1: not while an earlier repair is unfinished; in §2.1 only the repair of an earlier timeout matters.
    fn may_ask(&self, ep: &Episode, board: &Scoreboard, cx: &Ctx) -> bool {
        let repeated = ep.id == self.episode;
        let under_way = || board.iter().any(|s| s.sends > 1 || s.marks.any(Marks::LOST));
        let repair = self.spec.form != Form::Basic && !repeated && under_way();
        // Linux tries again after every repeated timeout.
        let unfinished =
            self.point > cx.snd_una && !(repeated && matches!(self.spec.form, Form::Linux | Form::LinuxNoSack));
        ep.cause == Cause::Rto && !repair && !unfinished
    }

    /// Whether this ACK newly reports a segment that was in flight at the timeout and never resent.
    fn original_came(&self, board: &Scoreboard) -> bool {
        board.newly().any(|s| s.sends == 1 && s.end() <= self.max_then)
    }

    /// Whether Linux takes this ACK as proof that nothing was lost (`FLAG_ORIG_SACK_ACKED`).
    fn only_an_original(&self, ack: &AckEvent, board: &Scoreboard) -> bool {
        match self.spec.form {
            Form::Basic | Form::Sack => false,
            Form::Linux => self.original_came(board),
            Form::LinuxNoSack => !ack.covers_retransmit && self.original_came(board),
        }
    }

    fn conventional(&mut self, cwnd_segs: Option<f64>, w: &mut Window, cx: &Ctx) -> Option<Mistake> {
        self.step = Step::Conventional;
        w.cwnd = w.cwnd.min(cwnd_segs.map_or(w.cwnd, |n| n * cx.smss()));
        None
    }

    fn needless(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.step = Step::Conventional;
        // §2.1 (3b), §3.1 (3b): a fast retransmit may start from the next segment on.
        (self.point, ep.recover) = (cx.snd_una, cx.snd_una);
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: None })
    }

    /// 2. Processes the first ACK that counts.
    fn first(&mut self, ack: &AckEvent, ep: &mut Episode, w: &mut Window, cx: &Ctx) -> Option<Mistake> {
        let (basic, sack) = (self.spec.form == Form::Basic, self.spec.form == Form::Sack);
        if !ack.advances() {
            // With SACK, duplicates only update the scoreboard.
            if basic && ack.is_dup {
                (self.point, ep.recover) = (cx.snd_max, cx.snd_max);
                return self.conventional(None, w, cx);
            }
            return None;
        }
        (self.point, ep.recover) = (cx.snd_max, cx.snd_max);
        // (a): it covers everything, or not even the resent segment; or no new data may be sent.
        if ack.ack == cx.snd_max {
            return self.conventional(sack.then_some(2.0), w, cx);
        }
        if (basic && ack.ack < self.resent_end) || cx.next_len == 0 {
            return self.conventional(None, w, cx);
        }
        self.step = Step::Second { left: PROBES };
        None
    }

    /// 3. Processes the second ACK.
    fn second(
        &mut self,
        ack: &AckEvent,
        ep: &mut Episode,
        w: &mut Window,
        board: &Scoreboard,
        cx: &Ctx,
    ) -> Option<Mistake> {
        let says_something = ack.is_dup || ack.has_sack || ack.dsack.is_some();
        match self.spec.form {
            Form::Basic if ack.advances() => self.needless(ep, cx),
            Form::Basic if ack.is_dup => self.conventional(Some(3.0), w, cx),
            Form::Basic => None,
            // Linux: a report while new data is outstanding, and not of an original.
            Form::Linux if !ack.advances() && says_something => self.conventional(None, w, cx),
            // Without SACK a duplicate is the report.
            Form::LinuxNoSack if ack.is_dup => self.conventional(None, w, cx),
            Form::Linux | Form::LinuxNoSack => None,
            Form::Sack if !ack.advances() && !says_something => None,
            Form::Sack => {
                let beyond = ack.ack > self.point || board.newly().any(|s| s.end() > self.point);
                if beyond || ack.delivered == 0 {
                    return self.conventional(Some(3.0), w, cx);
                }
                self.needless(ep, cx)
            }
        }
    }
}

impl Timeout for Frto {
    fn enter(&mut self, ep: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        let ask = self.may_ask(ep, board, cx);
        // RFC 2018 §8: a receiver that holds the oldest segment would have acknowledged it; it has reneged.
        if self.spec.clear_sacks || board.iter().next().is_some_and(|s| s.marks.any(Marks::SACKED)) {
            board.clear_sacks();
        }
        match self.spec.form {
            Form::Basic | Form::Sack | Form::LinuxNoSack => _ = board.mark_rest_lost(),
            // tcp_timeout_mark_lost: the detector spares recently sent segments.
            Form::Linux => _ = board.mark_head_lost(),
        }
        w.cwnd = cx.smss();
        (self.episode, self.max_then) = (ep.id, cx.snd_max);
        self.resent_end = board.iter().next().map_or(cx.snd_una, Sent::end);
        self.step = if ask {
            Step::First { sent: false }
        } else {
            self.point = cx.snd_max;
            Step::Conventional
        };
        Repair::Marks
    }
    fn marked(&mut self, by_time: bool, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) {
        if self.spec.form == Form::Linux {
            if !by_time {
                board.mark_rest_lost();
            }
            // tcp_enter_loss: one segment more than the data still in flight.
            w.cwnd = board.pipe() as f64 + cx.smss();
        }
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> (Flow, Option<Mistake>) {
        let asking = self.step != Step::Conventional;
        let verdict = match self.step {
            _ if asking && self.only_an_original(ack, board) => {
                let verdict = self.needless(ep, cx);
                if self.spec.form == Form::LinuxNoSack {
                    // Only a repair that ends normally leaves echoes to wait for.
                    ep.recover = ack.prior_una;
                }
                verdict
            }
            Step::First { .. } => self.first(ack, ep, w, cx),
            Step::Second { .. } => self.second(ack, ep, w, board, cx),
            Step::Conventional => None,
        };
        let done = ack.ack >= ep.recover;
        // tcp_fastretrans_alert: a lost retransmission begins a Recovery.
        if self.spec.form == Form::Linux
            && verdict.is_none()
            && !done
            && lost > 0
            && board.is_resent_lost_since(ep.began)
        {
            return (Flow::Begin, None);
        }
        (if done { Flow::Done { grow: false } } else { Flow::Continue(Rearm::OnNewData) }, verdict)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        match self.step {
            Step::First { sent } => (!sent).then_some(Xmit::Again(cx.snd_una)),
            Step::Second { left } => (left > 0 && cx.next_len > 0).then_some(Xmit::New),
            Step::Conventional if !gate::pipe(w, board, cx) => None,
            Step::Conventional => {
                let new = (cx.next_len > 0).then_some(Xmit::New);
                board.first_lost().map(Xmit::Again).or(new)
            }
        }
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        self.step = match (self.step, x) {
            (Step::First { .. }, Xmit::Again(_)) => Step::First { sent: true },
            (Step::Second { left }, Xmit::New) => Step::Second { left: left.saturating_sub(1) },
            (step, _) => step,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, episode};
    use crate::time::Time;

    fn of(form: Form) -> Frto {
        Frto::new(&FrtoSpec { form, clear_sacks: false })
    }

    #[test]
    fn with_sack_a_timeout_amid_an_unfinished_repair_is_not_examined() {
        // RFC 5682 §3.1; §2.1 asks for the repair of an earlier timeout alone.
        let ep = Episode { cause: Cause::Rto, ..episode() };
        let mut board = Scoreboard::default();
        board.push(Offset(1), 1000, Time(0), 1e9, false);
        assert!(of(Form::Sack).may_ask(&ep, &board, &context()));
        board.mark_lost(Offset(1));
        assert!(!of(Form::Sack).may_ask(&ep, &board, &context()), "marked lost");
        board.resend(Offset(1), Time(10), 1e9);
        assert!(!of(Form::Sack).may_ask(&ep, &board, &context()), "resent");
        assert!(of(Form::Basic).may_ask(&ep, &board, &context()));
        let mut probed = Scoreboard::default();
        probed.push(Offset(1), 1000, Time(0), 1e9, false);
        probed.resend(Offset(1), Time(10), 1e9);
        assert!(!of(Form::Sack).may_ask(&ep, &probed, &context()), "resent without a loss");
    }

    #[test]
    fn without_sack_linux_has_rules_of_its_own_and_the_rfc_has_its_basic_form() {
        let form = |form| of(form).spec.without_sack().map(|spec| spec.form);
        assert_eq!([Form::Basic, Form::Sack].map(form), [None, None]);
        assert_eq!([Form::Linux, Form::LinuxNoSack].map(form), [Some(Form::LinuxNoSack); 2]);
    }
}
