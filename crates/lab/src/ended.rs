//! Flows at the end of a run.

use crate::scenario::Plan;
use crate::stats::nearest_rank;
use crate::tally::{DupThreshTally, FlowTally, Tally};
use ackclock_sim::reordering::summary::ReorderingSummary;
use ackclock_sim::results::{FlowResult, Results};
use ackclock_sim::scenario::FlowSpec;
use ackclock_sim::watch::Side;
use ackclock_tcp::time::Time;

/// What is known of a flow at the end of a run.
pub(crate) struct Ended<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) name: &'a str,
    pub(crate) spec: &'a FlowSpec,
    pub(crate) result: &'a FlowResult,
    pub(crate) tally: &'a FlowTally,
    pub(crate) dupthresh: DupThreshTally,
    pub(crate) start_s: f64,
    pub(crate) finish_s: Option<f64>,
    /// The run's.
    pub(crate) duration_s: f64,
    /// When the run ended.
    pub(crate) end: Time,
    /// The durations of consecutive transfers, if it makes them.
    pub(crate) times: Option<&'a [f64]>,
    number: u32,
    all: &'a Tally,
}

impl<'a> Ended<'a> {
    /// The flow of this number.
    pub(crate) fn of(plan: &'a Plan, all: &'a Tally, results: &'a Results, number: usize) -> Self {
        let (spec, result, tally) = (&plan.scenario.flows[number], &results.flows[number], &all.flows[number]);
        let duration_s = plan.scenario.duration.as_secs_f64();
        Ended {
            plan,
            name: &spec.name,
            spec,
            result,
            tally,
            dupthresh: tally.dupthresh.ended(),
            start_s: result.started.map_or(duration_s, Time::as_secs_f64),
            finish_s: result.finished.map(Time::as_secs_f64),
            duration_s,
            end: results.at,
            times: None,
            number: number as u32,
            all,
        }
    }

    /// The reordering on the way to this side, if it was measured.
    pub(crate) fn order(&self, to: Side) -> Option<ReorderingSummary> {
        let order = self.all.order.as_ref()?;
        Some(order.at(self.number, to).map(ReorderingSummary::of).unwrap_or_default())
    }
}

/// For an even number of values, the mean of the two in the middle.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let n = sorted.len();
    let upper = sorted.get(n / 2)?;
    Some(if n.is_multiple_of(2) { f64::midpoint(sorted[n / 2 - 1], *upper) } else { *upper })
}

/// The smallest value that 95 % of them do not exceed.
pub(crate) fn p95(values: &[f64]) -> Option<f64> {
    nearest_rank(&sorted(values), 950)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_95th_percentile_are_those_of_the_definition() {
        let upto = |n: u32| (1..=n).map(f64::from).collect::<Vec<_>>();
        assert_eq!((median(&[]), p95(&[])), (None, None));
        assert_eq!((median(&upto(1)), p95(&upto(1))), (Some(1.0), Some(1.0)));
        assert_eq!((median(&upto(4)), p95(&upto(4))), (Some(2.5), Some(4.0)));
        assert_eq!((median(&upto(99)), p95(&upto(100))), (Some(50.0), Some(95.0)));
        assert_eq!(p95(&upto(101)), Some(96.0));
    }
}
