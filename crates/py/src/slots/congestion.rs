//! `congestion`: how big may the window be?

use super::algorithm::{answered, senseless, Algorithm, Hook};
use crate::views::{finite, fits, Ack, Context, Cut as CutView, Loss, Window as WindowView};
use ackclock_tcp::congestion::{Congestion, Cut, LossEvent};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::CcUndo;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Congestion`.
pub(super) struct Growth {
    algorithm: Algorithm,
    on_ack: Hook,
    on_loss: Hook,
    save: Hook,
    restore: Hook,
}

impl Growth {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Growth {
            on_ack: algorithm.hook("on_ack"),
            on_loss: algorithm.hook("on_loss"),
            save: algorithm.hook("save"),
            restore: algorithm.hook("restore"),
            algorithm,
        }
    }
}

impl Congestion for Growth {
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        self.algorithm.ask(&self.on_ack, Some(cx.now), (), |f| {
            WindowView::lend(f.py(), w, cx.mss, |w| f.call1((Ack(*ack), w, Context(*cx))).map(drop))
        });
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        let kept = Cut { ssthresh: w.ssthresh, cwnd: w.cwnd };
        self.algorithm.ask(&self.on_loss, Some(cx.now), kept, |f| {
            let answer = f.call1((Loss(*l), WindowView::read(w), Context(*cx)))?;
            let cut = answered::<CutView>(&answer, "a Cut")?.0;
            let w = Window { cwnd: cut.cwnd, ssthresh: cut.ssthresh };
            fits(&w, cx.mss).map_err(|e| PyValueError::new_err(format!("returned {e}")))?;
            Ok(cut)
        })
    }
    fn save(&self) -> CcUndo {
        self.algorithm.ask(&self.save, None, CcUndo::default(), |f| {
            let answer = f.call0()?;
            let numbers: Vec<f64> = answer.extract().map_err(|_| senseless(&answer, "a list of numbers"))?;
            finite(&numbers)?;
            let mut saved = CcUndo::default();
            match saved.num.get_mut(..numbers.len()) {
                Some(num) => num.copy_from_slice(&numbers),
                None => return Err(senseless(&answer, "at most four numbers")),
            }
            Ok(saved)
        })
    }
    fn restore(&mut self, u: &CcUndo) {
        self.algorithm.tell(&self.restore, None, || (u.num.to_vec(),));
    }
}
