//! Sequences of numbers with a few bits each, and numbers in as many bytes as they need.

use crate::sink::CHUNK;

/// Numbers that are packed together.
pub(super) const PART: usize = 32;

/// Writes what each number has beyond `least`, in this number of bytes, the lowest first.
pub(super) fn pack(numbers: &[i64], least: i64, bytes: u8, out: &mut Vec<u8>) {
    match bytes {
        0 => {}
        1 => pack_in::<1>(numbers, least, out),
        2 => pack_in::<2>(numbers, least, out),
        3 => pack_in::<3>(numbers, least, out),
        4 => pack_in::<4>(numbers, least, out),
        5 => pack_in::<5>(numbers, least, out),
        6 => pack_in::<6>(numbers, least, out),
        7 => pack_in::<7>(numbers, least, out),
        _ => pack_in::<8>(numbers, least, out),
    }
}

fn pack_in<const BYTES: usize>(numbers: &[i64], least: i64, out: &mut Vec<u8>) {
    for part in numbers.chunks(PART) {
        let mut room = [[0; BYTES]; PART];
        for (place, v) in room.iter_mut().zip(part) {
            place.copy_from_slice(&v.wrapping_sub(least).to_le_bytes()[..BYTES]);
        }
        out.extend_from_slice(room[..part.len()].as_flattened());
    }
}

/// Gives a column room for a byte of each record, once. Memory that is not used is not touched, so that costs nothing; to grow
/// would touch new memory again and again.
pub(super) fn make_room(bytes: &mut Vec<u8>) {
    if bytes.capacity() == 0 {
        bytes.reserve_exact(CHUNK);
    }
}

/// The bytes that `v` needs.
pub(super) fn bytes_of(v: u64) -> u8 {
    width(v).div_ceil(8) as u8
}

/// Concatenates numbers, each in its `width` low bits, one to eight, the first lowest (Parquet, Encodings, RLE). Groups of eight
/// are written whole.
pub(super) fn pack_bytes(bytes: &[u8], width: u32, out: &mut Vec<u8>) {
    match width {
        1 => pack_bits::<1>(bytes, out),
        2 => pack_bits::<2>(bytes, out),
        3 => pack_bits::<3>(bytes, out),
        4 => pack_bits::<4>(bytes, out),
        5 => pack_bits::<5>(bytes, out),
        6 => pack_bits::<6>(bytes, out),
        7 => pack_bits::<7>(bytes, out),
        _ => pack_bits::<8>(bytes, out),
    }
}

fn pack_bits<const WIDTH: usize>(bytes: &[u8], out: &mut Vec<u8>) {
    let (groups, rest) = bytes.as_chunks::<8>();
    out.extend(groups.iter().flat_map(|group| eight::<WIDTH>(*group)));
    if !rest.is_empty() {
        let mut group = [0; 8];
        group[..rest.len()].copy_from_slice(rest);
        out.extend(eight::<WIDTH>(group));
    }
}

/// Eight numbers of `WIDTH` bits. Two neighbours form one number of twice the width, three times.
#[inline(always)]
fn eight<const WIDTH: usize>(group: [u8; 8]) -> [u8; WIDTH] {
    let (low, high) = (0x00ff_00ff_00ff_00ff, 0x0000_ffff_0000_ffff);
    let mut v = u64::from_le_bytes(group);
    v = v & low | (v & !low) >> (8 - WIDTH);
    v = v & high | (v & !high) >> (2 * (8 - WIDTH));
    v = v & u64::from(u32::MAX) | v >> 32 << (4 * WIDTH);
    let packed = v.to_le_bytes();
    std::array::from_fn(|i| packed[i])
}

/// Exchanges number `c` of word `r` with number `r` of word `c`, in squares of as many words as there are; each number has `width`
/// bits. `mask` has the lower half of each square's numbers. Halves of halves are exchanged, as in Warren, Hacker's Delight, §7-3.
#[inline(always)]
pub(super) fn exchange(words: &mut [u64], width: usize, mut mask: u64) {
    let mut half = words.len() / 2;
    while half > 0 {
        for pair in words.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let swapped = ((*a >> (half * width)) ^ *b) & mask;
                *a ^= swapped << (half * width);
                *b ^= swapped;
            }
        }
        half /= 2;
        mask ^= mask << (half * width);
    }
}

/// ULEB128.
pub(super) fn varint(mut v: u64, out: &mut Vec<u8>) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// ULEB128 of a number that may be negative: 0, −1, 1, −2, …
pub(super) fn zigzag(v: i64, out: &mut Vec<u8>) {
    varint(((v << 1) ^ (v >> 63)) as u64, out);
}

/// The bits that `v` needs.
pub(super) fn width(v: u64) -> u32 {
    u64::BITS - v.leading_zeros()
}

/// A run of `n` times `v`, which has up to eight bits (Parquet, Encodings, RLE).
pub(super) fn repeat(n: usize, v: u8, out: &mut Vec<u8>) {
    varint((n as u64) << 1, out);
    out.push(v);
}

/// The header of at least `n` packed values, in groups of eight.
pub(super) fn literal(n: usize, out: &mut Vec<u8>) {
    varint((n.div_ceil(8) as u64) << 1 | 1, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_in_bytes_can_be_taken_out_again() {
        for bytes in 1..=8 {
            let bits = 8 * u32::from(bytes);
            let least = i64::MIN >> (i64::BITS - bits);
            let noise = |i: i64| (i + 1).wrapping_mul(0x1e37_79b9_7f4a_7c15) >> (i64::BITS - bits);
            let numbers: Vec<i64> = [least, -1, 0, !least].into_iter().chain((0..99).map(noise)).collect();
            let mut out = vec![7];
            pack(&numbers, least, bytes, &mut out);
            let taken = out[1..].chunks_exact(bytes.into()).map(|chunk| {
                let mut eight = [0; 8];
                eight[..chunk.len()].copy_from_slice(chunk);
                i64::from_le_bytes(eight).wrapping_add(least)
            });
            assert_eq!(taken.collect::<Vec<_>>(), numbers, "{bytes}");
            assert_eq!(bytes_of((!least as u64) << 1 | 1), bytes);
        }
        assert_eq!(bytes_of(0), 0);
    }

    #[test]
    fn packed_numbers_of_up_to_eight_bits_can_be_taken_out_again() {
        for width in 1..=8 {
            let numbers: Vec<u8> = (0..61_u8).map(|i| i.wrapping_mul(0x9d) >> (8 - width)).collect();
            let mut out = Vec::new();
            pack_bytes(&numbers, width, &mut out);
            assert_eq!(out.len(), 8 * width as usize);
            let w = width as usize;
            let bit = |i: usize| out[i / 8] >> (i % 8) & 1;
            let taken = |n: usize| (0..w).map(|b| bit(n * w + b) << b).sum::<u8>();
            assert!(numbers.iter().enumerate().all(|(n, v)| taken(n) == *v), "{width}");
        }
    }

    #[test]
    fn groups_of_eight_are_whole() {
        let mut out = vec![9];
        pack_bytes(&[2; 41], 2, &mut out);
        let mut expected = vec![9];
        expected.extend([0b1010_1010; 10]);
        expected.extend([0b10, 0]);
        assert_eq!(out, expected);
    }

    #[test]
    fn numbers_around_zero_take_one_byte() {
        for (v, byte) in [(0, 0), (-1, 1), (1, 2), (-64, 127)] {
            let mut out = Vec::new();
            zigzag(v, &mut out);
            assert_eq!(out, [byte]);
        }
        let mut out = Vec::new();
        varint(300, &mut out);
        assert_eq!(out, [0xac, 0x02]);
    }
}
