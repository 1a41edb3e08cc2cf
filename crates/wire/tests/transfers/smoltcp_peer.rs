//! The engine against an independent TCP: smoltcp, over a wire that loses packets.

use crate::net::{addresses, Rng, MTU};
use ackclock_tcp::connection::State;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Initial, Writing};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use std::collections::VecDeque;

/// smoltcp's device: two queues.
#[derive(Default)]
struct Queues {
    inward: VecDeque<Vec<u8>>,
    outward: VecDeque<Vec<u8>>,
}

struct Inward(Vec<u8>);
struct Outward<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Inward {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Outward<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let r = f(&mut packet);
        self.0.push_back(packet);
        r
    }
}

impl Device for Queues {
    type RxToken<'a> = Inward;
    type TxToken<'a> = Outward<'a>;
    fn receive(&mut self, _: Instant) -> Option<(Inward, Outward<'_>)> {
        let packet = self.inward.pop_front()?;
        Some((Inward(packet), Outward(&mut self.outward)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Outward<'_>> {
        Some(Outward(&mut self.outward))
    }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut what = DeviceCapabilities::default();
        (what.medium, what.max_transmission_unit) = (Medium::Ip, MTU as usize);
        what
    }
}

struct Peer {
    device: Queues,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
}

const BYTES: usize = 200_000;

impl Peer {
    /// The second address; it listens, or connects to the first one.
    fn new(ipv6: bool, listens: bool) -> Peer {
        let [us, them] = addresses(ipv6);
        let mut device = Queues::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = 42;
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|list| list.push(IpCidr::new(them.ip().into(), if ipv6 { 64 } else { 24 })).unwrap());
        let buffer = || tcp::SocketBuffer::new(vec![0; 40_000]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        if listens {
            socket.listen(them.port()).unwrap();
        } else {
            socket.connect(interface.context(), (us.ip(), us.port()), them.port()).unwrap();
        }
        let mut sockets = SocketSet::new(vec![]);
        let handle = sockets.add(socket);
        Peer { device, interface, sockets, handle }
    }

    /// Sends and reads as much as possible.
    fn turn(&mut self, now: Time, stream: &[u8], sent: &mut usize, read: &mut Vec<u8>) {
        let now = Instant::from_micros((now.0 / 1000) as i64);
        self.interface.poll(now, &mut self.device, &mut self.sockets);
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.handle);
        if socket.may_send() && *sent < stream.len() {
            *sent += socket.send_slice(&stream[*sent..]).unwrap();
            if *sent == stream.len() {
                socket.close();
            }
        }
        while socket.can_recv() {
            socket
                .recv(|bytes| {
                    read.extend_from_slice(bytes);
                    (bytes.len(), ())
                })
                .unwrap();
        }
        self.interface.poll(now, &mut self.device, &mut self.sockets);
    }
}

fn transfer(name: &str, ipv6: bool, we_connect: bool, lost: u64) {
    let [us, them] = addresses(ipv6);
    let initial = Initial { isn: SeqNum(u32::MAX - 70_000), timestamp_offset: u32::MAX - 300, label: 1 };
    let border = Border::new(us, them, MTU, initial, Dialect::Linux).unwrap();
    let (stack, buffers) = (Stack::named(name).unwrap(), Buffers { send: 100_000, receive: 100_000 });
    let mut end =
        if we_connect { Endpoint::connect(&stack, border, buffers) } else { Endpoint::listen(&stack, border, buffers) };
    let mut peer = Peer::new(ipv6, we_connect);
    let mut rng = Rng(9);
    let [ours, theirs]: [Vec<u8>; 2] = [(); 2].map(|()| (0..BYTES).map(|_| rng.next() as u8).collect());
    let (mut we_sent, mut they_sent, mut we_read, mut they_read) = (0, 0, vec![], vec![]);
    let mut buf = [0; MTU as usize];
    for ms in 1..600_000 {
        let now = Time(ms * 1_000_000);
        for packet in std::mem::take(&mut peer.device.outward) {
            if rng.below(100) >= lost {
                end.on_packet(now, &parse(&packet, Checksums::Verify).unwrap(), &mut ());
            }
        }
        if end.next_timer().is_some_and(|t| t <= now) {
            end.on_timer(now, &mut ());
        }
        we_sent += end.write(&ours[we_sent..]);
        if we_sent == BYTES {
            end.close();
        }
        let mut some = [0; 4096];
        let n = end.read(&mut some);
        we_read.extend_from_slice(&some[..n]);
        while let Some(w) = end.poll_transmit(now, Writing::Whole, &mut buf, &mut ()).unwrap() {
            if rng.below(100) >= lost {
                peer.device.inward.push_back(buf[..w.len].to_vec());
            }
        }
        peer.turn(now, &theirs, &mut they_sent, &mut they_read);
        if matches!(end.state(), State::TimeWait | State::Closed)
            && they_read.len() == BYTES
            && end.readable().0.is_empty()
        {
            break;
        }
    }
    assert!(they_read == ours, "{name}: smoltcp read {} bytes, or others", they_read.len());
    assert!(we_read == theirs, "{name}: we read {} bytes, or others", we_read.len());
}

#[test]
fn smoltcp_and_we_move_equal_bytes_both_ways_whoever_connects() {
    for name in ["linux-2025", "rfc-today", "newreno"] {
        for ipv6 in [false, true] {
            for we_connect in [true, false] {
                for lost in [0, 2] {
                    transfer(name, ipv6, we_connect, lost);
                }
            }
        }
    }
}
