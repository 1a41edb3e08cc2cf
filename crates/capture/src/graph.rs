//! The data of one flow's time-sequence graph: its segments and the acknowledgments.
//!
//! Idea: a file is first surveyed without keeping its segments. To show one flow, the file is read again with [`Closely`], which
//! keeps that flow's segments and surveys only that flow, each retransmission included.

use crate::connection::Wanted;
use crate::flows::{Analysis, Ended, Flow};
use crate::packets::{Offsets, Packet};
use crate::seen::{Seen, Way};
use crate::survey::{self, Everything, Survey};
use ackclock_tcp::segment::Segment;
use std::net::SocketAddr;

/// A segment with data or a FIN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its number in the file.
    pub frame: u64,
    /// When it was captured, nanoseconds since 1970.
    pub at: i64,
    /// Offset of its first byte, as in [`Packet::offset`].
    pub offset: i64,
    /// Its length in bytes; a FIN counts as one.
    pub len: u32,
}

/// An acknowledgment of the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Its number in the file.
    pub frame: u64,
    /// When it was captured, nanoseconds since 1970.
    pub at: i64,
    /// Its acknowledgment: the offset of the next byte.
    pub ack: i64,
    /// The window it announces, bytes; `None` if the SYNs with its scale were not captured.
    pub window: Option<u64>,
    /// Duplicates in a row, this one included (RFC 5681 §2; with SACK blocks the window may change).
    pub duplicates: u32,
    /// The position of its first SACK block in [`Graph::blocks`], and the number of its blocks.
    pub blocks: (u32, u8),
}

/// The content of one flow, in the order of the capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The segments.
    pub sent: Vec<Sent>,
    /// The acknowledgments.
    pub answered: Vec<Answered>,
    /// SACK blocks: offsets of their left and right edges.
    pub blocks: Vec<(i64, i64)>,
    /// Segments and acknowledgments left out for lack of room.
    pub left_out: u64,
    una: i64,
    top: i64,
    window: u16,
    duplicates: u32,
}

/// Observes one flow in detail.
#[derive(Debug)]
pub struct Closely {
    number: u64,
    name: String,
    way: Option<Way>,
    room: usize,
    survey: Survey,
    offsets: Offsets,
    graph: Graph,
}

/// A connection while its segments are read.
#[derive(Debug, Default)]
pub struct State(Option<Box<survey::State>>);

impl Closely {
    /// Observes the flow with this [`crate::survey::Surveyed::name`], in the connection with this number. Keeps at most `room`
    /// segments, acknowledgments and SACK blocks in total.
    pub fn new(number: u64, name: impl Into<String>, mut wanted: Wanted, room: usize) -> Self {
        wanted.each = true;
        let survey = Survey::new(wanted, 1, None);
        Closely {
            number,
            name: name.into(),
            way: None,
            room,
            survey,
            offsets: Offsets::default(),
            graph: Graph::default(),
        }
    }

    /// The results for its connection, and the flow's way in it; `None` if there is none with this number and name.
    pub fn finish(self) -> Option<(Everything, Way, Graph)> {
        Some((self.survey.finish(), self.way?, self.graph))
    }
}

impl Analysis for Closely {
    type State = State;

    fn begin(&mut self, flow: &Flow) -> State {
        if flow.number != self.number {
            return State(None);
        }
        let [out, back] = flow.ends;
        self.way = [(Way::Out, out, back), (Way::Back, back, out)]
            .into_iter()
            .find_map(|(way, from, to)| (format!("{from} > {to}") == self.name).then_some(way));
        State(self.way.map(|_| Box::new(self.survey.begin(flow))))
    }

    #[inline]
    fn segment(&mut self, flow: &Flow, state: &mut State, seen: &Seen) {
        let Some(state) = &mut state.0 else { return };
        self.survey.segment(flow, state, seen);
        let packet = self.offsets.packet(flow, seen);
        let graph = &mut self.graph;
        let held = graph.sent.len() + graph.answered.len() + graph.blocks.len();
        if held >= self.room {
            graph.left_out += 1;
        } else if Some(seen.way) == self.way {
            graph.sent(&packet);
        } else {
            graph.answered(&packet, seen.window, flow.window_shift(seen.way).is_some());
        }
    }

    fn end(&mut self, flow: &Flow, state: State, why: Ended) {
        if let Some(state) = state.0 {
            self.survey.end(flow, *state, why);
        }
    }
}

impl Graph {
    fn sent(&mut self, p: &Packet) {
        let len = p.len + u32::from(p.flags & Segment::FIN != 0);
        if len == 0 || p.flags & Segment::SYN != 0 {
            return;
        }
        self.top = self.top.max(p.offset + i64::from(len));
        self.sent.push(Sent { frame: p.frame, at: p.at, offset: p.offset, len });
    }

    /// `field`: the window field of the header; `scaled`: its scale is known.
    fn answered(&mut self, p: &Packet, field: u16, scaled: bool) {
        let Some(ack) = p.ack.filter(|_| p.flags & (Segment::SYN | Segment::RST) == 0) else { return };
        let blocks = &p.sack[..usize::from(p.sacks)];
        let same = field == self.window || !blocks.is_empty();
        if ack > self.una || self.answered.is_empty() {
            (self.una, self.duplicates) = (ack, 0);
        } else if ack == self.una && ack < self.top && same && p.len == 0 && p.flags & Segment::FIN == 0 {
            self.duplicates += 1;
        }
        self.window = field;
        let first = self.blocks.len() as u32;
        self.blocks.extend_from_slice(blocks);
        self.answered.push(Answered {
            frame: p.frame,
            at: p.at,
            ack,
            window: scaled.then_some(p.window),
            duplicates: if ack == self.una { self.duplicates } else { 0 },
            blocks: (first, p.sacks),
        });
    }
}

/// The two ends in `A:p > B:p`.
pub fn ends(name: &str) -> Option<(SocketAddr, SocketAddr)> {
    let (from, to) = name.split_once(" > ")?;
    Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
}
