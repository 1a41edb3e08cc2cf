//! Scripts of packetdrill's language, run on virtual time against any TCP.
//!
//! | module | content |
//! | --- | --- |
//! | [`script`] | the language: text to events |
//! | [`code`] | the statements between `%{` and `}%` |
//! | [`run`], [`verdict`] | a script against a TCP, and the result |
//! | [`suite`] | many scripts |
//! | [`tcp`], [`errno`] | the border to a TCP under test |
//! | [`engine`] | this project's own TCP behind that border |
//! | [`lines`] | that border as lines of JSON, for a TCP in another process |
//! | `library` | a TCP in a shared library behind that border, on Unix |
//!
//! # Example
//!
//! A listener replies to a SYN.
//!
//! ```
//! use ackclock_conform::engine::System;
//! use ackclock_conform::suite::{run_text, Setup};
//! use ackclock_conform::verdict::Verdict;
//! use ackclock_tcp::stack::Stack;
//!
//! let script = "
//!      0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!     +0 bind(3, ..., ...) = 0
//!     +0 listen(3, 1) = 0
//!     +0 < S 0:0(0) win 1000 <mss 1000>
//!     +0 > S. 0:0(0) ack 1 <mss 1460>
//! ";
//! let setup = Setup { system: System::Linux, stack: None, stack_of: Stack::named };
//! let report = run_text("handshake.pkt", script, &setup, &|_| None);
//! assert_eq!(report.verdict, Verdict::Pass);
//! ```

pub mod code;
pub mod engine;
pub mod errno;
#[cfg(unix)]
pub mod library;
pub mod lines;
pub mod run;
pub mod script;
pub mod suite;
pub mod tcp;
pub mod verdict;
