//! Packets that were captured twice: at two interfaces, or by a switch that mirrors both what comes and what goes.
//!
//! Idea: what goes beyond all that its direction has sent or acknowledged was not there before. Only the others are looked for among
//! the last packets.

use super::table::fold;
use crate::seen::{Seen, Way};
use ackclock_tcp::segment::Segment;

/// A repeat comes within this time, nanoseconds.
const SOON: u64 = 1_000_000;
/// How many packets of a direction are remembered.
const KEPT: usize = 8;

/// The last packets of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats([Ring; 2]);

/// What every packet changes lies together at the beginning.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Ring {
    /// Behind the highest byte, and the highest acknowledgment, of all but RSTs.
    top: u64,
    ack: u64,
    next: u8,
    /// Packets came at other interfaces than the first.
    several: bool,
    packets: [(u64, i64); KEPT],
    interfaces: [u32; KEPT],
}

impl Repeats {
    /// Whether this packet was there before; remembers it if not.
    ///
    /// The identification of an IPv4 packet makes it one of its kind. Without it, two packets that agree may be two, as repeated
    /// acknowledgments are; then only another interface proves that it is one.
    #[inline(always)]
    pub(super) fn is_one(&mut self, seen: &Seen, interface: u32) -> bool {
        let ring = &mut self.0[usize::from(seen.way == Way::Back)];
        let print = print(seen);
        let (end, ack) = (seen.seq.wrapping_add(u64::from(seen.len)), seen.ack.unwrap_or(0));
        // Without branches: which of the two goes on is a matter of data or acknowledgment, and cannot be foreseen.
        let new = ((end > ring.top) | (ack > ring.ack)) & !seen.has(Segment::RST);
        if new {
            (ring.top, ring.ack) = (ring.top.max(end), ring.ack.max(ack));
        } else if ring.has(print, seen, interface) {
            return true;
        }
        let place = usize::from(ring.next) % KEPT;
        ring.packets[place] = (print, seen.at);
        ring.several |= interface != 0;
        if ring.several {
            ring.interfaces[place] = interface;
        }
        ring.next = ring.next.wrapping_add(1);
        false
    }
}

impl Ring {
    #[inline(never)]
    fn has(&self, print: u64, seen: &Seen, interface: u32) -> bool {
        self.packets.iter().zip(self.interfaces).any(|(old, there)| {
            old.0 == print && seen.at.abs_diff(old.1) <= SOON && (seen.id.is_some() || there != interface)
        })
    }
}

/// What two packets must share to be one, in 64 bits.
#[inline(always)]
fn print(seen: &Seen) -> u64 {
    let numbers = seen.seq << 32 | seen.ack.unwrap_or(0) & 0xffff_ffff;
    let stamp = seen.timestamps.map_or(0, |t| t.value);
    let rest = u64::from(stamp) << 32 | u64::from(seen.id.unwrap_or(0)) << 16 | u64::from(seen.len as u16);
    fold(numbers ^ 0x9e37_79b9_7f4a_7c15, rest ^ u64::from(seen.flags) << 56 ^ 0xe703_7ed1_a0b4_28db)
}
