//! Comma-separated values, and their description as "CSV on the Web" wants it (`NAME.csv-metadata.json`).

use crate::hash::TraceHash;
use crate::row::Row;
use crate::schema::{Get, COLUMNS};
use crate::sink::{Meta, Sink};
use serde_json::{json, Value};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes rows as CSV (RFC 4180) with a header line. Nothing stands where a column means nothing; no value needs quotes.
#[derive(Debug)]
pub struct CsvSink<W> {
    out: W,
    text: Vec<u8>,
}

/// Text is handed on in pieces of about this many bytes.
const PIECE: usize = 1 << 16;

impl<W: Write> CsvSink<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(out: W) -> io::Result<Self> {
        let mut sink = CsvSink { out, text: Vec::with_capacity(PIECE + 1024) };
        let header: Vec<&str> = COLUMNS.iter().map(|c| c.name).collect();
        writeln!(sink.text, "{}", header.join(","))?;
        Ok(sink)
    }

    fn line(&mut self, row: &Row) -> io::Result<()> {
        for (i, column) in COLUMNS.iter().enumerate() {
            if i > 0 {
                self.text.push(b',');
            }
            match column.get {
                Get::Int(f) => f(row).map_or(Ok(()), |v| write!(self.text, "{v}"))?,
                Get::Small(f) => f(row).map_or(Ok(()), |v| write!(self.text, "{v}"))?,
                Get::Real(f) => f(row).map_or(Ok(()), |v| write!(self.text, "{v}"))?,
                Get::Bool(f) => f(row).map_or(Ok(()), |v| write!(self.text, "{v}"))?,
                Get::Word(_, f) => self.text.extend_from_slice(f(row).unwrap_or_default().as_bytes()),
                Get::Text(f) => self.text.extend_from_slice(f(row).unwrap_or_default().as_bytes()),
            }
        }
        self.text.push(b'\n');
        Ok(())
    }

    fn hand_on(&mut self) -> io::Result<()> {
        let done = self.out.write_all(&self.text);
        self.text.clear();
        done
    }
}

impl<W: Write> Sink for CsvSink<W> {
    type Out = W;

    fn write(&mut self, rows: &[Row]) -> io::Result<()> {
        for row in rows {
            self.line(row)?;
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

/// Where the description of the table `csv` belongs (W3C, Model for Tabular Data, §5.3: `{+url}-metadata.json`).
pub fn description_path(csv: &Path) -> PathBuf {
    let mut name = csv.as_os_str().to_owned();
    name.push("-metadata.json");
    PathBuf::from(name)
}

/// The description: which run it is, and every column's type and meaning.
pub fn description(csv: &Path, meta: &Meta, hash: TraceHash) -> String {
    let about: serde_json::Map<String, Value> =
        meta.pairs(hash).into_iter().map(|(k, v)| (k.to_owned(), Value::from(v))).collect();
    let column = |c: &crate::schema::Column| {
        let datatype = match c.get {
            Get::Int(_) | Get::Small(_) => "integer",
            Get::Real(_) => "number",
            Get::Bool(_) => "boolean",
            Get::Word(..) | Get::Text(_) => "string",
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
