//! Finds connections that are in two files, one at each end.

use crate::place::Place;
use crate::seen::Way;
use crate::survey::Surveyed;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// A capture of unknown place is assumed to be at the other end if it is farther from this one by this factor.
const FARTHER: i64 = 2;

/// A connection of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    pub(crate) file: usize,
    pub(crate) number: u64,
    /// The way, in this file's terms, whose data begins here.
    pub(crate) sent_here: Way,
}

/// One connection in two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) ends: [End; 2],
}

/// A connection: its file, and its number in that file.
type Name = (usize, u64);

/// A connection of a file, by its number.
pub(super) fn of<'a>(files: &'a [&mut [Surveyed]], file: usize, number: u64) -> Option<&'a Surveyed> {
    files[file].iter().find(|s| s.number == number)
}

/// The connection and its place, in words.
pub(super) fn description(files: &[&mut [Surveyed]], names: &[&str], [a, b]: [Name; 2]) -> String {
    let flow = of(files, a.0, a.1).map_or_else(String::new, |s| s.name(s.record.main_way()));
    format!("{flow} is in {} and {}", names[a.0], names[b.0])
}

impl Pair {
    pub(super) fn names(&self) -> [Name; 2] {
        self.ends.map(|end| (end.file, end.number))
    }
}

/// The relation of two captures of one connection.
enum Two {
    /// Different connections, pieces of one capture, or captures of the same end.
    Nothing,
    /// One capture at each end: for each file, the way whose data begins at its end.
    Ends([Way; 2]),
    /// One capture was made midway.
    OnTheWay,
}

/// The pairs, in the order of files and connections; and sentences about connections in several files that form no pair.
pub(super) fn pairs(files: &[&mut [Surveyed]], names: &[&str]) -> (Vec<Pair>, Vec<String>) {
    let mut alike: BTreeMap<(SocketAddr, SocketAddr), Vec<(usize, &Surveyed)>> = BTreeMap::new();
    let mut opened: BTreeMap<[u32; 2], Vec<(usize, &Surveyed)>> = BTreeMap::new();
    for (file, surveyed) in files.iter().enumerate().flat_map(|(i, f)| f.iter().map(move |s| (i, s))) {
        let [a, b] = surveyed.ends;
        alike.entry((a.min(b), a.max(b))).or_default().push((file, surveyed));
        if let [Some(one), Some(other)] = surveyed.syns {
            opened.entry([one.seq as u32, other.seq as u32]).or_default().push((file, surveyed));
        }
    }
    let (mut found, mut on_the_way) = (BTreeMap::new(), BTreeSet::new());
    for group in alike.values().chain(opened.values()) {
        for (i, a) in group.iter().enumerate() {
            for b in group[i + 1..].iter().filter(|b| b.0 != a.0) {
                let names = [(a.0, a.1.number), (b.0, b.1.number)];
                match two(a.1, b.1) {
                    Two::Nothing => {}
                    Two::OnTheWay => drop(on_the_way.insert(names)),
                    Two::Ends(ways) => drop(found.insert(names, ways)),
                }
            }
        }
    }
    let mut times: BTreeMap<Name, u32> = BTreeMap::new();
    found.keys().flatten().for_each(|one| *times.entry(*one).or_default() += 1);
    let (mut pairs, mut several) = (Vec::new(), BTreeMap::new());
    for (ends, ways) in found {
        match ends.iter().find(|one| times[*one] > 1) {
            Some(one) => drop(several.entry(*one).or_insert(ends)),
            None => {
                let end = |i: usize| End { file: ends[i].0, number: ends[i].1, sent_here: ways[i] };
                pairs.push(Pair { ends: [end(0), end(1)] });
            }
        }
    }
    let too_many = several.into_values().map(|ends| {
        format!(
            "{} and in others: only two files, one from each end, can be matched. Each file is analysed separately; join the files of one end \
             first, as with mergecap",
            description(files, names, ends)
        )
    });
    let alone = on_the_way.into_iter().filter(|ends| !ends.iter().any(|one| times.contains_key(one)));
    let alone = alone.map(|ends| {
        format!(
            "{}, but they were not both captured at an end; each is analysed separately",
            description(files, names, ends)
        )
    });
    (pairs, too_many.chain(alone).collect())
}

/// The relation of two captures of connections with the same ends, or the same initial sequence numbers.
fn two(a: &Surveyed, b: &Surveyed) -> Two {
    // Without SYNs, each file assumes that the end that sent first opened the connection.
    let turned = a.ends[0] == b.ends[1] && a.ends != b.ends;
    let there = |way: Way| if turned { way.back() } else { way };
    let same = [Way::Out, Way::Back].into_iter().all(|way| {
        let syns = (a.syns[way as usize], b.syns[there(way) as usize]);
        !matches!(syns, (Some(one), Some(other)) if one.seq as u32 != other.seq as u32)
    });
    if !same || !overlap(a, b, there) {
        return Two::Nothing;
    }
    // The end at which each was captured, in the first file's terms.
    let own = |place: Place| match place {
        Place::AtOut => Some(Way::Out),
        Place::AtBack => Some(Way::Back),
        Place::Between | Place::BothEnds | Place::Unknown => None,
    };
    let (here, other) = (own(a.record.place), own(b.record.place).map(there));
    let ends = |way: Way| Two::Ends([way, there(way.back())]);
    match (here, other) {
        (Some(way), Some(other)) if way != other => ends(way),
        (Some(way), None) if b.record.place == Place::Unknown && farther(b, a, there(way), way) => ends(way),
        (None, Some(way)) if a.record.place == Place::Unknown && farther(a, b, way, there(way)) => ends(way.back()),
        (Some(_), Some(_)) => Two::Nothing,
        (Some(_), None) | (None, Some(_)) | (None, None) => {
            let between = |s: &Surveyed| s.record.place == Place::Between;
            if between(a) != between(b) {
                Two::OnTheWay
            } else {
                Two::Nothing
            }
        }
    }
}

/// Whether one capture is farther than another from the host that sends in these directions.
fn farther(one: &Surveyed, other: &Surveyed, way: Way, others: Way) -> bool {
    let from = |s: &Surveyed, way: Way| {
        [s.record.way(way).backward.min, s.record.way(way.back()).onward.min].into_iter().flatten().min()
    };
    from(one, way).zip(from(other, others)).is_some_and(|(far, near)| far > near.saturating_mul(FARTHER))
}

/// Whether two captures share most of their data, and were either made at the same time or both captured a SYN: clocks may
/// differ.
fn overlap(a: &Surveyed, b: &Surveyed, there: impl Fn(Way) -> Way) -> bool {
    let way = a.record.main_way();
    let (one, other) = (a.record.way(way).span, b.record.way(there(way)).span);
    let [long, length] = [one, other].map(|span| i64::try_from(span.1 - span.0).unwrap_or(i64::MAX >> 1));
    let ahead = i64::from((other.0 as u32).wrapping_sub(one.0 as u32) as i32);
    let shared = long.min(ahead + length) - ahead.max(0);
    let syn = |s: &Surveyed| s.syns.iter().any(Option::is_some);
    let meet = a.record.start <= b.record.end && b.record.start <= a.record.end;
    shared > 0 && shared * 2 > long.min(length) && (meet || syn(a) && syn(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::{Connection, Wanted};
    use crate::flows::Ended;
    use crate::place::Side;
    use crate::seen::Seen;
    use ackclock_tcp::segment::Segment;

    /// A connection that sends segments of 1000 bytes with these numbers, captured at one side.
    fn captured(at: Side, segments: std::ops::Range<u64>) -> Surveyed {
        let mut connection = Connection::new(Wanted { at: Some(at), ..Wanted::default() });
        for (frame, n) in (1..).zip(segments) {
            let (seq, at) = ((1 << 62) + 1000 * n, 1_000_000 * frame as i64);
            connection.on(&Seen { frame, seq, at, len: 1000, flags: Segment::ACK, ack: Some(9), ..Seen::default() });
        }
        Surveyed {
            exchanges: Default::default(),
            number: 1,
            vlan: 0,
            ends: ["10.0.0.1:5001", "10.0.0.2:80"].map(|end| end.parse().expect("an address")),
            syns: [None, None],
            record: connection.finish().record,
            retransmissions: Vec::new(),
            ways: Default::default(),
            ended: Ended::Capture,
            beside: None,
            noted: None,
        }
    }

    fn found(captures: Vec<Surveyed>) -> (usize, Vec<String>) {
        let mut files: Vec<Vec<Surveyed>> = captures.into_iter().map(|one| vec![one]).collect();
        let files: Vec<&mut [Surveyed]> = files.iter_mut().map(Vec::as_mut_slice).collect();
        let (pairs, remarks) = pairs(&files, &["a", "b", "c"]);
        (pairs.len(), remarks)
    }

    #[test]
    fn two_captures_of_the_same_data_from_both_ends_are_a_pair_and_three_are_none() {
        let (one, other) = (captured(Side::Sender, 0..100), captured(Side::Receiver, 0..100));
        assert_eq!(found(vec![one.clone(), other.clone()]), (1, vec![]));
        let (number, remarks) = found(vec![one, other.clone(), other]);
        assert_eq!(number, 0);
        assert!(remarks[0].contains("only two files, one from each end, can be matched"), "{remarks:?}");
    }

    #[test]
    fn captures_that_share_less_than_half_of_their_data_are_no_pair() {
        let one = captured(Side::Sender, 0..100);
        for (from, pairs) in [(30, 1), (70, 0)] {
            assert_eq!(found(vec![one.clone(), captured(Side::Receiver, from..from + 100)]).0, pairs, "from {from} on");
        }
    }
}
