//! `startup`: where does slow start begin and end?

use super::algorithm::{answered, Algorithm, Hook};
use crate::views::{fits, Ack, Advice as AdviceView, Context, Window as WindowView};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::startup::{Advice, Startup};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Startup`.
pub(super) struct Start {
    algorithm: Algorithm,
    initial: Hook,
    on_handshake: Hook,
    on_ack: Hook,
}

impl Start {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Start {
            initial: algorithm.hook("initial"),
            on_handshake: algorithm.hook("on_handshake"),
            on_ack: algorithm.hook("on_ack"),
            algorithm,
        }
    }
}

impl Startup for Start {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        let segment = f64::from(mss);
        self.algorithm.ask(&self.initial, None, Window { cwnd: segment, ssthresh: rwnd as f64 }, |f| {
            let answer = f.call1((rwnd,))?;
            let w = answered::<WindowView>(&answer, "a Window")?.value();
            fits(&w, mss).map_err(|e| PyValueError::new_err(format!("returned {e}")))?;
            Ok(w)
        })
    }
    fn on_handshake(&mut self, rtt: Nanos) {
        self.algorithm.tell(&self.on_handshake, None, || (rtt.0,));
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        self.algorithm.ask(&self.on_ack, Some(cx.now), Advice::Keep, |f| {
            let answer = f.call1((Ack(*ack), WindowView::read(w), Context(*cx)))?;
            let advice = answered::<AdviceView>(&answer, "an Advice")?.0;
            if let Advice::Ssthresh(ssthresh) = advice {
                fits(&Window { ssthresh, ..*w }, cx.mss).map_err(|e| PyValueError::new_err(format!("returned {e}")))?;
            }
            Ok(advice)
        })
    }
}
