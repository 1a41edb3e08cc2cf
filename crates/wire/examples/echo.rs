//! An echo server on any device that gives and takes packets, and a client that talks to it over a wire in memory.

use ackclock_tcp::connection::State;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::reset::reset;
use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Packet, Secret, Writing};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::net::SocketAddr;

const MTU: u32 = 1500;
const BUFFERS: Buffers = Buffers { send: 1 << 16, receive: 1 << 16 };

/// Whatever gives and takes IP packets: a TUN device, a radio, a queue between two threads.
trait Device {
    /// The next packet that has arrived, written into `buf`; its length.
    fn receive(&mut self, buf: &mut [u8]) -> Option<usize>;
    /// Sends a packet.
    fn send(&mut self, packet: &[u8]);
}

/// Sends everything that an endpoint has to say now.
fn say(end: &mut Endpoint, now: Time, device: &mut impl Device) -> Result<(), Box<dyn Error>> {
    let mut buf = [0; MTU as usize];
    while let Some(written) = end.poll_transmit(now, Writing::Whole, &mut buf, &mut ())? {
        device.send(&buf[..written.len]);
    }
    Ok(())
}

/// An application: what can be read is written back, and the end of one direction is the end of the other.
fn echo(end: &mut Endpoint) {
    loop {
        let piece = end.readable().0.to_vec();
        let taken = end.write(&piece);
        end.consume(taken);
        if taken == 0 {
            break;
        }
    }
    if end.is_at_end() {
        end.close();
    }
}

/// Listens at one address, and keeps an endpoint for each peer.
struct Server {
    here: SocketAddr,
    stack: Stack,
    secret: Secret,
    ends: BTreeMap<SocketAddr, Endpoint>,
}

impl Server {
    /// Takes what has arrived, lets time pass, and sends what there is to send.
    fn turn(&mut self, now: Time, device: &mut impl Device) -> Result<(), Box<dyn Error>> {
        let mut buf = [0; MTU as usize];
        while let Some(len) = device.receive(&mut buf) {
            match parse(&buf[..len], Checksums::Verify) {
                Ok(packet) => self.take(now, &packet, device)?,
                Err(why) => eprintln!("not taken: {why}"),
            }
        }
        for end in self.ends.values_mut() {
            if end.next_timer().is_some_and(|t| t <= now) {
                end.on_timer(now, &mut ());
            }
            echo(end);
            say(end, now, device)?;
        }
        self.ends.retain(|_, end| end.state() != State::Closed);
        Ok(())
    }

    /// Finds the endpoint that a packet is for; a SYN makes a new one, anything else for nobody is reset.
    fn take(&mut self, now: Time, packet: &Packet<'_>, device: &mut impl Device) -> Result<(), Box<dyn Error>> {
        let (local, remote, flags) = (packet.header.dst, packet.header.src, packet.header.flags);
        let is_syn = flags & (Segment::SYN | Segment::ACK | Segment::RST) == Segment::SYN;
        if is_syn && local == self.here && !self.ends.contains_key(&remote) {
            let border = Border::new(local, remote, MTU, self.secret.choose(local, remote, now), Dialect::Linux)?;
            self.ends.insert(remote, Endpoint::listen(&self.stack, border, BUFFERS));
        }
        match self.ends.get_mut(&remote).filter(|_| local == self.here) {
            Some(end) => _ = end.on_packet(now, packet, &mut ()),
            None => {
                let mut buf = [0; 60];
                if let Some(written) = reset(packet, Writing::Whole, &mut buf)? {
                    device.send(&buf[..written.len]);
                }
            }
        }
        Ok(())
    }
}

/// One side of a wire in memory.
#[derive(Default)]
struct Wire {
    arrived: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

impl Device for Wire {
    fn receive(&mut self, buf: &mut [u8]) -> Option<usize> {
        let packet = self.arrived.pop_front()?;
        buf.get_mut(..packet.len())?.copy_from_slice(&packet);
        Some(packet.len())
    }
    fn send(&mut self, packet: &[u8]) {
        self.sent.push_back(packet.to_vec());
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (client, here) = ("10.0.0.1:40000".parse()?, "10.0.0.2:7".parse()?);
    let stack = Stack::named("linux-2025").ok_or("no such stack")?;
    let secret = Secret::new(*b"16 random bytes!"); // yours: drawn at every start
    let border = Border::new(client, here, MTU, secret.choose(client, here, Time::ZERO), Dialect::Linux)?;
    let mut end = Endpoint::connect(&stack, border, BUFFERS);
    let mut server = Server { here, stack, secret, ends: BTreeMap::new() };
    let (mut near, mut far) = (Wire::default(), Wire::default());
    let said: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
    let (mut now, mut written, mut heard) = (Time::ZERO, 0, vec![]);
    while !end.is_at_end() {
        written += end.write(&said[written..]);
        if written == said.len() {
            end.close();
        }
        say(&mut end, now, &mut near)?;
        now += Nanos::from_millis(10); // the way there and back
        far.arrived.append(&mut near.sent);
        server.turn(now, &mut far)?;
        for bytes in std::mem::take(&mut far.sent) {
            end.on_packet(now, &parse(&bytes, Checksums::Verify)?, &mut ());
        }
        if end.next_timer().is_some_and(|t| t <= now) {
            end.on_timer(now, &mut ());
        }
        let mut piece = [0; 4096];
        while let n @ 1.. = end.read(&mut piece) {
            heard.extend_from_slice(&piece[..n]);
        }
    }
    (heard == said).then_some(()).ok_or("other bytes came back")?;
    println!("{} bytes came back after {now}, as they went", heard.len());
    Ok(())
}
