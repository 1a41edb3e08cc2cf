//! What a network does for its meters: counting, or nothing at all.

use super::host::HostMeter;
use super::link::LaneMeter;
use super::period::Period;
use super::{FlowMeter, LinkMeter};
use crate::histogram::Histogram;
use ackclock_tcp::time::Time;

/// Whether a network counts what its packets meet. [`Metered`] counts; [`Unmetered`] costs nothing.
pub trait Metering: Sized {
    /// Whether anything is counted.
    const ON: bool;
    /// The meter of a host.
    type Host: HostMetering;
    /// The meter of a directed link, or of a path of a split.
    type Link: LinkMetering;
    /// Whatever belongs to no host and no link.
    type Run: RunMetering<Link = Self::Link>;
}

/// Counts delays, round-trip times and the links' loads.
#[derive(Clone, Copy, Debug)]
pub struct Metered;

/// Counts nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unmetered;

impl Metering for Metered {
    const ON: bool = true;
    type Host = HostMeter;
    type Link = LaneMeter;
    type Run = Period;
}

impl Metering for Unmetered {
    const ON: bool = false;
    type Host = ();
    type Link = ();
    type Run = ();
}

/// The meter of a host.
pub trait HostMetering: Default {
    /// A packet that carries `stamp`, its host's number `number`, has arrived at this host.
    fn on_arrival(&mut self, now: u64, stamp: u64, number: u32);
    /// The stamp of a packet without data that a receiver sends.
    fn answer(&mut self) -> u64;
    /// Moves the counts to those of the host's flow.
    fn read(&mut self, into: &mut FlowMeter, sender: bool);
}

/// The meter of a directed link.
pub trait LinkMetering: Default {
    /// Whether anything is counted.
    const ON: bool;
    /// A packet has waited this long for the transmitter; 0 is not counted.
    fn waited(&mut self, wait: u64);
    /// A packet of `wire` bytes has entered the link, and with it the links fused before.
    fn carried(&mut self, wire: u32);
    /// Takes back a call of [`LinkMetering::carried`], also one that is about to come.
    fn carries_still(&mut self, wire: u32);
    /// A packet of `wire` bytes has waited this long in the queue of a link whose departures are events, and its transmission begins.
    fn serves(&mut self, wait: u64, wire: u32);
    /// Takes back a call of [`LinkMetering::waited`].
    fn waits_still(&mut self, wait: u64);
    /// Takes back the last call of [`LinkMetering::serves`], for a packet of `wire` bytes; returns how long it waited.
    fn serves_still(&mut self, wire: u32) -> u64;
}

/// What is counted for the whole run, and the period that is being counted.
pub trait RunMetering {
    /// The meter of a directed link.
    type Link;
    /// Counts up to and including `until`.
    fn until(until: Time, links: usize, generators: usize) -> Self;
    /// Whether an event at `time` is counted later, not now.
    fn is_later(&self, time: u64) -> bool;
    /// A packet that waited this long leaves a link's transmitter at `leaves`, after the period.
    fn waits(&mut self, leaves: u64, link: u32, wait: u64);
    /// A packet of `wire` bytes leaves a link's transmitter at `leaves`, and is counted for this link alone.
    fn leaves(&mut self, leaves: u64, link: u32, wire: u32);
    /// A transfer of background traffic has ended.
    fn transferred(&mut self, generator: u32, took: u64);
    /// Ends the period: returns the links' counts, and the transfers'. The next one is counted up to `until`. `meters` are those of
    /// all links; `feeder` has the link with which each link is fused.
    fn turn(
        &mut self,
        until: Time,
        meters: &mut [&mut Self::Link],
        feeder: &[Option<u32>],
    ) -> (Vec<LinkMeter>, Vec<Histogram>);
}

impl HostMetering for () {
    #[inline(always)]
    fn on_arrival(&mut self, _: u64, _: u64, _: u32) {}
    #[inline(always)]
    fn answer(&mut self) -> u64 {
        0
    }
    fn read(&mut self, _: &mut FlowMeter, _: bool) {}
}

impl LinkMetering for () {
    const ON: bool = false;
    #[inline(always)]
    fn waited(&mut self, _: u64) {}
    #[inline(always)]
    fn carried(&mut self, _: u32) {}
    fn carries_still(&mut self, _: u32) {}
    #[inline(always)]
    fn serves(&mut self, _: u64, _: u32) {}
    fn waits_still(&mut self, _: u64) {}
    fn serves_still(&mut self, _: u32) -> u64 {
        0
    }
}

impl RunMetering for () {
    type Link = ();
    fn until(_: Time, _: usize, _: usize) -> Self {}
    #[inline(always)]
    fn is_later(&self, _: u64) -> bool {
        false
    }
    fn waits(&mut self, _: u64, _: u32, _: u64) {}
    fn leaves(&mut self, _: u64, _: u32, _: u32) {}
    fn transferred(&mut self, _: u32, _: u64) {}
    fn turn(&mut self, _: Time, _: &mut [&mut ()], _: &[Option<u32>]) -> (Vec<LinkMeter>, Vec<Histogram>) {
        (Vec::new(), Vec::new())
    }
}
