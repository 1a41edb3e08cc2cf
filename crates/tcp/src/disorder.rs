//! And while we are not sure? What may be sent between the first duplicate ACK and the verdict.

pub mod extended;
pub mod limited_transmit;
pub mod ncr;
pub mod nothing;
pub mod pipe;

use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::{Need, Requirement};
use crate::slot::{dispatch, Factory};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Owner of the Disorder phase.
pub trait Disorder: Send {
    /// The phase begins; `on_dup` follows.
    fn on_enter(&mut self, _w: &Window, _cx: &Ctx) {}
    /// A duplicate ACK arrived.
    fn on_dup(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx);
    /// What to send now; a pure query, repeated until `None`.
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit>;
    /// The segment was sent.
    fn on_sent(&mut self, _x: Xmit, _sent: &Sent, _w: &Window, _cx: &Ctx) {}
    /// Bytes sent beyond the window, which RFC 5681 §3.2 (2) leaves out of FlightSize.
    fn sent_beyond(&self) -> Bytes {
        0
    }
    /// It was reordering after all.
    fn on_resolved(&mut self, _w: &mut Window, _cx: &Ctx) {}
}

/// Its description.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DisorderSpec {
    /// Only what the window allows (RFC 5681).
    #[default]
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Nothing,
    /// One new segment on each of the first two duplicates (RFC 3042).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    LimitedTransmit,
    /// As limited transmit, then one on every second duplicate (Blanton & Allman §6.1).
    Extended(extended::ExtendedSpec),
    /// As much as `pipe` leaves room for (RFC 8985's senders).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Pipe,
    /// New data for one round trip of doubt (RFC 4653).
    Ncr(ncr::NcrSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Disorder>),
}

/// Its state.
pub enum AnyDisorder {
    /// Only what the window allows.
    Nothing(nothing::Nothing),
    /// RFC 3042.
    LimitedTransmit(limited_transmit::LimitedTransmit),
    /// Blanton & Allman §6.1.
    Extended(extended::Extended),
    /// As much as `pipe` leaves room for.
    Pipe(pipe::Pipe),
    /// New data for one round trip of doubt.
    Ncr(Box<ncr::Ncr>),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Disorder>),
}

impl DisorderSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            DisorderSpec::Extended(s) => s.validate(),
            DisorderSpec::Nothing
            | DisorderSpec::LimitedTransmit
            | DisorderSpec::Pipe
            | DisorderSpec::Ncr(_)
            | DisorderSpec::Custom(_) => Ok(()),
        }
    }

    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        match self {
            DisorderSpec::Pipe => {
                vec![Requirement { need: Need::Arrivals, ..Requirement::sack("disorder", "\"pipe\"") }]
            }
            DisorderSpec::Ncr(_) => vec![Requirement::sack("disorder", "\"ncr\"")],
            DisorderSpec::Nothing
            | DisorderSpec::LimitedTransmit
            | DisorderSpec::Extended(_)
            | DisorderSpec::Custom(_) => vec![],
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnyDisorder {
        match self {
            DisorderSpec::Nothing => AnyDisorder::Nothing(nothing::Nothing),
            DisorderSpec::LimitedTransmit => AnyDisorder::LimitedTransmit(limited_transmit::LimitedTransmit::default()),
            DisorderSpec::Extended(s) => AnyDisorder::Extended(extended::Extended::new(s)),
            DisorderSpec::Pipe => AnyDisorder::Pipe(pipe::Pipe::default()),
            DisorderSpec::Ncr(s) => AnyDisorder::Ncr(Box::new(ncr::Ncr::new(s))),
            DisorderSpec::Custom(f) => AnyDisorder::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyDisorder: Nothing | LimitedTransmit | Extended | Pipe | Ncr | Custom, $x => $call) };
}

impl Disorder for AnyDisorder {
    fn on_enter(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_enter(w, cx));
    }
    fn on_dup(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_dup(ack, w, cx));
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        each!(self, x => x.next(w, board, cx))
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        each!(self, d => d.on_sent(x, sent, w, cx));
    }
    fn sent_beyond(&self) -> Bytes {
        each!(self, x => x.sent_beyond())
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        each!(self, x => x.on_resolved(w, cx));
    }
}
