//! The rows of captures as tables.

use super::connection::{connections, CapturedConnection, CapturedExchange};
use super::datagrams::DatagramFlow;
use super::details::{
    CapturedReordering, CapturedRetransmission, CapturedStall, DensityShare, StallsOfCause, TimeOfCause,
};
use super::file::{CapturedFile, Skipped, SkippedOf};
use super::flow::{CapturedFlow, FlowOf};
use super::packet::CapturedPacket;
use super::parts::whole;
use super::{datagrams, flows, FlowRow, OneFile};
use crate::packets::Packet;
use crate::seen::Way;
use ackclock_table::{markdown, shown, typescript, Cell, Column, Described, Row};

/// A table: its columns, and its rows, which are computed one by one.
pub struct Table<'a> {
    /// Its columns; a column of JSON alone has no cells.
    pub columns: Vec<Column>,
    /// A cell for each column of each row.
    pub rows: Box<dyn Iterator<Item = Vec<Cell>> + 'a>,
}

/// The names of the tables.
pub const TABLES: [&str; 11] = [
    "connections",
    "exchanges",
    "flows",
    "retransmissions",
    "reordering",
    "densities",
    "times",
    "stalls",
    "datagrams",
    "files",
    "skipped",
];

/// The table with this name in [`TABLES`].
pub fn table<'a>(name: &str, files: &'a [OneFile]) -> Option<Table<'a>> {
    Some(match name {
        "connections" => of(connections(files).map(|c| CapturedConnection::of(&c))),
        "exchanges" => of(connections(files).flat_map(|c| c.each_exchange())),
        "times" => of_flows(files, |f| f.times()),
        "flows" => of(flows(files).map(|f| CapturedFlow::of((&f, false)))),
        "retransmissions" => of_flows(files, |f| f.each_retransmission()),
        "reordering" => of_flows(files, |f| f.reordering().into_iter().collect()),
        "densities" => of_flows(files, |f| f.densities()),
        "stalls" => of_flows(files, |f| f.each_stall()),
        "datagrams" => of(datagrams(files).map(DatagramFlow::of)),
        "files" => of(whole(files).map(move |f| CapturedFile::of((f, files)))),
        "skipped" => below(whole(files).flat_map(|f| f.skipped().map(move |(kind, s)| (SkippedOf::of((f, kind)), s)))),
        _ => return None,
    })
}

/// Packets of a connection; `own` is the flow's direction, and times count from `first`, nanoseconds.
pub fn packets(packets: &[Packet], own: Way, first: i64) -> Table<'_> {
    of(packets.iter().map(move |p| CapturedPacket::of((p, own, first))))
}

/// The kinds of rows of a capture: the name that Python uses, the heading in the reference, the row.
fn kinds() -> Vec<(&'static str, &'static str, Described)> {
    vec![
        ("captured_connection", "`connections`", Described::of::<CapturedConnection>()),
        ("captured_exchange", "`exchanges`", Described::of::<CapturedExchange>()),
        ("captured_flow", "`flows`", Described::of::<CapturedFlow>()),
        (
            "captured_retransmission",
            "`retransmissions`; `each_retransmission` of a flow",
            Described::of::<CapturedRetransmission>(),
        ),
        ("captured_stall", "`stalls`; `each_stall` of a flow", Described::of::<CapturedStall>()),
        ("time_of_cause", "`times`", Described::of::<TimeOfCause>()),
        ("stalls_of_cause", "`stalls_by_cause` of a flow", Described::of::<StallsOfCause>()),
        (
            "captured_reordering",
            "`reordering`; `reordering` of a flow and of datagrams",
            Described::of::<CapturedReordering>(),
        ),
        ("density_share", "`densities`", Described::of::<DensityShare>()),
        ("datagram_flow", "`datagrams`", Described::of::<DatagramFlow>()),
        ("captured_file", "`files`", Described::of::<CapturedFile>()),
        ("skipped", "`skipped`; `skipped` of a file", Described::of::<Skipped>()),
        ("captured_packet", "`Capture.packets`", Described::of::<CapturedPacket>()),
    ]
}

/// The kinds of rows of a capture, by the names that Python uses.
pub fn described() -> Vec<(&'static str, Described)> {
    kinds().into_iter().map(|(name, _, row)| (name, row)).collect()
}

/// The reference of all columns, `docs/capture-columns.md`.
pub fn page() -> String {
    let rows = kinds().into_iter().map(|(_, title, row)| format!("\n## {title}\n\n{}", markdown(&row)));
    PAGE.to_owned() + &rows.collect::<String>()
}

const PAGE: &str = "# What a capture says: columns

After reading this page you know every number that [`ackclock capture`](captures.md) gives. The names are the same in `--json`, in
the tables of [Python](api/capture.md) and `--parquet`, and on the lab page. Each heading names the table, and where its rows are in the JSON.

The JSON has `ackclock` (the version), `answers` (what it says about the largest transfers and failed connections, in sentences), `remarks`
(sentences about the whole analysis), `files`, `connections`, `flows` and `datagrams`. The tables of retransmissions, times, stalls, reordering
and densities begin with the flow's `file`, `connection` and `flow`; the table of skipped packets with
`file` and `kind`. Frames count from 1 in each file, as in Wireshark. This page is generated: `make generated`.
";

/// The rows as types of TypeScript, with what tables for people show of them.
pub fn types() -> String {
    let rows: Vec<_> = described().into_iter().map(|(_, row)| row).collect();
    let head = "/** The rows of captures. Generated: make generated */\n";
    format!("{head}{}{}", typescript(&rows), shown(&rows))
}

fn of<'a, R: Row>(rows: impl Iterator<Item = R> + 'a) -> Table<'a> {
    Table { columns: R::columns(), rows: Box::new(rows.map(|row| row.cells())) }
}

/// Rows that begin with the columns of what they belong to.
fn below<'a, B: Row, R: Row>(rows: impl Iterator<Item = (B, R)> + 'a) -> Table<'a> {
    let columns = [B::columns(), R::columns()].concat();
    Table { columns, rows: Box::new(rows.map(|(one, row)| [one.cells(), row.cells()].concat())) }
}

fn of_flows<'a, R: Row + 'a>(files: &'a [OneFile], each: impl Fn(&FlowRow<'_>) -> Vec<R> + 'a) -> Table<'a> {
    below(flows(files).flat_map(move |f| {
        let flow = FlowOf::of(&f);
        each(&f).into_iter().map(move |row| (flow.clone(), row))
    }))
}
