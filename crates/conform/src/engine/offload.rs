//! How Linux passes segments to a device: several at once, and which of them carry PSH.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_output.c` (`tcp_tso_autosize`, `__tcp_transmit_skb`), `net/ipv4/tcp_input.c`
//! (`tcp_update_pacing_rate`), `net/ipv4/tcp.c` (`tcp_push`), in our words.
//! Idea: new data that takes about a millisecond to send leaves as one packet, of at least two segments. Such a packet carries
//! PSH, and so does the end of each write.
//! A retransmission consists of segments of one such packet, and keeps the PSH at its end (`tcp_fragment`).

use ackclock_tcp::connection::Info;
use ackclock_tcp::segment::Segment;
use ackclock_wire::packet::Header;
use ackclock_wire::{parse, Checksums, Dialect, Packet, Writing};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// `sk_pacing_shift`: a packet has about 2^-10 s of data.
const PACING_SHIFT: u32 = 10;
/// `tcp_tso_rtt_log`: short paths get larger packets.
const RTT_LOG: u32 = 9;
/// `sk_gso_max_size`.
const MOST: u64 = 65_536;
/// `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, percent.
const RATIOS: (f64, f64) = (200.0, 120.0);

/// Packets on their way to the device.
#[derive(Default)]
pub(super) struct Offload {
    streams: BTreeMap<(SocketAddr, SocketAddr), Stream>,
    /// A packet that could not be joined to the previous one.
    held: Option<Vec<u8>>,
}

/// The state of one direction.
#[derive(Default)]
struct Stream {
    /// The number after the SYN.
    first: u32,
    /// The end of the data sent so far.
    sent: u32,
    /// Where writes ended, counted from `first`.
    marks: BTreeSet<u32>,
    /// Where packets of new data ended, counted likewise, and whether they carried PSH.
    ends: BTreeMap<u32, bool>,
    written: u32,
}

impl Stream {
    /// Whether data at this number were not sent before.
    fn is_new(&self, seq: u32) -> bool {
        seq.wrapping_sub(self.sent).cast_signed() >= 0
    }
}

impl Offload {
    /// The application wrote `bytes`; `push` unless more follows.
    pub(super) fn wrote(&mut self, ends: (SocketAddr, SocketAddr), bytes: usize, push: bool) {
        let stream = self.streams.entry(ends).or_default();
        stream.written = stream.written.wrapping_add(bytes as u32);
        if push {
            stream.marks.insert(stream.written);
        }
    }

    /// The packet that was put back.
    pub(super) fn take_held(&mut self) -> Option<Vec<u8>> {
        self.held.take()
    }

    /// Puts a packet back.
    pub(super) fn hold(&mut self, packet: Vec<u8>) {
        self.held = Some(packet);
    }

    /// Joins `next` to `whole` if they may leave as one packet of up to `most` segments.
    pub(super) fn join(&self, whole: &mut Vec<u8>, unit: usize, next: &[u8], most: usize) -> bool {
        let joined = joined(whole, unit, next, most).filter(|_| self.may_go_on(whole));
        let Some((header, len)) = joined else { return false };
        let mut packet = vec![0; len + 120];
        match header.write(Dialect::Linux, Writing::Whole, &mut packet, len, |_| {}) {
            Ok(written) => {
                packet.truncate(written.len);
                *whole = packet;
                true
            }
            Err(_) => false,
        }
    }

    /// Whether what follows `packet` may leave with it: new data, or old data that left in one packet the first time, too.
    fn may_go_on(&self, packet: &[u8]) -> bool {
        read(packet).is_some_and(|p| {
            let Some(stream) = self.streams.get(&(p.header.src, p.header.dst)) else { return true };
            let end = p.header.seq.0.wrapping_add(p.payload.len() as u32);
            stream.is_new(p.header.seq.0) || !stream.ends.contains_key(&end.wrapping_sub(stream.first))
        })
    }

    /// A packet leaves: sets PSH where Linux would, and records the data sent.
    pub(super) fn leave(&mut self, whole: &mut Vec<u8>, segments: usize) {
        let Some(packet) = read(whole) else { return };
        let (header, len) = (packet.header, packet.payload.len());
        let stream = self.streams.entry((header.src, header.dst)).or_default();
        if header.flags & Segment::SYN != 0 {
            stream.first = header.seq.0.wrapping_add(1);
            stream.sent = stream.first;
            return;
        }
        if len == 0 {
            return;
        }
        let end = header.seq.0.wrapping_add(len as u32);
        let at = end.wrapping_sub(stream.first);
        let mark = stream.marks.contains(&at);
        let push = if stream.is_new(header.seq.0) {
            stream.ends.insert(at, segments > 1 || mark);
            segments > 1 || mark
        } else {
            mark || segments > 1 || stream.ends.get(&at) == Some(&true)
        };
        if end.wrapping_sub(stream.sent).cast_signed() > 0 {
            stream.sent = end;
        }
        if push && header.flags & Segment::PSH == 0 {
            let header = Header { flags: header.flags | Segment::PSH, ..header };
            let mut packet = vec![0; whole.len()];
            if header.write(Dialect::Linux, Writing::Whole, &mut packet, len, |_| {}).is_ok() {
                *whole = packet;
            }
        }
    }
}

/// The payload of a packet, bytes.
pub(super) fn payload(packet: &[u8]) -> usize {
    read(packet).map_or(0, |packet| packet.payload.len())
}

/// How many segments a packet has at most.
pub(super) fn segments(info: &Info) -> usize {
    let mss = u64::from(info.snd_mss.max(1));
    let (Some(cwnd), Some(rtt)) = (info.snd_cwnd(), info.rtt) else { return 2 };
    let slow_start = info.snd_ssthresh().is_none_or(|ssthresh| cwnd < ssthresh / 2.0);
    let ratio = if slow_start { RATIOS.0 } else { RATIOS.1 } / 100.0;
    let rate = ratio * cwnd.max(f64::from(info.unacked)) * mss as f64 / (rtt.0.max(1) as f64 / 1e9);
    let reach = info.min_rtt.map_or(u64::from(u32::BITS), |rtt| (rtt.0 / 1000) >> RTT_LOG);
    let near = if reach < u64::from(u32::BITS) { MOST >> reach } else { 0 };
    let bytes = ((rate as u64) >> PACING_SHIFT).saturating_add(near).min(MOST - 1);
    ((bytes / mss) as usize).max(2)
}

fn read(packet: &[u8]) -> Option<Packet<'_>> {
    parse(packet, Checksums::Trust).ok()
}

/// The header and the payload of both packets as one; `None` if they must stay apart.
fn joined(whole: &[u8], unit: usize, next: &[u8], most: usize) -> Option<(Header, usize)> {
    let (a, b) = (read(whole)?, read(next)?);
    let (len, more) = (a.payload.len(), b.payload.len());
    let plain = |flags: u8| flags & !(Segment::PSH | Segment::FIN);
    let alike = plain(a.header.flags) == plain(b.header.flags)
        && (a.header.src, a.header.dst) == (b.header.src, b.header.dst)
        && (a.header.ack, a.header.window, a.header.options) == (b.header.ack, b.header.window, b.header.options)
        && a.header.flags & (Segment::SYN | Segment::FIN | Segment::RST) == 0;
    let follows = a.header.seq.0.wrapping_add(len as u32) == b.header.seq.0;
    let fits = unit > 0 && len % unit == 0 && more > 0 && more <= unit && len / unit < most && len + more < 65_000;
    let zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    (alike && follows && fits && zeros(a.payload) && zeros(b.payload))
        .then(|| (Header { seq: a.header.seq, ..b.header }, len + more))
}
