//! Trace files: the ending selects the format, and a file is complete or does not exist.

use crate::csv::CsvSink;
use crate::error::TraceError;
use crate::hash::TraceHash;
use crate::parquet::{Columns, ParquetSink};
use crate::row::Row;
use crate::sink::{Chunk, Meta, Sink};
use ackclock_sim::fate::Verdict;
use ackclock_tcp::segment::Segment;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The endings that [`TraceFile::create`] accepts.
pub const ENDINGS: &[&str] = &[".parquet", ".csv"];

/// Bytes of a Parquet file that are passed to the system together.
const ROOM: usize = 1 << 18;

/// An unfinished file that is older than this, compared with a finished one of its name, belongs to a killed process.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A trace file while it is written.
#[derive(Debug)]
pub struct TraceFile {
    path: PathBuf,
    meta: Meta,
    format: Format,
}

#[derive(Debug)]
enum Format {
    Csv(CsvSink<NewFile>),
    Parquet(ParquetSink<BufWriter<NewFile>>),
}

impl TraceFile {
    /// Begins the file `path`, which must end in one of [`ENDINGS`].
    ///
    /// # Errors
    /// An unknown ending, something at `path` that is not a file, or the system's reason why the file cannot be written.
    pub fn create(path: &Path, meta: Meta) -> Result<Self, TraceError> {
        let ending = path.extension().map(|e| e.to_ascii_lowercase());
        let refused = |e| TraceError::io(path, e);
        let format = match ending.as_ref().and_then(|e| e.to_str()) {
            Some("csv") => NewFile::create(path).and_then(CsvSink::new).map(Format::Csv).map_err(refused)?,
            Some("parquet") => {
                let sink =
                    NewFile::create(path).and_then(|f| ParquetSink::new(BufWriter::with_capacity(ROOM, f), &meta));
                sink.map(Format::Parquet).map_err(refused)?
            }
            _ => return Err(TraceError::Format { path: path.to_owned(), allowed: ENDINGS }),
        };
        Ok(TraceFile { path: path.to_owned(), meta, format })
    }

    /// The requested name.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Records before they are written into a file.
#[derive(Debug)]
pub enum FileChunk {
    /// Kept complete until they are written.
    Rows(Vec<Row>),
    /// Encoded immediately.
    Columns(Columns),
}

macro_rules! either {
    ($chunk:ident, $c:ident => $call:expr) => {
        match $chunk {
            FileChunk::Rows($c) => $call,
            FileChunk::Columns($c) => $call,
        }
    };
}

impl Chunk for FileChunk {
    #[inline(always)]
    fn push(&mut self, row: Row<&Segment>) {
        either!(self, c => Chunk::push(c, row));
    }

    fn len(&self) -> usize {
        either!(self, c => c.len())
    }

    fn judge(&mut self, nth: usize, verdict: Verdict) {
        either!(self, c => c.judge(nth, verdict));
    }

    fn clear(&mut self) {
        either!(self, c => c.clear());
    }
}

impl Sink for TraceFile {
    type Chunk = FileChunk;
    type Out = ();

    fn chunk(&self) -> FileChunk {
        match &self.format {
            Format::Csv(s) => FileChunk::Rows(s.chunk()),
            Format::Parquet(s) => FileChunk::Columns(s.chunk()),
        }
    }

    fn write(&mut self, chunk: &mut FileChunk) -> io::Result<()> {
        match (&mut self.format, chunk) {
            (Format::Csv(s), FileChunk::Rows(rows)) => s.write(rows),
            (Format::Parquet(s), FileChunk::Columns(columns)) => s.write(columns),
            (Format::Csv(_), FileChunk::Columns(_)) | (Format::Parquet(_), FileChunk::Rows(_)) => {
                Err(io::Error::other("a chunk of another format"))
            }
        }
    }

    fn finish(self, hash: TraceHash) -> io::Result<()> {
        match self.format {
            Format::Csv(s) => {
                // The description comes first, so that an existing CSV always has one. If the table then fails, the
                // description is removed too.
                let name = crate::csv::description_path(&self.path);
                let mut about = NewFile::create(&name)?;
                about.write_all(crate::csv::description(&self.path, &self.meta, hash).as_bytes())?;
                let table = s.finish(hash)?;
                about.keep()?;
                table.keep().inspect_err(|_| drop(fs::remove_file(&name)))
            }
            Format::Parquet(s) => s.finish(hash)?.into_inner().map_err(IntoInnerError::into_error)?.keep(),
        }
    }
}

/// A file with a temporary name in the folder of its final name, which it gets when it is kept. If it is dropped before that,
/// it is removed.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    kept: bool,
}

impl NewFile {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// Something at `path` that is not a file, or the system's reason.
    pub fn create(path: &Path) -> io::Result<Self> {
        // A device or a pipe must not be replaced by a file, and a folder cannot be.
        if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            return Err(io::Error::other("it exists and is not a regular file"));
        }
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no file name"))?;
        for n in 0..100 {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{n}.partial", std::process::id()));
            let partial = path.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&partial) {
                Ok(file) => return Ok(NewFile { file, partial, path: path.to_owned(), kept: false }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("too many unfinished files of that name are beside it"))
    }

    /// Flushes all data to the disk, and gives the file its name.
    ///
    /// # Errors
    /// The system's reason; the temporary file is removed then.
    pub fn keep(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.partial, &self.path)?;
        self.kept = true;
        self.tidy();
        Ok(())
    }

    /// Removes unfinished files of this name that killed processes left behind. They matter to nobody, so an error is ignored.
    fn tidy(&self) {
        let (Some(name), Some(folder)) = (self.path.file_name(), self.path.parent()) else { return };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let (begins, Ok(now)) = (format!(".{}.", name.to_string_lossy()), self.modified()) else { return };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let other = entry.file_name();
            let other = other.to_string_lossy();
            let age = entry.metadata().and_then(|about| about.modified()).map(|then| now.duration_since(then));
            if other.starts_with(&begins)
                && other.ends_with(".partial")
                && matches!(age, Ok(Ok(age)) if age > ABANDONED)
            {
                _ = fs::remove_file(entry.path());
            }
        }
    }

    /// When this file was written, by the clock of its file system.
    fn modified(&self) -> io::Result<SystemTime> {
        self.file.metadata()?.modified()
    }
}

impl Write for NewFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.kept {
            // If the file cannot be removed, nothing more can be done; the error that led here is reported.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
