//! Numbers of a few bits each, one after the other, and of as many bytes as they need.

/// Puts `values` behind one another, each in its `width` low bits, the first lowest (Parquet, Encodings, RLE). Whole bytes follow.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut waiting, mut bits) = (0u64, 0);
    for v in values {
        waiting |= v << bits;
        bits += width;
        if bits >= u64::BITS {
            out.extend_from_slice(&waiting.to_le_bytes());
            bits -= u64::BITS;
            // What of `v` did not fit; a shift by all 64 bits is none of it.
            waiting = v.checked_shr(width - bits).unwrap_or(0);
        }
    }
    let rest = bits.div_ceil(8) as usize;
    out.extend_from_slice(&waiting.to_le_bytes()[..rest]);
}

/// Numbers that are packed at once.
pub(super) const PART: usize = 32;

/// [`pack`] for a whole part. Up to seven bits wait for company, so up to 57 can be added without a look at how many there are.
pub(super) fn pack_part(values: &[u64; PART], width: u32, out: &mut Vec<u8>) {
    if width > u64::BITS - 7 {
        return pack(values.iter().copied(), width, out);
    }
    let mut bytes = [0; PART * 8];
    let (mut waiting, mut bits, mut at) = (0, 0, 0);
    for v in values {
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

/// What stands before at least `n` packed values, in groups of eight.
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
            let values: Vec<u64> = (1..=96u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut out = Vec::new();
            pack(values.iter().copied(), width, &mut out);
            assert_eq!(out.len(), 96 * width as usize / 8);
            let bit = |i: usize| u64::from(out[i / 8] >> (i % 8) & 1);
            let w = width as usize;
            let taken: Vec<u64> = (0..96).map(|n| (0..w).map(|b| bit(n * w + b) << b).sum()).collect();
            assert_eq!(taken, values, "{width}");
            let mut parts = Vec::new();
            values.as_chunks().0.iter().for_each(|part| pack_part(part, width, &mut parts));
            assert_eq!(parts, out, "{width}");
        }
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
