//! The records of data that was captured more than once, or late: every copy, the time when its bytes were first acknowledged,
//! and the reported duplicates.

use super::place::Place;
use super::{older, Sent};
use std::collections::BTreeMap;

/// With this many copies and acknowledgments without news, old ones are judged and forgotten.
const MANY: usize = 512;
/// The number of suspects that are kept, the newest.
const SUSPECTS: usize = 1024;

/// One captured transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) sent: Sent,
    /// Whether it filled a hole: data sent after the first copy arrived before it.
    pub(crate) fills: bool,
    /// Whether its bytes had been sent before.
    pub(crate) again: SentBefore,
    /// The start of the packet that it is a part of.
    pub(crate) begin: u64,
    /// Payload bytes; 0 for FINs alone.
    pub(crate) payload: u32,
}

/// Whether bytes had been sent before a copy of them, as far as known when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentBefore {
    /// They are sent for the first time, or were overtaken.
    No,
    /// Nothing proves it.
    Perhaps,
    /// They were captured before, or the copy was sent after later data.
    Yes,
}

/// The first acknowledgment of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cover {
    pub(crate) at: i64,
    /// `None` if it arrived before this record was needed.
    pub(crate) frame: Option<u64>,
    pub(crate) echo: Option<u32>,
    /// The timestamp echoed by earlier acknowledgments.
    pub(crate) echo_before: Option<u32>,
    /// The acknowledgment's place in the transmissions of its host.
    pub(crate) order: u64,
    /// Whether packets of that host are missing directly before it.
    pub(crate) skipped: bool,
    /// When the last acknowledgment before it came.
    pub(crate) last: i64,
    /// The largest recent round-trip time, 0 if there was none.
    pub(crate) around: i64,
    /// The smallest recent value, in the same way.
    pub(crate) least: i64,
    /// The place of transmission of the latest copy known to have arrived before.
    pub(crate) newest: Option<Place>,
    /// The latest possible place of transmission of the copy whose arrival alone caused this acknowledgment, if there was one.
    pub(crate) trigger: Option<Place>,
    pub(crate) by: By,
}

impl Cover {
    /// Before any record was needed.
    pub(crate) const LONG_AGO: Cover = Cover {
        at: i64::MIN,
        frame: None,
        echo: None,
        echo_before: None,
        order: 0,
        skipped: false,
        last: i64::MIN,
        around: 0,
        least: 0,
        newest: None,
        trigger: None,
        by: By::Behind,
    };
}

/// How an acknowledgment covers bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A SACK block.
    Sack,
    /// The cumulative acknowledgment passes a hole that began here: it echoes the timestamp of the copy that filled the hole.
    Head,
    /// It passes these bytes together with others before them.
    Behind,
}

/// A duplicate that the receiver reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) at: i64,
    pub(crate) frame: u64,
    pub(crate) echo: Option<u32>,
}

/// An acknowledgment without news and without any other known reason for its transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bare {
    pub(crate) at: i64,
    pub(crate) frame: u64,
    pub(crate) echo: u32,
    /// Whether it echoes a younger timestamp than those before it.
    pub(crate) risen: bool,
    /// Without SACK: the episode in which it arrived ([`super::episodes`]).
    pub(crate) episode: u32,
    /// The place of transmission of the latest copy known to have arrived before.
    pub(crate) newest: Option<Place>,
}

/// Whether bytes had passed before the first copy that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Before {
    /// No copy passed.
    #[default]
    No,
    /// They may have passed before the capture began.
    Perhaps,
    /// A copy was captured, and is forgotten.
    Yes,
}

/// Bytes whose copies all have the same fate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) end: u64,
    /// In order of capture.
    pub(crate) copies: Vec<u32>,
    pub(crate) cover: Option<Box<Cover>>,
    pub(crate) reports: Reports,
    /// Whether the bytes had been captured or acknowledged before the first of `copies`, without further knowledge.
    pub(crate) before: Before,
}

/// The reports about a piece, mostly none, so that it takes no more than a pointer.
#[derive(Clone, Debug, Default)]
#[expect(clippy::box_collection, reason = "pieces are many, and few of them are reported")]
pub(crate) struct Reports(Option<Box<Vec<Reported>>>);

impl Reports {
    fn push(&mut self, report: Reported) {
        self.0.get_or_insert_default().push(report);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Reported> {
        self.0.iter().flat_map(|reports| reports.iter())
    }
}

/// A segment that arrived with a timestamp older than the receiver's, and the next acknowledgment's information about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    pub(crate) frame: u64,
    pub(crate) seq: u64,
    pub(crate) end: u64,
    pub(crate) value: u32,
    pub(crate) recent: u32,
    /// The next acknowledgment, and whether it covers all of the segment.
    pub(crate) next: Option<(u64, bool)>,
}

/// All unusual events in one stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cases {
    pub(crate) copies: Vec<Copy>,
    pub(crate) pieces: BTreeMap<u64, Piece>,
    /// The number of pieces without a cover; all of them are between `low` and `high`.
    pub(crate) open: usize,
    low: u64,
    high: u64,
    /// No piece ends above.
    top: u64,
    pub(crate) bares: Vec<Bare>,
    enough: usize,
    pub(crate) suspects: Vec<Suspect>,
    /// Suspects from here on wait for the next acknowledgment.
    pub(crate) waiting: usize,
}

impl Cases {
    /// Records a copy, and reserves room for a few more.
    pub(crate) fn add(&mut self, copy: Copy) {
        if self.copies.len() == self.copies.capacity() {
            self.copies.reserve_exact(2 + self.copies.len() / 4);
        }
        self.copies.push(copy);
    }

    /// Splits the piece that contains `at`.
    pub(crate) fn cut(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end <= at {
            return;
        }
        let rest = piece.clone();
        piece.end = at;
        self.open += usize::from(rest.cover.is_none());
        self.pieces.insert(at, rest);
    }

    /// The parts of `left..right` without a piece.
    pub(crate) fn unknown(&self, left: u64, right: u64) -> Vec<(u64, u64)> {
        let mut at = left;
        let mut found = Vec::new();
        let before = self.pieces.range(..=left).next_back().filter(|(_, p)| p.end > left);
        for (start, piece) in before.into_iter().chain(self.pieces.range(left + 1..right.max(left + 1))) {
            if at < *start {
                found.push((at, *start));
            }
            at = at.max(piece.end);
        }
        if at < right {
            found.push((at, right));
        }
        found
    }

    /// The piece that contains `at`.
    pub(crate) fn at(&self, at: u64) -> Option<&Piece> {
        if at >= self.top {
            return None;
        }
        self.pieces.range(..=at).next_back().map(|(_, p)| p).filter(|p| at < p.end)
    }

    /// Adds a piece without any knowledge yet.
    pub(crate) fn insert(&mut self, start: u64, piece: Piece) {
        if piece.cover.is_none() {
            (self.low, self.high) = match self.open {
                0 => (start, piece.end),
                _ => (self.low.min(start), self.high.max(piece.end)),
            };
            self.open += 1;
        }
        self.top = self.top.max(piece.end);
        self.pieces.insert(start, piece);
    }

    /// The bytes from `left` to `right` are acknowledged for the first time, unless they already were.
    pub(crate) fn cover(&mut self, left: u64, right: u64, una: u64, cover: &Cover) -> bool {
        if self.open == 0 || right <= self.low || self.high <= left {
            return false;
        }
        self.cut(left);
        self.cut(right);
        let mut any = false;
        for (start, piece) in self.pieces.range_mut(left..right.max(left)) {
            if piece.cover.is_none() {
                let by = match cover.by {
                    By::Sack => By::Sack,
                    By::Head | By::Behind if *start <= una => By::Head,
                    By::Head | By::Behind => By::Behind,
                };
                piece.cover = Some(Box::new(Cover { by, ..*cover }));
                self.open -= 1;
                any = true;
            }
        }
        any
    }

    /// The receiver reports a duplicate of `left..right`; returns whether that concerns a known piece.
    pub(crate) fn report(&mut self, left: u64, right: u64, report: Reported) -> bool {
        self.cut(left);
        self.cut(right);
        let mut any = false;
        for (_, piece) in self.pieces.range_mut(left..right.max(left)) {
            piece.reports.push(report);
            any = true;
        }
        any
    }

    /// An acknowledgment without news.
    pub(crate) fn bare(&mut self, bare: Bare) {
        self.bares.push(bare);
    }

    /// A segment arrived with an old timestamp.
    pub(crate) fn suspect(&mut self, suspect: Suspect) {
        if self.suspects.len() >= SUSPECTS {
            self.suspects.drain(..SUSPECTS / 2);
            self.waiting = self.waiting.saturating_sub(SUSPECTS / 2);
        }
        self.suspects.push(suspect);
    }

    /// Whether there are enough cases to judge the old ones.
    #[inline]
    pub(crate) fn many(&self) -> bool {
        self.copies.len() + self.bares.len() >= self.enough.max(MANY)
    }

    /// Removes and returns the cases acknowledged before `then`, with everything needed to judge them.
    pub(crate) fn settled(&mut self, then: i64) -> Cases {
        let mut done: Vec<u64> = Vec::new();
        let (mut group, mut ready, mut reach): (Vec<u64>, bool, u64) = (Vec::new(), true, 0);
        for (start, piece) in &self.pieces {
            if *start >= reach {
                if ready {
                    done.append(&mut group);
                }
                group.clear();
                ready = true;
            }
            group.push(*start);
            ready &= piece.cover.as_ref().is_some_and(|c| c.at < then)
                && piece.copies.iter().all(|c| self.copies[*c as usize].sent.at < then);
            reach = piece
                .copies
                .iter()
                .map(|c| self.copies[*c as usize].sent.end())
                .max()
                .unwrap_or(0)
                .max(reach)
                .max(piece.end);
        }
        if ready {
            done.append(&mut group);
        }
        let mut settled = Cases { bares: self.bares.clone(), suspects: self.suspects.clone(), ..Cases::default() };
        for start in done {
            if let Some(mut piece) = self.pieces.remove(&start) {
                piece.copies.iter_mut().for_each(|c| *c = settled.adopt(self.copies[*c as usize]));
                settled.top = settled.top.max(piece.end);
                settled.pieces.insert(start, piece);
            }
        }
        self.forget_unused(then);
        settled
    }

    fn adopt(&mut self, copy: Copy) -> u32 {
        self.copies.push(copy);
        (self.copies.len() - 1) as u32
    }

    /// Drops the copies without a piece, and acknowledgments older than all remaining copies.
    fn forget_unused(&mut self, then: i64) {
        let copies = std::mem::take(&mut self.copies);
        let mut oldest = then;
        let mut renumbered: Vec<u32> = vec![u32::MAX; copies.len()];
        for piece in self.pieces.values_mut() {
            for c in &mut piece.copies {
                let copy = copies[*c as usize];
                oldest = oldest.min(copy.sent.at);
                let new = &mut renumbered[*c as usize];
                if *new == u32::MAX {
                    *new = self.copies.len() as u32;
                    self.copies.push(copy);
                }
                *c = *new;
            }
        }
        self.bares.retain(|b| b.at >= oldest);
        self.enough = 2 * (self.copies.len() + self.bares.len());
    }

    /// The first acknowledgment after some suspects; `covers` returns whether it covers all of a range. Suspects not covered go
    /// to `refused`. If it echoes no timestamp younger than that of a suspect, the receiver had no reason to refuse the
    /// suspect.
    pub(crate) fn settle_suspects(
        &mut self,
        frame: u64,
        echo: Option<u32>,
        covers: impl Fn(u64, u64) -> bool,
        refused: &mut Vec<u64>,
    ) {
        for suspect in &mut self.suspects[self.waiting..] {
            let young = echo.is_some_and(|e| !older(suspect.value, e));
            let covered = young || covers(suspect.seq, suspect.end);
            suspect.next = Some((frame, covered));
            if !covered {
                refused.push(suspect.frame);
            }
        }
        self.waiting = self.suspects.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_older_than_the_next_echo_was_not_refused() {
        let suspect = |frame, value| Suspect { frame, seq: 100, end: 200, value, recent: 60, next: None };
        for (echo, refused) in [(Some(50), vec![]), (Some(51), vec![7]), (None, vec![7])] {
            let mut cases = Cases::default();
            cases.suspect(suspect(7, 50));
            let mut found = Vec::new();
            cases.settle_suspects(8, echo, |_, _| false, &mut found);
            assert_eq!((found, cases.suspects[0].next), (refused.clone(), Some((8, refused.is_empty()))), "{echo:?}");
        }
    }
}
