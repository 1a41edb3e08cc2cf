//! Decides which form each directed link has. All forms give the same events in the same order; they differ in where packets are
//! kept, and in how many events they need.
//!
//! | form | when | packets | events of a packet |
//! | --- | --- | --- | --- |
//! | computed | nothing acts on a waiting packet, so its departure is known when it enters | in the transit; a limited queue is a ring of departure times (`engine/link.rs`) | 1, at the end of the link |
//! | overtaking | the same, but elements hold packets back at the entry (jitter, delay spikes) or add to the delay behind the transmitter | in lists in the port (`engine/overtaking.rs`) | 1, and 1 for each time that it is held back |
//! | queued | an element moves waiting packets, looks at the queue, sets the rate, or sees packets after their transmission; or `form = "queued"` | in an explicit queue (`element/queued_link.rs`) | 2; if no element follows the transmitter (*patient*), departures are computed, and 1 is left |
//! | hands on | queued and patient, and all its packets next enter a plain link that only it feeds and whose queue is never full | the same, until they leave the transmitter | 0, unless something waits for the link |
//!
//! A computed link may also be
//!
//! - *fused* with the previous one, if only that feeds it and nothing could tell the difference: a packet enters both in one step, and
//!   the second costs no event. Its queue must never be full, or no listener may hear about queues ([`fuse`]);
//! - *shared*: links of the same rate and delay, into which packets come in the order of time, keep their packets in one list with one
//!   key (`shared_transit.rs`);
//! - a *split*: its packets enter one of its paths at once, and each path has a form of its own.
//!
//! [`form`] decides from the description, [`feeding`] from the paths, and [`fuse`] when all links are there. `tests/sim/network.rs`
//! draws scenarios and compares the forms.

use crate::element::direction::{DirectionSpec, LinkForm, QueueLimit};
use crate::element::port::Port;
use crate::element::properties::Acts;
use crate::scenario::{BackgroundKind, ElementSpec, FlowSpec, Scenario, WireSpec};
use crate::topology::{Paths, FUSED, HOST};
use crate::transit::{Form, Transit};

/// What feeds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feeder {
    /// Hosts, several links, or nothing.
    Many,
    /// One other link.
    Alone,
    /// One other link, behind which its queue is never full.
    NeverFull,
}

/// The form of a link. `reports`: its queue may fill, and is limited or watched. [`fuse`] may find later that it hands on.
pub(super) fn form(d: &DirectionSpec, reports: bool) -> Form {
    let some = |acts| d.elements.iter().any(|e| e.properties().acts == acts);
    let (limited, gated) = (reports, some(Acts::AtEntry) || some(Acts::HoldsBack));
    if d.form == LinkForm::Queued || some(Acts::Late) {
        Form::Queued
    } else if some(Acts::HoldsBack) || some(Acts::OnDelay) {
        Form::Overtaking { limited, gated }
    } else {
        Form::Computed { limited, gated }
    }
}

/// What feeds each link, as far as packets can enter it together with the link that feeds it.
pub(super) fn feeding(s: &Scenario, paths: &Paths) -> Vec<Feeder> {
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
    let feeds = |(link, from): (usize, &Option<u32>)| match *from {
        None | Some(MANY) => Feeder::Many,
        Some(from) => {
            let (d, before) = (s.direction(link), s.direction(from as usize));
            let in_order = link > from as usize || takes_time(d, short);
            match d.elements.as_slice() {
                _ if !in_order => Feeder::Many,
                [] if never_full(d, before, short, long) => Feeder::NeverFull,
                // Elements that only add to the delay act behind the queue, which stays counted.
                all if takes_time(before, short) && all.iter().all(adds_delay) => Feeder::Alone,
                _ => Feeder::Many,
            }
        }
    };
    feeder.iter().enumerate().map(feeds).collect()
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
pub(super) fn fuse(hops: &mut [u32], feeders: &[Feeder], transits: &mut [Transit], ports: &[Port], watched: bool) {
    hand_on(hops, feeders, transits, ports);
    let computed = |l: u32| !transits[l as usize].is_queued();
    // Behind a link that adds to its delay, and behind a split, packets may arrive in another order than they enter it.
    let keeps_order = |l: u32| {
        let t = &transits[l as usize];
        let in_order = |p: &Port| p.split.is_none() && p.overtaking.as_ref().is_none_or(|a| a.flight.keeps_order());
        computed(l) && (t.is_plain() || in_order(&ports[t.port()]))
    };
    for i in 1..hops.len() {
        let (before, link) = (hops[i - 1] & !FUSED, hops[i]);
        if before == HOST || link == HOST || !keeps_order(before) || !computed(link) {
            continue;
        }
        if feeders[link as usize] == Feeder::NeverFull || (feeders[link as usize] == Feeder::Alone && !watched) {
            hops[i] |= FUSED;
        }
    }
}

/// The same behind queued links whose packets all enter such links next: a queued link that knows when its packets arrive hands them
/// on as soon as they leave its transmitter.
fn hand_on(hops: &mut [u32], feeders: &[Feeder], transits: &mut [Transit], ports: &[Port]) {
    let mut knows: Vec<bool> = transits.iter().map(|t| t.is_queued() && ports[t.port()].knows_arrivals()).collect();
    for pair in hops.windows(2).filter(|pair| pair[0] != HOST) {
        let never_full = |next: u32| {
            next != HOST && transits[next as usize].is_plain() && feeders[next as usize] == Feeder::NeverFull
        };
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
