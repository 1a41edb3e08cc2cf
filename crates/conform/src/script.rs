//! The language of packetdrill's scripts: text to events.
//!
//! Source: packetdrill's `syntax.md`, and its scripts in use.

mod call;
mod error;
mod event;
mod lexer;
mod options;
mod packet;
mod parser;
pub mod syntax;

pub use error::{Reason, SyntaxError};
use lexer::{Lexer, Place};
use parser::Parser;
use syntax::Script;

/// The most bytes of a script.
pub const MOST_BYTES: usize = 16 << 20;

/// Reads a script. `name` appears in messages; it is usually the path of the file.
///
/// `defined` contains the names that `#ifdef` knows, such as `STANDARD` or `FreeBSD`. `NAME=VALUE` also replaces the word
/// `NAME` by `VALUE`, as a line `--define=NAME=VALUE` of the script does.
///
/// # Errors
///
/// A [`SyntaxError`] with the place of the first part that is not in the language, or that makes no sense.
pub fn parse(name: &str, text: &str, defined: &[&str]) -> Result<Script, SyntaxError> {
    let lexer = Lexer::new(name, text, defined);
    if text.len() > MOST_BYTES {
        let why = format!("the script has {} bytes, which is out of range: at most {MOST_BYTES}", text.len());
        return Err(lexer.error(Place::START, Reason::Fault(why)));
    }
    event::script(&mut Parser::new(lexer)?)
}
