//! Transfers in a row: their durations, and flows on separate connections combined into one.

use crate::chains;
use crate::summary::FlowSummary;
use ackclock_sim::results::Results;
use ackclock_sim::scenario::{FlowSpec, Next};
use ackclock_tcp::time::Time;

/// One row of numbers for flows that wait for one another; `parts` are their numbers, `first` is the number of the first. A
/// single flow is unchanged, except for the transfers on its connection.
pub(crate) fn of_row(
    row: &[FlowSpec],
    mut parts: Vec<FlowSummary>,
    results: &Results,
    first: usize,
    duration_s: f64,
) -> FlowSummary {
    let asks = row.iter().any(|f| f.app.pieces.is_some_and(|p| matches!(p.next, Next::Acked(_))));
    let took = |began: Time, ended: Time| ended.since(began).as_secs_f64();
    let flows = &results.flows[first..first + row.len()];
    let times = match row.len() {
        1 if !asks => None,
        1 => Some(results.turns.iter().filter(|t| t.flow as usize == first).map(|t| took(t.began, t.ended)).collect()),
        _ => Some(flows.iter().filter_map(|f| Some(took(f.started?, f.finished?))).collect()),
    };
    let others = parts.split_off(1);
    let mut flow = together(parts.remove(0), others, duration_s);
    if row.len() > 1 {
        chains::name(&row[0].name).clone_into(&mut flow.name);
    }
    match times {
        None => flow,
        Some(times) => with_times(flow, times),
    }
}

/// Combines several flows into one.
fn together(first: FlowSummary, others: Vec<FlowSummary>, duration_s: f64) -> FlowSummary {
    let mut sum = first;
    for flow in others {
        add(&mut sum, flow);
        sum.throughput_bytes_per_s = sum.acked_bytes as f64 / duration_s;
        sum.goodput_bytes_per_s = sum.acked_bytes as f64 / (sum.finish_s.unwrap_or(duration_s) - sum.start_s);
    }
    sum
}

/// Adds a flow to the sums. They keep their name, stack and start.
fn add(sum: &mut FlowSummary, flow: FlowSummary) {
    let FlowSummary {
        name: _,
        stack: _,
        start_s: _,
        finish_s,
        acked_bytes,
        throughput_bytes_per_s: _,
        goodput_bytes_per_s: _,
        data_packets_sent,
        retransmissions,
        needed_retransmissions,
        refused_retransmissions,
        needless_retransmissions,
        needless_fast_retransmissions,
        needless_recovery_retransmissions,
        needless_probe_retransmissions,
        needless_timeout_retransmissions,
        data_drops,
        ack_drops,
        timeouts,
        fast_recoveries,
        dupthresh_max,
        dupthresh_mean: _,
        dupthresh_after_timeout_max,
        dupthresh_of_ceiling_max,
        transfers: _,
        transfer_median_s: _,
        transfer_p95_s: _,
        transfer_times_s: _,
        reordering: _,
        ack_reordering: _,
    } = flow;
    sum.finish_s = sum.finish_s.and(finish_s);
    sum.acked_bytes += acked_bytes;
    sum.data_packets_sent += data_packets_sent;
    sum.retransmissions += retransmissions;
    sum.needed_retransmissions += needed_retransmissions;
    sum.refused_retransmissions += refused_retransmissions;
    sum.needless_retransmissions += needless_retransmissions;
    sum.needless_fast_retransmissions += needless_fast_retransmissions;
    sum.needless_recovery_retransmissions += needless_recovery_retransmissions;
    sum.needless_probe_retransmissions += needless_probe_retransmissions;
    sum.needless_timeout_retransmissions += needless_timeout_retransmissions;
    sum.data_drops += data_drops;
    sum.ack_drops += ack_drops;
    sum.timeouts += timeouts;
    sum.fast_recoveries += fast_recoveries;
    sum.dupthresh_max = sum.dupthresh_max.max(dupthresh_max);
    sum.dupthresh_after_timeout_max = sum.dupthresh_after_timeout_max.max(dupthresh_after_timeout_max);
    let shares = [sum.dupthresh_of_ceiling_max, dupthresh_of_ceiling_max];
    sum.dupthresh_of_ceiling_max = shares.into_iter().flatten().reduce(f64::max);
    // A mean, or an order of arrivals, is only defined for a single flow.
    (sum.dupthresh_mean, sum.reordering, sum.ack_reordering) = (None, None, None);
}

fn with_times(flow: FlowSummary, times: Vec<f64>) -> FlowSummary {
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    FlowSummary {
        transfers: Some(times.len() as u32),
        transfer_median_s: median(&sorted),
        transfer_p95_s: p95(&sorted),
        transfer_times_s: times,
        ..flow
    }
}

/// For an even number of values, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = sorted.get(n / 2)?;
    Some(if n.is_multiple_of(2) { f64::midpoint(sorted[n / 2 - 1], *upper) } else { *upper })
}

/// The smallest value that 95 % of them do not exceed.
fn p95(sorted: &[f64]) -> Option<f64> {
    let rank = (sorted.len() * 95).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
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
