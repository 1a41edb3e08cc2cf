//! The fault in a script, and its place.

use std::fmt;

/// A place of a script that cannot be read.
///
/// Printed as one line: `x.pkt:12:9: found …, allowed here: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The name of the script, as the caller gave it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The character of the line, from 1.
    pub column: u32,
    /// What is wrong.
    pub reason: Reason,
}

/// The fault at a place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The language does not allow this text at this place.
    Unexpected {
        /// The text found, as printed.
        found: String,
        /// The alternatives allowed, as printed; at least one.
        allowed: Vec<String>,
    },
    /// The text can be read, but makes no sense: a sentence with the reason.
    Fault(String),
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unexpected { found, allowed } => {
                write!(f, "found {found}, allowed here: ")?;
                for (at, one) in allowed.iter().enumerate() {
                    let joint = match at {
                        0 => "",
                        _ if at + 1 == allowed.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{joint}{one}")?;
                }
                Ok(())
            }
            Reason::Fault(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SyntaxError {}
