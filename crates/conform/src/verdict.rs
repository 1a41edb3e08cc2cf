//! The result of a script.

use std::fmt;

/// The result of one script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything happened as the script says.
    Pass,
    /// Something else happened.
    Fail(Fault),
    /// The script uses something that this runner, or the TCP under test, does not have.
    NotUnderstood(Fault),
}

/// Where and why a script stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line of the script, from 1.
    pub line: u32,
    /// The kind, for summaries.
    pub reason: Reason,
    /// One sentence with the expected and the actual event.
    pub text: String,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The text is not a script.
    Syntax,
    /// A construct, call, option or setting that is not understood.
    Unknown,
    /// A field of a packet differs from the expected one.
    Packet,
    /// An expected packet was not sent.
    Missing,
    /// An event happened at an unexpected time.
    Time,
    /// A call had an unexpected result.
    Call,
    /// A command found an unexpected state.
    State,
    /// An assertion does not hold.
    Assertion,
    /// The TCP under test did something impossible: a malformed packet, or a timer that never advances.
    Broken,
}

impl Reason {
    /// The reason's name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Syntax => "syntax error",
            Reason::Unknown => "not understood",
            Reason::Packet => "an unexpected packet",
            Reason::Missing => "an expected packet was not sent",
            Reason::Time => "an event at an unexpected time",
            Reason::Call => "an unexpected result of a call",
            Reason::State => "an unexpected state",
            Reason::Assertion => "an assertion does not hold",
            Reason::Broken => "the TCP under test is broken",
        }
    }
}

impl Fault {
    /// A fault in `line`.
    pub(crate) fn new(line: u32, reason: Reason, text: impl Into<String>) -> Fault {
        Fault { line, reason, text: text.into() }
    }

    /// The verdict that it leads to.
    pub fn verdict(self) -> Verdict {
        match self.reason {
            Reason::Syntax | Reason::Unknown => Verdict::NotUnderstood(self),
            Reason::Packet
            | Reason::Missing
            | Reason::Time
            | Reason::Call
            | Reason::State
            | Reason::Assertion
            | Reason::Broken => Verdict::Fail(self),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}
