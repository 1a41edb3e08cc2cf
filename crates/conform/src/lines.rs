//! The border to a TCP in another process, as lines of JSON: what the runner asks, and what the process answers.
//!
//! The process first says [`hello`]. Then each line that it reads is a [`Request`] with a number, and each line that it writes
//! is the answer with the same number. A call that blocks is answered twice: `blocks` at once, and its result later.

use crate::errno::Errno;
use crate::tcp::{Answer, Call, OptionValue, Queue, ReadFlags, SocketOption, WriteFlags};
use serde_json::{json, Map, Value};
use std::net::{IpAddr, SocketAddr};

/// The version of these lines.
pub const VERSION: u64 = 1;

/// The states of connections by their names.
const STATES: [&str; 11] = [
    "CLOSED",
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
];

/// Which side of the TUN device the TCP under test is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The process has opened the device: its own TCP reads and writes packets.
    Device,
    /// The process uses the sockets of the kernel behind the device.
    Kernel,
}

/// A question of the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A socket call.
    Call(Call),
    /// A setting by its `sysctl` name.
    Set {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// A field of `struct tcp_info`.
    Info {
        /// The socket.
        socket: u32,
        /// Its name.
        field: String,
    },
    /// The states of all connections.
    States,
    /// Remove all connections in TIME-WAIT.
    DropTimeWaits,
}

/// An answer of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a call; to other questions `Done` and `Unknown`.
    Answer(Answer),
    /// The states of all connections.
    States(Vec<&'static str>),
}

/// The first line of the process.
pub fn hello(side: Side) -> String {
    let side = match side {
        Side::Device => "device",
        Side::Kernel => "kernel",
    };
    json!({ "ackclock_conform": VERSION, "side": side }).to_string()
}

/// Reads the first line of the process.
///
/// # Errors
/// One sentence with what was found and what is allowed.
pub fn read_hello(line: &str) -> Result<Side, String> {
    let allowed = r#"allowed: {"ackclock_conform": 1, "side": "device"} or "kernel""#;
    let found = || format!("found {}, {allowed}", shown(line));
    let object = object(line).map_err(|_| found())?;
    let version = object.get("ackclock_conform").and_then(Value::as_u64);
    match (version, object.get("side").and_then(Value::as_str)) {
        (Some(VERSION), Some("device")) => Ok(Side::Device),
        (Some(VERSION), Some("kernel")) => Ok(Side::Kernel),
        _ => Err(found()),
    }
}

/// A question as a line.
pub fn request(id: u64, request: &Request) -> String {
    let mut object = match request {
        Request::Call(call) => call_object(call),
        Request::Set { name, value } => json!({ "call": "set", "name": name, "value": value }),
        Request::Info { socket, field } => json!({ "call": "info", "socket": socket, "field": field }),
        Request::States => json!({ "call": "states" }),
        Request::DropTimeWaits => json!({ "call": "drop_time_waits" }),
    };
    object["id"] = id.into();
    object.to_string()
}

fn call_object(call: &Call) -> Value {
    match call {
        Call::Socket { v6 } => json!({ "call": "socket", "family": if *v6 { 6 } else { 4 } }),
        Call::Bind { socket, local } => {
            json!({ "call": "bind", "socket": socket, "ip": local.ip(), "port": local.port() })
        }
        Call::Listen { socket, backlog } => json!({ "call": "listen", "socket": socket, "backlog": backlog }),
        Call::Accept { socket } => json!({ "call": "accept", "socket": socket }),
        Call::Connect { socket, remote } => {
            json!({ "call": "connect", "socket": socket, "ip": remote.ip(), "port": remote.port() })
        }
        Call::Read { socket, len, flags } => {
            let ReadFlags { peek, dont_wait, wait_all, truncate } = *flags;
            let all =
                [(peek, "MSG_PEEK"), (dont_wait, "MSG_DONTWAIT"), (wait_all, "MSG_WAITALL"), (truncate, "MSG_TRUNC")];
            json!({ "call": "read", "socket": socket, "len": len, "flags": set(&all) })
        }
        Call::Write { socket, len, flags } => {
            let WriteFlags { more, dont_wait, end_of_record } = *flags;
            let all = [(more, "MSG_MORE"), (dont_wait, "MSG_DONTWAIT"), (end_of_record, "MSG_EOR")];
            json!({ "call": "write", "socket": socket, "len": len, "flags": set(&all) })
        }
        Call::Shutdown { socket, read, write } => {
            let how = match (read, write) {
                (true, true) => "SHUT_RDWR",
                (true, false) => "SHUT_RD",
                (false, _) => "SHUT_WR",
            };
            json!({ "call": "shutdown", "socket": socket, "how": how })
        }
        Call::Close { socket } => json!({ "call": "close", "socket": socket }),
        Call::SetOption { socket, option, value } => {
            json!({ "call": "setsockopt", "socket": socket, "name": option.name(), "value": option_json(value) })
        }
        Call::GetOption { socket, option } => {
            json!({ "call": "getsockopt", "socket": socket, "name": option.name() })
        }
        Call::SetNonBlocking { socket, on } => json!({ "call": "set_non_blocking", "socket": socket, "on": on }),
        Call::QueueLength { socket, queue } => json!({ "call": "ioctl", "socket": socket, "name": queue.name() }),
        Call::Poll { socket } => json!({ "call": "poll", "socket": socket }),
    }
}

fn set(flags: &[(bool, &'static str)]) -> Vec<&'static str> {
    flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect()
}

fn option_json(value: &OptionValue) -> Value {
    match value {
        OptionValue::Integer(number) => json!(number),
        OptionValue::Text(text) => json!(text),
        OptionValue::Linger { on, seconds } => json!({ "on": on, "seconds": seconds }),
    }
}

fn read_option(value: &Value) -> Option<OptionValue> {
    match value {
        Value::Number(number) => number.as_i64().map(OptionValue::Integer),
        Value::String(text) => Some(OptionValue::Text(text.clone())),
        Value::Object(linger) => {
            Some(OptionValue::Linger { on: linger.get("on")?.as_bool()?, seconds: linger.get("seconds")?.as_i64()? })
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
}

/// Reads a question and its number.
///
/// # Errors
/// One sentence with the line.
pub fn read_request(line: &str) -> Result<(u64, Request), String> {
    let not = || format!("found {}, allowed: a question of the runner", shown(line));
    let object = object(line)?;
    let id = object.get("id").and_then(Value::as_u64).ok_or_else(not)?;
    fields(&object).map(|request| (id, request)).ok_or_else(not)
}

fn fields(object: &Map<String, Value>) -> Option<Request> {
    let text = |key: &str| object.get(key).and_then(Value::as_str);
    let number = |key: &str| object.get(key).and_then(Value::as_u64);
    let socket = || number("socket").and_then(|socket| u32::try_from(socket).ok());
    let address = || {
        let ip: IpAddr = text("ip")?.parse().ok()?;
        Some(SocketAddr::new(ip, u16::try_from(number("port")?).ok()?))
    };
    let flag = |name: &str| {
        let flags = object.get("flags").and_then(Value::as_array);
        flags.is_some_and(|flags| flags.iter().any(|flag| flag == name))
    };
    let len = || number("len").and_then(|len| usize::try_from(len).ok());
    Some(Request::Call(match text("call")? {
        "socket" => Call::Socket { v6: number("family")? == 6 },
        "bind" => Call::Bind { socket: socket()?, local: address()? },
        "listen" => Call::Listen { socket: socket()?, backlog: u32::try_from(number("backlog")?).ok()? },
        "accept" => Call::Accept { socket: socket()? },
        "connect" => Call::Connect { socket: socket()?, remote: address()? },
        "read" => {
            let flags = ReadFlags {
                peek: flag("MSG_PEEK"),
                dont_wait: flag("MSG_DONTWAIT"),
                wait_all: flag("MSG_WAITALL"),
                truncate: flag("MSG_TRUNC"),
            };
            Call::Read { socket: socket()?, len: len()?, flags }
        }
        "write" => {
            let flags =
                WriteFlags { more: flag("MSG_MORE"), dont_wait: flag("MSG_DONTWAIT"), end_of_record: flag("MSG_EOR") };
            Call::Write { socket: socket()?, len: len()?, flags }
        }
        "shutdown" => {
            let how = text("how")?;
            Call::Shutdown { socket: socket()?, read: how != "SHUT_WR", write: how != "SHUT_RD" }
        }
        "close" => Call::Close { socket: socket()? },
        "setsockopt" => {
            let (option, value) = (SocketOption::named(text("name")?)?, read_option(object.get("value")?)?);
            Call::SetOption { socket: socket()?, option, value }
        }
        "getsockopt" => Call::GetOption { socket: socket()?, option: SocketOption::named(text("name")?)? },
        "set_non_blocking" => Call::SetNonBlocking { socket: socket()?, on: object.get("on")?.as_bool()? },
        "ioctl" => Call::QueueLength { socket: socket()?, queue: Queue::named(text("name")?)? },
        "poll" => Call::Poll { socket: socket()? },
        "set" => return Some(Request::Set { name: text("name")?.into(), value: text("value")?.into() }),
        "info" => return Some(Request::Info { socket: socket()?, field: text("field")?.into() }),
        "states" => return Some(Request::States),
        "drop_time_waits" => return Some(Request::DropTimeWaits),
        _ => return None,
    }))
}

/// An answer as a line.
pub fn reply(id: u64, reply: &Reply) -> String {
    let mut object = match reply {
        Reply::Answer(Answer::Done(result)) => json!({ "result": result }),
        Reply::Answer(Answer::Value(value)) => json!({ "value": option_json(value) }),
        Reply::Answer(Answer::Failed(errno)) => json!({ "errno": errno.name() }),
        Reply::Answer(Answer::Wait) => json!({ "blocks": true }),
        Reply::Answer(Answer::Unknown) => json!({ "unknown": true }),
        Reply::States(states) => json!({ "states": states }),
    };
    object["id"] = id.into();
    object.to_string()
}

/// Reads an answer and its number.
///
/// # Errors
/// One sentence with what was found and what is allowed.
pub fn read_reply(line: &str) -> Result<(u64, Reply), String> {
    const ALLOWED: &str =
        "an object with \"id\" and one of \"result\", \"errno\", \"value\", \"states\", \"blocks\" and \"unknown\"";
    let not = || format!("found {}, allowed: {ALLOWED}", shown(line));
    let object = object(line).map_err(|_| not())?;
    let id = object.get("id").and_then(Value::as_u64).ok_or_else(not)?;
    let one = |key: &str| object.get(key);
    let is = |key: &str| object.get(key) == Some(&Value::Bool(true));
    let answer = if let Some(result) = one("result").and_then(Value::as_i64) {
        Answer::Done(result)
    } else if let Some(errno) = one("errno") {
        let named = errno.as_str().and_then(Errno::named);
        Answer::Failed(named.ok_or_else(|| format!("found the error {errno}, allowed: a name such as \"ECONNRESET\""))?)
    } else if let Some(value) = one("value").and_then(read_option) {
        Answer::Value(value)
    } else if let Some(states) = one("states").and_then(Value::as_array) {
        let known = |state: &Value| STATES.into_iter().find(|known| state == known);
        let all: Option<Vec<_>> = states.iter().map(known).collect();
        return Ok((id, Reply::States(all.ok_or_else(not)?)));
    } else if is("blocks") {
        Answer::Wait
    } else if is("unknown") {
        Answer::Unknown
    } else {
        return Err(not());
    };
    Ok((id, Reply::Answer(answer)))
}

fn object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) | Err(_) => Err(format!("found {}, allowed: an object in JSON", shown(line))),
    }
}

/// A line for a message, cut after 80 characters.
fn shown(line: &str) -> String {
    let mut text: String = line.chars().take(80).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET: u32 = 7;

    fn requests() -> Vec<Request> {
        let (local, remote) = ("192.168.0.1:8080".parse().unwrap(), "[2001:db8::1]:443".parse().unwrap());
        let read = ReadFlags { peek: true, dont_wait: false, wait_all: true, truncate: false };
        let write = WriteFlags { more: true, dont_wait: true, end_of_record: false };
        let option = |option, value| Call::SetOption { socket: SOCKET, option, value };
        let calls = [
            Call::Socket { v6: true },
            Call::Bind { socket: SOCKET, local },
            Call::Listen { socket: SOCKET, backlog: 3 },
            Call::Accept { socket: SOCKET },
            Call::Connect { socket: SOCKET, remote },
            Call::Read { socket: SOCKET, len: 100, flags: read },
            Call::Write { socket: SOCKET, len: 1 << 33, flags: write },
            Call::Shutdown { socket: SOCKET, read: true, write: false },
            Call::Shutdown { socket: SOCKET, read: true, write: true },
            Call::Shutdown { socket: SOCKET, read: false, write: true },
            Call::Close { socket: SOCKET },
            option(SocketOption::NoDelay, OptionValue::Integer(-1)),
            option(SocketOption::Linger, OptionValue::Linger { on: true, seconds: 5 }),
            option(SocketOption::Congestion, OptionValue::Text("reno".into())),
            Call::GetOption { socket: SOCKET, option: SocketOption::Error },
            Call::SetNonBlocking { socket: SOCKET, on: true },
            Call::QueueLength { socket: SOCKET, queue: Queue::NotSent },
            Call::Poll { socket: SOCKET },
        ];
        let others = [
            Request::Set { name: "net.ipv4.tcp_sack".into(), value: "0".into() },
            Request::Info { socket: SOCKET, field: "tcpi_rto".into() },
            Request::States,
            Request::DropTimeWaits,
        ];
        calls.map(Request::Call).into_iter().chain(others).collect()
    }

    #[test]
    fn every_question_is_read_as_it_was_written() {
        for one in requests() {
            assert_eq!(read_request(&request(5, &one)), Ok((5, one)));
        }
    }

    #[test]
    fn every_answer_is_read_as_it_was_written() {
        let answers = [
            Answer::Done(9),
            Answer::Value(OptionValue::Integer(3)),
            Answer::Value(OptionValue::Text("cubic".into())),
            Answer::Value(OptionValue::Linger { on: false, seconds: 0 }),
            Answer::Failed(Errno::ECONNRESET),
            Answer::Wait,
            Answer::Unknown,
        ];
        let states = Reply::States(vec!["LISTEN", "TIME_WAIT"]);
        for one in answers.map(Reply::Answer).into_iter().chain([states]) {
            assert_eq!(read_reply(&reply(5, &one)), Ok((5, one)));
        }
        for side in [Side::Device, Side::Kernel] {
            assert_eq!(read_hello(&hello(side)), Ok(side));
        }
    }

    #[test]
    fn a_line_that_is_no_answer_is_named_with_what_is_allowed() {
        for line in
            ["", "hello", "[1]", "{}", r#"{"id": 1}"#, r#"{"id": -1, "result": 2}"#, r#"{"id": 1, "result": 1.5}"#]
        {
            assert!(read_reply(line).unwrap_err().starts_with(&format!("found {line:?}, allowed: an object with")));
        }
        let wrong = |line: &str| read_reply(line).unwrap_err();
        assert!(wrong(r#"{"id": 1, "errno": "EFUN"}"#).starts_with("found the error \"EFUN\", allowed: a name"));
        assert!(wrong(r#"{"id": 1, "states": ["LISTENING"]}"#).starts_with("found"));
        assert!(wrong(&"x".repeat(999)).len() < 300);
        assert!(read_hello(r#"{"ackclock_conform": 2, "side": "device"}"#).unwrap_err().starts_with("found"));
    }
}
