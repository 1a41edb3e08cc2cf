//! How many duplicates? One file per rule for `dupthresh`.

pub mod fixed;

use crate::event::Window;
use crate::sender::ctx::Ctx;
use crate::sender::reorder::ReorderSample;
use crate::slot::{dispatch, Factory};
use serde::{Deserialize, Serialize};

/// A rule for the duplicate ACK threshold.
pub trait DupThresh {
    /// The threshold: asked on the first duplicate of a hole and kept for that hole.
    fn segments(&self, w: &Window, cx: &Ctx) -> u32;
    /// Reordering was measured.
    fn on_reorder(&mut self, _sample: &ReorderSample, _w: &Window, _cx: &Ctx) {}
    /// The first duplicate of an event arrived.
    fn on_disorder(&mut self, _w: &Window, _cx: &Ctx) {}
    /// The window was reduced to `w`.
    fn on_cut(&mut self, _w: &Window, _cx: &Ctx) {}
    /// The retransmission timer fired in the middle of `dup_run` duplicates.
    fn on_rto(&mut self, _dup_run: u32, _w: &Window, _cx: &Ctx) {}
}

/// A rule's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ThresholdSpec {
    /// Always the same.
    Fixed(fixed::FixedSpec),
    /// From outside the crate.
    #[serde(skip)]
    Custom(Factory<dyn DupThresh>),
}

impl Default for ThresholdSpec {
    fn default() -> Self {
        ThresholdSpec::Fixed(fixed::FixedSpec::default())
    }
}

/// A rule at work.
pub enum AnyThreshold {
    /// Always the same.
    Fixed(fixed::Fixed),
    /// From outside the crate.
    Custom(Box<dyn DupThresh>),
}

impl ThresholdSpec {
    pub(crate) fn build(&self, mss: u32) -> AnyThreshold {
        match self {
            ThresholdSpec::Fixed(s) => AnyThreshold::Fixed(fixed::Fixed::new(s)),
            ThresholdSpec::Custom(f) => AnyThreshold::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyThreshold: Fixed | Custom, $x => $call) };
}

impl DupThresh for AnyThreshold {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        each!(self, x => x.segments(w, cx))
    }
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_reorder(sample, w, cx));
    }
    fn on_disorder(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_disorder(w, cx));
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_cut(w, cx));
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_rto(dup_run, w, cx));
    }
}
