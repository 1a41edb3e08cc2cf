//! A scenario with real TCPs at its ends. Counts and invariants only: this machine may be busy.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_live::error::LiveError;
use ackclock_live::namespace::Namespace;
use ackclock_live::path::{prepare, run, Choice, Options, Ran};
use ackclock_live::tun::Tun;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{parse, Checksums};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

const LOSSY: &str = r#"
[run]
duration = "5 s"
[[link]]
from = "S"
to = "D"
rate = "20 Mbps"
delay = "10 ms"
queue = "60 packets"
elements = [{ kind = "bernoulli", p = 0.01, only = "data" }]
back = { elements = [] }
[[flow]]
from = "S"
to = "D"
stack = "linux-2025"
window = "1 MB"
"#;

/// Whether this machine can run the test; the first line says so.
fn running() -> bool {
    let missing = Namespace::new().and_then(|namespace| Tun::new(&namespace, "tun0", false)).err();
    match &missing {
        None => println!("live: running"),
        Some(why) => println!("live: skipped, because {why}"),
    }
    missing.is_none()
}

fn plan(text: &str) -> Plan {
    Plan::parse("test.toml", text, &Overrides::default()).unwrap()
}

/// The transmissions, and the kinds of senders' events.
#[derive(Default)]
struct Log {
    last: Time,
    data: u64,
    /// The largest window that a receiver announced after the first second, bytes.
    window: u32,
    /// Packets with timestamps, and SACK blocks: options that both ends had to agree on.
    stamped: u64,
    blocks: u64,
    /// Segments with a SYN.
    syns: u64,
    events: Vec<Event>,
}

impl Watch for Log {
    fn tcp(&mut self, at: Time, _: u32, _: Side, e: Event) {
        assert!(at >= self.last, "times never go back");
        self.last = at;
        self.events.push(e);
    }
    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, _: u8) {
        assert!(at >= self.last, "times never go back");
        self.last = at;
        self.data += u64::from(from == Side::Sender && seg.len > 0);
        self.stamped += u64::from(seg.opts & Segment::TIMESTAMPS != 0 && !seg.has(Segment::SYN));
        self.blocks += u64::from(seg.blocks);
        self.syns += u64::from(from == Side::Sender && seg.has(Segment::SYN));
        if from == Side::Receiver && at >= Time::ZERO + Nanos::from_secs(1) {
            self.window = self.window.max(seg.wnd);
        }
    }
}

/// The scenario with each chosen stack.
fn with(text: &str, choice: &Choice) -> Result<BTreeMap<String, Plan>, LiveError> {
    let one = |name: String| {
        let overrides = Overrides { stack: Some(name.clone()), ..Overrides::default() };
        (name, Plan::parse("test.toml", text, &overrides).unwrap())
    };
    Ok(choice.stacks()?.into_iter().map(one).collect())
}

fn live(text: &str, senders: &[&str], receiver: &str, sysctls: &[(String, String)]) -> Result<(Ran, Log), LiveError> {
    live_with(&Options::default(), text, senders, receiver, sysctls)
}

fn live_with(
    options: &Options,
    text: &str,
    senders: &[&str],
    receiver: &str,
    sysctls: &[(String, String)],
) -> Result<(Ran, Log), LiveError> {
    let senders = senders.iter().map(|s| (*s).to_owned()).collect();
    let duration = Some(Nanos::from_secs(3));
    let choice = Choice { senders, receiver: Some(receiver.into()), duration, sysctls: sysctls.to_vec() };
    let prepared = prepare(plan(text), &with(text, &choice)?, &choice)?;
    run(&prepared, 1, options, Log::default(), &mut |_| (), &mut |_| ControlFlow::Continue(()))
}

#[test]
fn kernels_and_engines_talk_over_a_lossy_path_and_the_ledger_agrees_with_the_kernels_counters() {
    if !running() {
        return;
    }
    let ends = [
        ("kernel:cubic", "kernel"),
        ("kernel:reno", "linux-2025"),
        ("linux-2025", "kernel"),
        ("rfc-6675", "linux-2025"),
    ];
    for (sender, receiver) in ends {
        let (ran, log) = live(LOSSY, &[sender], receiver, &[]).unwrap();
        let f = ran.results.flows[0];
        assert!(f.acked > 200_000 && f.delivered >= f.acked, "{sender} {receiver}: {f:?}");
        assert_eq!((f.data_sent, ran.damaged.as_slice()), (log.data, &[][..]), "{sender} {receiver}");
        let drops = ran.results.links[0].drops;
        assert!(
            drops.loss > 0 && f.retransmitted > 0 && f.needed + f.refused + f.needless == f.retransmitted,
            "{f:?} {drops:?}"
        );
        assert!(log.events.iter().any(|e| matches!(e, Event::Window { .. })), "{sender} {receiver}");
        match &ran.counters[0] {
            Some(kernel) => assert_eq!(kernel.get("RetransSegs"), f.retransmitted, "{sender} {receiver}"),
            None => assert!(!sender.starts_with("kernel")),
        }
        assert!(ran.lateness.count() > 100 && ran.strays == 0, "{sender} {receiver}");
    }
}

/// A frame of a capture.
struct Frame {
    at: Duration,
    seq: u32,
    ack: u32,
    len: u32,
}

fn frames(capture: &Path) -> Vec<Frame> {
    let mut reader = PcapNgReader::new(File::open(capture).unwrap()).unwrap();
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(block) = block.unwrap() else { continue };
        let packet = parse(&block.data, Checksums::Trust).unwrap();
        let (seq, ack, len) = (packet.header.seq.0, packet.header.ack.0, packet.payload.len() as u32);
        frames.push(Frame { at: block.timestamp, seq, ack, len });
    }
    assert!(frames.is_sorted_by_key(|frame| frame.at), "times never go back");
    frames
}

#[test]
fn captures_have_an_ack_after_its_packet_and_the_retransmissions_where_the_truth_says() {
    if !running() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("ackclock-acks-{}", std::process::id()));
    let options = Options { pcap: Some(folder.clone()), ..Options::default() };
    live_with(&options, LOSSY, &["kernel:cubic"], "kernel", &[]).unwrap();
    let [sender, receiver] = ["sender.pcapng", "receiver.pcapng"].map(|name| frames(&folder.join(name)));
    let truth = std::fs::read_to_string(folder.join("truth.csv")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();

    // The kernels still answer at the end, when the path's clock stands.
    let end = receiver.last().unwrap().at;
    let (mut arrivals, mut answers) = (BTreeMap::new(), 0);
    for Frame { at, seq, ack, len } in receiver.iter().filter(|frame| frame.at < end) {
        if *len > 0 {
            arrivals.entry(seq.wrapping_add(*len)).or_insert(*at);
        } else if let Some(arrivals) = arrivals.get(ack) {
            answers += 1;
            assert!(at > arrivals, "an ACK of {ack} at {at:?}, and its packet at {arrivals:?}");
        }
    }
    assert!(answers > 100, "{answers} ACKs");

    let first = sender.iter().find(|frame| frame.len > 0).unwrap().seq;
    let mut rows = truth.lines();
    let names: Vec<&str> = rows.next().unwrap().split(',').collect();
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let mut checked = 0;
    for row in rows {
        let number = |name: &str| row.split(',').nth(column(name)).unwrap().parse::<u64>().ok();
        let seq = number("seq").unwrap();
        for (frames, place) in [(&sender, number("sender_frame")), (&receiver, number("receiver_frame"))] {
            let Some(place) = place else { continue };
            let frame = &frames[place as usize - 1];
            assert!(frame.len > 0 && u64::from(frame.seq.wrapping_sub(first)) + 1 == seq, "{row}: {}", frame.seq);
            checked += 1;
        }
    }
    assert!(checked > 5, "{truth}");
}

#[test]
fn the_receivers_window_is_the_scenarios_and_bounds_what_is_under_way() {
    if !running() {
        return;
    }
    let small = LOSSY.replace("p = 0.01", "p = 0.001").replace("1 MB", "20 kB");
    for receiver in ["kernel", "linux-2025"] {
        let (ran, log) = live(&small, &["kernel:cubic"], receiver, &[]).unwrap();
        assert!((15_000..=20_000).contains(&log.window), "{receiver}: {}", log.window);
        // At most a window in each round trip of 20 ms, for three seconds.
        assert!((300_000..=3_000_000).contains(&ran.results.flows[0].acked), "{receiver}: {:?}", ran.results.flows);
    }
}

#[test]
fn a_receiver_without_options_is_the_kernels_or_the_engines_and_both_ends_agree() {
    if !running() {
        return;
    }
    let old = format!("{LOSSY}receiver = {{ sack = false, timestamps = false }}\n");
    for (sender, receiver) in [("kernel:cubic", "kernel"), ("kernel:cubic", "linux-2025"), ("linux-2025", "kernel")] {
        let (ran, log) = live(&old, &[sender], receiver, &[]).unwrap();
        assert!(ran.results.flows[0].acked > 100_000, "{sender} {receiver}");
        assert_eq!((log.stamped, log.blocks), (0, 0), "{sender} {receiver}");
    }
    let choice = Choice { duration: Some(Nanos::from_secs(3)), ..Choice::default() };
    let prepared = prepare(plan(&old), &BTreeMap::new(), &choice).unwrap();
    let is_noted = |key: &str| prepared.notes.contains(&format!("{key} = 0 in the receivers' namespace"));
    assert!(is_noted("net.ipv4.tcp_sack") && is_noted("net.ipv4.tcp_timestamps"), "{:?}", prepared.notes);
    let differ = format!("{old}{}", &LOSSY[LOSSY.find("[[flow]]").unwrap()..]);
    let refused = prepare(plan(&differ), &BTreeMap::new(), &choice).unwrap_err().to_string();
    assert!(refused.contains("receivers that differ in `sack`"), "{refused}");
}

#[test]
fn transfers_in_a_row_have_a_connection_each_or_one_and_writes_are_the_paths() {
    if !running() {
        return;
    }
    let clean = LOSSY.replace("p = 0.01", "p = 0.0");
    let with = |app: &str| clean.replace("stack =", &format!("app = {{ {app} }}\nhandshake = true\nstack ="));
    let each = with("kind = \"transfers\", size = \"14 kB\", count = 12, think = { constant = \"20 ms\" }");
    let one = with("kind = \"transfers\", size = \"14 kB\", count = 12, connections = \"one\"");
    let writes = with("kind = \"writes\", size = \"14 kB\", gap = { constant = \"200 ms\" }, count = 6");
    for (sender, receiver) in [("kernel:cubic", "kernel"), ("linux-2025", "linux-2025"), ("linux-2025", "kernel")] {
        let ends = format!("{sender} {receiver}");
        let (ran, log) = live(&each, &[sender], receiver, &[]).unwrap();
        let all = ran.results.flows.iter().all(|f| f.finished.is_some());
        assert!(all, "{ends}: {:?}", ran.results.flows);
        let took: Vec<Nanos> =
            ran.results.flows.iter().map(|f| f.finished.unwrap().since(f.started.unwrap())).collect();
        assert!(log.syns >= 12 && took.len() == 12 && ran.damaged.is_empty(), "{ends}: {took:?}");
        // A round trip for the SYN and one for a window of ten segments, which the path takes 5.7 ms to transmit.
        assert!(took.iter().all(|t| (Nanos::from_millis(45)..Nanos::from_secs(2)).contains(t)), "{ends}: {took:?}");
        let begins: Vec<Time> = ran.results.flows.iter().map(|f| f.started.unwrap()).collect();
        let ends_at: Vec<Time> = ran.results.flows.iter().map(|f| f.finished.unwrap()).collect();
        assert!(begins[1..].iter().zip(&ends_at).all(|(b, e)| b.since(*e) >= Nanos::from_millis(20)), "{ends}");
        let (ran, log) = live(&one, &[sender], receiver, &[]).unwrap();
        assert_eq!((ran.results.turns.len(), ran.results.flows[0].acked), (12, 12 * 14_000), "{ends}");
        assert!((1..4).contains(&log.syns) && ran.damaged.is_empty(), "{ends}: {}", log.syns);
        let (ran, _) = live(&writes, &[sender], receiver, &[]).unwrap();
        let f = ran.results.flows[0];
        assert!(f.acked == 6 * 14_000 && f.finished.unwrap() > Time::ZERO + Nanos::from_secs(1), "{ends}: {f:?}");
    }
}

#[test]
fn several_flows_share_one_queue_and_finite_ones_end() {
    if !running() {
        return;
    }
    let two = LOSSY.replace("stack =", "name = \"one\"\napp = { kind = \"fixed\", size = \"300 kB\" }\nstack =")
        + &LOSSY[LOSSY.find("[[flow]]").unwrap()..].replace("stack =", "name = \"two\"\nstack =");
    let (ran, _) = live(&two, &["kernel:cubic", "two=linux-2025"], "kernel", &[]).unwrap();
    let [one, two] = ran.results.flows[..] else { panic!("two flows") };
    assert_eq!(one.acked, 300_000);
    assert!(one.finished.is_some() && two.finished.is_none() && two.acked > 100_000, "{one:?} {two:?}");
}

#[test]
fn what_cannot_be_done_is_refused_in_one_sentence() {
    if !running() {
        return;
    }
    let refused = |sender: &str, receiver: &str, sysctls: &[(&str, &str)]| {
        let sysctls: Vec<_> = sysctls.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        live(LOSSY, &[sender], receiver, &sysctls).map(drop).unwrap_err().to_string()
    };
    assert!(refused("kernel:nosuch", "kernel", &[]).contains("found kernel:nosuch"));
    assert!(refused("nosuch", "kernel", &[]).contains("key `--sender`: found \"nosuch\""));
    assert!(refused("three=kernel:reno", "kernel", &[]).contains("found the flow \"three\", allowed: flow-1"));
    assert!(refused("kernel:reno", "nosuch", &[]).contains("key `--receiver`"));
    assert!(refused("kernel:reno", "kernel", &[("net.ipv4.no_such", "1")]).contains("net.ipv4.no_such"));
    let knowing = LOSSY.replace("stack = \"linux-2025\"", "stack = \"late\"\nset = { detect = \"oracle\" }");
    let refused = prepare(plan(&knowing), &BTreeMap::new(), &Choice::default()).unwrap_err().to_string();
    assert!(refused.contains("detect = \"oracle\""), "{refused}");
}
