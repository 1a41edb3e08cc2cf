//! Errors with a file: one sentence, with the path.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A trace or a capture could not be written. No incomplete file remains.
#[derive(Debug)]
pub enum TraceError {
    /// The file's name has an unknown ending.
    Format {
        /// The name found.
        path: PathBuf,
        /// The known endings.
        allowed: &'static [&'static str],
    },
    /// The system refused.
    Io {
        /// The requested file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The system refused a capture, or a packet cannot be written.
    Capture {
        /// The requested file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl TraceError {
    /// `source`, for `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        TraceError::Io { path: path.to_owned(), source }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Format { path, allowed } => {
                write!(
                    f,
                    "trace file {}: found a name with another ending, allowed: {}",
                    path.display(),
                    allowed.join(", ")
                )
            }
            TraceError::Io { path, source } => write!(f, "cannot write the trace file {}: {source}", path.display()),
            TraceError::Capture { path, source } => write!(f, "cannot write the capture {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TraceError::Format { .. } => None,
            TraceError::Io { source, .. } | TraceError::Capture { source, .. } => Some(source),
        }
    }
}
