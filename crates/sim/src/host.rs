//! One end of a flow on the network: a TCP, its application, and one wake-up.

use crate::app::App;
use crate::fate::Fates;
use crate::scenario::WireSpec;
use crate::watch::{Side, Watch};
use ackclock_tcp::connection::Outcome;
use ackclock_tcp::event::{Event, Frequent, Observer, Resend};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// The part of a TCP that a host needs: exactly the calls of `ackclock_tcp`'s connection. Benchmarks put something smaller
/// here.
pub trait Endpoint {
    /// A segment has arrived. Takes the whole segment if it is the expected one; otherwise does nothing and returns `false`.
    fn on_expected<O: Observer>(&mut self, _now: Time, _seg: &Segment, _obs: &mut O) -> bool {
        false
    }
    /// An unexpected segment has arrived; returns its fate.
    fn on_unexpected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome;
    /// The parts of `from..to` in the peer's data that the TCP does not have; called for segments that it did not take as a
    /// whole.
    fn missing(&self, _from: Offset, _to: Offset) -> Vec<(Offset, Offset)> {
        Vec::new()
    }
    /// The time that [`Endpoint::next_timer`] named has been reached.
    fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O);
    /// When [`Endpoint::on_timer`] must be called next.
    fn next_timer(&self) -> Option<Time>;
    /// Writes the next segment to send into `out`; `false` if there is nothing to send now.
    fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool;
    /// How often the data of the segment just polled has been sent (1 = first); 0 for a pure ACK.
    fn last_sends(&self) -> u8;
    /// The rule by which data is sent again, if it is known; called when data is retransmitted.
    fn resend(&self) -> Option<Resend> {
        None
    }
    /// Whether the TCP must be told which of its data the path drops.
    fn hears_drops(&self) -> bool {
        false
    }
    /// The path dropped copy number `sends` (1 = the first) of the data at `start`; told before anything else happens to the TCP.
    fn drop_copy(&mut self, _start: Offset, _sends: u8) {}
    /// Bytes that the segment just polled takes on the wire.
    #[inline]
    fn size(&self, wire: WireSpec, seg: &Segment) -> u32 {
        wire.size(seg)
    }
    /// The application has `bytes` more to send.
    fn write(&mut self, bytes: u64);
    /// Whether its handshake is in progress.
    fn is_opening(&self) -> bool {
        false
    }
    /// Nothing more will be written. Must not be called during the handshake: that would end it (RFC 9293 §3.10.4).
    fn close(&mut self);
    /// Payload bytes that the peer has cumulatively acknowledged.
    fn acked(&self) -> u64;
    /// Payload bytes received in order.
    fn received(&self) -> u64;
    /// Prefetches the memory that the next segment will need.
    fn fetch(&self) {}
    /// The same for what that memory points at, which must be in the processor's cache by now.
    fn fetch_further(&self) {}
}

/// One end of a flow: two cache lines, and its meter.
#[repr(C, align(64))]
pub(crate) struct Host<E, H> {
    pub(crate) tcp: E,
    /// When it will be woken: no later than its TCP needs, which is asked again then. Re-arming a timer to a later time, as
    /// each ACK does, therefore costs nothing here.
    pub(crate) armed: u64,
    pub(crate) app: App,
    pub(crate) data_sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) wire: WireSpec,
    /// The first link of its path.
    pub(crate) first_hop: u32,
    /// The destination on its packets.
    pub(crate) peer: u32,
    /// Packets sent, counted only with a listener.
    pub(crate) sent: u32,
    /// [`Endpoint::hears_drops`].
    pub(crate) hears_drops: bool,
    pub(crate) meter: H,
}

impl<E: Endpoint, H> Host<E, H> {
    /// Tells the TCP about drops of its data since the last call.
    #[cold]
    #[inline(never)]
    pub(crate) fn hear_drops(&mut self, fates: &mut Fates) {
        for (start, sends) in fates.new_drops() {
            self.tcp.drop_copy(Offset(start), sends);
        }
    }

    /// All `bytes` are written. A FIN follows them, but not before the connection is open.
    #[cold]
    pub(crate) fn close_when_open(&mut self, bytes: u64) {
        if self.tcp.is_opening() {
            self.app = App::Opening { bytes };
        } else {
            self.app = App::Running { bytes };
            self.tcp.close();
        }
    }
}

/// The value of `armed` if a host waits for nothing.
pub(crate) const UNARMED: u64 = u64::MAX;

impl WireSpec {
    /// Bytes that `seg` takes on the wire.
    #[inline]
    pub(crate) fn size(self, seg: &Segment) -> u32 {
        match self {
            WireSpec::Ns2 { header } if seg.len > 0 => seg.len + header,
            WireSpec::Ns2 { .. } => 40 + 8 * u32::from(seg.blocks),
            WireSpec::Ipv4 => 40 + seg.len + options(seg).next_multiple_of(4),
        }
    }
}

/// Bytes of TCP options before padding (RFC 9293 §3.1, RFC 7323 §2.2 and §3.2, RFC 2018 §2 and §3).
fn options(seg: &Segment) -> u32 {
    let if_ = |there: bool, size: u32| if there { size } else { 0 };
    let syn = if seg.has(Segment::SYN) {
        if_(seg.mss != 0, 4) + if_(seg.wscale != Segment::NO_SCALE, 3) + if_(seg.opts & Segment::SACK_PERMITTED != 0, 2)
    } else {
        0
    };
    syn + if_(seg.opts & Segment::TIMESTAMPS != 0, 10) + if_(seg.blocks > 0, 2 + 8 * u32::from(seg.blocks))
}

/// Passes a TCP's events on to the run's listener.
pub(crate) struct Tap<'a, W> {
    pub(crate) watch: &'a mut W,
    /// The number of a flow's host, or [`BACKGROUND`].
    pub(crate) host: u32,
}

impl<'a, W> Tap<'a, W> {
    /// For a host; `shown` of them are flows' hosts.
    #[inline(always)]
    pub(crate) fn new(watch: &'a mut W, host: u32, shown: u32) -> Self {
        Tap { watch, host: if host < shown { host } else { BACKGROUND } }
    }
}

/// Instead of the number of a host that is not a flow's.
pub(crate) const BACKGROUND: u32 = u32::MAX;

impl<W: Watch> Observer for Tap<'_, W> {
    const ENABLED: bool = W::ENABLED;
    const HEARS: Frequent = W::HEARS;
    const HEARS_RTO: bool = W::HEARS_RTO;
    #[inline(always)]
    fn event(&mut self, at: Time, e: Event) {
        // Nobody observes background traffic.
        if self.host != BACKGROUND {
            self.watch.tcp(at, self.host / 2, side(self.host), e);
        }
    }

    #[inline]
    fn rto(&mut self, at: Time, rto: Nanos) {
        if self.host != BACKGROUND {
            self.watch.rto(at, self.host / 2, side(self.host), rto);
        }
    }
}

/// The side of host number `host`.
#[inline]
pub(crate) fn side(host: u32) -> Side {
    if host % 2 == 1 {
        Side::Receiver
    } else {
        Side::Sender
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_of_a_flow_takes_two_lines() {
        type Plain = Host<ackclock_tcp::connection::Connection, ()>;
        assert_eq!((size_of::<Plain>(), align_of::<Plain>()), (128, 64));
    }

    #[test]
    fn sizes_on_the_wire_are_ns_2s_or_those_of_the_headers() {
        let mut ack = Segment { ack: Offset(1000), ..Segment::EMPTY };
        ack.push_sack(Offset(2000), Offset(3000));
        ack.push_sack(Offset(4000), Offset(5000));
        let data = Segment { len: 1460, ..Segment::EMPTY };
        let ns2 = WireSpec::Ns2 { header: 40 };
        assert_eq!((ns2.size(&data), ns2.size(&ack), ns2.size(&Segment::EMPTY)), (1500, 56, 40));
        let syn = Segment {
            flags: Segment::SYN,
            mss: 1460,
            wscale: 7,
            opts: Segment::SACK_PERMITTED | Segment::TIMESTAMPS,
            ..Segment::EMPTY
        };
        let stamped = Segment { opts: Segment::TIMESTAMPS, ..data };
        assert_eq!([data, ack, syn, stamped].map(|s| WireSpec::Ipv4.size(&s)), [1500, 60, 60, 1512]);
    }
}
