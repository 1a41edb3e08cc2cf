//! BSD Net/2's retransmission timer: integers, a slow clock, and firing on its tick.
//!
//! Source: 4.3BSD Net/2 as used in Hoe 1995 §3.2.1, §3.2.3; Jacobson 1988.
//!
//! Idea: one clock ticks every 500 ms for the whole host; a counter is set to the timeout in ticks and counted down, so
//! a timeout of n ticks really takes between n − 1 and n ticks.
//!
//! | source | here |
//! | --- | --- |
//! | t_srtt (1/8 tick) | `srtt8` |
//! | t_rttvar (1/4 tick) | `rttvar4` |
//! | t_rtt (1 when timing starts, + 1 per tick) | `timing`, counted when the ACK arrives |
//! | t_rxtcur | `ticks` |
//!
//! Unsaid: Hoe's printed times need 2 ticks where these integers give 3 (her Table 5.1; decision 0048 has the switch
//! `arithmetic`). Integers are stored as real numbers with whole values.

use super::Rto;
use crate::error::StackError;
use crate::facts::ack::AckEvent;
use crate::facts::scoreboard::Sent;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the timeout is computed from the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Net/2's scaled integers.
    #[default]
    Integer,
    /// Uses the lower limit from the first sample on.
    FixedMin,
    /// The same formulas without rounding, the timeout rounded down to whole ticks.
    Real,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Net2TicksSpec {
    /// The clock's period. Default: 500 ms.
    pub tick: Nanos,
    /// Offset of the ticks: `t mod tick = phase`. Default: 0.
    pub phase: Nanos,
    /// Lower limit in ticks. Default: 2.
    pub min_ticks: u32,
    /// Upper limit in ticks. Default: 128.
    pub max_ticks: u32,
    /// Timeout before any sample, and of the first SYN, in ticks. Default: 12.
    pub initial_ticks: u32,
    /// How the timeout is computed from the samples. Default: "integer".
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
    tick: Nanos,
    phase: Nanos,
    min_ticks: u32,
    max_ticks: u32,
    arithmetic: Arithmetic,
    /// `None` before the first RTT sample.
    srtt8: Option<f64>,
    rttvar4: f64,
    ticks: u32,
    timing: Option<(Offset, Time)>,
    backoff: u16,
}

impl Net2Ticks {
    pub(super) fn new(spec: &Net2TicksSpec) -> Self {
        let tick = spec.tick.max(Nanos(1));
        Net2Ticks {
            tick,
            phase: Nanos(spec.phase.0 % tick.0),
            min_ticks: spec.min_ticks,
            max_ticks: spec.max_ticks,
            arithmetic: spec.arithmetic,
            srtt8: None,
            rttvar4: 0.0,
            ticks: spec.initial_ticks,
            timing: None,
            backoff: 0,
        }
    }

    /// Ticks of the host's clock up to and including `t`.
    fn tick_number(&self, t: Time) -> u64 {
        (t.0 + self.tick.0 - self.phase.0) / self.tick.0
    }

    /// Net/2's `tcp_xmit_timer`; `rtt` is 1 for a round trip without a tick.
    fn update(&mut self, rtt: u64) {
        // Net/2 shifts, which rounds down.
        let whole = |x: f64| if self.arithmetic == Arithmetic::Real { x } else { libm::floor(x) };
        let rtt = rtt as f64;
        let srtt8 = if let Some(srtt8) = self.srtt8 {
            let delta = (rtt - 1.0) - whole(srtt8 / 8.0);
            let least = if self.arithmetic == Arithmetic::Real { f64::MIN_POSITIVE } else { 1.0 };
            self.rttvar4 = (self.rttvar4 + delta.abs() - whole(self.rttvar4 / 4.0)).max(least);
            (srtt8 + delta).max(least)
        } else {
            self.rttvar4 = rtt * 2.0;
            rtt * 8.0
        };
        self.srtt8 = Some(srtt8);
        let ticks = match self.arithmetic {
            // The cast rounds down and saturates.
            Arithmetic::Integer | Arithmetic::Real => (whole(srtt8 / 8.0) + self.rttvar4) as u32,
            Arithmetic::FixedMin => self.min_ticks,
        };
        self.ticks = ticks.max(self.min_ticks).min(self.max_ticks);
    }

    fn in_ticks(&self, n: u64) -> Nanos {
        self.tick.times(n)
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
        if let Some((end, at)) = self.timing
            && ack.ack >= end
        {
            self.timing = None;
            self.backoff = 0;
            let seen = self.tick_number(now) - self.tick_number(at);
            self.update(1 + seen);
        }
    }
    fn on_sample(&mut self, rtt: Nanos) {
        self.update(1 + rtt.0 / self.tick.0);
    }
    fn srtt(&self) -> Option<Nanos> {
        self.srtt8.map(|srtt8| Nanos((srtt8 / 8.0 * self.tick.0 as f64) as u64))
    }
    fn rttvar(&self) -> Option<Nanos> {
        self.srtt8.map(|_| Nanos((self.rttvar4 / 4.0 * self.tick.0 as f64) as u64))
    }
    fn base(&self) -> Nanos {
        self.in_ticks(u64::from(self.ticks))
    }
    fn backed_off(&self) -> Nanos {
        let n = u64::from(self.ticks) << self.backoff.min(16);
        self.in_ticks(n.min(u64::from(self.max_ticks)))
    }
    fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
        self.timing = None;
    }
    fn backoff_count(&self) -> u32 {
        u32::from(self.backoff)
    }
    /// Rule 13. The counter is decremented at each tick after `set` and fires when it reaches zero: on the grid.
    fn deadline(&self, set: Time) -> Time {
        let n = self.backed_off().0 / self.tick.0;
        Time((self.tick_number(set) + n - 1) * self.tick.0 + self.phase.0)
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
            (t.srtt8.unwrap(), t.rttvar4, t.ticks)
        };
        let got = [run(1), run(1), run(1), run(2), run(1), run(1)];
        assert_eq!(got, [(8.0, 2.0, 3), (7.0, 3.0, 3), (7.0, 3.0, 3), (8.0, 4.0, 5), (7.0, 4.0, 4), (7.0, 3.0, 3)]);
    }

    #[test]
    fn without_rounding_the_timeout_falls_to_two_ticks_at_the_eighth_sample() {
        let mut t = Net2Ticks::new(&Net2TicksSpec { arithmetic: Arithmetic::Real, ..Net2TicksSpec::default() });
        // Seven round trips shorter than a tick, and one, the fifth, with the tick at 0.5 s.
        let got = [1, 1, 1, 1, 2, 1, 1, 1].map(|rtt| {
            t.update(rtt);
            (libm::floor((t.srtt8.unwrap() / 8.0 + t.rttvar4) * 100.0) / 100.0, t.ticks)
        });
        assert_eq!((got[0], got[6], got[7]), ((3.0, 3), (3.07, 3), (2.92, 2)));
    }

    fn sent(at_ms: u64, sends: u8) -> Sent {
        let mut board = crate::facts::scoreboard::Scoreboard::default();
        let sent = board.push(Offset(1), 1000, Time(at_ms * 1_000_000), 1e9, false);
        Sent { sends, ..sent }
    }

    #[test]
    fn a_round_trip_counts_the_ticks_of_the_hosts_clock_in_it_whenever_that_began() {
        // Ticks are at 200, 700, 1200 ms: between 650 and 750 there is one, and between 750 and 1150 there is none.
        let spec =
            Net2TicksSpec { phase: Nanos::from_millis(200), tick: Nanos::from_millis(500), ..Net2TicksSpec::default() };
        for (from, to, srtt8) in [(650, 750, 16.0), (750, 1150, 8.0), (100, 150, 8.0), (150, 250, 16.0)] {
            let mut t = Net2Ticks::new(&spec);
            t.on_sent(&sent(from, 1));
            t.on_ack(&AckEvent { ack: Offset(1001), ..crate::testing::blank() }, Time(to * 1_000_000));
            assert_eq!(t.srtt8, Some(srtt8), "from {from} to {to} ms");
        }
    }

    #[test]
    fn a_retransmission_ends_the_measurement_of_a_round_trip() {
        // Karn's algorithm.
        let mut t = Net2Ticks::new(&Net2TicksSpec::default());
        t.on_sent(&sent(0, 1));
        t.on_sent(&sent(600, 2));
        t.on_ack(&AckEvent { ack: Offset(1001), ..crate::testing::blank() }, Time(700_000_000));
        assert_eq!(t.srtt8, None);
    }

    #[test]
    fn the_variation_is_kept_in_quarters_of_a_tick() {
        let mut t = Net2Ticks::new(&Net2TicksSpec { tick: Nanos::from_millis(500), ..Net2TicksSpec::default() });
        assert_eq!(t.rttvar(), None);
        t.update(1);
        assert_eq!(t.rttvar(), Some(Nanos::from_millis(250)), "half of the first sample, RFC 793's as in Net/2");
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
