//! Flows that wait for one another, combined into one, with the durations of their transfers.

use crate::chains;
use crate::ended::Ended;
use crate::results::FlowSummary;
use crate::scenario::Plan;
use crate::tally::Tally;
use ackclock_sim::results::Results;
use ackclock_sim::scenario::{FlowSpec, Next};
use ackclock_table::Value;
use ackclock_tcp::time::Time;
use std::ops::Range;

/// The numbers of a chain of flows, as one flow.
pub(crate) fn of_chain(plan: &Plan, tally: &Tally, results: &Results, chain: Range<usize>) -> FlowSummary {
    let times = times(&plan.scenario.flows[chain.clone()], results, chain.start);
    let mut first = Ended::of(plan, tally, results, chain.start);
    first.times = times.as_deref();
    if chain.len() > 1 {
        first.name = chains::name(first.name);
    }
    let mut sum = FlowSummary::of(&first);
    for number in chain.skip(1) {
        sum.add(&FlowSummary::of(&Ended::of(plan, tally, results, number)));
        sum.throughput_bytes_per_s = sum.acked_bytes as f64 / first.duration_s;
        sum.goodput_bytes_per_s = sum.acked_bytes as f64 / (sum.finish_s.unwrap_or(first.duration_s) - sum.start_s);
    }
    sum
}

/// The durations of the finished transfers of a chain, or of those on its only connection; `None` without either.
fn times(chain: &[FlowSpec], results: &Results, first: usize) -> Option<Vec<f64>> {
    let asks = chain.iter().any(|f| f.app.pieces.is_some_and(|p| matches!(p.next, Next::Acked(_))));
    let took = |began: Time, ended: Time| ended.since(began).as_secs_f64();
    let flows = &results.flows[first..first + chain.len()];
    match chain.len() {
        1 if !asks => None,
        1 => Some(results.turns.iter().filter(|t| t.flow as usize == first).map(|t| took(t.began, t.ended)).collect()),
        _ => Some(flows.iter().filter_map(|f| Some(took(f.started?, f.finished?))).collect()),
    }
}
