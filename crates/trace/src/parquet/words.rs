//! Words of one column of a chunk, as positions in a dictionary of the words that occur.

use super::bits::make_room;

/// The number of places that wait: as many as the position has values, so that no position is outside.
const PLACES: usize = 1 << u8::BITS;

/// The position of a word that has not occurred; 256 different words do not exist.
const NEW: u8 = u8::MAX;

/// Words, each given by a byte.
#[derive(Debug)]
pub(super) struct Words {
    /// The latest words, which wait.
    window: [u8; PLACES],
    waiting: u8,
    /// The words that have occurred, and the position of each.
    known: Vec<u8>,
    position: [u8; 1 << u8::BITS],
    positions: Vec<u8>,
}

impl Default for Words {
    fn default() -> Self {
        let (window, position) = ([0; PLACES], [NEW; 1 << u8::BITS]);
        Words { window, waiting: 0, known: Vec::new(), position, positions: Vec::new() }
    }
}

impl Words {
    #[inline(always)]
    pub(super) fn push(&mut self, word: u8) {
        self.window[usize::from(self.waiting)] = word;
        self.waiting += 1;
        if self.waiting == u8::MAX {
            self.join();
        }
    }

    /// Finds the words that wait.
    #[inline(never)]
    fn join(&mut self) {
        let waiting = &self.window[..usize::from(self.waiting)];
        let before = self.positions.len();
        make_room(&mut self.positions);
        self.positions.extend(waiting.iter().map(|word| self.position[usize::from(*word)]));
        if self.positions[before..].contains(&NEW) {
            for (position, word) in self.positions[before..].iter_mut().zip(waiting) {
                let known = &mut self.position[usize::from(*word)];
                if *known == NEW {
                    *known = self.known.len() as u8;
                    self.known.push(*word);
                }
                *position = *known;
            }
        }
        self.waiting = 0;
    }

    /// The dictionary and the positions in it. Nothing may be added afterwards.
    pub(super) fn encoded(&mut self) -> (&[u8], &[u8]) {
        self.join();
        (&self.known, &self.positions)
    }

    pub(super) fn clear(&mut self) {
        self.waiting = 0;
        self.known.drain(..).for_each(|word| self.position[usize::from(word)] = NEW);
        self.positions.clear();
    }
}
