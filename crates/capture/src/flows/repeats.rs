//! Packets that were captured twice: at two interfaces, or by a switch that mirrors both what comes and what goes.

use crate::seen::{Seen, Way};

/// A repeat comes within this time, nanoseconds.
const SOON: u64 = 1_000_000;
/// How many packets of a direction are remembered.
const KEPT: usize = 8;

/// The last packets of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats([Ring; 2]);

#[derive(Clone, Debug, Default)]
struct Ring {
    marks: [Mark; KEPT],
    next: usize,
}

/// What two packets must share to be one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    at: i64,
    seq: u64,
    ack: u64,
    len: u32,
    stamp: u32,
    id: u16,
    flags: u8,
    interface: u32,
}

impl Repeats {
    /// Whether this packet was there before; remembers it if not.
    ///
    /// The identification of an IPv4 packet makes it one of its kind. Without it, two packets that agree may be two, as repeated
    /// acknowledgments are; then only another interface proves that it is one.
    #[inline]
    pub(super) fn is_one(&mut self, seen: &Seen, interface: u32) -> bool {
        let ring = &mut self.0[usize::from(seen.way == Way::Back)];
        let new = Mark {
            at: seen.at,
            seq: seen.seq,
            ack: seen.ack.unwrap_or(0),
            len: seen.len,
            stamp: seen.timestamps.map_or(0, |t| t.value),
            id: seen.id.unwrap_or(0),
            flags: seen.flags,
            interface,
        };
        let one = ring.marks.iter().any(|old| {
            new.seq == old.seq
                && new.ack == old.ack
                && new.id == old.id
                && new.len == old.len
                && new.stamp == old.stamp
                && new.flags == old.flags
                && new.at.abs_diff(old.at) <= SOON
                && (new.id != 0 || new.interface != old.interface)
        });
        if !one {
            ring.marks[ring.next % KEPT] = new;
            ring.next = ring.next.wrapping_add(1);
        }
        one
    }
}
