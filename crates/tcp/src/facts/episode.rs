//! One congestion episode, and a ledger of the last four: episodes outlive the phase that repaired them.
//!
//! After reordering, the needless retransmission travels behind all data up to `recover`, so its DSACK often arrives
//! after the ACK that ends recovery. Undo state kept in the recovery phase would be gone by then.

use crate::event::{Cause, Window};
use crate::facts::reorder::ReorderSample;
use crate::seq::Offset;
use crate::time::Time;
use crate::units::Bytes;

/// The record of one loss event, kept from the cut of the window until four newer ones have begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// Number of the episode; 1 for the first of a connection.
    pub id: u32,
    /// Its cause.
    pub cause: Cause,
    /// When it began.
    pub began: Time,
    /// First unsent offset when it began; a recovery may move it (RFC 6582 §3.2 counts one lower).
    pub recover: Offset,
    /// The window before the cut, never inflated.
    pub prior: Window,
    /// The target window of the cut, bytes.
    pub target: f64,
    /// State that the congestion slot wants back if the cut was a mistake.
    pub cc_undo: Saved,
    /// Outstanding bytes when it began, without data that Disorder sent beyond the window (RFC 5681 §3.2 (2)).
    pub flight: Bytes,
    /// Segments resent in this episode.
    pub retransmits: u32,
    /// Resent segments proven needless.
    pub proven_spurious: u32,
    /// Duplicates that arrived before the hole filled (Blanton & Allman's D); written once.
    pub dupacks_to_fill: u32,
    /// Time of the first duplicate of the hole (the start of the episode if there was none).
    pub first_dup: Time,
    /// Time of the last duplicate before the hole filled.
    pub last_dup: Time,
    /// When the hole filled: the first advancing ACK of its Recovery.
    pub filled: Option<Time>,
    /// When its phase ended.
    pub ended: Option<Time>,
    /// Undo is ruled out.
    pub void: bool,
}

/// State that a congestion control wants back if a cut was a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CcUndo {
    /// Four numbers, with a meaning that the congestion control defines.
    pub num: [f64; 4],
    /// A time, with a meaning that the congestion control defines.
    pub at: Option<Time>,
}

/// A [`CcUndo`] in an episode. Most congestion controls want nothing back, and then it takes only eight bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saved(Option<Box<CcUndo>>);

impl From<CcUndo> for Saved {
    fn from(undo: CcUndo) -> Self {
        let CcUndo { num, at } = undo;
        let nothing = at.is_none() && num.iter().all(|n| n.to_bits() == 0);
        Saved((!nothing).then(|| Box::new(undo)))
    }
}

impl Saved {
    /// What was saved.
    pub fn get(&self) -> CcUndo {
        self.0.as_deref().copied().unwrap_or_default()
    }
}

/// The last four episodes. A connection without any has no memory for them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Episode `id` is at `place(id)`.
    last: Vec<Episode>,
    count: u32,
    open: bool,
}

impl Ledger {
    /// Opens a new episode and returns it; the oldest is forgotten.
    pub(crate) fn begin(&mut self, mut e: Episode) -> &mut Episode {
        self.count += 1;
        self.open = true;
        e.id = self.count;
        let at = Self::place(e.id);
        if at == self.last.len() {
            self.last.reserve_exact(1);
            self.last.push(e);
        } else {
            self.last[at] = e;
        }
        &mut self.last[at]
    }

    /// The place of an episode, counted from 1.
    fn place(id: u32) -> usize {
        id.wrapping_sub(1) as usize % 4
    }

    /// The phase (Recovery or Loss) of the newest episode ended.
    pub(crate) fn close(&mut self, now: Time) {
        if let Some(ep) = self.open() {
            ep.ended = Some(now);
        }
        self.open = false;
    }

    /// The episode whose phase (Recovery or Loss) is running.
    #[inline]
    pub fn open(&mut self) -> Option<&mut Episode> {
        if self.open {
            self.get(self.count)
        } else {
            None
        }
    }

    /// The episode with this number, if still remembered.
    #[inline]
    pub fn get(&mut self, id: u32) -> Option<&mut Episode> {
        self.last.get_mut(Self::place(id)).filter(|e| e.id == id)
    }

    /// The newest episode, running or not.
    pub fn newest(&self) -> Option<&Episode> {
        self.last.get(Self::place(self.count))
    }

    /// Episodes begun so far; also the newest one's number.
    pub fn count(&self) -> u32 {
        self.count
    }
}

impl Episode {
    /// The reordering measured by a retransmission proved needless (Blanton & Allman §6).
    pub fn sample(&self) -> Option<ReorderSample> {
        let (first_dup, last_dup, dupacks) = (self.first_dup, self.last_dup, self.dupacks_to_fill);
        let (filled, resent, segments) = (self.filled?, Some(self.began), self.retransmits);
        Some(ReorderSample { dupacks, first_dup, last_dup, filled, resent, segments })
    }
}

/// A judge's verdict: this episode was a mistake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mistake {
    /// The episode's number.
    pub episode: u32,
    /// The episode's cause.
    pub cause: Cause,
    /// The reordering that it measured, if any.
    pub sample: Option<ReorderSample>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::wide;

    fn episode() -> Episode {
        Episode {
            id: 0,
            cause: Cause::Rto,
            began: Time::ZERO,
            recover: Offset(1),
            prior: wide(),
            target: 1.0,
            cc_undo: Saved::default(),
            flight: 0,
            retransmits: 0,
            proven_spurious: 0,
            dupacks_to_fill: 0,
            first_dup: Time::ZERO,
            last_dup: Time::ZERO,
            filled: None,
            ended: None,
            void: false,
        }
    }

    #[test]
    fn what_was_saved_comes_back_to_the_bit_and_nothing_takes_no_memory() {
        let (at, zero) = (Some(Time(7)), CcUndo::default());
        assert!(Saved::from(zero).0.is_none());
        for saved in [zero, CcUndo { at, ..zero }, CcUndo { num: [0.0, -0.0, 0.0, 0.0], at: None }] {
            let back = Saved::from(saved).get();
            assert_eq!((back.num.map(f64::to_bits), back.at), (saved.num.map(f64::to_bits), saved.at));
        }
    }

    #[test]
    fn the_last_four_episodes_are_kept_and_only_they_take_memory() {
        let mut ledger = Ledger::default();
        assert_eq!((ledger.newest(), ledger.last.capacity()), (None, 0));
        assert_eq!(ledger.get(0), None);
        for id in 1..=9 {
            assert_eq!(ledger.begin(episode()).id, id);
            assert_eq!(ledger.newest().map(|e| e.id), Some(id));
            let kept: Vec<u32> = (0..=id + 1).filter(|id| ledger.get(*id).is_some()).collect();
            assert_eq!(kept, (id.saturating_sub(3).max(1)..=id).collect::<Vec<_>>());
        }
        assert_eq!(ledger.last.capacity(), 4);
    }
}
