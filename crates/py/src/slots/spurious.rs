//! `spurious`: was it a mistake?

use super::algorithm::{answered, senseless, whole_or_none, Algorithm, Hook, LONGEST};
use crate::views::{
    Ack, Board, Context, Episode as EpisodeView, Ledger as LedgerView, Mistake as MistakeView, Segment,
};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Ledger, Mistake};
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::spurious::Spurious;
use ackclock_tcp::time::{Nanos, Time};
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Spurious`.
pub(super) struct Judge {
    algorithm: Algorithm,
    on_begin: Hook,
    on_retransmit: Hook,
    passes_over: Hook,
    on_ack: Hook,
    rtt: Hook,
    on_episode_end: Hook,
}

impl Judge {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Judge {
            on_begin: algorithm.hook("on_begin"),
            on_retransmit: algorithm.hook("on_retransmit"),
            passes_over: algorithm.hook("passes_over"),
            on_ack: algorithm.hook("on_ack"),
            rtt: algorithm.hook("rtt"),
            on_episode_end: algorithm.hook("on_episode_end"),
            algorithm,
        }
    }
}

fn verdict(answer: &Bound<'_, PyAny>) -> PyResult<Option<Mistake>> {
    match answer.is_none() {
        true => Ok(None),
        false => Ok(Some(answered::<MistakeView>(answer, "None or a Mistake")?.0)),
    }
}

impl Spurious for Judge {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) {
        self.algorithm.ask(&self.on_begin, Some(cx.now), (), |f| {
            LedgerView::lend(f.py(), ledger, |ledger| f.call1((ledger, Context(*cx))).map(drop))
        });
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, cx: &Ctx) {
        self.algorithm.ask(&self.on_retransmit, Some(cx.now), (), |f| {
            EpisodeView::lend(f.py(), ep, |ep| f.call1((Segment(*seg), before.0, ep, Context(*cx))).map(drop))
        });
    }
    fn passes_over(&self, ack: &AckEvent, cx: &Ctx) -> bool {
        self.algorithm.ask(&self.passes_over, Some(cx.now), false, |f| {
            let answer = f.call1((Ack(*ack), Context(*cx)))?;
            answer.extract().map_err(|_| senseless(&answer, "True or False"))
        })
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        self.algorithm.ask(&self.on_ack, Some(cx.now), None, |f| {
            LedgerView::lend(f.py(), ledger, |ledger| {
                Board::lend(f.py(), board, |board| verdict(&f.call1((Ack(*ack), ledger, board, Context(*cx)))?))
            })
        })
    }
    fn rtt(&mut self, cx: &Ctx) -> Option<Nanos> {
        self.algorithm.ask(&self.rtt, Some(cx.now), None, |f| {
            Ok(whole_or_none(&f.call1((Context(*cx),))?, 1, LONGEST)?.map(Nanos))
        })
    }
    fn on_episode_end(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.algorithm.ask(&self.on_episode_end, Some(cx.now), None, |f| {
            EpisodeView::lend(f.py(), ep, |ep| verdict(&f.call1((ep, Context(*cx)))?))
        })
    }
}
