//! One TCP connection of a capture: takes its segments as they come, and leaves a record and the verdicts.

use crate::place::{Place, Side, Why};
use crate::rtt::Summary;
use crate::seen::{Seen, Way};
use crate::verdict::{Counts, Retransmission};
use ackclock_wire::options::Options;

/// What is wanted of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Where it was captured, seen from the data of the way that carries more of them. Default: found out.
    pub at: Option<Side>,
    /// Whether to keep each retransmission, not only their counts. Default: no.
    pub each: bool,
}

/// What a SYN said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SynFacts {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// The shift of its sender's windows, at most 14 (RFC 7323 §2.3).
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack: bool,
    /// The timestamps option.
    pub timestamps: bool,
}

/// One way of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionRecord {
    /// What its SYN said, if that was captured.
    pub syn: Option<SynFacts>,
    /// All packets.
    pub packets: u64,
    /// Packets with payload.
    pub segments: u64,
    /// Payload bytes that were acknowledged or seen here, each counted once.
    pub bytes: u64,
    /// Payload bytes of all segments, repetitions too.
    pub carried: u64,
    /// Payload bytes that others acknowledged, but that never came by here.
    pub unseen: u64,
    /// From the first packet with payload to the last acknowledgment of something new, or else to the last packet with payload,
    /// nanoseconds.
    pub duration: i64,
    /// The largest payload of a packet, bytes. A device may have joined segments.
    pub largest: u32,
    /// Verdicts on what was sent again. SYNs and probes of a shut window or a silent peer are not among them.
    pub retransmissions: Counts,
    /// SYNs that were sent again.
    pub syns_again: u64,
    /// Round trips of its data: from its sender to the receiver and back. On the way: the sum of the two halves.
    pub rtt: Summary,
    /// From here to the receiver and back.
    pub onward: Summary,
    /// From here back to the sender, and what that sent in answer: by the timestamps.
    pub backward: Summary,
    /// Its receiver sent SACK blocks.
    pub sack_seen: bool,
    /// Duplicates that its receiver reported (DSACK).
    pub dsacks: u64,
    /// Whether its segments carry timestamps.
    pub timestamps: bool,
    /// Whether it ended with a FIN that was seen.
    pub fin: bool,
    /// Whether a RST came this way.
    pub reset: bool,
}

impl DirectionRecord {
    /// Bytes a second times 8; `None` without a duration.
    pub fn goodput(&self) -> Option<f64> {
        (self.duration > 0).then(|| self.bytes as f64 * 8e9 / self.duration as f64)
    }
}

/// A whole connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The frame of its first packet.
    pub first_frame: u64,
    /// When its first packet was captured, nanoseconds.
    pub start: i64,
    /// When its last packet was.
    pub end: i64,
    /// Where it was captured.
    pub place: Place,
    /// Why we think so.
    pub why: Why,
    /// The two ways, [`Way::Out`] first.
    pub ways: [DirectionRecord; 2],
}

impl Record {
    /// The way with more data.
    pub fn main_way(&self) -> Way {
        if self.ways[1].bytes > self.ways[0].bytes {
            Way::Back
        } else {
            Way::Out
        }
    }

    /// One way of it.
    pub fn way(&self, way: Way) -> &DirectionRecord {
        &self.ways[way as usize]
    }
}

/// What is left of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The connection as a whole.
    pub record: Record,
    /// Each retransmission in the order of frames, where that was wanted.
    pub retransmissions: Vec<Retransmission>,
}

/// A connection while its packets come in.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    wanted: Wanted,
    record: Record,
}

impl Connection {
    /// A connection of which nothing has been seen.
    pub fn new(wanted: Wanted) -> Self {
        Connection { wanted, record: Record::default() }
    }

    /// The options of a SYN; call it before [`Connection::on`] with the same segment.
    pub fn on_syn(&mut self, way: Way, options: &Options) {
        self.record.ways[way as usize].syn = Some(SynFacts {
            mss: options.mss,
            window_scale: options.window_scale.map(|s| s.min(ackclock_wire::options::MAX_SHIFT)),
            sack: options.sack_permitted,
            timestamps: options.timestamps.is_some(),
        });
    }

    /// A packet whose checksum was not filled in: only its sender's host sees such.
    pub fn on_missing_checksum(&mut self, _way: Way) {}

    /// The next segment, in the order of the capture.
    #[inline]
    pub fn on(&mut self, seen: &Seen) {
        if self.record.first_frame == 0 {
            self.record.first_frame = seen.frame;
            self.record.start = seen.at;
        }
        self.record.end = seen.at;
        let way = &mut self.record.ways[seen.way as usize];
        way.packets += 1;
        way.segments += u64::from(seen.len > 0);
        way.carried += u64::from(seen.len);
    }

    /// The capture ended.
    pub fn finish(mut self) -> Report {
        if let Some(side) = self.wanted.at {
            self.record.place = Place::of(side, self.record.main_way());
            self.record.why = Why::Given;
        }
        Report { record: self.record, retransmissions: Vec::new() }
    }
}
