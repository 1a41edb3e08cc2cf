//! How many duplicates? One file per rule for `dupthresh`.

pub mod avg;
pub mod avg_dev;
mod cap;
pub mod ewma;
pub mod fa;
pub mod fixed;
pub mod inc;
pub mod linux;
pub mod multipath;
pub mod ncr;

pub use cap::{CapSpec, CapStore};

use super::Learner;
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::Scoreboard;
use crate::needs::{Need, Requirement};
use crate::slot::{dispatch, Factory};
use crate::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rule for the duplicate ACK threshold. It learns from the connection's events as a [`Learner`].
pub trait DupThresh: Learner + Send {
    /// The threshold, at least 1; read on the first duplicate of a hole and kept for that hole.
    fn segments(&self, w: &Window, cx: &Ctx) -> u32;
    /// Whether it is instead read at every duplicate, until a recovery begins.
    fn follows_flight(&self) -> bool {
        false
    }
    /// An ACK that arrives while data is missing, or that carries SACK blocks; it has been applied to the
    /// scoreboard.
    fn on_ack(&mut self, _ack: &AckEvent, _board: &Scoreboard, _cx: &Ctx) {}
    /// The first duplicate of an event arrived.
    fn on_disorder(&mut self, _w: &Window, _cx: &Ctx) {}
}

/// A rule's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ThresholdSpec {
    /// A constant.
    Fixed(fixed::FixedSpec),
    /// Up by a constant (Blanton & Allman §6.2).
    Inc(inc::IncSpec),
    /// Halfway to the length of the event (Blanton & Allman §6.3).
    Avg(avg::AvgSpec),
    /// A running average (Blanton & Allman §6.5).
    Ewma(ewma::EwmaSpec),
    /// A share of the outstanding data (RFC 4653).
    Ncr(ncr::NcrSpec),
    /// An average and its deviation, below two bounds (Leung & Ma §III).
    AvgDev(avg_dev::AvgDevSpec),
    /// The largest distance by which a segment was overtaken (Linux 6).
    Linux(linux::LinuxSpec),
    /// A percentile of past lengths (RR-TCP).
    Fa(fa::FaSpec),
    /// The logarithm of the number of paths (Lee, Park & Choi 2002).
    Multipath(multipath::MultipathSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn DupThresh>),
}

impl Default for ThresholdSpec {
    fn default() -> Self {
        ThresholdSpec::Fixed(fixed::FixedSpec::default())
    }
}

/// A rule at work.
pub enum AnyThreshold {
    /// A constant.
    Fixed(fixed::Fixed),
    /// Up by a constant.
    Inc(inc::Inc),
    /// Halfway to the length of the event.
    Avg(avg::Avg),
    /// A running average.
    Ewma(Box<ewma::Ewma>),
    /// A share of the outstanding data.
    Ncr(ncr::Ncr),
    /// An average and its deviation.
    AvgDev(Box<avg_dev::AvgDev>),
    /// The largest distance by which a segment was overtaken.
    Linux(Box<linux::Linux>),
    /// A percentile of past lengths.
    Fa(Box<fa::Fa>),
    /// The logarithm of the number of paths.
    Multipath(multipath::Multipath),
    /// An algorithm from outside the crate.
    Custom(Box<dyn DupThresh>),
}

impl ThresholdSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        let check = |ok: bool, key, found: &dyn std::fmt::Display, allowed: &str| match ok {
            true => Ok(()),
            false => Err(StackError { key, found: found.to_string(), allowed: allowed.into() }),
        };
        let dupacks = |key, n: u32| check((1..=1000).contains(&n), key, &n, "1 to 1000 duplicate ACKs");
        let share = |key, x: f64| check((0.0..=1.0).contains(&x), key, &x, "0 to 1");
        const FLOOR: &str = "detect.threshold.cap.floor_segs";
        match self {
            ThresholdSpec::Fixed(t) => dupacks("detect.threshold.segments", t.segments),
            ThresholdSpec::Inc(t) => {
                dupacks("detect.threshold.step", t.step)?;
                dupacks(FLOOR, t.cap.floor_segs)
            }
            ThresholdSpec::Avg(t) => dupacks(FLOOR, t.cap.floor_segs),
            ThresholdSpec::Ewma(t) => {
                share("detect.threshold.alpha", t.alpha)?;
                share("detect.threshold.x", t.x)?;
                dupacks(FLOOR, t.cap.floor_segs)
            }
            ThresholdSpec::AvgDev(t) => t.validate(),
            ThresholdSpec::Linux(t) => {
                dupacks("detect.threshold.initial", t.initial)?;
                dupacks("detect.threshold.max", t.max)
            }
            ThresholdSpec::Fa(t) => t.validate(),
            ThresholdSpec::Multipath(t) => {
                check((1..=65_536).contains(&t.paths), "detect.threshold.paths", &t.paths, "1 to 65536 paths")
            }
            ThresholdSpec::Ncr(_) | ThresholdSpec::Custom(_) => Ok(()),
        }
    }

    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        let samples = |found| {
            Requirement {
            need: Need::Samples,
            key: "detect.threshold",
            found,
            allowed: "only together with spurious = \"dsack\", or with timestamps for spurious = \"linux\", which measures nothing without",
        }
        };
        match self {
            ThresholdSpec::Inc(t) => [t.needs(), vec![samples("\"inc\"")]].concat(),
            ThresholdSpec::Avg(_) => vec![samples("\"avg\"")],
            ThresholdSpec::AvgDev(_) => vec![samples("\"avg-dev\"")],
            ThresholdSpec::Fa(_) => vec![samples("\"fa\"")],
            ThresholdSpec::Fixed(_)
            | ThresholdSpec::Ewma(_)
            | ThresholdSpec::Ncr(_)
            | ThresholdSpec::Linux(_)
            | ThresholdSpec::Multipath(_)
            | ThresholdSpec::Custom(_) => vec![],
        }
    }

    /// Builds the rule for segments of `mss` bytes; usable on its own, to measure or try it.
    pub fn build(&self, mss: u32) -> AnyThreshold {
        match self {
            ThresholdSpec::Fixed(s) => AnyThreshold::Fixed(fixed::Fixed::new(s)),
            ThresholdSpec::Inc(s) => AnyThreshold::Inc(inc::Inc::new(s)),
            ThresholdSpec::Avg(s) => AnyThreshold::Avg(avg::Avg::new(s)),
            ThresholdSpec::Ewma(s) => AnyThreshold::Ewma(Box::new(ewma::Ewma::new(s))),
            ThresholdSpec::Ncr(s) => AnyThreshold::Ncr(ncr::Ncr::new(s)),
            ThresholdSpec::AvgDev(s) => AnyThreshold::AvgDev(Box::new(avg_dev::AvgDev::new(s))),
            ThresholdSpec::Linux(s) => AnyThreshold::Linux(Box::new(linux::Linux::new(s))),
            ThresholdSpec::Fa(s) => AnyThreshold::Fa(Box::new(fa::Fa::new(s))),
            ThresholdSpec::Multipath(s) => AnyThreshold::Multipath(multipath::Multipath::new(s)),
            ThresholdSpec::Custom(f) => AnyThreshold::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyThreshold: Fixed | Inc | Avg | Ewma | Ncr | AvgDev | Linux | Fa | Multipath | Custom, $x => $call) };
}

impl DupThresh for AnyThreshold {
    fn segments(&self, w: &Window, cx: &Ctx) -> u32 {
        each!(self, x => x.segments(w, cx))
    }
    fn follows_flight(&self) -> bool {
        each!(self, x => x.follows_flight())
    }
    fn on_ack(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        each!(self, x => x.on_ack(ack, board, cx));
    }
    fn on_disorder(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_disorder(w, cx));
    }
}

impl Learner for AnyThreshold {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_reorder(sample, w, cx));
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_needless(w, cx));
    }
    fn on_recovered(&mut self, cx: &Ctx) {
        each!(self, x => x.on_recovered(cx));
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_cut(w, cx));
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_stall(idle, w, cx));
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_rto(dup_run, w, cx));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, spurious, wide};
    use std::sync::{Arc, Mutex};

    /// A threshold that writes down what it hears.
    struct Heard(Arc<Mutex<Vec<&'static str>>>);

    impl Heard {
        fn note(&self, what: &'static str) {
            self.0.lock().unwrap().push(what);
        }
    }

    impl DupThresh for Heard {
        fn segments(&self, _: &Window, _: &Ctx) -> u32 {
            3
        }
        fn on_disorder(&mut self, _: &Window, _: &Ctx) {
            self.note("disorder");
        }
    }

    impl Learner for Heard {
        fn on_reorder(&mut self, _: &ReorderSample, _: &Window, _: &Ctx) {
            self.note("reorder");
        }
        fn on_needless(&mut self, _: &Window, _: &Ctx) {
            self.note("needless");
        }
        fn on_recovered(&mut self, _: &Ctx) {
            self.note("recovered");
        }
        fn on_cut(&mut self, _: &Window, _: &Ctx) {
            self.note("cut");
        }
        fn on_stall(&mut self, _: Nanos, _: &Window, _: &Ctx) {
            self.note("stall");
        }
        fn on_rto(&mut self, _: u32, _: &Window, _: &Ctx) {
            self.note("rto");
        }
    }

    #[test]
    fn a_threshold_from_outside_hears_everything_that_a_learner_hears() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut any = AnyThreshold::Custom(Box::new(Heard(Arc::clone(&heard))));
        let (w, cx) = (wide(), context());
        any.on_disorder(&w, &cx);
        any.on_reorder(&spurious(3), &w, &cx);
        any.on_needless(&w, &cx);
        any.on_recovered(&cx);
        any.on_cut(&w, &cx);
        any.on_stall(Nanos(1), &w, &cx);
        any.on_rto(3, &w, &cx);
        let heard = heard.lock().unwrap().join(" ");
        assert_eq!(heard, "disorder reorder needless recovered cut stall rto");
    }
}
