//! `disorder`: and while we are not sure?

use super::algorithm::{whole, Algorithm, Hook};
use crate::views::{Ack, Context, Segment, Window as WindowView, Xmit as XmitView};
use ackclock_tcp::disorder::Disorder;
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::units::Bytes;
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Disorder`.
pub(super) struct Doubt {
    algorithm: Algorithm,
    on_enter: Hook,
    on_dup: Hook,
    next: Hook,
    on_sent: Hook,
    on_resolved: Hook,
}

impl Doubt {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Doubt {
            on_enter: algorithm.hook("on_enter"),
            on_dup: algorithm.hook("on_dup"),
            next: algorithm.hook("next"),
            on_sent: algorithm.hook("on_sent"),
            on_resolved: algorithm.hook("on_resolved"),
            algorithm,
        }
    }
}

impl Disorder for Doubt {
    fn on_enter(&mut self, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_enter, Some(cx.now), || (WindowView::read(w), Context(*cx)));
    }
    fn on_dup(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_dup, Some(cx.now), || (Ack(*ack), WindowView::read(w), Context(*cx)));
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.algorithm.next(&self.next, w, board, cx)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        let what = || (XmitView(x), Segment(*sent), WindowView::read(w), Context(*cx));
        self.algorithm.tell(&self.on_sent, Some(cx.now), what);
    }
    fn sent_beyond(&self) -> Bytes {
        self.algorithm.attribute("sent_beyond", 0, |v| whole(v, 0, 1 << 50))
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        self.algorithm.ask(&self.on_resolved, Some(cx.now), (), |f| {
            WindowView::lend(f.py(), w, cx.mss, |w| f.call1((w, Context(*cx))).map(drop))
        });
    }
}
