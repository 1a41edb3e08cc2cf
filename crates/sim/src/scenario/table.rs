//! Tables that a scenario takes from a text: traces of a path.

use super::Place;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;
use std::fmt::{self, Debug, Display, Write};
use std::ops::Deref;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// The rows of a table. Shown and compared by their hash, so that a scenario's identity has it and not the rows.
#[derive(Clone)]
pub struct Rows<T> {
    rows: Arc<[T]>,
    hash: u128,
}

impl<T: Debug> Rows<T> {
    fn new(rows: Vec<T>) -> Self {
        let hash = xxh3_128(format!("{rows:?}").as_bytes());
        Rows { rows: rows.into(), hash }
    }
}

impl<T> Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows, xxh3-128:{:032x}", self.rows.len(), self.hash)
    }
}

impl<T> PartialEq for Rows<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.rows.len(), self.hash) == (other.rows.len(), other.hash)
    }
}

impl<T> Deref for Rows<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.rows
    }
}

/// What is wrong in a table's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Line in the text, counted from 1.
    pub line: u32,
    /// The column, where one is meant.
    pub column: Option<&'static str>,
    /// What stands there.
    pub found: String,
    /// What may stand there.
    pub allowed: &'static str,
}

/// A path's delay, loss and rate as they change with time (our own form; see [`PathRow::parse`]).
#[derive(Clone, Debug, PartialEq)]
pub struct PathTraceSpec {
    /// The rows.
    pub rows: Rows<PathRow>,
    /// After this much time the trace begins again; later than its last row. Default: the last row stays in force.
    pub repeat: Option<Nanos>,
    /// Where packets are lost: before the queue, or after transmission. Default: after transmission.
    pub at: Place,
}

/// A path from a time on. A column that the table does not have is `None` in each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRow {
    /// From when on.
    pub time: Nanos,
    /// Comes on top of the link's own delay.
    pub delay: Option<Nanos>,
    /// Probability with which a packet is lost.
    pub loss: Option<f64>,
    /// In place of the link's rate; 0 sends nothing.
    pub rate: Option<Rate>,
}

/// Instants at which the link may deliver (mahimahi's form; see [`DeliveriesSpec::parse`]), in place of its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveriesSpec {
    /// Milliseconds, ascending; several may be equal. The trace begins again after the last.
    pub times: Rows<u32>,
    /// Bytes on the wire that one opportunity delivers. Default: 1500 B (mahimahi: 1504, of which 4 are a tunnel's header).
    pub bytes: u32,
}

const COLUMNS: [&str; 4] = ["time_s", "delay_ms", "loss", "rate_mbps"];
const HEADER: &str = "a line with the columns' names: time_s, and at least one of delay_ms, loss, rate_mbps";

impl PathRow {
    /// Reads a table with commas between values: a line of column names (`time_s`, `delay_ms`, `loss`, `rate_mbps`, in any
    /// order), then a line for each row, the first with time 0, times ascending. Empty lines and lines that begin with `#`
    /// are passed over.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Rows<PathRow>, BadRow> {
        let mut lines = lines(text);
        let (line, header) = lines.next().unwrap_or((1, ""));
        let columns = columns(line, header)?;
        let mut rows: Vec<PathRow> = Vec::new();
        let mut last = line;
        for (line, text) in lines {
            let row = row(line, text, &columns)?;
            let time = |allowed| BadRow { line, column: Some(COLUMNS[0]), found: text.to_owned(), allowed };
            match rows.last() {
                None if row.time > Nanos::ZERO => return Err(time("0 in the first row")),
                Some(before) if row.time <= before.time => return Err(time("a later time than in the row before")),
                _ => rows.push(row),
            }
            last = line;
        }
        let bad = |found: &str, allowed| Err(BadRow { line: last, column: None, found: found.to_owned(), allowed });
        match rows.last() {
            None => bad("no row", "at least one row below the columns' names"),
            Some(r) if r.rate.is_some() && rows.iter().all(|r| r.rate == Some(Rate(0))) => {
                bad("no rate above 0", "at least one rate above 0")
            }
            _ => Ok(Rows::new(rows)),
        }
    }
}

impl Display for Rows<PathRow> {
    /// The table as [`PathRow::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first();
        let there = [
            true,
            first.is_some_and(|r| r.delay.is_some()),
            first.is_some_and(|r| r.loss.is_some()),
            first.is_some_and(|r| r.rate.is_some()),
        ];
        let names: Vec<&str> = COLUMNS.iter().zip(there).filter(|c| c.1).map(|c| *c.0).collect();
        writeln!(f, "{}", names.join(","))?;
        for r in self.iter() {
            let mut line = decimal(r.time.0, 1_000_000_000);
            if let Some(d) = r.delay {
                write!(line, ",{}", decimal(d.0, 1_000_000))?;
            }
            if let Some(p) = r.loss {
                write!(line, ",{p:?}")?;
            }
            if let Some(rate) = r.rate {
                write!(line, ",{}", decimal(rate.0, 1_000_000))?;
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

impl DeliveriesSpec {
    /// Reads mahimahi's form: on each line the millisecond of one opportunity.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Rows<u32>, BadRow> {
        let mut times: Vec<u32> = Vec::new();
        let mut last = 1;
        for (line, text) in lines(text) {
            let bad = |allowed| BadRow { line, column: None, found: text.to_owned(), allowed };
            let ms: u32 = text.parse().map_err(|_| bad("a whole number of milliseconds"))?;
            if times.last().is_some_and(|before| ms < *before) {
                return Err(bad("a time that is not before that of the line above"));
            }
            times.push(ms);
            last = line;
        }
        if times.last().is_none_or(|t| *t == 0) {
            let allowed = "at least one time above 0";
            return Err(BadRow { line: last, column: None, found: "no time above 0".to_owned(), allowed });
        }
        Ok(Rows::new(times))
    }
}

impl Display for Rows<u32> {
    /// The table as [`DeliveriesSpec::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|ms| writeln!(f, "{ms}"))
    }
}

/// Lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let all = text.lines().zip(1..).map(|(text, line)| (line, text.trim()));
    all.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
}

/// For each column of the text its position in [`COLUMNS`].
fn columns(line: u32, header: &str) -> Result<Vec<usize>, BadRow> {
    let bad = |found: &str| BadRow { line, column: None, found: found.to_owned(), allowed: HEADER };
    let mut columns = Vec::new();
    for name in header.split(',').map(str::trim) {
        let known = COLUMNS.iter().position(|c| *c == name).filter(|c| !columns.contains(c));
        columns.push(known.ok_or_else(|| bad(if name.is_empty() { "no column's name" } else { name }))?);
    }
    if !columns.contains(&0) || columns.len() < 2 {
        return Err(bad(header));
    }
    Ok(columns)
}

fn row(line: u32, text: &str, columns: &[usize]) -> Result<PathRow, BadRow> {
    let mut row = PathRow { time: Nanos::ZERO, delay: None, loss: None, rate: None };
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    if values.len() != columns.len() {
        let found = format!("{} values", values.len());
        return Err(BadRow { line, column: None, found, allowed: "as many values as columns" });
    }
    for (value, column) in values.into_iter().zip(columns) {
        let number = |most: f64, allowed| {
            let number = value.parse::<f64>().ok().filter(|x| (0.0..=most).contains(x));
            number.ok_or_else(|| BadRow { line, column: Some(COLUMNS[*column]), found: value.to_owned(), allowed })
        };
        let whole = |x: f64| libm::rint(x) as u64;
        match column {
            0 => row.time = Nanos(whole(number(140_000.0, "seconds, from 0 to 140000")? * 1e9)),
            1 => row.delay = Some(Nanos(whole(number(3_600_000.0, "milliseconds, from 0 to 3600000")? * 1e6))),
            2 => row.loss = Some(number(1.0, "a probability from 0 to 1")?),
            _ => row.rate = Some(Rate(whole(number(1e6, "megabits per second, from 0 to 1000000")? * 1e6))),
        }
    }
    Ok(row)
}

/// `n` of `unit`s with all its decimals.
fn decimal(n: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    format!("{}.{:0digits$}", n / unit, n % unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_whatever_the_order_of_its_columns_and_written_as_it_reads() {
        let text = "# measured\nrate_mbps, time_s, loss, delay_ms\n\n5.5,0,0.25,10\n0,1.000000001,0,0.000001\n";
        let rows = PathRow::parse(text).unwrap();
        let row = |time, delay, loss, rate| PathRow {
            time: Nanos(time),
            delay: Some(Nanos(delay)),
            loss: Some(loss),
            rate: Some(Rate(rate)),
        };
        assert_eq!(rows[..], [row(0, 10_000_000, 0.25, 5_500_000), row(1_000_000_001, 1, 0.0, 0)]);
        let again = PathRow::parse(&rows.to_string()).unwrap();
        assert_eq!((&again[..], &again), (&rows[..], &rows));
        let times = DeliveriesSpec::parse("0\n0\n17\n").unwrap();
        assert_eq!((&times[..], DeliveriesSpec::parse(&times.to_string()).unwrap()), (&[0, 0, 17][..], times.clone()));
    }

    #[test]
    fn a_scenario_shows_the_hash_of_a_table_and_not_its_rows() {
        let shown = |text| format!("{:?}", PathRow::parse(text).unwrap());
        let one = shown("time_s,loss\n0,0.1\n");
        assert!(one.starts_with("1 rows, xxh3-128:") && one.len() == 49, "{one}");
        assert_eq!(shown("time_s,loss\n0.0,0.10\n"), one);
        assert_ne!(shown("time_s,loss\n0,0.2\n"), one);
    }

    #[test]
    fn each_mistake_is_told_with_its_line_and_column() {
        let path = |text: &str| PathRow::parse(text).map(|_| ()).unwrap_err();
        let at = |e: BadRow| (e.line, e.column, e.found);
        assert_eq!(at(path("")), (1, None, "no column's name".to_owned()));
        assert_eq!(at(path("time_s,delay\n")), (1, None, "delay".to_owned()));
        assert_eq!(at(path("time_s,loss,loss\n")), (1, None, "loss".to_owned()));
        assert_eq!(at(path("time_s\n0\n")), (1, None, "time_s".to_owned()));
        assert_eq!(at(path("time_s,loss\n")), (1, None, "no row".to_owned()));
        assert_eq!(at(path("time_s,loss\n0,0\n1\n")), (3, None, "1 values".to_owned()));
        assert_eq!(at(path("time_s,loss\n0,1.5\n")), (2, Some("loss"), "1.5".to_owned()));
        assert_eq!(at(path("time_s,loss\n0,nan\n")), (2, Some("loss"), "nan".to_owned()));
        assert_eq!(at(path("time_s,delay_ms\n0,-1\n")), (2, Some("delay_ms"), "-1".to_owned()));
        assert_eq!(at(path("time_s,loss\n1,0\n")), (2, Some("time_s"), "1,0".to_owned()));
        assert_eq!(at(path("time_s,loss\n0,0\n# x\n0,0\n")), (4, Some("time_s"), "0,0".to_owned()));
        assert_eq!(at(path("time_s,rate_mbps\n0,0\n")), (2, None, "no rate above 0".to_owned()));
        let times = |text: &str| DeliveriesSpec::parse(text).map(|_| ()).unwrap_err().line;
        assert_eq!([times("1\nx\n"), times("2\n1\n"), times("0\n0\n"), times("")], [2, 2, 2, 1]);
    }
}
