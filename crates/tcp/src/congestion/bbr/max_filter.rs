//! A windowed maximum that stores only three measurements.
//!
//! Source: Linux 6.18, `minmax_running_max`, `minmax_subwin_update` in `lib/win_minmax.c`, in our words; Kathleen Nichols' algorithm.
//!
//! Idea: keep the best, the best since then, and the best since that one. A measurement that beats one of them also replaces the
//! later ones. When the best grows too old, the next takes its place. So that there is a next, the second slot is filled from the
//! second quarter of the window, and the third from its second half.

/// A measurement, and when it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sample {
    at: u32,
    value: u32,
}

/// The largest value within a time window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter([Sample; 3]);

impl MaxFilter {
    /// The largest value.
    pub(super) fn get(&self) -> u32 {
        self.0[0].value
    }

    /// Adds a measurement made at `at`; the window is `window` long.
    pub(super) fn take(&mut self, window: u32, at: u32, value: u32) {
        let (new, s) = (Sample { at, value }, &mut self.0);
        if value >= s[0].value || at.wrapping_sub(s[2].at) > window {
            *s = [new; 3];
            return;
        }
        if value >= s[1].value {
            (s[1], s[2]) = (new, new);
        } else if value >= s[2].value {
            s[2] = new;
        }
        self.age(window, new);
    }

    fn age(&mut self, window: u32, new: Sample) {
        let s = &mut self.0;
        let age = new.at.wrapping_sub(s[0].at);
        if age > window {
            *s = [s[1], s[2], new];
            if new.at.wrapping_sub(s[0].at) > window {
                *s = [s[1], s[2], new];
            }
        } else if s[1].at == s[0].at && age > window / 4 {
            (s[1], s[2]) = (new, new);
        } else if s[2].at == s[1].at && age > window / 2 {
            s[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_last_ten_counts_and_then_the_largest_after_it() {
        let mut f = MaxFilter::default();
        let mut got = vec![];
        for (at, value) in [(0, 100), (1, 50), (3, 60), (6, 40), (10, 30), (11, 20), (13, 10), (14, 10), (17, 5)] {
            f.take(10, at, value);
            got.push(f.get());
        }
        // 60 of round 3 was kept as the second and 40 of round 6 as the third; then, from each round in which one grew too old,
        // that round's value.
        assert_eq!(got, [100, 100, 100, 100, 100, 60, 60, 40, 20]);
    }

    #[test]
    fn an_equal_value_is_a_new_largest() {
        let mut f = MaxFilter::default();
        [(0, 7), (9, 7), (15, 1)].into_iter().for_each(|(at, value)| f.take(10, at, value));
        assert_eq!(f.get(), 7);
    }

    #[test]
    fn after_a_window_without_measurements_the_next_one_counts_alone() {
        let mut f = MaxFilter::default();
        [(0, 7), (5, 6), (100, 1)].into_iter().for_each(|(at, value)| f.take(10, at, value));
        assert_eq!(f.get(), 1);
    }
}
