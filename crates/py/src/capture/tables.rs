//! The contents of captures, as columns.

use crate::arrow::Table;
use crate::tables::Columns;
use ackclock_capture::packets::Packet;
use ackclock_capture::reordering::Reordered;
use ackclock_capture::rows::{self, flows as all, FlowRow, OneFile};
use ackclock_capture::Way;
use ackclock_lab::summary::ReorderingSummary;
use ackclock_table::Field;
use arrow_schema::ArrowError;

type Made = Result<Table, ArrowError>;

/// A column with the result of `of` for each row.
fn column<R, C: Field>(columns: &mut Columns, rows: &[R], name: &str, of: impl Fn(&R) -> C) {
    let cells: Vec<C> = rows.iter().map(of).collect();
    columns.add(name, cells.iter());
}

/// The columns that identify the flow of a row.
fn belongs<R>(columns: &mut Columns, rows: &[R], flow: impl Fn(&R) -> &FlowRow<'_>) {
    column(columns, rows, "file", |r| flow(r).file.name.clone());
    column(columns, rows, "connection", |r| flow(r).connection.number);
    column(columns, rows, "flow", |r| flow(r).name());
}

pub(super) fn flows(files: &[OneFile]) -> Made {
    let rows: Vec<_> = all(files).collect();
    let mut c = Columns::default();
    belongs(&mut c, &rows, |r| r);
    column(&mut c, &rows, "main", |r| r.way == r.connection.record.main_way());
    column(&mut c, &rows, "start_s", FlowRow::start_s);
    column(&mut c, &rows, "duration_s", FlowRow::duration_s);
    column(&mut c, &rows, "packets", |r| r.record().packets);
    column(&mut c, &rows, "segments", |r| r.record().segments);
    column(&mut c, &rows, "bytes", |r| r.record().bytes);
    column(&mut c, &rows, "carried_bytes", |r| r.record().carried);
    column(&mut c, &rows, "unseen_bytes", |r| r.record().unseen);
    column(&mut c, &rows, "goodput_bytes_per_s", FlowRow::goodput_bytes_per_s);
    for (i, name) in ["rtt_min_s", "rtt_median_s", "rtt_p95_s"].into_iter().enumerate() {
        column(&mut c, &rows, name, |r| r.rtts_s()[i]);
    }
    column(&mut c, &rows, "retransmissions", |r| r.record().retransmissions.total);
    column(&mut c, &rows, "needed_retransmissions", |r| r.record().retransmissions.needed);
    column(&mut c, &rows, "needless_retransmissions", |r| r.record().retransmissions.needless);
    column(&mut c, &rows, "refused_retransmissions", |r| r.record().retransmissions.refused);
    column(&mut c, &rows, "undecided_retransmissions", |r| r.record().retransmissions.undecided);
    column(&mut c, &rows, "likely_retransmissions", |r| r.record().retransmissions.likely);
    column(&mut c, &rows, "reordered_ratio", |r| r.course().reordering.as_ref().map(|o| o.order.ratio()));
    column(&mut c, &rows, "median_extent", FlowRow::median_extent);
    column(&mut c, &rows, "stalls", |r| r.course().stalls.count());
    let longest = |r: &FlowRow<'_>| r.course().stalls.longest().copied();
    column(&mut c, &rows, "longest_stall_s", |r| longest(r).map(|s| s.facts.length() as f64 / 1e9));
    column(&mut c, &rows, "longest_stall_cause", |r| longest(r).map(|s| s.cause.name().to_owned()));
    column(&mut c, &rows, "sack", FlowRow::sack);
    column(&mut c, &rows, "dsack_seen", |r| r.record().dsacks > 0);
    column(&mut c, &rows, "timestamps", |r| r.record().timestamps);
    column(&mut c, &rows, "window_scale", FlowRow::window_scale);
    column(&mut c, &rows, "receiver_file", |r| r.receiver_file.map(str::to_owned));
    column(&mut c, &rows, "captured", FlowRow::place);
    column(&mut c, &rows, "captured_why", FlowRow::why);
    c.table()
}

pub(super) fn retransmissions(files: &[OneFile]) -> Made {
    let flows: Vec<_> = all(files).collect();
    let rows: Vec<_> = flows.iter().flat_map(|f| f.retransmissions().map(move |r| (f, *r))).collect();
    let mut c = Columns::default();
    belongs(&mut c, &rows, |r| r.0);
    column(&mut c, &rows, "frame", |r| r.1.frame);
    column(&mut c, &rows, "time_s", |r| r.0.file.seconds(r.1.at));
    column(&mut c, &rows, "offset_bytes", |r| r.0.offset(r.1.seq));
    column(&mut c, &rows, "len_bytes", |r| u64::from(r.1.len));
    column(&mut c, &rows, "copies_before", |r| u64::from(r.1.copies));
    column(&mut c, &rows, "verdict", |r| r.1.judged.verdict.name());
    column(&mut c, &rows, "likely", |r| r.1.judged.likely);
    column(&mut c, &rows, "evidence", |r| r.1.judged.evidence.words(r.1.judged.earlier, r.1.judged.proof));
    column(&mut c, &rows, "earlier_frame", |r| r.1.judged.earlier);
    column(&mut c, &rows, "proof_frame", |r| r.1.judged.proof);
    c.table()
}

pub(super) fn stalls(files: &[OneFile]) -> Made {
    let flows: Vec<_> = all(files).collect();
    let rows: Vec<_> = flows.iter().flat_map(|f| f.course().stalls.kept.iter().map(move |s| (f, *s))).collect();
    let mut c = Columns::default();
    belongs(&mut c, &rows, |r| r.0);
    column(&mut c, &rows, "start_s", |r| r.0.file.seconds(r.1.facts.from));
    column(&mut c, &rows, "duration_s", |r| r.1.facts.length() as f64 / 1e9);
    column(&mut c, &rows, "cause", |r| r.1.cause.name());
    column(&mut c, &rows, "evidence", |r| r.1.words());
    column(&mut c, &rows, "frame_before", |r| r.1.facts.before);
    column(&mut c, &rows, "frame_after", |r| r.1.facts.after);
    c.table()
}

/// The flows whose reordering is known.
fn reordered<'a>(flows: &'a [FlowRow<'a>]) -> impl Iterator<Item = (&'a FlowRow<'a>, &'a Reordered)> {
    flows.iter().filter_map(|f| Some((f, f.course().reordering.as_ref()?)))
}

pub(super) fn reordering(files: &[OneFile]) -> Made {
    let flows: Vec<_> = all(files).collect();
    let rows: Vec<_> = reordered(&flows).map(|(f, r)| (f, r, ReorderingSummary::of(&r.order))).collect();
    let mut c = Columns::default();
    belongs(&mut c, &rows, |r| r.0);
    column(&mut c, &rows, "told_by", |r| r.1.source.words());
    column(&mut c, &rows, "packets", |r| r.2.packets);
    column(&mut c, &rows, "duplicates", |r| r.2.duplicates);
    column(&mut c, &rows, "reordered", |r| r.2.reordered);
    column(&mut c, &rows, "ratio", |r| r.2.ratio);
    column(&mut c, &rows, "median_extent", |r| r.0.median_extent());
    column(&mut c, &rows, "max_extent", |r| r.2.extents.keys().next_back().copied());
    column(&mut c, &rows, "late_time_s", |r| r.2.late_time_s);
    column(&mut c, &rows, "max_late_time_s", |r| r.2.max_late_time_s);
    column(&mut c, &rows, "byte_offset_bytes", |r| r.2.byte_offset_bytes);
    column(&mut c, &rows, "max_byte_offset_bytes", |r| r.2.max_byte_offset_bytes);
    column(&mut c, &rows, "discontinuities", |r| r.2.discontinuities);
    column(&mut c, &rows, "free_runs", |r| r.2.free_runs);
    column(&mut c, &rows, "free_run_packets", |r| r.2.free_run_packets);
    column(&mut c, &rows, "forgotten", |r| r.1.order.forgotten());
    c.table()
}

pub(super) fn densities(files: &[OneFile]) -> Made {
    let flows: Vec<_> = all(files).collect();
    let known = reordered(&flows).filter_map(|(f, r)| Some((f, r.order.density()?)));
    let rows: Vec<_> = known
        .flat_map(|(f, d)| {
            let places = d.reorder_density().into_iter().map(|(k, share)| ("reorder", k, share));
            let held = d.buffer_occupancy_density().into_iter();
            let held = held.map(|(k, share)| ("buffer_occupancy", i64::try_from(k).unwrap_or(i64::MAX), share));
            places.chain(held).map(move |(density, packets, share)| (f, density, packets, share)).collect::<Vec<_>>()
        })
        .collect();
    let mut c = Columns::default();
    belongs(&mut c, &rows, |r| r.0);
    column(&mut c, &rows, "density", |r| r.1);
    column(&mut c, &rows, "packets", |r| r.2);
    column(&mut c, &rows, "share", |r| r.3);
    c.table()
}

pub(super) fn skipped(files: &[OneFile]) -> Made {
    let rows: Vec<_> = files.iter().flat_map(|f| f.skipped().map(move |s| (f, s))).collect();
    let mut c = Columns::default();
    column(&mut c, &rows, "file", |r| r.0.name.clone());
    column(&mut c, &rows, "kind", |r| r.1 .0);
    column(&mut c, &rows, "packets", |r| r.1 .1);
    column(&mut c, &rows, "bytes", |r| r.1 .2);
    c.table()
}

pub(super) fn datagrams(files: &[OneFile]) -> Made {
    let rows: Vec<_> = rows::datagrams(files).map(|(file, n)| (file, n, ReorderingSummary::of(&n.order))).collect();
    let mut c = Columns::default();
    column(&mut c, &rows, "file", |r| r.0.name.clone());
    column(&mut c, &rows, "flow", |r| r.1.name());
    column(&mut c, &rows, "format", |r| r.1.format.name());
    column(&mut c, &rows, "ssrc", |r| r.1.format.source());
    column(&mut c, &rows, "first_frame", |r| r.1.first_frame);
    column(&mut c, &rows, "start_s", |r| r.1.first as f64 / 1e9);
    column(&mut c, &rows, "duration_s", |r| (r.1.last - r.1.first) as f64 / 1e9);
    column(&mut c, &rows, "packets", |r| r.1.order.packets());
    column(&mut c, &rows, "bytes", |r| r.1.bytes);
    column(&mut c, &rows, "lost", |r| r.1.lost());
    column(&mut c, &rows, "lost_ratio", |r| r.1.lost_ratio());
    column(&mut c, &rows, "restarts", |r| r.1.restarts);
    column(&mut c, &rows, "duplicates", |r| r.2.duplicates);
    column(&mut c, &rows, "reordered", |r| r.2.reordered);
    column(&mut c, &rows, "reordered_ratio", |r| r.2.ratio);
    column(&mut c, &rows, "median_extent", |r| r.1.order.late().median_extent());
    column(&mut c, &rows, "max_extent", |r| r.2.extents.keys().next_back().copied());
    column(&mut c, &rows, "max_late_time_s", |r| r.2.max_late_time_s);
    c.table()
}

/// Packets of a connection; times count from `first`.
pub(super) fn packets(rows: &[Packet], own: Way, first: i64) -> Made {
    let mut c = Columns::default();
    column(&mut c, rows, "frame", |r| r.frame);
    column(&mut c, rows, "time_ns", |r| r.at - first);
    column(&mut c, rows, "at_ns", |r| r.at);
    column(&mut c, rows, "own", |r| r.way == own);
    column(&mut c, rows, "flags", |r| u64::from(r.flags));
    column(&mut c, rows, "seq", |r| u64::from(r.seq));
    column(&mut c, rows, "offset", |r| r.offset);
    column(&mut c, rows, "len", |r| u64::from(r.len));
    column(&mut c, rows, "ack", |r| r.ack);
    column(&mut c, rows, "window", |r| r.window);
    column(&mut c, rows, "sack", |r| {
        let blocks = r.sack[..usize::from(r.sacks)].iter();
        blocks.map(|(left, right)| format!("{left}:{right}")).collect::<Vec<_>>().join(" ")
    });
    c.table()
}
