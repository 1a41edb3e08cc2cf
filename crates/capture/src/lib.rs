//! Captures of TCP: what happened to a transfer, from one side, from both or from the middle.
//!
//! | module | what |
//! | --- | --- |
//! | [`seen`] | one TCP segment as a capture shows it, with the numbers of its connection |
//! | [`connection`] | takes one connection's segments, leaves its record and its verdicts |
//! | [`verdict`] | what a retransmission was, and what shows it |
//! | [`place`] | where a connection was captured |
//! | [`rtt`] | how long round trips took |

pub mod connection;
pub mod place;
pub mod rtt;
pub mod seen;
pub mod verdict;

pub use connection::{Connection, Record, Report, Wanted};
pub use seen::{Heading, Seen, Way};
