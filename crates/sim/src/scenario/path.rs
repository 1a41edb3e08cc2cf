//! Descriptions of the elements that make a path reorder or change with time.

use super::DirectionSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// The link's delay is redrawn at intervals; packets that leave later may arrive earlier (Leung & Ma 2005 §IV-A).
#[derive(Clone, Debug, PartialEq)]
pub struct RedrawnDelaySpec {
    /// Mean of the normal distribution from which the delay is drawn; it comes on top of the link's own delay. Leung & Ma
    /// 2005 Table 1: 200 f ms, f from 1 to 4.
    pub mean: Nanos,
    /// Its standard deviation. Leung & Ma 2005 Table 1: 200 f / 3 ms.
    pub deviation: Nanos,
    /// Time between two draws; the first is at time 0. Leung & Ma 2005 Table 1: 50 ms or 100 ms.
    pub every: Nanos,
    /// What happens to a draw that is not above zero. Default: drawn again. Unsaid in the source.
    pub below_zero: BelowZero,
    /// Whether a packet may arrive before one that left earlier. Default: yes, as the source needs.
    pub overtaking: bool,
    /// Whose draws they are. Default: the direction's own. Unsaid in the source.
    pub draws: Draws,
}

/// What happens to a drawn delay that is not above zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BelowZero {
    /// It is drawn again.
    #[default]
    Again,
    /// It is zero.
    Zero,
}

/// Whether the two directions of a link share their luck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draws {
    /// Each direction has draws of its own.
    #[default]
    Own,
    /// An element with the same parameters at the same place in the other direction draws the same.
    Link,
}

/// The link's packets go over several paths side by side (Leung & Ma 2005 §IV-B). The link's own rate, delay and queue are
/// then not used.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitSpec {
    /// The paths, at least one of them with a weight above 0.
    pub paths: Vec<SplitPath>,
    /// How the path of a packet is chosen. Default: in turns.
    pub choice: SplitChoice,
}

/// One of the paths of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitPath {
    /// Its share is this over the sum of all weights. 0 to 1,000,000.
    pub weight: u32,
    /// Rate, delay, queue and elements.
    pub way: DirectionSpec,
}

/// How a split chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitChoice {
    /// Weighted round robin, packet by packet.
    #[default]
    Turns,
    /// A draw for each packet.
    Random,
}

/// The head of the queue is moved back, again and again (Fukuda, Nobayashi & Ikenaga 2018 §3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoteSpec {
    /// RI: by how many places, and how many packets must wait at least one more than. At least 1; the source has 4 to 100.
    pub interval: u32,
    /// Only so many of the waiting packets are in the queue that is looked at. Default: all. Unsaid in the source.
    pub device: Option<u32>,
}

/// Linux's network emulator, before the link's queue (tc-netem(8)).
#[derive(Clone, Debug, PartialEq)]
pub struct NetemSpec {
    /// Delay of each packet. Default: 0.
    pub delay: Nanos,
    /// By how much the delay varies: half the width of a uniform distribution, the standard deviation of a normal one. At
    /// most 2147 ms, as in Linux. Default: 0.
    pub jitter: Nanos,
    /// How much a delay's random number has of the one before, 0 to 1. Default: 0.
    pub jitter_correlation: f64,
    /// How the delay varies. Default: uniformly.
    pub distribution: Distribution,
    /// Probability with which a packet skips the delay. Default: 0; 1 if only `gap` is given.
    pub reorder: f64,
    /// How much the random number for that has of the one before, 0 to 1. Default: 0.
    pub reorder_correlation: f64,
    /// At least so many packets from one that skips the delay to the next; 0: none skips it. Default: 0; 1 if only `reorder`
    /// is given.
    pub gap: u32,
    /// Packets follow each other at this rate. Default: at once.
    pub rate: Option<Rate>,
    /// What finds so many packets in the emulator's queue is dropped. Default: 1000 packets.
    pub limit: u32,
}

impl Default for NetemSpec {
    fn default() -> Self {
        NetemSpec {
            delay: Nanos::ZERO,
            jitter: Nanos::ZERO,
            jitter_correlation: 0.0,
            distribution: Distribution::Uniform,
            reorder: 0.0,
            reorder_correlation: 0.0,
            gap: 0,
            rate: None,
            limit: 1000,
        }
    }
}

/// The distribution of netem's delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// From the delay less the jitter to the delay and the jitter.
    #[default]
    Uniform,
    /// Normal, cut off near four standard deviations.
    Normal,
}
