//! What may be sent to repair? After a detector's verdict this slot decides which segments are sent, how many and until when,
//! and how the window changes during the episode and at its end.

pub mod by_rate;
pub mod fack;
pub mod hoe;
pub mod in_open;
pub mod netstack;
pub mod newreno;
mod next_seg;
pub mod prr;
pub mod rate_halving;
pub mod reno;
pub mod rfc6675;
pub mod robust;
pub mod sack_ff96;
pub mod tahoe;

use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate::Gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::slot::{dispatch, Factory};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Owner of the Recovery phase.
pub trait Recovery: Send {
    /// The episode begins; `w.ssthresh` is already cut, `w.cwnd` is not. `ack` is `None` when a timer began it.
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow;
    /// An ACK arrived; `lost` bytes were newly marked by the detector.
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow;
    /// What to send now; a pure query, repeated until `None`.
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit>;
    /// The segment was sent.
    fn on_sent(&mut self, _x: Xmit, _sent: &Sent, _cx: &Ctx) {}
    /// Sets whether only new data, no retransmissions, may be sent now. Called on each ACK of a Recovery, before `on_ack`.
    fn hold_resends(&mut self, _hold: bool) {}
    /// Artificial inflation in bytes, for the trace only.
    fn inflation(&self) -> f64 {
        0.0
    }
    /// The gate that the sequencer uses in Open with this recovery.
    fn open_gate(&self) -> Gate {
        Gate::Window
    }
    /// Whether new data that it sends is exempt from the sender's own limit, `limits.cwnd_cap_segs`; called at the start.
    /// Default: no.
    fn passes_cap(&self) -> bool {
        false
    }
    /// Whether the retransmission timer restarts when the oldest segment is resent. Default: no.
    fn restarts_timer(&self) -> bool {
        false
    }
}

/// Its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RecoverySpec {
    /// Slow start from one segment (4.3BSD-Tahoe).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Tahoe,
    /// Fast recovery that ends at the first new ACK (4.3BSD-Reno).
    Reno(reno::RenoSpec),
    /// Fast recovery that continues across partial ACKs (RFC 6582).
    Newreno(newreno::NewRenoSpec),
    /// No phase of its own: marked segments are sent first in Open.
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    InOpen,
    /// Fall & Floyd's `sack1`.
    SackFf96(sack_ff96::SackFf96Spec),
    /// RFC 6675.
    Rfc6675(rfc6675::Rfc6675Spec),
    /// Proportional Rate Reduction (RFC 9937, RFC 6937).
    Prr(prr::PrrSpec),
    /// Forward acknowledgment (Mathis & Mahdavi 1996).
    Fack(fack::FackSpec),
    /// Rate halving (Mathis, Semke, Mahdavi & Lahey 1999).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    RateHalving,
    /// Limited by a congestion control that sets the window itself (Linux's `cong_control`).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    ByRate,
    /// Across partial ACKs, with new data on every second duplicate (Hoe §7.2).
    Hoe(hoe::HoeSpec),
    /// Robust Recovery (Wang & Shin).
    Robust(robust::RobustSpec),
    /// RFC 6675 with three extra segments (gVisor's netstack).
    Netstack(netstack::NetstackSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Recovery>),
}

/// Its state.
pub enum AnyRecovery {
    /// Tahoe.
    Tahoe(tahoe::Tahoe),
    /// Reno.
    Reno(reno::Reno),
    /// NewReno.
    Newreno(newreno::NewReno),
    /// No phase of its own.
    InOpen(in_open::InOpen),
    /// Fall & Floyd's `sack1`.
    SackFf96(sack_ff96::SackFf96),
    /// RFC 6675.
    Rfc6675(rfc6675::Rfc6675),
    /// Proportional Rate Reduction.
    Prr(Box<prr::Prr>),
    /// Forward acknowledgment.
    Fack(fack::Fack),
    /// Rate halving.
    RateHalving(rate_halving::RateHalving),
    /// The congestion control sets the window.
    ByRate(by_rate::ByRate),
    /// Hoe's.
    Hoe(hoe::Hoe),
    /// Robust Recovery.
    Robust(Box<robust::Robust>),
    /// Netstack's.
    Netstack(netstack::Netstack),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Recovery>),
}

impl RecoverySpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            RecoverySpec::Hoe(s) => s.validate(),
            RecoverySpec::Newreno(s) => s.validate(),
            RecoverySpec::Tahoe
            | RecoverySpec::Reno(_)
            | RecoverySpec::InOpen
            | RecoverySpec::SackFf96(_)
            | RecoverySpec::Rfc6675(_)
            | RecoverySpec::Prr(_)
            | RecoverySpec::Fack(_)
            | RecoverySpec::RateHalving
            | RecoverySpec::ByRate
            | RecoverySpec::Robust(_)
            | RecoverySpec::Netstack(_)
            | RecoverySpec::Custom(_) => Ok(()),
        }
    }

    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        match self {
            RecoverySpec::InOpen => vec![Requirement {
                need: Need::EachLoss,
                key: "recovery",
                found: "\"in-open\"",
                allowed: "only with a detector that marks every lost segment, not with detect = \"dup-ack\"",
            }],
            RecoverySpec::ByRate => {
                let (key, found) = ("recovery", "\"by-rate\"");
                let each = "only with a detector that marks every lost segment, not with detect = \"dup-ack\"";
                let window = "only with a congestion control that sets the window itself, as \"bbr\" does";
                vec![
                    Requirement { need: Need::EachLoss, key, found, allowed: each },
                    Requirement { need: Need::SetsWindow, key, found, allowed: window },
                ]
            }
            RecoverySpec::SackFf96(s) => s.needs(),
            RecoverySpec::Rfc6675(_) => vec![Requirement::sack("recovery", "\"rfc6675\"")],
            RecoverySpec::Prr(_) => {
                vec![Requirement { need: Need::Arrivals, ..Requirement::sack("recovery", "\"prr\"") }]
            }
            RecoverySpec::Fack(s) => s.needs(),
            RecoverySpec::Netstack(_) => vec![Requirement::sack("recovery", "\"netstack\"")],
            RecoverySpec::RateHalving => vec![Requirement::sack("recovery", "\"rate-halving\"")],
            RecoverySpec::Tahoe
            | RecoverySpec::Reno(_)
            | RecoverySpec::Newreno(_)
            | RecoverySpec::Hoe(_)
            | RecoverySpec::Robust(_)
            | RecoverySpec::Custom(_) => vec![],
        }
    }

    /// Whether it leaves the window to the congestion control.
    pub(crate) fn leaves_window(&self) -> bool {
        matches!(self, RecoverySpec::ByRate | RecoverySpec::Custom(_))
    }

    /// How it selects the segments to resend.
    pub(crate) fn resends(&self) -> Resends {
        match self {
            RecoverySpec::Tahoe => Resends::FromUna,
            RecoverySpec::Reno(_) => Resends::Head,
            RecoverySpec::Newreno(_)
            | RecoverySpec::SackFf96(_)
            | RecoverySpec::Rfc6675(_)
            | RecoverySpec::Fack(_)
            | RecoverySpec::RateHalving
            | RecoverySpec::Hoe(_)
            | RecoverySpec::Robust(_) => Resends::ByRule,
            RecoverySpec::Prr(s) => s.resends(),
            RecoverySpec::ByRate => Resends::ByMark,
            RecoverySpec::Netstack(s) => s.resends(),
            RecoverySpec::InOpen => Resends::InOpen,
            RecoverySpec::Custom(_) => Resends::Unknown,
        }
    }

    /// The recovery to use instead, under Linux's rules, if the connection has no SACK; `None` if this recovery does not follow
    /// them.
    pub(crate) fn without_sack(&self) -> Option<RecoverySpec> {
        match self {
            RecoverySpec::Prr(s) => s.without_sack().map(RecoverySpec::Prr),
            RecoverySpec::Tahoe
            | RecoverySpec::Reno(_)
            | RecoverySpec::Newreno(_)
            | RecoverySpec::InOpen
            | RecoverySpec::SackFf96(_)
            | RecoverySpec::Rfc6675(_)
            | RecoverySpec::Fack(_)
            | RecoverySpec::RateHalving
            | RecoverySpec::Hoe(_)
            | RecoverySpec::Robust(_)
            | RecoverySpec::ByRate
            | RecoverySpec::Netstack(_)
            | RecoverySpec::Custom(_) => None,
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnyRecovery {
        match self {
            RecoverySpec::Tahoe => AnyRecovery::Tahoe(tahoe::Tahoe),
            RecoverySpec::Reno(s) => AnyRecovery::Reno(reno::Reno::new(s)),
            RecoverySpec::Newreno(s) => AnyRecovery::Newreno(newreno::NewReno::new(s)),
            RecoverySpec::InOpen => AnyRecovery::InOpen(in_open::InOpen),
            RecoverySpec::SackFf96(s) => AnyRecovery::SackFf96(sack_ff96::SackFf96::new(s)),
            RecoverySpec::Rfc6675(s) => AnyRecovery::Rfc6675(rfc6675::Rfc6675::new(s)),
            RecoverySpec::Prr(s) => AnyRecovery::Prr(Box::new(prr::Prr::new(s))),
            RecoverySpec::Fack(s) => AnyRecovery::Fack(fack::Fack::new(s)),
            RecoverySpec::RateHalving => AnyRecovery::RateHalving(rate_halving::RateHalving::default()),
            RecoverySpec::ByRate => AnyRecovery::ByRate(by_rate::ByRate),
            RecoverySpec::Hoe(s) => AnyRecovery::Hoe(hoe::Hoe::new(s)),
            RecoverySpec::Robust(s) => AnyRecovery::Robust(Box::new(robust::Robust::new(s))),
            RecoverySpec::Netstack(s) => AnyRecovery::Netstack(netstack::Netstack::new(s)),
            RecoverySpec::Custom(f) => AnyRecovery::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => {
        dispatch!($self, AnyRecovery: Tahoe | Reno | Newreno | SackFf96 | Rfc6675 | Prr | Fack | RateHalving | ByRate | Hoe | Robust | Netstack | InOpen | Custom, $x => $call)
    };
}

impl Recovery for AnyRecovery {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        each!(self, x => x.enter(ack, ep, w, board, cx))
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        each!(self, x => x.on_ack(ack, lost, ep, w, board, cx))
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        each!(self, x => x.next(w, board, cx))
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        each!(self, r => r.on_sent(x, sent, cx));
    }
    fn hold_resends(&mut self, hold: bool) {
        each!(self, x => x.hold_resends(hold));
    }
    fn inflation(&self) -> f64 {
        each!(self, x => x.inflation())
    }
    fn open_gate(&self) -> Gate {
        each!(self, x => x.open_gate())
    }
    fn passes_cap(&self) -> bool {
        each!(self, x => x.passes_cap())
    }
    fn restarts_timer(&self) -> bool {
        each!(self, x => x.restarts_timer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    #[test]
    fn new_data_of_a_robust_recovery_that_ignores_the_senders_own_limit_alone_may_exceed_it() {
        for name in Stack::names() {
            let spec = Stack::named(name).unwrap().recovery;
            let exempt = matches!(&spec, RecoverySpec::Robust(s) if s.cap == robust::OwnLimit::Ignored);
            assert_eq!(spec.build(1000).passes_cap(), exempt, "{name}");
        }
    }
}
