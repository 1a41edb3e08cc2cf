//! Packets of a capture as a new file. It gets its name once it is complete.

use super::{end, unreadable};
use ackclock_capture::read::open;
use ackclock_capture::write::{anonymised, chosen, commented, Copied, Uncopied};
use ackclock_trace::file::NewFile;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;

/// Writes the frames with these numbers, in ascending order; or all frames, those with these numbers with a comment. Without
/// `frames` and `comments`, writes all TCP segments, or those between the two
/// ends `chosen`, without names and payload. Returns the number of packets written and the number left out.
#[pyfunction]
pub(crate) fn capture_copy(
    py: Python<'_>,
    file: String,
    frames: Option<Vec<u64>>,
    comments: Option<BTreeMap<u64, String>>,
    chosen: Option<(String, String)>,
    to: String,
) -> PyResult<(u64, u64)> {
    let chosen = chosen.map(|(a, b)| Ok::<_, PyErr>((end(&a)?, end(&b)?))).transpose()?;
    let copied = match (frames, comments) {
        (Some(frames), _) => Copy::Chosen(frames),
        (None, Some(comments)) => Copy::Commented(comments),
        (None, None) => Copy::Anonymised(chosen),
    };
    match py.detach(|| copy(Path::new(&file), &copied, Path::new(&to))) {
        Ok(Copied { written, left_out }) => Ok((written, left_out)),
        Err(Uncopied::Unreadable(e)) => Err(unreadable(py, &file, &e)),
        Err(e @ Uncopied::Io(_)) => Err(PyOSError::new_err(format!("{to}: {e}"))),
    }
}

/// What to write.
enum Copy {
    /// These frames.
    Chosen(Vec<u64>),
    /// All frames, these with comments.
    Commented(BTreeMap<u64, String>),
    /// All TCP, or that of one connection, without names.
    Anonymised(Option<(SocketAddr, SocketAddr)>),
}

fn copy(file: &Path, what: &Copy, to: &Path) -> Result<Copied, Uncopied> {
    let mut from = open(file).map_err(Uncopied::Unreadable)?;
    let mut out = BufWriter::new(NewFile::create(to).map_err(Uncopied::Io)?);
    let copied = from.give(|input| match what {
        Copy::Chosen(frames) => chosen(input, frames, &mut out),
        Copy::Commented(comments) => commented(input, comments, &mut out),
        Copy::Anonymised(flow) => anonymised(input, *flow, &mut out),
    })?;
    out.flush().map_err(Uncopied::Io)?;
    let complete = out.into_inner().map_err(|e| Uncopied::Io(e.into_error()))?;
    complete.keep().map_err(Uncopied::Io)?;
    Ok(copied)
}
