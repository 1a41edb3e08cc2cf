//! Per-flow counts that the simulator itself does not keep.

use crate::scenario::Plan;
use ackclock_sim::reordering::Order;
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::event::{Event, Frequent, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

/// Counts by flow.
#[derive(Clone, Debug)]
pub struct Tally {
    pub(crate) flows: Vec<FlowTally>,
    /// If requested. Boxed, so that a test for it is a test for zero.
    pub(crate) order: Option<Box<Order>>,
}

impl Tally {
    /// Returns empty counts for a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let flows = vec![FlowTally::default(); plan.scenario.flows.len()];
        Tally { flows, order: plan.reordering.then(Box::default) }
    }
}

/// The counts of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTally {
    pub(crate) data_drops: u64,
    pub(crate) ack_drops: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) dupthresh: DupThreshTally,
}

/// The duplicate ACK threshold of one flow over a run.
///
/// Within an instant the window and the threshold change one after another; only the values at its end count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DupThreshTally {
    /// The current threshold and its start; `None` before the first ACK, and for a detector that counts no duplicates.
    now: Option<(u32, Time)>,
    /// When the first window was reported.
    since: Time,
    mss: u32,
    cwnd: f64,
    /// The instant of the last event.
    instant: Time,
    /// Segments times nanoseconds up to the last change.
    area: u128,
    /// Whether the retransmission timer expired at this instant.
    timed_out: bool,
    /// The smallest window at the end of an instant since the last change: there the ceiling was lowest.
    least_cwnd: Option<f64>,
    /// The end of an instant matters only if the window is smaller: never before the first threshold, always after a change or a
    /// timeout, else if it is the smallest since then.
    floor: f64,
    /// The largest share of the ceiling up to the last change.
    of_ceiling: Option<f64>,
    pub(crate) max: Option<u32>,
    /// The largest value at the end of an instant with a timeout.
    pub(crate) after_timeout_max: Option<u32>,
}

impl DupThreshTally {
    fn threshold(&mut self, at: Time, dupthresh: u32, mss: u32, cwnd: f64) {
        self.pass(at);
        match self.now {
            Some((before, from)) => self.area += u128::from(before) * u128::from(at.since(from).0),
            None => self.since = at,
        }
        (self.of_ceiling, self.least_cwnd) = (self.of_ceiling_max(), None);
        (self.now, self.mss, self.cwnd, self.floor) = (Some((dupthresh, at)), mss, cwnd, f64::INFINITY);
        self.max = self.max.max(Some(dupthresh));
    }

    #[inline(always)]
    fn window(&mut self, at: Time, cwnd: f64) {
        self.pass(at);
        self.cwnd = cwnd;
    }

    fn timeout(&mut self, at: Time) {
        self.pass(at);
        (self.timed_out, self.floor) = (true, f64::INFINITY);
    }

    /// Called for each ACK.
    #[inline(always)]
    fn pass(&mut self, at: Time) {
        if at != self.instant {
            self.instant = at;
            if self.cwnd < self.floor {
                self.stand();
            }
        }
    }

    /// Ends an instant.
    #[cold]
    #[inline(never)]
    fn stand(&mut self) {
        let Some((dupthresh, _)) = self.now else { return };
        if self.least_cwnd.is_none_or(|least| self.cwnd < least) {
            self.least_cwnd = Some(self.cwnd);
        }
        self.floor = self.least_cwnd.unwrap_or(f64::INFINITY);
        if std::mem::take(&mut self.timed_out) {
            self.after_timeout_max = self.after_timeout_max.max(Some(dupthresh));
        }
    }

    /// The same after the last instant.
    pub(crate) fn ended(mut self) -> Self {
        self.stand();
        self
    }

    /// The threshold's largest share of its ceiling: Blanton & Allman 2002 §6.6, in real segments, at least the three
    /// duplicates of RFC 5681.
    pub(crate) fn of_ceiling_max(&self) -> Option<f64> {
        let (Some((dupthresh, _)), Some(cwnd)) = (self.now, self.least_cwnd) else { return self.of_ceiling };
        let segs = cwnd / f64::from(self.mss);
        let share = f64::from(dupthresh) / (0.9 * segs).min(segs - 1.0).max(3.0);
        Some(self.of_ceiling.map_or(share, |m| m.max(share)))
    }

    /// The mean over the time from the first ACK to `end`, segments.
    pub(crate) fn mean(&self, end: Time) -> Option<f64> {
        let (last, from) = self.now?;
        let area = self.area + u128::from(last) * u128::from(end.since(from).0);
        let time = end.since(self.since).0;
        Some(if time == 0 { f64::from(last) } else { area as f64 / time as f64 })
    }
}

impl Watch for Tally {
    const HEARS: Frequent = Frequent::NONE;

    #[inline(always)]
    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        let Some(f) = self.flows.get_mut(flow as usize).filter(|_| side == Side::Sender) else { return };
        match e {
            Event::Window { to, .. } => f.dupthresh.window(at, to.cwnd),
            Event::Threshold { dupthresh, mss, cwnd } => f.dupthresh.threshold(at, dupthresh, mss, cwnd),
            Event::Timeout { .. } => {
                f.timeouts += 1;
                f.dupthresh.timeout(at);
            }
            Event::Phase { to: Phase::Recovery, .. } => f.fast_recoveries += 1,
            _ => {}
        }
    }

    fn dropped(&mut self, Dropped { flow, to, seg, .. }: Dropped<'_>) {
        let Some(f) = self.flows.get_mut(flow as usize) else { return };
        match to {
            Side::Receiver if seg.seq_len() > 0 => f.data_drops += 1,
            Side::Sender if seg.seq_len() == 0 => f.ack_drops += 1,
            _ => {}
        }
    }

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        if let Some(order) = &mut self.order {
            order.arrived(at, flow, to, number, seg);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_averaged_over_time_and_held_against_the_window_of_each_instant() {
        let mut t = DupThreshTally::default();
        assert_eq!((t.max, t.mean(Time(9))), (None, None));
        t.threshold(Time(100), 3, 1000, 20_000.0);
        t.threshold(Time(110), 12, 1000, 20_000.0);
        let ended = t.ended();
        assert_eq!(
            (ended.max, ended.mean(Time(120)), ended.of_ceiling_max()),
            (Some(12), Some(7.5), Some(12.0 / 18.0))
        );
        // A window too small for the threshold is a violation only at the end of an instant.
        t.window(Time(120), 6_000.0);
        t.window(Time(120), 20_000.0);
        assert_eq!(t.ended().of_ceiling_max(), Some(12.0 / 18.0));
        t.window(Time(121), 6_000.0);
        assert_eq!(t.ended().of_ceiling_max(), Some(12.0 / 5.0));
        assert_eq!(t.ended().after_timeout_max, None);
        t.timeout(Time(130));
        t.threshold(Time(130), 3, 1000, 20_000.0);
        t.threshold(Time(140), 4, 1000, 20_000.0);
        let ended = t.ended();
        assert_eq!((ended.after_timeout_max, ended.max, ended.of_ceiling_max()), (Some(3), Some(12), Some(12.0 / 5.0)));
    }
}
