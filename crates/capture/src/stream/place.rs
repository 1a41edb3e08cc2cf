//! Places in the order of transmission, and distances between them.

use super::Sent;

/// A place in the order of transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) at: i64,
    /// As in [`Sent`].
    pub(crate) order: u64,
}

/// The distance from one place to a later one, in nanoseconds and in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Distance {
    pub(crate) time: i64,
    pub(crate) packets: u64,
}

impl Place {
    /// Not known yet.
    pub(super) const OPEN: Place = Place { at: i64::MAX, order: u64::MAX };

    /// The distance from `earlier` to this place; zero if this is before it.
    pub(crate) fn behind(self, earlier: Place) -> Distance {
        if self.at < earlier.at {
            return Distance::default();
        }
        let counted = self.order != 0 && earlier.order != 0;
        let packets = if counted { self.order.saturating_sub(earlier.order) } else { 0 };
        Distance { time: self.at - earlier.at, packets }
    }
}

impl Distance {
    /// Raises this to at least `other`.
    pub(super) fn stretch(&mut self, other: Distance) {
        self.time = self.time.max(other.time);
        self.packets = self.packets.max(other.packets);
    }
}

impl Sent {
    pub(crate) fn place(&self) -> Place {
        Place { at: self.at, order: self.order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(at: i64, order: u64) -> Place {
        Place { at, order }
    }

    #[test]
    fn a_distance_counts_packets_where_both_have_numbers_and_nothing_backwards() {
        assert_eq!(place(50, 9).behind(place(20, 4)), Distance { time: 30, packets: 5 });
        assert_eq!(place(50, 9).behind(place(20, 0)), Distance { time: 30, packets: 0 });
        assert_eq!(place(20, 4).behind(place(50, 9)), Distance::default());
        assert_eq!(place(50, 9).behind(place(50, 4)), Distance { time: 0, packets: 5 });
        assert_eq!(place(50, 4).behind(place(50, 9)), Distance::default());
    }
}
