//! Two listeners for one run.

use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Event, Frequent};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// Passes every call to `.0`, then to `.1`. For more than two, nest them.
#[derive(Clone, Debug, Default)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Watch, B: Watch> Watch for Both<A, B> {
    const ENABLED: bool = A::ENABLED || B::ENABLED;
    const HEARS: Frequent = A::HEARS.or(B::HEARS);
    const HEARS_RTO: bool = A::HEARS_RTO || B::HEARS_RTO;
    const HEARS_HOPS: bool = A::HEARS_HOPS || B::HEARS_HOPS;
    const HEARS_QUEUES: bool = A::HEARS_QUEUES || B::HEARS_QUEUES;

    #[inline(always)]
    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        self.0.tcp(at, flow, side, e);
        self.1.tcp(at, flow, side, e);
    }

    #[inline(always)]
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8) {
        self.0.sent(at, flow, from, seg, wire, sends);
        self.1.sent(at, flow, from, seg, wire, sends);
    }

    fn dropped(&mut self, packet: Dropped<'_>) {
        self.0.dropped(packet);
        self.1.dropped(packet);
    }

    #[inline(always)]
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, sends: u8) {
        self.0.delivered(at, flow, to, seg, wire, sends);
        self.1.delivered(at, flow, to, seg, wire, sends);
    }

    fn refused(
        &mut self,
        at: Time,
        flow: u32,
        to: Side,
        why: Refusal,
        seg: &Segment,
        sends: u8,
        missing: &[(Offset, Offset)],
    ) {
        self.0.refused(at, flow, to, why, seg, sends, missing);
        self.1.refused(at, flow, to, why, seg, sends, missing);
    }

    #[inline(always)]
    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        self.0.arrived(at, flow, to, number, seg);
        self.1.arrived(at, flow, to, number, seg);
    }

    fn passed(&mut self, at: Time, link: u32, flow: u32, to: Side, number: u32, seg: &Segment) {
        self.0.passed(at, link, flow, to, number, seg);
        self.1.passed(at, link, flow, to, number, seg);
    }

    fn lost(&mut self, flow: u32, to: Side, number: u32) {
        self.0.lost(flow, to, number);
        self.1.lost(flow, to, number);
    }

    fn copied(&mut self, flow: u32, to: Side, number: u32) {
        self.0.copied(flow, to, number);
        self.1.copied(flow, to, number);
    }

    fn rto(&mut self, at: Time, flow: u32, side: Side, rto: Nanos) {
        self.0.rto(at, flow, side, rto);
        self.1.rto(at, flow, side, rto);
    }

    fn doubled(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, sends: u8) {
        self.0.doubled(at, flow, to, seg, sends);
        self.1.doubled(at, flow, to, seg, sends);
    }

    fn queue(&mut self, at: Time, link: u32, packets: u32, bytes: u64) {
        self.0.queue(at, link, packets, bytes);
        self.1.queue(at, link, packets, bytes);
    }
}
