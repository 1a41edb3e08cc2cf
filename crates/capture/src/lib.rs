//! Captures of TCP: what happened to a transfer, from one side, from both or from the middle.
//!
//! | module | what |
//! | --- | --- |
//! | [`read`](mod@read) | files: formats, packing, damage; packets with their times |
//! | [`link`] | from a frame to what it carries, through link layers and tunnels |
//! | [`fit`](mod@fit) | the path that explains a capture, as a scenario |
//! | [`datagrams`] | UDP with sequence numbers |
//! | [`graph`] | one flow closely: what a time-sequence graph shows of it |
//! | [`flows`] | which segment belongs to which connection, and its numbers |
//! | [`seen`] | one TCP segment as a capture shows it, with the numbers of its connection |
//! | [`both`] | what arrived, from the capture of the receiver's side |
//! | [`packets`] | the packets of one connection, for graphs |
//! | [`pair`] | which connections were captured at both ends |
//! | [`connection`] | takes one connection's segments, leaves its record and its verdicts |
//! | [`stalls`] | where a transfer stood still, and why |
//! | [`rows`] | what is said of a connection, as JSON and for tables |
//! | [`survey`] | all of this about each connection, in one pass |
//! | [`verdict`] | what a retransmission was, and what shows it |
//! | [`place`] | where a connection was captured |
//! | [`reordering`] | how much the path reordered |
//! | [`rtt`] | how long round trips took |
//! | [`write`](mod@write) | chosen packets, or all of them without names and payload |

pub mod both;
pub mod connection;
pub mod datagrams;
mod fetch;
pub mod fit;
pub mod flows;
pub mod graph;
mod ids;
mod judge;
pub mod link;
mod octaves;
pub mod packets;
pub mod pair;
pub mod place;
mod ranges;
pub mod read;
pub mod reordering;
pub mod rows;
pub mod rtt;
pub mod seen;
pub mod stalls;
mod stream;
pub mod survey;
pub mod verdict;
pub mod write;

pub use connection::{Connection, Record, Report, Wanted};
pub use flows::{Analysis, Ended, Flow, Flows, Syn, Traffic};
pub use read::{Contents, Frame, Input, Unreadable};
pub use seen::{Heading, Seen, Way};

/// Reads a file and analyses its connections, at most `limit` of them in memory at once.
///
/// # Errors
/// [`Unreadable`] if nothing of it could be read.
pub fn analyse<A: Analysis>(
    input: Input<'_>,
    limit: usize,
    analysis: &mut A,
) -> Result<(Contents, Traffic), Unreadable> {
    let mut flows = Flows::new(analysis, limit);
    let contents = read::read(input, |frame| flows.frame(frame))?;
    Ok((contents, flows.finish()))
}
