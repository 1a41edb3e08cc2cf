//! The payload that the engine never sees: bytes by their offset in the stream.
//!
//! Source: RFC 9293 §3.8 (what was sent is kept until it is acknowledged), §3.10.7.4 (what is taken of a segment).
//! A receive store takes what the engine took, nothing else, so that a segment which the engine refuses (for its timestamp,
//! or because it lies outside the window) cannot overwrite what it had accepted; and of bytes that come twice the first
//! ones stay (decision 0111).

use ackclock_tcp::connection::{Connection, Outcome, State};
use ackclock_tcp::event::Observer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use ackclock_tcp::units::Bytes;

/// Bytes that stand at offsets; two whole rings apart they share a place.
struct Ring {
    /// A power of two.
    len: usize,
    /// As long as that once there is a byte: a connection that carries nothing keeps nothing.
    bytes: Box<[u8]>,
}

/// What was written and is not acknowledged.
pub struct SendStore {
    ring: Ring,
    /// Where the next byte will stand.
    end: Offset,
}

/// What has arrived and is not read.
pub struct ReceiveStore {
    ring: Ring,
    /// The next byte to be read, and the end of what can be.
    next: Offset,
    end: Offset,
    /// What the engine had of the segment at hand, before it saw it.
    held: Vec<(Offset, Offset)>,
}

impl Ring {
    fn new(len: Bytes) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX).max(1).next_power_of_two();
        Ring { len, bytes: Box::default() }
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    /// The place of an offset.
    #[inline]
    fn at(&self, offset: Offset) -> usize {
        offset.0 as usize & (self.len - 1)
    }

    /// Puts at most a ring's length of bytes in.
    fn put(&mut self, at: Offset, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.bytes.is_empty() {
            self.bytes = vec![0; self.len].into_boxed_slice();
        }
        let at = self.at(at);
        let (first, rest) = bytes.split_at(bytes.len().min(self.len - at));
        self.bytes[at..at + first.len()].copy_from_slice(first);
        self.bytes[..rest.len()].copy_from_slice(rest);
    }

    /// At most a ring's length of bytes, in two pieces.
    fn get(&self, at: Offset, len: usize) -> (&[u8], &[u8]) {
        // Nobody asks for bytes before there are any.
        if self.bytes.is_empty() {
            return (&[], &[]);
        }
        let at = self.at(at);
        let first = len.min(self.len - at);
        (&self.bytes[at..at + first], &self.bytes[..len - first])
    }
}

impl SendStore {
    /// For at least `len` bytes that are not acknowledged: the next power of two.
    pub fn new(len: Bytes) -> Self {
        SendStore { ring: Ring::new(len), end: Offset::DATA }
    }

    /// How many bytes [`SendStore::write`] would take.
    pub fn room(&self, connection: &Connection) -> usize {
        use State::{CloseWait, Established, Listen, SynReceived, SynSent};
        if !matches!(connection.state(), Listen | SynSent | SynReceived | Established | CloseWait) {
            return 0;
        }
        let kept = self.end - Offset::DATA - connection.acked();
        (self.ring.len() - kept) as usize
    }

    /// Takes as many of `bytes` as there is room for, and tells the engine of them; returns how many.
    pub fn write(&mut self, connection: &mut Connection, bytes: &[u8]) -> usize {
        let taken = &bytes[..bytes.len().min(self.room(connection))];
        self.ring.put(self.end, taken);
        self.end += taken.len() as u64;
        connection.write(taken.len() as u64);
        taken.len()
    }

    /// Copies what stands at `at`, which the engine asks for in a segment, to `out`. What was never written is zero.
    pub fn copy(&self, at: Offset, out: &mut [u8]) {
        let end = at.0.saturating_add(out.len() as u64);
        let held = at >= Offset::DATA && end <= self.end.0 && at.0.saturating_add(self.ring.len()) >= self.end.0;
        debug_assert!(held, "the engine asks for {at}..{end} of a store that ends at {}", self.end);
        if !held {
            return out.fill(0);
        }
        let (first, rest) = self.ring.get(at, out.len());
        out[..first.len()].copy_from_slice(first);
        out[first.len()..].copy_from_slice(rest);
    }
}

impl ReceiveStore {
    /// For a connection that was made with a receive buffer of `buffer` bytes. It reads by hand from now on: by this store.
    pub fn new(connection: &mut Connection, buffer: Bytes) -> Self {
        connection.read_by_hand();
        ReceiveStore { ring: Ring::new(buffer), next: Offset::DATA, end: Offset::DATA, held: Vec::new() }
    }

    /// Hands a segment with its payload to the engine, and keeps what the engine took of it: what it answers.
    pub fn on_segment<O: Observer>(
        &mut self,
        connection: &mut Connection,
        now: Time,
        seg: &Segment,
        payload: &[u8],
        obs: &mut O,
    ) -> Outcome {
        let seg = self.within_room(connection, seg, payload);
        let left = data_start(&seg);
        self.held.clear();
        if let (true, Some(receiver)) = (seg.len > 0, connection.receiver()) {
            let right = left.0.saturating_add(u64::from(seg.len));
            self.held.extend(receiver.out_of_order_from(left).take_while(|(from, _)| from.0 < right));
        }
        let outcome = connection.on_segment(now, &seg, obs);
        if outcome.bytes > 0 {
            self.keep(&outcome, left, payload);
        }
        // What had arrived before a reset can still be read.
        self.end = self.end.max(Offset::DATA + connection.received());
        outcome
    }

    /// The segment, cut off where this store has no place for what the engine would take. With the connection's own
    /// buffer that never happens.
    fn within_room(&self, connection: &Connection, seg: &Segment, payload: &[u8]) -> Segment {
        let left = data_start(seg);
        let edge = connection.receiver().map_or(u64::MAX, |r| r.right_edge().0);
        let room = self.next.0.saturating_add(self.ring.len());
        let has = u64::from(seg.len).min(payload.len() as u64);
        let fits = if left.0.saturating_add(has).min(edge) <= room { has } else { room.saturating_sub(left.0) };
        if fits == u64::from(seg.len) {
            return *seg;
        }
        Segment { len: fits as u32, flags: seg.flags & !Segment::FIN, ..*seg }
    }

    /// Keeps what the engine took of a payload that stands at `left`, but for what it had.
    fn keep(&mut self, taken: &Outcome, left: Offset, payload: &[u8]) {
        let (mut at, mut rest) = (taken.from, u64::from(taken.bytes));
        for &(held, held_end) in self.held.iter().chain(&[(Offset(u64::MAX), Offset(u64::MAX))]) {
            let end = held.min(at + rest);
            if at < end {
                rest -= end - at;
                let new = payload.get((at.0 - left.0) as usize..(end.0 - left.0) as usize);
                debug_assert!(new.is_some(), "{taken:?} of {} bytes at {left}", payload.len());
                self.ring.put(at, new.unwrap_or_default());
            }
            at = at.max(held_end);
        }
    }

    /// What can be read, in two pieces.
    pub fn readable(&self) -> (&[u8], &[u8]) {
        self.ring.get(self.next, (self.end - self.next) as usize)
    }

    /// The first `bytes` of what can be read have been.
    pub fn consume(&mut self, connection: &mut Connection, bytes: usize) {
        let bytes = (bytes as u64).min(self.end - self.next);
        self.next += bytes;
        connection.consume(bytes);
    }

    /// Reads into `out`; returns how many bytes.
    pub fn read(&mut self, connection: &mut Connection, out: &mut [u8]) -> usize {
        let (first, rest) = self.readable();
        let (a, b) = (first.len().min(out.len()), rest.len().min(out.len().saturating_sub(first.len())));
        out[..a].copy_from_slice(&first[..a]);
        out[a..a + b].copy_from_slice(&rest[..b]);
        self.consume(connection, a + b);
        a + b
    }
}

/// Where a segment's payload stands: behind a SYN, if it has one.
fn data_start(seg: &Segment) -> Offset {
    Offset(seg.seq.0.saturating_add(u64::from(seg.has(Segment::SYN))))
}
