//! Judges every retransmission: needed, refused or needless. The verdict is decided byte by byte from the fate of every
//! copy, so it needs neither DSACKs nor work for each packet: only retransmissions, drops and refusals are recorded.
//!
//! | a byte's earlier copies | [`Verdict`] |
//! | --- | --- |
//! | the receiver took one or already had the byte, or one is still in flight | needless |
//! | else one arrived and the receiver discarded it | refused |
//! | else (the network dropped all of them) | needed |
//!
//! A retransmission gets the verdict of its worst byte. So each refused retransmission would be needless without its receiver's
//! refusals, and the three counts add up to the total (decision 0137).

use ackclock_tcp::event::Resend;

/// The verdict on a retransmission. Exactly one applies; the worst of its bytes decides, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// An earlier copy of each of its bytes was taken by the receiver, or is still in flight at the end.
    Needless,
    /// An earlier copy of each of its bytes arrived, but the receiver threw some of these bytes away (PAWS, window).
    Refused,
    /// No earlier copy of some of its bytes arrived.
    Needed,
}

/// Counts of retransmissions by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// See [`Verdict::Needed`].
    pub needed: u64,
    /// See [`Verdict::Refused`].
    pub refused: u64,
    /// See [`Verdict::Needless`].
    pub needless: u64,
    /// The needless retransmissions by cause. Where the cause is unknown, they appear in none of these.
    pub needless_by: Causes,
}

/// Counts of retransmissions by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// The first ones of a fast recovery.
    pub fast: u64,
    /// The others that fast recoveries caused.
    pub recovery: u64,
    /// Probes of the tail, or of a closed window.
    pub probe: u64,
    /// Those after timeouts.
    pub timeout: u64,
}

/// The cause of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Unknown,
    Fast,
    Recovery,
    Probe,
    Timeout,
}

impl Causes {
    fn add(&mut self, cause: Cause) {
        match cause {
            Cause::Unknown => {}
            Cause::Fast => self.fast += 1,
            Cause::Recovery => self.recovery += 1,
            Cause::Probe => self.probe += 1,
            Cause::Timeout => self.timeout += 1,
        }
    }
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

/// The fates of the copies of one flow's data, from one end to the other.
///
/// The simulator, or any other path that knows the fates, reports them. Data is given by offset and length, a copy by its
/// number: 1 for the first transmission of these bytes. A copy without a report counts as taken.
#[derive(Clone, Debug, Default)]
pub struct Fates {
    again: Vec<Again>,
    /// The episode of the last fast retransmit.
    episode: u32,
    dropped: Vec<Copy>,
    /// How many of these the sender has been told about.
    reported: usize,
    /// Most flows have none of these.
    rare: Option<Box<Rare>>,
}

/// A retransmission: the copy that was sent, with its cause in the same 16 bytes.
#[derive(Clone, Copy, Debug)]
struct Again {
    start: u64,
    len: u32,
    sends: u8,
    cause: Cause,
}

impl Again {
    fn copy(&self) -> Copy {
        let Again { start, len, sends, cause: _ } = *self;
        Copy { start, len, sends }
    }
}

/// What only some receivers and some paths do.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// Data that arrived and was thrown away.
    refused: Vec<Copy>,
    /// Copies that the network duplicated: such a copy is lost only if both of its packets are.
    doubled: Vec<Copy>,
}

impl Fates {
    /// The number of records.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let rare = self.rare.as_ref().map_or(0, |r| r.refused.len() + r.doubled.len());
        self.again.len() + self.dropped.len() + rare
    }

    /// Data was sent again, by this rule.
    pub fn retransmitted(&mut self, start: u64, len: u32, sends: u8, why: Option<Resend>) {
        let cause = match why {
            None => Cause::Unknown,
            Some(Resend::Recovery(episode)) if episode != self.episode => {
                self.episode = episode;
                Cause::Fast
            }
            Some(Resend::Recovery(_) | Resend::Later) => Cause::Recovery,
            Some(Resend::Probe) => Cause::Probe,
            Some(Resend::Timeout) => Cause::Timeout,
        };
        self.again.push(Again { start, len, sends, cause });
    }

    /// A packet was dropped.
    pub fn dropped(&mut self, start: u64, len: u32, sends: u8) {
        self.dropped.push(Copy { start, len, sends });
    }

    /// The packets dropped since the last call: their first byte, and the number of the copy.
    pub(crate) fn new_drops(&mut self) -> impl Iterator<Item = (u64, u8)> + '_ {
        let reported = std::mem::replace(&mut self.reported, self.dropped.len());
        self.dropped[reported..].iter().map(|c| (c.start, c.sends))
    }

    /// The receiver threw away these bytes of a packet that arrived, all of it or a part, and does not have them.
    pub fn refused(&mut self, start: u64, len: u32, sends: u8) {
        self.rare.get_or_insert_default().refused.push(Copy { start, len, sends });
    }

    /// The network duplicated a packet; that is still one copy.
    pub fn doubled(&mut self, start: u64, len: u32, sends: u8) {
        self.rare.get_or_insert_default().doubled.push(Copy { start, len, sends });
    }

    /// The verdict on each retransmission as far as it is known now, in the order of transmission.
    pub fn each(&self) -> Vec<Verdict> {
        let failed = Failed::new(self);
        self.again.iter().map(|r| failed.verdict(&r.copy())).collect()
    }

    /// The count of each verdict, as far as it is known now.
    pub fn verdicts(&self) -> Verdicts {
        let mut v = Verdicts::default();
        for (verdict, again) in self.each().iter().zip(&self.again) {
            match verdict {
                Verdict::Needed => v.needed += 1,
                Verdict::Refused => v.refused += 1,
                Verdict::Needless => {
                    v.needless += 1;
                    v.needless_by.add(again.cause);
                }
            }
        }
        v
    }
}

/// The packets that did not deliver their bytes to the receiver, by start.
struct Failed {
    dropped: Sorted,
    /// The dropped packets and the refused data; `None` where nothing was refused.
    all: Option<Sorted>,
    doubled: Sorted,
}

impl Failed {
    fn new(f: &Fates) -> Self {
        let (refused, doubled) = f.rare.as_ref().map_or((&[][..], &[][..]), |r| (&r.refused[..], &r.doubled[..]));
        let all = (!refused.is_empty()).then(|| Sorted::new([&f.dropped[..], refused].concat()));
        Failed { dropped: Sorted::new(f.dropped.clone()), all, doubled: Sorted::new(doubled.to_vec()) }
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

    /// Whether all copies of some byte of `r` before it are among the failed ones.
    fn without(&self, r: &Copy, failed: &Sorted) -> bool {
        let (failed, doubled) = (failed.near(r), self.doubled.near(r));
        let copies = usize::from(r.sends.saturating_sub(1));
        // The number of failed copies grows only where one begins, so it is enough to check these bytes and the first.
        let begins = failed.iter().map(|c| c.start).filter(|s| *s > r.start);
        std::iter::once(r.start).chain(begins).any(|at| gone(at, r.sends, failed, doubled) >= copies)
    }
}

/// The number of failed copies of the byte at `at` among those before number `sends`: a copy fails if all packets that it
/// became failed.
fn gone(at: u64, sends: u8, failed: &[Copy], doubled: &[Copy]) -> usize {
    let of = |list: &[Copy], copy: u8| list.iter().filter(|c| c.sends == copy && c.covers(at)).count();
    let here = |c: &Copy| c.sends < sends && c.covers(at);
    // A copy counts once, at the failed packet that exceeds the number of its duplications.
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
