//! The payload, which the engine never sees: bytes by their offset in the stream.
//!
//! Source: RFC 9293 §3.8 (data is kept until it is acknowledged), §3.10.7.4 (the part of a segment that is accepted). A receive
//! store takes only the data that the engine took. So a segment that the engine refuses (for its timestamp, or because it is
//! outside the window) cannot overwrite accepted data, and if bytes arrive twice, the first ones stay (decision 0111).

use ackclock_tcp::connection::{Connection, Outcome, State};
use ackclock_tcp::event::Observer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use ackclock_tcp::units::Bytes;

/// Bytes at offsets; offsets that differ by the ring's length share a place.
struct Ring {
    /// A power of two.
    len: usize,
    /// Has the ring's length once there is a byte: an idle connection needs no memory.
    bytes: Box<[u8]>,
}

/// The data that is written but not acknowledged.
pub struct SendStore {
    ring: Ring,
    /// The offset of the next byte to be written.
    end: Offset,
}

/// The data that has arrived but is not read.
pub struct ReceiveStore {
    ring: Ring,
    /// The next byte to be read, and the end of the readable bytes.
    next: Offset,
    end: Offset,
    /// The part of the current segment that the engine already had.
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

    /// The position of an offset in the ring.
    fn at(&self, offset: Offset) -> usize {
        offset.0 as usize & (self.len - 1)
    }

    /// Writes at most a ring's length of bytes.
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

    /// Reads at most a ring's length of bytes, in two pieces.
    fn get(&self, at: Offset, len: usize) -> (&[u8], &[u8]) {
        // No bytes are requested before there are any.
        if self.bytes.is_empty() {
            return (&[], &[]);
        }
        let at = self.at(at);
        let first = len.min(self.len - at);
        (&self.bytes[at..at + first], &self.bytes[..len - first])
    }
}

impl SendStore {
    /// Creates a store for at least `len` unacknowledged bytes; its size is the next power of two.
    pub fn new(len: Bytes) -> Self {
        SendStore { ring: Ring::new(len), end: Offset::DATA }
    }

    /// The number of bytes that [`SendStore::write`] would take.
    pub fn room(&self, connection: &Connection) -> usize {
        use State::{CloseWait, Established, Listen, SynReceived, SynSent};
        if !matches!(connection.state(), Listen | SynSent | SynReceived | Established | CloseWait) {
            return 0;
        }
        (self.ring.len() - self.kept(connection)) as usize
    }

    /// The number of bytes that are written but not acknowledged.
    pub fn kept(&self, connection: &Connection) -> Bytes {
        self.end - Offset::DATA - connection.acked()
    }

    /// Takes as many of `bytes` as fit, and reports them to the engine; returns their number. With `more`, another write follows
    /// at once ([`Connection::write_more`]).
    pub fn write(&mut self, connection: &mut Connection, bytes: &[u8], more: bool) -> usize {
        let taken = &bytes[..bytes.len().min(self.room(connection))];
        self.ring.put(self.end, taken);
        self.end += taken.len() as u64;
        if more {
            connection.write_more(taken.len() as u64);
        } else {
            connection.write(taken.len() as u64);
        }
        taken.len()
    }

    /// Copies the bytes at `at`, which the engine requests in a segment, to `out`. Bytes that were never written are zero.
    pub fn copy(&self, at: Offset, out: &mut [u8]) {
        let end = at.0.saturating_add(out.len() as u64);
        let held = at >= Offset::DATA && end <= self.end.0 && at.0.saturating_add(self.ring.len()) >= self.end.0;
        debug_assert!(held, "the engine requests {at}..{end} of a store that ends at {}", self.end);
        if !held {
            return out.fill(0);
        }
        let (first, rest) = self.ring.get(at, out.len());
        out[..first.len()].copy_from_slice(first);
        out[first.len()..].copy_from_slice(rest);
    }
}

impl ReceiveStore {
    /// Creates the store of a connection with a receive buffer of `buffer` bytes. From now on, data is read only through this
    /// store.
    pub fn new(connection: &mut Connection, buffer: Bytes) -> Self {
        connection.read_by_hand();
        ReceiveStore { ring: Ring::new(buffer), next: Offset::DATA, end: Offset::DATA, held: Vec::new() }
    }

    /// Passes a segment with its payload to the engine, and keeps the part that the engine took; returns the outcome.
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
        // Data that arrived before a reset can still be read.
        self.end = self.end.max(Offset::DATA + connection.received());
        outcome
    }

    /// The segment, cut where this store lacks room for data that the engine would take. This never happens with the
    /// connection's own buffer size.
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

    /// Keeps the part of a payload at `left` that the engine took, except the part that it already had.
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

    /// The readable bytes, in two pieces.
    pub fn readable(&self) -> (&[u8], &[u8]) {
        self.ring.get(self.next, (self.end - self.next) as usize)
    }

    /// The first `bytes` of the readable bytes have been read.
    pub fn consume(&mut self, connection: &mut Connection, bytes: usize) {
        let bytes = (bytes as u64).min(self.end - self.next);
        self.next += bytes;
        connection.consume(bytes);
    }

    /// Reads into `out`; returns the number of bytes.
    pub fn read(&mut self, connection: &mut Connection, out: &mut [u8]) -> usize {
        let (first, rest) = self.readable();
        let (a, b) = (first.len().min(out.len()), rest.len().min(out.len().saturating_sub(first.len())));
        out[..a].copy_from_slice(&first[..a]);
        out[a..a + b].copy_from_slice(&rest[..b]);
        self.consume(connection, a + b);
        a + b
    }
}

/// The offset of a segment's payload: after a SYN, if it has one.
fn data_start(seg: &Segment) -> Offset {
    Offset(seg.seq.0.saturating_add(u64::from(seg.has(Segment::SYN))))
}
