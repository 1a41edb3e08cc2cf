//! And then? The state that is restored after a proven mistake, and the time when it is.

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

/// The situation when a mistake is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Bytes newly reported as delivered, cumulatively or by SACK, by the ACK that showed the mistake (RFC 4015 §3.1 (9)
    /// bounds a burst by this).
    pub acked: Bytes,
    /// Bytes that the gate in Open counts as outstanding: without SACKed data if the gate is `pipe`.
    pub outstanding: Bytes,
}

/// State to restore besides the window; the sequencer passes it on. Default: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GiveBack {
    /// State that the congestion slot saved when an episode began and gets back.
    pub congestion: Option<CcUndo>,
    /// When the retransmission timer fired spuriously, if it is to learn that it was too short (RFC 4015 §3.1 (11)).
    pub fired: Option<Time>,
}

/// The window remembered by an episode that a timeout begins during another episode's repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// The current one: the earlier cut was for a separate loss.
    AtTimeout,
    /// The one that the interrupted episode remembers (Linux's `prior_cwnd`).
    BeforeInterrupted,
}

/// The response to a mistake.
pub trait Undo: Send {
    /// Writes the window and returns what else to restore: once per verdict, never above the episode's `prior`, and not for
    /// a `void` episode. If the episode was running, it has ended: loss marks are removed, and `snd_nxt` is `snd_max` again.
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack;
    /// Which window is remembered by an episode that a timeout begins while another one is running (decision 0051).
    fn prior_in_recovery(&self) -> Prior {
        Prior::AtTimeout
    }
}

/// Its description.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum UndoSpec {
    /// Nothing is restored.
    #[default]
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Nothing,
    /// The threshold is set to the window before the cut (Blanton & Allman §5).
    SlowStartBack(slow_start_back::SlowStartBackSpec),
    /// The window is set slightly above the data in flight, and the timer becomes slower (RFC 4015).
    EifelResponse(eifel_response::EifelResponseSpec),
    /// Window and threshold are restored (Linux 6).
    Restore(restore::RestoreSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Undo>),
}

/// Its state.
pub enum AnyUndo {
    /// Nothing is restored.
    Nothing(nothing::Nothing),
    /// Undo by slow start.
    SlowStartBack(slow_start_back::SlowStartBack),
    /// RFC 4015.
    EifelResponse(eifel_response::EifelResponse),
    /// Full restore.
    Restore(restore::Restore),
    /// An algorithm from outside the crate.
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
