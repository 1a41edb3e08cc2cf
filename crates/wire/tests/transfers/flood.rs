//! A listener under a flood: its memory is bounded, and a client with a real address still connects.

use crate::lan::{all, at, config, give, read, talk, BUFFERS};
use crate::memory::live_bytes;
use crate::net::Rng;
use ackclock_tcp::connection::State;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Arrival, Host, Id};
use ackclock_wire::options::Timestamps;
use ackclock_wire::{Buffers, Header, Options, Packet, Secret};

const SERVER: &str = "10.1.0.2:80";
const BACKLOG: usize = 128;

struct Flood {
    server: Host,
    rng: Rng,
    now: Time,
    /// Packets that the server sent to forged addresses.
    sent: u64,
    /// Its packets to the client.
    kept: Vec<Vec<u8>>,
}

impl Flood {
    fn new() -> Flood {
        let mut server = Host::new(config(2), Secret::new([9; 16]));
        let buffers = Buffers { send: 1 << 20, receive: 1 << 20 };
        server.listen(at(SERVER), &Stack::named("linux-2025").unwrap(), buffers, BACKLOG).unwrap();
        Flood { server, rng: Rng(1), now: Time(1_000_000_000), sent: 0, kept: vec![] }
    }

    /// SYNs from nonexistent addresses, a microsecond apart.
    fn syns(&mut self, count: u64) {
        for _ in 0..count {
            let r = self.rng.next();
            let options = Options {
                mss: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
                timestamps: Some(Timestamps { value: r as u32, echo: 0 }),
                ..Options::default()
            };
            let header = Header {
                src: ([172, 16 + (r >> 60) as u8, (r >> 8) as u8, r as u8], (r >> 16) as u16).into(),
                dst: at(SERVER),
                seq: SeqNum((r >> 32) as u32),
                ack: SeqNum(0),
                flags: Segment::SYN,
                reserved: 0,
                window: 0xffff,
                urgent: 0,
                options,
                traffic_class: 0,
                hop_limit: 60,
                label: 0,
            };
            let packet = Packet { header, option_bytes: &[], payload: &[], train: 1 };
            self.server.on_packet(self.now, &packet, &mut ());
            self.now += Nanos::from_micros(1);
            self.server.on_timer(self.now, &mut ());
            self.sort();
        }
    }

    fn sort(&mut self) {
        for bytes in all(&mut self.server, self.now) {
            match read(&bytes).header.dst.ip() == at("10.1.0.1:1").ip() {
                true => self.kept.push(bytes),
                false => self.sent += 1,
            }
        }
    }

    /// Opens a connection from `client` during the flood, with a round-trip time of 30 ms.
    fn connect(&mut self, client: &mut Host, stack: &Stack) -> (Id, Id) {
        let id = client.connect(self.now, at("10.1.0.1:0"), at(SERVER), stack, BUFFERS).unwrap();
        let syn = all(client, self.now);
        give(&mut self.server, self.now, &syn[0]);
        self.sort();
        self.syns(30_000);
        let answer = std::mem::take(&mut self.kept);
        assert_eq!(answer.len(), 1);
        give(client, self.now, &answer[0]);
        assert_eq!(client.endpoint(id).unwrap().state(), State::Established);
        talk(client, &mut self.server, self.now);
        (id, self.server.accept(at(SERVER)).expect("a connection"))
    }
}

fn client() -> Host {
    Host::new(config(1), Secret::new([4; 16]))
}

#[test]
fn a_million_syns_from_forged_addresses_cost_bounded_memory_and_a_client_still_connects() {
    let (before, mut flood) = (live_bytes(), Flood::new());
    flood.syns(1_000);
    let early = live_bytes() - before;
    flood.syns(999_000);
    let late = live_bytes() - before;
    assert!(late < 1 << 20 && late < early + 4096, "{early} bytes after 1,000 SYNs, {late} after a million");
    assert_eq!(flood.server.connections(), BACKLOG);
    assert_eq!(flood.server.counters().syncookies_sent, 1_000_000 - BACKLOG as u64);
    assert!(flood.sent >= 1_000_000 && flood.sent < 1_001_000, "{} packets of its own", flood.sent);

    let mut client = client();
    let (id, other) = flood.connect(&mut client, &Stack::named("linux-2025").unwrap());
    let info = flood.server.endpoint(other).unwrap().connection().info();
    assert_eq!(info.rtt, Some(Nanos::from_millis(30)), "the timestamp tells when the answer was sent");
    assert!(info.options.timestamps && info.options.sack && info.rcv_wscale > 0, "{info:?}");
    let bytes: Vec<u8> = (0..9_000).map(|i| (i % 251) as u8).collect();
    client.endpoint_mut(id).unwrap().write(&bytes);
    talk(&mut client, &mut flood.server, flood.now);
    assert_eq!(flood.server.endpoint(other).unwrap().readable().0, bytes);
}

#[test]
fn a_client_without_options_gets_its_connection_by_a_cookie_too() {
    let mut flood = Flood::new();
    flood.syns(200);
    let (mut client, mut stack) = (client(), Stack::named("reno").unwrap());
    stack.options.timestamps = false;
    let (id, other) = flood.connect(&mut client, &stack);
    let end = flood.server.endpoint(other).unwrap().connection();
    assert_eq!(end.info().rtt, None, "nobody knows when the answer was sent");
    flood.server.endpoint_mut(other).unwrap().write(&[5; 3000]);
    talk(&mut client, &mut flood.server, flood.now);
    assert_eq!(client.endpoint(id).unwrap().readable().0, [5; 3000]);
}

#[test]
fn a_forged_cookie_opens_nothing_and_during_a_flood_nothing_is_reset() {
    let mut flood = Flood::new();
    let mut client = client();
    let ack = |flood: &mut Flood, client: &mut Host, change: u32| {
        let id = client
            .connect(flood.now, at("10.1.0.1:0"), at(SERVER), &Stack::named("linux-2025").unwrap(), BUFFERS)
            .unwrap();
        let syn = all(client, flood.now);
        give(&mut flood.server, flood.now, &syn[0]);
        flood.sort();
        let answer = flood.kept.pop().unwrap();
        give(client, flood.now, &answer);
        let ack = all(client, flood.now).remove(0);
        client.abort(id);
        all(client, flood.now);
        let packet = read(&ack);
        let header = Header { ack: SeqNum(packet.header.ack.0.wrapping_add(change)), ..packet.header };
        flood.server.on_packet(flood.now, &Packet { header, ..packet }, &mut ())
    };
    flood.syns(200);
    assert_eq!(ack(&mut flood, &mut client, 1), Arrival::Ignored);
    assert_eq!(ack(&mut flood, &mut client, 1 << 20), Arrival::Ignored);
    assert_eq!((flood.server.counters().syncookies_failed, flood.server.accept(at(SERVER))), (2, None));
    assert!(matches!(ack(&mut flood, &mut client, 0), Arrival::Of(..)));
    // Long after the flood a stray ACK is reset again.
    flood.now += Nanos::from_secs(1_000);
    flood.server.on_timer(flood.now, &mut ());
    all(&mut flood.server, flood.now);
    for _ in 0..10 {
        flood.now += Nanos::from_secs(100);
        flood.server.on_timer(flood.now, &mut ());
        all(&mut flood.server, flood.now);
    }
    assert_eq!(flood.server.connections(), 1, "the half-open ones have been given up");
    assert!(flood.server.accept(at(SERVER)).is_some());
    assert!(matches!(ack(&mut flood, &mut client, 1 << 20), Arrival::Of(..)), "a half-open connection has it");
    assert_eq!(flood.server.accept(at(SERVER)), None);
    let stray = Header { src: at("10.1.0.1:9"), ..some_ack() };
    let packet = Packet { header: stray, option_bytes: &[], payload: &[], train: 1 };
    assert_eq!(flood.server.on_packet(flood.now, &packet, &mut ()), Arrival::Answered);
}

#[test]
fn answers_that_nobody_fetches_are_dropped() {
    let mut server = Host::new(config(2), Secret::new([9; 16]));
    server.listen(at(SERVER), &Stack::named("linux-2025").unwrap(), BUFFERS, 1).unwrap();
    let arrivals: Vec<_> =
        (1..2_000).map(|port| server.on_packet(Time(1), &syn(([10, 1, 0, 1], port)), &mut ())).collect();
    let answered = arrivals.iter().filter(|a| **a == Arrival::Answered).count();
    assert_eq!((answered, all(&mut server, Time(1)).len()), (256, 257), "and one connection is half open");
}

#[test]
fn a_syn_from_many_hosts_or_none_is_dropped() {
    let mut server = Host::new(config(2), Secret::new([9; 16]));
    server.listen(at(SERVER), &Stack::named("linux-2025").unwrap(), BUFFERS, 4).unwrap();
    for from in [[224, 0, 0, 1], [255, 255, 255, 255], [0, 0, 0, 0]] {
        assert_eq!(server.on_packet(Time(1), &syn((from, 9)), &mut ()), Arrival::Ignored, "{from:?}");
    }
    assert_eq!((server.connections(), server.counters().listen_drops), (0, 3), "RFC 9293 §3.9.2.3");
    assert!(matches!(server.on_packet(Time(1), &syn(([10, 1, 0, 1], 9)), &mut ()), Arrival::Of(..)));
}

fn syn(from: ([u8; 4], u16)) -> Packet<'static> {
    let header = Header { src: from.into(), flags: Segment::SYN, ack: SeqNum(0), ..some_ack() };
    Packet { header, option_bytes: &[], payload: &[], train: 1 }
}

#[test]
fn resets_have_a_limit() {
    let mut flood = Flood::new();
    for port in 1..5_000 {
        let packet = Packet {
            header: Header { src: ([10, 9, 9, 9], port).into(), ..some_ack() },
            option_bytes: &[],
            payload: &[],
            train: 1,
        };
        flood.server.on_packet(flood.now, &packet, &mut ());
        flood.sort();
    }
    assert_eq!((flood.sent, flood.server.counters().resets_sent), (200, 200));
}

fn some_ack() -> Header {
    Header {
        src: at("10.9.9.9:9"),
        dst: at(SERVER),
        seq: SeqNum(77),
        ack: SeqNum(88),
        flags: Segment::ACK,
        reserved: 0,
        window: 100,
        urgent: 0,
        options: Options::default(),
        traffic_class: 0,
        hop_limit: 64,
        label: 0,
    }
}
