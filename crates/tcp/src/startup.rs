//! Where does slow start begin and end? The initial window, and `ssthresh` before the first loss.

pub mod bdp;
pub mod fixed;
pub mod hystart;
pub mod hystart_plus_plus;
pub mod smooth;

use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::slot::{dispatch, Factory};
use crate::time::Nanos;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An initial `ssthresh` that never ends slow start, in bytes (RFC 5681 §3.1: "arbitrarily high"): no window is larger (RFC 7323
/// §2.3).
pub(crate) const UNBOUNDED: f64 = (1u32 << 30) as f64;

/// The response of `startup` to an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// No change.
    Keep,
    /// Set the threshold to this many bytes.
    Ssthresh(f64),
    /// From now on slow start grows by this share of its usual rate (RFC 9406 §4.2: 1/4 in CSS). The first loss resets it to 1.
    Growth(f32),
}

/// The start of a connection.
pub trait Startup: Send {
    /// The window before any data is sent; `rwnd` is the largest window, in bytes, that the peer is known to be able to offer.
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window;
    /// The handshake took `rtt`.
    fn on_handshake(&mut self, _rtt: Nanos) {}
    /// Whether it is also told about ACKs after the first loss. Default: no.
    fn hears_every_slow_start(&self) -> bool {
        false
    }
    /// The retransmission timer fired.
    fn on_timeout(&mut self) {}
    /// An ACK before the first loss, or any ACK if it follows every slow start. The window has not grown by this ACK yet.
    fn on_ack(&mut self, _ack: &AckEvent, _w: &Window, _cx: &Ctx) -> Advice {
        Advice::Keep
    }
}

/// Its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StartupSpec {
    /// Fixed values.
    Fixed(fixed::FixedSpec),
    /// Slow start ends when ACKs arrive as a long train or the RTT grows (Ha & Rhee 2011).
    Hystart(hystart::HystartSpec),
    /// Slow start ends when the RTT grows, through a slower slow start (RFC 9406).
    HystartPlusPlus(hystart_plus_plus::HystartPlusPlusSpec),
    /// A threshold measured from the first ACKs (Hoe §7.1).
    Bdp(bdp::BdpSpec),
    /// A slower upper half of slow start (Smooth-start).
    Smooth(smooth::SmoothSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Startup>),
}

impl Default for StartupSpec {
    fn default() -> Self {
        StartupSpec::Fixed(fixed::FixedSpec::default())
    }
}

/// Its state.
pub enum AnyStartup {
    /// Fixed values.
    Fixed(fixed::Fixed),
    /// HyStart.
    Hystart(Box<hystart::Hystart>),
    /// HyStart++.
    HystartPlusPlus(Box<hystart_plus_plus::HystartPlusPlus>),
    /// A measured threshold.
    Bdp(Box<bdp::Bdp>),
    /// Smooth-start.
    Smooth(smooth::Smooth),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Startup>),
}

impl StartupSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            StartupSpec::Fixed(s) => s.validate(),
            StartupSpec::Hystart(s) => s.validate(),
            StartupSpec::HystartPlusPlus(s) => s.validate(),
            StartupSpec::Bdp(s) => s.validate(),
            StartupSpec::Smooth(s) => s.validate(),
            StartupSpec::Custom(_) => Ok(()),
        }
    }

    /// Begins with a window of `segs` segments. An algorithm from outside keeps its own.
    pub fn set_initial_window(&mut self, segs: u32) {
        match self {
            StartupSpec::Fixed(s) => s.initial_window_segs = segs,
            StartupSpec::Hystart(s) => s.initial_window_segs = segs,
            StartupSpec::HystartPlusPlus(s) => s.initial_window_segs = segs,
            StartupSpec::Bdp(s) => s.initial_window_segs = segs,
            StartupSpec::Smooth(s) => s.initial_window_segs = segs,
            StartupSpec::Custom(_) => {}
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnyStartup {
        match self {
            StartupSpec::Fixed(s) => AnyStartup::Fixed(fixed::Fixed::new(s)),
            StartupSpec::Hystart(s) => AnyStartup::Hystart(Box::new(hystart::Hystart::new(s))),
            StartupSpec::HystartPlusPlus(s) => {
                AnyStartup::HystartPlusPlus(Box::new(hystart_plus_plus::HystartPlusPlus::new(s)))
            }
            StartupSpec::Bdp(s) => AnyStartup::Bdp(Box::new(bdp::Bdp::new(s))),
            StartupSpec::Smooth(s) => AnyStartup::Smooth(smooth::Smooth::new(s)),
            StartupSpec::Custom(f) => AnyStartup::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyStartup: Fixed | Hystart | HystartPlusPlus | Bdp | Smooth | Custom, $x => $call) };
}

impl Startup for AnyStartup {
    fn initial(&self, mss: u32, rwnd: Bytes) -> Window {
        each!(self, x => x.initial(mss, rwnd))
    }
    fn on_handshake(&mut self, rtt: Nanos) {
        each!(self, x => x.on_handshake(rtt));
    }
    fn hears_every_slow_start(&self) -> bool {
        each!(self, x => x.hears_every_slow_start())
    }
    fn on_timeout(&mut self) {
        each!(self, x => x.on_timeout());
    }
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) -> Advice {
        each!(self, x => x.on_ack(ack, w, cx))
    }
}
