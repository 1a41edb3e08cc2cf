//! Sequences of numbers with a few bits each, and numbers in as many bytes as they need.

/// Numbers packed in one call.
pub(super) const PART: usize = 32;

/// After up to seven pending bits, a number of at most this width still fits in a word.
const NARROW: u32 = u64::BITS - 8;

/// Concatenates numbers, each in its `width` low bits, the first lowest (Parquet, Encodings, RLE).
pub(super) fn pack(mut values: [u64; PART], mut width: u32, out: &mut Vec<u8>) {
    let mut n = PART;
    // Two neighbours form one number of twice the width.
    while n > 1 && 2 * width <= NARROW {
        n /= 2;
        for i in 0..n {
            values[i] = values[2 * i] | values[2 * i + 1] << width;
        }
        width *= 2;
    }
    if width > NARROW {
        return pack_wide(&values, width, out);
    }
    let mut bytes = [0; PART * 8];
    let (mut waiting, mut bits, mut at) = (0, 0, 0);
    for v in &values[..n] {
        waiting |= v << bits;
        bits += width;
        if let Some(room) = bytes.get_mut(at..at + 8) {
            room.copy_from_slice(&waiting.to_le_bytes());
        }
        at += bits as usize / 8;
        waiting >>= bits & !7;
        bits &= 7;
    }
    out.extend_from_slice(&bytes[..at]);
}

fn pack_wide(values: &[u64; PART], width: u32, out: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0, 0);
    for v in values {
        waiting |= u128::from(*v) << bits;
        bits += width;
        while bits >= 8 {
            out.push(waiting as u8);
            waiting >>= 8;
            bits -= 8;
        }
    }
}

/// [`pack`] for the value of each of `bytes`. Groups of eight are written whole.
pub(super) fn pack_all(bytes: &[u8], of: impl Fn(u8) -> u64, width: u32, out: &mut Vec<u8>) {
    let whole = out.len() + bytes.len().div_ceil(8) * width as usize;
    for bytes in bytes.chunks(PART) {
        let mut part = [0; PART];
        part.iter_mut().zip(bytes).for_each(|(v, b)| *v = of(*b));
        pack(part, width, out);
    }
    out.truncate(whole);
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
    fn packed_numbers_of_every_width_can_be_taken_out_again() {
        for width in 0..=64 {
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let values: [u64; PART] =
                std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask);
            let mut out = Vec::new();
            pack(values, width, &mut out);
            assert_eq!(out.len(), PART * width as usize / 8);
            let w = width as usize;
            let bit = |i: usize| u64::from(out[i / 8] >> (i % 8) & 1);
            let taken: [u64; PART] = std::array::from_fn(|n| (0..w).map(|b| bit(n * w + b) << b).sum());
            assert_eq!(taken, values, "{width}");
        }
    }

    #[test]
    fn groups_of_eight_are_whole() {
        let mut out = vec![9];
        pack_all(&[1; 41], |b| u64::from(b) + 1, 2, &mut out);
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
