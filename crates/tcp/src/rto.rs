//! How long is too long? The retransmission timeout: its estimate, its back-off, and exactly when it fires.

pub mod linux;
pub mod net2_ticks;
pub mod quic;
pub mod rfc6298;

use crate::error::StackError;
use crate::facts::ack::AckEvent;
use crate::facts::scoreboard::Sent;
use crate::slot::{dispatch, Factory};
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An estimator of the retransmission timeout.
pub trait Rto: Send {
    /// A segment was sent (for estimators that time one segment at a time).
    fn on_sent(&mut self, sent: &Sent);
    /// An ACK of new data: it may give a sample, and a valid sample ends the back-off.
    fn on_ack(&mut self, ack: &AckEvent, now: Time);
    /// Whether an ACK that only SACKs gives a sample, too. If so, `on_ack` is also called for such an ACK with a
    /// sample. Default: no.
    #[inline]
    fn hears_sacks(&self) -> bool {
        false
    }
    /// An RTT measured elsewhere (by the handshake, or by a judge of mistakes that times segments sent twice).
    fn on_sample(&mut self, rtt: Nanos);
    /// The timer fired spuriously, at `fired`: the path is slower than estimated (RFC 4015 §3.1 (11)).
    fn on_spurious_timeout(&mut self, _fired: Time) {}
    /// Smoothed round-trip time; `None` before the first sample.
    fn srtt(&self) -> Option<Nanos>;
    /// RTT variation (RFC 6298 §2); `None` before the first sample, or if the rule keeps none.
    fn rttvar(&self) -> Option<Nanos> {
        None
    }
    /// Timeout without back-off.
    fn base(&self) -> Nanos;
    /// Timeout with back-off.
    fn backed_off(&self) -> Nanos;
    /// The timer fired: back off once more.
    fn back_off(&mut self);
    /// Times backed off since the last valid sample.
    fn backoff_count(&self) -> u32;
    /// When a timer set at `set` fires (rule 13).
    fn deadline(&self, set: Time) -> Time {
        set + self.backed_off()
    }
    /// The earliest time after `now` at which it can fire.
    fn next_tick(&self, now: Time) -> Time {
        now + Nanos(1)
    }
}

/// Its description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RtoSpec {
    /// RFC 6298, with a clock of any granularity.
    Rfc6298(rfc6298::Rfc6298Spec),
    /// The largest deviation within a round trip, and timers that fire on a tick (Linux 6).
    Linux(linux::LinuxSpec),
    /// BSD's slow timer: integer arithmetic in ticks, firing on the tick.
    Net2Ticks(net2_ticks::Net2TicksSpec),
    /// QUIC's estimate and probe timeout (RFC 9002).
    Quic(quic::QuicSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Rto>),
}

impl Default for RtoSpec {
    fn default() -> Self {
        RtoSpec::Rfc6298(rfc6298::Rfc6298Spec::default())
    }
}

/// Its state.
pub enum AnyRto {
    /// RFC 6298.
    Rfc6298(rfc6298::Rfc6298),
    /// Linux.
    Linux(Box<linux::Linux>),
    /// BSD ticks.
    Net2Ticks(net2_ticks::Net2Ticks),
    /// RFC 9002.
    Quic(quic::Quic),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Rto>),
}

impl RtoSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            RtoSpec::Rfc6298(s) => s.validate(),
            RtoSpec::Linux(s) => s.validate(),
            RtoSpec::Net2Ticks(s) => s.validate(),
            RtoSpec::Quic(s) => s.validate(),
            RtoSpec::Custom(_) => Ok(()),
        }
    }

    pub(crate) fn build(&self, mss: u32) -> AnyRto {
        match self {
            RtoSpec::Rfc6298(s) => AnyRto::Rfc6298(rfc6298::Rfc6298::new(s, mss)),
            RtoSpec::Linux(s) => AnyRto::Linux(Box::new(linux::Linux::new(s))),
            RtoSpec::Net2Ticks(s) => AnyRto::Net2Ticks(net2_ticks::Net2Ticks::new(s)),
            RtoSpec::Quic(s) => AnyRto::Quic(quic::Quic::new(s)),
            RtoSpec::Custom(f) => AnyRto::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyRto: Rfc6298 | Linux | Net2Ticks | Quic | Custom, $x => $call) };
}

impl Rto for AnyRto {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        each!(self, x => x.on_sent(sent));
    }
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        each!(self, x => x.on_ack(ack, now));
    }
    #[inline]
    fn hears_sacks(&self) -> bool {
        each!(self, x => x.hears_sacks())
    }
    fn on_sample(&mut self, rtt: Nanos) {
        each!(self, x => x.on_sample(rtt));
    }
    fn on_spurious_timeout(&mut self, fired: Time) {
        each!(self, x => x.on_spurious_timeout(fired));
    }
    #[inline]
    fn srtt(&self) -> Option<Nanos> {
        each!(self, x => x.srtt())
    }
    fn rttvar(&self) -> Option<Nanos> {
        each!(self, x => x.rttvar())
    }
    #[inline]
    fn base(&self) -> Nanos {
        each!(self, x => x.base())
    }
    #[inline]
    fn backed_off(&self) -> Nanos {
        each!(self, x => x.backed_off())
    }
    fn back_off(&mut self) {
        each!(self, x => x.back_off());
    }
    #[inline]
    fn backoff_count(&self) -> u32 {
        each!(self, x => x.backoff_count())
    }
    #[inline]
    fn deadline(&self, set: Time) -> Time {
        each!(self, x => x.deadline(set))
    }
    fn next_tick(&self, now: Time) -> Time {
        each!(self, x => x.next_tick(now))
    }
}
