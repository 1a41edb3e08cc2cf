use crate::real::{scenario, with_doubles};
use ackclock_sim::engine::Sim;
use ackclock_sim::fate::Verdict;
use ackclock_sim::scenario::{ElementSpec, RedSpec, Scenario, Thresholds};
use ackclock_sim::topology::nodes_between;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_trace::captures::{addresses, leaving, Captures, Places, SNAP};
use ackclock_trace::truth::Retransmission;
use ackclock_trace::{Both, Hasher, Truth};
use ackclock_wire::{parse, Checksums, Header};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::collections::BTreeMap;

/// The data of a packet in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    at: u64,
    len: u32,
    /// 1: received, 2: sent, 0: unknown.
    way: u8,
    bytes: Vec<u8>,
}

fn frames(file: &[u8]) -> Vec<Frame> {
    let mut reader = PcapNgReader::new(file).unwrap();
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            let options = format!("{:?}", packet.options);
            let way = [1, 2].into_iter().find(|way| options.contains(&format!("Flags({way})"))).unwrap_or(0);
            let at = packet.timestamp.as_nanos() as u64;
            frames.push(Frame { at, len: packet.original_len, way, bytes: packet.data.into_owned() });
        }
    }
    frames
}

/// The headers of a frame whose payload may be truncated: those of a packet without payload.
fn header(frame: &Frame) -> Header {
    let mut whole = frame.bytes.clone();
    whole.resize(frame.len as usize, 0);
    parse(&whole, Checksums::Verify).expect("a whole packet whose payload is zeros").header
}

/// The bytes of both headers.
fn header_len(frame: &Frame) -> u32 {
    20 + u32::from(frame.bytes[32] >> 4) * 4
}

struct Captured {
    sender: Vec<Frame>,
    receiver: Vec<Frame>,
    middle: Vec<Frame>,
    truth: Vec<Retransmission>,
    results: ackclock_sim::results::Results,
    segments: Vec<(Time, u32, Side, Segment)>,
}

/// The packets that hosts sent.
#[derive(Default)]
struct Sent(Vec<(Time, u32, Side, Segment)>);

impl Watch for Sent {
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, _: u32, _: u8) {
        self.0.push((at, flow, from, *seg));
    }
}

fn run<W: Watch>(s: &Scenario, stack: &Stack, seed: u64, watch: W) -> (ackclock_sim::results::Results, W) {
    let mut sim = Sim::new(s, std::slice::from_ref(stack), seed, watch).unwrap();
    let results = sim.run();
    (results, sim.into_watch())
}

fn named(name: &str) -> Stack {
    Stack::named(name).unwrap()
}

fn capture(s: &Scenario, stack: &Stack, seed: u64, snap: u32) -> Captured {
    // The node R2 is behind the link that swaps, drops and marks.
    let places = Places { sender: Vec::new(), receiver: Vec::new(), middle: Some((1, Vec::new())) };
    let captures = Captures::new(s, seed, snap, places).unwrap();
    let truth = Truth::new(2).with_middle(leaving(s, 1));
    let watch = Both(Both(captures, truth), Both(Sent::default(), Hasher::new(2)));
    let (results, Both(Both(captures, truth), Both(sent, hasher))) = run(s, stack, seed, watch);
    let alone = run(s, stack, seed, Hasher::new(2)).1.hash();
    assert_eq!(hasher.hash(), alone, "a capture changes nothing, though it looks between links");
    let Places { sender, receiver, middle } = captures.finish().unwrap();
    let [sender, receiver, middle] = [sender, receiver, middle.unwrap().1].map(|file| frames(&file));
    Captured { sender, receiver, middle, truth: truth.finish(), results, segments: sent.0 }
}

/// Marks instead of drops, for stacks with ECN.
fn with_marks() -> Scenario {
    let mut s = scenario(0.001, 0.0);
    let thresholds = Thresholds::Packets { min: 2, max: 6 };
    let red = RedSpec {
        thresholds,
        max_p: 0.1,
        weight: 0.01,
        gentle: true,
        wait: true,
        per: Default::default(),
        mean_packet: 1000,
        ecn: true,
    };
    s.links[0].forward.elements.insert(0, ElementSpec::Red(red));
    s
}

fn cases() -> Vec<Captured> {
    let of = |s: &Scenario, stack| capture(s, &named(stack), 3, SNAP);
    let mut ecn = named("linux-2025");
    ecn.options.ecn = true;
    let mut no_handshake = scenario(0.01, 0.01);
    no_handshake.flows.iter_mut().for_each(|f| f.handshake = false);
    vec![
        of(&scenario(0.01, 0.01), "linux-2025"),
        of(&with_doubles(0.02), "linux-2025"),
        of(&no_handshake, "dsack-ewma"),
        of(&scenario(0.02, 0.0), "newreno"),
        capture(&with_marks(), &ecn, 3, SNAP),
    ]
}

#[test]
fn a_frame_is_the_segment_that_was_sent() {
    for c in cases() {
        let at = |side| match side {
            Side::Sender => c.sender.iter(),
            Side::Receiver => c.receiver.iter(),
        };
        for side in [Side::Sender, Side::Receiver] {
            let mut isn: BTreeMap<u32, [Option<SeqNum>; 2]> = BTreeMap::new();
            let mut shift: BTreeMap<u32, Option<u8>> = BTreeMap::new();
            let sent = c.segments.iter().filter(|(_, _, from, _)| *from == side);
            for (frame, (at, flow, _, seg)) in at(side).filter(|f| f.way == 2).zip(sent.clone()) {
                let h = header(frame);
                assert_eq!((frame.at, h.flags), (at.0, seg.flags));
                let [own, peer] = isn.entry(*flow).or_default();
                // Whatever the first number is, all others follow from it.
                let own = own.get_or_insert(SeqNum(h.seq.0.wrapping_sub(seg.seq.0 as u32)));
                assert_eq!(h.seq, seg.seq.wrap(*own));
                if seg.has(Segment::ACK) {
                    let peer = peer.get_or_insert(SeqNum(h.ack.0.wrapping_sub(seg.ack.0 as u32)));
                    assert_eq!(h.ack, seg.ack.wrap(*peer));
                    let blocks: Vec<_> = seg.sack_blocks().map(|(l, r)| (l.wrap(*peer), r.wrap(*peer))).collect();
                    assert_eq!(h.options.sack.as_slice(), blocks);
                }
                let value = (seg.opts & Segment::TIMESTAMPS != 0).then_some(seg.tsval);
                assert_eq!(h.options.timestamps.map(|t| t.value), value);
                if !seg.has(Segment::SYN) {
                    // A sender without a handshake has no window of its own.
                    let wnd = if seg.wnd == 0 { 500 * 1460 } else { seg.wnd };
                    let fits = |s: u8| wnd >> s == u32::from(h.window);
                    let shift = shift.entry(*flow).or_default();
                    let shift = shift.get_or_insert_with(|| (0..=14).find(|s| fits(*s)).unwrap());
                    assert!(fits(*shift), "{} in the header for {}", h.window, seg.wnd);
                }
            }
            assert_eq!(at(side).filter(|f| f.way == 2).count(), sent.count());
        }
    }
}

/// One end of a connection, as its own capture shows it: RFC 7323 §4.3's `TS.Recent` and `Last.ACK.sent`.
#[derive(Default)]
struct Echo {
    recent: u32,
    last_ack: Option<SeqNum>,
}

#[test]
fn every_packet_echoes_the_timestamp_that_rfc_7323_names_with_and_without_a_handshake() {
    let mut no_handshake = scenario(0.01, 0.01);
    no_handshake.flows.iter_mut().for_each(|f| f.handshake = false);
    let without = ["linux-2025", "dsack-ewma"].map(|stack| capture(&no_handshake, &named(stack), 3, SNAP));
    let (mut checked, mut echoes) = ([0; 2], 0);
    for c in cases().into_iter().chain(without) {
        for (side, frames) in [&c.sender, &c.receiver].into_iter().enumerate() {
            let mut ends: BTreeMap<u16, Echo> = BTreeMap::new();
            for (frame, h) in frames.iter().map(|f| (f, header(f))) {
                let Some(stamps) = h.options.timestamps else { continue };
                let end = ends.entry(h.src.port().max(h.dst.port())).or_default();
                if frame.way == 1 {
                    // RFC 9293 §3.10.7.4: a segment of data that was all acknowledged is not acceptable.
                    let after = h.seq.0.wrapping_add(frame.len - header_len(frame));
                    let counts = end.last_ack.is_none_or(|SeqNum(last)| {
                        let (left, right) = (last.wrapping_sub(h.seq.0) as i32, after.wrapping_sub(last) as i32);
                        left >= 0 && (right > 0 || after == h.seq.0)
                    });
                    if counts && stamps.value >= end.recent {
                        end.recent = stamps.value;
                    }
                } else if h.flags & Segment::ACK != 0 {
                    assert_eq!(stamps.echo, end.recent, "a packet of {} at {} ns", h.src, frame.at);
                    end.last_ack = Some(h.ack);
                    checked[side] += 1;
                    echoes += usize::from(stamps.echo > 0);
                }
            }
        }
    }
    assert!(checked.iter().all(|n| *n > 10_000) && echoes > 30_000, "{checked:?}, {echoes}");
}

/// The bytes of a packet, without a queue's mark, which its header's checksum covers.
fn unmarked(frame: &Frame) -> Vec<u8> {
    let mut bytes = frame.bytes.clone();
    bytes[1] &= !1;
    bytes[10..12].fill(0);
    bytes
}

#[test]
fn a_packet_has_the_same_bytes_wherever_it_is_captured() {
    let mut marked = 0;
    for c in cases() {
        for (from, to) in [(&c.sender, &c.receiver), (&c.receiver, &c.sender)] {
            let mut known: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for frame in from.iter().filter(|f| f.way == 2) {
                assert_eq!(known.insert(unmarked(frame), frame.at), None, "no two packets are alike");
            }
            for frame in to.iter().filter(|f| f.way == 1) {
                assert!(known[&unmarked(frame)] <= frame.at);
                marked += usize::from(frame.bytes[1] & 3 == 3);
                header(frame);
            }
        }
        for frames in [&c.sender, &c.receiver, &c.middle] {
            assert!(frames.is_sorted_by_key(|f| f.at) && frames.iter().all(|f| f.bytes.len() <= SNAP as usize));
        }
    }
    assert!(marked > 3, "{marked} packets were marked");
}

#[test]
fn identifications_count_up_for_each_connection_as_linuxs_do() {
    for c in cases() {
        for frames in [&c.sender, &c.receiver] {
            let mut last: BTreeMap<u16, u16> = BTreeMap::new();
            for h in frames.iter().filter(|f| f.way == 2).map(header) {
                let id = h.label as u16;
                let before = last.insert(h.src.port().max(h.dst.port()), id);
                assert!(before.is_none_or(|before| id == before.wrapping_add(1)));
            }
        }
    }
}

#[test]
fn the_middle_has_what_passes_the_node_both_ways() {
    for c in cases() {
        assert!(c.middle.iter().all(|f| f.way == 0));
        let of = |frames: &[Frame]| {
            let mut all: Vec<Vec<u8>> = frames.iter().map(unmarked).collect();
            all.sort_unstable();
            all
        };
        // Between R2 and the receivers nothing is lost: packets to them and from them pass there.
        let (middle, receiver) = (of(&c.middle), of(&c.receiver));
        let last = c.receiver.last().unwrap().at;
        assert!(middle.len() >= receiver.len() && middle.len() < receiver.len() + 200, "{last}");
        assert!(receiver.iter().all(|r| middle.binary_search(r).is_ok()));
        assert!(c.middle.iter().any(|f| header(f).src.port() < 40_000), "packets to the senders");
    }
}

#[test]
fn the_truth_names_the_frames_and_agrees_with_the_counts() {
    let mut refused = 0;
    for c in cases() {
        let count = |flow, verdict| c.truth.iter().filter(|r| r.flow == flow && r.verdict == verdict).count() as u64;
        for (i, f) in c.results.flows.iter().enumerate() {
            let of = |verdict| count(i as u32, verdict);
            assert_eq!(
                [of(Verdict::Needed), of(Verdict::Refused), of(Verdict::Needless)],
                [f.needed, f.refused, f.needless]
            );
            refused += f.refused;
        }
        assert!(c.truth.len() > 20, "{}", c.truth.len());
        assert!(
            c.truth.iter().any(|r| r.receiver_frame.is_none()) && c.truth.iter().any(|r| r.receiver_frame.is_some())
        );
        for r in &c.truth {
            let sent = &c.sender[r.sender_frame as usize - 1];
            let h = header(sent);
            let first =
                c.segments.iter().find(|(_, flow, from, _)| (*flow, *from) == (r.flow, Side::Sender)).unwrap().3;
            let of_flow = c.sender.iter().find(|f| f.way == 2 && header(f).src == h.src).unwrap();
            let isn = SeqNum(header(of_flow).seq.0.wrapping_sub(first.seq.0 as u32));
            assert_eq!((sent.at, sent.way, h.seq), (r.at.0, 2, r.seq.wrap(isn)));
            assert!(r.middle_frame.is_some() >= r.receiver_frame.is_some());
            if let Some(frame) = r.middle_frame {
                assert_eq!(unmarked(&c.middle[frame as usize - 1]), unmarked(sent));
            }
            if let Some(frame) = r.receiver_frame {
                let arrived = &c.receiver[frame as usize - 1];
                assert_eq!((arrived.way, unmarked(arrived)), (1, unmarked(sent)));
            }
        }
    }
    assert!(refused > 0, "timestamps make receivers refuse late originals");
}

#[test]
fn connections_have_addresses_of_their_nodes_and_ports_of_their_own() {
    let s = scenario(0.0, 0.0);
    assert_eq!(nodes_between(&s).unwrap(), [0, 1]);
    let c = capture(&s, &named("newreno"), 1, 65_535);
    let mut ends: Vec<_> = c.sender.iter().filter(|f| f.way == 2).map(|f| (header(f).src, header(f).dst)).collect();
    ends.sort_unstable();
    ends.dedup();
    let expected: Vec<_> = (0..2).map(|flow| addresses(flow, &s.flows[flow as usize])).map(|[a, b]| (a, b)).collect();
    assert_eq!(ends, expected);
    assert_eq!(format!("{}, {}", ends[0].0, ends[0].1), "10.0.0.3:40001, 10.0.0.4:5001");
    assert!(c.sender.iter().all(|f| f.bytes.len() == f.len as usize), "a long snap keeps everything");
    // Another seed gives other initial numbers; the same seed, the same file.
    let first = |seed| header(&capture(&s, &named("newreno"), seed, SNAP).sender[0]).seq;
    assert!(first(1) == first(1) && first(1) != first(2));
}
