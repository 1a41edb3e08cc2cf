//! Many scripts: their files, the TCP that runs them, and the result of each.

use crate::engine::{Engine, Settings, StackOf, System};
use crate::run::{run, Config, Layout, Report};
use crate::script;
use crate::tcp::Tcp;
use crate::verdict::{Fault, Reason, Verdict};
use ackclock_tcp::stack::Stack;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The TCP under test, as a source of a fresh one for each script.
pub trait Subject: Sync {
    /// The system that the scripts expect: which of their `#ifdef` parts hold.
    fn system(&self) -> System;

    /// How exactly the options of a packet are compared. Default: only their content, since RFC 9293 §3.1 leaves order and
    /// padding to the sender.
    fn layout(&self) -> Layout {
        Layout::Free
    }

    /// A TCP on a host with the addresses and the device of `config`.
    ///
    /// # Errors
    /// Why there is none: the script then fails with this sentence.
    fn fresh(&self, config: &Config) -> Result<Box<dyn Tcp + '_>, String>;
}

/// This project's own engine, set up for each script.
#[derive(Clone)]
pub struct Setup {
    /// The system whose settings and option order the scripts expect.
    pub system: System,
    /// The stack in place of the system's own.
    pub stack: Option<Stack>,
    /// How a stack is read from the text that a script names.
    pub stack_of: StackOf,
}

impl Subject for Setup {
    fn system(&self) -> System {
        self.system
    }

    /// The engine follows the order of the system that it models.
    fn layout(&self) -> Layout {
        Layout::Exact
    }

    fn fresh(&self, config: &Config) -> Result<Box<dyn Tcp + '_>, String> {
        let addresses = [config.local.ip()];
        let settings = Settings::new(self.system, &addresses, self.stack.clone(), self.stack_of);
        Ok(Box::new(Engine::new(&addresses, config.mtu, settings)))
    }
}

/// The scripts below `path` (or `path` itself), in the order of their names.
///
/// # Errors
/// A folder cannot be read.
pub fn scripts(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            // A link to a folder may lead back to a folder that contains it.
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pkt") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Runs one file against a fresh TCP.
///
/// # Errors
/// The file cannot be read.
pub fn run_file(path: &Path, subject: &dyn Subject) -> io::Result<Report> {
    let text = read(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let files =
        |name: &str| -> Option<String> { read(&folder.join(name)).ok().filter(|_| Path::new(name).is_relative()) };
    Ok(run_text(&path.display().to_string(), &text, subject, &files))
}

/// The text of a regular file, up to the length that a script may have and one byte more.
fn read(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(script::MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs several files on `threads` threads; the results are in the order of the files.
///
/// # Errors
/// A file cannot be read: the first of these in the order of the files, with its path.
pub fn run_files(
    paths: &[PathBuf],
    subject: &dyn Subject,
    threads: usize,
) -> Result<Vec<Report>, (PathBuf, io::Error)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, path)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, paths.get(at)?)))
        {
            done.push((at, run_file(path, subject)));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, paths.len().max(1))).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect::<Vec<_>>()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(at, report)| report.map_err(|why| (paths[at].clone(), why))).collect()
}

/// Runs the text of a script against a fresh TCP.
pub fn run_text(name: &str, text: &str, subject: &dyn Subject, files: &dyn Fn(&str) -> Option<String>) -> Report {
    let report = |verdict| Report { verdict, talk: Vec::new() };
    let defined: &[&str] = match subject.system() {
        System::Linux => &["linux"],
        System::FreeBsd => &["FreeBSD"],
    };
    let script = match script::parse(name, text, defined) {
        Ok(script) => script,
        Err(why) => return report(Verdict::NotUnderstood(Fault::new(why.line, Reason::Syntax, why.to_string()))),
    };
    let mut config = match Config::of(&script) {
        Ok(config) => config,
        Err(fault) => return report(fault.verdict()),
    };
    config.layout = subject.layout();
    match subject.fresh(&config) {
        Ok(mut tcp) => run(&script, &config, &mut *tcp, files),
        Err(why) => report(Fault::new(1, Reason::Broken, why).verdict()),
    }
}
