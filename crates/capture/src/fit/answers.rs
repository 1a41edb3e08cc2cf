//! When the receiver acknowledges.

use super::observe::Observed;

/// If at least this share of the acknowledgments cover a single segment, the receiver acknowledges
/// every segment.
pub(crate) const EVERY: f64 = 0.9;

/// The number of segments that the receiver waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answers {
    /// The share of in-order acknowledgments that covered a single segment. `None` if there were none.
    pub single: Option<f64>,
}

impl Answers {
    /// Whether each segment is acknowledged individually.
    pub fn every(self) -> bool {
        self.single.is_some_and(|s| s >= EVERY)
    }

    /// In words.
    pub fn words(self) -> String {
        match self.single {
            None => "unknown: no acknowledgment arrived in order; assumed to be Linux's".to_owned(),
            Some(s) if self.every() => format!("measured: {:.0} % of acknowledgments in order covered one segment", s * 100.0),
            Some(s) => format!(
                "measured: delayed, {:.0} % of acknowledgments in order covered one segment; the delay is unknown and assumed to be Linux's",
                s * 100.0
            ),
        }
    }
}

pub(crate) fn fit(flows: &[&Observed]) -> Answers {
    let sum = |n: usize| flows.iter().map(|o| o.log.advances[n]).sum::<u64>() as f64;
    let all = sum(0) + sum(1) + sum(2);
    Answers { single: (all > 0.0).then(|| sum(0) / all) }
}
