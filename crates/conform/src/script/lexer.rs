//! Text to tokens: words, numbers, text in quotes, and the conditions on lines that begin with `#`.

mod conditions;

use super::error::{Reason, SyntaxError};
use std::collections::{BTreeMap, BTreeSet};

/// The most characters of a token that a message shows.
const MOST_SHOWN: usize = 40;

/// Words of the language itself; a definition does not replace them.
const KEYWORDS: &[&str] = &[
    "ack",
    "ce",
    "ceb",
    "cmsg_data",
    "cmsg_level",
    "cmsg_type",
    "e0b",
    "e1b",
    "ECN",
    "ecr",
    "ect0",
    "ect01",
    "ect1",
    "ee_code",
    "ee_data",
    "ee_errno",
    "ee_info",
    "ee_origin",
    "ee_type",
    "encap",
    "eol",
    "events",
    "fd",
    "flags",
    "flowlabel",
    "FO",
    "FOEXP",
    "gre",
    "GREv0",
    "htons",
    "icmp",
    "id",
    "inet6_addr",
    "inet_addr",
    "ipv4",
    "ipv6",
    "linger",
    "md5",
    "mpls",
    "msg_control",
    "msg_flags",
    "msg_iov",
    "msg_name",
    "mss",
    "mtu",
    "noecn",
    "nop",
    "onoff",
    "psp",
    "ptr",
    "raw",
    "revents",
    "sack",
    "sackOK",
    "sa_family",
    "scm_nsec",
    "scm_sec",
    "sin_addr",
    "sin_port",
    "spi",
    "tos",
    "TS",
    "ttl",
    "u32",
    "u64",
    "udp",
    "urg",
    "val",
    "win",
    "wscale",
];

/// A place between two characters of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The bytes before it.
    pub(super) at: usize,
    /// Its line, from 1.
    pub(super) line: u32,
    /// Where its line begins, in bytes.
    line_start: usize,
    /// The number of `#ifdef`s that are open here.
    open: u32,
    /// Bit `n`: the condition at depth `n` is past its `#else`.
    past_else: u64,
}

impl Place {
    /// The beginning of a text.
    pub(super) const START: Place = Place { at: 0, line: 1, line_start: 0, open: 0, past_else: 0 };
}

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, digits and underscores.
    Word(String),
    /// A whole number in decimal digits, with its sign.
    Integer(String),
    /// The digits after `0x`.
    Hex(String),
    /// A number with a point.
    Float(String),
    /// Text in double quotes, with its escapes.
    Text(String),
    /// Text in backquotes.
    Backquoted(String),
    /// Text between `%{` and `}%`, without spaces at its ends.
    Code(String),
    /// The name after `--`.
    Option(String),
    /// `...`
    Ellipsis,
    /// Another character.
    Symbol(char),
    /// The end of the script.
    End,
}

/// A part of the text that belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: Place,
    pub(super) end: Place,
}

/// Reads tokens of one script.
pub(super) struct Lexer<'a> {
    file: &'a str,
    text: &'a str,
    /// Names for `#ifdef`.
    names: BTreeSet<&'a str>,
    /// Words to replace, with the text that replaces them.
    pub(super) values: BTreeMap<String, String>,
}

impl<'a> Lexer<'a> {
    /// `defined` holds names, or names with a value as `NAME=VALUE`.
    pub(super) fn new(file: &'a str, text: &'a str, defined: &[&'a str]) -> Self {
        let mut names = BTreeSet::new();
        let mut values = BTreeMap::new();
        for &one in defined {
            let (name, value) = one.split_once('=').map_or((one, None), |(name, value)| (name, Some(value)));
            names.insert(name);
            if let Some(value) = value {
                values.insert(name.to_owned(), value.to_owned());
            }
        }
        Lexer { file, text, names, values }
    }

    /// The text from one place to another.
    pub(super) fn slice(&self, from: Place, to: Place) -> &'a str {
        &self.text[from.at..to.at.max(from.at)]
    }

    /// An error at a place.
    pub(super) fn error(&self, at: Place, reason: Reason) -> SyntaxError {
        let column = self.text[at.line_start.min(at.at)..at.at].chars().count() + 1;
        SyntaxError {
            file: self.file.to_owned(),
            line: at.line,
            column: u32::try_from(column).unwrap_or(u32::MAX),
            reason,
        }
    }

    fn fault(&self, at: Place, why: impl Into<String>) -> SyntaxError {
        self.error(at, Reason::Fault(why.into()))
    }

    fn rest(&self, at: Place) -> &'a str {
        &self.text[at.at..]
    }

    /// The place after the next `bytes` bytes, which must end between two characters.
    pub(super) fn after(&self, from: Place, bytes: usize) -> Place {
        let mut place = from;
        let passed = &self.text[from.at..from.at + bytes];
        for (at, _) in passed.match_indices('\n') {
            place.line = place.line.saturating_add(1);
            place.line_start = from.at + at + 1;
        }
        place.at = from.at + bytes;
        place
    }

    /// How many bytes of the next characters fit.
    pub(super) fn run(&self, at: Place, fits: impl Fn(char) -> bool) -> usize {
        let rest = self.rest(at);
        rest.find(|c| !fits(c)).unwrap_or(rest.len())
    }

    /// The place of the next token: after spaces, comments, conditions and the parts that they leave out.
    pub(super) fn skip(&self, from: Place) -> Result<Place, SyntaxError> {
        let mut at = from;
        loop {
            at = self.after(at, self.run(at, char::is_whitespace));
            let rest = self.rest(at);
            if rest.starts_with("//") {
                at = self.after(at, self.run(at, |c| c != '\n'));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    return Err(self.fault(at, "a comment that begins with `/*` has no `*/`"));
                };
                at = self.after(at, end + 4);
            } else if rest.starts_with('#') && self.text[at.line_start..at.at].trim().is_empty() {
                at = self.condition(at)?;
            } else if rest.is_empty() && at.open > 0 {
                return Err(self.fault(at, "an `#ifdef` has no `#endif`"));
            } else {
                return Ok(at);
            }
        }
    }

    /// The token after `from`.
    pub(super) fn token(&self, from: Place) -> Result<Token, SyntaxError> {
        let start = self.skip(from)?;
        let (kind, bytes) = self.kind(start)?;
        Ok(Token { kind, start, end: self.after(start, bytes) })
    }

    fn kind(&self, at: Place) -> Result<(Kind, usize), SyntaxError> {
        let rest = self.rest(at);
        let Some(first) = rest.chars().next() else { return Ok((Kind::End, 0)) };
        if rest.starts_with("...") {
            return Ok((Kind::Ellipsis, 3));
        }
        if rest.starts_with("%{") {
            return self.code(at);
        }
        if let Some(name) = rest.strip_prefix("--") {
            let bytes = name.find(|c| !is_word(c)).unwrap_or(name.len());
            if bytes > 0 {
                return Ok((Kind::Option(name[..bytes].to_owned()), bytes + 2));
            }
        }
        match first {
            '"' => self
                .quoted(at, '"', "text that begins with `\"` has no `\"` at its end")
                .map(|(s, n)| (Kind::Text(s), n)),
            '`' => self
                .quoted(at, '`', "a command that begins with a backquote has no backquote at its end")
                .map(|(s, n)| (Kind::Backquoted(s), n)),
            _ => Ok(self.word_or_number(rest).unwrap_or((Kind::Symbol(first), first.len_utf8()))),
        }
    }

    fn code(&self, at: Place) -> Result<(Kind, usize), SyntaxError> {
        let inner = &self.rest(at)[2..];
        let Some(end) = inner.find("}%") else {
            return Err(self.fault(at, "code that begins with `%{` has no `}%`"));
        };
        Ok((Kind::Code(inner[..end].trim_matches([' ', '\t']).to_owned()), end + 4))
    }

    fn quoted(&self, at: Place, quote: char, open: &str) -> Result<(String, usize), SyntaxError> {
        let inner = &self.rest(at)[1..];
        let mut escaped = false;
        for (position, c) in inner.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == quote => return Ok((inner[..position].to_owned(), position + 2)),
                _ => {}
            }
        }
        Err(self.fault(at, open))
    }

    /// The longer of a number and a word at the beginning of `rest`, as the language defines: `1234abcd` is a word.
    fn word_or_number(&self, rest: &str) -> Option<(Kind, usize)> {
        let sign = usize::from(rest.starts_with('-'));
        let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
        let whole = digits(&rest[sign..]);
        let tail = &rest[sign + whole..];
        let fraction = tail.strip_prefix('.').map_or(0, digits);
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if fraction > 0 {
            let bytes = sign + whole + 1 + fraction;
            return Some((Kind::Float(rest[..bytes].to_owned()), bytes));
        }
        if whole > 0 && sign + whole >= word {
            return Some((Kind::Integer(rest[..sign + whole].to_owned()), sign + whole));
        }
        if word == 0 {
            return None;
        }
        let text = &rest[..word];
        let kind = match text.strip_prefix("0x") {
            Some(hex) if !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()) => Kind::Hex(hex.to_owned()),
            _ => self.word(text),
        };
        Some((kind, word))
    }

    /// A word, or its replacement.
    pub(super) fn word(&self, text: &str) -> Kind {
        let Some(value) = self.values.get(text).filter(|_| !KEYWORDS.contains(&text)) else {
            return Kind::Word(text.to_owned());
        };
        let inner = |quote: char| value.strip_prefix(quote).map(|v| v.strip_suffix(quote).unwrap_or(v).to_owned());
        if let Some(text) = inner('"') {
            return Kind::Text(text);
        }
        if let Some(command) = inner('`') {
            return Kind::Backquoted(command);
        }
        match value.strip_prefix("0x") {
            Some(hex) if i64::from_str_radix(hex, 16).is_ok() => Kind::Hex(hex.to_owned()),
            _ if value.parse::<i64>().is_ok() => Kind::Integer(value.clone()),
            _ => Kind::Word(value.clone()),
        }
    }
}

/// Whether a character may be part of a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A piece of a script as a message shows it: in backquotes, one line, cut if it is long.
pub(super) fn quoted(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(MOST_SHOWN).map(|c| if c.is_control() { '·' } else { c }).collect();
    if shown.chars().count() < text.chars().count() {
        shown.push('…');
    }
    if shown.contains('`') {
        format!("'{shown}'")
    } else {
        format!("`{shown}`")
    }
}
