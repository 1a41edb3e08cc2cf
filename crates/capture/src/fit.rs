//! The path that explains a capture, as a scenario that runs.
//!
//! Idea: what a sender's capture shows of a bottleneck is when each segment was sent and when an acknowledgment first covered it.
//! Rate, propagation, queue, losses and reordering follow from these pairs. Each comes with an interval, and with what kind of
//! knowledge it is: a queue that never overflowed is at least so long, and no more is known of it.
//!
//! | module | what |
//! | --- | --- |
//! | [`observe`] | collects the pairs, only where a fit was asked for |
//! | `log` | one way of one connection |
//! | `points` | the pairs of all flows, in the order of sending |
//! | `estimate` | values with intervals |
//! | `rate`, `queue`, `loss`, `disorder`, `answers` | the parameters |
//! | `flows` | whether flows say the same |
//! | `written`, `told` | the scenario; JSON |

mod answers;
mod disorder;
mod estimate;
mod flows;
mod log;
mod loss;
pub mod observe;
mod points;
mod queue;
mod rate;
mod told;
mod written;

pub use answers::Answers;
pub use disorder::Disorder;
pub use estimate::{Estimate, Mark};
pub use loss::Loss;
pub use observe::{Observed, Observer};
pub use written::End;

use points::Points;

/// Segments that a flow must have delivered: of fewer nothing can be said.
const FEWEST: usize = 100;
/// The share of its time during which an application may have had nothing to send.
const MOST_IDLE: f64 = 0.1;
/// Most flows of one scenario.
const MOST_FLOWS: usize = 1000;

/// What shows of whether a receiver reports duplicates (RFC 2883).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// It reported some.
    Reported,
    /// It got this number of duplicates, and reported none.
    Silent(u64),
    /// It got too few to tell. Where SACK is permitted it is taken to report them.
    Unknown,
}

impl Duplicates {
    /// In words, with what is known of it.
    pub fn words(self) -> String {
        match self {
            Duplicates::Reported => "measured: duplicates were reported".to_owned(),
            Duplicates::Silent(came) => format!("measured: {came} duplicates came, and none was reported"),
            Duplicates::Unknown => "unknown: too few duplicates came; taken to be reported".to_owned(),
        }
    }
}

/// One transfer, as the scenario repeats it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// `10.0.0.1:5001 > 10.0.0.2:80`.
    pub name: String,
    /// When it began, seconds after the first one.
    pub start: f64,
    /// How long it took, seconds: to the last acknowledgment of something new.
    pub seconds: f64,
    /// Bytes that were acknowledged.
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
    /// Its beginning was captured.
    pub whole: bool,
}

/// The path, and what was sent over it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Of the bottleneck, bits a second of IP packets.
    pub rate: Estimate,
    /// There and back without queues and transmission, seconds.
    pub propagation: Estimate,
    /// Packets that may wait at the bottleneck.
    pub queue: Estimate,
    /// Losses that no full queue explains.
    pub loss: Loss,
    /// What changes the order of packets.
    pub disorder: Disorder,
    /// When the receiver answers.
    pub answers: Answers,
    /// What was sent, by its beginning.
    pub transfers: Vec<Transfer>,
    /// Where flows contradict each other, in words.
    pub disagreements: Vec<String>,
    /// Most segments were so large, bytes with IP and TCP headers.
    pub packet: f64,
}

/// Fits a path to the flows of one bottleneck.
///
/// # Errors
/// Why nothing can be said, in words.
pub fn fit(observed: &[Observed]) -> Result<Fit, String> {
    let (used, why_not) = usable(observed);
    if used.is_empty() {
        return Err(why_not.unwrap_or_else(|| "there is no flow with data".to_owned()));
    }
    if used.len() > MOST_FLOWS {
        return Err(format!("found {} flows, allowed: {MOST_FLOWS} of one bottleneck; choose one", used.len()));
    }
    let points = Points::of(&used);
    if points.clean().count() < FEWEST {
        let found = points.clean().count();
        return Err(format!("found {found} segments that were sent once and acknowledged, needed: {FEWEST}"));
    }
    let disorder = disorder::fit(&points, None);
    let rate = rate::fit(&points, disorder.spread());
    let transmission = points.packet * 8.0 / rate.value;
    let disorder = disorder::fit(&points, Some(transmission));
    let (queue, full) = queue::fit(&points, transmission, disorder.spread());
    Ok(Fit {
        propagation: rate::propagation(&points, transmission),
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

/// The flows that can be fitted, by their beginnings; and why one that cannot was left out.
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
