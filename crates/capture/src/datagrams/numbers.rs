//! Finds the numbers in a datagram, and detects whether it has any.

use super::{Datagram, Format};

/// The start of counting, so that datagrams sent before the first captured one have a number below it.
pub(super) const FIRST: u64 = 1 << 20;
/// A larger step is due neither to loss nor to reordering (RFC 3550 A.1: MAX_DROPOUT).
pub(super) const NEAR: u64 = 3000;
/// The largest difference between a sender's clock and the capture's from one datagram of a candidate to the next, microseconds.
const DRIFT: i64 = 1_000_000;

/// Possible sequence numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    /// RTP's source, if this could be RTP.
    pub(super) source: Option<u32>,
    payload_type: u8,
    sequence: u16,
    /// Seconds and microseconds, in microseconds; meaningful if this could be iperf3's.
    pub(super) could_be_iperf3: bool,
    micros: i64,
    count: u32,
    low: Option<u32>,
}

/// A datagram whose format is not yet known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) frame: u64,
    pub(super) at: i64,
    pub(super) original: u32,
    pub(super) len: u32,
    pub(super) header: Header,
}

impl Header {
    pub(super) fn of(datagram: &Datagram<'_>) -> Header {
        let bytes = datagram.payload;
        let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.first_chunk::<4>()).map(|b| u32::from_be_bytes(*b));
        let (Some(first), Some(second), Some(third)) = (word(0), word(4), word(8)) else { return Header::default() };
        // Version 2, and a payload type that no RTCP packet at the same port would have (RFC 5761 §4); the contributing sources
        // fit.
        let payload_type = (first >> 16) as u8 & 0x7f;
        let sources = first >> 24 & 0xf;
        let rtp = first >> 30 == 2 && !(64..=95).contains(&payload_type) && 12 + 4 * sources <= datagram.len;
        Header {
            source: (rtp && third != 0).then_some(third),
            payload_type,
            sequence: first as u16,
            could_be_iperf3: datagram.len >= 16 && second < 1_000_000,
            micros: i64::from(first) * 1_000_000 + i64::from(second),
            count: third,
            low: word(12),
        }
    }
}

/// The number of a datagram.
pub(super) fn read(format: Format, header: &Header) -> Option<u64> {
    match format {
        Format::Rtp { source } => (header.source == Some(source)).then_some(u64::from(header.sequence)),
        Format::Iperf3 => header.could_be_iperf3.then_some(u64::from(header.count)),
        Format::Iperf3Wide => {
            Some(u64::from(header.count) << 32 | u64::from(header.low.filter(|_| header.could_be_iperf3)?))
        }
    }
}

/// The step from one number to another, across a wrap.
pub(super) fn step(format: Format, from: u64, to: u64) -> i64 {
    match format {
        Format::Rtp { .. } => i64::from((to as u16).wrapping_sub(from as u16) as i16),
        Format::Iperf3 => i64::from((to as u32).wrapping_sub(from as u32) as i32),
        Format::Iperf3Wide => to.wrapping_sub(from) as i64,
    }
}

/// The format that fits all of these datagrams, if any: each number appears once, most steps go up, and none is large.
pub(super) fn format(source: Option<u32>, packets: &[Packet]) -> Option<Format> {
    let counts = |format: Format| {
        let numbers: Option<Vec<u64>> = packets.iter().map(|p| read(format, &p.header)).collect();
        let Some(numbers) = numbers else { return false };
        let steps: Vec<i64> = numbers.windows(2).map(|w| step(format, w[0], w[1])).collect();
        let up = steps.iter().filter(|s| **s > 0).count();
        let near = steps.iter().all(|s| *s != 0 && s.unsigned_abs() <= NEAR / 30);
        near && up * 4 >= steps.len() * 3
    };
    if let Some(source) = source {
        let rtp = Format::Rtp { source };
        let one_type = packets.windows(2).all(|w| w[0].header.payload_type == w[1].header.payload_type);
        return (one_type && counts(rtp)).then_some(rtp);
    }
    // The times in it advance like the capture's.
    let (first, rest) = packets.split_first()?;
    let in_time = rest.iter().all(|p| {
        let (stated, seen) = (p.header.micros - first.header.micros, (p.at - first.at) / 1000);
        (stated - seen).abs() <= DRIFT
    });
    [Format::Iperf3, Format::Iperf3Wide].into_iter().find(|format| in_time && counts(*format))
}
