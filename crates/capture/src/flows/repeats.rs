//! Packets that were captured twice: at two interfaces, before and after a router, or by a switch that mirrors both ingress and
//! egress.
//!
//! Idea: a packet beyond everything that its direction has sent or acknowledged is new. Only the others are compared with the
//! last packets.

use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;
use ackclock_wire::packet::Captured;

/// A repeat arrives within this time, nanoseconds.
const SOON: u64 = 1_000_000;
/// A repeat that has passed a router arrives within this time, nanoseconds.
const ROUTED: u64 = 1_000_000_000;
/// The number of packets of a direction that are remembered: more than a device sends in one burst (64 KB in full segments); and
/// once a packet was captured twice: more than a fast path carries while a router holds one.
const KEPT: u16 = 64;
const KEPT_THEN: u16 = 1024;

/// The last packets of a connection. The fields that every packet changes are together at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Repeats {
    heads: [Head; 2],
    /// The last packets of each direction.
    packets: [Vec<Kept>; 2],
    /// Packets with data or SYN that equal one of the last millisecond, without other proof; and whether that showed a mirror.
    alike: u64,
    mirrored: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    print: u64,
    at: i64,
    interface: u32,
    hop_limit: u8,
    /// Whether a second copy of it was found without other proof than that it is equal.
    paired: bool,
}

/// The progress of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    /// The end of the highest byte, and the highest acknowledgment, without RSTs.
    top: u64,
    ack: u64,
    next: u16,
    /// Whether a packet was captured twice.
    twice: bool,
}

/// The fields of a packet that are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// The fields that must be equal for two packets to be the same, in 64 bits.
    print: u64,
    /// The end of its last byte, and its acknowledgment number; 0 for a RST, and without an acknowledgment.
    end: u64,
    ack: u64,
    hop_limit: u8,
}

impl Mark {
    #[inline(always)]
    pub(super) fn of(tcp: &Captured<'_>, seq: u64, ack: Option<u64>, stamp: u32, id: Option<u16>) -> Mark {
        let hop_limit = tcp.ip.hop_limit;
        let rest = u64::from(stamp) << 32 | u64::from(id.unwrap_or(0)) << 16 | u64::from(tcp.len as u16);
        let print = tcp.numbers().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rest ^ u64::from(tcp.flags()) << 56;
        if tcp.flags() & Segment::RST != 0 {
            return Mark { print, end: 0, ack: 0, hop_limit };
        }
        Mark { print, end: seq.wrapping_add(u64::from(tcp.len)), ack: ack.unwrap_or(0), hop_limit }
    }
}

impl Repeats {
    /// Whether this packet was captured before; remembers it if not.
    ///
    /// The identification makes an IPv4 packet unique. Without it, two equal packets may be two packets, as duplicate
    /// acknowledgments are; then another interface, or a hop limit that a router has lowered, proves that they are the same
    /// packet; or that from the connection's first packets on each with data or SYN comes twice within a millisecond, as no host sends
    /// them. `segments` have come from this end.
    #[inline(always)]
    pub(super) fn is_one(&mut self, mark: &Mark, seen: &Seen, interface: u32, segments: u64) -> bool {
        let way = usize::from(seen.way == Way::Back);
        let head = &mut self.heads[way];
        // One branch for both: which of them advances is unpredictable.
        let (top, ack) = (head.top.max(mark.end), head.ack.max(mark.ack));
        let news = (top ^ head.top) | (ack ^ head.ack);
        (head.top, head.ack) = (top, ack);
        if news == 0 && self.has(way, mark, seen, interface, segments) {
            let head = &mut self.heads[way];
            if !head.twice {
                (head.twice, head.next) = (true, self.packets[way].len() as u16);
            }
            return true;
        }
        let head = &mut self.heads[way];
        let place = usize::from(head.next);
        let most = if head.twice { KEPT_THEN } else { KEPT };
        head.next = if head.next + 1 < most { head.next + 1 } else { 0 };
        let kept = Kept { print: mark.print, at: seen.at, interface, hop_limit: mark.hop_limit, paired: false };
        let packets = &mut self.packets[way];
        match packets.get_mut(place) {
            Some(old) => *old = kept,
            None => packets.push(kept),
        }
        false
    }

    #[inline(never)]
    fn has(&mut self, way: usize, mark: &Mark, seen: &Seen, interface: u32, segments: u64) -> bool {
        let packets = &mut self.packets[way];
        let next = usize::from(self.heads[way].next).min(packets.len());
        let (newer, older) = packets.split_at_mut(next);
        let newest_first = newer.iter_mut().rev().chain(older.iter_mut().rev());
        let mut alike = None;
        for old in newest_first.filter(|old| old.print == mark.print) {
            let apart = seen.at.abs_diff(old.at);
            let routed = mark.hop_limit < old.hop_limit && apart <= ROUTED;
            if routed || apart <= SOON && (seen.id.is_some() || interface != old.interface) {
                return true;
            }
            if apart <= SOON && !old.paired && mark.hop_limit == old.hop_limit {
                alike = Some(old);
            }
        }
        let Some(old) = alike else { return false };
        if seen.len > 0 || seen.has(Segment::SYN) {
            self.alike += 1;
            self.mirrored |= 2 * self.alike >= segments;
        }
        // Of acknowledgments each has one repeat; data come no sooner.
        old.paired = self.mirrored && seen.len == 0;
        self.mirrored
    }
}
