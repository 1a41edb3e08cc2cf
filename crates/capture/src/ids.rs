//! IPv4's identification as a counter of a host's packets.
//!
//! Idea: Linux and most BSDs give each packet of a connection the next number. The numbers then show the order of transmission,
//! and a number that never arrives shows that a packet was lost or not captured.
//! Source: RFC 6864 §4 (it need not be a counter at all); Linux 6.18, `include/net/ip.h`, `ip_select_ident_segs` (for a
//! connected socket it is a counter).

use std::collections::VecDeque;

/// The number of gaps that are remembered.
const GAPS: usize = 64;
/// A step in this range, in either direction, may be due to reordering.
const NEAR: i32 = 4096;
/// Steps above this are not those of a counter that shows the order: it comes around too soon. Some hosts write the two bytes of a
/// counter the other way round, which gives steps of 256.
const FAR: i32 = 128;
/// The number of steps examined before a judgment.
const ENOUGH: u32 = 8;

/// The identifications of one direction, unwrapped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    last: u16,
    /// The number of the last packet, and the highest; 0 before the first.
    at: u64,
    top: u64,
    /// Counts of steps: by one; by another small number; by anything else, or without a number.
    ones: u32,
    near: u32,
    wild: u32,
    /// Those of the small ones that are above [`FAR`].
    far: u32,
    /// Packets with the number of the one before.
    same: u32,
    /// Numbers that have not arrived, as (first, end), oldest first: the newest gaps.
    gaps: VecDeque<(u64, u64)>,
    /// The total number of missing numbers.
    missing: u64,
}

impl Ids {
    /// A packet's place in the order of transmission, from 2³² on; its low 16 bits are the identification. `None` without an
    /// identification.
    #[inline]
    pub(crate) fn next(&mut self, id: Option<u16>) -> Option<u64> {
        let id = id?;
        let step = id.wrapping_sub(self.last) as i16;
        self.last = id;
        if step == 1 && self.at == self.top && self.at != 0 {
            self.at += 1;
            self.top = self.at;
            self.ones = self.ones.saturating_add(1);
            return Some(self.at);
        }
        Some(self.odd(id, i32::from(step)))
    }

    #[cold]
    fn odd(&mut self, id: u16, step: i32) -> u64 {
        if self.at == 0 {
            self.at = (1 << 32) + u64::from(id);
            self.top = self.at;
            return self.at;
        }
        let at = self.at.saturating_add_signed(i64::from(step));
        if step != 0 && step.abs() <= NEAR {
            self.near = self.near.saturating_add(1);
            self.far = self.far.saturating_add(u32::from(step.abs() > FAR));
            self.note(at);
        } else {
            self.wild = self.wild.saturating_add(1);
            self.same = self.same.saturating_add(u32::from(step == 0));
        }
        self.at = at;
        self.top = self.top.max(at);
        at
    }

    fn note(&mut self, at: u64) {
        if at > self.top + 1 {
            if self.gaps.len() >= GAPS {
                self.gaps.pop_front();
            }
            self.gaps.push_back((self.top + 1, at));
            self.missing += at - self.top - 1;
        } else if let Some(i) = self.gaps.iter().position(|g| g.0 <= at && at < g.1) {
            let (from, to) = self.gaps[i];
            self.missing = self.missing.saturating_sub(1);
            self.gaps.remove(i);
            for (left, right) in [(at + 1, to), (from, at)] {
                if left < right {
                    self.gaps.insert(i, (left, right));
                }
            }
        }
    }

    /// The number of the last packet if it is the highest, 0 before the first identification: the base for [`Ids::on_arrivals`].
    pub(crate) fn in_order(&self) -> Option<u64> {
        (self.at == self.top).then_some(self.at)
    }

    /// Counts packets that arrived in order, each with the next identification.
    pub(crate) fn on_arrivals(&mut self, packets: u64) {
        self.at += packets;
        self.top = self.at;
        self.last = self.at as u16;
        self.ones = self.ones.saturating_add(u32::try_from(packets).unwrap_or(u32::MAX));
    }

    /// Whether the numbers show the order of transmission.
    pub(crate) fn tell_order(&self) -> bool {
        let good = self.ones.saturating_add(self.near);
        good > 0 && self.wild <= good / 16 && self.far <= good / 2
    }

    /// Whether two packets with one number, and the same bytes, are one packet: the numbers differ from packet to packet, however.
    pub(crate) fn differ(&self) -> bool {
        let others = self.ones.saturating_add(self.near).saturating_add(self.wild).saturating_sub(self.same);
        others >= ENOUGH && self.same <= others / 4
    }

    /// Whether enough numbers were seen to be certain of that: random ones do not rise for so long.
    pub(crate) fn show_order(&self) -> bool {
        self.tell_order() && self.ones.saturating_add(self.near) >= ENOUGH
    }

    /// Whether each packet has the next number, so that a missing number means a missing packet.
    pub(crate) fn count(&self) -> bool {
        self.tell_order() && self.ones >= ENOUGH && self.ones >= self.near
    }

    /// The same for packets in any order: few steps are then by one, but few numbers are missing.
    pub(crate) fn count_in_any_order(&self) -> bool {
        let steps = u64::from(self.ones) + u64::from(self.near);
        self.count() || self.tell_order() && self.ones >= ENOUGH && self.missing.saturating_mul(8) <= steps
    }

    /// The number of the highest packet so far.
    pub(crate) fn top(&self) -> u64 {
        self.top
    }

    /// Whether more than one in a hundred packets did not arrive, as far as the numbers show.
    pub(crate) fn many_missing(&self) -> bool {
        self.count() && self.missing.saturating_mul(100) > u64::from(self.ones)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_on_over_the_wrap_and_a_missing_one_is_a_gap_until_it_comes() {
        let mut ids = Ids::default();
        let base = ids.next(Some(65_530)).unwrap();
        for i in 1..12u16 {
            assert_eq!(ids.next(Some(65_530u16.wrapping_add(i))), Some(base + u64::from(i)));
        }
        assert!(ids.tell_order() && ids.count() && ids.missing == 0);
        assert_eq!(ids.next(Some(9)), Some(base + 15), "12 to 14 are missing");
        assert_eq!(ids.missing, 3);
        assert_eq!(ids.next(Some(7)), Some(base + 13));
        assert_eq!(
            (ids.missing, ids.gaps.make_contiguous() as &[_]),
            (2, &[(base + 12, base + 13), (base + 14, base + 15)][..])
        );
        assert!(ids.many_missing());
        assert_eq!(ids.next(Some(10)), Some(base + 16), "the next after the highest");
        assert_eq!(ids.top(), base + 16);
    }

    #[test]
    fn random_or_constant_numbers_tell_nothing() {
        let (mut random, mut constant) = (Ids::default(), Ids::default());
        for i in 0..100u16 {
            random.next(Some(i.wrapping_mul(40_503)));
            constant.next(Some(77));
            assert_eq!(Ids::default().next(None), None);
        }
        assert!(!random.tell_order() && !constant.tell_order() && !constant.count());
    }
}
