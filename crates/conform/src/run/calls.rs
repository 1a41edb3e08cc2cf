//! Socket calls: from the script's words to [`Call`]s, blocking ones included.

use super::names::{flags, number, NONBLOCK, READ_WRITE};
use super::numbers::Stage;
use super::{results, seconds, Due, Runner};
use crate::script::syntax::{self, Value};
use crate::tcp::{Answer, Call, Queue, ReadFlags, SocketOption, WriteFlags};
use crate::verdict::{Fault, Reason};
use ackclock_tcp::time::{Nanos, Time};

/// How long a call may block if the script does not give its end.
const LONGEST: Nanos = Nanos::from_secs(3600);

/// A call that blocks.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    line: u32,
    call: syntax::Call,
    /// When it must return; `None`: at any time.
    until: Option<Time>,
}

/// A part of a call that is not understood.
fn unknown(line: u32, text: impl Into<String>) -> Fault {
    Fault::new(line, Reason::Unknown, text)
}

impl Runner<'_> {
    pub(super) fn call(&mut self, line: u32, call: &syntax::Call, due: Due) -> Result<(), Fault> {
        // As in packetdrill, one call at a time.
        self.finish_call()?;
        match call.name.as_str() {
            "fcntl" => return self.fcntl(line, call),
            "poll" => return self.poll(line, call),
            "getsockopt" if option_name(call) == "TCP_INFO" => return self.tcp_info(line, call),
            _ => {}
        }
        let typed = self.typed(line, call)?;
        let now = self.world.now();
        self.say(now, line, format!("{}(…)", call.name));
        let answer = self.world.call(&typed).map_err(|text| Fault::new(line, Reason::Broken, text))?;
        self.after(&typed);
        if answer != Answer::Wait {
            return self.check_answer(line, call, &answer);
        }
        let until = call
            .until
            .map(|end| if due.relative { super::after(due.base, end) } else { Time(end.0) }.min(self.world.latest()));
        self.sockets.waiting = Some(Waiting { line, call: call.clone(), until });
        if until.is_none() {
            self.finish_call()
        } else {
            Ok(())
        }
    }

    /// The effect of a call on the meaning of the next packets.
    fn after(&mut self, call: &Call) {
        match call {
            Call::Socket { .. } => self.numbers.fresh(self.config.local, self.config.remote),
            Call::Listen { .. } => self.numbers.set_stage(Stage::Listening),
            Call::Connect { .. } => self.numbers.set_connecting(),
            Call::Bind { .. }
            | Call::Accept { .. }
            | Call::Read { .. }
            | Call::Write { .. }
            | Call::Shutdown { .. }
            | Call::Close { .. }
            | Call::SetOption { .. }
            | Call::GetOption { .. }
            | Call::SetNonBlocking { .. }
            | Call::QueueLength { .. }
            | Call::Poll { .. } => {}
        }
    }

    /// Checks a call that has returned in the meantime.
    pub(super) fn check_call(&mut self) -> Result<(), Fault> {
        let Some((at, answer)) = self.world.take_finished() else { return Ok(()) };
        let Some(Waiting { line, call, until }) = self.sockets.waiting.take() else { return Ok(()) };
        if let Some(until) = until {
            let due = Due { from: until, to: until, any: false, base: until, relative: false };
            self.check_time(line, &format!("the return of {}", call.name), at, due)?;
        }
        self.check_answer(line, &call, &answer)
    }

    /// Waits for a call that blocks.
    pub(super) fn finish_call(&mut self) -> Result<(), Fault> {
        self.check_call()?;
        let Some(waiting) = self.sockets.waiting.clone() else { return Ok(()) };
        let limit = waiting.until.map_or(self.world.now() + LONGEST, |until| until + self.config.tolerance);
        let limit = limit.min(self.world.latest() + self.config.tolerance);
        let broken = |text: String| Fault::new(waiting.line, Reason::Broken, text);
        while self.world.is_blocked() && self.world.step(limit).map_err(broken)? {}
        if self.world.is_blocked() {
            let text = format!("{} still blocks at {}", waiting.call.name, seconds(limit));
            return Err(Fault::new(waiting.line, Reason::Call, text));
        }
        self.check_call()
    }

    /// `fcntl`: the flags are kept here, since they belong to the descriptor.
    fn fcntl(&mut self, line: u32, call: &syntax::Call) -> Result<(), Fault> {
        let fd = self.fd(line, call)?;
        let descriptor =
            self.sockets.get_mut(fd).ok_or_else(|| unknown(line, format!("descriptor {fd} is not open")))?;
        let command = match call.arguments.get(1) {
            Some(Value::Names(names)) => names.join("|"),
            _ => String::new(),
        };
        let result = match command.as_str() {
            "F_GETFL" => READ_WRITE | if descriptor.non_blocking { NONBLOCK } else { 0 },
            "F_SETFL" => {
                let value =
                    call.arguments.get(2).and_then(number).ok_or_else(|| unknown(line, "flags are not understood"))?;
                let (on, socket) = (value & NONBLOCK != 0, descriptor.socket);
                descriptor.non_blocking = on;
                let set = Call::SetNonBlocking { socket, on };
                let answer = self.world.call(&set).map_err(|text| Fault::new(line, Reason::Broken, text))?;
                return self.check_answer(line, call, &answer);
            }
            other => return Err(unknown(line, format!("fcntl with {other} is not understood"))),
        };
        self.check_answer(line, call, &Answer::Done(result))
    }

    fn fd(&self, line: u32, call: &syntax::Call) -> Result<i64, Fault> {
        let first = call.arguments.first().and_then(number);
        first.ok_or_else(|| unknown(line, format!("the descriptor of {} is not understood", call.name)))
    }

    fn check_answer(&mut self, line: u32, call: &syntax::Call, answer: &Answer) -> Result<(), Fault> {
        if *answer == Answer::Unknown {
            return Err(unknown(line, format!("the TCP under test does not have this {}", call.name)));
        }
        if let ("socket" | "accept", Answer::Done(socket)) = (call.name.as_str(), answer)
            && let Some(fd) = number(&call.result).filter(|fd| *fd >= 0)
        {
            self.sockets.insert(fd, *socket as u32);
            return Ok(());
        }
        if call.name == "close"
            && let Some(fd) = call.arguments.first().and_then(number)
        {
            self.sockets.remove(fd);
        }
        results::check(call, answer).map_err(|text| {
            let reason = if text.starts_with("not understood") { Reason::Unknown } else { Reason::Call };
            Fault::new(line, reason, text)
        })
    }

    /// A call of the script in this crate's terms.
    fn typed(&self, line: u32, call: &syntax::Call) -> Result<Call, Fault> {
        let name = call.name.as_str();
        if name == "socket" {
            return Ok(Call::Socket { v6: self.config.v6 });
        }
        let fd = self.fd(line, call)?;
        let socket = self.sockets.get(fd).map_or(u32::MAX, |descriptor| descriptor.socket);
        let argument = |at: usize| call.arguments.get(at).unwrap_or(&Value::Any);
        let length = |at: usize| number(argument(at)).and_then(|len| usize::try_from(len).ok());
        let not = |what: &str| unknown(line, format!("{what} of {name} is not understood"));
        Ok(match name {
            "bind" => Call::Bind { socket, local: self.config.local },
            "listen" => Call::Listen { socket, backlog: length(1).ok_or_else(|| not("the backlog"))? as u32 },
            "accept" => Call::Accept { socket },
            "connect" => Call::Connect { socket, remote: self.config.remote },
            "read" => self.read(line, socket, length(2).ok_or_else(|| not("the length"))?, None)?,
            "recv" | "recvfrom" => {
                self.read(line, socket, length(2).ok_or_else(|| not("the length"))?, Some(argument(3)))?
            }
            "readv" => self.read(line, socket, iovec(argument(1)).ok_or_else(|| not("the list of buffers"))?, None)?,
            "recvmsg" => {
                let len = message(argument(1)).ok_or_else(|| not("the message"))?;
                self.read(line, socket, len, Some(argument(2)))?
            }
            "write" => self.write(line, socket, length(2).ok_or_else(|| not("the length"))?, None)?,
            "send" | "sendto" => {
                self.write(line, socket, length(2).ok_or_else(|| not("the length"))?, Some(argument(3)))?
            }
            "writev" => {
                self.write(line, socket, iovec(argument(1)).ok_or_else(|| not("the list of buffers"))?, None)?
            }
            "sendmsg" => {
                let len = message(argument(1)).ok_or_else(|| not("the message"))?;
                self.write(line, socket, len, Some(argument(2)))?
            }
            "close" => Call::Close { socket },
            "shutdown" => {
                let how =
                    number(argument(1)).filter(|how| (0..=2).contains(how)).ok_or_else(|| not("the direction"))?;
                Call::Shutdown { socket, read: how != 1, write: how != 0 }
            }
            "setsockopt" | "getsockopt" => self.socket_option(line, socket, call)?,
            "ioctl" => Call::QueueLength { socket, queue: queue(argument(1)).ok_or_else(|| not("the request"))? },
            _ => return Err(unknown(line, format!("the call {name} is not understood"))),
        })
    }

    fn read(&self, line: u32, socket: u32, len: usize, flags: Option<&Value>) -> Result<Call, Fault> {
        let mut set = ReadFlags::default();
        for flag in flags_of(line, flags)? {
            match flag {
                "MSG_PEEK" => set.peek = true,
                "MSG_DONTWAIT" => set.dont_wait = true,
                "MSG_WAITALL" => set.wait_all = true,
                "MSG_TRUNC" => set.truncate = true,
                "MSG_NOSIGNAL" => {}
                other => return Err(unknown(line, format!("the flag {other} is not understood"))),
            }
        }
        Ok(Call::Read { socket, len, flags: set })
    }

    fn write(&self, line: u32, socket: u32, len: usize, flags: Option<&Value>) -> Result<Call, Fault> {
        let mut set = WriteFlags::default();
        for flag in flags_of(line, flags)? {
            match flag {
                "MSG_MORE" => set.more = true,
                "MSG_DONTWAIT" => set.dont_wait = true,
                "MSG_EOR" => set.end_of_record = true,
                "MSG_NOSIGNAL" => {}
                other => return Err(unknown(line, format!("the flag {other} is not understood"))),
            }
        }
        Ok(Call::Write { socket, len, flags: set })
    }

    fn socket_option(&self, line: u32, socket: u32, call: &syntax::Call) -> Result<Call, Fault> {
        let name = option_name(call);
        let option =
            SocketOption::named(&name).ok_or_else(|| unknown(line, format!("the option {name} is not understood")))?;
        if call.name == "getsockopt" {
            return Ok(Call::GetOption { socket, option });
        }
        let value = call.arguments.get(3).and_then(results::option_value);
        let value = value.ok_or_else(|| unknown(line, format!("the value of {name} is not understood")))?;
        Ok(Call::SetOption { socket, option, value })
    }

    /// `poll` as of now: it never waits.
    fn poll(&mut self, line: u32, call: &syntax::Call) -> Result<(), Fault> {
        let polled = call.arguments.first().and_then(results::polled);
        let polled = polled.ok_or_else(|| unknown(line, "the descriptors of poll are not understood"))?;
        let mut ready = 0;
        for one in polled {
            let socket = self.sockets.get(one.fd).map(|descriptor| descriptor.socket);
            let socket = socket.ok_or_else(|| unknown(line, format!("descriptor {} is not open", one.fd)))?;
            let answer =
                self.world.call(&Call::Poll { socket }).map_err(|text| Fault::new(line, Reason::Broken, text))?;
            let Answer::Done(found) = answer else { return self.check_answer(line, call, &answer) };
            let returned = one.returned(found).map_err(|text| Fault::new(line, Reason::Call, text))?;
            ready += i64::from(returned != 0);
        }
        self.check_answer(line, call, &Answer::Done(ready))
    }

    /// `getsockopt` for `struct tcp_info`: the fields that the script names.
    fn tcp_info(&mut self, line: u32, call: &syntax::Call) -> Result<(), Fault> {
        let fd = self.fd(line, call)?;
        let socket = self.sockets.get(fd).map(|descriptor| descriptor.socket);
        let socket = socket.ok_or_else(|| unknown(line, format!("descriptor {fd} is not open")))?;
        let wanted = call.arguments.get(3).and_then(results::fields);
        let wanted = wanted.ok_or_else(|| unknown(line, "the value of TCP_INFO is not understood"))?;
        for (name, wanted) in wanted {
            let found = self.world.info(self.world.now(), socket, name);
            let found = found.ok_or_else(|| unknown(line, format!("the TCP under test has no {name}")))?;
            if found != wanted {
                let text = format!("getsockopt was expected to find {name} = {wanted} and found {found}");
                return Err(Fault::new(line, Reason::Call, text));
            }
        }
        self.check_answer(line, call, &Answer::Done(0))
    }
}

/// The name of a socket option.
fn option_name(call: &syntax::Call) -> String {
    match call.arguments.get(2) {
        Some(Value::Names(names)) => names.join("|"),
        _ => String::new(),
    }
}

fn flags_of(line: u32, value: Option<&Value>) -> Result<Vec<&str>, Fault> {
    value.map_or(Some(Vec::new()), flags).ok_or_else(|| unknown(line, "the flags are not understood"))
}

/// The bytes of all buffers of an `iovec` list.
fn iovec(value: &Value) -> Option<usize> {
    let Value::List(buffers) = value else { return None };
    buffers.iter().map(buffer).try_fold(0_usize, |all, one| all.checked_add(one?))
}

fn buffer(value: &Value) -> Option<usize> {
    let Value::Struct(members) = value else { return None };
    // `{..., 1000}`, or by names.
    let (_, len) = members.iter().find(|(name, _)| name == "iov_len").or(members.get(1))?;
    usize::try_from(number(len)?).ok()
}

/// The bytes of all buffers of a `msghdr`.
fn message(value: &Value) -> Option<usize> {
    let Value::Struct(members) = value else { return None };
    members.iter().find_map(|(_, value)| iovec(value))
}

fn queue(value: &Value) -> Option<Queue> {
    let Value::Names(names) = value else { return None };
    Queue::named(&names.join("|"))
}
