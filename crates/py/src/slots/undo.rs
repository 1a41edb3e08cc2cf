//! `undo`: and then?

use super::algorithm::{senseless, Algorithm, Hook};
use crate::views::{
    Context, GiveBack as GiveBackView, Ledger as LedgerView, Mistake as MistakeView, Prior as PriorView,
};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Ledger, Mistake};
use ackclock_tcp::undo::{GiveBack, Prior, Standing, Undo};
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Undo`.
pub(super) struct Giver {
    algorithm: Algorithm,
    prior_in_recovery: Prior,
    on_mistake: Hook,
}

impl Giver {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        let prior = algorithm.attribute("prior_in_recovery", PriorView::AtTimeout, |v| {
            v.extract().map_err(|_| senseless(v, "Prior.AT_TIMEOUT or Prior.BEFORE_INTERRUPTED"))
        });
        Giver { prior_in_recovery: prior.into(), on_mistake: algorithm.hook("on_mistake"), algorithm }
    }
}

impl Undo for Giver {
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack {
        self.algorithm.ask(&self.on_mistake, Some(cx.now), GiveBack::default(), |f| {
            LedgerView::lend(f.py(), ledger, |ledger| {
                GiveBackView::lend(f.py(), at, w, cx.mss, |give_back| {
                    f.call1((MistakeView(*m), ledger, give_back, Context(*cx))).map(drop)
                })
            })
        })
    }
    fn prior_in_recovery(&self) -> Prior {
        self.prior_in_recovery
    }
}
