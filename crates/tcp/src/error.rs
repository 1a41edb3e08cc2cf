//! Why a description is refused.

use std::fmt;

/// A description that is not valid, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackError {
    /// The parameter's path, such as `recovery` or `limits.max_train`.
    pub key: &'static str,
    /// What was found.
    pub found: String,
    /// The values allowed, or why the value found is impossible.
    pub allowed: String,
}

impl StackError {
    /// Refuses unless `ok`.
    pub(crate) fn unless(ok: bool, key: &'static str, found: &dyn fmt::Display, allowed: &str) -> Result<(), Self> {
        match ok {
            true => Ok(()),
            false => Err(StackError { key, found: found.to_string(), allowed: allowed.into() }),
        }
    }
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, allowed: {}", self.key, self.found, self.allowed)
    }
}

impl std::error::Error for StackError {}
