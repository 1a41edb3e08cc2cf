//! Scripts of packetdrill's language, run on virtual time against any TCP.
//!
//! | module | content |
//! | --- | --- |
//! | [`code`] | the statements between `%{` and `}%` |
//! | [`script`] | the language: text to events |

#![forbid(unsafe_code)]

pub mod code;
pub mod script;
