//! Finds the links that packets enter together with the previous link, and the queues that are never full.

use super::direction;
use crate::element::direction::{DirectionSpec, QueueLimit};
use crate::element::port::Port;
use crate::element::properties::Acts;
use crate::scenario::{BackgroundKind, ElementSpec, FlowSpec, Scenario, WireSpec};
use crate::topology::{Paths, FUSED, HOST};
use crate::transit::Transit;

/// The state of a link that is fed by only one other link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fed {
    /// By hosts, by several links, or not at all.
    Many,
    /// Its queue may fill.
    Alone,
    /// Its queue is never full.
    Trailing,
}

/// How each link is fed, as far as packets can enter it together with the link that feeds it.
pub(super) fn feeding(s: &Scenario, paths: &Paths) -> Vec<Fed> {
    const MANY: u32 = u32::MAX;
    let mut feeder = vec![None; 2 * s.links.len()];
    let mut before = MANY;
    for &hop in &paths.hops {
        if hop == HOST {
            before = MANY;
            continue;
        }
        let f = &mut feeder[hop as usize];
        *f = Some(if f.is_none_or(|known| known == before) { before } else { MANY });
        before = hop;
    }
    let (short, long) = sizes(s);
    let fed = |(link, from): (usize, &Option<u32>)| match *from {
        None | Some(MANY) => Fed::Many,
        Some(from) => {
            let (d, before) = (direction(s, link), direction(s, from as usize));
            let in_order = link > from as usize || takes_time(d, short);
            match d.elements.as_slice() {
                _ if !in_order => Fed::Many,
                [] if never_full(d, before, short, long) => Fed::Trailing,
                // Elements that only add to the delay act behind the queue, which stays counted.
                all if takes_time(before, short) && all.iter().all(adds_delay) => Fed::Alone,
                _ => Fed::Many,
            }
        }
    };
    feeder.iter().enumerate().map(fed).collect()
}

/// The smallest and the largest packet possible on the network, in bytes on the wire.
fn sizes(s: &Scenario) -> (u64, u64) {
    let most_options = 100;
    let size = |f: &FlowSpec| match f.wire {
        WireSpec::Ns2 { header } => (u64::from(header + 1).min(40), u64::from(f.mss + header).max(80)),
        WireSpec::Ipv4 => (40, u64::from(f.mss) + most_options),
    };
    let background = s.background.iter().map(|b| match &b.kind {
        BackgroundKind::Transfers(t) => size(&t.flow),
        BackgroundKind::Source(s) => (u64::from(s.packet), u64::from(s.packet)),
    });
    s.flows.iter().map(size).chain(background).fold((u64::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Whether all that an element does is add to the delay.
fn adds_delay(e: &ElementSpec) -> bool {
    e.properties().acts == Acts::OnDelay
}

/// Whether a packet that enters this link arrives at a later time, however short it is. (If it arrived at the same time, fusing
/// would change the order of this event and of those of other links at that time, and so the departures "by now" behind the
/// link.)
fn takes_time(d: &DirectionSpec, short: u64) -> bool {
    d.delay.0 > 0 || d.rate.is_some_and(|r| short * 8_000_000_000 >= 2 * r.0)
}

/// Whether the queue of `d` can never be full when only `before` feeds it: packets sent one by one by a slower transmitter
/// never accumulate at a faster one, beyond the arrivals during one transmission of the longest packet.
fn never_full(d: &DirectionSpec, before: &DirectionSpec, short: u64, long: u64) -> bool {
    let one_by_one = !before.elements.iter().any(|e| e.properties().bunches);
    let slower = match (before.rate, d.rate) {
        (Some(a), Some(b)) => a <= b,
        (Some(_), None) => true,
        (None, _) => false,
    };
    match d.queue.limit {
        QueueLimit::Unlimited => true,
        QueueLimit::Packets(n) => one_by_one && slower && u64::from(n) > long.div_ceil(short) + 2,
        QueueLimit::Bytes(n) => one_by_one && slower && n > 3 * long,
    }
}

/// Marks, in the paths, the links that packets enter together with the previous link. `watched`: a listener is told about queues.
/// Links that may drop are then not marked: their queues are reported when packets arrive, not before.
pub(super) fn fuse(hops: &mut [u32], fed: &[Fed], transits: &mut [Transit], ports: &[Port], watched: bool) {
    hand_on(hops, fed, transits, ports);
    let computed = |l: u32| !transits[l as usize].is(Transit::QUEUED);
    // Behind a link that adds to its delay, and behind a split, packets may arrive in another order than they enter it.
    let keeps_order = |l: u32| {
        let t = &transits[l as usize];
        let in_order = |p: &Port| p.split.is_none() && p.aside.as_ref().is_none_or(|a| a.flight.keeps_order());
        computed(l) && (t.is_plain() || in_order(&ports[t.port()]))
    };
    for i in 1..hops.len() {
        let (before, link) = (hops[i - 1] & !FUSED, hops[i]);
        if before == HOST || link == HOST || !keeps_order(before) || !computed(link) {
            continue;
        }
        if fed[link as usize] == Fed::Trailing || (fed[link as usize] == Fed::Alone && !watched) {
            hops[i] |= FUSED;
        }
    }
}

/// The same behind queued links whose packets all enter such links next: a queued link that knows when its packets arrive hands them
/// on as soon as they leave its transmitter.
fn hand_on(hops: &mut [u32], fed: &[Fed], transits: &mut [Transit], ports: &[Port]) {
    let mut knows: Vec<bool> =
        transits.iter().map(|t| t.is(Transit::QUEUED) && ports[t.port()].knows_arrivals()).collect();
    for pair in hops.windows(2).filter(|pair| pair[0] != HOST) {
        let never_full =
            |next: u32| next != HOST && transits[next as usize].is_plain() && fed[next as usize] == Fed::Trailing;
        knows[pair[0] as usize] &= never_full(pair[1]);
    }
    for i in 1..hops.len() {
        let before = hops[i - 1] & !FUSED;
        if before != HOST && knows[before as usize] {
            hops[i] |= FUSED;
            transits[before as usize].hand_on();
        }
    }
}
