//! The results of a connection.

use super::opening::Opening;
use crate::place::{Place, Side, Why};
use crate::rtt::Summary;
use crate::seen::Way;
use crate::verdict::{Counts, Retransmission};

/// The content of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SynFacts {
    /// Maximum segment size, bytes.
    pub mss: Option<u16>,
    /// The shift of its sender's windows, at most 14 (RFC 7323 §2.3).
    pub window_scale: Option<u8>,
    /// SACK-permitted option.
    pub sack: bool,
    /// Timestamps option.
    pub timestamps: bool,
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionRecord {
    /// Its SYN's content, if the SYN was captured.
    pub syn: Option<SynFacts>,
    /// All packets.
    pub packets: u64,
    /// Packets with payload.
    pub segments: u64,
    /// Payload bytes that were captured here, each counted once.
    pub bytes: u64,
    /// Payload bytes from the first one captured to the highest acknowledgment.
    pub acknowledged_bytes: u64,
    /// The numbers of the first byte and of the byte after the last, unwrapped as in [`crate::Seen::seq`].
    pub span: (u64, u64),
    /// Payload bytes of all segments, including repeated ones.
    pub carried_bytes: u64,
    /// Payload bytes that were acknowledged but never captured here.
    pub unseen_bytes: u64,
    /// From the first packet with payload to the last acknowledgment of new data, or otherwise to the last packet with payload,
    /// nanoseconds.
    pub duration: i64,
    /// When its first payload was captured, nanoseconds; 0 without payload.
    pub first_data: i64,
    /// Captured packets that acknowledge its data.
    pub acks: u64,
    /// The largest payload of a packet, bytes. A device may have joined segments.
    pub largest: u32,
    /// Verdicts on the retransmissions, without SYNs and probes of a closed window or a silent peer.
    pub retransmissions: Counts,
    /// Segments with payload, all of which had been captured before.
    pub repeats: u64,
    /// Segments with payload below the highest byte captured, some of which had not been captured before.
    pub fills: u64,
    /// Probes of its receiver's closed window (RFC 9293 §3.8.6.1).
    pub window_probes: u64,
    /// Probes of its receiver while everything was acknowledged and the window open (RFC 9293 §3.8.4).
    pub keep_alives: u64,
    /// Packets of its receiver that announce a window of zero, without SYN and RST.
    pub zero_windows: u64,
    /// Its SYNs, FINs and RSTs.
    pub syns: u64,
    /// See `syns`.
    pub fins: u64,
    /// See `syns`.
    pub resets: u64,
    /// Round-trip times of its data: from its sender to the receiver and back. If captured midway: the sum of the two halves. Without
    /// samples, that of the handshake.
    pub rtt: Summary,
    /// Half round trips from here to the receiver and back.
    pub onward: Summary,
    /// Half round trips from here to the sender and back to its answer, measured by timestamps.
    pub backward: Summary,
    /// Whether its receiver sent SACK blocks.
    pub sack_seen: bool,
    /// Acknowledgments with SACK blocks more than 64 MB from all data, as where a device changes sequence numbers and not the blocks.
    pub sacks_outside: u64,
    /// Duplicates reported by its receiver (DSACK).
    pub dsacks: u64,
    /// Whether its segments carry timestamps.
    pub timestamps: bool,
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
    /// When its last packet was captured, and the frame.
    pub end: i64,
    /// See `end`.
    pub last_frame: u64,
    /// Where it was captured.
    pub place: Place,
    /// Why the analysis assumes that place.
    pub why: Why,
    /// How it was opened and closed.
    pub opening: Opening,
    /// The two directions, [`Way::Out`] first.
    pub ways: [DirectionRecord; 2],
}

impl Record {
    /// The direction with more data.
    pub fn main_way(&self) -> Way {
        more(self.ways[0].bytes, self.ways[1].bytes)
    }

    /// The results of one way.
    pub fn way(&self, way: Way) -> &DirectionRecord {
        &self.ways[way as usize]
    }
}

/// All results of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The connection as a whole.
    pub record: Record,
    /// Each retransmission in the order of frames, if requested.
    pub retransmissions: Vec<Retransmission>,
}

/// Complete round trips, seen from one side; that of the handshake if there are no others.
pub(super) fn rtt(side: Side, way: &DirectionRecord, initial: Option<i64>) -> Summary {
    let sum = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| a + b);
    let measured = match side {
        Side::Sender => way.onward,
        Side::Receiver => way.backward,
        Side::Middle => Summary {
            samples: way.onward.samples.min(way.backward.samples),
            min: sum(way.onward.min, way.backward.min),
            median: sum(way.onward.median, way.backward.median),
            p95: sum(way.onward.p95, way.backward.p95),
        },
    };
    if measured.samples > 0 {
        return measured;
    }
    Summary { samples: 0, min: initial, median: initial, p95: initial }
}

/// The way with more bytes; [`Way::Out`] if both have the same number.
pub(super) fn more(out: u64, back: u64) -> Way {
    if back > out {
        Way::Back
    } else {
        Way::Out
    }
}
