//! `timeout`: and after a timeout?

use super::algorithm::{answered, senseless, Algorithm, Hook};
use super::recovery::lend_all;
use crate::views::{Ack, Context, Flow as FlowView, Mistake as MistakeView, Repair as RepairView};
use crate::views::{Segment, Xmit as XmitView};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::answer::{Flow, Rearm};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Mistake};
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::timeout::{Repair, Timeout};
use ackclock_tcp::units::Bytes;
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Timeout`.
pub(super) struct AfterTimeout {
    algorithm: Algorithm,
    enter: Hook,
    on_ack: Hook,
    next: Hook,
    on_sent: Hook,
}

impl AfterTimeout {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        AfterTimeout {
            enter: algorithm.hook("enter"),
            on_ack: algorithm.hook("on_ack"),
            next: algorithm.hook("next"),
            on_sent: algorithm.hook("on_sent"),
            algorithm,
        }
    }
}

impl Timeout for AfterTimeout {
    fn enter(&mut self, ep: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        self.algorithm.ask(&self.enter, Some(cx.now), Repair::Marks, |f| {
            lend_all(f.py(), (ep, w, board), cx, |(ep, w, board)| {
                let answer = f.call1((ep, w, board, Context(*cx)))?;
                Ok(answered::<RepairView>(&answer, "a Repair")?.0)
            })
        })
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
        let goes_on = Flow::Continue(Rearm::OnNewData);
        self.algorithm.ask(&self.on_ack, Some(cx.now), (goes_on, None), |f| {
            lend_all(f.py(), (ep, w, board), cx, |(ep, w, board)| {
                let answer = f.call1((Ack(*ack), lost, ep, w, board, Context(*cx)))?;
                if let Ok(mistake) = answer.cast::<MistakeView>() {
                    return Ok((goes_on, Some(mistake.get().0)));
                }
                match answered::<FlowView>(&answer, "a Flow or a Mistake")?.0 {
                    Flow::Restart => {
                        Err(senseless(&answer, "any Flow except RESTART, which only a Recovery may return"))
                    }
                    flow => Ok((flow, None)),
                }
            })
        })
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.algorithm.next(&self.next, w, board, cx)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.algorithm.tell(&self.on_sent, Some(cx.now), || (XmitView(x), Segment(*sent), Context(*cx)));
    }
}
