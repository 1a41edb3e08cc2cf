//! What hosts, devices and places of capture do to packets.

use super::packets::Packet;
use crate::score::Point;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A capture that is rewritten.
pub(super) struct Capture {
    pub(super) point: Point,
    /// Changes all that is random.
    pub(super) seed: u64,
    /// What the sender's device got, joined as [`Capture::joined`] does, by the places of the sender's packets.
    pub(super) trains: Arc<BTreeMap<u64, u64>>,
    pub(super) packets: Vec<Packet>,
    pub(super) pauses: Arc<Vec<Pause>>,
}

/// Nothing was outstanding for more than two seconds: the first byte after it, and for each point when the last packet passed it, an
/// acknowledgment, and the next, which has data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    next: u32,
    times: [(i64, i64); 3],
}

/// The first byte after each pause, with the times of the packets before and after it.
pub(super) fn pauses(points: [&[Packet]; 3]) -> Vec<Pause> {
    let of = |packets: &[Packet]| -> BTreeMap<u32, (i64, i64)> {
        let idle = packets.windows(2).filter(|w| {
            let told = !w[0].from_sender && w[0].len() == 0 && w[1].from_sender && w[1].len() > 1 && w[1].is_plain();
            told && w[0].ack() == w[1].seq() && w[1].at - w[0].at > 2_000 * MILLISECOND
        });
        idle.map(|w| (w[1].seq(), (w[0].at, w[1].at))).collect()
    };
    let [sender, receiver, middle] = points.map(of);
    let all = |(next, times): (&u32, &(i64, i64))| {
        let times = [*times, *receiver.get(next)?, *middle.get(next)?];
        Some(Pause { next: *next, times })
    };
    sender.iter().filter_map(all).collect()
}

/// No place in the order of a host's packets is before this one.
const FIRST: u64 = 1 << 32;
const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;

/// Uniform over 64 bits (splitmix64).
fn random(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n.wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Capture {
    /// The places of its packets in their hosts' orders of sending: simulated identifications count the packets of each host.
    fn places(&self) -> Vec<u64> {
        let mut last: BTreeMap<bool, u64> = BTreeMap::new();
        let place = |p: &Packet| {
            let last = last.entry(p.from_sender).or_insert(FIRST + 65_536 + u64::from(p.id()));
            let step = p.id().wrapping_sub(*last as u16) as i16;
            *last = last.wrapping_add_signed(i64::from(step));
            *last
        };
        self.packets.iter().map(place).collect()
    }

    /// New identifications, by the sending host and the place in its order.
    fn renumber(&mut self, new: impl Fn(bool, u64) -> u16) {
        let places = self.places();
        for (packet, place) in self.packets.iter_mut().zip(places) {
            packet.set_id(new(packet.from_sender, place));
        }
    }

    /// One counter for all of a host's packets, of which one in ten is followed by up to 30 of other connections.
    pub(super) fn count_per_host(&mut self) {
        self.per_host(|id| id);
    }

    /// The same, with the counter's bytes swapped, as older systems wrote it.
    pub(super) fn count_swapped(&mut self) {
        self.per_host(u16::swap_bytes);
    }

    fn per_host(&mut self, write: fn(u16) -> u16) {
        let most = self.places().into_iter().max().unwrap_or(FIRST);
        let seed = self.seed;
        let others = [false, true].map(|host| -> Vec<u64> {
            let others = |n: u64| match random(seed + u64::from(host), n) {
                r if r % 10 == 0 => 1 + (r >> 8) % 30,
                _ => 0,
            };
            let sum = |sum: &mut u64, n: u64| {
                *sum += others(n);
                Some(*sum)
            };
            (FIRST..=most).scan(0, sum).collect()
        });
        self.renumber(|host, place| write((place + others[usize::from(host)][(place - FIRST) as usize]) as u16));
    }

    pub(super) fn count_at_random(&mut self) {
        let seed = self.seed;
        self.renumber(|host, place| random(seed + u64::from(host), place) as u16);
    }

    /// A device splits what the sender gives it, and gives all parts one number.
    pub(super) fn one_number_per_train(&mut self) {
        let trains = Arc::clone(&self.trains);
        self.renumber(|host, place| match host {
            true => trains.get(&place).map_or(place, |train| *train) as u16,
            false => place as u16,
        });
    }

    /// The number of the train in which each of the sender's packets left.
    pub(super) fn trains(&self) -> BTreeMap<u64, u64> {
        let places: Vec<u64> = self.places();
        let mut joined =
            Capture { packets: self.packets.clone(), trains: Arc::default(), pauses: Arc::default(), ..*self };
        joined.joined();
        let sent = joined.packets.iter().filter(|p| p.from_sender).zip(FIRST..);
        let frames = |(p, train): (&Packet, u64)| -> Vec<(u64, u64)> {
            p.frames.iter().map(|f| (places[*f as usize - 1], train)).collect()
        };
        sent.flat_map(frames).collect()
    }

    fn each(&mut self, change: impl Fn(&mut Packet)) {
        self.packets.iter_mut().for_each(change);
    }

    pub(super) fn without_timestamps(&mut self) {
        self.each(Packet::without_timestamps);
    }

    pub(super) fn half_second_ticks(&mut self) {
        self.each(|p| p.tick(500));
    }

    pub(super) fn ten_ms_ticks(&mut self) {
        self.each(|p| p.tick(10));
    }

    pub(super) fn in_ipv6(&mut self) {
        self.each(Packet::in_ipv6);
    }

    pub(super) fn sums(&mut self) {
        self.each(Packet::sum);
    }

    /// Offload: the sender's device gets what it will split (within 0.1 ms), the receiver's device has joined what arrived
    /// (within 5 ms, when the last of it came). Nothing else was captured between the parts.
    pub(super) fn joined(&mut self) {
        let within = match self.point {
            Point::Sender => MILLISECOND / 10,
            Point::Receiver => 5 * MILLISECOND,
            Point::Middle | Point::Both => return,
        };
        let mut joined: Vec<Packet> = Vec::with_capacity(self.packets.len());
        let mut began = 0;
        for packet in self.packets.drain(..) {
            match joined.last_mut() {
                Some(last) if packet.from_sender && last.goes_on_with(&packet) && packet.at - began <= within => {
                    last.join(&packet);
                    if self.point == Point::Receiver {
                        last.at = packet.at;
                    }
                }
                _ => {
                    began = packet.at;
                    joined.push(packet);
                }
            }
        }
        self.packets = joined;
    }

    /// A mirror shows every packet before and behind a router, which takes up to 1 ms, in order.
    pub(super) fn before_and_behind_a_router(&mut self) {
        let seed = self.seed;
        self.doubled(|n| 50 * MICROSECOND + (random(seed, n) % 950) as i64 * MICROSECOND, Packet::passes_a_router);
    }

    /// A mirror shows every packet when it comes and when it goes.
    pub(super) fn mirrored(&mut self) {
        let seed = self.seed;
        self.doubled(|n| 5 * MICROSECOND + (random(seed, n) % 30) as i64 * MICROSECOND, |_| {});
    }

    fn doubled(&mut self, delay: impl Fn(u64) -> i64, change: impl Fn(&mut Packet)) {
        let mut all = Vec::with_capacity(2 * self.packets.len());
        let mut last = [i64::MIN; 2];
        for (packet, n) in self.packets.drain(..).zip(0..) {
            let last = &mut last[usize::from(packet.from_sender)];
            *last = (packet.at + delay(n)).max(*last + 1);
            let mut copy = Packet { at: *last, frames: vec![], ..packet.clone() };
            change(&mut copy);
            all.extend([packet, copy]);
        }
        all.sort_by_key(|p| p.at);
        self.packets = all;
    }

    /// The receiver's window closes in every second pause: the sender probes it with one byte of new data (RFC 9293 §3.8.6.1), again
    /// and again, and the receiver takes none of it, until its window opens. In the others the sender asks whether the receiver is
    /// still there, with the byte before (§3.8.4).
    pub(super) fn probes(&mut self) {
        let pauses = Arc::clone(&self.pauses);
        for (pause, n) in pauses.iter().zip(0..) {
            self.probe(pause, n % 2 == 0);
        }
        self.packets.sort_by_key(|p| p.at);
    }

    fn probe(&mut self, pause: &Pause, closed: bool) {
        let [sender, receiver, here] = [Point::Sender, Point::Receiver, self.point].map(|at| pause.times[at as usize]);
        let last = |p: &Packet| !p.from_sender && p.at == here.0 && p.ack() == pause.next;
        let next = |p: &Packet| p.from_sender && p.at == here.1 && p.seq() == pause.next;
        let (Some(last), Some(next)) = (self.packets.iter().position(last), self.packets.iter().position(next)) else {
            return;
        };
        let (there, back) = (here.1 - sender.1, here.0 - receiver.0);
        let across = receiver.1 - sender.1;
        let (data, opening) = (self.packets[next].clone(), self.packets[last].clone());
        if closed {
            self.packets[last].close_window();
        }
        let answer = Packet { frames: vec![], ..self.packets[last].clone() };
        let mut wait = 500 * MILLISECOND;
        let mut at = sender.0 + wait;
        while at + 500 * MILLISECOND < sender.1 {
            let mut pair = [data.probe(u32::from(!closed)), answer.clone()];
            (pair[0].at, pair[1].at) = (at + there, at + across + back);
            self.packets.extend(pair);
            wait *= 2;
            at += wait;
        }
        if closed {
            let at = sender.1 - MILLISECOND - (sender.0 - here.0);
            self.packets.push(Packet { at, frames: vec![], ..opening });
        }
    }

    pub(super) fn data_alone(&mut self) {
        self.packets.retain(|p| p.from_sender);
    }

    pub(super) fn acks_alone(&mut self) {
        self.packets.retain(|p| !p.from_sender);
    }

    /// The capture began when a third of the packets had passed.
    pub(super) fn begun_late(&mut self) {
        self.packets.drain(..self.packets.len() / 3);
    }

    /// Each direction has a VLAN of its own.
    pub(super) fn in_vlans(&mut self) {
        self.each(|p| p.in_vlan(if p.from_sender { 10 } else { 20 }));
    }

    /// Packets captured twice come with two tags.
    pub(super) fn in_vlans_of_mirrors(&mut self) {
        self.each(|p| p.in_vlan(if p.frames.is_empty() { 20 } else { 10 }));
    }
}
