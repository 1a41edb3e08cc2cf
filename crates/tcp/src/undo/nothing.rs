//! Nothing is restored (RFC 5681): the cut remains, mistake or not.

use super::{GiveBack, Standing, Undo};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Ledger, Mistake};

/// It has no state.
pub struct Nothing;

impl Undo for Nothing {
    fn on_mistake(&mut self, _: &Mistake, _: Standing, _: &mut Ledger, _: &mut Window, _: &Ctx) -> GiveBack {
        GiveBack::default()
    }
}
