//! What every retransmission was: needed, refused or needless. Decided byte by byte from the fate of every copy, so it
//! needs neither DSACKs nor work for each packet: only retransmissions, drops and refusals are written down.
//!
//! | a byte's earlier copies | [`Verdict`] |
//! | --- | --- |
//! | one was taken by the receiver, or found there already, or is still on its way | needless |
//! | else one arrived and the receiver threw it away | refused |
//! | else (the network dropped all of them) | needed |
//!
//! A retransmission is what its worst byte is. So without its receiver's refusals each refused one had been needless, and
//! the three add up to all (decision 0137).

/// What a retransmission was. Exactly one holds; of its bytes the worst decides, and this is the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Of all its bytes an earlier copy was taken by the receiver, or is still on its way at the end.
    Needless,
    /// Of all its bytes an earlier copy arrived, but the receiver threw some of them away (PAWS, window).
    Refused,
    /// Of some of its bytes no earlier copy arrived.
    Needed,
}

/// Retransmissions by what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// See [`Verdict::Needed`].
    pub needed: u64,
    /// See [`Verdict::Refused`].
    pub refused: u64,
    /// See [`Verdict::Needless`].
    pub needless: u64,
    /// Of the needless ones, those with which a fast recovery began.
    pub needless_fast: u64,
}

/// One copy of some data: `sends` counts transmissions (1 = first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    start: u64,
    len: u32,
    sends: u8,
}

impl Copy {
    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    fn covers(&self, at: u64) -> bool {
        self.start <= at && at < self.end()
    }
}

/// What happened to the copies of one flow's data, from one end to the other.
///
/// Whoever knows it tells it: the simulator, or whatever stands in for a path. Data are given by offset and length, a copy
/// by its number: how often these bytes have been sent, 1 being the first time. A copy of which nothing is told is taken.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    again: Vec<Copy>,
    /// Those of `again` with which a fast recovery began, by their place in it.
    first: Vec<u32>,
    /// The episode of the last of these.
    episode: u32,
    dropped: Vec<Copy>,
    /// What arrived and was thrown away.
    refused: Vec<Copy>,
    /// The network doubled these: two packets must fail to lose one copy.
    doubled: Vec<Copy>,
}

impl Fates {
    /// What is written down.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.again.len() + self.dropped.len() + self.refused.len() + self.doubled.len()
    }

    /// Data were sent again; in a fast recovery, with its episode (from 1).
    pub fn retransmitted(&mut self, start: u64, len: u32, sends: u8, recovery: Option<u32>) {
        if let Some(episode) = recovery.filter(|e| *e != self.episode) {
            self.episode = episode;
            self.first.push(self.again.len() as u32);
        }
        self.again.push(Copy { start, len, sends });
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, start: u64, len: u32, sends: u8) {
        self.dropped.push(Copy { start, len, sends });
    }

    /// Of a packet that arrived the receiver threw these bytes away and does not have them: part of it or all.
    pub fn refused(&mut self, start: u64, len: u32, sends: u8) {
        self.refused.push(Copy { start, len, sends });
    }

    /// The network made two packets of one; that is still one copy.
    pub fn doubled(&mut self, start: u64, len: u32, sends: u8) {
        self.doubled.push(Copy { start, len, sends });
    }

    /// The verdict on each retransmission as far as it is known now, in the order of sending.
    pub fn each(&self) -> Vec<Verdict> {
        let failed = Failed::new(self);
        self.again.iter().map(|r| failed.verdict(r)).collect()
    }

    /// How many of each there are, as far as it is known now.
    pub fn verdicts(&self) -> Verdicts {
        let each = self.each();
        let mut v = Verdicts::default();
        for verdict in &each {
            match verdict {
                Verdict::Needed => v.needed += 1,
                Verdict::Refused => v.refused += 1,
                Verdict::Needless => v.needless += 1,
            }
        }
        let fast = self.first.iter().filter(|i| each[**i as usize] == Verdict::Needless);
        v.needless_fast = fast.count() as u64;
        v
    }
}

/// The packets that did not get their bytes to the receiver, by start.
struct Failed {
    dropped: Sorted,
    /// Those and what was refused; the same again where nothing was.
    all: Option<Sorted>,
    doubled: Sorted,
}

impl Failed {
    fn new(f: &Fates) -> Self {
        let all = (!f.refused.is_empty()).then(|| Sorted::new([&f.dropped[..], &f.refused].concat()));
        Failed { dropped: Sorted::new(f.dropped.clone()), all, doubled: Sorted::new(f.doubled.clone()) }
    }

    fn verdict(&self, r: &Copy) -> Verdict {
        if self.without(r, &self.dropped) {
            Verdict::Needed
        } else if self.all.as_ref().is_some_and(|all| self.without(r, all)) {
            Verdict::Refused
        } else {
            Verdict::Needless
        }
    }

    /// Whether for some byte of `r` all the copies before it are among the failed: as many as there were.
    fn without(&self, r: &Copy, failed: &Sorted) -> bool {
        let (failed, doubled) = (failed.near(r), self.doubled.near(r));
        let copies = usize::from(r.sends.saturating_sub(1));
        // The number of failed copies grows only where one begins, so these bytes and the first stand for all.
        let begins = failed.iter().map(|c| c.start).filter(|s| *s > r.start);
        std::iter::once(r.start).chain(begins).any(|at| gone(at, r.sends, failed, doubled) >= copies)
    }
}

/// How many copies of the byte at `at`, of those before number `sends`, failed: all packets that each became.
fn gone(at: u64, sends: u8, failed: &[Copy], doubled: &[Copy]) -> usize {
    let of = |list: &[Copy], copy: u8| list.iter().filter(|c| c.sends == copy && c.covers(at)).count();
    let here = |c: &Copy| c.sends < sends && c.covers(at);
    // Of a copy's failed packets the one that makes them more than its doublings stands for it.
    let last = |i: usize, c: &Copy| of(&failed[..i], c.sends) == of(doubled, c.sends);
    failed.iter().enumerate().filter(|(i, c)| here(c) && last(*i, c)).count()
}

/// Copies by start.
struct Sorted {
    copies: Vec<Copy>,
    longest: u64,
}

impl Sorted {
    fn new(mut copies: Vec<Copy>) -> Self {
        copies.sort_unstable();
        let longest = copies.iter().map(|c| u64::from(c.len)).max().unwrap_or(0);
        Sorted { copies, longest }
    }

    /// The copies that may overlap `r`.
    fn near(&self, r: &Copy) -> &[Copy] {
        let from = self.copies.partition_point(|c| c.start + self.longest <= r.start);
        let to = self.copies.partition_point(|c| c.start < r.end());
        &self.copies[from..to.max(from)]
    }
}

#[cfg(test)]
mod tests;
