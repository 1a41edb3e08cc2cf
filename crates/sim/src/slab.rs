//! Packets in one array, referred to by `u32` handles. A transit is a chain through this array, so a packet waits, travels
//! and is delivered without being moved, and a transit never allocates.

use ackclock_tcp::segment::Segment;

/// No packet.
pub(crate) const NONE: u32 = u32::MAX;

/// A packet somewhere in the network. The fields that every packet uses fill one cache line; timestamps and SACK blocks
/// are in the next.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    /// The key of the arrival of the packet behind this one in its transit. It is kept here and not in that packet, so
    /// that popping this packet, which is about to be read anyway, touches no other.
    pub(crate) next_key: u64,
    /// The next packet in its transit, or the next free place.
    pub(crate) next: u32,
    /// Its position in the flat list of paths.
    pub(crate) hop: u32,
    /// The destination host: flow · 2, and 1 more for the receiver. For background traffic see `background::ROUND_BITS`.
    pub(crate) to: u32,
    /// Bytes on the wire.
    pub(crate) wire: u32,
    /// Its number among the packets of its host, from 0; written only with a listener.
    pub(crate) number: u32,
    /// How often its data has been sent (1 = first), 0 for a pure ACK.
    pub(crate) sends: u8,
    pub(crate) seg: Segment,
    /// If measured: when a flow's data was sent, or the data that a flow's ACK acknowledges.
    pub(crate) stamp: u64,
    /// If measured: when it entered its current explicit queue. Of a packet that a fused link refused: its number among the
    /// arrivals there.
    pub(crate) arrived: u64,
}

/// The array and its free places.
pub(crate) struct Slab {
    packets: Vec<Packet>,
    free: u32,
    /// Packets allocated and not freed.
    pub(crate) live: u32,
}

impl Slab {
    pub(crate) fn new() -> Self {
        Slab { packets: Vec::new(), free: NONE, live: 0 }
    }

    /// A place with the contents that its last user left: the newest free place, which is the likeliest to be in the
    /// cache.
    #[inline]
    pub(crate) fn alloc(&mut self) -> u32 {
        self.live += 1;
        let h = self.free;
        if let Some(p) = self.packets.get(h as usize) {
            self.free = p.next;
            return h;
        }
        self.grow()
    }

    /// The number of places, used and free.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.packets.len()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let seg = Segment::EMPTY;
        let empty =
            Packet { next_key: 0, next: NONE, hop: 0, to: 0, wire: 0, sends: 0, number: 0, seg, stamp: 0, arrived: 0 };
        self.packets.push(empty);
        (self.packets.len() - 1) as u32
    }

    /// The packets behind the first one in a chain, given its first and its last.
    #[inline]
    pub(crate) fn behind(&self, (first, last): (u32, u32)) -> impl Iterator<Item = &Packet> {
        let mut at = first;
        std::iter::from_fn(move || {
            (at != last).then(|| {
                at = self[at].next;
                &self[at]
            })
        })
    }

    #[inline]
    pub(crate) fn free(&mut self, h: u32) {
        self.live -= 1;
        self.packets[h as usize].next = self.free;
        self.free = h;
    }
}

impl std::ops::Index<u32> for Slab {
    type Output = Packet;
    #[inline]
    fn index(&self, h: u32) -> &Packet {
        &self.packets[h as usize]
    }
}

impl std::ops::IndexMut<u32> for Slab {
    #[inline]
    fn index_mut(&mut self, h: u32) -> &mut Packet {
        &mut self.packets[h as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_takes_two_lines() {
        assert_eq!((size_of::<Packet>(), align_of::<Packet>()), (128, 64));
    }

    #[test]
    fn a_chain_is_followed_up_to_its_last_packet() {
        let mut s = Slab::new();
        let h: Vec<u32> = (0..4).map(|_| s.alloc()).collect();
        for (a, b) in [(h[2], h[0]), (h[0], h[3]), (h[3], h[1])] {
            s[a].next = b;
            s[b].to = b;
        }
        let behind = |last| s.behind((h[2], last)).map(|p| p.to).collect::<Vec<_>>();
        assert_eq!((behind(h[3]), behind(h[2]), s.behind((NONE, NONE)).count()), (vec![h[0], h[3]], vec![], 0));
    }

    #[test]
    fn a_freed_place_is_the_next_one_used() {
        let mut s = Slab::new();
        let (a, b) = (s.alloc(), s.alloc());
        assert_ne!(a, b);
        s.free(a);
        assert_eq!((s.alloc(), s.live), (a, 2));
        assert_eq!(s.alloc(), 2);
    }
}
