//! The process with the TCP under test, which answers lines with lines.

use crate::clock::Clock;
use crate::error::LiveError;
use crate::namespace::Namespace;
use ackclock_conform::lines::{self, Reply, Request, Side};
use ackclock_conform::tcp::Answer;
use ackclock_tcp::time::Nanos;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long the process may take to start.
const START: Nanos = Nanos::from_secs(10);
/// How long it may take to answer.
const PATIENCE: Nanos = Nanos::from_secs(2);
/// The longest line, bytes.
const LONGEST: usize = 1 << 16;

/// A process. It is killed when this is dropped, with the processes that it has started in its group.
pub(super) struct Program {
    name: String,
    child: Child,
    stdout: UnixStream,
    /// What it has written since its last whole line.
    unread: Vec<u8>,
    ended: bool,
    answers: BTreeMap<u64, Reply>,
    asked: u64,
    fault: Option<String>,
    clock: Clock,
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Program {
    /// Starts `command` inside `namespace`, in a group of its own.
    pub(super) fn start(
        namespace: &Namespace,
        command: &[String],
        environment: &[(&str, String)],
    ) -> Result<Program, LiveError> {
        let (program, arguments) = command.split_first().ok_or(LiveError::Input("found no command".into()))?;
        let (stdout, theirs) = UnixStream::pair().map_err(LiveError::system("opening a pair of sockets"))?;
        stdout.set_nonblocking(true).map_err(LiveError::system("opening a pair of sockets"))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::from(OwnedFd::from(theirs))).process_group(0);
        let child = namespace.run(|| command.spawn())?;
        let child = child.map_err(|why| LiveError::Input(format!("cannot start {program}: {why}")))?;
        Ok(Program {
            name: program.clone(),
            child,
            stdout,
            unread: Vec::new(),
            ended: false,
            answers: BTreeMap::new(),
            asked: 0,
            fault: None,
            clock: Clock::start(),
        })
    }

    /// Its first line.
    pub(super) fn hello(&mut self) -> Result<Side, LiveError> {
        let from = self.clock.now();
        let refuse = |why: String| Err(LiveError::Input(why));
        loop {
            self.fill();
            if let Some(line) = self.line() {
                return lines::read_hello(&line)
                    .or_else(|why| refuse(format!("the first line of {}: {why}", self.name)));
            }
            if let Some(fault) = self.fault.take() {
                return refuse(fault);
            }
            if self.clock.now().since(from) > START {
                return refuse(format!("{} wrote no first line within {} s", self.name, START.0 / 1_000_000_000));
            }
            self.sleep();
        }
    }

    /// Asks; returns the number of the question.
    pub(super) fn send(&mut self, request: &Request) -> u64 {
        self.asked += 1;
        let line = lines::request(self.asked, request) + "\n";
        let written = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(line.as_bytes()));
        if let Err(why) = written {
            self.read();
            self.fault.get_or_insert_with(|| format!("writing to {}: {why}", self.name));
        }
        self.asked
    }

    /// Waits for the answer to a question. Without one there is a fault, and the answer is `Unknown`.
    pub(super) fn answer(&mut self, id: u64) -> Reply {
        let from = self.clock.now();
        loop {
            self.read();
            if let Some(reply) = self.answers.remove(&id) {
                return reply;
            }
            if self.clock.now().since(from) > PATIENCE {
                let text =
                    || format!("{} has not answered a question within {} s", self.name, PATIENCE.0 / 1_000_000_000);
                self.fault.get_or_insert_with(text);
            }
            if self.ended || self.fault.is_some() {
                return Reply::Answer(Answer::Unknown);
            }
            self.sleep();
        }
    }

    /// The answer to a call that blocked: `Wait` if it still does.
    pub(super) fn answer_so_far(&mut self, id: u64) -> Reply {
        self.read();
        self.answers.remove(&id).unwrap_or(Reply::Answer(Answer::Wait))
    }

    pub(super) fn has_answer(&self, id: u64) -> bool {
        self.answers.contains_key(&id)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.fault.is_some()
    }

    /// What it did wrong since the last question.
    pub(super) fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Reads the answers that it has written.
    pub(super) fn read(&mut self) {
        self.fill();
        while let Some(line) = self.line() {
            match lines::read_reply(&line) {
                Ok((id, reply)) => drop(self.answers.insert(id, reply)),
                Err(why) => drop(self.fault.get_or_insert_with(|| format!("a line of {}: {why}", self.name))),
            }
        }
    }

    /// Its output, unless it has ended.
    pub(super) fn readable(&self) -> Option<BorrowedFd<'_>> {
        (!self.ended).then(|| self.stdout.as_fd())
    }

    fn fill(&mut self) {
        let mut buf = [0; 4096];
        while !self.ended {
            match self.stdout.read(&mut buf) {
                Ok(0) => {
                    self.ended = true;
                    let how = self.exit();
                    self.fault.get_or_insert_with(|| format!("{} {how}", self.name));
                }
                Ok(len) => self.unread.extend_from_slice(&buf[..len]),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => {
                    self.ended = true;
                    self.fault.get_or_insert_with(|| format!("reading from {}: {why}", self.name));
                }
            }
            if self.unread.len() > LONGEST && !self.unread.contains(&b'\n') {
                self.ended = true;
                self.fault.get_or_insert_with(|| format!("{} wrote a line of more than {LONGEST} bytes", self.name));
            }
        }
    }

    /// How it has ended, after it closed its output.
    fn exit(&mut self) -> String {
        for _ in 0..20 {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                Ok(Some(status)) => return format!("has ended: {status}"),
                Err(why) => return format!("has ended: {why}"),
            }
        }
        "has closed its output".to_owned()
    }

    fn line(&mut self) -> Option<String> {
        let end = self.unread.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.unread.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    /// Sleeps until it writes something, at most 100 ms.
    fn sleep(&self) {
        if let Some(file) = self.readable() {
            let _ = poll(&mut [PollFd::new(file, PollFlags::POLLIN)], PollTimeout::from(100_u16));
        }
    }
}
