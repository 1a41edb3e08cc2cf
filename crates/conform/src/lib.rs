//! Scripts of packetdrill's language, run on virtual time against any TCP.
//!
//! | module | content |
//! | --- | --- |
//! | [`script`] | the language: text to events |

#![forbid(unsafe_code)]

pub mod script;
