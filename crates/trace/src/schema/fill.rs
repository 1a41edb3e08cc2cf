//! The columns that each kind of record fills.

use super::columns::Id;
use super::words::{self, CAUSES, DROPS, WHYS};
use crate::row::{Row, What};
use ackclock_sim::fate::Verdict;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use std::fmt;

/// Takes the filled cells of one record, in the order of the columns.
pub trait Cells {
    /// A cell of a column of [`Kind::Int`](super::Kind::Int).
    fn int(&mut self, column: Id, v: i64);
    /// A cell of a column of [`Kind::Small`](super::Kind::Small).
    fn small(&mut self, column: Id, v: i32);
    /// A cell of a column of [`Kind::Real`](super::Kind::Real).
    fn real(&mut self, column: Id, v: f64);
    /// A cell of a column of [`Kind::Bool`](super::Kind::Bool).
    fn truth(&mut self, column: Id, v: bool);
    /// A cell of a column of [`Kind::Word`](super::Kind::Word): the `nth` of its words.
    fn word(&mut self, column: Id, nth: usize);
    /// The cell of [`Id::Flags`].
    fn flags(&mut self, v: Flags);
    /// The cell of [`Id::Sack`].
    fn sack(&mut self, v: Sack<'_>);
}

/// Passes every filled cell of `row` to `c`.
#[inline(always)]
pub fn fill(row: &Row<&Segment>, c: &mut impl Cells) {
    int(c, Id::Time, row.at.0);
    if let Some((flow, side)) = &row.end {
        small(c, Id::Flow, *flow);
        c.word(Id::Side, words::side(side));
    }
    c.word(Id::Event, words::event(&row.what));
    match &row.what {
        What::Sent { seg, wire, sends, verdict, by } => {
            segment(c, seg);
            small(c, Id::Wire, *wire);
            number(c, row.packet);
            if *sends > 0 {
                small(c, Id::Sends, (*sends).into());
            }
            if let Some(v) = verdict {
                judge(c, *v);
            }
            if let Some((slot, episode)) = by {
                c.word(Id::By, words::slot(slot));
                int(c, Id::Episode, (*episode).into());
            }
        }
        What::Delivered { seg, wire } => {
            segment(c, seg);
            small(c, Id::Wire, *wire);
            number(c, row.packet);
        }
        What::Dropped { seg, element, nth, why } => {
            segment(c, seg);
            number(c, row.packet);
            small(c, Id::Element, *element);
            int(c, Id::Nth, *nth);
            c.word(Id::Why, words::drop(why));
        }
        What::Refused { seg, sends, why, missing } => {
            segment(c, seg);
            if *sends > 0 {
                small(c, Id::Sends, (*sends).into());
            }
            small(c, Id::Missing, *missing);
            c.word(Id::Why, DROPS.len() + WHYS.len() + CAUSES.len() + words::refusal(why));
        }
        What::Queue { link, packets, bytes } => {
            small(c, Id::Link, *link);
            small(c, Id::QueuePackets, *packets);
            int(c, Id::QueueBytes, *bytes);
        }
        What::Tcp(e) => event(c, e),
    }
}

/// Passes the cells with the verdict on a retransmission.
pub(crate) fn judge(c: &mut impl Cells, verdict: Verdict) {
    c.truth(Id::Needless, verdict == Verdict::Needless);
    c.truth(Id::Refused, verdict == Verdict::Refused);
}

#[inline(always)]
fn segment(c: &mut impl Cells, s: &Segment) {
    int(c, Id::Seq, s.seq.0);
    int(c, Id::Len, s.len.into());
    let flags = Flags::of(s);
    if flags.0 != 0 {
        c.flags(flags);
    }
    if s.has(Segment::ACK) {
        int(c, Id::Ack, s.ack.0);
    }
    if s.blocks > 0 {
        c.sack(Sack(s));
    }
    int(c, Id::Rwnd, s.wnd.into());
    if s.opts & Segment::TIMESTAMPS != 0 {
        int(c, Id::Tsval, s.tsval.into());
        int(c, Id::Tsecr, s.tsecr.into());
    }
}

#[inline(always)]
fn event(c: &mut impl Cells, e: &Event) {
    match e {
        Event::Acked { ack, delivered, dup_run, pipe } => {
            int(c, Id::Ack, ack.0);
            int(c, Id::NewlyDelivered, *delivered);
            small(c, Id::DupRun, *dup_run);
            int(c, Id::Pipe, *pipe);
        }
        Event::Window { by, episode, from, to } => {
            c.word(Id::By, words::slot(by));
            int(c, Id::Episode, (*episode).into());
            c.real(Id::Cwnd, to.cwnd);
            c.real(Id::Ssthresh, to.ssthresh);
            c.real(Id::CwndFrom, from.cwnd);
            c.real(Id::SsthreshFrom, from.ssthresh);
        }
        Event::Inflation { episode, bytes } => {
            int(c, Id::Episode, (*episode).into());
            c.real(Id::Inflation, *bytes);
        }
        Event::Phase { from, to, why, episode } => {
            c.word(Id::Why, DROPS.len() + words::why(why));
            int(c, Id::Episode, (*episode).into());
            c.word(Id::PhaseFrom, words::phase(from));
            c.word(Id::PhaseTo, words::phase(to));
        }
        Event::Mistake { episode, cause, undone } => {
            c.word(Id::Why, DROPS.len() + WHYS.len() + words::cause(cause));
            int(c, Id::Episode, (*episode).into());
            c.truth(Id::Undone, *undone);
        }
        Event::Timeout { episode, backoff } => {
            int(c, Id::Episode, (*episode).into());
            small(c, Id::Backoff, *backoff);
        }
        Event::Persist { at } | Event::Probe { at } => int(c, Id::Seq, at.0),
        Event::Threshold { dupthresh, .. } => small(c, Id::Dupthresh, *dupthresh),
        Event::Rtt { srtt, rttvar, rto } => {
            int(c, Id::Srtt, srtt.0);
            int(c, Id::Rttvar, rttvar.0);
            int(c, Id::Rto, rto.0);
        }
        Event::Sent { episode, .. } => int(c, Id::Episode, (*episode).into()),
    }
}

/// Times and offsets are below 2⁶³; larger numbers do not occur in a run.
#[inline(always)]
fn int(c: &mut impl Cells, column: Id, v: u64) {
    if let Ok(v) = i64::try_from(v) {
        c.int(column, v);
    }
}

#[inline(always)]
fn small(c: &mut impl Cells, column: Id, v: u32) {
    if let Ok(v) = i32::try_from(v) {
        c.small(column, v);
    }
}

#[inline(always)]
fn number(c: &mut impl Cells, packet: Option<u32>) {
    if let Some(packet) = packet {
        small(c, Id::Packet, packet);
    }
}

/// A packet's header flags and whether a queue has marked it, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub(crate) u8);

/// The bit of URG, which no segment here uses.
const MARKED: u8 = 0x20;

impl Flags {
    fn of(s: &Segment) -> Self {
        Flags(s.flags & !MARKED | if s.opts & Segment::CE != 0 { MARKED } else { 0 })
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: [(u8, &str); 8] = [
            (Segment::SYN, "S"),
            (Segment::ACK, "A"),
            (Segment::FIN, "F"),
            (Segment::RST, "R"),
            (Segment::PSH, "P"),
            (Segment::ECE, "E"),
            (Segment::CWR, "W"),
            (MARKED, "C"),
        ];
        LETTERS.iter().filter(|l| self.0 & l.0 != 0).try_for_each(|l| f.write_str(l.1))
    }
}

/// The SACK blocks of a packet that has any.
#[derive(Clone, Copy, Debug)]
pub struct Sack<'a>(&'a Segment);

impl fmt::Display for Sack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (left, right)) in self.0.sack_blocks().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            write!(f, "{gap}{left}-{right}")?;
        }
        Ok(())
    }
}
