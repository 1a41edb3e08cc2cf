//! Two connections over a wire in memory; then an echo server on any device that reads and writes packets.

use ackclock_tcp::connection::State;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Host, HostConfig, Id, Secret, Writing};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::net::SocketAddr;

type Done = Result<(), Box<dyn Error>>;

const MTU: u32 = 1500;
const BUFFERS: Buffers = Buffers { send: 1 << 16, receive: 1 << 16 };

/// Two connections, one packet after the other; returns the bytes that the second one received.
pub(crate) fn two_connections(data: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (a, b) = ("10.0.0.1:40000".parse()?, "10.0.0.2:7".parse()?);
    let stack = Stack::named("linux-2025").ok_or("no such stack")?;
    let key = Secret::new(*b"16 random bytes!"); // your own, random at every start
    let border = |from, to| Border::new(from, to, MTU, key.choose(from, to, Time::ZERO), Dialect::Linux);
    let mut ends =
        [Endpoint::connect(&stack, border(a, b)?, BUFFERS), Endpoint::listen(&stack, border(b, a)?, BUFFERS)];
    let (mut now, mut written, mut heard, mut buf) = (Time::ZERO, 0, vec![], [0; MTU as usize]);
    while !ends[1].is_at_end() {
        written += ends[0].write(&data[written..]);
        if written == data.len() && ends[0].state() == State::Established {
            ends[0].close();
        }
        for from in [0, 1] {
            while let Some(sent) = ends[from].poll_transmit(now, Writing::Whole, &mut buf, &mut ())? {
                ends[1 - from].on_packet(now, &parse(&buf[..sent.len], Checksums::Verify)?, &mut ());
            }
        }
        let mut piece = [0; 4096];
        while let n @ 1.. = ends[1].read(&mut piece) {
            heard.extend_from_slice(&piece[..n]);
        }
        now += Nanos::from_millis(10);
        for end in &mut ends {
            if end.next_timer().is_some_and(|t| t <= now) {
                end.on_timer(now, &mut ());
            }
        }
    }
    Ok(heard)
}

/// A device for IP packets: a TUN device, a radio, a queue between two threads.
pub(crate) trait Device {
    /// Writes the next packet that has arrived into `buf`; returns its length.
    fn receive(&mut self, buf: &mut [u8]) -> Option<usize>;
    /// Sends a packet.
    fn send(&mut self, packet: &[u8]);
}

/// Passes arrived packets and the time to the host.
fn take(host: &mut Host, now: Time, device: &mut impl Device) {
    let mut buf = [0; MTU as usize];
    while let Some(len) = device.receive(&mut buf) {
        match parse(&buf[..len], Checksums::Verify) {
            Ok(packet) => _ = host.on_packet(now, &packet, &mut ()),
            // It may be an ICMP message about a packet: too big, unreachable.
            Err(_) => _ = host.on_icmp(now, &buf[..len], Checksums::Verify),
        }
    }
    if host.next_timer().is_some_and(|t| t <= now) {
        host.on_timer(now, &mut ());
    }
}

/// Sends all packets that the host has to send.
fn give(host: &mut Host, now: Time, device: &mut impl Device) -> Done {
    let mut buf = [0; MTU as usize];
    while let Some(sent) = host.poll_transmit(now, Writing::Whole, &mut buf, &mut ())? {
        device.send(&buf[..sent.len]);
    }
    Ok(())
}

/// The server: writes back everything that it reads, and closes when its peer has closed.
pub(crate) fn serve(host: &mut Host, at: SocketAddr, now: Time, device: &mut impl Device) -> Done {
    take(host, now, device);
    while host.accept(at).is_some() {}
    while let Some(id) = host.next_changed() {
        let Some(end) = host.endpoint_mut(id) else { continue };
        loop {
            let piece = end.readable().0.to_vec();
            let taken = end.write(&piece);
            end.consume(taken);
            if taken == 0 {
                break;
            }
        }
        if end.is_at_end() || end.connection().close_reason().is_some() {
            host.remove(now, id);
        }
    }
    give(host, now, device)
}

/// One side of a wire in memory.
#[derive(Default)]
pub(crate) struct Wire(pub(crate) VecDeque<Vec<u8>>, pub(crate) VecDeque<Vec<u8>>);

impl Device for Wire {
    fn receive(&mut self, buf: &mut [u8]) -> Option<usize> {
        let packet = self.0.pop_front()?;
        buf.get_mut(..packet.len())?.copy_from_slice(&packet);
        Some(packet.len())
    }
    fn send(&mut self, packet: &[u8]) {
        self.1.push_back(packet.to_vec());
    }
}

pub(crate) fn main() -> Done {
    let data: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
    (two_connections(&data)? == data).then_some(()).ok_or("other bytes arrived")?;
    let (from, at): (SocketAddr, SocketAddr) = ("10.0.0.1:0".parse()?, "10.0.0.2:7".parse()?);
    let stack = Stack::named("linux-2025").ok_or("no such stack")?;
    let mut server = Host::new(HostConfig::new([at.ip()], MTU), Secret::new(*b"other 16 of them"));
    server.listen(at, &stack, BUFFERS, 16)?;
    let mut client = Host::new(HostConfig::new([from.ip()], MTU), Secret::new(*b"16 random bytes!"));
    let (mut near, mut far, mut now) = (Wire::default(), Wire::default(), Time::ZERO);
    let mut talks: BTreeMap<Id, (usize, Vec<u8>)> = BTreeMap::new();
    for _ in 0..10 {
        talks.insert(client.connect(now, from, at, &stack, BUFFERS)?, Default::default());
    }
    while talks.values().any(|(_, heard)| heard.len() < data.len()) {
        for (id, (written, heard)) in &mut talks {
            let end = client.endpoint_mut(*id).ok_or("not there")?;
            *written += end.write(&data[*written..]);
            let mut piece = [0; 4096];
            while let n @ 1.. = end.read(&mut piece) {
                heard.extend_from_slice(&piece[..n]);
            }
        }
        give(&mut client, now, &mut near)?;
        far.0.append(&mut near.1);
        now += Nanos::from_millis(10); // a round trip
        serve(&mut server, at, now, &mut far)?;
        near.0.append(&mut far.1);
        take(&mut client, now, &mut near);
    }
    talks.values().all(|(_, heard)| *heard == data).then_some(()).ok_or("other bytes came back")?;
    println!("{} connections got {} bytes back after {now}, unchanged", talks.len(), data.len());
    Ok(())
}
