//! The packets of a simulated run, as captures of its ends and of a node between them.
//!
//! A packet is written when its host sends it, with the headers that a TCP would give it ([`Border`]): addresses of the nodes,
//! ports of the flow, initial sequence numbers from the run's seed, timestamps as in the engine, IP identifications that
//! increment for each connection as in Linux. Its bytes accompany the simulated packet, so that a capture elsewhere has the
//! same bytes. Its payload is zeros.
//!
//! Simulated time counts as nanoseconds since 1970. A connection without a handshake has no SYN. Its windows have the scale that
//! a handshake would have given them. Its sender, which has no receiving half, announces the receiver's window, and echoes
//! timestamps as RFC 7323 §4.3 says.

mod folder;

pub use folder::{CaptureFolder, FolderWatch};

use crate::pcapng::PcapngWriter;
use crate::under_way::UnderWay;
use ackclock_sim::scenario::{FlowSpec, Scenario};
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::segment::{is_older, Segment};
use ackclock_tcp::time::Time;
use ackclock_wire::pcapng::Direction;
use ackclock_wire::write::mark_congestion;
use ackclock_wire::{parse, Border, Checksums, Dialect, Initial, Secret, Writing};
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::ops::RangeInclusive;

/// The range of bytes kept of each packet: from all headers to a whole packet.
pub const SNAPS: RangeInclusive<u32> = 80..=65_535;
/// The default number of bytes kept of each packet: the headers, and some payload.
pub const SNAP: u32 = 96;
/// The longest IP packet; no path here fragments packets.
const MTU: u32 = 65_535;
/// The address of the first node, 10.0.0.1.
const FIRST: u32 = 0x0a00_0001;
/// The first flow's ports, and the number of flows with the same port at their receivers.
const FROM: u16 = 40_001;
const TO: u16 = 5_001;
const PORTS: u32 = 25_000;

/// Writes the packets of a run as captures, each to a `W`.
#[derive(Debug)]
pub struct Captures<W> {
    /// By flow, the sender's first.
    borders: Vec<[Border; 2]>,
    /// By flow, if its sender has no receiving half.
    receiving: Vec<Option<Receiving>>,
    under_way: UnderWay,
    /// Captures of the senders and of the receivers.
    ends: [PcapngWriter<W>; 2],
    middle: Option<Middle<W>>,
    snap: usize,
    packet: Vec<u8>,
    failed: Option<io::Error>,
}

/// What a sender without a receiving half would say if it had one.
#[derive(Clone, Copy, Debug)]
struct Receiving {
    /// Its window, bytes.
    window: u32,
    /// RFC 7323's `TS.Recent`; 0 before the first ACK. Every ACK begins where the sender's own ACKs point, so that the newest
    /// timestamp counts.
    recent: u32,
}

#[derive(Debug)]
struct Middle<W> {
    node: u32,
    writer: PcapngWriter<W>,
    /// By directed link: whether it leaves the node.
    leaves: Vec<bool>,
}

/// The destinations of captures.
#[derive(Debug)]
pub struct Places<W> {
    /// The packets that all senders send and receive.
    pub sender: W,
    /// The packets that all receivers send and receive.
    pub receiver: W,
    /// The packets that pass the node with this number, in both directions.
    pub middle: Option<(u32, W)>,
}

/// The addresses of a flow's sender and receiver.
pub fn addresses(flow: u32, spec: &FlowSpec) -> [SocketAddr; 2] {
    let node = |node: u32| Ipv4Addr::from(FIRST.wrapping_add(node));
    let (from, to) = (FROM + (flow % PORTS) as u16, TO.wrapping_add((flow / PORTS) as u16));
    [SocketAddrV4::new(node(spec.from), from), SocketAddrV4::new(node(spec.to), to)].map(SocketAddr::V4)
}

impl<W: Write> Captures<W> {
    /// Begins the captures of the run of `scenario` with `seed`. `snap` bytes are kept of each packet.
    ///
    /// # Errors
    /// Errors of a destination.
    pub fn new(scenario: &Scenario, seed: u64, snap: u32, places: Places<W>) -> io::Result<Self> {
        let snap = snap.clamp(*SNAPS.start(), *SNAPS.end());
        let begin = |place, name: &str| PcapngWriter::new(place, name, Some(snap));
        let middle = places.middle.map(|(node, place)| {
            let name = scenario.nodes.get(node as usize).map_or("", String::as_str);
            io::Result::Ok(Middle { node, writer: begin(place, name)?, leaves: leaving(scenario, node) })
        });
        let secret = Secret::new(std::array::from_fn(|i| seed.to_le_bytes()[i % 8]));
        let flows = scenario.flows.iter().zip(0..);
        let receiving = |spec: &FlowSpec| {
            let window = spec.window.min(u64::from(u32::MAX)) as u32;
            (!spec.handshake).then_some(Receiving { window, recent: 0 })
        };
        Ok(Captures {
            receiving: scenario.flows.iter().map(receiving).collect(),
            borders: flows.map(|(spec, flow)| borders(flow, spec, &secret)).collect::<io::Result<_>>()?,
            under_way: UnderWay::new(scenario.flows.len() as u32),
            ends: [begin(places.sender, "sender")?, begin(places.receiver, "receiver")?],
            middle: middle.transpose()?,
            snap: snap as usize,
            packet: vec![0; MTU as usize],
            failed: None,
        })
    }

    /// Finishes the captures and returns their destinations.
    ///
    /// # Errors
    /// The first error since the beginning.
    pub fn finish(self) -> io::Result<Places<W>> {
        if let Some(e) = self.failed {
            return Err(e);
        }
        let [sender, receiver] = self.ends.map(PcapngWriter::into_inner);
        let middle = self.middle.map(|m| (m.node, m.writer.into_inner()));
        Ok(Places { sender, receiver, middle })
    }

    fn send(&mut self, at: Time, flow: u32, from: Side, seg: &Segment) -> io::Result<()> {
        let side = index(from);
        let Some(ends) = self.borders.get_mut(flow as usize) else { return Ok(()) };
        let mut seg = *seg;
        if let (Side::Sender, Some(receiving)) = (from, self.receiving[flow as usize]) {
            (seg.wnd, seg.tsecr) = (receiving.window, receiving.recent);
        }
        let written = ends[side].write(&seg, Writing::Whole, &mut self.packet, |payload| payload.fill(0));
        let len = written.map_err(io::Error::other)?.len;
        let kept = &self.packet[..len.min(self.snap)];
        self.under_way.put(flow, from, kept);
        self.ends[side].packet(at.0, Some(Direction::Out), len as u32, kept)
    }

    fn arrive(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) -> io::Result<()> {
        let Some(mut bytes) = self.under_way.take(flow, to, number) else { return Ok(()) };
        let side = index(to);
        if seg.opts & Segment::CE != 0 {
            mark_congestion(&mut bytes);
        }
        if let (true, Ok(packet)) = (seg.has(Segment::SYN), parse(&bytes, Checksums::Trust)) {
            self.borders[flow as usize][side].read(&packet);
        }
        if let (Side::Sender, Some(receiving)) = (to, &mut self.receiving[flow as usize])
            && seg.opts & Segment::TIMESTAMPS != 0
            && !is_older(seg.tsval, receiving.recent)
        {
            receiving.recent = seg.tsval;
        }
        let written = self.ends[side].packet(at.0, Some(Direction::In), length(&bytes), &bytes);
        self.under_way.give_back(bytes);
        written
    }

    fn pass(&mut self, at: Time, link: u32, flow: u32, to: Side, number: u32, seg: &Segment) -> io::Result<()> {
        let Some(Middle { writer, leaves, .. }) = &mut self.middle else { return Ok(()) };
        let here = leaves.get(link as usize).is_some_and(|here| *here);
        let Some(bytes) = self.under_way.peek(flow, to, number).filter(|_| here) else { return Ok(()) };
        let len = length(bytes);
        let kept = &mut self.packet[..bytes.len()];
        kept.copy_from_slice(bytes);
        if seg.opts & Segment::CE != 0 {
            mark_congestion(kept);
        }
        writer.packet(at.0, None, len, kept)
    }

    fn note(&mut self, written: io::Result<()>) {
        self.failed = written.err();
    }
}

/// By directed link: whether it begins at this node.
pub fn leaving(scenario: &Scenario, node: u32) -> Vec<bool> {
    (0..2 * scenario.links.len() as u32).map(|link| scenario.leaves(link) == node).collect()
}

/// The two ends of a flow.
fn borders(flow: u32, spec: &FlowSpec, secret: &Secret) -> io::Result<[Border; 2]> {
    let [a, b] = addresses(flow, spec);
    // The peer echoes the engine's timestamps, so nothing may be added to them.
    let numbers = |x, y| Initial { timestamp_offset: 0, ..secret.choose(x, y, Time::ZERO) };
    let (from, to) = (numbers(a, b), numbers(b, a));
    let border = |x, y, own| Border::new(x, y, MTU, own, Dialect::Linux).map_err(io::Error::other);
    let (sender, receiver) = (border(a, b, from)?, border(b, a, to)?);
    if spec.handshake {
        return Ok([sender, receiver]);
    }
    // RFC 7323 §2.2: the smallest scale with which the window fits.
    let shift = (0..14).find(|shift| spec.window >> shift <= 0xffff).unwrap_or(14);
    Ok([sender.after_handshake(to.isn, (shift, shift)), receiver.after_handshake(from.isn, (shift, shift))])
}

/// The length of a packet by its IPv4 header.
fn length(packet: &[u8]) -> u32 {
    packet.get(2..4).map_or(0, |len| u32::from(len[0]) << 8 | u32::from(len[1]))
}

fn index(side: Side) -> usize {
    usize::from(side == Side::Receiver)
}

impl<W: Write> Watch for Captures<W> {
    const HEARS_HOPS: bool = true;

    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, _: u32, _: u8) {
        if self.failed.is_none() {
            let written = self.send(at, flow, from, seg);
            self.note(written);
        }
    }

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        if self.failed.is_none() {
            let written = self.arrive(at, flow, to, number, seg);
            self.note(written);
        }
    }

    fn passed(&mut self, at: Time, link: u32, flow: u32, to: Side, number: u32, seg: &Segment) {
        if self.failed.is_none() {
            let written = self.pass(at, link, flow, to, number, seg);
            self.note(written);
        }
    }

    fn lost(&mut self, flow: u32, to: Side, number: u32) {
        self.under_way.drop_one(flow, to, number);
    }

    fn copied(&mut self, flow: u32, to: Side, number: u32) {
        self.under_way.double(flow, to, number);
    }
}
