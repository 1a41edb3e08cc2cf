//! XXH3-128 over 64-bit words that come a few at a time.

use xxhash_rust::xxh3::Xxh3Default;

/// Bytes of the words that wait: the library takes many at once faster than a few.
const WAITING: usize = 512;

/// The words so far.
#[derive(Clone)]
pub(super) struct Words {
    hash: Xxh3Default,
    waiting: [u8; WAITING],
    /// Bytes of `waiting` in use.
    len: usize,
}

impl Words {
    pub(super) fn new() -> Self {
        Words { hash: Xxh3Default::new(), waiting: [0; WAITING], len: 0 }
    }

    /// Adds a few words.
    pub(super) fn put<const N: usize>(&mut self, words: [u64; N]) {
        if self.len + 8 * N > WAITING {
            self.flush();
        }
        let places = self.waiting[self.len..].chunks_exact_mut(8);
        places.zip(words).for_each(|(place, word)| place.copy_from_slice(&word.to_le_bytes()));
        self.len += 8 * N;
    }

    #[cold]
    fn flush(&mut self) {
        self.hash.update(&self.waiting[..self.len]);
        self.len = 0;
    }

    /// The hash of all words.
    pub(super) fn digest(&self) -> u128 {
        let mut all = self.hash.clone();
        all.update(&self.waiting[..self.len]);
        all.digest128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_128;

    proptest! {
        #[test]
        fn words_have_the_hash_of_their_bytes_however_many_there_are(
            records in prop::collection::vec((any::<[u64; 5]>(), prop::sample::select(vec![1, 4, 5])), 0..150),
        ) {
            let (mut words, mut bytes) = (Words::new(), Vec::new());
            for (five, n) in records {
                let [a, b, c, d, _] = five;
                match n {
                    1 => words.put([a]),
                    4 => words.put([a, b, c, d]),
                    _ => words.put(five),
                }
                bytes.extend(five[..n].iter().flat_map(|word| word.to_le_bytes()));
                prop_assert_eq!(words.digest(), xxh3_128(&bytes));
            }
        }
    }
}
