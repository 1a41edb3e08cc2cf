//! Why a scenario cannot be run.

use crate::next_event::MAX_TIME;
use ackclock_tcp::error::StackError;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{show_bytes, Bytes};
use std::fmt;
use std::ops::RangeInclusive;

/// A scenario that cannot be run. The text is one sentence that names the place and the allowed values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Impossible {
    /// A flow has no path.
    #[error("flow \"{flow}\": no path of links leads from node \"{from}\" to node \"{to}\"")]
    NoRoute {
        /// The flow.
        flow: String,
        /// Where the path should begin.
        from: String,
        /// Where it should end.
        to: String,
    },
    /// Both ends of something are the same node.
    #[error("{what} begins and ends at node \"{node}\"; it needs two different nodes")]
    SameNode {
        /// The flow or link.
        what: String,
        /// The node.
        node: String,
    },
    /// A reference to something that the scenario does not have.
    #[error("{what}: there is no {kind} number {index}; the scenario has {len}, counted from 0")]
    Unknown {
        /// Where the reference is.
        what: String,
        /// `node`, `stack` or `flow`.
        kind: &'static str,
        /// The number found.
        index: u32,
        /// How many exist.
        len: usize,
    },
    /// An inconsistent stack.
    #[error("stack \"{stack}\": {source}")]
    Stack {
        /// Its name.
        stack: String,
        /// The fault.
        source: StackError,
    },
    /// Too many elements for the event keys.
    #[error(
        "the scenario has {found} elements (two for each link and flow, one for each element on a link, one for each kind of background traffic and two for each of its concurrent transfers); at most {most} are possible"
    )]
    TooManyElements {
        /// The number of entries that it has.
        found: usize,
        /// How many it may have: fewer with transfers as background traffic.
        most: usize,
    },
    /// A time that the event keys cannot hold.
    #[error("{what}: {found} is too long; times up to {most} are possible with this number of elements")]
    TooLong {
        /// Where.
        what: String,
        /// The time found.
        found: Nanos,
        /// The longest possible one: the more elements, the shorter.
        most: Nanos,
    },
    /// A value outside its range.
    #[error("{what}: found {found}; allowed: {allowed}")]
    Value {
        /// Where.
        what: String,
        /// The value found.
        found: String,
        /// The range.
        allowed: String,
    },
}

/// A value that is not allowed in its place. Its text can be read back, since serde keeps only the text of an error:
/// [`Fault::parse`] parses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its key in the current table, as in `times[1]`; empty for the table itself.
    pub key: String,
    /// The value found there.
    pub found: String,
    /// The allowed values.
    pub allowed: String,
}

impl Fault {
    pub(crate) fn of(key: impl Into<String>, found: impl ToString, allowed: impl Into<String>) -> Self {
        Fault { key: key.into(), found: found.to_string(), allowed: allowed.into() }
    }

    /// The same fault, seen from the table that contains this one under `key`.
    pub(crate) fn within(self, key: String) -> Self {
        let key = if self.key.is_empty() { key } else { format!("{key}.{}", self.key) };
        Fault { key, ..self }
    }

    /// A fault unless `p` is a probability.
    pub(crate) fn probability(key: impl Into<String>, p: f64) -> Option<Self> {
        (!(0.0..=1.0).contains(&p)).then(|| Fault::of(key, p, "a probability from 0 to 1, as in 0.01"))
    }

    /// A fault unless `p` is a probability above 0.
    pub(crate) fn share(key: impl Into<String>, p: f64) -> Option<Self> {
        (!(p > 0.0 && p <= 1.0)).then(|| Fault::of(key, p, "above 0, at most 1"))
    }

    /// A fault unless `n` is in the range.
    pub(crate) fn whole(key: impl Into<String>, n: u64, range: RangeInclusive<u64>) -> Option<Self> {
        let allowed = || format!("a whole number from {} to {}", range.start(), range.end());
        (!range.contains(&n)).then(|| Fault::of(key, n, allowed()))
    }

    /// A fault unless `n` is in the range.
    pub(crate) fn bytes(key: impl Into<String>, n: Bytes, range: RangeInclusive<u64>) -> Option<Self> {
        let allowed = || format!("{} B to {} B", range.start(), range.end());
        (!range.contains(&n)).then(|| Fault::of(key, show_bytes(n), allowed()))
    }

    /// A fault unless a run can represent this time.
    pub(crate) fn time(key: impl Into<String>, n: Nanos) -> Option<Self> {
        (n.0 >= MAX_TIME - 1).then(|| Fault::of(key, n, "a time of at most 39 hours (2^47 ns)"))
    }

    /// A fault unless a run can represent this time and it is above zero.
    pub(crate) fn above_zero(key: impl Into<String>, n: Nanos) -> Option<Self> {
        match n {
            Nanos::ZERO => Some(Fault::of(key, n, "a time above zero, as in \"200 ms\"")),
            n => Fault::time(key, n),
        }
    }

    /// Parses the text that [`Display`](fmt::Display) wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let (key, rest) = text.strip_prefix("key `")?.split_once("`: found ")?;
        let (found, allowed) = rest.split_once("; allowed: ")?;
        Some(Fault { key: key.to_owned(), found: found.to_owned(), allowed: allowed.to_owned() })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { key, found, allowed } = self;
        write!(f, "key `{key}`: found {found}; allowed: {allowed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_as_it_is_written() {
        for f in [Fault::of("times[1]", "5 s", "a later time"), Fault::of("", "a `x`: found 3", "4; or 5")] {
            assert_eq!(Fault::parse(&f.to_string()), Some(f));
        }
    }
}
