//! BSD Net/2's retransmission timer: integers, a slow clock, and firing on its tick.
//!
//! Source: 4.3BSD Net/2 as Hoe 1995 §3.2.1, §3.2.3 uses it; Jacobson 1988.
//!
//! Idea: one clock ticks every 500 ms for the whole host; a counter is set to the timeout in ticks and counted down, so
//! a timeout of n ticks really takes between n − 1 and n of them.
//!
//! | source | here |
//! | --- | --- |
//! | t_srtt (1/8 tick) | `srtt8` |
//! | t_rttvar (1/4 tick) | `rttvar4` |
//! | t_rtt (1 when timing starts, + 1 a tick) | `timing`, counted when the ACK comes |
//! | t_rxtcur | `ticks` |
//!
//! Unsaid: Hoe's printed times need 2 ticks where these integers give 3 (her Table 5.1; `arithmetic = "fixed-min"`).

use super::Rto;
use crate::sender::ack::AckEvent;
use crate::sender::scoreboard::Sent;
use crate::seq::Offset;
use crate::stack::StackError;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the timeout follows from the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Net/2's scaled integers.
    #[default]
    Integer,
    /// The lower limit from the first sample on.
    FixedMin,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Net2TicksSpec {
    /// The clock's period. Default 500 ms.
    pub tick: Nanos,
    /// Where the ticks lie: `t mod tick = phase`. Default 0.
    pub phase: Nanos,
    /// Lower limit in ticks. Default 2.
    pub min_ticks: u32,
    /// Upper limit in ticks. Default 128.
    pub max_ticks: u32,
    /// Timeout before any sample, in ticks. Default 12.
    pub initial_ticks: u32,
    /// How the timeout follows from the samples. Default "integer".
    pub arithmetic: Arithmetic,
}

impl Default for Net2TicksSpec {
    fn default() -> Self {
        Net2TicksSpec {
            tick: Nanos::from_millis(500),
            phase: Nanos::ZERO,
            min_ticks: 2,
            max_ticks: 128,
            initial_ticks: 12,
            arithmetic: Arithmetic::Integer,
        }
    }
}

impl Net2TicksSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless(self.tick.0 > 0, "rto.tick", &0, "1 ns or more")?;
        let allowed = format!("1 to rto.max_ticks, which is {}", self.max_ticks);
        let in_range = (1..=self.max_ticks).contains(&self.min_ticks);
        StackError::unless(in_range, "rto.min_ticks", &self.min_ticks, &allowed)?;
        StackError::unless(self.initial_ticks > 0, "rto.initial_ticks", &0, "1 tick or more")
    }
}

/// The timer at work.
pub struct Net2Ticks {
    spec: Net2TicksSpec,
    srtt8: i64,
    rttvar4: i64,
    ticks: u32,
    timing: Option<(Offset, Time)>,
    backoff: u32,
}

impl Net2Ticks {
    pub(super) fn new(spec: &Net2TicksSpec) -> Self {
        let mut spec = spec.clone();
        spec.tick = spec.tick.max(Nanos(1));
        Net2Ticks { ticks: spec.initial_ticks, spec, srtt8: 0, rttvar4: 0, timing: None, backoff: 0 }
    }

    /// Ticks of the host's clock up to and including `t`.
    fn tick_number(&self, t: Time) -> u64 {
        (t.0 + self.spec.tick.0 - self.spec.phase.0 % self.spec.tick.0) / self.spec.tick.0
    }

    /// Net/2's `tcp_xmit_timer`; `rtt` is 1 for a round trip that saw no tick.
    fn update(&mut self, rtt: i64) {
        if self.srtt8 == 0 {
            (self.srtt8, self.rttvar4) = (rtt * 8, rtt * 2);
        } else {
            let delta = (rtt - 1) - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + delta).max(1);
            self.rttvar4 = (self.rttvar4 + delta.abs() - (self.rttvar4 >> 2)).max(1);
        }
        let ticks = match self.spec.arithmetic {
            Arithmetic::Integer => u32::try_from((self.srtt8 >> 3) + self.rttvar4).unwrap_or(u32::MAX),
            Arithmetic::FixedMin => self.spec.min_ticks,
        };
        self.ticks = ticks.max(self.spec.min_ticks).min(self.spec.max_ticks);
    }

    fn in_ticks(&self, n: u64) -> Nanos {
        self.spec.tick.times(n)
    }
}

impl Rto for Net2Ticks {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.sends > 1 {
            self.timing = None;
        } else if self.timing.is_none() {
            self.timing = Some((sent.end(), sent.at));
        }
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        if let Some((end, at)) = self.timing {
            if ack.ack >= end {
                self.timing = None;
                self.backoff = 0;
                let seen = self.tick_number(now) - self.tick_number(at);
                self.update(1 + seen as i64);
            }
        }
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.update(1 + (rtt.0 / self.spec.tick.0) as i64);
    }
    fn srtt(&self) -> Option<Nanos> {
        (self.srtt8 != 0).then(|| Nanos((self.srtt8 as u64).saturating_mul(self.spec.tick.0) / 8))
    }
    fn base(&self) -> Nanos {
        self.in_ticks(u64::from(self.ticks))
    }
    fn backed_off(&self) -> Nanos {
        let n = u64::from(self.ticks) << self.backoff.min(16);
        self.in_ticks(n.min(u64::from(self.spec.max_ticks)))
    }
    fn back_off(&mut self) {
        self.backoff += 1;
        self.timing = None;
    }
    fn backoff_count(&self) -> u32 {
        self.backoff
    }
    /// The counter is decremented at each tick after `set` and fires when it reaches zero: on the grid.
    fn deadline(&self, set: Time) -> Time {
        let n = self.backed_off().0 / self.spec.tick.0;
        let phase = self.spec.phase.0 % self.spec.tick.0;
        Time((self.tick_number(set) + n - 1) * self.spec.tick.0 + phase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_below_a_tick_give_three_ticks_and_one_longer_gives_five() {
        let mut t = Net2Ticks::new(&Net2TicksSpec::default());
        let mut run = |rtt| {
            t.update(rtt);
            (t.srtt8, t.rttvar4, t.ticks)
        };
        let got = [run(1), run(1), run(1), run(2), run(1), run(1)];
        assert_eq!(got, [(8, 2, 3), (7, 3, 3), (7, 3, 3), (8, 4, 5), (7, 4, 4), (7, 3, 3)]);
    }

    #[test]
    fn the_timer_fires_on_a_tick_between_n_minus_one_and_n_ticks_after_it_was_set() {
        let mut t = Net2Ticks::new(&Net2TicksSpec { arithmetic: Arithmetic::FixedMin, ..Net2TicksSpec::default() });
        t.update(1);
        let ms = |n: u64| Time(n * 1_000_000);
        assert_eq!(t.deadline(ms(999)), ms(1500));
        assert_eq!(t.deadline(ms(1000)), ms(2000));
        assert_eq!(t.deadline(ms(1001)), ms(2000));
    }
}
