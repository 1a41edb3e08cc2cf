//! Places with names that are never reused.

use std::fmt;

/// The name of a connection of one [`Host`](super::Host). It never refers to another connection, even after that
/// connection is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    index: u32,
    generation: u32,
}

/// Named values, each in its place.
pub(super) struct Slots<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl Id {
    /// The place: small numbers, which are reused.
    pub(super) fn index(self) -> usize {
        self.index as usize
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

impl<T> Slots<T> {
    pub(super) fn new() -> Self {
        Slots { places: Vec::new(), free: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, what: T) -> Id {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            (self.places.len() - 1) as u32
        });
        let (generation, place) = &mut self.places[index as usize];
        *place = Some(what);
        Id { index, generation: *generation }
    }

    pub(super) fn remove(&mut self, id: Id) -> Option<T> {
        let (generation, place) = self.places.get_mut(id.index())?;
        let what = place.take_if(|_| *generation == id.generation)?;
        *generation = generation.wrapping_add(1);
        self.free.push(id.index);
        Some(what)
    }

    pub(super) fn get(&self, id: Id) -> Option<&T> {
        let (generation, place) = self.places.get(id.index())?;
        place.as_ref().filter(|_| *generation == id.generation)
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        let (generation, place) = self.places.get_mut(id.index())?;
        place.as_mut().filter(|_| *generation == id.generation)
    }

    /// The name of the current value at `index`.
    pub(super) fn at(&self, index: usize) -> Option<Id> {
        let (generation, place) = self.places.get(index)?;
        place.as_ref().map(|_| Id { index: index as u32, generation: *generation })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        (0..self.places.len()).filter_map(|index| self.at(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_used_again_has_another_name() {
        let mut slots = Slots::new();
        let (a, b) = (slots.insert('a'), slots.insert('b'));
        assert_eq!((slots.remove(a), slots.remove(a), slots.len()), (Some('a'), None, 1));
        let c = slots.insert('c');
        assert_eq!((c.index(), c == a), (a.index(), false));
        assert_eq!((slots.get(a), slots.get(b), slots.get(c)), (None, Some(&'b'), Some(&'c')));
        assert_eq!(slots.get_mut(a), None);
        assert_eq!(slots.ids().collect::<Vec<_>>(), [c, b]);
        assert_eq!(slots.remove(a), None, "a stale name removes nothing");
    }
}
