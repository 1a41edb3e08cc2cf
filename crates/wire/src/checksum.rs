//! The Internet checksum: the complement of a ones' complement sum of 16-bit words.
//!
//! Source: RFC 1071 (§2 (A), (B): order and byte order do not matter); RFC 9293 §3.1 and RFC 8200 §8.1 (pseudo-header).
//! Idea: words of 32 bits are added into lanes of 64, which cannot overflow and which the compiler vectorizes; only the
//! result is folded.

use std::net::IpAddr;

/// TCP's number among the protocols of IP.
pub const TCP: u8 = 6;

/// A sum to which pieces are added one after another. Pieces may have any length: a piece after an odd number of bytes counts
/// with its bytes swapped, so that the sum is the same as in one piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// The folded sums of the pieces.
    acc: u64,
    odd: bool,
}

impl Sum {
    /// Adds the next piece.
    pub fn add(&mut self, piece: &[u8]) {
        let sum = sum_of(piece);
        self.acc += u64::from(if self.odd { sum.swap_bytes() } else { sum });
        self.odd ^= piece.len() % 2 == 1;
    }

    /// Adds the pseudo-header of `len` bytes of `protocol` (TCP: header and payload). Adds nothing for addresses of two families,
    /// which no packet has.
    pub fn add_pseudo_header(&mut self, protocol: u8, src: IpAddr, dst: IpAddr, len: u32) {
        let mut header = [0; 40];
        let end = match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                header[..4].copy_from_slice(&src.octets());
                header[4..8].copy_from_slice(&dst.octets());
                8
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                header[..16].copy_from_slice(&src.octets());
                header[16..32].copy_from_slice(&dst.octets());
                32
            }
            _ => return,
        };
        header[end..end + 4].copy_from_slice(&len.to_be_bytes());
        header[end + 5] = protocol;
        self.add(&header);
    }

    /// The sum in the byte order of a header: the value that a device expects when it completes checksums.
    pub fn bytes(self) -> [u8; 2] {
        fold(self.acc).to_ne_bytes()
    }

    /// Its complement, in the byte order of a header.
    pub fn checksum(self) -> [u8; 2] {
        (!fold(self.acc)).to_ne_bytes()
    }

    /// Whether the data added, including its checksum, has a correct sum.
    pub fn is_right(self) -> bool {
        fold(self.acc) == 0xffff
    }
}

/// Bytes that are added in one step.
const STEP: usize = 32;

/// The ones' complement sum of `bytes` as words in this machine's order, the last one padded with zero.
fn sum_of(bytes: &[u8]) -> u16 {
    let mut lanes = [0u64; STEP / 4];
    let mut steps = bytes.chunks_exact(STEP);
    for step in &mut steps {
        add_step(&mut lanes, step);
    }
    let rest = steps.remainder();
    if !rest.is_empty() {
        let mut last = [0; STEP];
        last[..rest.len()].copy_from_slice(rest);
        add_step(&mut lanes, &last);
    }
    fold(lanes.iter().sum())
}

fn add_step(lanes: &mut [u64; STEP / 4], step: &[u8]) {
    for (lane, word) in lanes.iter_mut().zip(step.chunks_exact(4)) {
        *lane += u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    }
}

fn fold(sum: u64) -> u16 {
    let mut sum = sum;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Word by word, as in RFC 1071 §1.
    fn plain(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for word in bytes.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    proptest! {
        #[test]
        fn pieces_of_any_length_give_the_sum_of_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..700),
            cuts in prop::collection::vec(0usize..700, 0..6),
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let (mut sum, mut from) = (Sum::default(), 0);
            for cut in cuts {
                sum.add(&bytes[from..cut]);
                from = cut;
            }
            prop_assert_eq!(u16::from_be_bytes(sum.bytes()), plain(&bytes));
        }
    }

    #[test]
    fn the_example_of_rfc_1071_sums_to_ddf2() {
        let mut sum = Sum::default();
        sum.add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.bytes(), [0xdd, 0xf2]);
        assert_eq!(sum.checksum(), [0x22, 0x0d]);
    }

    #[test]
    fn a_megabyte_of_the_largest_words_does_not_overflow() {
        let mut sum = Sum::default();
        (0..64).for_each(|_| sum.add(&[0xff; 1 << 14]));
        assert!(sum.is_right());
    }
}
