//! How big may the window be? Growth on every ACK of new data, and the cut on a loss. A cut is only computed here; others apply
//! it.

pub mod aimd;
pub mod bbr;
pub mod cubic;
pub mod cubic_2008;
mod linux;
pub mod linux_cubic;
pub mod linux_reno;
pub mod net2;
pub mod netstack_reno;
pub mod quic;
pub mod tcp_pr;
pub mod vegas;

use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::CcUndo;
use crate::facts::pace::Pace;
use crate::facts::rate::{RateSample, Rates};
use crate::needs::{Need, Requirement};
use crate::seq::Offset;
use crate::slot::{dispatch, Factory};
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of a loss on the window: `ssthresh` is set at once; `cwnd` is the target, and recovery decides how to reach it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// New slow start threshold, bytes.
    pub ssthresh: f64,
    /// Target window, bytes.
    pub cwnd: f64,
}

/// The facts of a loss that a cut may depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossEvent {
    /// How it was detected.
    pub cause: Cause,
    /// Outstanding bytes, without data that Disorder sent beyond the window.
    pub flight: Bytes,
    /// Bytes estimated to be in the network (RFC 6675 §4), without that data.
    pub pipe: Bytes,
    /// The peer's window when it was detected, bytes.
    pub rwnd: Bytes,
    /// The first lost offset.
    pub first: Offset,
    /// The congestion window when the lowest segment marked lost (if none is, the oldest) was sent, bytes.
    pub cwnd_at_send: f64,
    /// When that segment was last sent.
    pub sent_at: Time,
    /// How often it was sent.
    pub sends: u8,
    /// Whether the timer fired again for the same loss.
    pub repeated: bool,
    /// Whether it was detected during Recovery.
    pub in_recovery: bool,
}

/// The quantity that a loss multiplies by the factor of the congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutFrom {
    /// The outstanding data: FlightSize (RFC 5681 eq. 4, RFC 9438 §4.6).
    #[default]
    Flight,
    /// The data estimated to be in the network when the loss is detected (RFC 6675 §4): what is lost or arrived does not count.
    Pipe,
    /// The window, used or not (RFC 9438 §4.6 allows it; Linux, ns-2).
    Window,
}

/// Growth and cut.
pub trait Congestion: Send {
    /// An ACK of new data in Open or Loss, or the one that ended a phase with `Done { grow: true }`.
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx);
    /// A loss was detected: returns the new window.
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut;
    /// State that a cut destroys.
    fn save(&self) -> CcUndo {
        CcUndo::default()
    }
    /// Restores the saved state, because the cut was a mistake.
    fn restore(&mut self, _u: &CcUndo) {}
    /// If `dupthresh` is above this many segments, an ACK that only SACKs opens the window, too. Default: no such ACK does.
    fn grows_by_sack_above(&self) -> Option<u32> {
        None
    }
    /// Sending resumes after nothing was outstanding; the last segment was sent at `last_sent`. Not called where pauses have no
    /// effect ([`crate::idle::IdleRule::Keep`]).
    fn on_resume(&mut self, _last_sent: Time, _cx: &Ctx) {}
    /// After a pause the window is the initial one again (RFC 5681 §4.1).
    fn on_restart(&mut self) {}
    /// Whether it sets the window on every ACK from samples of the delivery rate. If so, `on_rate` and `on_tx_start` are called.
    fn hears_rates(&self) -> bool {
        false
    }
    /// Any ACK, in any phase, after all other components have acted on it.
    fn on_rate(&mut self, _rs: &RateSample, _rates: &mut Rates, _w: &mut Window, _cx: &Ctx) {}
    /// A segment is sent while nothing was in flight.
    fn on_tx_start(&mut self, _rates: &Rates, _w: &mut Window, _cx: &Ctx) {}
    /// The handshake took `rtt`.
    fn on_handshake(&mut self, _rtt: Nanos, _w: &Window) {}
    /// How fast to send; called where the stack is paced. Default: at the rate that follows from the window.
    fn pace(&self) -> Option<Pace> {
        None
    }
}

/// Its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CongestionSpec {
    /// Slow start and additive increase, halving (RFC 5681).
    Aimd(aimd::AimdSpec),
    /// BSD Net/2, with its eighth of a segment (Hoe §5.1).
    Net2(net2::Net2Spec),
    /// CUBIC (RFC 9438).
    Cubic(cubic::CubicSpec),
    /// CUBIC in whole segments (Linux in 2008; Fukuda, Nobayashi & Ikenaga 2018).
    #[serde(rename = "cubic-2008")]
    Cubic2008(cubic_2008::Cubic2008Spec),
    /// Reno in whole segments; growth by delivered data (Linux 6).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    LinuxReno,
    /// CUBIC in whole segments and jiffies; growth by delivered data (Linux 6).
    LinuxCubic(linux_cubic::LinuxCubicSpec),
    /// BBR: a model of the path's bandwidth and RTT (Linux 6, version 1).
    Bbr(bbr::BbrSpec),
    /// Vegas: by the queueing delay (Brakmo & Peterson 1995).
    Vegas(vegas::VegasSpec),
    /// Growth by packets acknowledged; a loss halves the window that the lost packet was sent under (TCP-PR).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    TcpPr,
    /// NewReno by bytes (RFC 9002 §7).
    Quic(quic::QuicSpec),
    /// Reno in whole segments, with its own count of outstanding segments (gVisor's netstack).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    NetstackReno,
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Congestion>),
}

impl Default for CongestionSpec {
    fn default() -> Self {
        CongestionSpec::Aimd(aimd::AimdSpec::default())
    }
}

/// Its state.
pub enum AnyCongestion {
    /// RFC 5681.
    Aimd(aimd::Aimd),
    /// Net/2.
    Net2(net2::Net2),
    /// RFC 9438.
    Cubic(Box<cubic::Cubic>),
    /// Linux in 2008.
    Cubic2008(Box<cubic_2008::Cubic2008>),
    /// Linux's Reno.
    LinuxReno(Box<linux_reno::LinuxReno>),
    /// Linux's CUBIC.
    LinuxCubic(Box<linux_cubic::LinuxCubic>),
    /// BBR.
    Bbr(Box<bbr::Bbr>),
    /// Vegas.
    Vegas(Box<vegas::Vegas>),
    /// TCP-PR.
    TcpPr(tcp_pr::TcpPr),
    /// RFC 9002.
    Quic(Box<quic::Quic>),
    /// Netstack's Reno.
    NetstackReno(Box<netstack_reno::NetstackReno>),
    /// An algorithm from outside the crate. Boxed twice, because a thin pointer keeps this enum at 16 bytes.
    Custom(Box<Box<dyn Congestion>>),
}

impl CongestionSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            CongestionSpec::Aimd(s) => s.validate(),
            CongestionSpec::Net2(s) => s.validate(),
            CongestionSpec::Cubic(s) => s.validate(),
            CongestionSpec::Cubic2008(s) => s.validate(),
            CongestionSpec::LinuxCubic(s) => s.validate(),
            CongestionSpec::Bbr(s) => s.validate(),
            CongestionSpec::Vegas(s) => s.validate(),
            CongestionSpec::Quic(s) => s.validate(),
            CongestionSpec::LinuxReno
            | CongestionSpec::TcpPr
            | CongestionSpec::NetstackReno
            | CongestionSpec::Custom(_) => Ok(()),
        }
    }

    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        match self {
            CongestionSpec::Bbr(_) => {
                let (key, found) = ("congestion", "\"bbr\"");
                let by_rate = "only with recovery = \"by-rate\", since it sets the window itself, also during recovery";
                vec![
                    Requirement { need: Need::Paced, key, found, allowed: "only with pacing = \"linux\"" },
                    Requirement { need: Need::LeavesWindow, key, found, allowed: by_rate },
                ]
            }
            CongestionSpec::Aimd(_)
            | CongestionSpec::Net2(_)
            | CongestionSpec::Cubic(_)
            | CongestionSpec::Cubic2008(_)
            | CongestionSpec::LinuxReno
            | CongestionSpec::LinuxCubic(_)
            | CongestionSpec::Vegas(_)
            | CongestionSpec::TcpPr
            | CongestionSpec::Quic(_)
            | CongestionSpec::NetstackReno
            | CongestionSpec::Custom(_) => vec![],
        }
    }

    /// Whether it sets the window on every ACK, in every phase.
    pub(crate) fn sets_window(&self) -> bool {
        matches!(self, CongestionSpec::Bbr(_))
    }

    pub(crate) fn build(&self, mss: u32) -> AnyCongestion {
        match self {
            CongestionSpec::Aimd(s) => AnyCongestion::Aimd(aimd::Aimd::new(s)),
            CongestionSpec::Net2(s) => AnyCongestion::Net2(net2::Net2::new(s)),
            CongestionSpec::Cubic(s) => AnyCongestion::Cubic(Box::new(cubic::Cubic::new(s))),
            CongestionSpec::Cubic2008(s) => AnyCongestion::Cubic2008(Box::new(cubic_2008::Cubic2008::new(s))),
            CongestionSpec::LinuxReno => AnyCongestion::LinuxReno(Box::default()),
            CongestionSpec::LinuxCubic(s) => AnyCongestion::LinuxCubic(Box::new(linux_cubic::LinuxCubic::new(s))),
            CongestionSpec::Bbr(s) => AnyCongestion::Bbr(Box::new(bbr::Bbr::new(s, mss))),
            CongestionSpec::Vegas(s) => AnyCongestion::Vegas(Box::new(vegas::Vegas::new(s))),
            CongestionSpec::TcpPr => AnyCongestion::TcpPr(tcp_pr::TcpPr),
            CongestionSpec::Quic(s) => AnyCongestion::Quic(Box::new(quic::Quic::new(s))),
            CongestionSpec::NetstackReno => AnyCongestion::NetstackReno(Box::default()),
            CongestionSpec::Custom(f) => AnyCongestion::Custom(Box::new((f.make)(mss))),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyCongestion: Aimd | Cubic | Cubic2008 | LinuxReno | LinuxCubic | Bbr | Vegas | Net2 | TcpPr | Quic | NetstackReno | Custom, $x => $call) };
}

impl Congestion for AnyCongestion {
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, w: &mut Window, cx: &Ctx) {
        each!(self, x => x.on_ack(ack, w, cx));
    }
    fn on_loss(&mut self, l: &LossEvent, w: &Window, cx: &Ctx) -> Cut {
        each!(self, x => x.on_loss(l, w, cx))
    }
    fn save(&self) -> CcUndo {
        each!(self, x => x.save())
    }
    fn restore(&mut self, u: &CcUndo) {
        each!(self, x => x.restore(u));
    }
    fn grows_by_sack_above(&self) -> Option<u32> {
        each!(self, x => x.grows_by_sack_above())
    }
    fn on_resume(&mut self, last_sent: Time, cx: &Ctx) {
        each!(self, x => x.on_resume(last_sent, cx));
    }
    fn on_restart(&mut self) {
        each!(self, x => x.on_restart());
    }
    fn hears_rates(&self) -> bool {
        each!(self, x => x.hears_rates())
    }
    fn on_rate(&mut self, rs: &RateSample, rates: &mut Rates, w: &mut Window, cx: &Ctx) {
        each!(self, x => x.on_rate(rs, rates, w, cx));
    }
    fn on_tx_start(&mut self, rates: &Rates, w: &mut Window, cx: &Ctx) {
        each!(self, x => x.on_tx_start(rates, w, cx));
    }
    fn on_handshake(&mut self, rtt: Nanos, w: &Window) {
        each!(self, x => x.on_handshake(rtt, w));
    }
    fn pace(&self) -> Option<Pace> {
        each!(self, x => x.pace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) use crate::testing::context;

    /// A window of `segs` segments of 1000 bytes, in congestion avoidance.
    pub(super) fn whole(segs: f64) -> Window {
        Window { cwnd: segs * 1000.0, ssthresh: segs * 1000.0 }
    }

    /// A first loss with `flight_segs` segments outstanding.
    pub(super) fn loss(cause: Cause, flight_segs: u64) -> LossEvent {
        let flight = flight_segs * 1000;
        LossEvent {
            cause,
            flight,
            pipe: flight / 2,
            rwnd: 1 << 30,
            first: Offset(1),
            cwnd_at_send: 0.0,
            sent_at: Time(0),
            sends: 1,
            repeated: false,
            in_recovery: false,
        }
    }
}
