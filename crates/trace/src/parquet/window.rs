//! The cells of a column that are not yet encoded.

/// The number of places: as many as the position has values, so that no position is outside.
const PLACES: usize = 1 << u8::BITS;

/// A few cells in a row. The caller empties it before it is full.
#[derive(Debug)]
pub(super) struct Window<T> {
    used: u8,
    cells: [T; PLACES],
}

impl<T: Copy + Default> Default for Window<T> {
    fn default() -> Self {
        Window { used: 0, cells: [T::default(); PLACES] }
    }
}

impl<T> Window<T> {
    /// The largest number of cells.
    pub(super) const MOST: usize = PLACES - 1;

    /// Adds a cell; returns the number of cells.
    #[inline(always)]
    pub(super) fn push(&mut self, cell: T) -> usize {
        self.cells[usize::from(self.used)] = cell;
        self.used += 1;
        usize::from(self.used)
    }

    pub(super) fn filled(&self) -> &[T] {
        &self.cells[..usize::from(self.used)]
    }

    pub(super) fn clear(&mut self) {
        self.used = 0;
    }
}

/// Small numbers of one column of a chunk.
#[derive(Debug, Default)]
pub(super) struct Small {
    window: Window<u8>,
    all: Vec<u8>,
}

impl Small {
    #[inline(always)]
    pub(super) fn push(&mut self, v: u8) {
        if self.window.push(v) == Window::<u8>::MOST {
            self.join();
        }
    }

    #[inline(never)]
    fn join(&mut self) {
        self.all.extend_from_slice(self.window.filled());
        self.window.clear();
    }

    /// All numbers. Nothing may be added afterwards.
    pub(super) fn all(&mut self) -> &mut [u8] {
        self.join();
        &mut self.all
    }

    pub(super) fn clear(&mut self) {
        self.window.clear();
        self.all.clear();
    }
}
