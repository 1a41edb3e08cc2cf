//! A whole script: options, commands without a time, and events.

use super::call::call;
use super::lexer::{Kind, Place};
use super::packet::packet;
use super::parser::{Parser, Read};
use super::syntax::{Action, Code, Command, Direction, Event, Script, Setting, When};
use ackclock_tcp::time::Nanos;

/// Reads a script to its end.
pub(super) fn script(p: &mut Parser<'_>) -> Read<Script> {
    let mut script = Script { options: options(p)?, ..Script::default() };
    script.init = free_command(p)?;
    loop {
        p.begin_event();
        if script.events.is_empty() {
            if script.init.is_none() {
                p.allow("a command in backquotes");
            }
            if script.init.is_none() && script.options.is_empty() {
                p.allow("an option such as `--ip_version=ipv4`");
            }
        } else if p.next.kind == Kind::End {
            return Ok(script);
        } else if let Some(command) = free_command(p)? {
            script.cleanup = Some(command);
            p.last = None;
            p.allow("the end of the script: a command without a time comes before the first event or after the last");
            return if p.next.kind == Kind::End { Ok(script) } else { Err(p.unexpected()) };
        }
        script.events.push(event(p)?);
    }
}

/// A command in backquotes without a time before it.
fn free_command(p: &mut Parser<'_>) -> Read<Option<Command>> {
    if !matches!(p.next.kind, Kind::Backquoted(_)) {
        return Ok(None);
    }
    let token = p.take()?;
    Ok(match token.kind {
        Kind::Backquoted(text) => Some(Command { line: token.start.line, text }),
        _ => None,
    })
}

fn options(p: &mut Parser<'_>) -> Read<Vec<Setting>> {
    let mut options = Vec::new();
    while let Kind::Option(name) = &p.next.kind {
        let (name, start) = (name.clone(), p.next.start);
        // The character after the name decides: a value may be any text without spaces.
        let equals = p.lexer.after(start, name.len() + 2);
        let mut value = String::new();
        if p.lexer.run(equals, |c| c == '=') > 0 {
            value = option_value(p, p.lexer.after(equals, 1))?;
        } else {
            p.take()?;
        }
        if name == "define" {
            let Some((word, text)) = value.split_once('=').filter(|(word, _)| !word.is_empty()) else {
                return Err(p.fault(start, format!("`--define={value}` is not `--define=NAME=VALUE`")));
            };
            p.lexer.values.insert(word.to_owned(), text.to_owned());
            p.refresh()?;
        }
        options.push(Setting { line: start.line, name, value });
    }
    Ok(options)
}

/// The value of an option at a place: text in quotes, or everything up to the next space; `NAME="text"` keeps its quotes.
fn option_value(p: &mut Parser<'_>, at: Place) -> Read<String> {
    let plain = p.lexer.run(at, |c| !c.is_whitespace() && c != '"' && c != '`');
    let quote = p.lexer.after(at, plain);
    if p.lexer.run(quote, |c| c == '"' || c == '`') == 0 {
        if plain == 0 {
            p.skip_to(at)?;
            p.allow("a value");
            return Err(p.unexpected());
        }
        p.skip_to(quote)?;
        return Ok(p.lexer.slice(at, quote).to_owned());
    }
    let token = p.lexer.token(quote)?;
    p.skip_to(token.end)?;
    Ok(match token.kind {
        Kind::Text(text) if plain == 0 => text,
        _ => p.lexer.slice(at, token.end).to_owned(),
    })
}

fn event(p: &mut Parser<'_>) -> Read<Event> {
    let start = p.next.start;
    let at = when(p)?;
    let until = until(p, at, start)?;
    if until.is_some() {
        let call = call(p, until)?;
        return Ok(Event { line: start.line, at, action: Action::Call(Box::new(call)) });
    }
    let action = action(p)?;
    let expected = matches!(&action, Action::Packet(packet) if packet.direction == Direction::Out);
    match at {
        When::Any if !expected => Err(p.fault(start, "the time `*` is only for packets that are expected (`>`)")),
        When::AbsoluteRange(..) | When::RelativeRange(..) if !expected => {
            Err(p.fault(start, "a range of times is only for packets that are expected (`>`)"))
        }
        When::AbsoluteRange(from, to) | When::RelativeRange(from, to) if to < from => {
            Err(p.fault(start, "a range of times ends before it begins"))
        }
        _ => Ok(Event { line: start.line, at, action }),
    }
}

fn when(p: &mut Parser<'_>) -> Read<When> {
    if p.next.kind == Kind::Symbol('*') {
        p.take()?;
        return Ok(When::Any);
    }
    if p.next.kind == Kind::Symbol('+') {
        p.take()?;
        let from = p.time()?;
        if p.symbol_for('~', "`~` with the end of a range")? {
            p.require('+')?;
            return Ok(When::RelativeRange(from, p.time()?));
        }
        return Ok(When::Relative(from));
    }
    if !matches!(p.next.kind, Kind::Integer(_) | Kind::Float(_)) {
        return Err(p.unexpected());
    }
    let from = p.time()?;
    if p.symbol_for('~', "`~` with the end of a range")? {
        return Ok(When::AbsoluteRange(from, p.time()?));
    }
    Ok(When::Absolute(from))
}

/// `...END` after the time of a call that may block.
fn until(p: &mut Parser<'_>, at: When, start: Place) -> Read<Option<Nanos>> {
    if p.next.kind != Kind::Ellipsis {
        p.allow("`...` with the time until which a call blocks");
        return Ok(None);
    }
    p.take()?;
    let end = p.time()?;
    match at {
        When::Absolute(from) | When::Relative(from) if from <= end => Ok(Some(end)),
        When::Absolute(_) | When::Relative(_) => Err(p.fault(start, "a call that blocks ends before it begins")),
        When::Any | When::AbsoluteRange(..) | When::RelativeRange(..) => {
            Err(p.fault(start, "a call has one time; `*` and ranges are only for packets that are expected (`>`)"))
        }
    }
}

fn action(p: &mut Parser<'_>) -> Read<Action> {
    match &p.next.kind {
        Kind::Symbol('<' | '>') => Ok(Action::Packet(Box::new(packet(p)?))),
        Kind::Word(_) => Ok(Action::Call(Box::new(call(p, None)?))),
        Kind::Backquoted(_) | Kind::Code(_) => {
            let token = p.take()?;
            let line = token.start.line;
            Ok(match token.kind {
                Kind::Code(text) => Action::Code(Code { line, text }),
                Kind::Backquoted(text) => Action::Command(Command { line, text }),
                _ => return Err(p.unexpected()),
            })
        }
        _ => {
            p.allow("a packet that arrives (`<`) or is expected (`>`)");
            p.allow("a call such as `close(3) = 0`");
            p.allow("a command in backquotes");
            p.allow("code in `%{ }%`");
            Err(p.unexpected())
        }
    }
}
