//! The options of a TCP segment, between `<` and `>`.

use super::lexer::{is_word, Kind};
use super::parser::{Parser, Read};
use super::syntax::{Direction, TcpOption};

/// The most bytes of options that a TCP header holds.
const MOST_BYTES: usize = 40;

/// Reads the options of a segment. Without `<` there are none; `None` for `<...>`.
pub(super) fn options(p: &mut Parser<'_>, direction: Direction) -> Read<Option<Vec<TcpOption>>> {
    let start = p.next.start;
    if !p.symbol_for('<', "options in `<...>`")? {
        return Ok(Some(Vec::new()));
    }
    if p.next.kind == Kind::Ellipsis {
        p.take()?;
        p.require('>')?;
        if direction == Direction::In {
            return Err(p.fault(start, "`<...>` is only for packets that are expected (`>`)"));
        }
        return Ok(None);
    }
    let (mut options, mut bytes) = (Vec::new(), 0);
    loop {
        let (option, len) = option(p)?;
        bytes += len;
        if bytes > MOST_BYTES {
            return Err(
                p.fault(start, format!("these options need more than the {MOST_BYTES} bytes that a header has"))
            );
        }
        options.push(option);
        if p.symbol('>')? {
            return Ok(Some(options));
        }
        p.require(',')?;
    }
}

/// One option, with its length in the header in bytes.
fn option(p: &mut Parser<'_>) -> Read<(TcpOption, usize)> {
    if p.word("nop", "`nop`")? {
        return Ok((TcpOption::Nop, 1));
    }
    if p.word("eol", "`eol`")? {
        return Ok((TcpOption::Eol, 1));
    }
    if p.word("mss", "`mss N`")? {
        return Ok((TcpOption::Mss(p.number("the MSS", 0..=u16::MAX)?), 4));
    }
    if p.word("wscale", "`wscale N`")? {
        return Ok((TcpOption::WindowScale(p.number("the window scale", 0..=u8::MAX)?), 3));
    }
    if p.word("sackOK", "`sackOK`")? {
        return Ok((TcpOption::SackOk, 2));
    }
    if p.word("sack", "`sack a:b`")? {
        let blocks = sack(p)?;
        let bytes = 2 + 8 * blocks.len();
        return Ok((TcpOption::Sack(blocks), bytes));
    }
    if p.word("TS", "`TS val V ecr E`")? {
        p.require_word("val")?;
        let val = p.number("the value of a timestamp", 0..=u32::MAX)?;
        p.require_word("ecr")?;
        let ecr = p.number("the echo of a timestamp", 0..=u32::MAX)?;
        return Ok((TcpOption::Timestamps { val, ecr }, 10));
    }
    if p.word("ECN", "`ECN e0b N ceb N e1b N`")? {
        return accurate_ecn(p);
    }
    for (name, shown, base) in [("md5", "`md5 HEX`", 2), ("FO", "`FO HEX`", 2), ("FOEXP", "`FOEXP HEX`", 4)] {
        if p.word(name, shown)? {
            let digits = p.lexer.run(p.next.start, is_word);
            let cookie = if digits > 0 { format!(" {}", p.take_raw(digits)?) } else { String::new() };
            return Ok((TcpOption::Other(format!("{name}{cookie}")), base + digits / 2));
        }
    }
    p.allow("`...` alone");
    Err(p.unexpected())
}

fn sack(p: &mut Parser<'_>) -> Read<Vec<(u32, u32)>> {
    let mut blocks = Vec::new();
    // A fifth block does not fit; the check of all bytes says so.
    while blocks.is_empty() || matches!(p.next.kind, Kind::Integer(_) | Kind::Hex(_)) && blocks.len() < MOST_BYTES {
        let left = p.number("the left edge of a SACK block", 0..=u32::MAX)?;
        p.require(':')?;
        blocks.push((left, p.number("the right edge of a SACK block", 0..=u32::MAX)?));
        p.allow("another SACK block `a:b`");
    }
    Ok(blocks)
}

/// The counters of accurate ECN, in one of their two orders; those at the end may be left out.
fn accurate_ecn(p: &mut Parser<'_>) -> Read<(TcpOption, usize)> {
    let mut text = "ECN".to_owned();
    let mut counters = 0;
    let Some((first, ())) = p.one_of(&[("e0b", ()), ("e1b", ())])? else { return Err(p.unexpected()) };
    let order = if first == "e0b" { ["e0b", "ceb", "e1b"] } else { ["e1b", "ceb", "e0b"] };
    for name in order {
        if counters > 0 && !p.word(name, &format!("`{name} N`"))? {
            break;
        }
        let value: u32 = p.number("a counter of accurate ECN", 0..=0xff_ffff)?;
        text.push_str(&format!(" {name} {value}"));
        counters += 1;
    }
    Ok((TcpOption::Other(text), 2 + 3 * counters))
}
