//! Two hosts, and an attacker between them who repeats, damages, drops and forges packets: nothing panics, nothing grows beyond
//! its bound, and after the applications have closed, everything ends.

use crate::fuzz::{self, Target};
use crate::hostile::{executions, seeds, spoil};
use crate::rng::Rng;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Host, HostConfig, Id};
use ackclock_wire::{parse, Buffers, Checksums, Secret, Writing};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const MOST: usize = 40;
const BACKLOG: usize = 3;
const BUFFERS: Buffers = Buffers { send: 4096, receive: 4096 };

struct Two {
    hosts: [Host; 2],
    /// The connections that each has opened or accepted and not removed.
    ids: [Vec<Id>; 2],
    /// Packets that were sent, and their receivers; the oldest are overwritten.
    air: Vec<(usize, Vec<u8>)>,
    stacks: Vec<Stack>,
    now: Time,
    rng: Rng,
    opened: u64,
    /// The most calls of the timers at one moment.
    rounds: u32,
}

fn ends(h: usize) -> [SocketAddr; 2] {
    let last = h as u8 + 1;
    let (v4, v6) = (Ipv4Addr::new(10, 0, 0, last), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last.into()));
    [IpAddr::from(v4), IpAddr::from(v6)].map(|ip| SocketAddr::new(ip, 7))
}

impl Two {
    fn new(seed: u64, rounds: u32) -> Two {
        let stacks: Vec<_> = Stack::names().map(|name| Stack::named(name).unwrap()).collect();
        let hosts = [0, 1].map(|h| {
            let mut config = HostConfig::new(ends(h).map(|e: SocketAddr| -> IpAddr { e.ip() }), 1500);
            (config.max_connections, config.max_time_wait, config.ports) = (MOST, 5, 1000..=1019);
            let mut host = Host::new(config, Secret::new([h as u8 + 1; 16]));
            for (at, stack) in ends(h).into_iter().zip(stacks.iter().skip(h * 3)) {
                host.listen(at, stack, BUFFERS, BACKLOG).unwrap();
            }
            host
        });
        Two { hosts, ids: [vec![], vec![]], air: vec![], stacks, now: Time(1), rng: Rng(seed), opened: 0, rounds }
    }

    /// Sends everything that a host has to send now. This must terminate, and so must immediate timers: a detector may learn from
    /// an ACK that its time has already passed, and after a jump several timers in turn are late.
    fn drain(&mut self, h: usize) {
        for _ in 0..self.rounds {
            self.transmit(h);
            if self.hosts[h].next_timer().is_none_or(|due| due > self.now) {
                return;
            }
            self.hosts[h].on_timer(self.now, &mut ());
        }
        panic!("due at {:?}, now {}, whatever is done", self.hosts[h].next_timer(), self.now);
    }

    fn transmit(&mut self, h: usize) {
        let mut buf = [0; 1500];
        for _ in 0..5_000 {
            let Some(sent) = self.hosts[h].poll_transmit(self.now, Writing::Whole, &mut buf, &mut ()).unwrap() else {
                return;
            };
            let packet = (1 - h, buf[..sent.len].to_vec());
            match self.air.len() {
                30 => {
                    let place = self.rng.below(30);
                    self.air[place] = packet;
                }
                _ => self.air.push(packet),
            }
        }
        panic!("never stops sending");
    }

    fn application(&mut self, h: usize) {
        for at in ends(h) {
            if self.rng.below(2) == 0 {
                self.ids[h].extend(self.hosts[h].accept(at));
            }
        }
        while self.hosts[h].next_changed().is_some() {}
        if self.rng.below(8) == 0 {
            let family = self.rng.below(2);
            let (mut from, to) = (ends(h)[family], ends(1 - h)[family]);
            from.set_port([0, 0, 7, 9][self.rng.below(4)]);
            let stack = &self.stacks[self.rng.below(self.stacks.len())];
            self.ids[h].extend(self.hosts[h].connect(self.now, from, to, stack, BUFFERS));
        }
        if self.ids[h].is_empty() {
            return;
        }
        let i = self.rng.below(self.ids[h].len());
        let (host, id) = (&mut self.hosts[h], self.ids[h][i]);
        self.opened += u64::from(host.endpoint(id).is_some_and(|e| e.connection().receiver().is_some()));
        match self.rng.below(60) {
            0 => host.remove(self.now, id),
            1 if self.rng.below(2) == 0 => host.abort(id),
            2 => _ = host.endpoint_mut(id).map(|e| e.close()),
            3 => _ = host.endpoint_mut(id).map(|e| e.set_keep_alive(self.now, Some(Default::default()))),
            4..=20 => _ = host.endpoint_mut(id).map(|e| e.write(&[5; 3000])),
            _ => _ = host.endpoint_mut(id).map(|e| e.consume(2000)),
        }
        if host.endpoint(id).is_none() {
            self.ids[h].swap_remove(i);
        }
    }

    /// A packet arrives at one of the hosts: a packet of the other host, perhaps repeated or damaged, or an arbitrary one.
    fn arrive(&mut self, seeds: &[Vec<u8>], bytes: &mut Vec<u8>) {
        let mut h = self.rng.below(2);
        bytes.clear();
        match (self.rng.below(10), self.air.is_empty()) {
            (0, _) | (_, true) => spoil(&mut self.rng, seeds, bytes),
            (kind, false) => {
                let i = self.rng.below(self.air.len());
                let (to, packet) = if kind < 8 { self.air.swap_remove(i) } else { self.air[i].clone() };
                (h, *bytes) = (to, packet);
                if kind > 6 {
                    let at = 20 + self.rng.below(bytes.len() - 20);
                    bytes[at] ^= 1 << self.rng.below(8);
                }
            }
        }
        match parse(bytes, Checksums::Trust) {
            Ok(packet) => _ = self.hosts[h].on_packet(self.now, &packet, &mut ()),
            Err(_) => _ = self.hosts[h].on_icmp(self.now, bytes, Checksums::Trust),
        }
        if self.rng.below(10) == 0 {
            let about = self.icmp(bytes);
            _ = self.hosts[1 - h].on_icmp(self.now, &about, Checksums::Trust);
        }
    }

    /// A random ICMP message about a packet.
    fn icmp(&mut self, about: &[u8]) -> Vec<u8> {
        let v4 = about.first().is_none_or(|b| b >> 4 == 4);
        let mut out = if v4 { vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 1] } else { vec![0x60, 0, 0, 0, 0, 0, 58, 64] };
        out.resize(if v4 { 20 } else { 40 }, 0);
        // Sent to the packet's source.
        let (to, from, len) = if v4 { (16, 12, 4) } else { (24, 8, 16) };
        if let Some(source) = about.get(from..from + len) {
            out[to..to + len].copy_from_slice(source);
        }
        let kind = if v4 { 3 } else { 1 + self.rng.below(2) as u8 };
        out.extend([kind, self.rng.below(8) as u8, 0, 0, 0, 0, self.rng.next() as u8 & 7, self.rng.next() as u8]);
        out.extend_from_slice(&about[..about.len().min(60)]);
        out
    }

    /// The applications close; then everything must end.
    fn end(&mut self) {
        for h in [0, 1] {
            for at in ends(h) {
                self.hosts[h].unlisten(at);
            }
            for id in std::mem::take(&mut self.ids[h]) {
                self.hosts[h].remove(self.now, id);
            }
            self.drain(h);
        }
        let before = self.now;
        while let Some(due) = self.hosts.iter().filter_map(Host::next_timer).min() {
            self.now = self.now.max(due);
            for h in [0, 1] {
                self.hosts[h].on_timer(self.now, &mut ());
                self.drain(h);
            }
            let states = || self.hosts.each_ref().map(|host| host.states().collect::<Vec<_>>());
            assert!(self.now.since(before) < Nanos::from_secs(3600), "an hour, and still {:?}", states());
        }
        assert_eq!(self.left(), [(0, 0), (0, 0)]);
    }

    fn left(&self) -> [(usize, usize); 2] {
        [0, 1].map(|h| (self.hosts[h].connections(), self.hosts[h].time_waits()))
    }
}

/// Two hosts under attack for 2,000 packets; `jump` returns how far the clock moves before each. Returns how often an end of a
/// connection was established.
fn attacked(mut two: Two, seeds: &[Vec<u8>], jump: fn(&mut Rng) -> u64) -> u64 {
    let mut bytes = vec![];
    for _ in 0..2_000 {
        two.now.0 += jump(&mut two.rng);
        two.arrive(seeds, &mut bytes);
        for h in [0, 1] {
            two.hosts[h].on_timer(two.now, &mut ());
            two.application(h);
            two.drain(h);
            let (connections, waits) = (two.hosts[h].connections(), two.hosts[h].time_waits());
            assert!(connections <= MOST && waits <= 5, "{connections} connections, {waits} waits");
        }
    }
    two.end();
    two.opened
}

#[test]
fn hosts_stay_whole_and_within_their_bounds_whatever_arrives_and_everything_ends() {
    let (seeds, mut opened) = (seeds(), 0);
    let target = Target::new("hosts", 2_000_000);
    target.each(executions().div_ceil(2_000), |number, seed| {
        target.run(number, &"2,000 packets", || {
            opened += attacked(Two::new(seed, 3), &seeds, |rng| 1 + rng.below(40_000_000) as u64);
        });
    });
    assert!(opened > executions() / 10, "{opened}: too few to say anything");
}

/// A peer's SACK of a zero-window probe, and nothing after it, once left TCP-PR without a timer: the probe was never resent, and
/// kept the window closed for lost data.
#[test]
fn a_sacked_probe_that_is_never_acknowledged_does_not_keep_a_connection_for_ever() {
    attacked(Two::new(fuzz::watch::seed(2_002_529), 3), &seeds(), |rng| 1 + rng.below(40_000_000) as u64);
}

/// As after a suspended machine wakes up: from microseconds to a month. Each kind of timer may be late then, one after the other,
/// but none more often than it has to: keep-alive's nine probes at one moment are too many.
#[test]
fn hosts_stay_whole_if_their_clock_jumps_ahead_or_stands_still() {
    let (seeds, mut opened) = (seeds(), 0);
    let target = Target::new("hosts whose clock jumps", 2_000_000);
    target.each(executions().div_ceil(8_000), |number, seed| {
        target.run(number, &"2,000 packets", || {
            opened += attacked(Two::new(seed, 3), &seeds, |rng| match rng.below(100) {
                0 => 1 << rng.below(52),
                1..10 => 0,
                _ => 1 + rng.below(40_000_000) as u64,
            });
        });
    });
    assert!(opened > executions() / 40, "{opened}: too few to say anything");
}
