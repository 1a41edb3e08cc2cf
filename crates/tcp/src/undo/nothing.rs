//! Nothing is given back (RFC 5681): the cut stands, mistake or not.

use super::{GiveBack, Undo};
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Ledger, Mistake};

/// It has no state.
pub struct Nothing;

impl Undo for Nothing {
    fn on_mistake(&mut self, _: &Mistake, _: &mut Ledger, _: GiveBack, _: &Ctx) {}
}
