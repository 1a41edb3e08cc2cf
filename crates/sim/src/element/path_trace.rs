//! A path from a trace: measured delay, loss and rate.
//!
//! Source: the form is our own.
//!
//! Idea: a cursor walks through the rows as time advances; each packet meets the row in force.
//!
//! | source | here |
//! | --- | --- |
//! | row of delay, loss, rate | in force from its time to the next row's; a rate may change while a packet is sent |
//! | the trace begins again after its last row | only with `repeat` |
//!
//! Departures: none. Unsaid in the source: nothing that matters here.

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Place};
use super::properties::{Acts, Properties, RateUse, RATE};
use super::table::{lines, text, BadRow, Rows};
#[cfg(test)]
use super::ElementSpec;
use super::{Delays, Element, GateKind, Service, Site};
use crate::error::Fault;
use crate::next_event::MAX_TIME;
use crate::rng::Stream;
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Write};

/// Delay, loss and rate follow a comma-separated table. Its first line names the columns: `time_s`, and any of `delay_ms` (added to the link's
/// delay), `loss` (a probability), `rate_mbps` (replaces the link's rate; 0 stops transmission). Each row applies until the next; the first has time
/// 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Path trace", extend("examples" = [{ "data": "time_s,delay_ms\n0,0\n10,40\n20,0\n" }]))]
pub struct PathTraceSpec {
    /// The rows.
    pub rows: Rows<PathRow>,
    /// After this much time the trace begins again; later than its last row. `None`: the last row stays in force.
    pub repeat: Option<Nanos>,
    /// Where packets are dropped.
    pub at: Place,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["file"] }, { "required": ["data"] }]))]
struct Written {
    /// The table's file, relative to the scenario file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The table itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    /// Time after which the table starts again. Default: the last row stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<Nanos>,
    /// Where packets are dropped.
    #[serde(default = "Place::exit")]
    at: Place,
}

impl TryFrom<Written> for PathTraceSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { file, data, repeat, at } = w;
        let rows = PathRow::parse(&text(file, data)?).map_err(|bad| bad.fault("data"))?;
        Ok(PathTraceSpec { rows, repeat, at })
    }
}

impl From<PathTraceSpec> for Written {
    fn from(s: PathTraceSpec) -> Self {
        let PathTraceSpec { rows, repeat, at } = s;
        Written { file: None, data: Some(rows.to_string()), repeat, at }
    }
}

/// The path from a time on. A column that the table lacks is `None` in each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRow {
    /// The start of this row.
    pub time: Nanos,
    /// Added to the link's own delay.
    pub delay: Option<Nanos>,
    /// Probability with which a packet is lost.
    pub loss: Option<f64>,
    /// Replaces the link's rate; 0 sends nothing.
    pub rate: Option<Rate>,
}

impl Element for PathTraceSpec {
    fn properties(&self) -> Properties {
        let row = self.rows[0];
        Properties {
            // A path that also loses packets is not only a delay.
            acts: match row.loss {
                _ if row.rate.is_some() => Acts::Late,
                Some(_) => Acts::of(self.at == Place::Exit, row.delay.is_some()),
                None => Acts::OnDelay,
            },
            bunches: true,
            rate: if row.rate.is_some() { RateUse::Sets } else { RateUse::None },
            beside_split: false,
            only_one: row.rate.map(|_| RATE),
            reorders: row.delay.is_some(),
            loses: row.loss.is_some(),
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        let last = self.rows[self.rows.len() - 1].time;
        let early = self.repeat.filter(|period| *period <= last);
        let allowed = || format!("a time after the last row of the trace (\"{last}\")");
        early
            .map(|period| Fault::of("repeat", period, allowed()))
            .or_else(|| self.repeat.and_then(|period| Fault::time("repeat", period)))
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("path-trace");
        let row = self.rows[0];
        if row.delay.is_some() {
            site.lengthen(Delays::PathTrace(TraceDelay::new(self)));
        }
        if row.rate.is_some() {
            site.queue(|q| q.service = Some(Service::PathTrace(Rates::new(self))));
        }
        if row.loss.is_some() {
            let rng = site.stream(format_args!("path-trace.{n}"));
            site.gate(self.at, Only::All, GateKind::PathTrace(TraceLoss::new(self, rng)));
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |text, at| {
            let rows = PathRow::parse(text).expect("a table");
            ElementSpec::PathTrace(PathTraceSpec { rows, repeat: Some(Nanos::from_secs(2)), at })
        };
        vec![
            spec("time_s,delay_ms\n0,10\n0.3,1\n0.7,5\n", Place::Exit),
            spec("time_s,loss\n0,0.02\n1,0\n", Place::Entry),
            spec("time_s,rate_mbps\n0,2\n0.5,8\n", Place::Exit),
            spec("time_s,delay_ms,loss,rate_mbps\n0,2,0,4\n0.5,9,0.05,2\n", Place::Exit),
        ]
    }
}

/// The columns of a table, in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Time,
    Delay,
    Loss,
    Rate,
}

const COLUMNS: [(&str, Column); 4] =
    [("time_s", Column::Time), ("delay_ms", Column::Delay), ("loss", Column::Loss), ("rate_mbps", Column::Rate)];
const HEADER: &str = "a line with column names: time_s, and at least one of delay_ms, loss, rate_mbps";

impl PathRow {
    /// Reads a comma-separated table: a line of column names (`time_s`, `delay_ms`, `loss`, `rate_mbps`, in any order), then
    /// a line for each row, the first with time 0, times ascending. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn parse(text: &str) -> Result<Rows<PathRow>, BadRow> {
        let mut lines = lines(text);
        let (line, header) = lines.next().unwrap_or((1, ""));
        let columns = columns(line, header)?;
        let mut rows: Vec<PathRow> = Vec::new();
        let mut last = line;
        for (line, text) in lines {
            let row = row(line, text, &columns)?;
            let time = |allowed| BadRow { line, column: Some(COLUMNS[0].0), found: text.to_owned(), allowed };
            match rows.last() {
                None if row.time > Nanos::ZERO => return Err(time("0 in the first row")),
                Some(before) if row.time <= before.time => return Err(time("a time later than in the previous row")),
                _ => rows.push(row),
            }
            last = line;
        }
        let bad = |found: &str, allowed| Err(BadRow { line: last, column: None, found: found.to_owned(), allowed });
        match rows.last() {
            None => bad("no row", "at least one row below the column names"),
            Some(r) if r.rate.is_some() && rows.iter().all(|r| r.rate == Some(Rate(0))) => {
                bad("no rate above 0", "at least one rate above 0")
            }
            _ => Ok(Rows::new(rows)),
        }
    }
}

impl Display for Rows<PathRow> {
    /// The table in the form that [`PathRow::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first();
        let there = |column: Column| match column {
            Column::Time => true,
            Column::Delay => first.is_some_and(|r| r.delay.is_some()),
            Column::Loss => first.is_some_and(|r| r.loss.is_some()),
            Column::Rate => first.is_some_and(|r| r.rate.is_some()),
        };
        let names: Vec<&str> = COLUMNS.iter().filter(|c| there(c.1)).map(|c| c.0).collect();
        writeln!(f, "{}", names.join(","))?;
        for PathRow { time, delay, loss, rate } in self.iter() {
            let mut line = decimal(time.0, 1_000_000_000);
            if let Some(d) = delay {
                write!(line, ",{}", decimal(d.0, 1_000_000))?;
            }
            if let Some(p) = loss {
                write!(line, ",{p:?}")?;
            }
            if let Some(rate) = rate {
                write!(line, ",{}", decimal(rate.0, 1_000_000))?;
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// The columns of the text, from left to right.
fn columns(line: u32, header: &str) -> Result<Vec<(&'static str, Column)>, BadRow> {
    let bad = |found: &str| BadRow { line, column: None, found: found.to_owned(), allowed: HEADER };
    let mut columns = Vec::new();
    for name in header.split(',').map(str::trim) {
        let known = COLUMNS.into_iter().find(|c| c.0 == name).filter(|c| !columns.contains(c));
        columns.push(known.ok_or_else(|| bad(if name.is_empty() { "an unknown column name" } else { name }))?);
    }
    if !columns.contains(&COLUMNS[0]) || columns.len() < 2 {
        return Err(bad(header));
    }
    Ok(columns)
}

fn row(line: u32, text: &str, columns: &[(&'static str, Column)]) -> Result<PathRow, BadRow> {
    let mut row = PathRow { time: Nanos::ZERO, delay: None, loss: None, rate: None };
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    if values.len() != columns.len() {
        let found = format!("{} values", values.len());
        return Err(BadRow { line, column: None, found, allowed: "as many values as columns" });
    }
    for (value, (name, column)) in values.into_iter().zip(columns) {
        let number = |most: f64, allowed| {
            let number = value.parse::<f64>().ok().filter(|x| (0.0..=most).contains(x));
            number.ok_or_else(|| BadRow { line, column: Some(name), found: value.to_owned(), allowed })
        };
        let whole = |x: f64| libm::rint(x) as u64;
        match column {
            Column::Time => row.time = Nanos(whole(number(140_000.0, "seconds, from 0 to 140000")? * 1e9)),
            Column::Delay => {
                row.delay = Some(Nanos(whole(number(3_600_000.0, "milliseconds, from 0 to 3600000")? * 1e6)))
            }
            Column::Loss => row.loss = Some(number(1.0, "a probability from 0 to 1")?),
            Column::Rate => row.rate = Some(Rate(whole(number(1e6, "megabits per second, from 0 to 1000000")? * 1e6))),
        }
    }
    Ok(row)
}

/// `n` of `unit`s with all its decimals.
fn decimal(n: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    format!("{}.{:0digits$}", n / unit, n % unit)
}

/// A position in a trace that follows the time.
#[derive(Clone)]
struct Cursor {
    rows: Rows<PathRow>,
    repeat: Option<Nanos>,
    row: usize,
    /// When row 0 was last, or will next be, in force.
    base: u64,
}

impl Cursor {
    fn new(spec: &PathTraceSpec) -> Self {
        Cursor { rows: spec.rows.clone(), repeat: spec.repeat, row: 0, base: 0 }
    }

    /// The time from which the next row applies.
    fn change(&self) -> Option<u64> {
        match (self.rows.get(self.row + 1), self.repeat) {
            (Some(next), _) => Some(self.base + next.time.0),
            (None, Some(period)) => Some(self.base + period.0),
            (None, None) => None,
        }
    }

    /// The row in force at `now`; times must not decrease.
    fn at(&mut self, now: u64) -> PathRow {
        while self.change().is_some_and(|t| t <= now) {
            self.row += 1;
            if self.row == self.rows.len() {
                self.row = 0;
                self.base += self.repeat.map_or(0, |period| period.0);
            }
        }
        self.rows[self.row]
    }
}

/// The delays of a trace.
pub(crate) struct TraceDelay(Cursor);

impl TraceDelay {
    pub(crate) fn new(spec: &PathTraceSpec) -> Self {
        TraceDelay(Cursor::new(spec))
    }

    pub(crate) fn of(&mut self, now: u64) -> u64 {
        self.0.at(now).delay.map_or(0, |d| d.0)
    }
}

/// The losses of a trace.
pub(crate) struct TraceLoss {
    cursor: Cursor,
    rng: Stream,
}

impl TraceLoss {
    pub(crate) fn new(spec: &PathTraceSpec, rng: Stream) -> Self {
        TraceLoss { cursor: Cursor::new(spec), rng }
    }

    pub(crate) fn judge(&mut self, now: u64) -> Fate {
        let p = self.cursor.at(now).loss.unwrap_or(0.0);
        if self.rng.unit() < p {
            Fate::Drop(DropWhy::Loss)
        } else {
            Fate::Pass
        }
    }
}

/// The rates of a trace.
pub(crate) struct Rates {
    cursor: Cursor,
    free_at: u64,
}

impl Rates {
    pub(crate) fn new(spec: &PathTraceSpec) -> Self {
        Rates { cursor: Cursor::new(spec), free_at: 0 }
    }

    pub(super) fn send(&mut self, now: u64, wire: u32) -> u64 {
        let mut at = now.max(self.free_at);
        // The data left to send, in bits per second · ns.
        let mut left = u128::from(wire) * 8_000_000_000;
        while at < MAX_TIME {
            let rate = self.cursor.at(at).rate.map_or(0, |r| u128::from(r.0));
            let change = self.cursor.change();
            let most = change.map(|t| rate * u128::from(t - at));
            if rate > 0 && most.is_none_or(|most| left <= most) {
                at += left.div_ceil(rate) as u64;
                break;
            }
            left -= most.unwrap_or(0);
            at = change.unwrap_or(MAX_TIME);
        }
        self.free_at = at.min(MAX_TIME);
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn trace(text: &str, repeat: Option<u64>) -> PathTraceSpec {
        PathTraceSpec { rows: PathRow::parse(text).unwrap(), repeat: repeat.map(|ms| Nanos(ms * MS)), at: Place::Exit }
    }

    #[test]
    fn a_row_is_in_force_until_the_next_and_the_last_to_the_end_or_until_the_trace_repeats() {
        let text = "time_s,delay_ms\n0,10\n0.5,20\n2,30\n";
        let delays = |repeat| {
            let mut d = TraceDelay::new(&trace(text, repeat));
            [0, 499, 500, 1999, 2000, 2999, 3000, 3600, 6499, 9100].map(|ms| d.of(ms * MS) / MS)
        };
        assert_eq!(delays(None), [10, 10, 20, 20, 30, 30, 30, 30, 30, 30]);
        assert_eq!(delays(Some(3000)), [10, 10, 20, 20, 30, 30, 10, 20, 10, 10]);
    }

    #[test]
    fn a_packet_is_sent_at_the_rates_of_all_the_rows_that_it_meets() {
        // 1500 bytes: 12 ms at 1 Mb/s. Half in the first row, nothing in the second, half at 6 Mb/s.
        let spec = trace("time_s,rate_mbps\n0,1\n0.006,0\n0.1,6\n", None);
        let mut r = Rates::new(&spec);
        assert_eq!(r.send(0, 1500), 101 * MS);
        assert_eq!(r.send(0, 1500), 103 * MS);
        assert_eq!(r.send(200 * MS, 1500), 202 * MS);
        let mut r = Rates::new(&trace("time_s,rate_mbps\n0,1\n1,0\n", None));
        assert_eq!(r.send(995 * MS, 1500), MAX_TIME);
    }

    #[test]
    fn a_trace_of_one_rate_sends_as_a_link_of_that_rate() {
        let mut r = Rates::new(&trace("time_s,rate_mbps\n0,8\n0.0005,8\n", Some(1)));
        let sent: Vec<u64> = (0..1000).map(|_| r.send(0, 1000)).collect();
        assert!(sent.iter().zip(1..).all(|(t, n)| *t == n * MS));
    }

    #[test]
    fn a_packet_is_lost_with_the_probability_of_its_time() {
        let mut l = TraceLoss::new(&trace("time_s,loss\n0,0\n1,1\n2,0.5\n", None), Stream::new(1, "test"));
        let mut lost = |from: u64| (0..1000).filter(|i| l.judge((from + i) * MS) != Fate::Pass).count();
        assert_eq!((lost(0), lost(1000)), (0, 1000));
        assert!(lost(2000).abs_diff(500) < 60);
    }

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
    fn each_mistake_is_reported_with_its_line_and_column() {
        let path = |text: &str| PathRow::parse(text).map(|_| ()).unwrap_err();
        let at = |e: BadRow| (e.line, e.column, e.found);
        assert_eq!(at(path("")), (1, None, "an unknown column name".to_owned()));
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
    }
}
