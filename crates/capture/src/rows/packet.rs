//! The row of a packet of a connection.

use crate::packets::Packet;
use crate::seen::Way;
use ackclock_table::row;

row! {
    /// A packet of a captured connection. Offsets count the bytes of a direction from its first byte.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedPacket pub of (p, way, first): (&Packet, Way, i64) {
        /// Its frame.
        frame: u64 = p.frame;
        /// When it was captured, since the file's first packet.
        time_ns: i64 [unit("ns")] = p.at - first;
        /// When it was captured, since 1970.
        at_ns: i64 [unit("ns")] = p.at;
        /// Whether it goes in the flow's direction.
        own: bool = p.way == way;
        /// The flags of the TCP header, as a number.
        flags: u32 = u32::from(p.flags);
        /// The sequence number in the packet.
        seq: u32 = p.seq;
        /// The offset of its first byte.
        offset: i64 [unit("bytes")] = p.offset;
        /// Payload.
        len: u32 [unit("bytes")] = p.len;
        /// The acknowledgment: an offset of the other direction.
        ack: Option<i64> [unit("bytes")] = p.ack;
        /// The window that it announces, scale applied.
        window: u64 [unit("bytes")] = p.window;
        /// The SACK blocks, as `left:right left:right`, in offsets of the other direction.
        sack: String = {
            let blocks = p.sack[..usize::from(p.sacks)].iter();
            blocks.map(|(left, right)| format!("{left}:{right}")).collect::<Vec<_>>().join(" ")
        };
    }
}
