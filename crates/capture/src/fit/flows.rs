//! The transfers, and whether flows agree about the path.

use super::estimate::{Estimate, Mark};
use super::observe::Observed;
use super::points::{seconds, Points};
use super::{rate, Duplicates, Transfer, FEWEST};

/// Smallest round-trip times that differ by more (as a fraction, and in nanoseconds) belong to different paths.
const RTT: (f64, i64) = (0.1, 1_000_000);
/// With this many duplicates and no report, a receiver does not report them. With fewer, the reports may have
/// been lost.
const SILENT: u64 = 3;
/// The largest scale of a window (RFC 7323 §2.3).
const LARGEST_SCALE: u32 = 14;
/// If at least this part of the window was in flight, the window may have limited the sender.
const HELD: f64 = 0.9;

impl Observed {
    /// Payload of a full segment, bytes.
    pub(crate) fn payload(&self) -> u32 {
        let options = if self.record.way(self.way).timestamps { 12 } else { 0 };
        self.announced().map_or(self.record.way(self.way).largest, |s| s.saturating_sub(options)).max(1)
    }

    /// The smaller of both announcements (RFC 9293 §3.7.1).
    fn announced(&self) -> Option<u32> {
        let mss = |way| self.record.way(way).syn.and_then(|s| s.mss).map(u32::from);
        Some(mss(self.way)?.min(mss(self.way.back())?))
    }
}

pub(crate) fn transfer(o: &Observed, all: &[&Observed]) -> Transfer {
    let way = o.record.way(o.way);
    let first = all.iter().map(|o| o.first_at()).min().unwrap_or(0);
    let options = if way.timestamps { 12 } else { 0 };
    let (window, flight) = (o.log.window.max(o.log.flight) as f64, o.log.flight as f64);
    let scaled = [o.way, o.way.back()].iter().all(|way| o.record.way(*way).syn.is_some());
    let window = if !scaled {
        let how = "no SYN was captured, so the scale of the windows is unknown; the most data in flight stands for it";
        let high = (o.log.window << LARGEST_SCALE).max(o.log.flight) as f64;
        Estimate { high, ..Estimate::unknown(window, how) }
    } else if flight >= HELD * window {
        Estimate::measured(window, (window, window), "the largest that the receiver announced; it was used up")
    } else {
        Estimate::at_least(window, window, "the largest that the receiver announced; it was never used up")
    };
    let permitted = |way| o.record.way(way).syn.map(|s| s.sack);
    let sack = match (permitted(o.way), permitted(o.way.back())) {
        (Some(a), Some(b)) => a && b,
        (None, _) | (_, None) => way.sack_seen,
    };
    let duplicates = match (way.dsacks, way.retransmissions.needless) {
        (1.., _) => Duplicates::Reported,
        (0, arrived @ SILENT..) => Duplicates::Silent(arrived),
        (0, _) => Duplicates::Unknown,
    };
    Transfer {
        name: o.name.clone(),
        start: seconds(first, o.first_at()),
        seconds: o.duration() as f64 / 1e9,
        bytes: way.bytes,
        segment: o.announced().unwrap_or(way.largest + options),
        window,
        sack,
        duplicates,
        timestamps: way.timestamps,
        whole: way.syn.is_some(),
    }
}

/// Contradictions between flows.
pub(crate) fn disagreements(used: &[&Observed], points: &Points, rate: &Estimate) -> Vec<String> {
    let large: Vec<usize> = (0..used.len()).filter(|f| used[*f].log.sent.len() >= FEWEST).collect();
    let mut found = Vec::new();
    let base = points.base();
    for f in large.iter().copied().filter(|f| *f != points.main) {
        let own = points.smallest[f];
        let (less, more) = (own.min(base), own.max(base));
        if (more - less) as f64 > RTT.0 * less as f64 && more - less > RTT.1 {
            let ms = |n: i64| n as f64 / 1e6;
            found.push(format!(
                "smallest round trips differ: {} has {:.1} ms, {} has {:.1} ms",
                used[points.main].name,
                ms(base),
                used[f].name,
                ms(own)
            ));
        }
    }
    let alone = |f: usize| {
        let o = used[f];
        let end = o.first_at() + o.duration();
        used.iter().enumerate().all(|(g, p)| g == f || p.first_at() > end || p.first_at() + p.duration() < o.first_at())
    };
    for f in large.into_iter().filter(|f| used.len() > 1 && alone(*f)) {
        let own = rate::fit(&Points::of(&[used[f]]), 0.0);
        let apart = own.low > rate.high || own.high < rate.low;
        let far = (own.value / rate.value - 1.0).abs() > RTT.0;
        if own.mark == Mark::Measured && rate.mark == Mark::Measured && apart && far {
            let mbps = |r: f64| r / 1e6;
            found.push(format!(
                "rates differ: {} alone says {:.2} Mb/s, all flows together {:.2} Mb/s",
                used[f].name,
                mbps(own.value),
                mbps(rate.value)
            ));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::log::{Fate, Log, Sent};
    use super::super::points::tests::points;
    use super::*;
    use crate::connection::{Connection, Wanted};
    use crate::place::Side;
    use crate::seen::Way;

    /// A flow of 200 segments.
    fn flow(name: &str) -> Observed {
        let sent = |n: u64| Sent { seq: n, at: n as i64, covered: n as i64 + 50, len: 1, fate: Fate::Once };
        let mut log = Log::default();
        log.sent.extend((0..200).map(sent));
        let hosts = ["10.0.0.1", "10.0.0.2"].map(|h| h.parse().expect("an address"));
        let (name, record) = (name.to_owned(), Connection::new(Wanted::default()).finish().record);
        Observed { number: 1, name, hosts, side: Side::Sender, record, way: Way::Out, log, headers: 40, cut: false }
    }

    #[test]
    fn smallest_round_trips_differ_if_they_do_by_a_tenth_and_by_a_millisecond() {
        let (one, other) = (flow("one"), flow("other"));
        let rate = Estimate::measured(1e7, (1e7, 1e7), "");
        let differ = |own: i64| disagreements(&[&one, &other], &points(vec![], &[20_000, own]), &rate);
        assert_eq!(differ(30_000), ["smallest round trips differ: one has 20.0 ms, other has 30.0 ms"]);
        assert_eq!(differ(12_000), ["smallest round trips differ: one has 20.0 ms, other has 12.0 ms"]);
        assert_eq!(differ(21_900), [""; 0], "less than a tenth");
        let near = disagreements(&[&one, &other], &points(vec![], &[1_000, 1_900]), &rate);
        assert_eq!(near, [""; 0], "less than a millisecond");
    }
}
