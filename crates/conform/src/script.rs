//! The language of packetdrill's scripts: text to events.
//!
//! Source: packetdrill's `syntax.md`, and its scripts in use.

pub mod syntax;
