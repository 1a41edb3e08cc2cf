//! Sequence space: 64-bit offsets inside, 32-bit wrapping numbers only at the border.
//!
//! Offset 0 is the SYN, data starts at 1, and a FIN takes the offset after the last byte. No algorithm ever sees a wrap.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A position in one direction of a connection, with ordinary order and subtraction.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub u64);

/// A sequence number as in a TCP header (RFC 9293 §3.4). It deliberately has no order and no arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeqNum(pub u32);

impl Offset {
    /// The offset of the SYN.
    pub const SYN: Offset = Offset(0);
    /// The offset of the first byte of data.
    pub const DATA: Offset = Offset(1);

    /// The header's number for this offset in a connection whose initial sequence number is `isn`.
    #[inline]
    pub fn wrap(self, isn: SeqNum) -> SeqNum {
        SeqNum(isn.0.wrapping_add(self.0 as u32))
    }
}

impl SeqNum {
    /// The offset that this number means, taken within ±2³¹ of `near`; `None` if that would be before the SYN.
    pub fn unwrap_near(self, isn: SeqNum, near: Offset) -> Option<Offset> {
        let low = self.0.wrapping_sub(isn.0);
        let step = i64::from(low.wrapping_sub(near.0 as u32) as i32);
        near.0.checked_add_signed(step).map(Offset)
    }

    /// As [`SeqNum::unwrap_near`], but an offset that would be before the SYN is moved up by 2³²: to 2³¹ or above, while
    /// `near` is below. No window reaches that far (RFC 7323 §2.3), and the result wraps to the same number.
    pub fn unwrap_or_later(self, isn: SeqNum, near: Offset) -> Offset {
        self.unwrap_near(isn, near).unwrap_or(Offset(u64::from(self.0.wrapping_sub(isn.0))))
    }
}

impl Add<u64> for Offset {
    type Output = Offset;
    #[inline]
    fn add(self, n: u64) -> Offset {
        Offset(self.0 + n)
    }
}

impl AddAssign<u64> for Offset {
    #[inline]
    fn add_assign(&mut self, n: u64) {
        self.0 += n;
    }
}

impl Sub for Offset {
    type Output = u64;
    #[inline]
    fn sub(self, o: Offset) -> u64 {
        self.0 - o.0
    }
}

impl fmt::Debug for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wrapping_then_unwrapping_within_two_to_the_31_is_the_identity(isn: u32, near in 0u64..1 << 40, step in -0x7fff_ffffi64..0x7fff_ffff) {
            let isn = SeqNum(isn);
            if let Some(at) = near.checked_add_signed(step) {
                prop_assert_eq!(Offset(at).wrap(isn).unwrap_near(isn, Offset(near)), Some(Offset(at)));
            }
        }
    }

    /// Every number of a header, or every 2,003rd unless `ACKCLOCK_EXHAUSTIVE` is set, and all near the borders.
    fn numbers() -> impl Iterator<Item = u32> {
        let step = if std::env::var_os("ACKCLOCK_EXHAUSTIVE").is_some() { 1 } else { 2003 };
        let borders = [0u32, 1 << 31, 1 << 16];
        let close =
            borders.into_iter().flat_map(|border| (0..2000).map(move |i| border.wrapping_add(i).wrapping_sub(1000)));
        (0..=u32::MAX).step_by(step).chain(close)
    }

    #[test]
    fn every_number_means_the_one_offset_within_two_to_the_31_that_wraps_to_it() {
        for near in [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 40) + 12_345, (1 << 62) + 7] {
            for number in numbers() {
                let isn = SeqNum(0x89ab_cdef);
                let found = SeqNum(number).unwrap_near(isn, Offset(near));
                if let Some(at) = found {
                    let step = at.0 as i128 - near as i128;
                    assert!(
                        (-(1 << 31)..1 << 31).contains(&step) && at.wrap(isn) == SeqNum(number),
                        "{number} at {near}"
                    );
                }
                // None only if the offset would be negative: 2³² numbers cover each residue once.
                let low = u64::from(number.wrapping_sub(isn.0));
                let least = (near as i128) - (1 << 31);
                let exact = least + (i128::from(low) - least).rem_euclid(1 << 32);
                assert_eq!(found.map(|at| at.0 as i128), (exact >= 0).then_some(exact), "{number} at {near}");
                let later = SeqNum(number).unwrap_or_later(isn, Offset(near));
                assert_eq!(later.0 as i128, if exact < 0 { exact + (1 << 32) } else { exact }, "{number} at {near}");
            }
        }
    }

    #[test]
    fn a_number_before_the_syn_means_nothing() {
        assert_eq!(SeqNum(99).unwrap_near(SeqNum(100), Offset(0)), None);
    }

    #[test]
    fn a_number_before_the_syn_taken_one_turn_later_lies_beyond_every_window_and_wraps_to_itself() {
        for near in [Offset(0), Offset(1), Offset((1 << 31) - 1)] {
            for before in [1, 1000, (1 << 31) - near.0 as u32] {
                let number = SeqNum(100u32.wrapping_sub(before));
                let at = number.unwrap_or_later(SeqNum(100), near);
                assert!(at >= Offset(1 << 31), "{at}");
                assert_eq!(at.wrap(SeqNum(100)), number);
            }
        }
        assert_eq!(SeqNum(101).unwrap_or_later(SeqNum(100), Offset(0)), Offset(1));
    }
}
