//! Packets that elements hold back at a link.

use super::packet::Place;
use std::collections::VecDeque;

/// A packet held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    pub(crate) at: u64,
    pub(crate) packet: u32,
    pub(crate) place: Place,
    /// The gate after the one that held it back.
    pub(crate) gate: u32,
}

/// The packets held back at a link, in the order in which they continue.
#[derive(Default)]
pub(crate) struct Held(VecDeque<Late>);

impl Held {
    /// Holds a packet back. Packets that continue at the same time keep their order.
    pub(crate) fn hold(&mut self, late: Late) {
        if self.0.back().is_none_or(|last| last.at <= late.at) {
            return self.0.push_back(late);
        }
        let i = self.0.partition_point(|other| other.at <= late.at);
        self.0.insert(i, late);
    }

    /// When the next one continues.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        self.0.front().map(|late| late.at)
    }

    /// The packet that need no longer be held back at `now`, if any.
    #[inline]
    pub(crate) fn release(&mut self, now: u64) -> Option<Late> {
        let due = self.0.front().is_some_and(|late| late.at <= now);
        due.then(|| self.0.pop_front()).flatten()
    }

    /// Whether none is held back.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The packets held back.
    pub(crate) fn count(&self) -> u32 {
        self.0.len() as u32
    }
}
