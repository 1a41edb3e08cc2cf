//! A long list that grows without being moved.

use std::ops::{Index, IndexMut};

/// The length of the first piece.
const FIRST: usize = 32;

/// A list in pieces, each twice as long as the one before it. A full piece stays where it is; a `Vec` copies all its items each
/// time it grows.
#[derive(Clone, Debug)]
pub struct Pieces<T> {
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces { full: Vec::new(), last: Vec::new() }
    }
}

impl<T> Pieces<T> {
    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.last.len() == FIRST << self.full.len() {
            self.turn();
        }
        self.last.push(item);
    }

    /// Begins the next piece.
    #[cold]
    fn turn(&mut self) {
        let next = Vec::with_capacity(2 * self.last.len());
        self.full.push(std::mem::replace(&mut self.last, next));
    }

    /// The number of items.
    #[inline]
    pub fn len(&self) -> usize {
        (FIRST << self.full.len()) - FIRST + self.last.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// The item with this number.
    #[inline]
    pub fn get(&self, nth: usize) -> Option<&T> {
        let (piece, at) = place(nth);
        if piece == self.full.len() {
            return self.last.get(at);
        }
        self.full.get(piece).and_then(|items| items.get(at))
    }

    /// See [`Pieces::get`].
    #[inline]
    pub fn get_mut(&mut self, nth: usize) -> Option<&mut T> {
        let (piece, at) = place(nth);
        if piece == self.full.len() {
            return self.last.get_mut(at);
        }
        self.full.get_mut(piece).and_then(|items| items.get_mut(at))
    }

    /// The first item.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last item.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        self.last.last()
    }

    /// The items in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.full.iter().flatten().chain(&self.last)
    }

    /// Sets an item. Items missing before it become `usual`.
    #[inline]
    pub fn set(&mut self, nth: usize, item: T, usual: T)
    where
        T: Copy,
    {
        if nth < self.len() {
            self[nth] = item;
        } else {
            // Usually it is the next one.
            self.fill(nth, usual);
            self.push(item);
        }
    }

    /// Sets an item if it is there.
    #[inline]
    pub fn reset(&mut self, nth: usize, item: T) {
        if let Some(place) = self.get_mut(nth) {
            *place = item;
        }
    }

    /// Appends `usual` until the list is as long as `len`.
    #[inline]
    pub fn fill(&mut self, len: usize, usual: T)
    where
        T: Copy,
    {
        if self.len() < len {
            self.lengthen(len, usual);
        }
    }

    #[cold]
    fn lengthen(&mut self, len: usize, usual: T)
    where
        T: Copy,
    {
        while self.len() < len {
            if self.last.len() == FIRST << self.full.len() {
                self.turn();
            }
            let room = (FIRST << self.full.len()) - self.last.len();
            let more = room.min(len - self.len());
            self.last.resize(self.last.len() + more, usual);
        }
    }

    /// The pieces, in order.
    pub fn into_pieces(mut self) -> Vec<Vec<T>> {
        self.full.push(self.last);
        self.full
    }
}

/// The piece of an item, and its position there.
#[inline]
fn place(nth: usize) -> (usize, usize) {
    let piece = (nth + FIRST).ilog2() - FIRST.ilog2();
    (piece as usize, nth + FIRST - (FIRST << piece))
}

impl Pieces<f64> {
    /// The number of ascending times not after `time`; with `before`, the number before it.
    pub fn count_until(&self, time: f64, before: bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = (low + high) / 2;
            let at = self[middle];
            if if before { at < time } else { at <= time } {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl<T> Index<usize> for Pieces<T> {
    type Output = T;

    #[inline]
    fn index(&self, nth: usize) -> &T {
        let (piece, at) = place(nth);
        &self.full.get(piece).unwrap_or(&self.last)[at]
    }
}

impl<T> IndexMut<usize> for Pieces<T> {
    #[inline]
    fn index_mut(&mut self, nth: usize) -> &mut T {
        let (piece, at) = place(nth);
        &mut self.full.get_mut(piece).unwrap_or(&mut self.last)[at]
    }
}

impl<T> FromIterator<T> for Pieces<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut pieces = Pieces::default();
        items.into_iter().for_each(|item| pieces.push(item));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_found_by_its_number_however_long_the_list_is() {
        let mut list = Pieces::default();
        assert_eq!((list.len(), list.is_empty(), list.first(), list.get(0)), (0, true, None, None));
        for n in 0..1000_usize {
            list.push(n);
            assert_eq!((list.len(), list.last(), list.get(n + 1)), (n + 1, Some(&n), None));
            assert_eq!(list.get(n + 1000), None);
        }
        assert!(list.iter().enumerate().all(|(n, item)| n == *item && list[n] == n && list.get(n) == Some(&n)));
        list[31] = 7;
        list[999] = 8;
        if let Some(item) = list.get_mut(32) {
            *item = 9;
        }
        assert_eq!((list[31], list[32], list[999], list.last()), (7, 9, 8, Some(&8)));
        list.reset(1000, 1);
        list.set(3000, 5, 4);
        list.set(2999, 6, 4);
        list.fill(3001, 0);
        assert_eq!((list.len(), list[999], list[1000], list[2998], list[2999], list[3000]), (3001, 8, 4, 4, 6, 5));
        list.fill(3100, 0);
        assert_eq!((list.len(), list.last()), (3100, Some(&0)));
        let joined: Vec<usize> = list.iter().copied().collect();
        assert_eq!(list.into_pieces().concat(), joined);
    }
}
