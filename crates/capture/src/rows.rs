//! What a capture says: its rows, each described once. The JSON of the command and of the lab page, the tables, their types and
//! the reference come from these descriptions.
//!
//! | module | content |
//! | --- | --- |
//! | [`answers`] | the answer first, in sentences |
//! | [`connection`] | a connection: opened and closed, its requests and answers |
//! | [`flow`] | a direction of a connection that carries data |
//! | [`details`] | its retransmissions, its stalls, its reordering |
//! | [`file`](mod@file) | a file: its packets, what was left out, damage, in sentences, too |
//! | [`mod@datagrams`] | UDP with sequence numbers |
//! | [`parts`] | the interfaces of a file that holds both ends |
//! | [`packet`] | a packet of a connection, for graphs |
//! | [`tables`] | all rows as tables |

pub mod answers;
pub mod connection;
pub mod datagrams;
pub mod details;
pub mod file;
pub mod flow;
pub mod packet;
pub mod parts;
pub mod tables;

use crate::connection::DirectionRecord;
use crate::datagrams::Numbered;
use crate::flows::Traffic;
use crate::read::Contents;
use crate::seen::Way;
use crate::survey::{Course, Everything, Surveyed};
use crate::verdict::Retransmission;
use connection::CapturedConnection;
use datagrams::DatagramFlow;
use file::CapturedFile;
use flow::CapturedFlow;
use parts::{whole, Part};
use serde_json::{json, Value};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

const S: f64 = 1e9;

/// One file, surveyed.
#[derive(Clone, Debug)]
pub struct OneFile {
    /// Its name as given.
    pub name: String,
    /// Its properties, and the damage in it.
    pub contents: Contents,
    /// Its contents besides connections.
    pub traffic: Traffic,
    /// The results for its connections.
    pub found: Everything,
    /// The interface, if the file holds both ends and this is one of them.
    pub part: Option<Part>,
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug)]
pub struct FlowRow<'a> {
    /// The file that contains it.
    pub file: &'a OneFile,
    /// The connection.
    pub connection: &'a Surveyed,
    /// Its way.
    pub way: Way,
    /// The capture of the receiver's side, if that is another file.
    pub receiver_file: Option<&'a str>,
}

impl OneFile {
    /// Its name without the folder.
    pub fn short_name(&self) -> Cow<'_, str> {
        Path::new(&self.name).file_name().map_or(Cow::Borrowed(&*self.name), OsStr::to_string_lossy)
    }

    /// Seconds since the first packet of the file; 0 for a packet whose time was never written.
    pub fn seconds(&self, at: i64) -> f64 {
        let first = self.traffic.span.map_or(at, |s| s.0);
        at.saturating_sub(first).max(0) as f64 / S
    }
}

/// UDP with sequence numbers, file by file.
pub fn datagrams(files: &[OneFile]) -> impl Iterator<Item = (&OneFile, &Numbered)> {
    whole(files).flat_map(|file| file.traffic.numbered.iter().map(move |numbered| (file, numbered)))
}

/// Every direction with data, file by file.
pub fn flows(files: &[OneFile]) -> impl Iterator<Item = FlowRow<'_>> {
    files.iter().flat_map(move |file| {
        file.found.connections.iter().flat_map(move |c| {
            let receiver_file = c.beside.map(|other| files[other.file].name.as_str());
            c.ways_with_data().map(move |way| FlowRow { file, connection: c, way, receiver_file })
        })
    })
}

impl<'a> FlowRow<'a> {
    /// `A:p > B:p`, the direction of the data.
    pub fn name(&self) -> String {
        self.connection.name(self.way)
    }

    /// Whether this is the direction with more data.
    pub fn is_main(&self) -> bool {
        self.way == self.connection.record.main_way()
    }

    /// Its reordering and its stalls.
    pub fn course(&self) -> &'a Course {
        &self.connection.ways[self.way as usize]
    }

    /// Its counts.
    pub fn record(&self) -> &'a DirectionRecord {
        self.connection.record.way(self.way)
    }

    /// Its retransmissions, if each was requested.
    pub fn retransmissions(&self) -> impl Iterator<Item = &'a Retransmission> + '_ {
        self.connection.retransmissions.iter().filter(|r| r.way == self.way)
    }
}

/// The sentence that says how many of the verdicts are guesses; none without any.
pub fn likely(verdicts: u64) -> Option<String> {
    match verdicts {
        0 => None,
        1 => Some("1 of the verdicts is likely, not certain.".to_owned()),
        n => Some(format!("{} of the verdicts are likely, not certain.", file::grouped(n))),
    }
}

/// The output of `ackclock capture --json`; with `details`, each retransmission and each stall, too. `remarks` are the
/// sentences of [`crate::pair::match_ends`] about several files.
pub fn json(files: &[OneFile], remarks: &[String], details: bool) -> Value {
    let guesses = flows(files).filter(FlowRow::is_main).map(|f| f.record().retransmissions.likely).sum();
    let remarks: Vec<String> = remarks.iter().cloned().chain(likely(guesses)).collect();
    json!({
        "ackclock": env!("CARGO_PKG_VERSION"),
        "answers": answers::answers(files),
        "remarks": remarks,
        "files": whole(files).map(|f| CapturedFile::of((f, files))).collect::<Vec<_>>(),
        "connections": connection::connections(files).map(|c| CapturedConnection::of(&c)).collect::<Vec<_>>(),
        "flows": flows(files).map(|f| CapturedFlow::of((&f, details))).collect::<Vec<_>>(),
        "datagrams": datagrams(files).map(DatagramFlow::of).collect::<Vec<_>>(),
    })
}
