//! The properties of an element that other parts need: links, to be laid out; queues, to know whether they may fill; and the
//! check of a scenario.

use super::packet::Only;

/// The properties of an element. They may depend on its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// When it acts on packets, which decides the form of its link.
    pub acts: Acts,
    /// Behind the link packets may be closer together than its transmitter sends them, or in another order. The next queue
    /// may then fill although its own link is faster.
    pub bunches: bool,
    /// Its relation to the link's rate.
    pub rate: RateUse,
    /// Whether it may be combined with a split, where nothing waits and nothing is transmitted.
    pub beside_split: bool,
    /// Each direction of a link may have only one of the elements that give this name.
    pub only_one: Option<&'static str>,
    /// Packets may leave in another order than they arrived (RFC 4737).
    pub reorders: bool,
    /// It may drop packets.
    pub loses: bool,
    /// It may duplicate packets.
    pub duplicates: bool,
    /// The packets that it sees.
    pub only: Only,
    /// The flow whose packets it counts, by its number in the scenario; `None`: all traffic.
    pub flow: Option<u32>,
}

/// When an element acts on packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acts {
    /// When they arrive at the link. It does not hold them back.
    AtEntry,
    /// The same, but it may hold them back before they enter the queue, or add to their delay.
    HoldsBack,
    /// When they leave the transmitter, and all it does is add to their delay.
    OnDelay,
    /// It moves waiting packets, sees the queue, or sees packets after their transmission: the link then has an explicit queue.
    Late,
}

impl Acts {
    /// Of an element that sees each packet at the exit of a link or at its entry, and may hold it back.
    pub(super) fn of(exit: bool, holds: bool) -> Self {
        match (exit, holds) {
            (true, _) => Acts::Late,
            (false, true) => Acts::HoldsBack,
            (false, false) => Acts::AtEntry,
        }
    }
}

/// An element's relation to its link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUse {
    /// Nothing.
    None,
    /// It acts on waiting packets, so packets must be able to wait: the link has a rate, or another element sets it.
    Waits,
    /// It needs the link's own rate.
    Needs,
    /// It transmits in place of the link's own rate.
    Sets,
}

/// The name for elements that transmit in place of the link's own rate ([`Properties::only_one`]).
pub(super) const RATE: &str = "the rate";
