//! The network as a path for packets from outside: the hosts of the flows are elsewhere; their packets enter at one end and come
//! out at the other. Links, elements, background traffic and all random numbers are those of a simulated run.
//!
//! The caller owns the clock: [`Path::put`] and [`Network::run_until`] move the network to a time, and [`Network::next_event`]
//! gives the time of the next call. [`Watch::arrived`] and [`Watch::lost`] report to a listener which packets have come out and
//! which never will.

use super::Network;
use crate::error::Impossible;
use crate::host::Endpoint;
use crate::scenario::{Scenario, WireSpec};
use crate::watch::{Side, Watch};
use ackclock_tcp::connection::{Connection, Outcome, Refusal};
use ackclock_tcp::event::{Observer, Resend};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;

/// A network whose flows end at hosts outside it.
pub type Path<W> = Network<W, Stand>;

/// A packet that is put into the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entering {
    /// The segment, for elements and listeners.
    pub seg: Segment,
    /// Bytes on the wire, with all headers.
    pub wire: u32,
    /// How often its data has been sent (1 = first); 0 for a pure ACK.
    pub sends: u8,
    /// The rule by which it is sent again, where it is known.
    pub resend: Option<Resend>,
}

/// The end of a path.
pub enum Stand {
    /// Stands for a host outside the network.
    Outside(Outside),
    /// Transfers of background traffic are simulated.
    Inside(Box<Connection>),
}

/// Replaces a host that is elsewhere. The actions of its TCP are inferred from its packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outside {
    /// The packet that is entering.
    entering: Option<Entering>,
    /// Size of the last packet that entered.
    wire: u32,
    sends: u8,
    resend: Option<Resend>,
    /// The ends of the data that it has sent and received: a FIN is not counted.
    sent: Offset,
    received: Offset,
    /// The highest acknowledgments that it has received and sent.
    acked: Offset,
    acknowledged: Offset,
}

impl<W: Watch> Path<W> {
    /// Lays out `scenario` with the hosts of its flows outside the network. `stacks` are for the transfers of background
    /// traffic. `seed` determines all random numbers; each element and source has the same ones as in a simulated run.
    ///
    /// # Errors
    /// The reason why the scenario cannot be run.
    pub fn outside(scenario: &Scenario, stacks: &[Stack], seed: u64, watch: W) -> Result<Self, Impossible> {
        const { assert!(W::ENABLED, "packets from outside leave through the listener") };
        super::tcp::check(scenario, stacks)?;
        let flows = 2 * scenario.flows.len();
        let (stacks, mut made) = (stacks.to_vec(), 0);
        Self::with_endpoints(scenario, seed, watch, move |flow, side| {
            made += 1;
            if made <= flows {
                return Stand::Outside(Outside::default());
            }
            Stand::Inside(Box::new(super::tcp::endpoint(&stacks[flow.stack as usize], flow, side)))
        })
    }

    /// Puts a packet in at one end of a flow at `at`, or now if that has passed. Earlier events happen first, and so do those at
    /// `at`, unless the network is at that time already: the packet then follows the last event that was handled, as the reply of
    /// a host inside follows an arrival. Returns the packet's number as in [`Watch::arrived`]; `None` if there is no such flow, or
    /// the run is over.
    pub fn put(&mut self, at: Time, flow: u32, from: Side, packet: Entering) -> Option<u32> {
        let host = 2 * flow + u32::from(from == Side::Receiver);
        if host >= self.links.shown || at > self.links.end {
            return None;
        }
        if at.0 > self.links.now {
            self.run_until(at);
        }
        let h = &mut self.hosts[host as usize];
        let number = h.sent;
        if number == 0 && from == Side::Sender {
            self.starts[flow as usize] = Some(Time(self.links.now));
        }
        if let Stand::Outside(outside) = &mut h.tcp {
            outside.entering = Some(packet);
        }
        self.pump(host);
        Some(number)
    }

    /// Reports that the TCP at the end `to` of a flow discarded these parts of the packet that has just come out, and does not
    /// have them. There are none if the packet had no new data. `sends` is the value given to [`Watch::delivered`].
    pub fn refused(
        &mut self,
        flow: u32,
        to: Side,
        why: Refusal,
        seg: &Segment,
        sends: u8,
        missing: &[(Offset, Offset)],
    ) {
        let host = 2 * flow + u32::from(to == Side::Receiver);
        if host < self.links.shown {
            self.links.watch.refused(self.now(), flow, to, why, seg, sends, missing);
            self.links.write_down(host, seg, sends, missing);
        }
    }
}

impl Outside {
    fn poll_transmit(&mut self, out: &mut Segment) -> bool {
        let Some(Entering { seg, wire, sends, resend }) = self.entering.take() else { return false };
        (*out, self.wire, self.sends, self.resend) = (seg, wire, sends, resend);
        self.sent = self.sent.max(end_of_data(&seg));
        if seg.has(Segment::ACK) {
            self.acknowledged = self.acknowledged.max(seg.ack);
        }
        true
    }

    /// The TCP's refusals of a segment are not known here: [`Path::refused`] reports them.
    fn on_segment(&mut self, seg: &Segment) -> Outcome {
        self.received = self.received.max(end_of_data(seg));
        if seg.has(Segment::ACK) {
            self.acked = self.acked.max(seg.ack);
        }
        Outcome { from: seg.seq, bytes: seg.len, refused: None }
    }
}

/// The end of a segment's data. A segment without data may follow a FIN and carries no information.
fn end_of_data(seg: &Segment) -> Offset {
    match (seg.len, seg.has(Segment::SYN)) {
        (0, false) => Offset::SYN,
        (len, syn) => seg.seq + u64::from(len) + u64::from(syn),
    }
}

/// Bytes of data before an offset.
fn data_before(at: Offset) -> u64 {
    at.0.saturating_sub(Offset::DATA.0)
}

impl Endpoint for Stand {
    fn on_unexpected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        match self {
            Stand::Outside(o) => o.on_segment(seg),
            Stand::Inside(c) => Connection::on_segment(c, now, seg, obs),
        }
    }

    fn missing(&self, from: Offset, to: Offset) -> Vec<(Offset, Offset)> {
        match self {
            Stand::Outside(_) => Vec::new(),
            Stand::Inside(c) => Endpoint::missing(&**c, from, to),
        }
    }

    fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        if let Stand::Inside(c) = self {
            Endpoint::on_timer(&mut **c, now, obs);
        }
    }

    fn next_timer(&self) -> Option<Time> {
        match self {
            Stand::Outside(_) => None,
            Stand::Inside(c) => Endpoint::next_timer(&**c),
        }
    }

    fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        match self {
            Stand::Outside(o) => o.poll_transmit(out),
            Stand::Inside(c) => Endpoint::poll_transmit(&mut **c, now, out, obs),
        }
    }

    fn last_sends(&self) -> u8 {
        match self {
            Stand::Outside(o) => o.sends,
            Stand::Inside(c) => Endpoint::last_sends(&**c),
        }
    }

    fn resend(&self) -> Option<Resend> {
        match self {
            Stand::Outside(o) => o.resend,
            Stand::Inside(c) => Endpoint::resend(&**c),
        }
    }

    fn size(&self, wire: WireSpec, seg: &Segment) -> u32 {
        match self {
            Stand::Outside(o) => o.wire,
            Stand::Inside(_) => wire.size(seg),
        }
    }

    fn write(&mut self, bytes: u64) {
        if let Stand::Inside(c) = self {
            Endpoint::write(&mut **c, bytes);
        }
    }

    fn is_opening(&self) -> bool {
        match self {
            Stand::Inside(c) => Endpoint::is_opening(&**c),
            Stand::Outside(_) => false,
        }
    }

    fn close(&mut self) {
        if let Stand::Inside(c) = self {
            Endpoint::close(&mut **c);
        }
    }

    fn acked(&self) -> u64 {
        match self {
            Stand::Outside(o) => data_before(o.acked.min(o.sent)),
            Stand::Inside(c) => Endpoint::acked(&**c),
        }
    }

    fn received(&self) -> u64 {
        match self {
            Stand::Outside(o) => data_before(o.acknowledged.min(o.received)),
            Stand::Inside(c) => Endpoint::received(&**c),
        }
    }
}
