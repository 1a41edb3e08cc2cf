//! Tokens one after the other, with the alternatives allowed in place of each.

use super::error::{Reason, SyntaxError};
use super::lexer::{quoted, Kind, Lexer, Place, Token};
use ackclock_tcp::time::Nanos;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The state of reading a script: the next token, and the alternatives tried in its place.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    /// The next token, which is not taken yet.
    pub(super) next: Token,
    /// The end of the last token that was taken; `None` at the beginning of an event.
    pub(super) last: Option<Place>,
    /// The alternatives tried for the next token.
    allowed: Vec<String>,
    /// How deeply values are nested here.
    pub(super) depth: u32,
}

/// The result of reading a part of a script.
pub(super) type Read<T> = Result<T, SyntaxError>;

impl<'a> Parser<'a> {
    pub(super) fn new(lexer: Lexer<'a>) -> Read<Self> {
        let next = lexer.token(Place::START)?;
        Ok(Parser { lexer, next, last: None, allowed: Vec::new(), depth: 0 })
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Read<Token> {
        let end = self.next.end;
        self.last = Some(end);
        self.allowed.clear();
        let following = self.lexer.token(end)?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    /// The token after the next one.
    pub(super) fn second(&self) -> Read<Token> {
        self.lexer.token(self.next.end)
    }

    /// Takes `bytes` bytes of text from the beginning of the next token on, and continues after them.
    pub(super) fn take_raw(&mut self, bytes: usize) -> Read<String> {
        let start = self.next.start;
        let end = self.lexer.after(start, bytes);
        let text = self.lexer.slice(start, end).to_owned();
        self.skip_to(end)?;
        Ok(text)
    }

    /// Continues at a place.
    pub(super) fn skip_to(&mut self, place: Place) -> Read<()> {
        self.last = Some(place);
        self.allowed.clear();
        self.next = self.lexer.token(place)?;
        Ok(())
    }

    /// Reads the next token again, after a definition that may replace it.
    pub(super) fn refresh(&mut self) -> Read<()> {
        self.next = self.lexer.token(self.next.start)?;
        Ok(())
    }

    /// Forgets the previous event, unless the next token is on its last line: then that event could still continue.
    pub(super) fn begin_event(&mut self) {
        if self.last.take().is_none_or(|last| last.line != self.next.start.line) {
            self.allowed.clear();
            self.allow("a time such as `0.5`, `+0` or `*`");
        }
    }

    /// Remembers an alternative that is allowed here.
    pub(super) fn allow(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.allowed.contains(&what) {
            self.allowed.push(what);
        }
    }

    /// Takes the next token if it is this word. `shown` is how a message names it.
    pub(super) fn word(&mut self, word: &str, shown: &str) -> Read<bool> {
        if matches!(&self.next.kind, Kind::Word(w) if w == word) {
            self.take()?;
            return Ok(true);
        }
        self.allow(shown);
        Ok(false)
    }

    /// Takes the next token if it is this character.
    pub(super) fn symbol(&mut self, symbol: char) -> Read<bool> {
        self.symbol_for(symbol, &format!("`{symbol}`"))
    }

    /// The same, with the text that a message shows for it.
    pub(super) fn symbol_for(&mut self, symbol: char, shown: &str) -> Read<bool> {
        if self.next.kind == Kind::Symbol(symbol) {
            self.take()?;
            return Ok(true);
        }
        self.allow(shown);
        Ok(false)
    }

    /// Takes the next token if it is one of these words, and returns the word with the value beside it.
    pub(super) fn one_of<'w, T: Copy>(&mut self, words: &[(&'w str, T)]) -> Read<Option<(&'w str, T)>> {
        for &(word, means) in words {
            if self.word(word, &format!("`{word}`"))? {
                return Ok(Some((word, means)));
            }
        }
        Ok(None)
    }

    /// Takes this character, which is required here.
    pub(super) fn require(&mut self, symbol: char) -> Read<()> {
        if self.symbol(symbol)? {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    /// Takes this word, which is required here.
    pub(super) fn require_word(&mut self, word: &str) -> Read<()> {
        if self.word(word, &format!("`{word}`"))? {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    /// Takes any word, which is required here. `shown` is how a message names it.
    pub(super) fn any_word(&mut self, shown: &str) -> Read<String> {
        let Kind::Word(word) = &self.next.kind else {
            self.allow(shown);
            return Err(self.unexpected());
        };
        let word = word.clone();
        self.take()?;
        Ok(word)
    }

    /// The value of the next token if it is a whole number that is not too large for 64 bits.
    pub(super) fn integer(&mut self) -> Read<Option<i64>> {
        let start = self.next.start;
        let value = match &self.next.kind {
            Kind::Integer(digits) => digits.parse().ok(),
            // A mask of 64 bits keeps its bits.
            Kind::Hex(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
            _ => return Ok(None),
        };
        let Some(value) = value else {
            return Err(self.fault(start, format!("{} is out of range: it needs more than 64 bits", self.shown())));
        };
        self.take()?;
        Ok(Some(value))
    }

    /// Takes a whole number within `range`, which is required here. `what` names the counted things in messages.
    pub(super) fn number<T>(&mut self, what: &str, range: RangeInclusive<T>) -> Read<T>
    where
        T: TryFrom<i64> + PartialOrd + Display,
    {
        let (start, shown) = (self.next.start, self.shown());
        let Some(value) = self.integer()? else {
            self.allow(what);
            return Err(self.unexpected());
        };
        match T::try_from(value) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(self.fault(
                start,
                format!("{what} is {shown}, which is out of range: from {} to {}", range.start(), range.end()),
            )),
        }
    }

    /// Takes a time in seconds, which is required here.
    pub(super) fn time(&mut self) -> Read<Nanos> {
        let start = self.next.start;
        let (Kind::Integer(text) | Kind::Float(text)) = &self.next.kind else {
            self.allow("a time in seconds such as `0.5`");
            return Err(self.unexpected());
        };
        if text.starts_with('-') {
            return Err(self.fault(start, format!("the time {} is negative", self.shown())));
        }
        let Some(time) = nanos(text) else {
            return Err(self.fault(start, format!("the time {} is out of range: up to 10^9 seconds", self.shown())));
        };
        self.take()?;
        Ok(time)
    }

    /// The next token as a message shows it.
    pub(super) fn shown(&self) -> String {
        match self.next.kind {
            Kind::End => "the end of the script".to_owned(),
            _ => quoted(self.lexer.slice(self.next.start, self.next.end)),
        }
    }

    /// The error that the next token is none of the alternatives allowed.
    pub(super) fn unexpected(&self) -> SyntaxError {
        let allowed = self.allowed.clone();
        match self.last {
            // The event is incomplete: the fault is in its last line, not in the next line.
            Some(last) if last.line != self.next.start.line && self.next.kind != Kind::End => {
                let found = "the end of the line".to_owned();
                self.lexer.error(last, Reason::Unexpected { found, allowed })
            }
            _ => self.lexer.error(self.next.start, Reason::Unexpected { found: self.shown(), allowed }),
        }
    }

    /// The error for text that can be read but makes no sense.
    pub(super) fn fault(&self, at: Place, why: impl Into<String>) -> SyntaxError {
        self.lexer.error(at, Reason::Fault(why.into()))
    }
}

/// Decimal seconds to nanoseconds, exactly; digits after the ninth are cut. `None` above 10^9 seconds.
fn nanos(text: &str) -> Option<Nanos> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let seconds: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(9).collect();
    let below: u64 = digits.parse().ok()?;
    (seconds <= 1_000_000_000).then(|| Nanos(seconds * 1_000_000_000 + below))
}
