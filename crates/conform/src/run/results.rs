//! The result of a call, compared with the result that the script expects.

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
        Answer::Done(found) if name == "poll" => (polled_result(call, *found)?, None),
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

/// The result of `poll`: how many descriptors had events. The events themselves must be as expected.
fn polled_result(call: &Call, found: i64) -> Result<i64, String> {
    const ALWAYS: i64 = crate::tcp::ready::ERR | crate::tcp::ready::HUP;
    let asked = call.arguments.first().and_then(polled);
    let (_, events, wanted) = asked.ok_or("not understood: a poll of several descriptors")?;
    let found = found & (events | ALWAYS);
    if found != wanted {
        return Err(format!("poll was expected to find the events {wanted:#x} and found {found:#x}"));
    }
    Ok(i64::from(found != 0))
}

/// Descriptor, requested events and expected events of a `poll` of one descriptor.
pub(super) fn polled(value: &Value) -> Option<(i64, i64, i64)> {
    let Value::List(all) = value else { return None };
    let [Value::Struct(members)] = all.as_slice() else { return None };
    let member = |name: &str| members.iter().find(|(n, _)| n == name).and_then(|(_, value)| number(value));
    Some((member("fd")?, member("events")?, member("revents").unwrap_or(0)))
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
