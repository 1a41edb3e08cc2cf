//! The meter of one end of a flow. A receiver's counts the delays of data, a sender's the round-trip times of ACKs: both are the
//! time since the stamp of the packet that arrives.

use super::{FlowMeter, HostMetering};
use crate::histogram::Histogram;
use std::collections::BTreeSet;

/// The stamp of a packet that is not counted: one without data from a sender, or an ACK that acknowledges no new data.
pub(crate) const NO_STAMP: u64 = 1 << 63;
/// Added to the stamp of a packet that the network duplicated, and of its twin.
pub(crate) const TWIN: u64 = 1 << 62;
/// The number of duplicated packets that are remembered because the other one may still arrive.
const MOST_TWINS: usize = 1024;

/// The counts of a host.
pub struct HostMeter {
    times: Histogram,
    /// When the earliest packet that no ACK has acknowledged yet was sent.
    unanswered: u64,
    /// The number after the highest that has arrived.
    next: u64,
    /// Packets that arrived after one sent later.
    reordered: u64,
    /// Second arrivals of packets that the network duplicated.
    again: u64,
    /// The numbers of duplicated packets of which one has arrived.
    twins: BTreeSet<u32>,
}

impl Default for HostMeter {
    fn default() -> Self {
        let (times, twins) = (Histogram::default(), BTreeSet::new());
        HostMeter { times, unanswered: NO_STAMP, next: 0, reordered: 0, again: 0, twins }
    }
}

impl HostMetering for HostMeter {
    #[inline(always)]
    fn on_arrival(&mut self, now: u64, stamp: u64, number: u32) {
        let took = now.wrapping_sub(stamp);
        // The times since `NO_STAMP` and a twin's stamp have no bucket.
        if !self.times.adds(took) {
            return self.unusual(now, stamp, number);
        }
        if stamp < self.unanswered {
            self.unanswered = stamp;
        }
        if u64::from(number) != self.next {
            return self.out_of_turn(number);
        }
        self.next += 1;
    }

    #[inline(always)]
    fn answer(&mut self) -> u64 {
        std::mem::replace(&mut self.unanswered, NO_STAMP)
    }

    fn read(&mut self, into: &mut FlowMeter, sender: bool) {
        let (times, reordered) = (std::mem::take(&mut self.times), std::mem::take(&mut self.reordered));
        let again = std::mem::take(&mut self.again);
        if sender {
            into.rtt = times;
        } else {
            (into.delay, into.reordered, into.again) = (times, reordered, again);
        }
    }
}

impl HostMeter {
    /// A time is the first this long or short, or its count exceeds 32 bits, or the packet is one of two, or not counted.
    #[cold]
    #[inline(never)]
    fn unusual(&mut self, now: u64, stamp: u64, number: u32) {
        if stamp == NO_STAMP {
            return;
        }
        let sent = stamp & !TWIN;
        if sent == stamp {
            self.times.reach(now - sent);
        } else {
            self.times.record(now - sent);
        }
        self.unanswered = self.unanswered.min(sent);
        if sent != stamp && self.is_second(number) {
            self.again += 1;
        } else {
            self.out_of_turn(number);
        }
    }

    /// A packet arrives whose number may not be the next one.
    #[cold]
    #[inline(never)]
    fn out_of_turn(&mut self, number: u32) {
        self.reordered += u64::from(u64::from(number) < self.next);
        self.next = self.next.max(u64::from(number) + 1);
    }

    /// Whether this packet is the second of two to arrive.
    fn is_second(&mut self, number: u32) -> bool {
        if self.twins.remove(&number) {
            return true;
        }
        self.twins.insert(number);
        // For some of these, the other packet was dropped.
        if self.twins.len() > MOST_TWINS {
            self.twins.pop_first();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut meter: HostMeter) -> FlowMeter {
        let mut flow = FlowMeter::default();
        meter.read(&mut flow, false);
        flow
    }

    #[test]
    fn the_second_of_two_packets_is_counted_as_a_delay_and_not_as_an_arrival() {
        let mut meter = HostMeter::default();
        for (stamp, number) in [(100, 0), (110 | TWIN, 1), (120, 2), (110 | TWIN, 1), (130 | TWIN, 3)] {
            meter.on_arrival(1000, stamp, number);
        }
        assert_eq!(meter.answer(), 100);
        let flow = read(meter);
        assert_eq!((flow.delay.len(), flow.arrived(), flow.reordered), (5, 4, 0));
    }

    #[test]
    fn a_packet_overtaken_by_one_sent_later_is_reordered_and_one_without_a_stamp_is_not_counted() {
        let mut meter = HostMeter::default();
        for (stamp, number) in [(100, 0), (120, 2), (110, 1), (NO_STAMP, 9), (130, 3), (999, 5), (1000, 6)] {
            meter.on_arrival(1000, stamp, number);
        }
        let flow = read(meter);
        assert_eq!((flow.delay.len(), flow.arrived(), flow.reordered), (6, 6, 1));
        assert_eq!((flow.delay.quantile(0), flow.delay.quantile(300)), (Some(0), Some(1)));
    }

    #[test]
    fn a_time_whose_count_exceeds_32_bits_is_counted_and_in_turn() {
        let mut meter = HostMeter::default();
        meter.on_arrival(1000, 100, 0);
        meter.times.set(900, u32::MAX);
        meter.on_arrival(1100, 200, 1);
        meter.on_arrival(1200, 300, 2);
        assert_eq!((meter.answer(), meter.next), (100, 3));
        let flow = read(meter);
        assert_eq!((flow.delay.len(), flow.reordered), ((1 << 32) + 1, 0));
    }

    #[test]
    fn an_ack_carries_the_time_of_the_earliest_packet_since_the_one_before() {
        let mut meter = HostMeter::default();
        assert_eq!(meter.answer(), NO_STAMP);
        for (stamp, number) in [(120, 1), (100, 0), (130, 2)] {
            meter.on_arrival(1000, stamp, number);
        }
        assert_eq!((meter.answer(), meter.answer()), (100, NO_STAMP));
    }
}
