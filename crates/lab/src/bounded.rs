//! Reads files named by a user, with bounds on size and time: a name may lead to a device, or to a pipe without a writer.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The largest file that is read, bytes.
pub(crate) const LARGEST: u64 = 16 << 20;
/// The longest time that a file not on a disk may take to deliver its contents.
const PATIENCE: Duration = Duration::from_secs(10);

/// The contents of a file; one byte more than [`LARGEST`] if there is more.
///
/// # Errors
/// It cannot be read; or it is not a file on a disk, and its contents did not end within 10 s.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    // Files of /proc have no length, and reading some of them blocks.
    if about.is_file() && about.len() > 0 {
        return taken(path);
    }
    let (sender, heard) = mpsc::channel();
    let path = path.to_owned();
    let reads = move || sender.send(taken(&path)).unwrap_or_default();
    thread::Builder::new().spawn(reads)?;
    let late = || io::Error::new(ErrorKind::TimedOut, "it did not end within 10 s");
    heard.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(late()))
}

fn taken(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
