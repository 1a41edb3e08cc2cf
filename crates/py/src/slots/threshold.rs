//! `detect.threshold`: a rule for the duplicate ACK threshold.

use super::algorithm::{whole, Algorithm, Hook};
use crate::views::{Ack, Board, Context, Sample, Window as WindowView};
use ackclock_tcp::detect::threshold::DupThresh;
use ackclock_tcp::detect::Learner;
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::Scoreboard;
use ackclock_tcp::time::Nanos;
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.DupThresh`.
pub(super) struct Threshold {
    algorithm: Algorithm,
    follows_flight: bool,
    segments: Hook,
    on_ack: Hook,
    on_reorder: Hook,
    on_disorder: Hook,
    on_cut: Hook,
    on_stall: Hook,
    on_rto: Hook,
}

impl Threshold {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Threshold {
            follows_flight: algorithm.attribute("follows_flight", false, |v| v.extract()),
            segments: algorithm.hook("segments"),
            on_ack: algorithm.hook("on_ack"),
            on_reorder: algorithm.hook("on_reorder"),
            on_disorder: algorithm.hook("on_disorder"),
            on_cut: algorithm.hook("on_cut"),
            on_stall: algorithm.hook("on_stall"),
            on_rto: algorithm.hook("on_rto"),
            algorithm,
        }
    }
}

impl DupThresh for Threshold {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        self.algorithm.ask(&self.segments, Some(cx.now), 3, |f| {
            let answer = f.call1((WindowView::read(w), Context(*cx)))?;
            Ok(whole(&answer, 1, u32::MAX.into())? as u32)
        })
    }
    fn follows_flight(&self) -> bool {
        self.follows_flight
    }
    fn on_ack(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        self.algorithm.ask(&self.on_ack, Some(cx.now), (), |f| {
            Board::lend(f.py(), board, |board| f.call1((Ack(*ack), board, Context(*cx))).map(drop))
        });
    }
    fn on_disorder(&mut self, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_disorder, Some(cx.now), || (WindowView::read(w), Context(*cx)));
    }
}

impl Learner for Threshold {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let what = || (Sample(*sample), WindowView::read(w), Context(*cx));
        self.algorithm.tell(&self.on_reorder, Some(cx.now), what);
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_cut, Some(cx.now), || (WindowView::read(w), Context(*cx)));
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_stall, Some(cx.now), || (idle.0, WindowView::read(w), Context(*cx)));
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_rto, Some(cx.now), || (dup_run, WindowView::read(w), Context(*cx)));
    }
}
