//! Bytes to be sent, made up, and the hash by which the other end's are compared.

use xxhash_rust::xxh3::Xxh3;

/// Bytes in a block: a few fit into a processor's cache.
const BLOCK: usize = 1 << 18;

/// A stream of bytes that no compression shortens, and in which no block stands twice.
pub struct Pattern {
    block: Box<[u8]>,
    /// Of the whole stream.
    len: u64,
    /// The next byte.
    at: u64,
    hash: Xxh3,
}

impl Pattern {
    /// The first `len` bytes of it.
    pub fn new(len: u64) -> Self {
        let mut block = vec![0; BLOCK].into_boxed_slice();
        // Marsaglia's xorshift64, "Xorshift RNGs" (2003), the triple 13, 7, 17.
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        for word in block.chunks_exact_mut(8) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            word.copy_from_slice(&x.to_ne_bytes());
        }
        Pattern { block, len, at: 0, hash: Xxh3::new() }
    }

    /// The next bytes, at most `room` of them; empty at the end.
    pub fn next(&mut self, room: usize) -> &[u8] {
        let within = (self.at % BLOCK as u64) as usize;
        if within == 0 {
            self.block[..8].copy_from_slice(&self.at.to_ne_bytes());
        }
        let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
        &self.block[within..within + room.min(BLOCK - within).min(left)]
    }

    /// The first `bytes` of what [`Pattern::next`] gave were sent.
    pub fn advance(&mut self, bytes: usize) {
        let within = (self.at % BLOCK as u64) as usize;
        self.hash.update(&self.block[within..within + bytes]);
        self.at += bytes as u64;
    }

    /// How many bytes are left.
    pub fn left(&self) -> u64 {
        self.len - self.at
    }

    /// The hash of what was sent: XXH3, 64 bits.
    pub fn hash(&self) -> u64 {
        self.hash.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_the_same_in_whatever_pieces_they_are_taken() {
        let taken = |piece: usize| {
            let mut pattern = Pattern::new(600_000);
            let mut all = Vec::new();
            while pattern.left() > 0 {
                let n = pattern.next(piece).len();
                all.extend_from_slice(pattern.next(piece));
                pattern.advance(n);
            }
            assert!(pattern.next(piece).is_empty());
            (all, pattern.hash())
        };
        let whole = taken(usize::MAX);
        assert_eq!(whole.0.len(), 600_000);
        assert_eq!(whole.1, xxhash_rust::xxh3::xxh3_64(&whole.0));
        assert_eq!(taken(1447), whole);
        assert_ne!(whole.0[..BLOCK], whole.0[BLOCK..2 * BLOCK]);
    }
}
