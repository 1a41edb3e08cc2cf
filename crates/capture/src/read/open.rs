//! Opens a local file; the only module that uses the file system.

use super::{Contents, Frame, Input, Unreadable};
use memmap2::Mmap;
use std::io::stdin;
use std::path::Path;

/// A file that was opened.
#[derive(Debug)]
pub enum File {
    /// Mapped into memory.
    Mapped(Mmap),
    /// A pipe or a device.
    Stream(std::fs::File),
    /// The standard input.
    Stdin,
}

/// Opens a capture; `-` is the standard input.
///
/// # Errors
/// [`Unreadable::Io`].
pub fn open(path: &Path) -> Result<File, Unreadable> {
    if path.as_os_str() == "-" {
        return Ok(File::Stdin);
    }
    let file = std::fs::File::open(path).map_err(Unreadable::Io)?;
    let kind = file.metadata().map_err(Unreadable::Io)?;
    if kind.is_dir() {
        return Err(Unreadable::Io(std::io::ErrorKind::IsADirectory.into()));
    }
    // An empty file cannot be mapped.
    if !kind.is_file() || kind.len() == 0 {
        return Ok(File::Stream(file));
    }
    map(&file).map(File::Mapped).map_err(Unreadable::Io)
}

#[expect(unsafe_code, reason = "the only way to read a file in place; nothing is copied at gigabytes a second")]
fn map(file: &std::fs::File) -> std::io::Result<Mmap> {
    // SAFETY: the mapping is only read. If another program truncates the file meanwhile, this one ends with SIGBUS. If another
    // process writes into it, the packets change and go through the same checks: no length is read twice.
    let map = unsafe { Mmap::map(file)? };
    #[cfg(unix)]
    map.advise(memmap2::Advice::Sequential)?;
    Ok(map)
}

impl File {
    /// Reads it and calls `each` for every packet.
    ///
    /// # Errors
    /// The errors of [`read`](super::read()).
    pub fn read<F: FnMut(&Frame<'_>)>(&mut self, each: F) -> Result<Contents, Unreadable> {
        self.give(|input| super::read(input, each))
    }

    /// Passes its bytes to a reader.
    pub fn give<T>(&mut self, to: impl FnOnce(Input<'_>) -> T) -> T {
        match self {
            File::Mapped(map) => to(Input::Bytes(map)),
            File::Stream(file) => to(Input::Stream(file)),
            File::Stdin => to(Input::Stream(&mut stdin().lock())),
        }
    }
}
