//! And after a timeout? Decides what is sent between a retransmission timeout and the end of the Loss phase.

pub mod frto;
pub mod go_back_n;
pub mod sack;

use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Mistake};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement, Resends};
use crate::slot::{dispatch, Factory};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How lost data is resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// `snd_nxt` goes back to `snd_una`: go back N.
    Rewind {
        /// Whether SACKed segments are skipped on the way.
        skip_sacked: bool,
    },
    /// Segments marked lost are resent.
    Marks,
}

/// Owner of the Loss phase.
pub trait Timeout: Send {
    /// The phase begins; `w.ssthresh` is already cut.
    fn enter(&mut self, ep: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair;
    /// The detector has been asked which segments are lost by time; `by_time`: whether it judges by time.
    fn marked(&mut self, _by_time: bool, _w: &mut Window, _board: &mut Scoreboard, _cx: &Ctx) {}
    /// An ACK arrived; if it advanced, the window has already grown. `lost` bytes were newly marked by the detector.
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> (Flow, Option<Mistake>);
    /// What to send now; a pure query, repeated until `None`.
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit>;
    /// The segment was sent.
    fn on_sent(&mut self, _x: Xmit, _sent: &Sent, _cx: &Ctx) {}
}

/// Its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimeoutSpec {
    /// Retransmits everything from `snd_una` on, in slow start.
    GoBackN(go_back_n::GoBackNSpec),
    /// Everything not SACKed, by marks (RFC 6675 §5.1).
    Sack(sack::SackSpec),
    /// Sends one segment, then new data, until the loss is confirmed or refuted (RFC 5682).
    Frto(frto::FrtoSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Timeout>),
}

impl Default for TimeoutSpec {
    fn default() -> Self {
        TimeoutSpec::GoBackN(go_back_n::GoBackNSpec::default())
    }
}

/// Its state.
pub enum AnyTimeout {
    /// Go back N.
    GoBackN(go_back_n::GoBackN),
    /// By marks.
    Sack(sack::Sack),
    /// F-RTO.
    Frto(Box<frto::Frto>),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Timeout>),
}

impl TimeoutSpec {
    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        match self {
            TimeoutSpec::Sack(_) => vec![Requirement::sack("timeout", "\"sack\""), no_going_back("\"sack\"")],
            TimeoutSpec::Frto(s) => s.needs(),
            TimeoutSpec::GoBackN(_) | TimeoutSpec::Custom(_) => vec![],
        }
    }

    /// The answer to use instead, under Linux's rules, if the connection has no SACK; `None` if this slot's algorithm does not
    /// follow them.
    pub(crate) fn without_sack(&self) -> Option<TimeoutSpec> {
        match self {
            TimeoutSpec::Frto(s) => s.without_sack().map(TimeoutSpec::Frto),
            TimeoutSpec::GoBackN(_) | TimeoutSpec::Sack(_) | TimeoutSpec::Custom(_) => None,
        }
    }

    /// Whether it resends by mark, not by going back.
    pub(crate) fn resends_by_mark(&self) -> bool {
        match self {
            TimeoutSpec::GoBackN(_) => false,
            TimeoutSpec::Sack(_) | TimeoutSpec::Frto(_) | TimeoutSpec::Custom(_) => true,
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnyTimeout {
        match self {
            TimeoutSpec::GoBackN(s) => AnyTimeout::GoBackN(go_back_n::GoBackN::new(s)),
            TimeoutSpec::Sack(s) => AnyTimeout::Sack(sack::Sack::new(s)),
            TimeoutSpec::Frto(s) => AnyTimeout::Frto(Box::new(frto::Frto::new(s))),
            TimeoutSpec::Custom(f) => AnyTimeout::Custom((f.make)(mss)),
        }
    }
}

/// An answer that repairs by marks does not fit a recovery that goes back.
fn no_going_back(found: &'static str) -> Requirement {
    let allowed = "\"go-back-n\", since Tahoe repairs by going back, not by marks";
    Requirement { need: Need::Resends(Resends::STAY), key: "timeout", found, allowed }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyTimeout: GoBackN | Sack | Frto | Custom, $x => $call) };
}

impl Timeout for AnyTimeout {
    fn enter(&mut self, ep: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        each!(self, x => x.enter(ep, w, board, cx))
    }
    fn marked(&mut self, by_time: bool, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) {
        each!(self, x => x.marked(by_time, w, board, cx));
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
        each!(self, x => x.on_ack(ack, lost, ep, w, board, cx))
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        each!(self, x => x.next(w, board, cx))
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        each!(self, t => t.on_sent(x, sent, cx));
    }
}
