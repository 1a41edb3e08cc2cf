//! Listens to a run and passes its records to a sink, a chunk at a time.
//!
//! A chunk waits until every retransmission in it has a verdict: needed, refused or needless. That takes about a round trip, so
//! memory stays bounded however long the run is.

use crate::error::TraceError;
use crate::fate::{Fates, Standing};
use crate::file::TraceFile;
use crate::hash::{Hasher, TraceHash};
use crate::row::{Row, What};
use crate::sink::{Chunk, Meta, Sink, CHUNK};
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Event, Slot};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// Records a run, its trace hash and the verdicts on its retransmissions.
#[derive(Debug)]
pub struct Recorder<S: Sink = TraceFile> {
    sink: S,
    failed: Option<io::Error>,
    /// The chunk being filled, and the number of its records.
    current: Judged<S::Chunk>,
    filled: usize,
    /// Full chunks with an open retransmission, or behind such a chunk.
    waiting: VecDeque<Judged<S::Chunk>>,
    spare: Vec<S::Chunk>,
    /// Records in the chunks already written; a record's token is its number in the run.
    written: u64,
    /// Both ends of each flow.
    hosts: Vec<[Host; 2]>,
    /// The packet of the next arrival or drop, by its number.
    packet: Option<u32>,
    hasher: Hasher,
    fates: Fates,
}

#[derive(Debug)]
struct Judged<C> {
    chunk: C,
    /// Retransmissions in it without a verdict.
    open: usize,
}

/// One end of a flow.
#[derive(Debug, Default)]
struct Host {
    /// Segments that its engine has reported.
    asked: VecDeque<Asked>,
    /// The number of packets that it has sent.
    sent: u32,
}

/// The engine's report about a segment that its host will send at the same instant.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Time,
    start: u64,
    end: u64,
    by: Slot,
    episode: u32,
}

impl Recorder<TraceFile> {
    /// Records `flows` flows into the file `path`, whose ending selects the format: `.parquet` or `.csv`. The file gets its name
    /// only when [`Recorder::finish`] has succeeded.
    ///
    /// # Errors
    /// An unknown ending, or the system's reason why the file cannot be created.
    pub fn create(path: &Path, meta: Meta, flows: u32) -> Result<Self, TraceError> {
        Ok(Recorder::new(TraceFile::create(path, meta)?, flows))
    }

    /// Writes the remaining records, and gives the file its name.
    ///
    /// # Errors
    /// The first error since the beginning. In that case no file remains.
    pub fn finish(self) -> Result<TraceHash, TraceError> {
        let path = self.sink.path().to_owned();
        self.close().map(|(hash, ())| hash).map_err(|e| TraceError::io(&path, e))
    }
}

impl<S: Sink> Recorder<S> {
    /// Records `flows` flows into `sink`.
    pub fn new(sink: S, flows: u32) -> Self {
        let mut hosts = Vec::new();
        hosts.resize_with(flows as usize, Default::default);
        Recorder {
            current: Judged { chunk: sink.chunk(), open: 0 },
            filled: 0,
            sink,
            failed: None,
            waiting: VecDeque::new(),
            spare: Vec::new(),
            written: 0,
            hosts,
            packet: None,
            hasher: Hasher::new(flows),
            fates: Fates::new(flows),
        }
    }

    /// The error, if one has occurred: the run may then stop early. Nothing more is recorded.
    pub fn failed(&self) -> Option<&io::Error> {
        self.failed.as_ref()
    }

    /// The hash of the events so far.
    pub fn hash(&self) -> TraceHash {
        self.hasher.hash()
    }

    /// Settles open verdicts, writes the remaining records and finishes the sink.
    ///
    /// # Errors
    /// The first error of the sink since the beginning.
    pub fn close(mut self) -> io::Result<(TraceHash, S::Out)> {
        self.fates.finish();
        self.settle();
        self.turn();
        if let Some(e) = self.failed {
            return Err(e);
        }
        let hash = self.hasher.hash();
        Ok((hash, self.sink.finish(hash)?))
    }

    /// The number of the next record.
    fn token(&self) -> u64 {
        self.written + (self.waiting.len() * CHUNK + self.filled) as u64
    }

    #[inline(always)]
    fn push(&mut self, row: Row<&Segment>) {
        if self.filled == CHUNK {
            self.turn();
        }
        self.filled += 1;
        self.current.chunk.push(row);
    }

    /// Begins a new chunk, and writes the chunks without open verdicts.
    #[cold]
    fn turn(&mut self) {
        let chunk = self.spare.pop().unwrap_or_else(|| self.sink.chunk());
        self.filled = 0;
        self.waiting.push_back(std::mem::replace(&mut self.current, Judged { chunk, open: 0 }));
        while self.waiting.front().is_some_and(|c| c.open == 0) {
            let Some(Judged { mut chunk, .. }) = self.waiting.pop_front() else { break };
            self.written += chunk.len() as u64;
            if self.failed.is_none() && !chunk.is_empty() {
                self.failed = self.sink.write(&mut chunk).err();
            }
            chunk.clear();
            self.spare.push(chunk);
        }
    }

    fn settle(&mut self) {
        if self.fates.has_settled() {
            self.judge();
        }
    }

    #[cold]
    fn judge(&mut self) {
        for (token, verdict) in self.fates.settled() {
            let Ok(at) = usize::try_from(token - self.written) else { continue };
            let c = self.waiting.get_mut(at / CHUNK).unwrap_or(&mut self.current);
            c.chunk.judge(at % CHUNK, verdict);
            c.open -= 1;
        }
    }

    fn host(&mut self, flow: u32, side: Side) -> &mut Host {
        let i = flow as usize;
        if i >= self.hosts.len() {
            self.hosts.resize_with(i + 1, Default::default);
        }
        &mut self.hosts[i][usize::from(side == Side::Receiver)]
    }
}

impl Host {
    /// The part of the stack that requested the segment that begins at `seq`.
    fn who(&mut self, at: Time, seq: u64) -> Option<(Slot, u32)> {
        while let Some(a) = self.asked.front() {
            if a.at == at && (a.start..a.end).contains(&seq) {
                return Some((a.by, a.episode));
            }
            self.asked.pop_front();
        }
        None
    }
}

impl<S: Sink> Watch for Recorder<S> {
    const HEARS_QUEUES: bool = true;

    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        self.hasher.tcp(at, flow, side, e);
        if let Event::Sent { start, len, episode, by, sends: _ } = e {
            let (start, end) = (start.0, start.0 + u64::from(len));
            let asked = &mut self.host(flow, side).asked;
            // A host sends immediately, so no packet is left for an older report.
            if asked.front().is_some_and(|a| a.at < at) {
                asked.clear();
            }
            asked.push_back(Asked { at, start, end, by, episode });
        } else {
            self.push(Row { at, end: Some((flow, side)), packet: None, what: What::Tcp(e) });
        }
    }

    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.hasher.sent(at, flow, from, seg, wire, sends);
        let host = self.host(flow, from);
        let (number, by) = (host.sent, if seg.seq_len() > 0 { host.who(at, seg.seq.0) } else { None });
        host.sent += 1;
        let token = self.token();
        let standing = self.fates.on_sent(flow, from, seg, sends, token);
        let verdict = match standing {
            Standing::Known(verdict) => Some(verdict),
            Standing::First | Standing::Open => None,
        };
        let what = What::Sent { seg, wire, sends, verdict, by };
        self.push(Row { at, end: Some((flow, from)), packet: Some(number), what });
        if standing == Standing::Open {
            self.current.open += 1;
        }
        self.settle();
    }

    fn dropped(&mut self, dropped: Dropped<'_>) {
        self.hasher.dropped(dropped);
        let Dropped { at, flow, to, element, nth, why, seg, sends } = dropped;
        let packet = self.packet.take();
        self.push(Row { at, end: Some((flow, to)), packet, what: What::Dropped { seg, element, nth, why } });
        self.fates.on_dropped(flow, to, seg, sends);
        self.settle();
    }

    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, sends: u8) {
        self.hasher.delivered(at, flow, to, seg, wire, sends);
        let packet = self.packet.take();
        self.push(Row { at, end: Some((flow, to)), packet, what: What::Delivered { seg, wire } });
        self.fates.on_arrived(flow, to, seg, sends);
        self.settle();
    }

    #[inline]
    fn arrived(&mut self, _: Time, _: u32, _: Side, number: u32, _: &Segment) {
        self.packet = Some(number);
    }

    #[inline]
    fn lost(&mut self, _: u32, _: Side, number: u32) {
        self.packet = Some(number);
    }

    #[cold]
    fn refused(
        &mut self,
        at: Time,
        flow: u32,
        to: Side,
        why: Refusal,
        seg: &Segment,
        sends: u8,
        missing: &[(Offset, Offset)],
    ) {
        let lacks = missing.iter().map(|(left, right)| (*right - *left) as u32).sum();
        let what = What::Refused { seg, sends, why, missing: lacks };
        self.push(Row { at, end: Some((flow, to)), packet: None, what });
        self.fates.on_refused(missing);
        self.settle();
    }

    fn doubled(&mut self, _: Time, flow: u32, to: Side, seg: &Segment, sends: u8) {
        self.fates.on_doubled(flow, to, seg, sends);
    }

    fn queue(&mut self, at: Time, link: u32, packets: u32, bytes: u64) {
        self.push(Row { at, end: None, packet: None, what: What::Queue { link, packets, bytes } });
    }
}
