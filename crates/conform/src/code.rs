//! The statements between `%{` and `}%`: the part of Python that suites use for assertions about `tcp_info`.
//!
//! `assert`, assignment and `print`; numbers, text and tuples; Python 3's operators, so `/` is exact division.

mod eval;
mod parse;
mod token;
mod value;

pub use parse::parse;
use std::collections::BTreeMap;
use std::fmt;
pub use value::Value;

/// Code that can be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(crate) statements: Vec<parse::Statement>,
}

/// The variables of a script, and its output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// The variables that code assigned.
    pub names: BTreeMap<String, Value>,
    /// The lines that `print` wrote.
    pub notes: Vec<String>,
}

/// Text outside the supported part of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeError {
    /// The line of the script, from 1.
    pub line: u32,
    /// The text found and the alternatives allowed.
    pub reason: String,
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for CodeError {}

/// Why code did not run to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// An assertion does not hold.
    Assertion {
        /// The line of the script, from 1.
        line: u32,
        /// The expression, as written.
        text: String,
        /// The names in it with their values, sorted.
        values: Vec<(String, Value)>,
        /// The message after the comma.
        message: Option<String>,
    },
    /// A name that nothing defines: the code is not understood.
    UnknownName {
        /// The line of the script, from 1.
        line: u32,
        /// The name.
        name: String,
    },
    /// An operation outside the supported part of Python, or one that Python itself refuses.
    Unsupported {
        /// The line of the script, from 1.
        line: u32,
        /// What it is.
        what: String,
    },
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Assertion { line, text, values, message } => {
                write!(f, "line {line}: `{text}` does not hold")?;
                for (at, (name, value)) in values.iter().enumerate() {
                    write!(f, "{}{name} = {value}", if at == 0 { ": " } else { ", " })?;
                }
                message.iter().try_for_each(|message| write!(f, " ({message})"))
            }
            Failed::UnknownName { line, name } => write!(f, "line {line}: the name `{name}` is not known"),
            Failed::Unsupported { line, what } => write!(f, "line {line}: {what}"),
        }
    }
}

impl std::error::Error for Failed {}

impl Program {
    /// Runs the statements in their order. `lookup` returns the values of names that the code did not assign, such as
    /// `tcpi_snd_cwnd`.
    ///
    /// # Errors
    ///
    /// [`Failed`] for the first statement that does not hold or is not understood.
    pub fn run(&self, scope: &mut Scope, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<(), Failed> {
        self.statements.iter().try_for_each(|statement| eval::statement(statement, scope, lookup))
    }
}
