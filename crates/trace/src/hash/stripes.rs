//! XXH3-128 over 64-bit words that come a few at a time.
//!
//! Source: xxHash 0.8 (Collet), *XXH3* in its specification; seed 0, the default secret.
//!
//! Idea: an input of more than 240 bytes is a sequence of stripes of eight words, which are added to eight accumulators, whatever the
//! length of the input will be. So words wait until some stripes are complete, and the accumulators are in registers while these are
//! added. Input that is shorter never becomes a stripe.
//!
//! | source | here |
//! | --- | --- |
//! | `XXH3_accumulate` | [`accumulate`] |
//! | `XXH3_scrambleAcc` | [`scramble`] |
//! | `XXH3_mergeAccs`, `XXH3_avalanche` | [`merge`] |
//!
//! Departures: `xxhash-rust`, which hashes short input here, would copy all words into a buffer of its own.

use super::wide::{accumulate, LANES};
use xxhash_rust::const_xxh3::const_custom_default_secret;
use xxhash_rust::xxh3::xxh3_128;

/// Stripes between two scrambles.
const BLOCK: usize = 16;
/// Stripes that are added together: the more, the fewer calls, and the fewer flows in the cache. Parts make up a block.
const PART: usize = 8;
const PARTS: usize = BLOCK / PART;
/// Words of a part.
const WORDS: usize = PART * LANES;
/// Inputs with more bytes are stripes.
const SHORT: u64 = 240;

const PRIME32: [u64; 3] = [0x9E37_79B1, 0x85EB_CA77, 0xC2B2_AE3D];
const PRIME64: [u64; 5] =
    [0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63, 0x27D4_EB2F_1656_67C5];
/// The accumulators before the first stripe.
const FIRST: [u64; LANES] =
    [PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4], PRIME32[0]];

/// The words of the default secret for each stripe of a block, by part.
static SECRETS: Secrets = Secrets::new();
const SCRAMBLE: [u64; LANES] = secret(128);
/// The same for the last stripe of an input, and for the two halves of the result.
const LAST: [u64; LANES] = secret(121);
const LOW: [u64; LANES] = secret(11);
const HIGH: [u64; LANES] = secret(117);

/// Aligned, so that it need not be loaded before it is used.
#[repr(align(64))]
struct Secrets([[[u64; LANES]; PART]; PARTS]);

impl Secrets {
    const fn new() -> Self {
        let (mut all, mut i) = ([[[0; LANES]; PART]; PARTS], 0);
        while i < BLOCK {
            all[i / PART][i % PART] = secret(8 * i);
            i += 1;
        }
        Secrets(all)
    }
}

/// Eight words of the default secret, from byte `from` on.
const fn secret(from: usize) -> [u64; LANES] {
    let bytes = const_custom_default_secret(0);
    let (mut words, mut i) = ([0; LANES], 0);
    while i < 8 * LANES {
        words[i / 8] |= (bytes[from + i] as u64) << (8 * (i % 8));
        i += 1;
    }
    words
}

/// The words so far.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Stripes {
    /// A part, and what came with its last word. Behind the newest word are those of the part before.
    words: [u64; WORDS + LANES],
    acc: [u64; LANES],
    /// The place of the next word.
    next: usize,
    /// Parts that are in `acc`.
    done: u64,
}

impl Stripes {
    pub(super) fn new() -> Self {
        Stripes { words: [0; WORDS + LANES], acc: FIRST, next: 0, done: 0 }
    }

    /// Adds at most eight words.
    #[inline(always)]
    pub(super) fn put<const N: usize>(&mut self, words: [u64; N]) {
        let next = if self.next > WORDS { self.add_part() } else { self.next };
        let Some(room) = self.words[next..].first_chunk_mut::<N>() else { return };
        // Word by word: a copy of all would have to wait until the words are in the cache.
        for (place, word) in room.iter_mut().zip(words) {
            *place = word;
        }
        self.next = next + N;
    }

    /// Adds a complete part, which is not the end of the input: there are one to eight words more. Returns the place of the next word.
    #[cold]
    #[inline(never)]
    fn add_part(&mut self) -> usize {
        let (stripes, _) = self.words.as_chunks();
        let nth = self.done as usize % PARTS;
        accumulate(&mut self.acc, &stripes[..PART], &SECRETS.0[nth]);
        if nth + 1 == PARTS {
            scramble(&mut self.acc);
        }
        self.done += 1;
        self.words.copy_within(WORDS.., 0);
        self.next = (self.next - WORDS).min(LANES);
        self.next
    }

    /// The hash of all words.
    pub(super) fn digest(&self) -> u128 {
        let mut all = self.clone();
        if all.next > WORDS {
            all.add_part();
        }
        let Stripes { words, mut acc, next, done } = all;
        let bytes = 8 * (done * WORDS as u64 + next as u64);
        if bytes <= SHORT {
            let bytes: Vec<u8> = words[..next].iter().flat_map(|word| word.to_le_bytes()).collect();
            return xxh3_128(&bytes);
        }
        let (stripes, _) = words.as_chunks();
        let complete = next.saturating_sub(1) / LANES;
        accumulate(&mut acc, &stripes[..complete], &SECRETS.0[done as usize % PARTS]);
        // The last stripe ends with the last word; it may begin before this part.
        let last = std::array::from_fn(|i| words[(WORDS + next + i - LANES) % WORDS]);
        accumulate(&mut acc, &[last], &[LAST]);
        let low = merge(&acc, &LOW, bytes.wrapping_mul(PRIME64[0]));
        let high = merge(&acc, &HIGH, !bytes.wrapping_mul(PRIME64[1]));
        u128::from(low) | u128::from(high) << 64
    }
}

fn scramble(acc: &mut [u64; LANES]) {
    for (sum, key) in acc.iter_mut().zip(SCRAMBLE) {
        *sum = (*sum ^ *sum >> 47 ^ key).wrapping_mul(PRIME32[0]);
    }
}

fn merge(acc: &[u64; LANES], secret: &[u64; LANES], first: u64) -> u64 {
    let mut sum = first;
    for i in (0..LANES).step_by(2) {
        let product = u128::from(acc[i] ^ secret[i]) * u128::from(acc[i + 1] ^ secret[i + 1]);
        sum = sum.wrapping_add(product as u64 ^ (product >> 64) as u64);
    }
    sum = (sum ^ sum >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_have_the_hash_of_their_bytes_however_many_there_are_and_however_they_come(
            records in prop::collection::vec((any::<[u64; 8]>(), 0usize..4), 0..150),
        ) {
            let (mut stripes, mut bytes) = (Stripes::new(), Vec::new());
            for (words, few) in records {
                let n = [1, 4, 5, 8][few];
                match words {
                    [a, ..] if n == 1 => stripes.put([a]),
                    [a, b, c, d, ..] if n == 4 => stripes.put([a, b, c, d]),
                    [a, b, c, d, e, ..] if n == 5 => stripes.put([a, b, c, d, e]),
                    _ => stripes.put(words),
                }
                bytes.extend(words[..n].iter().flat_map(|word| word.to_le_bytes()));
                prop_assert_eq!(stripes.digest(), xxh3_128(&bytes));
            }
        }
    }
}
