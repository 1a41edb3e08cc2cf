//! Conformance scripts against a TCP in another process, on real time: over a TUN device in a network namespace that each
//! script gets for itself.
//!
//! | part | content |
//! | --- | --- |
//! | `program` | the process: its questions and answers as lines of JSON ([`ackclock_conform::lines`]) |
//! | `ends` | the end of the device that the script has |

mod ends;
mod program;

use crate::clock::Clock;
use crate::error::LiveError;
use crate::namespace::Namespace;
use crate::realtime;
use ackclock_conform::engine::System;
use ackclock_conform::lines::{Reply, Request};
use ackclock_conform::run::Config;
use ackclock_conform::suite::Subject;
use ackclock_conform::tcp::{Answer, Call, Tcp};
use ackclock_tcp::time::{Nanos, Time};
use ends::End;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::time::{TimeSpec, TimeValLike};
use program::Program;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};

/// The latest time of a script.
const LATEST: Time = Time(120_000_000_000);
/// The largest IP packet.
const LARGEST: usize = 65_535;

/// A command that starts the TCP under test, once for each script.
pub struct Programs {
    device: String,
    command: Vec<String>,
    system: System,
}

impl Programs {
    /// For a TUN device of this name and a command with its arguments, which is started once to see whether it works.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] if namespaces or TUN devices may not be created, [`LiveError::Input`] for a device or a command
    /// that cannot be used.
    pub fn new(device: &str, command: Vec<String>, system: System) -> Result<Programs, LiveError> {
        let most = libc::IFNAMSIZ - 1;
        if device.is_empty() || device.len() > most || device.contains(['/', ' ', '%', ':']) {
            return Err(LiveError::Input(format!(
                "found a device name \"{device}\", allowed: 1 to {most} bytes without /, %, : and blanks"
            )));
        }
        if command.is_empty() {
            return Err(LiveError::Input("found no command after --, allowed: a program and its arguments".into()));
        }
        let programs = Programs { device: device.to_owned(), command, system };
        let local = SocketAddr::from((Ipv4Addr::new(192, 168, 0, 1), 8080));
        let remote = SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 8080));
        programs.start(local, remote, 1500)?;
        Ok(programs)
    }

    fn start(&self, local: SocketAddr, remote: SocketAddr, mtu: u32) -> Result<Running, LiveError> {
        let namespace = Namespace::new()?;
        let environment = [
            ("ACKCLOCK_TUN", self.device.clone()),
            ("ACKCLOCK_LOCAL", local.ip().to_string()),
            ("ACKCLOCK_REMOTE", remote.ip().to_string()),
            ("ACKCLOCK_MTU", mtu.to_string()),
        ];
        let mut program = Program::start(&namespace, &self.command, &environment)?;
        let side = program.hello()?;
        let end = End::new(&namespace, side, &self.device, (local.ip(), remote.ip()), mtu)?;
        Ok(Running {
            program: RefCell::new(program),
            end,
            arrived: VecDeque::new(),
            buf: vec![0; LARGEST],
            blocked: None,
            fault: None,
            clock: Clock::start(),
            _namespace: namespace,
        })
    }
}

impl Subject for Programs {
    fn system(&self) -> System {
        self.system
    }

    fn fresh(&self, config: &Config) -> Result<Box<dyn Tcp + '_>, String> {
        // For this thread and, by inheritance, the command.
        realtime::request(true);
        let running = self.start(config.local, config.remote, config.mtu);
        running.map(|running| Box::new(running) as Box<dyn Tcp>).map_err(|why| why.to_string())
    }
}

/// A process with its device.
struct Running {
    // Killed before its namespace goes.
    program: RefCell<Program>,
    end: End,
    arrived: VecDeque<Vec<u8>>,
    buf: Vec<u8>,
    /// A call that blocks, with its number.
    blocked: Option<(u64, Call)>,
    fault: Option<String>,
    clock: Clock,
    _namespace: Namespace,
}

impl Running {
    fn now(&self) -> Time {
        Time(self.clock.now().since(Clock::START).0)
    }

    /// Reads the packets that have arrived.
    fn receive(&mut self) {
        loop {
            match self.end.recv(&mut self.buf) {
                Ok(Some(packet)) => self.arrived.push_back(packet),
                Ok(None) => return,
                Err(why) => {
                    self.fault.get_or_insert(format!("reading from the device: {why}"));
                    return;
                }
            }
        }
    }

    /// The answer to a question other than a call.
    fn ask(&self, request: &Request) -> Reply {
        let mut program = self.program.borrow_mut();
        let id = program.send(request);
        program.answer(id)
    }

    /// Sleeps until a packet or a line arrives, or the time is `until`.
    fn sleep(&self, span: Nanos) {
        let program = self.program.borrow();
        let mut files = vec![PollFd::new(self.end.readable(), PollFlags::POLLIN)];
        files.extend(program.readable().map(|file| PollFd::new(file, PollFlags::POLLIN)));
        // An interrupted sleep is only shorter.
        let _ = ppoll(&mut files, Some(TimeSpec::nanoseconds(span.0.cast_signed())), None);
    }
}

impl Tcp for Running {
    fn set(&mut self, name: &str, value: &str) -> bool {
        let asked = Request::Set { name: name.to_owned(), value: value.to_owned() };
        matches!(self.ask(&asked), Reply::Answer(Answer::Done(_)))
    }

    fn on_packet(&mut self, _now: Time, packet: &[u8]) {
        if let Err(why) = self.end.send(packet) {
            self.fault.get_or_insert(format!("writing to the device: {why}"));
        }
    }

    fn poll_transmit(&mut self, _now: Time, buf: &mut [u8]) -> Option<usize> {
        if self.arrived.is_empty() {
            self.receive();
        }
        let packet = self.arrived.pop_front()?;
        buf.get_mut(..packet.len())?.copy_from_slice(&packet);
        Some(packet.len())
    }

    fn next_timer(&self) -> Option<Time> {
        None
    }

    fn on_timer(&mut self, _now: Time) {}

    fn call(&mut self, _now: Time, call: &Call) -> Answer {
        let program = self.program.get_mut();
        let known = self.blocked.take_if(|(_, blocked)| blocked == call);
        let (id, reply) = match known {
            Some((id, _)) => (id, program.answer_so_far(id)),
            None => {
                let id = program.send(&Request::Call(call.clone()));
                (id, program.answer(id))
            }
        };
        match reply {
            Reply::Answer(Answer::Wait) => {
                self.blocked = Some((id, call.clone()));
                Answer::Wait
            }
            Reply::Answer(answer) => answer,
            Reply::States(_) => {
                self.fault.get_or_insert("it answered a call with states".into());
                Answer::Unknown
            }
        }
    }

    fn info(&self, _now: Time, socket: u32, field: &str) -> Option<i64> {
        match self.ask(&Request::Info { socket, field: field.to_owned() }) {
            Reply::Answer(Answer::Done(value)) => Some(value),
            Reply::Answer(_) | Reply::States(_) => None,
        }
    }

    fn states(&self) -> Option<Vec<&'static str>> {
        match self.ask(&Request::States) {
            Reply::States(states) => Some(states),
            Reply::Answer(_) => None,
        }
    }

    fn drop_time_waits(&mut self) -> bool {
        matches!(self.ask(&Request::DropTimeWaits), Reply::Answer(Answer::Done(_)))
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.take().or_else(|| self.program.get_mut().fault())
    }

    fn wait(&mut self, until: Time) -> Option<Time> {
        loop {
            let now = self.now();
            self.receive();
            let program = self.program.get_mut();
            program.read();
            let answered = self.blocked.as_ref().is_some_and(|(id, _)| program.has_answer(*id));
            if now >= until || !self.arrived.is_empty() || answered || program.has_failed() || self.fault.is_some() {
                // Read again, so that nothing gets a time before it arrived.
                return Some(self.now());
            }
            self.sleep(until.since(now));
        }
    }

    fn latest(&self) -> Time {
        LATEST
    }
}
