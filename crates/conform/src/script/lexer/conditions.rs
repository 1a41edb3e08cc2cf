//! The lines `#ifdef`, `#ifndef`, `#else` and `#endif`, and the parts of a script that they leave out.

use super::super::error::{Reason, SyntaxError};
use super::{quoted, Lexer, Place};

/// How deeply `#ifdef` may be nested.
const MOST_CONDITIONS: u32 = 60;

impl Lexer<'_> {
    /// Applies the line `#…` at `at`, and returns the place after it and after the text that it leaves out.
    pub(super) fn condition(&self, at: Place) -> Result<Place, SyntaxError> {
        let line = self.rest(at).lines().next().unwrap_or_default();
        let mut next = self.after(at, line.len());
        let bit = |depth: u32| 1u64 << depth;
        match directive(line) {
            Some(Directive::If { name, wanted }) => {
                if next.open == MOST_CONDITIONS {
                    return Err(self.fault(at, format!("`#ifdef` is nested deeper than {MOST_CONDITIONS}")));
                }
                next.open += 1;
                next.past_else &= !bit(next.open);
                if self.names.contains(name) == wanted {
                    Ok(next)
                } else {
                    self.leave_out(next)
                }
            }
            Some(Directive::Else) if at.open > 0 && at.past_else & bit(at.open) == 0 => {
                next.past_else |= bit(at.open);
                self.leave_out(next)
            }
            Some(Directive::End) if at.open > 0 => {
                next.open -= 1;
                Ok(next)
            }
            Some(Directive::Else) => Err(self.fault(at, "an `#else` without an `#ifdef`")),
            Some(Directive::End) => Err(self.fault(at, "an `#endif` without an `#ifdef`")),
            None => {
                let allowed = ["`#ifdef NAME`", "`#ifndef NAME`", "`#else`", "`#endif`"].map(str::to_owned).to_vec();
                Err(self.error(at, Reason::Unexpected { found: quoted(line.trim_end()), allowed }))
            }
        }
    }

    /// The place after the `#else` or `#endif` of the condition that is open at `from`.
    fn leave_out(&self, from: Place) -> Result<Place, SyntaxError> {
        let mut at = from;
        let mut inner = 0u32;
        loop {
            let line = self.rest(at).split('\n').next().unwrap_or_default();
            let start = at;
            at = self.after(at, line.len());
            match directive(line.trim_start()) {
                Some(Directive::If { .. }) => inner = inner.saturating_add(1),
                Some(Directive::Else) if inner == 0 => {
                    if at.past_else & (1 << at.open) != 0 {
                        return Err(self.fault(start, "a second `#else` for one `#ifdef`"));
                    }
                    at.past_else |= 1 << at.open;
                    return Ok(at);
                }
                Some(Directive::End) if inner == 0 => {
                    at.open -= 1;
                    return Ok(at);
                }
                Some(Directive::End) => inner -= 1,
                Some(Directive::Else) | None => {}
            }
            if self.rest(at).is_empty() {
                return Err(self.fault(at, "an `#ifdef` has no `#endif`"));
            }
            at = self.after(at, 1);
        }
    }
}

/// A line that begins with `#`.
enum Directive<'a> {
    If { name: &'a str, wanted: bool },
    Else,
    End,
}

fn directive(line: &str) -> Option<Directive<'_>> {
    let mut words = line.strip_prefix('#')?.split_whitespace();
    let first = words.next()?;
    // The language's comment may follow.
    let second = words.next().filter(|word| !word.starts_with("//") && !word.starts_with("/*"));
    match (first, second) {
        ("ifdef", Some(name)) => Some(Directive::If { name, wanted: true }),
        ("ifndef", Some(name)) => Some(Directive::If { name, wanted: false }),
        ("else", None) => Some(Directive::Else),
        ("endif", _) => Some(Directive::End),
        _ => None,
    }
}
