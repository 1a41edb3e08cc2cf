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
    let (octave, within) = place::<FINE>(nanos);
    ((octave << FINE) + within + 1).saturating_sub(1 << FINE)
}

/// Its power of two, from 1 on, and its class within that; what is below is in 0, what is above in the last.
#[inline]
pub(crate) fn place<const FINE: u32>(nanos: i64) -> (usize, usize) {
    const BELOW: i64 = 1 << (LOW - 1);
    let n = if nanos < 2 * BELOW { BELOW } else { nanos.min(1 << HIGH) } as u64;
    let top = n.ilog2();
    ((top + 1 - LOW) as usize, ((n >> (top - FINE)) & ((1 << FINE) - 1)) as usize)
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
