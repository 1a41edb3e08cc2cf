//! And then? What a proven mistake gives back, and when.

pub mod slow_start_back;

use crate::congestion::AnyCongestion;
use crate::event::Window;
use crate::sender::ctx::Ctx;
use crate::sender::episode::{Ledger, Mistake};
use crate::slot::Factory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A consequence of a mistake.
pub trait Undo {
    /// Gives back, once per verdict and never above the episode's `prior`; not for a `void` episode.
    fn on_mistake(&mut self, m: &Mistake, ledger: &mut Ledger, w: &mut Window, cc: &mut AnyCongestion, cx: &Ctx);
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
    /// From outside the crate.
    #[serde(skip)]
    Custom(Factory<dyn Undo>),
}

/// Its state.
pub enum AnyUndo {
    /// Nothing is given back.
    Nothing,
    /// Slow start back.
    SlowStartBack(slow_start_back::SlowStartBack),
    /// From outside the crate.
    Custom(Box<dyn Undo>),
}

impl UndoSpec {
    pub(crate) fn build(&self, mss: u32) -> AnyUndo {
        match self {
            UndoSpec::Nothing => AnyUndo::Nothing,
            UndoSpec::SlowStartBack(s) => AnyUndo::SlowStartBack(slow_start_back::SlowStartBack::new(s)),
            UndoSpec::Custom(f) => AnyUndo::Custom((f.make)(mss)),
        }
    }
}

impl Undo for AnyUndo {
    fn on_mistake(&mut self, m: &Mistake, ledger: &mut Ledger, w: &mut Window, cc: &mut AnyCongestion, cx: &Ctx) {
        match self {
            AnyUndo::Nothing => {}
            AnyUndo::SlowStartBack(x) => x.on_mistake(m, ledger, w, cc, cx),
            AnyUndo::Custom(x) => x.on_mistake(m, ledger, w, cc, cx),
        }
    }
}
