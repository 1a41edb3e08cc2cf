//! Reads a trace in CSV back, record by record.

use crate::row::{Row, What};
use crate::schema::words::{read_cause, read_drop, read_phase, read_refusal, read_side, read_slot, read_why};
use crate::schema::{Id, COLUMNS};
use ackclock_sim::fate::Verdict;
use ackclock_tcp::event::{Event, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use std::fmt;
use std::io::BufRead;

/// Columns that every trace has.
const NEEDED: [Id; 4] = [Id::Time, Id::Flow, Id::Side, Id::Event];

/// Why a file is not a trace that can be read: the line, from 1, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTrace {
    /// The line.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for NotTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for NotTrace {}

/// Reads the text of a trace, and passes each record to `take`. A line may end with a carriage return, and an empty one is no
/// record. The trace does not have everything: the MSS and the window of [`Event::Threshold`] are 0.
///
/// # Errors
/// The first line that is not the header or a record, or that `take` refuses with a reason.
pub fn read_csv(mut text: impl BufRead, mut take: impl FnMut(Row) -> Result<(), String>) -> Result<(), NotTrace> {
    let mut bytes = Vec::new();
    let mut line = 0;
    let mut next = |bytes: &mut Vec<u8>, line: &mut u64| {
        *line += 1;
        bytes.clear();
        text.read_until(b'\n', bytes).map_err(|e| NotTrace { line: *line, why: e.to_string() })
    };
    next(&mut bytes, &mut line)?;
    let columns = header(&bytes).map_err(|why| NotTrace { line, why })?;
    let mut last = 0;
    while next(&mut bytes, &mut line)? > 0 {
        let taken = match std::str::from_utf8(&bytes).map(str::trim) {
            Ok("") => Ok(()),
            Ok(text) => cells(text, &columns).and_then(|cells| row(&cells, &mut last)).and_then(&mut take),
            Err(_) => Err("it is not text".to_owned()),
        };
        taken.map_err(|why| NotTrace { line, why })?;
    }
    Ok(())
}

/// The column of each cell.
fn header(bytes: &[u8]) -> Result<Vec<Option<Id>>, String> {
    let names: Vec<&str> = std::str::from_utf8(bytes).unwrap_or_default().trim().split(',').collect();
    let columns: Vec<Option<Id>> =
        names.iter().map(|name| COLUMNS.iter().find(|c| c.name == *name).map(|c| c.id)).collect();
    let has = |id: &Id| columns.contains(&Some(*id));
    if let Some(missing) = NEEDED.iter().find(|id| !has(id)) {
        return Err(format!("there is no column {}", COLUMNS[*missing as usize].name));
    }
    if !has(&Id::Packet) {
        return Err("there is no column packet: an older version wrote this trace; write it again".to_owned());
    }
    Ok(columns)
}

/// The cells of a record, by column.
struct Cells<'a>([&'a str; COLUMNS.len()]);

fn cells<'a>(text: &'a str, columns: &[Option<Id>]) -> Result<Cells<'a>, String> {
    let mut cells = Cells([""; COLUMNS.len()]);
    let mut many = 0;
    for (cell, column) in text.split(',').zip(columns.iter().map(Some).chain(std::iter::repeat(None))) {
        many += 1;
        if let Some(Some(id)) = column {
            cells.0[*id as usize] = cell;
        }
    }
    if many == columns.len() {
        Ok(cells)
    } else {
        Err(format!("{many} cells, not {}", columns.len()))
    }
}

impl Cells<'_> {
    fn text(&self, id: Id) -> &str {
        self.0[id as usize]
    }

    fn wrong(&self, id: Id) -> String {
        format!("{} is \"{}\"", COLUMNS[id as usize].name, self.text(id))
    }

    /// The value of a cell, if it is filled.
    fn some<T: std::str::FromStr>(&self, id: Id) -> Result<Option<T>, String> {
        match self.text(id) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.wrong(id)),
        }
    }

    /// The value of a cell that must be filled.
    fn one<T: std::str::FromStr>(&self, id: Id) -> Result<T, String> {
        self.some(id)?.ok_or_else(|| self.wrong(id))
    }

    /// The value of a cell that is empty if it is zero.
    fn count<T: std::str::FromStr + Default>(&self, id: Id) -> Result<T, String> {
        Ok(self.some(id)?.unwrap_or_default())
    }

    /// A time or an offset: both are below 2⁶³.
    fn below(&self, id: Id) -> Result<u64, String> {
        self.one::<i64>(id).ok().and_then(|n| u64::try_from(n).ok()).ok_or_else(|| self.wrong(id))
    }

    fn word<T>(&self, id: Id, read: fn(&str) -> Option<T>) -> Result<T, String> {
        read(self.text(id)).ok_or_else(|| self.wrong(id))
    }
}

fn row(c: &Cells<'_>, last: &mut u64) -> Result<Row, String> {
    let at = c.below(Id::Time).ok().filter(|at| at >= last);
    *last = at.ok_or("its time is not a number, or before the previous one")?;
    let end = match c.some(Id::Flow)? {
        None => None,
        Some(flow) => Some((flow, c.word(Id::Side, read_side)?)),
    };
    Ok(Row { at: Time(*last), end, packet: c.some(Id::Packet)?, what: what(c)? })
}

fn what(c: &Cells<'_>) -> Result<What, String> {
    Ok(match c.text(Id::Event) {
        "sent" => {
            let by = match c.text(Id::By) {
                "" => None,
                _ => Some((c.word(Id::By, read_slot)?, c.count(Id::Episode)?)),
            };
            let (seg, wire) = (segment(c)?, c.count(Id::Wire)?);
            What::Sent { seg, wire, sends: c.count(Id::Sends)?, verdict: verdict(c)?, by }
        }
        "delivered" => What::Delivered { seg: segment(c)?, wire: c.count(Id::Wire)? },
        "dropped" => What::Dropped {
            seg: segment(c)?,
            element: c.one(Id::Element)?,
            nth: c.one(Id::Nth)?,
            why: c.word(Id::Why, read_drop)?,
        },
        "refused" => What::Refused {
            seg: segment(c)?,
            sends: c.count(Id::Sends)?,
            why: c.word(Id::Why, read_refusal)?,
            missing: c.count(Id::Missing)?,
        },
        "queue" => {
            What::Queue { link: c.one(Id::Link)?, packets: c.one(Id::QueuePackets)?, bytes: c.count(Id::QueueBytes)? }
        }
        _ => What::Tcp(event(c)?),
    })
}

fn event(c: &Cells<'_>) -> Result<Event, String> {
    let episode = c.count(Id::Episode)?;
    let at = |id| c.below(id).map(Offset);
    Ok(match c.text(Id::Event) {
        "acked" => Event::Acked {
            ack: at(Id::Ack)?,
            delivered: c.count(Id::NewlyDelivered)?,
            dup_run: c.count(Id::DupRun)?,
            pipe: c.one(Id::Pipe)?,
        },
        "window" => Event::Window {
            by: c.word(Id::By, read_slot)?,
            episode,
            from: Window { cwnd: c.one(Id::CwndFrom)?, ssthresh: c.one(Id::SsthreshFrom)? },
            to: Window { cwnd: c.one(Id::Cwnd)?, ssthresh: c.one(Id::Ssthresh)? },
        },
        "inflation" => Event::Inflation { episode, bytes: c.one(Id::Inflation)? },
        "phase" => Event::Phase {
            from: c.word(Id::PhaseFrom, read_phase)?,
            to: c.word(Id::PhaseTo, read_phase)?,
            why: c.word(Id::Why, read_why)?,
            episode,
        },
        "timeout" => Event::Timeout { episode, backoff: c.count(Id::Backoff)? },
        "mistake" => Event::Mistake { episode, cause: c.word(Id::Why, read_cause)?, undone: c.one(Id::Undone)? },
        "persist" => Event::Persist { at: at(Id::Seq)? },
        "probe" => Event::Probe { at: at(Id::Seq)? },
        "threshold" => Event::Threshold { dupthresh: c.one(Id::Dupthresh)?, mss: 0, cwnd: 0.0 },
        "rtt" => Event::Rtt {
            srtt: Nanos(c.count(Id::Srtt)?),
            rttvar: Nanos(c.count(Id::Rttvar)?),
            rto: Nanos(c.one(Id::Rto)?),
        },
        _ => return Err(c.wrong(Id::Event)),
    })
}

fn verdict(c: &Cells<'_>) -> Result<Option<Verdict>, String> {
    let needless: Option<bool> = c.some(Id::Needless)?;
    let refused: bool = c.count(Id::Refused)?;
    Ok(needless.map(|needless| match (needless, refused) {
        (true, _) => Verdict::Needless,
        (false, true) => Verdict::Refused,
        (false, false) => Verdict::Needed,
    }))
}

fn segment(c: &Cells<'_>) -> Result<Segment, String> {
    let mut seg = Segment {
        seq: Offset(c.below(Id::Seq)?),
        len: c.count(Id::Len)?,
        ack: Offset(if c.text(Id::Ack).is_empty() { 0 } else { c.below(Id::Ack)? }),
        wnd: c.count(Id::Rwnd)?,
        ..Segment::EMPTY
    };
    for letter in c.text(Id::Flags).chars() {
        match letter {
            'S' => seg.flags |= Segment::SYN,
            'A' => seg.flags |= Segment::ACK,
            'F' => seg.flags |= Segment::FIN,
            'R' => seg.flags |= Segment::RST,
            'P' => seg.flags |= Segment::PSH,
            'E' => seg.flags |= Segment::ECE,
            'W' => seg.flags |= Segment::CWR,
            'C' => seg.opts |= Segment::CE,
            _ => return Err(c.wrong(Id::Flags)),
        }
    }
    if let Some(tsval) = c.some(Id::Tsval)? {
        (seg.opts, seg.tsval, seg.tsecr) = (seg.opts | Segment::TIMESTAMPS, tsval, c.count(Id::Tsecr)?);
    }
    for block in c.text(Id::Sack).split_whitespace() {
        let edges = block.split_once('-').and_then(|(left, right)| Some((left.parse().ok()?, right.parse().ok()?)));
        let (left, right) = edges.filter(|_| seg.blocks < 4).ok_or_else(|| c.wrong(Id::Sack))?;
        seg.push_sack(Offset(left), Offset(right));
    }
    Ok(seg)
}
