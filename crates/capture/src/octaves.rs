//! Classes for durations: the same number of them to each power of two.

/// Below 2^LOW nanoseconds (1 µs) all is one class.
pub(crate) const LOW: u32 = 10;
/// From 2^HIGH nanoseconds (137 s) on all is one class.
pub(crate) const HIGH: u32 = 37;

/// How many classes there are, with 2^`fine` to each power of two.
pub(crate) const fn classes(fine: u32) -> usize {
    ((HIGH - LOW) << fine) as usize + 2
}

/// The class of a duration in nanoseconds that is not negative.
#[inline]
pub(crate) fn class<const FINE: u32>(nanos: i64) -> usize {
    match place::<FINE>(nanos) {
        (0, _) => 0,
        (octave, within) => 1 + ((octave - 1) << FINE) + within,
    }
}

/// Its power of two, from 1 on, and its class within that; what is below is in 0, what is above in the last.
#[inline]
pub(crate) fn place<const FINE: u32>(nanos: i64) -> (usize, usize) {
    let n = nanos as u64;
    if n >> LOW == 0 {
        return (0, 0);
    }
    let top = 63 - n.leading_zeros();
    if top >= HIGH {
        return ((HIGH - LOW) as usize + 1, 0);
    }
    ((top - LOW) as usize + 1, ((n >> (top - FINE)) & ((1 << FINE) - 1)) as usize)
}

/// The middle of a class, nanoseconds.
pub(crate) fn middle<const FINE: u32>(class: usize) -> i64 {
    if class == 0 {
        return 1 << (LOW - 1);
    }
    if class == classes(FINE) - 1 {
        return 1 << HIGH;
    }
    let top = LOW + ((class - 1) >> FINE) as u32;
    let within = ((class - 1) & ((1 << FINE) - 1)) as i64;
    (1 << top) + (2 * within + 1) * (1 << (top - FINE - 1))
}
