//! Comma-separated values, and their description in the form of "CSV on the Web" (`NAME.csv-metadata.json`).

use crate::hash::TraceHash;
use crate::row::Row;
use crate::schema::{fill, Cells, Flags, Id, Kind, Sack, COLUMNS};
use crate::sink::{Meta, Sink};
use serde_json::{json, Value};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes rows as CSV (RFC 4180) with a header line. A column that does not apply is empty; no value needs quotes.
#[derive(Debug)]
pub struct CsvSink<W> {
    out: W,
    text: Vec<u8>,
}

/// Text is passed on in pieces of about this size, bytes.
const PIECE: usize = 1 << 16;

impl<W: Write> CsvSink<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let mut sink = CsvSink { out, text: Vec::with_capacity(PIECE + 1024) };
        let header: Vec<&str> = COLUMNS.iter().map(|c| c.name).collect();
        writeln!(sink.text, "{}", header.join(","))?;
        Ok(sink)
    }

    fn hand_on(&mut self) -> io::Result<()> {
        let done = self.out.write_all(&self.text);
        self.text.clear();
        done
    }
}

impl<W: Write> Sink for CsvSink<W> {
    type Chunk = Vec<Row>;
    type Out = W;

    fn chunk(&self) -> Vec<Row> {
        Vec::new()
    }

    fn write(&mut self, rows: &mut Vec<Row>) -> io::Result<()> {
        for row in rows {
            let mut line = Line { text: &mut self.text, at: 0 };
            fill(&row.by_ref(), &mut line);
            line.end();
            if self.text.len() >= PIECE {
                self.hand_on()?;
            }
        }
        Ok(())
    }

    fn finish(mut self, _: TraceHash) -> io::Result<W> {
        self.hand_on()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A line being written.
struct Line<'a> {
    text: &'a mut Vec<u8>,
    /// The next column.
    at: usize,
}

impl Line<'_> {
    fn put(&mut self, column: Id, v: impl fmt::Display) {
        self.skip_to(column as usize);
        // A write to memory cannot fail.
        let _ = write!(self.text, "{v}");
    }

    fn skip_to(&mut self, column: usize) {
        debug_assert!(self.at <= column, "cells come in the order of the columns");
        while self.at < column {
            self.text.push(b',');
            self.at += 1;
        }
    }

    fn end(mut self) {
        self.skip_to(COLUMNS.len() - 1);
        self.text.push(b'\n');
    }
}

impl Cells for Line<'_> {
    fn int(&mut self, column: Id, v: i64) {
        self.put(column, v);
    }

    fn small(&mut self, column: Id, v: i32) {
        self.put(column, v);
    }

    fn real(&mut self, column: Id, v: f64) {
        self.put(column, v);
    }

    fn truth(&mut self, column: Id, v: bool) {
        self.put(column, v);
    }

    fn word(&mut self, column: Id, nth: usize) {
        self.skip_to(column as usize);
        self.text.extend_from_slice(COLUMNS[column as usize].word(nth).as_bytes());
    }

    fn flags(&mut self, v: Flags) {
        self.put(Id::Flags, v);
    }

    fn sack(&mut self, v: Sack<'_>) {
        self.put(Id::Sack, v);
    }
}

/// The path of the description of the table `csv` (W3C, Model for Tabular Data, §5.3: `{+url}-metadata.json`).
pub fn description_path(csv: &Path) -> PathBuf {
    let mut name = csv.as_os_str().to_owned();
    name.push("-metadata.json");
    PathBuf::from(name)
}

/// The description: the run, and every column's type and meaning.
pub fn description(csv: &Path, meta: &Meta, hash: TraceHash) -> String {
    let about: serde_json::Map<String, Value> =
        meta.pairs(hash).into_iter().map(|(k, v)| (k.to_owned(), Value::from(v))).collect();
    let column = |c: &crate::schema::Column| {
        let datatype = match c.kind {
            Kind::Int | Kind::Small => "integer",
            Kind::Real => "number",
            Kind::Bool => "boolean",
            Kind::Word(_) | Kind::Text => "string",
        };
        json!({"name": c.name, "datatype": datatype, "dc:description": c.meaning})
    };
    let text = json!({
        "@context": "http://www.w3.org/ns/csvw",
        "url": csv.file_name().map(|n| n.to_string_lossy()),
        "notes": [about],
        "tableSchema": {"columns": COLUMNS.iter().map(column).collect::<Vec<_>>()},
    });
    format!("{text:#}\n")
}
