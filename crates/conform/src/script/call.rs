//! Socket calls: arguments, results and notes.

use super::lexer::Kind;
use super::parser::{Parser, Read};
use super::syntax::{Call, Value};
use ackclock_tcp::time::Nanos;
use std::net::IpAddr;

/// How deeply values may be nested.
const MOST_DEPTH: u32 = 32;

/// Words that are functions if a parenthesis follows. Any other word in front of a parenthesis is just a word with a note.
const FUNCTIONS: &[&str] = &["inet_addr", "inet6_addr", "htons", "htonl", "ntohs", "ntohl"];

/// Reads a call from its name on.
pub(super) fn call(p: &mut Parser<'_>, until: Option<Nanos>) -> Read<Call> {
    let name = p.any_word("the name of a call such as `close`")?;
    p.require('(')?;
    let arguments = values(p, ')')?;
    p.require('=')?;
    let result = value(p)?;
    let mut errno = None;
    if matches!(p.next.kind, Kind::Word(_)) {
        errno = Some(p.any_word("an error such as `EAGAIN`")?);
    } else {
        p.allow("an error such as `EAGAIN`");
    }
    note(p)?;
    p.allow("the end of the line");
    Ok(Call { until, name, arguments, result, errno })
}

/// `(words)` after a result; they have no meaning for a program.
fn note(p: &mut Parser<'_>) -> Read<()> {
    if !p.symbol_for('(', "a note in parentheses")? {
        return Ok(());
    }
    while !p.symbol(')')? {
        match p.next.kind {
            Kind::Word(_)
            | Kind::Integer(_)
            | Kind::Hex(_)
            | Kind::Symbol(',' | '.' | '\'' | '-' | '/' | ':' | '|') => {
                p.take()?;
            }
            _ => {
                p.allow("a word");
                return Err(p.unexpected());
            }
        }
    }
    Ok(())
}

/// Values with commas between them, and the character that closes them.
fn values(p: &mut Parser<'_>, close: char) -> Read<Vec<Value>> {
    let mut values = Vec::new();
    if p.symbol(close)? {
        return Ok(values);
    }
    loop {
        values.push(value(p)?);
        if p.symbol(close)? {
            return Ok(values);
        }
        p.require(',')?;
    }
}

/// A value; names and numbers may be joined by `|`.
fn value(p: &mut Parser<'_>) -> Read<Value> {
    if p.depth == MOST_DEPTH {
        return Err(p.fault(p.next.start, format!("values are nested deeper than {MOST_DEPTH}")));
    }
    p.depth += 1;
    let first = single(p)?;
    let value = match joinable(&first) {
        Some(name) if p.next.kind == Kind::Symbol('|') => joined(p, name)?,
        Some(_) => {
            p.allow("`|` with another name");
            first
        }
        None => first,
    };
    p.depth -= 1;
    Ok(value)
}

fn joined(p: &mut Parser<'_>, first: String) -> Read<Value> {
    let mut names = vec![first];
    while p.symbol('|')? {
        let start = p.next.start;
        match joinable(&single(p)?) {
            Some(name) => names.push(name),
            None => return Err(p.fault(start, "`|` joins names and integers only")),
        }
    }
    Ok(Value::Names(names))
}

/// The text of a value that `|` can join.
fn joinable(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::Names(names) => names.first().filter(|_| names.len() == 1).cloned(),
        Value::Any
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Struct(_)
        | Value::Function(..)
        | Value::Address(_) => None,
    }
}

fn single(p: &mut Parser<'_>) -> Read<Value> {
    if let Some(address) = address(p)? {
        return Ok(Value::Address(address));
    }
    if let Some(number) = p.integer()? {
        return Ok(Value::Integer(number));
    }
    match &p.next.kind {
        Kind::Ellipsis => {
            p.take()?;
            Ok(Value::Any)
        }
        Kind::Float(text) => {
            let number = text.parse();
            p.take()?;
            number.map(Value::Float).map_err(|_| p.unexpected())
        }
        Kind::Text(_) => text(p),
        Kind::Symbol('[') => {
            p.take()?;
            Ok(Value::List(values(p, ']')?))
        }
        Kind::Symbol('{') => {
            p.take()?;
            structure(p)
        }
        Kind::Word(_) => name(p),
        _ => {
            for what in ["a number", "a name", "text in `\"`", "`...`", "a list `[…]`", "a structure `{…}`"] {
                p.allow(what);
            }
            Err(p.unexpected())
        }
    }
}

/// An IPv4 or IPv6 address without quotes.
fn address(p: &mut Parser<'_>) -> Read<Option<IpAddr>> {
    let bytes = p.lexer.run(p.next.start, |c| c.is_ascii_hexdigit() || c == ':' || c == '.');
    let text = p.lexer.slice(p.next.start, p.lexer.after(p.next.start, bytes));
    let address = text.parse::<IpAddr>().ok();
    if address.is_some() {
        p.take_raw(bytes)?;
    }
    Ok(address)
}

/// A name, `name=value`, or a function of addresses and ports.
fn name(p: &mut Parser<'_>) -> Read<Value> {
    let name = p.any_word("a name")?;
    if FUNCTIONS.contains(&name.as_str()) && p.symbol('(')? {
        return Ok(Value::Function(name, values(p, ')')?));
    }
    if p.next.kind == Kind::Symbol('=') {
        p.take()?;
        return Ok(Value::Struct(vec![(name, value(p)?)]));
    }
    Ok(Value::Names(vec![name]))
}

/// One or more texts, which are joined. `"abc"...` is text with any continuation.
fn text(p: &mut Parser<'_>) -> Read<Value> {
    let mut bytes = Vec::new();
    while let Kind::Text(text) = &p.next.kind {
        match unescaped(text) {
            Ok(plain) => bytes.extend(plain),
            Err(why) => return Err(p.fault(p.next.start, why)),
        }
        p.take()?;
    }
    if p.next.kind == Kind::Ellipsis {
        p.take()?;
        return Ok(Value::Function("...".to_owned(), vec![Value::Text(bytes)]));
    }
    Ok(Value::Text(bytes))
}

/// Text without its escapes.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let mut after = rest[at + 1..].chars();
        bytes.push(match after.next() {
            Some('\\') => b'\\',
            Some('"') => b'"',
            Some('f') => 0x0c,
            Some('n') => b'\n',
            Some('r') => b'\r',
            Some('t') => b'\t',
            Some('v') => 0x0b,
            Some('x') => {
                let digits = after.as_str().get(..2).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                after = after.as_str().get(2..).unwrap_or_default().chars();
                byte.ok_or("the escape `\\x` needs two hexadecimal digits")?
            }
            other => {
                let found = other.map_or("nothing".to_owned(), |c| format!("`{c}`"));
                let allowed = "`\\`, `\"`, `f`, `n`, `r`, `t`, `v` or `x` with two hexadecimal digits";
                return Err(format!("found {found} after a backslash, allowed here: {allowed}"));
            }
        });
        rest = after.as_str();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// The members of a structure, after its `{`.
fn structure(p: &mut Parser<'_>) -> Read<Value> {
    if let Some(function) = headers(p)? {
        return Ok(function);
    }
    let mut members = Vec::new();
    if p.symbol('}')? {
        return Ok(Value::Struct(members));
    }
    loop {
        members.push(member(p)?);
        if p.symbol('}')? {
            return Ok(Value::Struct(members));
        }
        p.require(',')?;
    }
}

/// `name=value`, `name(count)=value` or a value.
fn member(p: &mut Parser<'_>) -> Read<(String, Value)> {
    if let Kind::Word(word) = &p.next.kind {
        let (word, following) = (word.clone(), p.second()?.kind);
        let counted = following == Kind::Symbol('(') && !FUNCTIONS.contains(&word.as_str());
        if counted || following == Kind::Symbol('=') {
            p.take()?;
            let start = p.next.start;
            let mut count = Value::Any;
            if counted {
                p.require('(')?;
                count = value(p)?;
                p.require(')')?;
            }
            p.require('=')?;
            let value = value(p)?;
            return match (&count, &value) {
                (Value::Integer(count), Value::List(list)) if usize::try_from(*count) != Ok(list.len()) => {
                    Err(p.fault(start, format!("`{word}` counts {count} elements, its list has {}", list.len())))
                }
                _ => Ok((word, value)),
            };
        }
    }
    Ok((String::new(), value(p)?))
}

/// A stack of MPLS labels or the fields of a GRE header: kept as a function without arguments, because it is not run.
fn headers(p: &mut Parser<'_>) -> Read<Option<Value>> {
    let name = match &p.next.kind {
        Kind::Symbol('(') => "mpls",
        Kind::Word(word) if word == "flags" && p.second()?.kind != Kind::Symbol('=') => "gre",
        _ => return Ok(None),
    };
    while p.next.kind != Kind::Symbol('}') && p.next.kind != Kind::End {
        p.take()?;
    }
    p.require('}')?;
    Ok(Some(Value::Function(name.to_owned(), Vec::new())))
}
