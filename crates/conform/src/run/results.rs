//! The result of a call, compared with the result that the script expects.

use super::asserts::constant;
use super::names::number;
use crate::errno::Errno;
use crate::script::syntax::{Call, Value};
use crate::tcp::{Answer, OptionValue};

/// Compares an answer with the script's result, and the value of `getsockopt`, `ioctl` and `poll` with theirs.
///
/// # Errors
/// The expected and the actual result. The text begins with "not understood" if the script expects something unknown here.
pub(super) fn check(call: &Call, answer: &Answer) -> Result<(), String> {
    let name = &call.name;
    let (result, error) = match answer {
        Answer::Done(_) if name == "ioctl" => (0, None),
        Answer::Done(result) => (*result, None),
        Answer::Value(_) => (0, None),
        Answer::Failed(errno) => (-1, Some(*errno)),
        Answer::Wait | Answer::Unknown => return Err(format!("not understood: {name}")),
    };
    if call.result != Value::Any {
        let expected = number(&call.result).ok_or_else(|| format!("not understood: the result of {name}"))?;
        let wanted = call.errno.as_deref();
        let same_error = match (wanted, error) {
            (None, _) => true,
            (Some(wanted), found) => found == Errno::named(wanted),
        };
        if expected != result || !same_error {
            let with = |number: i64, error: &str| format!("{number} {error}").trim_end().to_owned();
            let expected = with(expected, wanted.unwrap_or(""));
            return Err(format!(
                "{name} was expected to return {expected} and returned {}",
                with(result, error.map_or("", Errno::name))
            ));
        }
    }
    match (name.as_str(), answer) {
        ("getsockopt", Answer::Value(found)) => value(call, found),
        ("ioctl", Answer::Done(found)) => third(call, *found),
        _ => Ok(()),
    }
}

/// The value that `getsockopt` found.
fn value(call: &Call, found: &OptionValue) -> Result<(), String> {
    let Some(wanted) = call.arguments.get(3) else { return Ok(()) };
    if *wanted == Value::Any || *wanted == Value::List(vec![Value::Any]) {
        return Ok(());
    }
    let wanted = option_value(wanted).ok_or("not understood: the value of getsockopt")?;
    if wanted == *found {
        return Ok(());
    }
    Err(format!("getsockopt was expected to find {} and found {}", shown(&wanted), shown(found)))
}

fn third(call: &Call, found: i64) -> Result<(), String> {
    match call.arguments.get(2) {
        None | Some(Value::Any) => Ok(()),
        Some(wanted) => match number(wanted) {
            Some(wanted) if wanted == found => Ok(()),
            Some(wanted) => Err(format!("ioctl was expected to find {wanted} and found {found}")),
            None => Err("not understood: the value of ioctl".to_owned()),
        },
    }
}

/// A descriptor of `poll`, with its events and the expected ones.
pub(super) struct Polled {
    pub(super) fd: i64,
    pub(super) events: i64,
    pub(super) expected: i64,
}

impl Polled {
    /// The found events that `poll` reports.
    ///
    /// # Errors
    /// They are not the expected ones.
    pub(super) fn returned(&self, found: i64) -> Result<i64, String> {
        const ALWAYS: i64 = crate::tcp::ready::ERR | crate::tcp::ready::HUP;
        let (found, wanted) = (found & (self.events | ALWAYS), self.expected);
        if found == wanted {
            return Ok(found);
        }
        let fd = self.fd;
        Err(format!("poll was expected to find the events {wanted:#x} at descriptor {fd} and found {found:#x}"))
    }
}

/// All descriptors of a `poll`.
pub(super) fn polled(value: &Value) -> Option<Vec<Polled>> {
    let Value::List(all) = value else { return None };
    all.iter().map(one_polled).collect()
}

fn one_polled(value: &Value) -> Option<Polled> {
    let Value::Struct(members) = value else { return None };
    let member = |name: &str| members.iter().find(|(n, _)| n == name).and_then(|(_, value)| number(value));
    Some(Polled { fd: member("fd")?, events: member("events")?, expected: member("revents").unwrap_or(0) })
}

/// The fields of a structure that `getsockopt` fills, by name; `None` if the script expects something else.
pub(super) fn fields(value: &Value) -> Option<Vec<(&str, i64)>> {
    match value {
        Value::Any => Some(Vec::new()),
        Value::List(values) => match values.as_slice() {
            [one] => fields(one),
            _ => None,
        },
        Value::Struct(members) => {
            let known = members.iter().filter(|(_, value)| *value != Value::Any);
            let value_of = |value: &Value| match value {
                Value::Names(names) if names.len() == 1 => number(value).or_else(|| constant(&names[0])),
                other => number(other),
            };
            known.map(|(name, value)| Some((name.as_str(), value_of(value)?))).collect()
        }
        Value::Integer(_)
        | Value::Names(_)
        | Value::Text(_)
        | Value::Float(_)
        | Value::Function(..)
        | Value::Address(_) => None,
    }
}

/// The value of an option as scripts write it.
pub(super) fn option_value(value: &Value) -> Option<OptionValue> {
    match value {
        Value::Text(text) => Some(OptionValue::Text(String::from_utf8_lossy(text).trim_end_matches('\0').to_owned())),
        Value::List(values) => match values.as_slice() {
            [one] => option_value(one),
            _ => None,
        },
        Value::Struct(members) => {
            let member = |name: &str| members.iter().find(|(n, _)| n == name).and_then(|(_, value)| number(value));
            Some(OptionValue::Linger { on: member("onoff")? != 0, seconds: member("linger")? })
        }
        Value::Integer(_) | Value::Names(_) => number(value).map(OptionValue::Integer),
        Value::Any | Value::Float(_) | Value::Function(..) | Value::Address(_) => None,
    }
}

fn shown(value: &OptionValue) -> String {
    match value {
        OptionValue::Integer(number) => number.to_string(),
        OptionValue::Text(text) => format!("{text:?}"),
        OptionValue::Linger { on, seconds } => format!("{{onoff={}, linger={seconds}}}", i64::from(*on)),
    }
}
