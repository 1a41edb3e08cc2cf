//! Both sides of a connection: what became of each copy is known.
//!
//! Idea: a packet is found again at the receiver by its identification, sequence number, length and timestamp. The receiver's
//! capture also shows what was refused (PAWS, RFC 7323 §5.3). Clocks are not compared.

use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;

/// What arrived at the receiver of one way, and what of it was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    list: Vec<Arrival>,
    /// Frames, ascending.
    refused: Vec<u64>,
}

/// The key of a packet, and its frame at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    seq: u32,
    len: u32,
    id: u16,
    tsval: u32,
    frame: u64,
}

/// What became of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It did not arrive.
    Lost,
    /// It arrived, and its bytes were taken or there already.
    Taken(u64),
    /// It arrived, and was thrown away.
    Refused(u64),
}

impl Arrivals {
    /// A segment with data or a FIN came in. Call it for each, in the order of the receiver's capture.
    pub fn arrived(&mut self, seen: &Seen) {
        self.list.push(Arrival {
            seq: seen.seq as u32,
            len: seen.len,
            id: seen.id.unwrap_or(0),
            tsval: seen.timestamps.map_or(0, |t| t.value),
            frame: seen.frame,
        });
    }

    /// The receiver refused what came with this frame.
    pub(crate) fn refuse(&mut self, frames: impl Iterator<Item = u64>) {
        self.refused.extend(frames);
    }

    /// All has come. Call it before the first question.
    pub(crate) fn sort(&mut self) {
        self.list.sort_unstable();
        self.refused.sort_unstable();
    }

    /// What became of the packet that was sent with this number, length, identification and timestamp.
    pub(crate) fn fate(&self, seq: u64, len: u32, id: u16, tsval: u32) -> Fate {
        let key = Arrival { seq: seq as u32, id, tsval, len, frame: 0 };
        let at = self.list.partition_point(|a| *a < key);
        let same = self.list[at..].iter().take_while(|a| Arrival { frame: 0, ..**a } == key);
        let mut fate = Fate::Lost;
        for arrival in same {
            if self.refused.binary_search(&arrival.frame).is_err() {
                return Fate::Taken(arrival.frame);
            }
            fate = Fate::Refused(arrival.frame);
        }
        fate
    }
}

/// What arrived each way, [`Way::Out`] first.
pub type BothWays = [Arrivals; 2];

/// Adds a segment of the receiver's capture to what arrived its way.
pub(crate) fn note(arrivals: &mut BothWays, seen: &Seen) {
    if seen.len > 0 || seen.has(Segment::FIN) {
        arrivals[match seen.way {
            Way::Out => 0,
            Way::Back => 1,
        }]
        .arrived(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_wire::options::Timestamps;

    #[test]
    fn a_copy_is_found_again_by_its_numbers_and_is_taken_if_one_packet_of_it_is() {
        let mut arrivals = Arrivals::default();
        let seen = |frame, id, value| Seen {
            frame,
            seq: (1 << 32) + 7,
            len: 100,
            id: Some(id),
            timestamps: Some(Timestamps { value, echo: 0 }),
            ..Seen::default()
        };
        [seen(3, 1, 50), seen(4, 2, 60), seen(5, 2, 60), seen(6, 3, 60)].iter().for_each(|s| arrivals.arrived(s));
        arrivals.refuse([3, 4].into_iter());
        arrivals.sort();
        let fate = |id, tsval| arrivals.fate((2 << 32) + 7, 100, id, tsval);
        assert_eq!([fate(1, 50), fate(2, 60), fate(3, 60)], [Fate::Refused(3), Fate::Taken(5), Fate::Taken(6)]);
        assert_eq!([fate(4, 60), fate(3, 61)], [Fate::Lost, Fate::Lost]);
    }
}
