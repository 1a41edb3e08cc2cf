//! Costs of mistakes, in segments not sent: timeout avoidance weighs them against each other.
//!
//! `w` is the window in segments at the time of the mistake; `idle` is how long nothing was sent, in round trips.

/// A false fast retransmit, undone by slow start from half the window: half a window less for one round trip.
pub(super) fn false_fast_retransmit(w: f64) -> f64 {
    w / 2.0
}

/// Limited transmit ended before the threshold was reached.
pub(super) fn stall(w: f64, idle: f64) -> f64 {
    w * idle
}

/// A timeout: silence, then slow start from 1 to half the window, Σ (w − 2^i) over its rounds. With `growth`, also the
/// additive increase from there to the window, which a fast retransmit of a real loss would have cost, too.
pub(super) fn timeout(w: f64, idle: f64, growth: bool) -> f64 {
    let half = (w / 2.0).max(1.0);
    let slow_start = w * libm::log2(half) - half + 1.0;
    w * idle + slow_start + if growth { w * w / 8.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn these_windows_and_silences_cost_so_many_segments() {
        // 16 segments, two round trips of silence: 32, and rounds of 1, 2, 4 instead of 16: 15 + 14 + 12.
        assert_eq!(timeout(16.0, 2.0, false), 32.0 + 41.0);
        assert_eq!(timeout(16.0, 2.0, true), 32.0 + 41.0 + 32.0);
        assert_eq!((stall(16.0, 0.5), false_fast_retransmit(16.0)), (8.0, 8.0));
        assert_eq!(timeout(1.0, 0.0, false), 0.0);
    }
}
