//! The path that explains a capture, as a runnable scenario.
//!
//! Idea: a sender's capture shows when each segment was sent and when an acknowledgment first covered it. Rate, propagation
//! delay, queue, losses and reordering follow from these pairs. Each value has an interval and the kind of knowledge behind it:
//! for a queue that never overflowed, for example, only a lower bound is known.
//!
//! | module | content |
//! | --- | --- |
//! | [`observe`] | collects the pairs, only if a fit is requested |
//! | `log` | one way of one connection |
//! | `points` | the pairs of all flows, in the order of transmission |
//! | `estimate` | values with intervals |
//! | `rate`, `queue`, `loss`, `disorder`, `answers` | the parameters |
//! | `flows` | whether flows agree |
//! | `written`, `json` | the scenario; JSON |

mod answers;
mod disorder;
pub(crate) mod estimate;
mod flows;
mod json;
mod log;
mod loss;
pub mod observe;
mod points;
mod queue;
mod rate;
mod written;

pub use answers::Answers;
pub use disorder::Disorder;
pub use estimate::{Estimate, Mark};
pub use loss::Loss;
pub use observe::{Observed, Observer};
pub use written::End;

use points::Points;

/// Segments that a flow must have delivered; fewer allow no conclusion.
const FEWEST: usize = 100;
/// The largest share of its time in which an application may have had nothing to send.
const MOST_IDLE: f64 = 0.1;
/// Most flows of one scenario.
const MOST_FLOWS: usize = 1000;

/// Evidence on whether a receiver reports duplicates (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// It reported some.
    Reported,
    /// It received this number of duplicates, and reported none.
    Silent(u64),
    /// It received too few to tell. Where SACK is permitted, it is assumed to report them.
    Unknown,
}

impl Duplicates {
    /// In words, with the evidence.
    pub fn words(self) -> String {
        match self {
            Duplicates::Reported => "measured: duplicates were reported".to_owned(),
            Duplicates::Silent(arrived) => format!("measured: {arrived} duplicates arrived and none was reported"),
            Duplicates::Unknown => "unknown: too few duplicates arrived; assumed to be reported".to_owned(),
        }
    }
}

/// One transfer, as the scenario repeats it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// `10.0.0.1:5001 > 10.0.0.2:80`.
    pub name: String,
    /// When it began, seconds after the first transfer.
    pub start: f64,
    /// Its duration, seconds: to the last acknowledgment of new data.
    pub seconds: f64,
    /// Bytes acknowledged.
    pub bytes: u64,
    /// Largest segment that both ends announced, bytes; options count as payload.
    pub segment: u32,
    /// The largest window of its receiver, bytes.
    pub window: Estimate,
    /// SACK was permitted, or blocks were seen.
    pub sack: bool,
    /// Whether its receiver reports duplicates (DSACK).
    pub duplicates: Duplicates,
    /// Timestamps were in use.
    pub timestamps: bool,
    /// Whether its beginning was captured.
    pub whole: bool,
}

/// The path, and the transfers over it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Rate of the bottleneck, bits per second of IP packets.
    pub rate: Estimate,
    /// Round-trip time without queueing and transmission, seconds.
    pub propagation: Estimate,
    /// Packets that may wait at the bottleneck.
    pub queue: Estimate,
    /// Losses that no full queue explains.
    pub loss: Loss,
    /// The cause of reordering.
    pub disorder: Disorder,
    /// When the receiver acknowledges.
    pub answers: Answers,
    /// The transfers, by their beginnings.
    pub transfers: Vec<Transfer>,
    /// Contradictions between flows, in words.
    pub disagreements: Vec<String>,
    /// The size of most segments, bytes with IP and TCP headers.
    pub packet: f64,
}

/// Fits a path to the flows of one bottleneck.
///
/// # Errors
/// The reason why no path can be fitted, in words.
pub fn fit(observed: &[Observed]) -> Result<Fit, String> {
    let (used, why_not) = usable(observed);
    if used.is_empty() {
        return Err(why_not.unwrap_or_else(|| "no flow carries data".to_owned()));
    }
    if used.len() > MOST_FLOWS {
        return Err(format!("found {} flows, allowed: {MOST_FLOWS} over one bottleneck; choose one", used.len()));
    }
    let points = Points::of(&used);
    if points.clean().count() < FEWEST {
        let found = points.clean().count();
        return Err(format!("found {found} segments that were sent once and acknowledged, allowed: at least {FEWEST}"));
    }
    let disorder = disorder::fit(&points, None);
    let rate = rate::fit(&points, disorder.spread());
    let transmission = points.packet * 8.0 / rate.value;
    let disorder = disorder::fit(&points, Some(transmission));
    let (queue, full) = queue::fit(&points, transmission, disorder.spread());
    Ok(Fit {
        propagation: rate::propagation(&points, &rate),
        loss: loss::fit(&points, &full, disorder.spread()),
        answers: answers::fit(&used),
        transfers: used.iter().map(|o| flows::transfer(o, &used)).collect(),
        disagreements: flows::disagreements(&used, &points, &rate),
        packet: points.packet,
        rate,
        queue,
        disorder,
    })
}

/// The flows that can be fitted, in the order of their beginnings, and the reason for leaving out any other.
fn usable(observed: &[Observed]) -> (Vec<&Observed>, Option<String>) {
    let mut why_not = None;
    let mut used: Vec<&Observed> = Vec::new();
    for o in observed {
        match o.refusal() {
            None => used.push(o),
            Some(why) => why_not = why_not.or(Some(why)),
        }
    }
    used.sort_by_key(|o| o.first_at());
    (used, why_not)
}
