//! The virtio-net header before each packet of a device that completes checksums and segments large packets.
//!
//! Source: Virtual I/O Device 1.3 §5.1.6 (`struct virtio_net_hdr`); Linux, `include/uapi/linux/virtio_net.h`. This is the legacy
//! header of 10 bytes in this machine's byte order, the default of a TUN device.
//!
//! A large packet that arrives is a [train](ackclock_tcp::segment::Segment::train) of segments for the engine, and a train that
//! the engine sends becomes one large packet.

use crate::packet::{self, Checksums, Packet, Refused};
use crate::write::Written;

/// The header's length.
pub const LEN: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const DATA_VALID: u8 = 2;
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
/// May be combined with the type: only the first segment keeps CWR.
const ECN: u8 = 0x80;
/// The position of the checksum in TCP's header.
const CHECKSUM_AT: u16 = 16;

/// The header's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    /// 1: the checksum is to be completed. 2: it was verified.
    pub flags: u8,
    /// The segmentation: 0 none, 1 TCP over IPv4, 4 TCP over IPv6; 0x80 in addition with ECN.
    pub gso_type: u8,
    /// Bytes of all headers, if the packet is to be segmented.
    pub header_len: u16,
    /// Payload bytes of each segment.
    pub segment_len: u16,
    /// Where the checksummed data begins.
    pub checksum_start: u16,
    /// The position of the checksum, counted from there.
    pub checksum_offset: u16,
}

impl VnetHeader {
    /// Returns the header for a packet that was written with [`Writing::Offload`](crate::write::Writing::Offload).
    pub fn of(written: &Written) -> Self {
        let kind = if written.tcp_at == packet::IPV4_HEADER { TCP_IPV4 } else { TCP_IPV6 };
        let large = written.segment_len > 0;
        VnetHeader {
            flags: NEEDS_CHECKSUM,
            gso_type: if large { kind } else { 0 },
            header_len: if large { written.payload_at as u16 } else { 0 },
            segment_len: written.segment_len,
            checksum_start: written.tcp_at as u16,
            checksum_offset: CHECKSUM_AT,
        }
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[..2].copy_from_slice(&[self.flags, self.gso_type]);
        let words = [self.header_len, self.segment_len, self.checksum_start, self.checksum_offset];
        for (place, word) in bytes[2..].chunks_exact_mut(2).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// The header in front of a frame, and the packet behind it.
    ///
    /// # Errors
    /// [`Refused::CutOff`] if there is not even a header.
    pub fn split(frame: &[u8]) -> Result<(VnetHeader, &[u8]), Refused> {
        let (head, packet) = frame.split_at_checked(LEN).ok_or(Refused::CutOff { needs: LEN, has: frame.len() })?;
        let word = |at: usize| u16::from_ne_bytes([head[at], head[at + 1]]);
        let header = VnetHeader {
            flags: head[0],
            gso_type: head[1],
            header_len: word(2),
            segment_len: word(4),
            checksum_start: word(6),
            checksum_offset: word(8),
        };
        Ok((header, packet))
    }

    /// Whether to verify checksums: not if the checksum is still to be completed, or was verified.
    pub fn checksums(&self) -> Checksums {
        if self.flags & (NEEDS_CHECKSUM | DATA_VALID) != 0 {
            Checksums::Trust
        } else {
            Checksums::Verify
        }
    }

    /// The number of segments in `payload_len` bytes.
    pub fn train(&self, payload_len: usize) -> u16 {
        if !matches!(self.gso_type & !ECN, TCP_IPV4 | TCP_IPV6) || self.segment_len == 0 {
            return 1;
        }
        u16::try_from(payload_len.div_ceil(usize::from(self.segment_len))).unwrap_or(u16::MAX).max(1)
    }
}

/// Reads a frame: virtio-net header and packet.
///
/// # Errors
/// Those of [`packet::parse`].
pub fn parse(frame: &[u8]) -> Result<Packet<'_>, Refused> {
    let (header, bytes) = VnetHeader::split(frame)?;
    let packet = packet::parse(bytes, header.checksums())?;
    Ok(Packet { train: header.train(packet.payload.len()), ..packet })
}
