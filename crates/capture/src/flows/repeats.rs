//! Packets that were captured twice: at two interfaces, or by a switch that mirrors both what comes and what goes.

use super::table::fold;
use crate::seen::{Seen, Way};

/// A repeat comes within this time, nanoseconds.
const SOON: u64 = 1_000_000;
/// How many packets of a direction are remembered.
const KEPT: usize = 8;

/// The last packets of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats([Ring; 2]);

/// Fingerprints first: they alone are looked at for nearly every packet.
#[derive(Clone, Debug, Default)]
struct Ring {
    prints: [u64; KEPT],
    times: [i64; KEPT],
    interfaces: [u32; KEPT],
    next: u8,
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
        if ring.prints.iter().fold(false, |any, old| any | (*old == print)) && ring.has(print, seen, interface) {
            return true;
        }
        let place = usize::from(ring.next) % KEPT;
        ring.prints[place] = print;
        ring.times[place] = seen.at;
        ring.interfaces[place] = interface;
        ring.next = ring.next.wrapping_add(1);
        false
    }
}

impl Ring {
    #[cold]
    fn has(&self, print: u64, seen: &Seen, interface: u32) -> bool {
        (0..KEPT).any(|i| {
            self.prints[i] == print
                && seen.at.abs_diff(self.times[i]) <= SOON
                && (seen.id.is_some() || self.interfaces[i] != interface)
        })
    }
}

/// What two packets must share to be one, in 64 bits.
#[inline]
fn print(seen: &Seen) -> u64 {
    let numbers = seen.seq << 32 | seen.ack.unwrap_or(0) & 0xffff_ffff;
    let stamp = seen.timestamps.map_or(0, |t| t.value);
    let rest = u64::from(stamp) << 32 | u64::from(seen.id.unwrap_or(0)) << 16 | u64::from(seen.len as u16);
    fold(numbers ^ 0x9e37_79b9_7f4a_7c15, rest ^ u64::from(seen.flags) << 56 ^ 0xe703_7ed1_a0b4_28db)
}
