//! Requirements of one part of a stack on the others; they are checked on the description, before anything runs.
//!
//! The description of a slot states its needs (`needs`) and its offers. [`crate::stack::Stack::validate`] compares the two, so
//! no algorithm names another.

/// Something that a part of a stack may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// `options.sack` (RFC 2018).
    Sack,
    /// `options.sack`, or duplicates that count as if they were SACKs.
    Arrivals,
    /// Duplicates that count as if they were SACKs.
    EmulatedSack,
    /// `options.timestamps` (RFC 7323).
    Timestamps,
    /// A detector that declares each loss, not only the first of a window.
    EachLoss,
    /// A detector that marks holes in Recovery, too.
    MarksInRecovery,
    /// A recovery that resends in one of these ways.
    Resends(&'static [Resends]),
    /// An owner of Loss that resends by mark, not by going back.
    ResendsByMark,
    /// A judge of mistakes that reports each segment named by a DSACK.
    EachDsack,
    /// A judge of mistakes that, if there is one, measures how far segments were overtaken.
    Samples,
    /// Pacing.
    Paced,
    /// A congestion control that sets the window on every ACK.
    SetsWindow,
    /// A recovery that leaves the window to the congestion control.
    LeavesWindow,
}

/// How a recovery selects the segments to resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resends {
    /// Everything from `snd_una` on: it goes back.
    FromUna,
    /// The first unacknowledged segment alone.
    Head,
    /// By its own rule: at a partial ACK, or from the scoreboard.
    ByRule,
    /// Only segments that the detector has marked lost.
    ByMark,
    /// As `ByMark`, without a phase of its own.
    InOpen,
    /// An algorithm from outside the crate: unknown, so nothing is refused.
    Unknown,
}

impl Resends {
    /// The ways that use the scoreboard's marks.
    pub(crate) const READ_MARKS: &[Resends] = &[Self::ByRule, Self::ByMark, Self::InOpen, Self::Unknown];
    /// The ways that do not go back.
    pub(crate) const STAY: &[Resends] = &[Self::Head, Self::ByRule, Self::ByMark, Self::InOpen, Self::Unknown];
}

/// A need, and the error if it is not met (as in [`crate::error::StackError`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) need: Need,
    pub(crate) key: &'static str,
    pub(crate) found: &'static str,
    pub(crate) allowed: &'static str,
}

impl Requirement {
    /// `found`, the answer to the question `key`, requires SACK.
    pub(crate) const fn sack(key: &'static str, found: &'static str) -> Self {
        Requirement { need: Need::Sack, key, found, allowed: "only together with options.sack = true" }
    }
}
