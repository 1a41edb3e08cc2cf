//! The period that is being counted, and the events after it.

use super::link::LaneMeter;
use super::{LinkMeter, LinkMetering, RunMetering};
use crate::histogram::Histogram;
use crate::next_event::MAX_TIME;
use ackclock_tcp::time::Time;
use ackclock_tcp::units::Bytes;

/// The current period, a run or a bin.
pub struct Period {
    /// Its end.
    horizon: u64,
    /// Events after it.
    later: Vec<Later>,
    /// For each link, packets and bytes that are counted for it alone.
    single: Vec<(u64, Bytes)>,
    /// The duration of each finished transfer, by kind of background traffic, ns.
    transfers: Vec<Histogram>,
}

/// A packet that leaves a link after the period.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Later {
    leaves: u64,
    link: u32,
    what: Leaving,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaving {
    /// A packet that waited this long, ns.
    Waited(u64),
    /// A packet of this size.
    Bytes(u32),
}

impl RunMetering for Period {
    type Link = LaneMeter;

    fn until(until: Time, links: usize, generators: usize) -> Self {
        let transfers = vec![Histogram::default(); generators];
        Period { horizon: until.0, later: Vec::new(), single: vec![(0, 0); links], transfers }
    }

    #[inline(always)]
    fn is_later(&self, time: u64) -> bool {
        time > self.horizon
    }

    #[cold]
    fn waits(&mut self, leaves: u64, link: u32, wait: u64) {
        if wait > 0 {
            self.later.push(Later { leaves, link, what: Leaving::Waited(wait) });
        }
    }

    #[cold]
    fn leaves(&mut self, leaves: u64, link: u32, wire: u32) {
        if self.is_later(leaves) {
            return self.later.push(Later { leaves, link, what: Leaving::Bytes(wire) });
        }
        let (packets, bytes) = &mut self.single[link as usize];
        *packets += 1;
        *bytes += u64::from(wire);
    }

    fn transferred(&mut self, generator: u32, took: u64) {
        if let Some(h) = self.transfers.get_mut(generator as usize) {
            h.record(took);
        }
    }

    fn turn(
        &mut self,
        until: Time,
        meters: &mut [&mut LaneMeter],
        feeder: &[Option<u32>],
    ) -> (Vec<LinkMeter>, Vec<Histogram>) {
        let next = Period::until(until, meters.len(), self.transfers.len());
        let Period { horizon: _, later, single, transfers } = std::mem::replace(self, next);
        let links = settle(meters, single, feeder);
        for Later { leaves, link, what } in later {
            match what {
                Leaving::Waited(wait) if self.is_later(leaves) => self.waits(leaves, link, wait),
                Leaving::Waited(wait) => meters[link as usize].waited(wait),
                Leaving::Bytes(wire) => self.leaves(leaves, link, wire),
            }
        }
        (links, transfers)
    }
}

/// The loads of all links, out of their meters. `single` are loads that count for one link only.
fn settle(meters: &mut [&mut LaneMeter], single: Vec<(u64, Bytes)>, feeder: &[Option<u32>]) -> Vec<LinkMeter> {
    let alone = |(packets, bytes)| LinkMeter { packets, bytes, wait: Histogram::default() };
    let mut links: Vec<LinkMeter> = single.into_iter().map(alone).collect();
    for (last, meter) in meters.iter_mut().enumerate() {
        let LaneMeter { mut wait, packets, bytes, last: _ } = std::mem::take(*meter);
        // These packets never leave.
        wait.forget_from(MAX_TIME);
        links[last].wait = wait;
        let mut entered = Some(last as u32);
        while let Some(link) = entered {
            let l = &mut links[link as usize];
            l.packets += packets;
            l.bytes += bytes;
            entered = feeder[link as usize];
        }
    }
    for l in &mut links {
        // Only packets that waited were recorded.
        l.wait.record_zeros(l.packets - l.wait.len());
    }
    links
}
