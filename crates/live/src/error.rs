//! What can go wrong in a live run, each with the exit code of the command.

use std::fmt;
use std::io;

/// Why a live run did not begin, or ended early.
#[derive(Debug)]
pub enum LiveError {
    /// The system or its permissions lack what live runs need; the sentence says what, and what would give it. Exit code 3.
    Unavailable(String),
    /// What the user asked for cannot be done. Exit code 2.
    Input(String),
    /// A system call failed. Exit code 1.
    System {
        /// What was being done, as in "opening /dev/net/tun".
        doing: String,
        /// What the system answered.
        error: io::Error,
    },
    /// The run failed: a peer that never answered, bytes that differ. Exit code 1.
    Failed(String),
    /// The user ended it. Exit code 130.
    Interrupted,
}

impl LiveError {
    /// For a system call that failed, as an argument of `map_err`.
    pub fn system<E: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(E) -> LiveError {
        let doing = doing.into();
        move |error| LiveError::System { doing, error: error.into() }
    }

    /// The exit code of a command that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            LiveError::Unavailable(_) => 3,
            LiveError::Input(_) => 2,
            LiveError::System { .. } | LiveError::Failed(_) => 1,
            LiveError::Interrupted => 130,
        }
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Unavailable(sentence) | LiveError::Input(sentence) | LiveError::Failed(sentence) => {
                f.write_str(sentence)
            }
            LiveError::System { doing, error } => write!(f, "{doing}: {error}"),
            LiveError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for LiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LiveError::System { error, .. } => Some(error),
            LiveError::Unavailable(_) | LiveError::Input(_) | LiveError::Failed(_) | LiveError::Interrupted => None,
        }
    }
}
