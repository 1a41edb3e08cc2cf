//! A TCP in a shared library with a C interface: `include/ackclock_conform.h`.
//!
//! | part | content |
//! | --- | --- |
//! | `abi` | the structures of the header, and the calls, which are unsafe |

pub mod abi;

use crate::engine::System;
use crate::errno::Errno;
use crate::run::Config;
use crate::suite::Subject;
use crate::tcp::{Answer, Call, OptionValue, ReadFlags, SocketOption, Tcp, WriteFlags};
use abi::{Address, CHost, Instance, Table, NEVER, STATES, UNKNOWN, WAIT};
use ackclock_tcp::time::Time;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most connections of one state that are listed.
const MOST: u32 = 65_536;
/// The states in the order of the header.
const NAMES: [&str; STATES] = [
    "LISTEN",
    "SYN_SENT",
    "SYN_RCVD",
    "ESTABLISHED",
    "FIN_WAIT_1",
    "FIN_WAIT_2",
    "CLOSE_WAIT",
    "CLOSING",
    "LAST_ACK",
    "TIME_WAIT",
    "CLOSED",
];

/// A loaded library.
pub struct Library {
    path: PathBuf,
    table: Table,
    system: System,
    /// Held by the TCP in use, if the library cannot have several.
    alone: Mutex<()>,
}

impl Library {
    /// Loads `path`. It stays loaded, and what it does wrong with memory is not noticed: it runs inside this process.
    ///
    /// # Errors
    /// One sentence with the path: it is no library, exports no table, has another version, or lacks a function.
    pub fn load(path: &Path, system: System) -> Result<Library, String> {
        let refuse = |why: String| format!("{}: {why}", path.display());
        // With a folder in its name the loader does not search for it elsewhere.
        let found = path.canonicalize().map_err(|why| refuse(why.to_string()))?;
        let table = abi::load(&found).map_err(refuse)?;
        let needed = [
            ("open", table.open.is_some()),
            ("close", table.close.is_some()),
            ("on_packet", table.on_packet.is_some()),
            ("poll_transmit", table.poll_transmit.is_some()),
            ("next_timer", table.next_timer.is_some()),
            ("on_timer", table.on_timer.is_some()),
        ];
        match needed.iter().find(|(_, there)| !there) {
            Some((name, _)) => Err(refuse(format!("{name} in its table is null, allowed: a function"))),
            None => Ok(Library { path: path.to_owned(), table, system, alone: Mutex::new(()) }),
        }
    }
}

impl Subject for Library {
    fn system(&self) -> System {
        self.system
    }

    fn fresh(&self, config: &Config) -> Result<Box<dyn Tcp + '_>, String> {
        let alone = self.table.threads == 0;
        let alone = alone.then(|| self.alone.lock().unwrap_or_else(PoisonError::into_inner));
        let system = match self.system {
            System::Linux => 0,
            System::FreeBsd => 1,
        };
        let host = CHost { local: Address::of(config.local), mtu: config.mtu, system };
        let instance = Instance::open(&self.table, &host);
        let instance = instance.ok_or_else(|| format!("open of {} returned null", self.path.display()))?;
        Ok(Box::new(Foreign { instance, fault: None, _alone: alone }))
    }
}

/// A TCP of a library.
struct Foreign<'a> {
    // Closed before another may be opened.
    instance: Instance<'a>,
    fault: Option<String>,
    _alone: Option<MutexGuard<'a, ()>>,
}

impl Foreign<'_> {
    /// The answer for a result of the function `name`.
    fn answer(&mut self, name: &str, result: i64) -> Answer {
        match result {
            0.. => Answer::Done(result),
            WAIT => Answer::Wait,
            UNKNOWN => Answer::Unknown,
            _ => match Errno::ALL.iter().find(|errno| errno.number() == -result) {
                Some(errno) => Answer::Failed(*errno),
                None => {
                    self.fault =
                        Some(format!("{name} returned {result}, which is no result and no error of the header"));
                    Answer::Unknown
                }
            },
        }
    }
}

impl Tcp for Foreign<'_> {
    fn set(&mut self, name: &str, value: &str) -> bool {
        self.instance.set(name, value)
    }

    fn on_packet(&mut self, now: Time, packet: &[u8]) {
        self.instance.on_packet(now.0, packet);
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        Some(self.instance.poll_transmit(now.0, buf)).filter(|len| *len > 0)
    }

    fn next_timer(&self) -> Option<Time> {
        Some(self.instance.next_timer()).filter(|at| *at != NEVER).map(Time)
    }

    fn on_timer(&mut self, now: Time) {
        self.instance.on_timer(now.0);
    }

    fn call(&mut self, now: Time, call: &Call) -> Answer {
        let (instance, at) = (&mut self.instance, now.0);
        let (name, result) = match *call {
            Call::Socket { v6 } => ("socket", instance.socket(at, v6)),
            Call::Bind { socket, local } => ("bind", instance.bind(at, socket, local)),
            Call::Listen { socket, backlog } => ("listen", instance.listen(at, socket, backlog)),
            Call::Accept { socket } => ("accept", instance.accept(at, socket)),
            Call::Connect { socket, remote } => ("connect", instance.connect(at, socket, remote)),
            Call::Read { socket, len, flags } => ("read", instance.read(at, socket, len, read_bits(flags))),
            Call::Write { socket, len, flags } => ("write", instance.write(at, socket, len, write_bits(flags))),
            Call::Shutdown { socket, read, write } => {
                let how = match (read, write) {
                    (true, false) => 0,
                    (false, _) => 1,
                    (true, true) => 2,
                };
                ("shutdown", instance.shutdown(at, socket, how))
            }
            Call::Close { socket } => ("close_socket", instance.close_socket(at, socket)),
            Call::SetOption { socket, option, ref value } => {
                ("set_option", instance.set_option(at, socket, option.name(), value))
            }
            Call::GetOption { socket, option } => {
                let (result, number, seconds, text) = instance.get_option(at, socket, option.name());
                return match (result, text, option) {
                    (0.., Some(text), _) => Answer::Value(OptionValue::Text(text)),
                    (0.., None, SocketOption::Linger) => {
                        Answer::Value(OptionValue::Linger { on: number != 0, seconds })
                    }
                    (0.., None, _) => Answer::Value(OptionValue::Integer(number)),
                    (_, _, _) => self.answer("get_option", result),
                };
            }
            Call::SetNonBlocking { socket, on } => ("set_non_blocking", instance.set_non_blocking(at, socket, on)),
            Call::QueueLength { socket, queue } => ("queue_length", instance.queue_length(at, socket, queue.name())),
            Call::Poll { socket } => ("poll", instance.poll(at, socket)),
        };
        self.answer(name, result)
    }

    fn info(&self, now: Time, socket: u32, field: &str) -> Option<i64> {
        self.instance.info(now.0, socket, field)
    }

    fn states(&self) -> Option<Vec<&'static str>> {
        let counts = self.instance.states()?;
        let each = NAMES.iter().zip(counts);
        Some(each.flat_map(|(name, count)| std::iter::repeat_n(*name, count.min(MOST) as usize)).collect())
    }

    fn drop_time_waits(&mut self) -> bool {
        self.instance.drop_time_waits()
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }
}

fn read_bits(flags: ReadFlags) -> u32 {
    let ReadFlags { peek, dont_wait, wait_all, truncate } = flags;
    u32::from(peek) | u32::from(dont_wait) << 1 | u32::from(wait_all) << 2 | u32::from(truncate) << 3
}

fn write_bits(flags: WriteFlags) -> u32 {
    let WriteFlags { more, dont_wait, end_of_record } = flags;
    u32::from(dont_wait) << 1 | u32::from(more) << 4 | u32::from(end_of_record) << 5
}
