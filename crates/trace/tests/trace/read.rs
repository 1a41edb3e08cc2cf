//! A trace in CSV, read back.

use crate::play::{play, story};
use ackclock_trace::csv::CsvSink;
use ackclock_trace::read::read_csv;
use ackclock_trace::schema::EVENTS;
use ackclock_trace::{Recorder, Row, Sink, TraceHash};
use std::collections::BTreeSet;

/// The story of two flows as CSV.
fn written() -> String {
    let mut recorder = Recorder::new(CsvSink::new(Vec::new()).expect("memory"), 2);
    let mut calls: Vec<_> = (0..2).flat_map(story).collect();
    calls.sort_by_key(|call| call.at);
    play(&calls, &mut recorder);
    String::from_utf8(recorder.close().expect("memory").1).expect("text")
}

fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    let taken = read_csv(text.as_bytes(), |row| {
        rows.push(row);
        Ok(())
    });
    taken.map(|()| rows).map_err(|e| e.to_string())
}

#[test]
fn a_trace_that_is_read_and_written_again_is_the_same() {
    let text = written();
    let mut rows = read(&text).expect("a trace");
    assert!(rows.len() > 30);
    assert!(rows.iter().any(|row| row.packet > Some(2)));
    let mut sink = CsvSink::new(Vec::new()).expect("memory");
    sink.write(&mut rows).expect("memory");
    assert_eq!(String::from_utf8(sink.finish(TraceHash(0)).expect("memory")), Ok(text));
}

#[test]
fn every_event_occurs_in_the_trace_that_is_read_back() {
    let text = written();
    let mut lines = text.lines().map(|line| line.split(','));
    let column = lines.next().and_then(|mut names| names.position(|name| name == "event")).expect("a column");
    let found: BTreeSet<_> = lines.filter_map(|mut cells| cells.nth(column)).collect();
    assert_eq!(found, EVENTS.iter().copied().collect());
}

#[test]
fn a_trace_of_an_older_version_is_refused_in_one_sentence() {
    let old: Vec<String> = written().lines().map(|line| line.replacen(",packet", "", 1)).collect();
    let why = "line 1: there is no column packet: an older version wrote this trace; write it again";
    assert_eq!(read(&old.join("\n")), Err(why.to_owned()));
}

#[test]
fn a_record_that_is_wrong_is_refused_with_its_line_and_cell() {
    let head = "time_ns,flow,side,event,packet,seq";
    let refused = |row: &str| read(&format!("{head}\n5,0,sender,sent,0,1\n{row}\n")).expect_err("a refusal");
    assert_eq!(refused("4,0,sender,sent,0,1"), "line 3: its time is not a number, or before the previous one");
    assert_eq!(refused("5,0,sender,sent,0"), "line 3: 5 cells, not 6");
    assert_eq!(refused("5,x,sender,sent,0,1"), "line 3: flow is \"x\"");
    assert_eq!(refused("5,0,both,sent,0,1"), "line 3: side is \"both\"");
    assert_eq!(refused("5,0,sender,fell,0,1"), "line 3: event is \"fell\"");
    assert_eq!(refused("5,0,sender,sent,0,-1"), "line 3: seq is \"-1\"");
}
