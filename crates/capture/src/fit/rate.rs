//! The rate of the bottleneck, and the propagation delay.
//!
//! Idea: while a packet waits behind another, the bottleneck is busy from the end of one to the end of the other. The amount of
//! data that acknowledgments cover in this time, divided by the time, is its rate, whether or not the pipe is ever full. A
//! packet waits if it was sent more than a smallest round-trip time before the one ahead of it was acknowledged. Where delays
//! vary, this criterion fails; half-second windows in which even the fastest packets waited are used instead.

use super::estimate::{around_median, quantile, sorted, Estimate, Mark};
use super::points::{seconds, Point, Points};

/// A stretch of a busy bottleneck is cut once it has this many packets and has lasted this long, seconds; a stretch that ends
/// earlier is used if it has half of that. If there are too few such stretches, shorter ones are used.
const STRETCHES: [(f64, f64); 2] = [(16.0, 0.010), (6.0, 0.010)];
/// Stretches that differ by more than this part of the rate do not determine it.
const WIDE: f64 = 0.1;
/// With fewer stretches or windows, nothing is measured.
const FEWEST: usize = 6;
/// The length of a window, nanoseconds.
const WINDOW: i64 = 500_000_000;
/// Without an upper bound on a rate, its interval ends at this multiple of the lower bound.
const BEYOND: f64 = 10.0;

/// Packets first covered by the same acknowledgment.
#[derive(Clone, Copy)]
struct Group {
    first_at: i64,
    last_at: i64,
    covered: i64,
    flow: usize,
    bytes: f64,
    packets: f64,
    /// Whether nothing delayed the acknowledgment.
    prompt: bool,
    /// A packet directly before it is not clean, or a retransmission occurred.
    apart: bool,
}

/// In bits per second.
pub(crate) fn fit(points: &Points, spread: f64) -> Estimate {
    if spread == 0.0 {
        let groups = groups(points);
        for least in STRETCHES {
            let rates = sorted(stretches(points, &groups, least).into_iter());
            if rates.len() >= FEWEST {
                let how = format!("median of {} intervals in which packets queued behind each other", rates.len());
                let (value, range) = (quantile(&rates, 0.5), around_median(&rates));
                let found = Estimate::measured(value, range, how);
                let differ = range.1 - range.0 > WIDE * value;
                return if differ { Estimate { mark: Mark::Unknown, ..found } } else { found };
            }
        }
    }
    by_windows(points, spread)
}

fn groups(points: &Points) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut apart = true;
    let mut again = points.again.iter().peekable();
    for p in &points.all {
        while again.next_if(|t| **t <= p.at).is_some() {
            apart = true;
        }
        if !p.is_clean() {
            apart = true;
            continue;
        }
        match groups.last_mut() {
            Some(g) if !apart && g.covered == p.covered && g.flow == p.flow => {
                g.last_at = p.at;
                g.bytes += p.wire;
                g.packets += p.wire / points.packet;
                g.prompt = true;
            }
            _ => groups.push(Group {
                first_at: p.at,
                last_at: p.at,
                covered: p.covered,
                flow: p.flow,
                bytes: p.wire,
                packets: p.wire / points.packet,
                prompt: points.prompt || p.wire > 1.5 * points.packet,
                apart,
            }),
        }
        apart = false;
    }
    // A receiver that delays its ACKs would have acknowledged two consecutive segments together; so if two consecutive segments
    // were acknowledged singly, they were acknowledged immediately.
    for i in 1..groups.len() {
        if !groups[i].apart && groups[i - 1].is_single() && groups[i].is_single() {
            (groups[i - 1].prompt, groups[i].prompt) = (true, true);
        }
    }
    groups
}

impl Group {
    fn is_single(&self) -> bool {
        self.packets < 1.5
    }
}

fn stretches(points: &Points, groups: &[Group], least: (f64, f64)) -> Vec<f64> {
    let mut rates = Vec::new();
    let mut begin: Option<i64> = None;
    let (mut bytes, mut packets) = (0.0, 0.0);
    let mut before: Option<Group> = None;
    for g in groups.iter().copied() {
        let waited = before.is_some_and(|b| {
            let smallest = points.smallest[g.flow];
            !g.apart
                && b.prompt
                && g.prompt
                && g.covered > b.covered
                && g.last_at.max(g.first_at) + smallest < b.covered
        });
        let enough =
            |share: f64, from: i64, to: i64| packets >= least.0 * share && seconds(from, to) >= least.1 * share;
        if let (Some(from), Some(b)) = (begin, before)
            && enough(if waited { 1.0 } else { 0.5 }, from, b.covered)
        {
            rates.push(bytes * 8.0 / seconds(from, b.covered));
            begin = None;
        }
        if waited && begin.is_some() {
            (bytes, packets) = (bytes + g.bytes, packets + g.packets);
        } else if let (true, Some(b)) = (waited, before) {
            begin = Some(b.covered);
            (bytes, packets) = (g.bytes, g.packets);
        } else {
            begin = None;
        }
        before = Some(g);
    }
    rates
}

fn by_windows(points: &Points, spread: f64) -> Estimate {
    let mut arrived: Vec<&Point> = points.all.iter().filter(|p| p.covered > 0).collect();
    arrived.sort_by_key(|p| p.covered);
    let windows: Vec<(f64, f64)> = arrived
        .chunk_by(|a, b| a.covered.div_euclid(WINDOW) == b.covered.div_euclid(WINDOW))
        .map(|w| {
            let bytes: f64 = w.iter().map(|p| p.wire).sum();
            let excess = sorted(w.iter().filter(|p| p.is_clean()).map(|p| p.excess));
            (bytes * 8e9 / WINDOW as f64, quantile(&excess, 0.1))
        })
        .collect();
    let upper = quantile(&sorted(windows.iter().map(|w| w.0)), 0.9);
    let waiting = 3.0 * points.packet * 8.0 / upper.max(1.0) + spread * 0.1;
    let busy = sorted(windows.iter().filter(|w| w.1 > waiting).map(|w| w.0));
    if busy.len() >= FEWEST {
        let how = format!("median of {} half seconds in which even the fastest packets queued", busy.len());
        return Estimate::measured(quantile(&busy, 0.5), around_median(&busy), how);
    }
    let how = "the pipe was never full: the 90th percentile of the rate over half a second";
    Estimate::at_least(upper.max(1.0), upper.max(1.0) * BEYOND, how)
}

/// Round-trip time without queueing and transmission, seconds.
pub(crate) fn propagation(points: &Points, rate: &Estimate) -> Estimate {
    /// If a packet takes more than this part of the smallest round-trip time, the rest is not measured.
    const HARDLY: f64 = 0.9;
    /// If it takes less than this part, it does not matter whether the rate is measured.
    const SMALL: f64 = 0.05;
    /// The lower end of the interval is below by the spread of this many smallest round-trip times.
    const SMALLEST: usize = 10;
    let own = sorted(points.clean().filter(|p| p.flow == points.main).map(|p| p.excess));
    let base = points.base() as f64 / 1e9;
    let transmission = points.packet * 8.0 / rate.value;
    let value = (base - transmission).max(0.0);
    let differ = own.get(SMALLEST - 1).or(own.last()).copied().unwrap_or(value);
    let (low, share) = ((value - differ).max(0.0), transmission / base.max(f64::MIN_POSITIVE));
    if share > HARDLY {
        let how = "the smallest round-trip time is hardly longer than a packet takes at the fitted rate";
        return Estimate { mark: Mark::Unknown, ..Estimate::measured(value, (0.0, base), how) };
    }
    if rate.mark != Mark::Measured && share > SMALL {
        let how = "smallest round-trip time less the time that a packet takes at most, as the rate is not measured";
        return Estimate { low, ..Estimate::at_least(value, base, how) };
    }
    let how =
        "smallest round-trip time less the transmission of a packet; the interval is the spread of the ten smallest";
    Estimate::measured(value, (low, value), how)
}

#[cfg(test)]
mod tests {
    use super::super::points::tests::{once, points};
    use super::*;

    #[test]
    fn a_propagation_delay_shorter_than_the_transmission_of_a_packet_is_not_measured() {
        // 1500 bytes take 1.2 ms at 10 Mb/s.
        let of = |base: i64, rate: &Estimate| {
            let all = (0..200).map(|i| once(i * 100_000, i * 100_000 + base)).collect();
            propagation(&points(all, &[base]), rate)
        };
        let measured = Estimate::measured(1e7, (1e7, 1e7), "");
        let bound = Estimate::at_least(1e7, 1e8, "");
        let marks = |base| [of(base, &measured).mark, of(base, &bound).mark];
        assert_eq!(marks(1_210), [Mark::Unknown, Mark::Unknown]);
        assert_eq!(marks(5_000), [Mark::Measured, Mark::LowerBound]);
        assert_eq!(marks(50_000), [Mark::Measured, Mark::Measured]);
        let unknown = of(1_210, &measured);
        assert_eq!((unknown.low, unknown.high), (0.0, 1.21e-3));
    }

    #[test]
    fn packets_that_queue_behind_each_other_show_the_rate() {
        // 1500 bytes in 1.2 ms are 10 Mb/s; all are sent at once and acknowledged singly.
        let all = (0..200).map(|i| once(i * 10, 50_000 + 1_200 * (i + 1))).collect();
        let rate = fit(&points(all, &[51_200]), 0.0);
        assert_eq!(rate.mark, Mark::Measured);
        assert!((rate.value / 1e7 - 1.0).abs() < 0.001, "{rate:?}");
    }
}
