//! The blocks of a pcapng file, as bytes.
//!
//! Source: draft-ietf-opsawg-pcapng, §3.1 (blocks), §3.5 (options), §4.1 (section header), §4.2 (interface description), §4.3
//! (enhanced packet). Little-endian; times are nanoseconds since 1970. Nothing is written to a file here: a block is appended to
//! a buffer.

/// `LINKTYPE_RAW`: packets begin with their IP header.
pub const RAW: u16 = 101;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Options of blocks, of interfaces and of packets.
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
/// Units of time in the file: 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// The direction of a packet, seen from the capturing machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It arrived.
    In,
    /// It was sent.
    Out,
}

/// An interface on which packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// The type of its packets' first header, as [`RAW`].
    pub link: u16,
    /// The most bytes kept of a packet; 0: all.
    pub snap: u32,
    /// Its name; empty: none.
    pub name: &'a str,
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The number of its interface, from 0 in the order of their blocks.
    pub interface: u32,
    /// When it was captured, nanoseconds since 1970.
    pub at: u64,
    /// Its direction, if known.
    pub direction: Option<Direction>,
    /// Its length, bytes.
    pub len: u32,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// A comment that other tools show with it; empty: none.
    pub comment: &'a str,
}

/// The beginning of a file.
pub fn section(out: &mut Vec<u8>) {
    block(out, SECTION, |out| {
        out.extend_from_slice(&BYTE_ORDER.to_le_bytes());
        // Version 1.0, and an unspecified length.
        out.extend_from_slice(&[1, 0, 0, 0]);
        out.extend_from_slice(&u64::MAX.to_le_bytes());
    });
}

impl Interface<'_> {
    /// Its block.
    pub fn write(&self, out: &mut Vec<u8>) {
        block(out, INTERFACE, |out| {
            out.extend_from_slice(&self.link.to_le_bytes());
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&self.snap.to_le_bytes());
            if !self.name.is_empty() {
                option(out, IF_NAME, self.name.as_bytes());
            }
            option(out, IF_TSRESOL, &[NANOSECONDS]);
            option(out, 0, &[]);
        });
    }
}

impl Packet<'_> {
    /// Its block.
    pub fn write(&self, out: &mut Vec<u8>) {
        block(out, ENHANCED_PACKET, |out| {
            let (high, low) = ((self.at >> 32) as u32, self.at as u32);
            for word in [self.interface, high, low, self.bytes.len() as u32, self.len] {
                out.extend_from_slice(&word.to_le_bytes());
            }
            out.extend_from_slice(self.bytes);
            pad(out);
            if !self.comment.is_empty() {
                option(out, COMMENT, self.comment.as_bytes());
            }
            if let Some(direction) = self.direction {
                // Bits 0 and 1.
                let flags: u32 = match direction {
                    Direction::In => 1,
                    Direction::Out => 2,
                };
                option(out, EPB_FLAGS, &flags.to_le_bytes());
            }
            if self.direction.is_some() || !self.comment.is_empty() {
                option(out, 0, &[]);
            }
        });
    }
}

/// A block: its type, its length, the output of `body`, its length again.
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    body(out);
    let len = ((out.len() - begin + 4) as u32).to_le_bytes();
    out[begin + 4..begin + 8].copy_from_slice(&len);
    out.extend_from_slice(&len);
}

/// An option. A value that is too long for its length field is truncated.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out);
}

/// Blocks begin at multiples of four bytes, and so do their parts.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use pcap_file::DataLink;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #[test]
        fn another_library_reads_what_is_written(
            name in "[a-z0-9]{0,9}",
            packets in prop::collection::vec((any::<u64>(), 0u32..9, prop::collection::vec(any::<u8>(), 0..70), 0..3, "[a-z]{0,9}"), 0..9),
        ) {
            let mut file = Vec::new();
            section(&mut file);
            Interface { link: RAW, snap: 96, name: &name }.write(&mut file);
            let directions = [None, Some(Direction::In), Some(Direction::Out)];
            for (at, more, bytes, way, comment) in &packets {
                let len = bytes.len() as u32 + more;
                Packet { interface: 0, at: *at, direction: directions[*way as usize], len, bytes, comment }.write(&mut file);
            }
            let mut reader = PcapNgReader::new(&file[..]).unwrap();
            let Block::InterfaceDescription(interface) = reader.next_block().unwrap().unwrap() else { panic!("no interface") };
            prop_assert_eq!((interface.linktype, interface.snaplen), (DataLink::RAW, 96));
            let named = format!("IfName({name:?})");
            let is_named = format!("{:?}", interface.options).contains(&named);
            prop_assert_eq!(is_named, !name.is_empty(), "{:?}", interface.options);
            for (at, more, bytes, way, comment) in &packets {
                let Block::EnhancedPacket(packet) = reader.next_block().unwrap().unwrap() else { panic!("no packet") };
                prop_assert_eq!(packet.timestamp, Duration::from_nanos(*at));
                prop_assert_eq!((packet.original_len, &packet.data[..]), (bytes.len() as u32 + more, &bytes[..]));
                let flags = [None, Some("Flags(1)"), Some("Flags(2)")][*way as usize];
                let options = format!("{:?}", packet.options);
                prop_assert_eq!(packet.options.is_empty(), flags.is_none() && comment.is_empty(), "{}", options);
                prop_assert!(flags.is_none_or(|f| options.contains(f)), "{}", options);
                let commented = options.contains(&format!("Comment({comment:?})"));
                prop_assert_eq!(commented, !comment.is_empty(), "{}", options);
            }
            prop_assert!(reader.next_block().is_none());
        }
    }
}
