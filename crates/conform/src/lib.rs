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

#![forbid(unsafe_code)]

pub mod code;
pub mod engine;
pub mod errno;
pub mod run;
pub mod script;
pub mod suite;
pub mod tcp;
pub mod verdict;
