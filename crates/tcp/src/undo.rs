//! And then? What a proven mistake gives back, and when.

pub mod eifel_response;
pub mod nothing;
pub mod restore;
pub mod slow_start_back;

use crate::error::StackError;
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{CcUndo, Ledger, Mistake};
use crate::slot::{dispatch, Factory};
use crate::time::Time;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How things stand when a mistake has been found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Bytes that the ACK which showed the mistake newly reports as delivered, cumulatively or by SACK (RFC 4015 §3.1 (9)
    /// bounds a burst by it).
    pub acked: Bytes,
    /// What the gate in Open counts as outstanding, bytes: without what is SACKed, if it goes by `pipe`.
    pub outstanding: Bytes,
}

/// What is to be given back besides the window; the sequencer hands it on. Default: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GiveBack {
    /// What the congestion slot is to have back, of what it saved when an episode began.
    pub congestion: Option<CcUndo>,
    /// When the retransmission timer fired for nothing, if it is to learn that it was too short (RFC 4015 §3.1 (11)).
    pub fired: Option<Time>,
}

/// Which window is remembered by an episode that a timeout begins in the middle of another one's repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// As it is: the cut before it was made for a loss of its own.
    AtTimeout,
    /// What the interrupted episode remembers (Linux's `prior_cwnd`).
    BeforeInterrupted,
}

/// A consequence of a mistake.
pub trait Undo: Send {
    /// Writes the window and says what else is to be given back: once per verdict and never above the episode's `prior`; not
    /// for a `void` episode. If the episode was running it has been ended: what was marked lost is not, and `snd_nxt` is
    /// `snd_max` again.
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack;
    /// Which window an episode remembers that a timeout begins while another is running (decision 0034).
    fn prior_in_recovery(&self) -> Prior {
        Prior::AtTimeout
    }
}

/// Its description.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum UndoSpec {
    /// Nothing is given back.
    #[default]
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Nothing,
    /// The threshold goes back to the window before the cut (Blanton & Allman §5).
    SlowStartBack(slow_start_back::SlowStartBackSpec),
    /// What is in flight and a little more, and a slower timer (RFC 4015).
    EifelResponse(eifel_response::EifelResponseSpec),
    /// Window and threshold as they were (Linux 6).
    Restore(restore::RestoreSpec),
    /// From outside the crate.
    #[serde(skip)]
    Custom(Factory<dyn Undo>),
}

/// Its state.
pub enum AnyUndo {
    /// Nothing is given back.
    Nothing(nothing::Nothing),
    /// Slow start back.
    SlowStartBack(slow_start_back::SlowStartBack),
    /// RFC 4015.
    EifelResponse(eifel_response::EifelResponse),
    /// As it was.
    Restore(restore::Restore),
    /// From outside the crate.
    Custom(Box<dyn Undo>),
}

impl UndoSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            UndoSpec::EifelResponse(s) => s.validate(),
            UndoSpec::Nothing | UndoSpec::SlowStartBack(_) | UndoSpec::Restore(_) | UndoSpec::Custom(_) => Ok(()),
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnyUndo {
        match self {
            UndoSpec::Nothing => AnyUndo::Nothing(nothing::Nothing),
            UndoSpec::SlowStartBack(s) => AnyUndo::SlowStartBack(slow_start_back::SlowStartBack::new(s)),
            UndoSpec::EifelResponse(s) => AnyUndo::EifelResponse(eifel_response::EifelResponse::new(s)),
            UndoSpec::Restore(s) => AnyUndo::Restore(restore::Restore::new(s)),
            UndoSpec::Custom(f) => AnyUndo::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyUndo: Nothing | SlowStartBack | EifelResponse | Restore | Custom, $x => $call) };
}

impl Undo for AnyUndo {
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack {
        each!(self, x => x.on_mistake(m, at, ledger, w, cx))
    }
    fn prior_in_recovery(&self) -> Prior {
        each!(self, x => x.prior_in_recovery())
    }
}
