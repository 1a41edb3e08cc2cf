//! The trace hash: 128 bits that identify the events of a run, equal on every machine, thread count and target.
//!
//! XXH3-128 over little-endian 64-bit words. Each flow has a hash of its own, so the order of calls for different flows
//! does not matter; the run's hash is taken over the flows' hashes in the scenario's order. A flow's words, in time
//! order, are listed at [`TEXT`]. The hash contains nothing internal to a link or to the event loop.

use ackclock_sim::watch::{DropWhy, Side, Watch};
use ackclock_tcp::event::{Event, Frequent, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::Xxh3Default;

/// The hash's definition, as included in `docs/trace.md`.
pub const TEXT: &str = "\
XXH3-128 (seed 0) over little-endian 64-bit words, printed as `xxh3-128:` and 32 hexadecimal digits. Each flow is hashed
by itself, in time order; the run's hash is taken over the number of flows and then, in the scenario's order, each flow's
hash (low word, high word) and number of records. A record is:

- sent: time in ns, 1, side (0 sender, 1 receiver), sends, wire bytes, *segment*;
- dropped: time, 2, side that it was meant for, element, n-th arrival there, reason (0 queue, 1 loss, 2 script, 3 early), *segment*;
- delivered: time, 3, side that got it, wire bytes, *segment* (so arriving ACKs appear here, with their SACK blocks);
- window changed: time, 4, side, bits of `cwnd`, bits of `ssthresh` (after the change).

A *segment* is: seq, len, flags, ack (0 without the flag), receive window, options (1 SACK permitted, 2 timestamps;
of the IP header: 4 may be marked, 8 is marked), MSS option, window scale option, tsval, tsecr (both 0 without the option), number of SACK blocks, and for each block its left
and right edge relative to the ack, as signed numbers.
";

/// A finished trace hash. Prints and parses as `xxh3-128:` and 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceHash(pub u128);

impl TraceHash {
    /// The prefix before the digits.
    pub const NAME: &'static str = "xxh3-128:";
}

impl fmt::Display for TraceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:032x}", Self::NAME, self.0)
    }
}

impl FromStr for TraceHash {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        s.strip_prefix(Self::NAME)
            .filter(|d| d.len() == 32 && d.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|d| u128::from_str_radix(d, 16).ok())
            .map(TraceHash)
            .ok_or_else(|| format!("found \"{s}\": a trace hash is {} and 32 hexadecimal digits", Self::NAME))
    }
}

/// Hashes a run during its execution.
#[derive(Clone, Default)]
pub struct Hasher {
    flows: Vec<FlowHash>,
}

/// Bytes that are collected and hashed together.
const WAITING: usize = 1024;
/// Bytes of the longest record, a drop with four SACK blocks.
const LONGEST: usize = 8 * 25;

#[derive(Clone)]
struct FlowHash {
    state: Xxh3Default,
    records: u64,
    last: Time,
    waiting: [u8; WAITING],
    used: usize,
}

impl FlowHash {
    fn new() -> Self {
        FlowHash { state: Xxh3Default::new(), records: 0, last: Time::ZERO, waiting: [0; WAITING], used: 0 }
    }

    fn digest(&self) -> u128 {
        let mut all = self.state.clone();
        all.update(&self.waiting[..self.used]);
        all.digest128()
    }

    #[inline(never)]
    fn hand_on(&mut self) {
        self.state.update(&self.waiting[..self.used]);
        self.used = 0;
    }
}

impl Hasher {
    /// A hasher for a run of `flows` flows; silent ones count too.
    pub fn new(flows: u32) -> Self {
        let mut h = Hasher::default();
        h.grow(flows as usize);
        h
    }

    /// The hash of the events so far.
    pub fn hash(&self) -> TraceHash {
        let mut all = Xxh3Default::new();
        all.update(&(self.flows.len() as u64).to_le_bytes());
        for f in &self.flows {
            all.update(&f.digest().to_le_bytes());
            all.update(&f.records.to_le_bytes());
        }
        TraceHash(all.digest128())
    }

    fn grow(&mut self, flows: usize) {
        self.flows.resize_with(flows, FlowHash::new);
    }

    /// Adds a record; `write` writes its words after the time.
    #[inline(always)]
    fn record(&mut self, at: Time, flow: u32, write: impl FnOnce(&mut Words<'_>)) {
        let i = flow as usize;
        if i >= self.flows.len() {
            self.grow(i + 1);
        }
        let f = &mut self.flows[i];
        debug_assert!(f.last <= at, "flow {flow}: {at} after {}", f.last);
        f.last = at;
        f.records += 1;
        if f.used > WAITING - LONGEST {
            f.hand_on();
        }
        let Some(room) = f.waiting.get_mut(f.used..).and_then(<[u8]>::first_chunk_mut) else { return };
        let mut words = Words { room, used: 0 };
        words.push(at.0);
        write(&mut words);
        f.used += words.used;
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({} flows, {})", self.flows.len(), self.hash())
    }
}

impl Watch for Hasher {
    const HEARS: Frequent = Frequent::NONE;

    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        let Event::Window { from, to, .. } = e else { return };
        if bits(from) == bits(to) {
            return;
        }
        self.record(at, flow, |w| {
            w.kind(4, side);
            bits(to).into_iter().for_each(|b| w.push(b));
        });
    }

    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.record(at, flow, |w| {
            w.kind(1, from);
            w.push(sends.into());
            w.push(wire.into());
            w.segment(seg);
        });
    }

    fn dropped(&mut self, at: Time, flow: u32, to: Side, element: u32, nth: u64, why: DropWhy, seg: &Segment, _: u8) {
        self.record(at, flow, |w| {
            w.kind(2, to);
            w.push(element.into());
            w.push(nth);
            w.push(match why {
                DropWhy::Queue => 0,
                DropWhy::Loss => 1,
                DropWhy::Script => 2,
                DropWhy::Early => 3,
            });
            w.segment(seg);
        });
    }

    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, _: u8) {
        self.record(at, flow, |w| {
            w.kind(3, to);
            w.push(wire.into());
            w.segment(seg);
        });
    }
}

fn bits(w: Window) -> [u64; 2] {
    [w.cwnd.to_bits(), w.ssthresh.to_bits()]
}

/// The words of one record, written into the buffer.
struct Words<'a> {
    room: &'a mut [u8; LONGEST],
    used: usize,
}

impl Words<'_> {
    #[inline(always)]
    fn kind(&mut self, kind: u64, side: Side) {
        self.push(kind);
        self.push(match side {
            Side::Sender => 0,
            Side::Receiver => 1,
        });
    }

    #[inline(always)]
    fn push(&mut self, word: u64) {
        self.room[self.used..self.used + 8].copy_from_slice(&word.to_le_bytes());
        self.used += 8;
    }

    #[inline(always)]
    fn segment(&mut self, s: &Segment) {
        // `train` describes how packets were passed on, not the packets on the wire.
        let Segment { seq, ack, len, wnd, tsval, tsecr, train: _, flags, blocks, sack, mss, wscale, opts } = *s;
        let stamped = opts & Segment::TIMESTAMPS != 0;
        let blocks = blocks.min(4);
        self.push(seq.0);
        self.push(len.into());
        self.push(flags.into());
        self.push(if flags & Segment::ACK != 0 { ack.0 } else { 0 });
        self.push(wnd.into());
        self.push(opts.into());
        self.push(mss.into());
        self.push(wscale.into());
        self.push(if stamped { tsval.into() } else { 0 });
        self.push(if stamped { tsecr.into() } else { 0 });
        self.push(blocks.into());
        for &(left, right) in &sack[..usize::from(blocks)] {
            self.push(i64::from(left) as u64);
            self.push(i64::from(right) as u64);
        }
    }
}
