//! Finds the next of many timers.
//!
//! Idea: a tournament (Knuth, The Art of Computer Programming 3, §5.4.1). Each leaf is a timer, each node above holds the
//! earlier of its two, so the root is the next one. Setting a timer changes at most the nodes above it, and usually none.

use ackclock_tcp::time::Time;

const NEVER: Time = Time(u64::MAX);

/// A timer for each index.
#[derive(Debug)]
pub(super) struct Timers {
    /// The root is at 1, the children of `i` are at `2i` and `2i + 1`; the second half are the leaves.
    tree: Vec<Time>,
}

impl Timers {
    pub(super) fn new() -> Self {
        Timers { tree: vec![NEVER; 2] }
    }

    /// The earliest, with its index.
    pub(super) fn first(&self) -> Option<(Time, usize)> {
        let first = self.next()?;
        let mut i = 1;
        while i < self.leaves() {
            i = 2 * i + usize::from(self.tree[2 * i] != first);
        }
        Some((first, i - self.leaves()))
    }

    /// The time of the earliest.
    pub(super) fn next(&self) -> Option<Time> {
        Some(self.tree[1]).filter(|t| *t != NEVER)
    }

    /// Sets the timer of `index` to `at`.
    pub(super) fn set(&mut self, index: usize, at: Option<Time>) {
        let at = at.unwrap_or(NEVER);
        if index >= self.leaves() {
            if at == NEVER {
                return;
            }
            self.grow(index);
        }
        let mut i = self.leaves() + index;
        let mut least = at;
        while self.tree[i] != least {
            self.tree[i] = least;
            if i == 1 {
                break;
            }
            least = least.min(self.tree[i ^ 1]);
            i /= 2;
        }
    }

    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let old = self.tree.split_off(self.leaves());
        let leaves = (index + 1).next_power_of_two();
        self.tree.clear();
        self.tree.resize(2 * leaves, NEVER);
        self.tree[leaves..leaves + old.len()].copy_from_slice(&old);
        for i in (1..leaves).rev() {
            self.tree[i] = self.tree[2 * i].min(self.tree[2 * i + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_timer_is_the_earliest_of_those_that_are_set(
            steps in prop::collection::vec((0usize..40, prop::option::weighted(0.7, 0u64..50)), 1..200),
        ) {
            let (mut timers, mut model) = (Timers::new(), [None; 40]);
            for (index, at) in steps {
                timers.set(index, at.map(Time));
                model[index] = at;
                let least = model.iter().flatten().min().copied();
                prop_assert_eq!(timers.next(), least.map(Time));
                match timers.first() {
                    Some((at, whose)) => prop_assert_eq!(model[whose], Some(at.0)),
                    None => prop_assert_eq!(least, None),
                }
            }
        }
    }
}
