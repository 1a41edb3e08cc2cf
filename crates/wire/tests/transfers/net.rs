//! Two endpoints and a virtual wire that carries bytes: every packet can be lost, late or duplicated independently.

use ackclock_tcp::connection::State;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{offload, parse, Border, Buffers, Checksums, Dialect, Endpoint, Initial, Packet, Writing, Written};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use xxhash_rust::xxh3::Xxh3;

/// SplitMix64 (Steele, Lea & Flood 2014): one stream for each wire.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    fn percent(&mut self, p: u64) -> bool {
        self.below(100) < p
    }
}

/// The wire's impairments, in percent of packets, in each direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Harm {
    pub(crate) lost: u64,
    /// Delayed by a random time of up to one and a half round trips.
    pub(crate) late: u64,
    pub(crate) doubled: u64,
}

/// The transfer, and the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) ipv6: bool,
    /// Bytes sent by the connecting end, and by the listening one.
    pub(crate) bytes: [u64; 2],
    /// How far below 2³² both sequences begin.
    pub(crate) below: u32,
    pub(crate) buffer: u64,
    pub(crate) delay: Nanos,
    pub(crate) harm: Harm,
    pub(crate) writing: Writing,
    pub(crate) seed: u64,
}

pub(crate) const MTU: u32 = 1500;
/// The stream: this table repeated. Its length does not divide any buffer's, so that a misplaced byte is detected.
const TABLE: usize = 65_521;

/// One end's application: it writes its part of the stream, and hashes the data that it reads.
struct App {
    to_write: u64,
    written: u64,
    read: u64,
    hash: Xxh3,
}

pub(crate) struct Net {
    pub(crate) ends: [Endpoint; 2],
    apps: [App; 2],
    pub(crate) now: Time,
    setting: Setting,
    rng: Rng,
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    count: u64,
    table: Vec<u8>,
    buf: Vec<u8>,
    /// Packets sent, the number of trains among them, and how often the sequence numbers of an end's packets wrapped.
    pub(crate) sent: [u64; 2],
    pub(crate) trains: [u64; 2],
    pub(crate) wraps: [u32; 2],
    last: [u32; 2],
    /// The path's MTU, with the time from which it holds; empty: any. Packets that are too big are dropped.
    pub(crate) path: Vec<(Nanos, usize)>,
    /// Whether the sender is not told.
    pub(crate) silent: bool,
    /// Packets that were too big.
    pub(crate) too_big: u64,
}

pub(crate) fn addresses(ipv6: bool) -> [SocketAddr; 2] {
    let texts = if ipv6 { ["[fd00::1]:40000", "[fd00::2]:80"] } else { ["10.1.0.1:40000", "10.1.0.2:80"] };
    texts.map(|t| t.parse().unwrap())
}

impl Net {
    pub(crate) fn new(stack: &Stack, setting: Setting) -> Net {
        let [a, b] = addresses(setting.ipv6);
        // Both clocks also wrap, a little later.
        let initial = |extra: u32| Initial {
            isn: SeqNum(0u32.wrapping_sub(setting.below)),
            timestamp_offset: 0u32.wrapping_sub(100 + extra),
            label: 0xfffe,
        };
        let buffers = Buffers { send: setting.buffer, receive: setting.buffer };
        let border = |from, to, extra, dialect| Border::new(from, to, MTU, initial(extra), dialect).unwrap();
        let ends = [
            Endpoint::connect(stack, border(a, b, 0, Dialect::Linux), buffers),
            Endpoint::listen(stack, border(b, a, 150, Dialect::FreeBsd), buffers),
        ];
        let mut rng = Rng(setting.seed);
        let table = (0..TABLE).map(|_| rng.next() as u8).collect();
        let apps = setting.bytes.map(|to_write| App { to_write, written: 0, read: 0, hash: Xxh3::new() });
        Net {
            ends,
            apps,
            now: Time::ZERO,
            setting,
            rng,
            wire: BTreeMap::new(),
            count: 0,
            table,
            buf: vec![0; 1 << 17],
            sent: [0; 2],
            trains: [0; 2],
            wraps: [0; 2],
            last: [0; 2],
            path: vec![],
            silent: false,
            too_big: 0,
        }
    }

    /// Runs until both have received everything and have closed; panics if nothing more can happen before that.
    pub(crate) fn run(&mut self) {
        (0..2).for_each(|e| self.say(e));
        while !self.finished() {
            let timers = self.ends.iter().filter_map(Endpoint::next_timer);
            let next = timers.chain(self.wire.keys().next().map(|k| k.0)).min();
            self.now = next.unwrap_or_else(|| panic!("nothing more happens: {}", self.describe())).max(self.now);
            assert!(self.now < Time(36_000_000_000_000), "ten hours: {}", self.describe());
            while let Some(entry) = self.wire.first_entry().filter(|e| e.key().0 <= self.now) {
                let (end, bytes) = entry.remove();
                self.arrive(end, &bytes);
            }
            for e in 0..2 {
                if self.ends[e].next_timer().is_some_and(|t| t <= self.now) {
                    self.ends[e].on_timer(self.now, &mut ());
                    self.say(e);
                }
            }
        }
    }

    fn finished(&self) -> bool {
        let over = |e: &Endpoint| matches!(e.state(), State::Closed | State::TimeWait);
        self.ends.iter().all(over)
    }

    fn arrive(&mut self, end: usize, bytes: &[u8]) {
        let packet = self.parsed(bytes);
        assert_eq!(
            [packet.header.dst, packet.header.src],
            [self.ends[end].border().local(), self.ends[end].border().remote()]
        );
        assert_eq!(packet.header.malformed(), None);
        self.ends[end].on_packet(self.now, &packet, &mut ());
        self.work(end);
        self.say(end);
    }

    fn parsed<'a>(&self, bytes: &'a [u8]) -> Packet<'a> {
        match self.setting.writing {
            Writing::Whole => parse(bytes, Checksums::Verify).expect("what was written can be read"),
            Writing::Offload => offload::parse(bytes).expect("what was written can be read"),
        }
    }

    /// The application reads and writes as much as possible, and closes when it has written everything.
    fn work(&mut self, end: usize) {
        let (e, app) = (&mut self.ends[end], &mut self.apps[end]);
        let (first, rest) = e.readable();
        app.hash.update(first);
        app.hash.update(rest);
        let n = first.len() + rest.len();
        app.read += n as u64;
        e.consume(n);
        while app.written < app.to_write {
            let at = (app.written % TABLE as u64) as usize;
            let left = usize::try_from(app.to_write - app.written).unwrap_or(usize::MAX);
            let n = e.write(&self.table[at..TABLE.min(at.saturating_add(left))]);
            if n == 0 {
                return;
            }
            app.written += n as u64;
        }
        // An end without data closes when its peer has sent everything. A close before the end of the handshake would end it.
        let open = !matches!(e.state(), State::SynSent | State::Listen);
        if open && (app.to_write > 0 || e.is_at_end()) {
            e.close();
        }
    }

    fn say(&mut self, end: usize) {
        self.work(end);
        let mut buf = std::mem::take(&mut self.buf);
        let head = if self.setting.writing == Writing::Offload { offload::LEN } else { 0 };
        while let Some(w) =
            self.ends[end].poll_transmit(self.now, self.setting.writing, &mut buf[head..], &mut ()).unwrap()
        {
            if head > 0 {
                buf[..head].copy_from_slice(&offload::VnetHeader::of(&w).to_bytes());
            }
            self.check(end, &w, &buf[head..head + w.len]);
            if !self.is_too_big(end, &w, &buf[head..]) {
                self.transmit(end, &buf[..head + w.len]);
            }
        }
        self.buf = buf;
    }

    /// A router on the path drops packets that do not fit, and reports it immediately.
    fn is_too_big(&mut self, end: usize, w: &Written, packet: &[u8]) -> bool {
        let takes = self.path.iter().rev().find(|p| Time::ZERO + p.0 <= self.now).map_or(usize::MAX, |p| p.1);
        if w.len <= takes {
            return false;
        }
        self.too_big += 1;
        if !self.silent {
            let seq = u32::from_be_bytes(packet[w.tcp_at + 4..w.tcp_at + 8].try_into().unwrap());
            self.ends[end].on_too_big(self.now, SeqNum(seq), takes as u32);
        }
        true
    }

    fn check(&mut self, end: usize, w: &Written, packet: &[u8]) {
        let payload = w.len - w.payload_at;
        let each = if w.segment_len > 0 { usize::from(w.segment_len) } else { payload };
        assert!(w.payload_at + each <= MTU as usize, "a packet of {} bytes", w.payload_at + each);
        self.sent[end] += 1;
        self.trains[end] += u64::from(w.segment_len > 0);
        let seq = u32::from_be_bytes(packet[w.tcp_at + 4..w.tcp_at + 8].try_into().unwrap());
        // Only forwards: a retransmission from before the wrap is not a wrap.
        if (seq.wrapping_sub(self.last[end]) as i32) > 0 || self.sent[end] == 1 {
            self.wraps[end] += u32::from(seq < self.last[end]);
            self.last[end] = seq;
        }
    }

    fn transmit(&mut self, from: usize, bytes: &[u8]) {
        let Harm { lost, late, doubled } = self.setting.harm;
        if self.rng.percent(lost) {
            return;
        }
        let delay = self.setting.delay;
        for _ in 0..1 + u64::from(self.rng.percent(doubled)) {
            let extra = if self.rng.percent(late) { self.rng.below(3 * delay.0) } else { 0 };
            self.count += 1;
            self.wire.insert((self.now + delay + Nanos(extra), self.count), (1 - from, bytes.to_vec()));
        }
    }

    /// Each end's hash of the bytes it read, and the expected one.
    pub(crate) fn hashes(&self) -> [(u64, u64); 2] {
        [0, 1].map(|end| {
            let mut want = Xxh3::new();
            let mut left = self.setting.bytes[1 - end];
            while left > 0 {
                let n = left.min(TABLE as u64);
                want.update(&self.table[..n as usize]);
                left -= n;
            }
            (self.apps[end].hash.digest(), want.digest())
        })
    }

    /// Panics unless each end read exactly the bytes that the other wrote.
    pub(crate) fn assert_equal(&self, what: &str) {
        for (end, (got, want)) in self.hashes().into_iter().enumerate() {
            let bytes = (self.apps[end].read, self.setting.bytes[1 - end]);
            assert!(
                got == want && bytes.0 == bytes.1,
                "{what}: end {end} read {} of {} bytes, hash {got:x}, not {want:x}",
                bytes.0,
                bytes.1
            );
        }
    }

    fn describe(&self) -> String {
        let end = |e: usize| {
            format!("{:?}, {} written, {} read", self.ends[e].state(), self.apps[e].written, self.apps[e].read)
        };
        format!("at {}: {} | {}", self.now, end(0), end(1))
    }
}
