//! The links with all packets on them, and the fate of packets there.

use crate::background::{Slot, NOBODY, ROUND_BITS};
use crate::element::port::Port;
use crate::fate::Fates;
use crate::host::side;
use crate::measures::{Metering, TWIN};
use crate::next_event::{Keys, NextEvent};
use crate::results::LinkResult;
use crate::shared_transit::SharedTransits;
use crate::slab::Slab;
use crate::topology::HOST;
use crate::transit::Lane;
use crate::watch::{DropWhy, Dropped, Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;

/// Everything between the hosts, the time of the run, and the listener.
pub(crate) struct Links<W, M: Metering> {
    pub(crate) watch: W,
    pub(crate) meters: M::Run,
    /// By directed link.
    pub(crate) transits: Vec<Lane<M::Link>>,
    pub(crate) ports: Vec<Port>,
    pub(crate) counts: Vec<LinkResult>,
    pub(crate) hops: Vec<u32>,
    pub(crate) slab: Slab,
    /// The place for the next segment to be written.
    pub(crate) spare: u32,
    /// The next event of each link.
    pub(crate) next: NextEvent,
    /// Packets of equal links; their events are not in `next`.
    pub(crate) shared: SharedTransits,
    /// The number of flows' hosts; the others are background.
    pub(crate) shown: u32,
    /// The pairs of hosts of background transfers.
    pub(crate) slots: Vec<Slot>,
    /// The fates of the data of each pair of hosts.
    pub(crate) fates: Vec<Fates>,
    pub(crate) now: u64,
    /// The greatest key whose event has begun. An element's actions at times with a key up to this one have happened,
    /// even where it has no event of its own.
    pub(crate) so_far: u64,
    pub(crate) end: Time,
    pub(crate) keys: Keys,
}

impl<W: Watch, M: Metering> Links<W, M> {
    /// An event on a link. Returns the packet at its end, if any, and the link's position in the list of paths.
    #[inline(always)]
    pub(super) fn event(&mut self, link: u32) -> Option<(u32, u32)> {
        let transit = &mut self.transits[link as usize];
        let packet = if transit.keeps_packets_in_port() {
            self.port_event(link)?
        } else {
            let (packet, next) = transit.pop(&self.slab);
            self.next.set(link as usize, next);
            packet
        };
        Some((packet, self.slab[packet].hop))
    }

    /// The host to which a packet with this destination belongs now: none for a source, nor for a transfer that has
    /// ended.
    pub(crate) fn host_at(&self, to: u32) -> Option<u32> {
        if to < self.shown {
            return Some(to);
        }
        let (host, round) = (to & ((1 << ROUND_BITS) - 1), to >> ROUND_BITS);
        let slot = match host.checked_sub(self.shown) {
            Some(behind) if round != NOBODY => self.slots.get(behind as usize / 2),
            Some(_) | None => None,
        };
        slot.filter(|s| s.round == round).map(|_| host)
    }

    /// Records the parts of a segment with data, including its FIN, that a receiver threw away.
    pub(crate) fn write_down(&mut self, host: u32, seg: &Segment, sends: u8, missing: &[(Offset, Offset)]) {
        if host % 2 == 1 && seg.len > 0 {
            for (left, right) in missing {
                self.fates[host as usize / 2].refused(left.0, (*right - *left) as u32, sends);
            }
        }
    }

    /// A packet is dropped as the `nth` arrival at `element`, which is on `link`.
    #[cold]
    pub(crate) fn drop_packet(&mut self, packet: u32, link: u32, element: u32, nth: u64, why: DropWhy) {
        let p = &self.slab[packet];
        let drops = &mut self.counts[link as usize].drops;
        match why {
            DropWhy::Queue => drops.queue += 1,
            DropWhy::Loss => drops.loss += 1,
            DropWhy::Early => drops.early += 1,
            DropWhy::Script => drops.script += 1,
        }
        if W::ENABLED && p.to < self.shown {
            self.watch.lost(p.to / 2, side(p.to), p.number);
            let (at, flow, to) = (Time(self.now), p.to / 2, side(p.to));
            self.watch.dropped(Dropped { at, flow, to, element, nth, why, seg: &p.seg, sends: p.sends });
        }
        if let Some(host) = self.host_at(p.to).filter(|host| p.seg.len > 0 && host % 2 == 1) {
            self.fates[host as usize / 2].dropped(p.seg.seq.0, p.seg.seq_len() as u32, p.sends);
        }
        self.slab.free(packet);
    }

    /// A packet arrives at its next link or its host. A listener for hops sees arrivals at links.
    #[cold]
    pub(super) fn tell_of_hop(&mut self, packet: u32, hop: u32) {
        let (link, p) = (self.hops[hop as usize], &self.slab[packet]);
        if link != HOST && p.to < self.shown {
            self.watch.passed(Time(self.now), link, p.to / 2, side(p.to), p.number, &p.seg);
        }
    }

    /// Duplicates a packet. The duplicate does not count as a copy sent by a host.
    pub(crate) fn double(&mut self, packet: u32) -> u32 {
        let twin = self.slab.alloc();
        let p = self.slab[packet];
        self.slab[twin] = p;
        if W::ENABLED && p.to < self.shown {
            self.watch.copied(p.to / 2, side(p.to), p.number);
            self.watch.doubled(Time(self.now), p.to / 2, side(p.to), &p.seg, p.sends);
        }
        if M::ON && p.to < self.shown && side(p.to) == Side::Receiver && p.seg.len > 0 {
            self.slab[packet].stamp |= TWIN;
            self.slab[twin].stamp |= TWIN;
        }
        if let Some(host) = self.host_at(p.to).filter(|host| p.seg.len > 0 && host % 2 == 1) {
            self.fates[host as usize / 2].doubled(p.seg.seq.0, p.seg.seq_len() as u32, p.sends);
        }
        twin
    }
}
