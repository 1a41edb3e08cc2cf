//! What others must know of an element: links, to be laid out; queues, to know whether they may fill; and whoever checks a
//! scenario.

use super::packet::Only;

/// What an element is like. It may depend on the element's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// It moves or holds back packets, or meets them after their transmission: the link then has an explicit queue.
    pub acts_late: bool,
    /// Behind the link packets may come closer together than its transmitter sends them, or in another order. The next queue
    /// may then fill although its own link is faster.
    pub bunches: bool,
    /// What it has to do with the link's rate.
    pub rate: RateUse,
    /// Whether it may stand beside a split, where nothing waits and nothing is transmitted.
    pub beside_split: bool,
    /// Of all elements that give this name, one may be on each direction of a link.
    pub only_one: Option<&'static str>,
    /// Packets may arrive in another order than they came (RFC 4737).
    pub reorders: bool,
    /// It may drop packets.
    pub loses: bool,
    /// It may make two packets of one.
    pub duplicates: bool,
    /// Which packets it sees.
    pub only: Only,
}

/// What an element has to do with its link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUse {
    /// Nothing.
    None,
    /// It acts on what waits, so packets must be able to wait: the link has a rate, or another element sets it.
    Waits,
    /// It needs the link's own rate.
    Needs,
    /// It transmits in place of the link's own rate.
    Sets,
}

/// What transmits in place of the link's own rate ([`Properties::only_one`]).
pub(super) const RATE: &str = "the rate";
