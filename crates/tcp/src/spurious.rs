//! Was it a mistake? A judge decides whether an episode's retransmissions were needless. It never sends or cuts.

pub mod dsack;
pub mod eifel;
pub mod late_ack;
pub mod linux;
pub mod netstack;
pub mod rtt_min;

use crate::error::StackError;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement};
use crate::slot::Factory;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A judge of mistakes.
pub trait Spurious: Send {
    /// An episode has begun.
    fn on_begin(&mut self, _ledger: &mut Ledger, _board: &Scoreboard, _cx: &Ctx) {}
    /// Whether this partial ACK during a Recovery was sent before any retransmission, so that the acknowledged data was only
    /// late.
    fn answers_late_original(&self, _ack: &AckEvent) -> bool {
        false
    }
    /// A segment of the running episode was resent; it had last been sent at `before`.
    fn on_retransmit(&mut self, _seg: &Sent, _before: Time, _ep: &mut Episode, _cx: &Ctx) {}
    /// A quick check whether this ACK proves nothing; if so, `on_ack` is not called for it.
    fn passes_over(&self, _ack: &AckEvent, _cx: &Ctx) -> bool {
        false
    }
    /// An ACK arrived.
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake>;
    /// The RTT of a segment sent twice, which Karn's rule (RFC 6298 §3) denies to the timer; called after an ACK with a DSACK.
    fn rtt(&mut self, _cx: &Ctx) -> Option<Nanos> {
        None
    }
    /// Whether the DSACK just processed is the first to report a segment resent by a fast retransmit; called before
    /// [`Spurious::rtt`].
    fn needless(&mut self) -> bool {
        false
    }
    /// The phase of an episode ended, which may allow a verdict.
    fn on_episode_end(&mut self, _ep: &mut Episode, _cx: &Ctx) -> Option<Mistake> {
        None
    }
}

/// Its description.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SpuriousSpec {
    /// No judge.
    #[default]
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Nothing,
    /// Everything resent was reported as a duplicate (RFC 2883; Blanton & Allman §5).
    Dsack(dsack::DsackSpec),
    /// The original's timestamp was echoed (RFC 3522).
    Eifel(eifel::EifelSpec),
    /// The ACK arrived too soon (Allman & Paxson 1999).
    RttMin(rtt_min::RttMinSpec),
    /// DSACKs counted, and timestamps (Linux 6).
    Linux(linux::LinuxSpec),
    /// Data declared lost was acknowledged after all (MsQuic).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    LateAck,
    /// Timestamps, only counted (gVisor's netstack).
    Netstack(netstack::NetstackSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Spurious>),
}

/// Its state.
pub enum AnySpurious {
    /// No judge.
    Nothing,
    /// DSACK.
    Dsack(Box<dsack::Dsack>),
    /// Timestamps.
    Eifel(Box<eifel::Eifel>),
    /// RTTs too short.
    RttMin(Box<rtt_min::RttMin>),
    /// Linux.
    Linux(Box<linux::Linux>),
    /// Late acknowledgments.
    LateAck(Box<late_ack::LateAck>),
    /// Netstack.
    Netstack(Box<netstack::Netstack>),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Spurious>),
}

/// The requirement of a judge that reads echoed timestamps.
const fn timestamps(found: &'static str) -> Requirement {
    let allowed = "only together with options.timestamps = true";
    Requirement { need: Need::Timestamps, key: "spurious", found, allowed }
}

impl SpuriousSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            SpuriousSpec::RttMin(s) => s.validate(),
            SpuriousSpec::Linux(s) => s.validate(),
            SpuriousSpec::Nothing
            | SpuriousSpec::Dsack(_)
            | SpuriousSpec::Eifel(_)
            | SpuriousSpec::LateAck
            | SpuriousSpec::Netstack(_)
            | SpuriousSpec::Custom(_) => Ok(()),
        }
    }

    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        match self {
            SpuriousSpec::Dsack(_) => vec![Requirement::sack("spurious", "\"dsack\"")],
            SpuriousSpec::Eifel(_) => vec![timestamps("\"eifel\"")],
            SpuriousSpec::Netstack(_) => vec![timestamps("\"netstack\"")],
            SpuriousSpec::Linux(s) => s.needs(),
            SpuriousSpec::Nothing | SpuriousSpec::RttMin(_) | SpuriousSpec::LateAck | SpuriousSpec::Custom(_) => vec![],
        }
    }

    /// Whether its mistakes come with a sample of reordering, if the connection has `timestamps` or has not. Without a judge
    /// there are no mistakes.
    pub(crate) fn measures(&self, timestamps: bool) -> bool {
        match self {
            // The kernel measures only where an echo is older than the retransmission.
            SpuriousSpec::Linux(s) => s.timestamps && timestamps,
            SpuriousSpec::Nothing
            | SpuriousSpec::Dsack(_)
            | SpuriousSpec::Eifel(_)
            | SpuriousSpec::RttMin(_)
            | SpuriousSpec::LateAck
            | SpuriousSpec::Netstack(_)
            | SpuriousSpec::Custom(_) => true,
        }
    }

    /// Whether it reports each segment that a DSACK names ([`Spurious::needless`]).
    pub(crate) fn tells_each_dsack(&self) -> bool {
        match self {
            SpuriousSpec::Dsack(_) | SpuriousSpec::Custom(_) => true,
            SpuriousSpec::Nothing
            | SpuriousSpec::Eifel(_)
            | SpuriousSpec::RttMin(_)
            | SpuriousSpec::Linux(_)
            | SpuriousSpec::LateAck
            | SpuriousSpec::Netstack(_) => false,
        }
    }

    /// The judge to use instead, under Linux's rules, if the connection has no SACK.
    pub(crate) fn without_sack(&self) -> SpuriousSpec {
        match self {
            SpuriousSpec::Linux(s) => s.without_sack().map_or(SpuriousSpec::Nothing, SpuriousSpec::Linux),
            SpuriousSpec::Dsack(_) => SpuriousSpec::Nothing,
            SpuriousSpec::Nothing
            | SpuriousSpec::Eifel(_)
            | SpuriousSpec::RttMin(_)
            | SpuriousSpec::LateAck
            | SpuriousSpec::Netstack(_)
            | SpuriousSpec::Custom(_) => self.clone(),
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnySpurious {
        match self {
            SpuriousSpec::Nothing => AnySpurious::Nothing,
            SpuriousSpec::Dsack(s) => AnySpurious::Dsack(Box::new(dsack::Dsack::new(s))),
            SpuriousSpec::Eifel(s) => AnySpurious::Eifel(Box::new(eifel::Eifel::new(s))),
            SpuriousSpec::RttMin(s) => AnySpurious::RttMin(Box::new(rtt_min::RttMin::new(s))),
            SpuriousSpec::Linux(s) => AnySpurious::Linux(Box::new(linux::Linux::new(s))),
            SpuriousSpec::LateAck => AnySpurious::LateAck(Box::default()),
            SpuriousSpec::Netstack(s) => AnySpurious::Netstack(Box::new(netstack::Netstack::new(s))),
            SpuriousSpec::Custom(f) => AnySpurious::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => {
        match $self {
            AnySpurious::Nothing => Default::default(),
            AnySpurious::Dsack($x) => $call,
            AnySpurious::Eifel($x) => $call,
            AnySpurious::RttMin($x) => $call,
            AnySpurious::Linux($x) => $call,
            AnySpurious::LateAck($x) => $call,
            AnySpurious::Netstack($x) => $call,
            AnySpurious::Custom($x) => $call,
        }
    };
}

impl Spurious for AnySpurious {
    fn on_begin(&mut self, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) {
        each!(self, x => x.on_begin(ledger, board, cx))
    }
    fn answers_late_original(&self, ack: &AckEvent) -> bool {
        each!(self, x => x.answers_late_original(ack))
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, cx: &Ctx) {
        each!(self, x => x.on_retransmit(seg, before, ep, cx))
    }
    fn needless(&mut self) -> bool {
        each!(self, x => x.needless())
    }
    fn rtt(&mut self, cx: &Ctx) -> Option<Nanos> {
        each!(self, x => x.rtt(cx))
    }
    #[inline(always)]
    fn passes_over(&self, ack: &AckEvent, cx: &Ctx) -> bool {
        matches!(self, AnySpurious::Nothing) || each!(self, x => x.passes_over(ack, cx))
    }
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        if self.passes_over(ack, cx) {
            return None;
        }
        self.ask(ack, ledger, board, cx)
    }
    fn on_episode_end(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        each!(self, x => x.on_episode_end(ep, cx))
    }
}

impl AnySpurious {
    #[inline(never)]
    fn ask(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        each!(self, x => x.on_ack(ack, ledger, board, cx))
    }
}
