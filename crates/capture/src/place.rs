//! Detects where on its path a connection was captured, and explains why.
//!
//! Idea: a packet that passes here is answered after half a round trip, to its destination and back. At a host one of the two
//! halves is close to zero.

use crate::seen::Way;

/// A half round trip below this indicates a host, nanoseconds.
const AT_HOST: i64 = 1_000_000;
/// So does a half that is less than this fraction of the whole (1/50).
const PART: i64 = 50;
/// If both halves are that short, the shorter one is the host's if the other is longer by this factor.
const TIMES: i64 = 10;

/// Where a connection was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// At the host from which [`Way::Out`] goes, or next to it.
    AtOut,
    /// Midway between them.
    AtBack,
    /// On the path between them.
    Between,
    /// At both, in two files: the data of each way is reported where it begins, and its arrivals are known.
    BothEnds,
    /// Unknown. Verdicts are then those of [`Place::Between`], which hold anywhere.
    #[default]
    Unknown,
}

/// The same, from the view of the data of one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where the data begins.
    Sender,
    /// Where they arrive.
    Receiver,
    /// Midway.
    Middle,
}

/// The reason for assuming that place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Why {
    /// It was given (`--at`).
    Given,
    /// By the smallest half round trips, nanoseconds.
    Halves {
        /// From here to the host of [`Way::Out`] and back.
        out: i64,
        /// From here to the host of [`Way::Back`] and back.
        back: i64,
    },
    /// Packets of one way were captured in a form that only their sender's host sees, or its neighbours: without a checksum, or
    /// with their initial TTL or hop limit and not marked as incoming.
    AsSent {
        /// That way.
        way: Way,
    },
    /// The same packets are in two files.
    TwoFiles,
    /// The capture has no evidence.
    #[default]
    Nothing,
}

/// The evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The smallest half round trip to the host of [`Way::Out`], nanoseconds.
    pub out: Option<i64>,
    /// The same to the host of [`Way::Back`].
    pub back: Option<i64>,
    /// Whether packets have a form that only their own host sees, for each way.
    pub as_sent: [bool; 2],
}

impl Hints {
    /// The place, and the reason.
    pub fn place(&self) -> (Place, Why) {
        if let (Some(out), Some(back)) = (self.out, self.back) {
            let why = Why::Halves { out, back };
            match (is_host(out, back), is_host(back, out)) {
                (true, false) => return (Place::AtOut, why),
                (false, true) => return (Place::AtBack, why),
                (false, false) => return (Place::Between, why),
                (true, true) if out.saturating_mul(TIMES) < back => return (Place::AtOut, why),
                (true, true) if back.saturating_mul(TIMES) < out => return (Place::AtBack, why),
                (true, true) => {}
            }
        }
        match self.as_sent {
            [true, false] => (Place::AtOut, Why::AsSent { way: Way::Out }),
            [false, true] => (Place::AtBack, Why::AsSent { way: Way::Back }),
            [true, true] | [false, false] => (Place::Unknown, Why::Nothing),
        }
    }
}

fn is_host(near: i64, far: i64) -> bool {
    near < AT_HOST || near.saturating_mul(PART) < near.saturating_add(far)
}

impl Place {
    /// The side for data that goes `way`.
    pub fn side(self, way: Way) -> Side {
        match (self, way) {
            (Place::AtOut, Way::Out) | (Place::AtBack, Way::Back) | (Place::BothEnds, _) => Side::Sender,
            (Place::AtOut, Way::Back) | (Place::AtBack, Way::Out) => Side::Receiver,
            (Place::Between | Place::Unknown, _) => Side::Middle,
        }
    }

    /// The place at `side` of data in the direction `way`.
    pub fn of(side: Side, way: Way) -> Place {
        match (side, way) {
            (Side::Sender, Way::Out) | (Side::Receiver, Way::Back) => Place::AtOut,
            (Side::Sender, Way::Back) | (Side::Receiver, Way::Out) => Place::AtBack,
            (Side::Middle, _) => Place::Between,
        }
    }

    /// In words: `sender` and `receiver` refer to the data that goes `way`.
    pub fn words(self, way: Way) -> &'static str {
        match (self, self.side(way)) {
            (Place::Unknown, _) => "unknown",
            (Place::BothEnds, _) => "at both ends",
            (_, Side::Sender) => "at the sender",
            (_, Side::Receiver) => "at the receiver",
            (_, Side::Middle) => "on the way",
        }
    }
}

impl Why {
    /// In words.
    pub fn words(self) -> String {
        let ms = |nanos: i64| format!("{:.3} ms", nanos as f64 / 1e6);
        match self {
            Why::Given => "as given".to_owned(),
            Why::Halves { out, back } => {
                format!("the round trip from here is {} to one end and {} to the other", ms(out), ms(back))
            }
            Why::AsSent { .. } => "packets look as they do only at the sending host".to_owned(),
            Why::TwoFiles => "the same packets are in two files, one of each end".to_owned(),
            Why::Nothing => "the capture has no evidence of it (--at sender, receiver or middle tells it)".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_round_trip_of_next_to_nothing_is_that_of_a_host() {
        let place = |out, back| Hints { out: Some(out), back: Some(back), as_sent: [false; 2] }.place().0;
        assert_eq!(place(20_000, 50_000_000), Place::AtOut);
        assert_eq!(place(50_000_000, 999_999), Place::AtBack);
        assert_eq!(place(3_900_000, 200_000_000), Place::AtOut, "less than 2 %");
        assert_eq!(place(5_000_000, 200_000_000), Place::Between);
        assert_eq!(place(30_000, 400_000), Place::AtOut, "a fast network");
        assert_eq!(place(200_000, 300_000), Place::Unknown);
    }

    #[test]
    fn without_both_halves_a_packet_form_seen_only_at_its_sender_shows_the_place() {
        let one = Hints { as_sent: [false, true], out: Some(1), back: None };
        assert_eq!(one.place(), (Place::AtBack, Why::AsSent { way: Way::Back }));
        assert_eq!(Hints::default().place(), (Place::Unknown, Why::Nothing));
        assert_eq!(Place::AtBack.side(Way::Out), Side::Receiver);
        assert_eq!(Place::of(Side::Receiver, Way::Out), Place::AtBack);
    }
}
