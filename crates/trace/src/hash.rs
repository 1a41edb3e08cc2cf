//! The trace hash: 128 bits that identify the events of a run, equal on every machine, thread count and target.
//!
//! XXH3-128 over little-endian 64-bit words. Each flow has a hash of its own, so the order of calls for different flows
//! does not matter; the run's hash is taken over the flows' hashes in the scenario's order. A flow's words, in time
//! order, are listed at [`TEXT`]. The hash contains nothing internal to a link or to the event loop.
//!
//! The words of a record say how many there are, so no two sequences of records have the same words.

mod words;

use ackclock_sim::watch::{DropWhy, Dropped, Side, Watch};
use ackclock_tcp::event::{Event, Frequent, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;
use std::fmt;
use std::str::FromStr;
use words::Words;
use xxhash_rust::xxh3::Xxh3Default;

/// The hash's definition, as included in `docs/trace.md`.
pub const TEXT: &str = "\
XXH3-128 (seed 0) over little-endian 64-bit words, printed as `xxh3-128:` and 32 hexadecimal digits. Each flow is hashed
by itself, in time order; the run's hash is taken over the number of flows and then, in the scenario's order, each flow's
hash (low word, high word). A record is:

- sent: time in ns, *what* of kind 1 with the number of transmissions, wire bytes and window, *segment*;
- dropped: time, *what* of kind 2 with the reason (0 queue, 1 loss, 2 script, 3 early) and the side that it was meant for, element
  and window, *segment*, n-th arrival at the element;
- delivered: time, *what* of kind 3, wire bytes and window, *segment* (so arriving ACKs, with their SACK blocks, are in it);
- window changed: time, kind 4 and side as in *what*, bits of `cwnd`, bits of `ssthresh` (after the change).

A word of two numbers has the first in its lower 32 bits.

*What* is one word. From the lowest bit on: kind (3 bits), side (1 bit: 0 sender, 1 receiver), number of SACK blocks (3 bits),
whether handshake options follow (1 bit), number of transmissions or reason (8 bits), flags (8 bits), options (8 bits: 1 SACK
permitted, 2 timestamps; of the IP header: 4 may be marked, 8 is marked), payload bytes (32 bits).

A *segment* is: seq; ack (0 without the flag); if handshake options follow, MSS option and window scale option (255 without);
if the segment has timestamps, tsval and tsecr; for each SACK block, its left and right edge relative to the ack, as signed
numbers of 32 bits.
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

#[derive(Clone)]
struct FlowHash {
    words: Words,
    #[cfg(debug_assertions)]
    last: Time,
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
            all.update(&f.words.digest().to_le_bytes());
        }
        TraceHash(all.digest128())
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, flows: usize) {
        self.flows.resize_with(flows, FlowHash::new);
    }

    /// Adds the record of a packet to its flow's. `head` are the lowest bits of *what*; `beside` depends on the kind.
    #[inline(always)]
    fn packet(&mut self, at: Time, flow: u32, head: u64, beside: u32, seg: &Segment) {
        // Not indexed after a test: that would be a second test.
        loop {
            if let Some(f) = self.flows.get_mut(flow as usize) {
                return f.packet(at, head, beside, seg);
            }
            self.grow(flow as usize + 1);
        }
    }

    /// Adds the record of a changed window.
    #[inline(always)]
    fn window(&mut self, at: Time, flow: u32, side: Side, to: Window) {
        loop {
            if let Some(f) = self.flows.get_mut(flow as usize) {
                f.check_time(at);
                return f.words.put([at.0, kind(4, side), to.cwnd.to_bits(), to.ssthresh.to_bits()]);
            }
            self.grow(flow as usize + 1);
        }
    }
}

impl FlowHash {
    fn new() -> Self {
        FlowHash {
            words: Words::new(),
            #[cfg(debug_assertions)]
            last: Time::ZERO,
        }
    }

    #[cfg(debug_assertions)]
    fn check_time(&mut self, at: Time) {
        assert!(self.last <= at, "{at} after {}", self.last);
        self.last = at;
    }

    #[cfg(not(debug_assertions))]
    #[inline(always)]
    fn check_time(&self, _: Time) {}

    #[inline(always)]
    fn packet(&mut self, at: Time, head: u64, beside: u32, s: &Segment) {
        self.check_time(at);
        // These fields lie side by side, and are written and read together: usually one comparison.
        let fields = u32::from(s.mss) | u32::from(s.wscale) << 16 | u32::from(s.opts) << 24;
        if fields != u32::from(Segment::NO_SCALE) << 16 || s.blocks != 0 {
            return self.with_options(at, head, beside, s);
        }
        let what = head | u64::from(s.flags) << 16 | u64::from(s.len) << 32;
        self.words.put([at.0, what, pair(beside, s.wnd), s.seq.0, ack(s)]);
    }

    /// The same for any segment. The call gets the segment, not the words so far, which would have to be in memory for that.
    #[inline(never)]
    fn with_options(&mut self, at: Time, head: u64, beside: u32, s: &Segment) {
        // `train` describes how packets were passed on, not the packets on the wire.
        let Segment { seq, ack: _, len, wnd, tsval, tsecr, train: _, flags, blocks, sack: _, mss, wscale, opts } = *s;
        let sack = &s.sack[..usize::from(blocks.min(4))];
        let handshake = (mss != 0 || wscale != Segment::NO_SCALE).then(|| pair(mss.into(), wscale.into()));
        let stamps = (opts & Segment::TIMESTAMPS != 0).then(|| pair(tsval, tsecr));
        let options = (sack.len() as u64) << 4 | u64::from(handshake.is_some()) << 7;
        let what = head | options | u64::from(flags) << 16 | u64::from(opts) << 24 | u64::from(len) << 32;
        self.words.put([at.0, what, pair(beside, wnd), seq.0, ack(s)]);
        let blocks = sack.iter().map(|&(left, right)| pair(left as u32, right as u32));
        for word in handshake.into_iter().chain(stamps).chain(blocks) {
            self.words.put([word]);
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hasher({} flows, {})", self.flows.len(), self.hash())
    }
}

impl Watch for Hasher {
    const HEARS: Frequent = Frequent::NONE;

    #[inline(always)]
    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        let Event::Window { from, to, .. } = e else { return };
        if from != to {
            self.window(at, flow, side, to);
        }
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.packet(at, flow, kind(1, from) | u64::from(sends) << 8, wire, seg);
    }

    #[cold]
    fn dropped(&mut self, Dropped { at, flow, to, element, nth, why, seg, .. }: Dropped<'_>) {
        let why: u64 = match why {
            DropWhy::Queue => 0,
            DropWhy::Loss => 1,
            DropWhy::Script => 2,
            DropWhy::Early => 3,
        };
        self.packet(at, flow, kind(2, to) | why << 8, element, seg);
        self.flows[flow as usize].words.put([nth]);
    }

    #[inline(always)]
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, _: u8) {
        self.packet(at, flow, kind(3, to), wire, seg);
    }
}

/// A segment's acknowledgment, or 0.
#[inline(always)]
fn ack(s: &Segment) -> u64 {
    if s.has(Segment::ACK) {
        s.ack.0
    } else {
        0
    }
}

/// Two numbers in one word.
#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn kind(kind: u64, side: Side) -> u64 {
    match side {
        Side::Sender => kind,
        Side::Receiver => kind | 1 << 3,
    }
}
