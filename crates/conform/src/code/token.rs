//! Code to tokens.

use super::CodeError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Name(String),
    Integer(i128),
    Float(f64),
    Text(String),
    Op(&'static str),
    /// The end of a statement.
    Stop,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) line: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Longer operators first.
const OPS: &[&str] = &[
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "<", ">", "=", "(",
    ")", ",",
];

/// Reads all tokens. A line ends a statement outside parentheses only; a backslash before its end joins lines.
pub(crate) fn tokens(text: &str, first_line: u32) -> Result<Vec<Token>, CodeError> {
    let (mut tokens, mut at, mut line, mut open) = (Vec::new(), 0, first_line, 0usize);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, len) = match c {
            '\\' if rest[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                at += rest.find('\n').map_or(1, |newline| newline + 1);
                line += 1;
                continue;
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            '\n' if open > 0 => (None, 1),
            '\n' | ';' => (Some(Kind::Stop), 1),
            _ if c.is_whitespace() => (None, c.len_utf8()),
            '"' | '\'' => string(rest, c, line).map(|(text, len)| (Some(Kind::Text(text)), len))?,
            _ if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) => {
                number(rest, line).map(|(kind, len)| (Some(kind), len))?
            }
            _ if c.is_ascii_alphabetic() || c == '_' => {
                let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                (Some(Kind::Name(rest[..len].to_owned())), len)
            }
            _ => match OPS.iter().find(|op| rest.starts_with(**op)) {
                Some(op) => (Some(Kind::Op(op)), op.len()),
                None => {
                    let reason =
                        format!("found `{}`, allowed here: a number, a name, text or an operator", c.escape_default());
                    return Err(CodeError { line, reason });
                }
            },
        };
        match kind {
            Some(Kind::Op("(")) => open += 1,
            Some(Kind::Op(")")) => open = open.saturating_sub(1),
            _ => {}
        }
        if let Some(kind) = kind {
            tokens.push(Token { kind, line, start: at, end: at + len });
        }
        line += u32::from(c == '\n');
        at += len;
    }
    tokens.push(Token { kind: Kind::Stop, line, start: at, end: at });
    Ok(tokens)
}

fn string(rest: &str, quote: char, line: u32) -> Result<(String, usize), CodeError> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => return Ok((text, at + 1)),
            '\n' => break,
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => break,
            },
            _ => text.push(c),
        }
    }
    Err(CodeError { line, reason: format!("text that begins with `{quote}` has no `{quote}` at its end") })
}

fn number(rest: &str, line: u32) -> Result<(Kind, usize), CodeError> {
    let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
    if let Some(hex) = rest.strip_prefix("0x") {
        let len = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return match i128::from_str_radix(&hex[..len], 16) {
            Ok(value) => Ok((Kind::Integer(value), len + 2)),
            Err(_) => Err(CodeError { line, reason: "a hexadecimal number needs from 1 to 31 digits".to_owned() }),
        };
    }
    let mut len = digits(rest);
    let mut float = false;
    if rest[len..].starts_with('.') {
        len += 1 + digits(&rest[len + 1..]);
        float = true;
    }
    if let Some(exponent) = rest[len..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let power = digits(&exponent[sign..]);
        if power > 0 {
            len += 1 + sign + power;
            float = true;
        }
    }
    let text = &rest[..len];
    let kind = if float { text.parse().ok().map(Kind::Float) } else { text.parse().ok().map(Kind::Integer) };
    kind.map(|kind| (kind, len)).ok_or_else(|| CodeError { line, reason: "a number is out of range".to_owned() })
}
