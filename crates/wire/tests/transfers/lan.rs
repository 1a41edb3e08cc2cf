//! Two hosts with many connections, and a wire between them that loses, delays and duplicates
//! packets.

use crate::net::{Harm, Rng, MTU};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::host::{Arrival, Host, HostConfig, Id};
use ackclock_wire::{parse, Buffers, Checksums, Packet, Secret, Writing};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use xxhash_rust::xxh3::Xxh3;

pub(crate) const BUFFERS: Buffers = Buffers { send: 16_384, receive: 16_384 };
const DELAY: Nanos = Nanos::from_millis(10);

/// One connection's application.
pub(crate) enum App {
    /// Writes a stream of its own, closes, and hashes the echoed data.
    Client { seed: u64, to_write: u64, written: u64, read: u64, sent: Xxh3, heard: Xxh3 },
    /// Writes back the data that it reads, and closes when its peer has.
    Echo,
}

pub(crate) struct Lan {
    pub(crate) hosts: [Host; 2],
    pub(crate) apps: [BTreeMap<Id, App>; 2],
    pub(crate) now: Time,
    pub(crate) harm: Harm,
    rng: Rng,
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    count: u64,
    /// Clients that have read everything.
    pub(crate) done: usize,
    /// The largest number of connections of either host.
    pub(crate) most: usize,
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub(crate) fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// A host at both families' address number `n`.
pub(crate) fn config(n: u8) -> HostConfig {
    HostConfig::new([ip(&format!("10.1.0.{n}")), ip(&format!("fd00::{n}"))], MTU)
}

/// The next packet that `host` sends.
pub(crate) fn next(host: &mut Host, now: Time) -> Option<Vec<u8>> {
    let mut buf = vec![0; MTU as usize];
    let written = host.poll_transmit(now, Writing::Whole, &mut buf, &mut ()).unwrap()?;
    buf.truncate(written.len);
    Some(buf)
}

/// Everything that `host` sends now.
pub(crate) fn all(host: &mut Host, now: Time) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| next(host, now)).collect()
}

pub(crate) fn read(bytes: &[u8]) -> Packet<'_> {
    parse(bytes, Checksums::Verify).unwrap()
}

pub(crate) fn give(host: &mut Host, now: Time, bytes: &[u8]) -> Arrival {
    host.on_packet(now, &read(bytes), &mut ())
}

/// Passes packets back and forth until both are done.
pub(crate) fn talk(a: &mut Host, b: &mut Host, now: Time) {
    loop {
        let (from_a, from_b) = (all(a, now), all(b, now));
        if from_a.is_empty() && from_b.is_empty() {
            return;
        }
        from_a.iter().for_each(|p| _ = give(b, now, p));
        from_b.iter().for_each(|p| _ = give(a, now, p));
    }
}

impl Lan {
    pub(crate) fn new(configs: [HostConfig; 2], harm: Harm, seed: u64) -> Lan {
        let mut key = 0;
        let hosts = configs.map(|config| {
            key += 1;
            Host::new(config, Secret::new([key; 16]))
        });
        Lan {
            hosts,
            apps: Default::default(),
            now: Time::ZERO,
            harm,
            rng: Rng(seed),
            wire: BTreeMap::new(),
            count: 0,
            done: 0,
            most: 0,
        }
    }

    /// The first host opens a connection to an echo server and has `bytes` for it.
    pub(crate) fn open(&mut self, stack: &Stack, local: SocketAddr, remote: SocketAddr, bytes: u64) -> Id {
        let id = self.hosts[0].connect(self.now, local, remote, stack, BUFFERS).unwrap();
        let seed = self.rng.next();
        let mut app = App::Client { seed, to_write: bytes, written: 0, read: 0, sent: Xxh3::new(), heard: Xxh3::new() };
        app.work(&mut self.hosts[0], id);
        self.apps[0].insert(id, app);
        id
    }

    /// Runs until all connections are done; panics if nothing more can happen before that.
    pub(crate) fn run(&mut self, listening: &[SocketAddr]) {
        (0..2).for_each(|h| self.serve(h, listening));
        while !self.apps.iter().all(BTreeMap::is_empty) {
            let timers = self.hosts.iter().filter_map(Host::next_timer);
            let next = timers.chain(self.wire.keys().next().map(|k| k.0)).min();
            self.now = next.unwrap_or_else(|| panic!("nothing more happens: {} done", self.done)).max(self.now);
            assert!(self.now < Time(3_600_000_000_000), "an hour: {} done", self.done);
            while let Some(entry) = self.wire.first_entry().filter(|e| e.key().0 <= self.now) {
                let (h, bytes) = entry.remove();
                give(&mut self.hosts[h], self.now, &bytes);
            }
            for h in 0..2 {
                self.hosts[h].on_timer(self.now, &mut ());
                self.serve(h, listening);
                self.most = self.most.max(self.hosts[h].connections());
            }
        }
    }

    fn serve(&mut self, h: usize, listening: &[SocketAddr]) {
        for at in listening {
            while let Some(id) = self.hosts[h].accept(*at) {
                self.apps[h].insert(id, App::Echo);
            }
        }
        let host = &mut self.hosts[h];
        while let Some(id) = host.next_changed() {
            let app = self.apps[h].get_mut(&id).expect("an application's connection");
            if app.work(host, id) {
                self.done += usize::from(matches!(self.apps[h].remove(&id), Some(App::Client { .. })));
                host.remove(self.now, id);
            }
        }
        while let Some(bytes) = next(&mut self.hosts[h], self.now) {
            self.transmit(h, bytes);
        }
    }

    fn transmit(&mut self, from: usize, bytes: Vec<u8>) {
        let Harm { lost, late, doubled } = self.harm;
        if self.rng.below(100) < lost {
            return;
        }
        for _ in 0..1 + u64::from(self.rng.below(100) < doubled) {
            let extra = if self.rng.below(100) < late { self.rng.below(3 * DELAY.0) } else { 0 };
            self.count += 1;
            self.wire.insert((self.now + DELAY + Nanos(extra), self.count), (1 - from, bytes.clone()));
        }
    }
}

impl App {
    /// Reads and writes as much as possible; returns whether its connection is done.
    fn work(&mut self, host: &mut Host, id: Id) -> bool {
        let end = host.endpoint_mut(id).expect("its connection");
        assert!(matches!(
            end.connection().close_reason(),
            None | Some(ackclock_tcp::connection::CloseReason::Finished)
        ));
        match self {
            App::Echo => {
                loop {
                    let piece = end.readable().0.to_vec();
                    let taken = end.write(&piece);
                    end.consume(taken);
                    if taken == 0 {
                        break;
                    }
                }
                end.is_at_end()
            }
            App::Client { seed, to_write, written, read, sent, heard } => {
                while written < to_write {
                    let len = (*to_write - *written).min(1 << 12).min(end.room() as u64);
                    let bytes: Vec<u8> = (*written..*written + len)
                        .map(|i| (i.wrapping_add(*seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
                        .collect();
                    assert_eq!(end.write(&bytes), bytes.len());
                    sent.update(&bytes);
                    *written += len;
                    if len == 0 {
                        break;
                    }
                }
                if written == to_write {
                    end.close();
                }
                let (first, rest) = end.readable();
                heard.update(first);
                heard.update(rest);
                let n = first.len() + rest.len();
                *read += n as u64;
                end.consume(n);
                if !end.is_at_end() {
                    return false;
                }
                assert_eq!((*read, heard.digest()), (*to_write, sent.digest()), "other bytes came back");
                true
            }
        }
    }
}
