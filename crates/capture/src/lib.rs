//! Captures of TCP: what happened to a transfer, from one side, from both or from the middle.
//!
//! | module | what |
//! | --- | --- |
//! | [`seen`] | one TCP segment as a capture shows it, with the numbers of its connection |

pub mod seen;

pub use seen::{Heading, Seen, Way};
