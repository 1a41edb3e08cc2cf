//! Attacks on a host, each as a number of packets, with bounds on the packets that it sends and on the memory that it keeps.

use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{fixed::FixedSpec, StartupSpec};
use ackclock_tcp::time::Nanos;
use ackclock_wire::host::{Host, HostConfig};
use ackclock_wire::options::Timestamps;
use ackclock_wire::{Buffers, Header, Options, Secret};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

pub(crate) const SYN: u8 = 0x02;
const RST: u8 = 0x04;
pub(crate) const ACK: u8 = 0x10;
/// The victim's buffers, bytes.
pub(crate) const BUFFER: u64 = 1 << 20;
/// Half-open connections of the victim's listener, and connections that wait for the application.
pub(crate) const BACKLOG: usize = 64;
/// The attacker's first sequence number.
const ISN: u32 = 5_000;
/// The attacker's announced maximum segment size, bytes, in attacks that need no other.
pub(crate) const MSS: u16 = 1460;
const SCALE: u8 = 5;

/// An attack, and bounds on its damage.
pub(crate) struct Attack {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its packets; each sends about as many as it is told.
    pub(crate) run: fn(&mut dyn Victim, u64),
    /// The most answers: a number for all, and one for each thousand packets.
    pub(crate) answers: (u64, u64),
    /// The most bytes of heap that the victim, its buffers and this attacker hold.
    pub(crate) kept: isize,
}

/// A connection with full buffers, the listener, and the attacker's own buffers.
const USUAL: isize = BUFFER as isize + 300_000;
/// Ranges out of order: 64, and one for each 128 bytes of the window, 100 bytes each.
const RANGES: isize = 100 * (64 + BUFFER as isize / 128);
/// Segments of 48 data bytes, the least that a peer can ask for, 80 bytes each.
const SEGMENTS: isize = 80 * (BUFFER as isize / 48);
/// Segments that a full buffer makes.
const FULL: u64 = 800;

const fn attack(name: &'static str, run: fn(&mut dyn Victim, u64), answers: (u64, u64), kept: isize) -> Attack {
    Attack { name, run, answers, kept }
}

/// All attacks.
pub(crate) const ATTACKS: &[Attack] = &[
    attack("honest", honest, (0, 1000), USUAL),
    attack("syn-flood", syn_flood, (0, 1000), 300_000),
    attack("ack-flood-strangers", strangers, (300, 0), 200_000),
    attack("ack-flood-outside", outside_acks, (FULL, 0), USUAL),
    attack("ack-flood-duplicates", duplicates, (FULL, 0), USUAL),
    attack("ack-flood-unsent", unsent, (FULL, 0), USUAL),
    attack("data-outside", outside, (FULL, 1000), USUAL),
    attack("reset-guesses", resets, (10, 0), USUAL),
    attack("old-timestamps", old_stamps, (10, 1000), USUAL),
    attack("new-timestamps", new_stamps, (FULL, 0), USUAL),
    attack("zero-window", zero_window, (20, 17), USUAL),
    attack("window-by-bytes", window_by_bytes, (FULL, 0), USUAL),
    attack("tiny-mss", tiny_mss, (2 * BUFFER / 48, 11_000), USUAL + SEGMENTS),
    attack("sack-splits", sack_splits, (FULL, 0), USUAL),
    attack("sack-all-but-one", sack_all_but_one, (2 * BUFFER / 48, 0), USUAL + SEGMENTS),
    attack("pieces-upwards", pieces_upwards, (0, 1000), USUAL + RANGES),
    attack("pieces-downwards", pieces_downwards, (0, 1000), USUAL + RANGES),
    attack("pieces-anywhere", pieces_anywhere, (0, 1000), USUAL + RANGES),
    attack("pieces-again", pieces_again, (0, 1000), USUAL),
];

/// The attacked host with its application, as the attacker drives them.
pub(crate) trait Victim {
    /// A packet of the attacker arrives.
    fn hear(&mut self, header: &Header, payload: usize);
    /// Time passes; timers fire.
    fn pass(&mut self, time: Nanos);
    /// Waits until the victim has sent everything that it has to send.
    fn settle(&mut self);
    /// The number after the last byte that the victim sent.
    fn next(&self) -> SeqNum;
    /// The application takes the connection that the attacker opened.
    fn accept(&mut self);
    /// It writes as much as it can.
    fn write(&mut self);
    /// It reads everything.
    fn read(&mut self);
}

/// A host whose listener uses the stack of today's Linux, with a large initial window.
pub(crate) fn host() -> Host {
    let mut stack = Stack::named("linux-2025").expect("listed");
    stack.startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 700, ssthresh_segs: None });
    stack.options.timestamps = true;
    let mut host = Host::new(HostConfig::new([at(1, 7).ip()], 1500), Secret::new([7; 16]));
    let buffers = Buffers { send: BUFFER, receive: BUFFER };
    host.listen(at(1, 7), &stack, buffers, BACKLOG).expect("its address");
    host
}

/// The address 10.0.0.`last`. The victim is at 1 and listens at port 7.
pub(crate) fn at(last: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), port)
}

pub(crate) fn header(flags: u8, seq: SeqNum, ack: SeqNum) -> Header {
    Header {
        src: at(2, 4000),
        dst: at(1, 7),
        seq,
        ack,
        flags,
        reserved: 0,
        window: u16::MAX,
        urgent: 0,
        options: Options::default(),
        traffic_class: 0,
        hop_limit: 64,
        label: 0,
    }
}

impl Attack {
    /// The most answers to this number of packets.
    pub(crate) fn most_answers(&self, packets: u64) -> u64 {
        self.answers.0 + self.answers.1 * packets / 1000
    }
}

/// Opens a connection; returns the victim's first byte.
fn open(v: &mut dyn Victim, mss: u16, window: u16, stamps: bool) -> SeqNum {
    let stamps = stamps.then_some(Timestamps { value: 1 << 30, echo: 0 });
    let options = Options {
        mss: Some(mss),
        window_scale: Some(SCALE),
        sack_permitted: true,
        timestamps: stamps,
        ..Options::default()
    };
    v.hear(&Header { options, window, ..header(SYN, SeqNum(ISN), SeqNum(0)) }, 0);
    v.settle();
    let first = v.next();
    let options = Options { timestamps: stamps, ..Options::default() };
    v.hear(&Header { options, window, ..header(ACK, SeqNum(ISN + 1), first) }, 0);
    v.accept();
    first
}

fn plus(seq: SeqNum, bytes: u64) -> SeqNum {
    SeqNum(seq.0.wrapping_add(bytes as u32))
}

/// No attack: data in order, which the application reads.
fn honest(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, false);
    for i in 0..count {
        v.hear(&header(ACK, plus(SeqNum(ISN + 1), 1000 * i), first), 1000);
        v.read();
    }
}

/// SYNs from other addresses that nobody uses.
fn syn_flood(v: &mut dyn Victim, count: u64) {
    for i in 0..count {
        let src = SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + i as u32)), 1024 + (i % 60_000) as u16);
        let options = Options { mss: Some(MSS), sack_permitted: true, ..Options::default() };
        v.hear(&Header { src, options, ..header(SYN, SeqNum(i as u32), SeqNum(0)) }, 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// ACKs that belong to no connection.
fn strangers(v: &mut dyn Victim, count: u64) {
    for i in 0..count {
        let (src, dst) = (at(3, 1024 + (i % 60_000) as u16), at(1, 9));
        v.hear(&Header { src, dst, ..header(ACK, SeqNum(i as u32), SeqNum(i as u32)) }, 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// ACKs without data, outside the window.
fn outside_acks(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, false);
    for i in 0..count {
        v.hear(&header(ACK, plus(SeqNum(ISN + 1), 4 * BUFFER + 2 * i), first), 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// Data outside the window.
fn outside(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, false);
    for i in 0..count {
        v.hear(&header(ACK, plus(SeqNum(ISN + 1), 4 * BUFFER + 2 * i), first), 1);
        v.pass(Nanos::from_micros(10));
    }
}

/// Duplicate ACKs, while a full window is outstanding.
fn duplicates(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, false);
    v.write();
    for _ in 0..count {
        v.hear(&header(ACK, SeqNum(ISN + 1), first), 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// ACKs of data that was not sent.
fn unsent(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, false);
    v.write();
    for i in 0..count {
        v.hear(&header(ACK, SeqNum(ISN + 1), plus(first, 2 * BUFFER + i)), 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// RSTs at places in the window, none at its edge.
fn resets(v: &mut dyn Victim, count: u64) {
    open(v, MSS, u16::MAX, false);
    for i in 0..count {
        v.hear(&header(RST, plus(SeqNum(ISN + 1), 1 + i % 60_000), SeqNum(0)), 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// Segments whose timestamps are too old (PAWS).
fn old_stamps(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, true);
    for i in 0..count {
        let options = Options { timestamps: Some(Timestamps { value: 7, echo: i as u32 }), ..Options::default() };
        v.hear(&Header { options, ..header(ACK, SeqNum(ISN + 1), first) }, 100);
        v.pass(Nanos::from_micros(10));
    }
}

/// ACKs with ever newer timestamps, and echoes that the victim never sent.
fn new_stamps(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, true);
    v.write();
    for i in 0..count {
        let stamps = Timestamps { value: (1 << 30) + (i as u32) * 1000, echo: u32::MAX - 77 * i as u32 };
        let options = Options { timestamps: Some(stamps), ..Options::default() };
        v.hear(&Header { options, ..header(ACK, SeqNum(ISN + 1), first) }, 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// A window that stays closed, for 1 s a packet: a probe each minute.
fn zero_window(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, 0, false);
    v.write();
    for _ in 0..count {
        v.hear(&Header { window: 0, ..header(ACK, SeqNum(ISN + 1), first) }, 0);
        v.pass(Nanos::from_secs(1));
    }
}

/// A window that opens by 32 bytes with each ACK, the least that its scale allows.
fn window_by_bytes(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, 1, false);
    v.write();
    for i in 0..count {
        let window = 1 + (i % 60_000) as u16;
        v.hear(&Header { window, ..header(ACK, SeqNum(ISN + 1), first) }, 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// A maximum segment size of 1 byte (CVE-2019-11479), every ACK for one segment.
fn tiny_mss(v: &mut dyn Victim, count: u64) {
    let mut acked = open(v, 1, u16::MAX, false);
    v.write();
    for _ in 0..count {
        // No more than has arrived from the victim.
        acked = plus(acked, u64::from(v.next().0.wrapping_sub(acked.0).min(500)));
        v.hear(&header(ACK, SeqNum(ISN + 1), acked), 0);
        v.write();
        v.pass(Nanos::from_micros(10));
    }
}

/// ACKs whose SACK blocks are single bytes, none beside another (CVE-2019-11478): four new ones with each ACK.
fn sack_splits(v: &mut dyn Victim, count: u64) {
    let first = open(v, MSS, u16::MAX, false);
    v.write();
    for i in 0..count {
        let mut options = Options::default();
        for k in 0..4 {
            let left = plus(first, 1 + 2 * ((4 * i + k) % (BUFFER / 4)));
            options.sack.push(left, plus(left, 1));
        }
        v.hear(&Header { options, ..header(ACK, SeqNum(ISN + 1), first) }, 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// The smallest segments, all SACKed except the oldest (CVE-2019-11477), again and again.
fn sack_all_but_one(v: &mut dyn Victim, count: u64) {
    let first = open(v, 8, u16::MAX, false);
    v.write();
    v.settle();
    for i in 0..count {
        let mut options = Options::default();
        options.sack.push(plus(first, 8 + i % 500), v.next());
        v.hear(&Header { options, ..header(ACK, SeqNum(ISN + 1), first) }, 0);
        v.pass(Nanos::from_micros(10));
    }
}

/// Sends single bytes, none beside another, at these places of the window.
fn pieces(v: &mut dyn Victim, count: u64, place: impl Fn(u64) -> u64) {
    let first = open(v, MSS, u16::MAX, false);
    for i in 0..count {
        v.hear(&header(ACK, plus(SeqNum(ISN + 1), 1 + 2 * place(i)), first), 1);
        v.pass(Nanos::from_micros(10));
    }
}

const PLACES: u64 = BUFFER / 2 - 1;

fn pieces_upwards(v: &mut dyn Victim, count: u64) {
    pieces(v, count, |i| i % PLACES);
}

fn pieces_downwards(v: &mut dyn Victim, count: u64) {
    pieces(v, count, |i| PLACES - 1 - i % PLACES);
}

fn pieces_anywhere(v: &mut dyn Victim, count: u64) {
    pieces(v, count, |i| i * 7919 % PLACES);
}

/// 100 pieces, sent for ever.
fn pieces_again(v: &mut dyn Victim, count: u64) {
    pieces(v, count, |i| i * 7919 % 100);
}
