//! The constants of socket calls, by their names in scripts. Numbers are Linux's.

use crate::errno::Errno;
use crate::script::syntax::Value;
use crate::tcp::ready;

/// `O_NONBLOCK`.
pub(super) const NONBLOCK: i64 = 0o4000;
/// `O_RDWR`.
pub(super) const READ_WRITE: i64 = 2;

/// The number of an argument; `None` if it is neither a number nor a known name.
pub(super) fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Names(names) => names.iter().map(|name| constant(name)).try_fold(0, |all, one| Some(all | one?)),
        Value::List(values) => match values.as_slice() {
            [one] => number(one),
            _ => None,
        },
        Value::Any | Value::Float(_) | Value::Text(_) | Value::Struct(_) | Value::Function(..) | Value::Address(_) => {
            None
        }
    }
}

fn constant(name: &str) -> Option<i64> {
    Some(match name {
        "O_RDWR" => READ_WRITE,
        "O_RDONLY" => 0,
        "O_WRONLY" => 1,
        "O_NONBLOCK" | "SOCK_NONBLOCK" => NONBLOCK,
        "POLLIN" => ready::IN,
        "POLLOUT" => ready::OUT,
        "POLLERR" => ready::ERR,
        "POLLHUP" => ready::HUP,
        "POLLRDHUP" => ready::RDHUP,
        "SHUT_RD" => 0,
        "SHUT_WR" => 1,
        "SHUT_RDWR" => 2,
        "IP_PMTUDISC_DONT" => 0,
        "IP_PMTUDISC_WANT" => 1,
        "IP_PMTUDISC_DO" => 2,
        "IP_PMTUDISC_PROBE" => 3,
        name => Errno::named(name)?.number(),
    })
}

/// The flags of a call that are set; `None` if an argument is not understood.
pub(super) fn flags(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::Integer(0) => Some(Vec::new()),
        Value::Names(names) => Some(names.iter().map(String::as_str).collect()),
        Value::Any
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Struct(_)
        | Value::Function(..)
        | Value::Address(_) => None,
    }
}
