//! Captures of TCP: analyses transfers from one side, from both sides or from the middle.
//!
//! | module | content |
//! | --- | --- |
//! | [`read`](mod@read) | files: formats, packing, damage; packets with their times |
//! | [`link`] | from a frame to its content, through link layers and tunnels |
//! | [`fit`](mod@fit) | the path that explains a capture, as a scenario |
//! | [`datagrams`] | UDP with sequence numbers |
//! | [`graph`] | one flow in detail: the data of its time-sequence graph |
//! | [`flows`] | the connection of each segment, and its numbers |
//! | [`seen`] | one captured TCP segment, with the numbers of its connection |
//! | [`both`] | the arrivals, from the capture of the receiver's side |
//! | [`packets`] | the packets of one connection, for graphs |
//! | [`pair`] | finds the connections that were captured at both ends |
//! | [`connection`] | takes one connection's segments, returns its record and its verdicts |
//! | [`exchanges`] | requests and answers: the time of client, network and server |
//! | [`stalls`] | where a transfer stalled, and why |
//! | [`rows`] | the results of a connection, as JSON and for tables |
//! | [`survey`] | all of this for each connection, in one pass |
//! | [`verdict`] | the verdict on a retransmission, and its evidence |
//! | [`place`] | where a connection was captured |
//! | [`reordering`] | the path's reordering |
//! | [`rtt`] | round-trip times |
//! | [`write`](mod@write) | selected packets, or all of them without names and payload |
//!
//! # Example
//!
//! ```
//! use ackclock_capture::survey::Survey;
//! use ackclock_capture::{analyse, Input};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/kernel/cubic-two-paths-no-dsack-sender.pcapng.gz");
//! let bytes = std::fs::read(path)?; // a pcap, pcapng, snoop or ERF file, packed or not
//! let mut survey = Survey::default();
//! let (contents, _) = analyse(Input::Bytes(&bytes), usize::MAX, &mut survey)?;
//! assert!(contents.frames > 1_000);
//! let found = survey.finish();
//! let upload = &found.connections[0].record.ways[0];
//! let told = upload.retransmissions;
//! assert_eq!((told.needed, told.needless, told.refused, told.undecided), (24, 484, 0, 6));
//! # Ok(())
//! # }
//! ```

pub mod both;
pub mod connection;
pub mod datagrams;
pub mod exchanges;
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

/// Reads a file and analyses its connections, at most `limit` of them in memory at a time.
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
