//! One transfer between two endpoints with real packets, as captured at its sender.

use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Initial, Writing};
use std::collections::BTreeMap;
use std::error::Error;

/// Bytes kept of each packet: both headers with all options.
pub(crate) const KEPT: usize = 80;
const MTU: u32 = 1500;
const ONE_WAY: Nanos = Nanos(10_000_000);
/// The extra delay of a late packet.
const LATE: Nanos = Nanos(3_000_000);
/// The transmission time of a full packet at 100 Mb/s.
const SLOT: Nanos = Nanos(120_000);
/// The capacity of the queue.
const QUEUE: Nanos = Nanos(20_000_000);

/// A captured packet.
#[derive(Clone, Copy)]
pub(crate) struct Captured {
    /// Time since the transfer's beginning.
    pub(crate) at: Time,
    pub(crate) len: u16,
    pub(crate) kept: u8,
    pub(crate) head: [u8; KEPT],
    /// Whether the receiver sent it.
    pub(crate) back: bool,
}

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

struct Path {
    rng: Rng,
    free: Time,
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    count: u64,
    ids: [u16; 2],
    captured: Vec<Captured>,
}

/// The first `packets` packets of an endless transfer: 0.2 % of its packets are lost besides the queue's drops, and 0.5 % are
/// late.
pub(crate) fn transfer(seed: u64, packets: usize) -> Result<Vec<Captured>, Box<dyn Error>> {
    let stack = Stack::named("linux-2025").ok_or("there is no such stack")?;
    let (a, b) = ("10.0.0.1:1000".parse()?, "10.0.0.2:80".parse()?);
    let border = |from, to, isn| {
        let initial = Initial { isn: SeqNum(isn), timestamp_offset: 7, label: 1 };
        Border::new(from, to, MTU, initial, Dialect::Linux).map_err(|e| format!("{e:?}"))
    };
    let buffers = Buffers { send: 4 << 20, receive: 4 << 20 };
    let isn = (seed as u32).wrapping_mul(0x9e37_79b9);
    let mut ends = [
        Endpoint::connect(&stack, border(a, b, isn)?, buffers),
        Endpoint::listen(&stack, border(b, a, !isn)?, buffers),
    ];
    let mut path =
        Path { rng: Rng(seed), free: Time::ZERO, wire: BTreeMap::new(), count: 0, ids: [0; 2], captured: vec![] };
    let mut now = Time::ZERO;
    say(&mut ends, 0, now, &mut path);
    while path.captured.len() < packets {
        let next = ends.iter().filter_map(Endpoint::next_timer).chain(path.wire.keys().next().map(|k| k.0)).min();
        now = next.ok_or("the transfer does not advance")?.max(now);
        while let Some(entry) = path.wire.first_entry().filter(|e| e.key().0 <= now) {
            let (end, bytes) = entry.remove();
            if end == 0 {
                path.capture(now, &bytes, true);
            }
            if let Ok(packet) = parse(&bytes, Checksums::Trust) {
                ends[end].on_packet(now, &packet, &mut ());
            }
            say(&mut ends, end, now, &mut path);
        }
        for end in 0..2 {
            if ends[end].next_timer().is_some_and(|t| t <= now) {
                ends[end].on_timer(now, &mut ());
                say(&mut ends, end, now, &mut path);
            }
        }
    }
    path.captured.truncate(packets);
    Ok(path.captured)
}

/// Its application reads everything and writes as much as fits; then it sends.
fn say(ends: &mut [Endpoint; 2], end: usize, now: Time, path: &mut Path) {
    let this = &mut ends[end];
    let (first, rest) = this.readable();
    let readable = first.len() + rest.len();
    this.consume(readable);
    if end == 0 {
        while this.write(&[0x5a; 1 << 14]) > 0 {}
    }
    let mut buf = [0; 2048];
    while let Ok(Some(written)) = this.poll_transmit(now, Writing::Whole, &mut buf, &mut ()) {
        // An identification that increments for each end, as in Linux.
        path.ids[end] = path.ids[end].wrapping_add(1).max(1);
        buf[4..6].copy_from_slice(&path.ids[end].to_be_bytes());
        path.send(now, end, &buf[..written.len]);
    }
}

impl Path {
    fn send(&mut self, now: Time, from: usize, bytes: &[u8]) {
        if from == 0 {
            self.capture(now, bytes, false);
        }
        let mut at = now + ONE_WAY;
        if from == 0 {
            let begins = self.free.max(now);
            if begins.since(now) > QUEUE || self.rng.below(500) == 0 {
                return;
            }
            self.free = begins + SLOT;
            at = self.free + ONE_WAY;
            if self.rng.below(200) == 0 {
                at += LATE;
            }
        }
        self.count += 1;
        self.wire.insert((at, self.count), (1 - from, bytes.to_vec()));
    }

    fn capture(&mut self, at: Time, bytes: &[u8], back: bool) {
        let mut head = [0; KEPT];
        let kept = bytes.len().min(KEPT);
        head[..kept].copy_from_slice(&bytes[..kept]);
        self.captured.push(Captured { at, len: bytes.len() as u16, kept: kept as u8, head, back });
    }
}
