//! The errors of a live run, each with the exit code of the command.

use std::fmt;
use std::io;

/// Why a live run did not begin, or ended early.
#[derive(Debug)]
pub enum LiveError {
    /// The system or its permissions lack something that live runs need; the sentence names it and says how to get it. Exit
    /// code 3.
    Unavailable(String),
    /// The user's request cannot be met. Exit code 2.
    Input(String),
    /// A system call failed. Exit code 1.
    System {
        /// The failed action, as in "opening /dev/net/tun".
        doing: String,
        /// The system's error.
        error: io::Error,
    },
    /// The run failed: a peer that never answered, different bytes. Exit code 1.
    Failed(String),
    /// The user ended it. Exit code 130.
    Interrupted,
}

impl LiveError {
    /// Returns a function for `map_err` that makes the error of a failed system call.
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
