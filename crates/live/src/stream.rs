//! The files at the ends of a transfer. A written file gets its name only once it is complete.
//!
//! Source: Linux, `man 2 open` (`O_TMPFILE`), `man 2 linkat`.

use crate::error::LiveError;
use crate::sys;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file, or a standard stream of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard input, or standard output.
    Standard,
    /// The file with this name.
    File(PathBuf),
}

impl Stream {
    /// `-` is the standard stream.
    pub fn named(name: &str) -> Self {
        match name {
            "-" => Stream::Standard,
            name => Stream::File(name.into()),
        }
    }

    /// Opens it.
    pub(crate) fn to_read(&self) -> Result<File, LiveError> {
        let file = match self {
            Stream::Standard => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            Stream::File(path) => File::open(path),
        };
        let file = file.map_err(|e| LiveError::Input(format!("{self}: {e}")))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(LiveError::Input(format!("{self}: found a folder, allowed: a file")));
        }
        Ok(file)
    }

    /// Creates it. A pipe or a device is opened; an existing file is left unchanged.
    pub(crate) fn to_write(&self) -> Result<Output, LiveError> {
        let failed = |e: io::Error| LiveError::Input(format!("{self}: cannot write it: {e}"));
        let Stream::File(path) = self else {
            let file = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
            return Ok(Output { file: file.into(), name: Name::Given });
        };
        let refused =
            |found| LiveError::Input(format!("{self}: found {found}, allowed: a name that does not exist yet"));
        match fs::metadata(path) {
            Ok(m) if m.is_dir() => Err(refused("a folder")),
            Ok(m) if m.is_file() => Err(refused("a file")),
            Ok(_) => {
                let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
                Ok(Output { file, name: Name::Given })
            }
            Err(_) => Output::nameless(path).or_else(|e| Output::beside(path, &e)).map_err(failed),
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stream::Standard => f.write_str("standard input or output"),
            Stream::File(path) => path.display().fmt(f),
        }
    }
}

/// A file while it is written. If it is dropped before it is complete, nothing remains.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    name: Name,
}

/// The name of a file while it is written.
#[derive(Debug)]
enum Name {
    /// It had its name before.
    Given,
    /// The file has no name and gets this one when it is kept; otherwise it disappears with the process.
    Later(PathBuf),
    /// The file has the first name and gets the second when it is kept: for file systems without unnamed files.
    Part(PathBuf, PathBuf),
}

impl Output {
    fn nameless(path: &Path) -> io::Result<Output> {
        let file = OpenOptions::new().write(true).mode(0o666).custom_flags(libc::O_TMPFILE).open(folder(path))?;
        Ok(Output { file, name: Name::Later(path.to_owned()) })
    }

    /// A file next to `path`, since an unnamed file is impossible because of `why`.
    fn beside(path: &Path, why: &io::Error) -> io::Result<Output> {
        // Kernels and file systems that do not know the flag take the call as an attempt to write to a folder.
        if !matches!(why.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL)) {
            return Err(io::Error::new(why.kind(), why.to_string()));
        }
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(format!(".part-{}", std::process::id()));
        let part = folder(path).join(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        Ok(Output { file, name: Name::Part(part, path.to_owned()) })
    }

    /// The file.
    pub(crate) fn file(&self) -> Result<File, LiveError> {
        self.file.try_clone().map_err(LiveError::system("the file for the received data"))
    }

    /// Everything is written: gives the file its name.
    pub(crate) fn complete(mut self) -> Result<(), LiveError> {
        let named = match &self.name {
            Name::Given => return Ok(()),
            Name::Later(path) => sys::give_name(self.file.as_fd(), path),
            // Unlike renaming, this does not replace a file created in the meantime.
            Name::Part(part, path) => fs::hard_link(part, path).and_then(|()| fs::remove_file(part)),
        };
        let (Name::Later(path) | Name::Part(_, path)) = &self.name else { return Ok(()) };
        named.map_err(LiveError::system(path.display().to_string()))?;
        self.name = Name::Given;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Name::Part(part, _) = &self.name {
            // If it was already removed, that was intended.
            let _ = fs::remove_file(part);
        }
    }
}

/// The folder of a file.
fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A separate folder for a test; returns its final contents.
    fn within(name: &str, work: impl FnOnce(&Path)) -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("ackclock-stream-{}-{name}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        work(&folder);
        let names = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        fs::remove_dir_all(&folder).unwrap();
        names
    }

    /// A file as created here, and one as created where unnamed files do not exist.
    fn both_kinds(folder: &Path) -> [(PathBuf, Output); 2] {
        let [usual, other] = ["copy", "other"].map(|name| folder.join(name));
        let unknown = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        let outputs = [Stream::File(usual.clone()).to_write(), Ok(Output::beside(&other, &unknown).unwrap())];
        let [a, b] = outputs.map(Result::unwrap);
        [(usual, a), (other, b)]
    }

    #[test]
    fn a_file_has_its_name_when_it_is_complete() {
        let mut names = within("complete", |folder| {
            for (path, output) in both_kinds(folder) {
                output.file().unwrap().write_all(b"all of it").unwrap();
                assert!(!path.exists());
                output.complete().unwrap();
                assert_eq!(fs::read(&path).unwrap(), b"all of it");
            }
        });
        names.sort();
        assert_eq!(names, ["copy", "other"]);
    }

    #[test]
    fn a_file_that_is_not_complete_leaves_nothing() {
        let names = within("dropped", |folder| {
            for (_, output) in both_kinds(folder) {
                output.file().unwrap().write_all(b"half").unwrap();
            }
        });
        assert!(names.is_empty(), "{names:?}");
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let mut names = within("there", |folder| {
            for (path, output) in both_kinds(folder) {
                // It is created while the other one is written.
                fs::write(&path, "mine").unwrap();
                output.file().unwrap().write_all(b"theirs").unwrap();
                assert!(output.complete().is_err());
                assert_eq!(fs::read(&path).unwrap(), b"mine");
            }
            for (path, found) in [(folder.join("copy"), "found a file"), (folder.to_owned(), "found a folder")] {
                let refused = Stream::File(path).to_write().unwrap_err();
                assert!(refused.to_string().contains(found) && refused.exit_code() == 2, "{refused}");
            }
            for missing in ["no/copy", "copy/copy"] {
                let refused = Stream::File(folder.join(missing)).to_write().unwrap_err();
                assert!(refused.to_string().contains("cannot write it") && refused.exit_code() == 2, "{refused}");
            }
        });
        names.sort();
        assert_eq!(names, ["copy", "other"]);
    }
}
