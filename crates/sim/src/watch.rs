//! Listening to a run: a run is generic over one listener, and `()` costs nothing.

use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Event, Frequent};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that sends the data.
    Sender,
    /// The end that acknowledges.
    Receiver,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropWhy {
    /// The queue was full.
    Queue,
    /// A loss model dropped it, or the link was interrupted.
    Loss,
    /// The queue was getting long (RED).
    Early,
    /// The scenario's script dropped it.
    Script,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped<'a> {
    /// When.
    pub at: Time,
    /// Its flow.
    pub flow: u32,
    /// The end that it was meant for.
    pub to: Side,
    /// The number of the element that dropped it.
    pub element: u32,
    /// Its number among the arrivals at that element, from 0.
    pub nth: u64,
    /// Why.
    pub why: DropWhy,
    /// The packet.
    pub seg: &'a Segment,
    /// The value given to [`Watch::sent`].
    pub sends: u8,
}

/// Listens to a run: the network's own events and, through [`Watch::tcp`], the senders'.
///
/// Calls come in the order of the simulator's actions; times never go back.
pub trait Watch {
    /// Whether anything listens; if `false`, no record is built.
    const ENABLED: bool = true;
    /// The frequent events among those of [`Watch::tcp`] that it hears.
    const HEARS: Frequent = Frequent::ALL;
    /// Whether [`Watch::rto`] is called.
    const HEARS_RTO: bool = false;
    /// Whether [`Watch::passed`] is called.
    const HEARS_HOPS: bool = false;
    /// Whether [`Watch::queue`] is called. If not, packets enter a link that may drop them together with the link before it, and
    /// nobody counts a queue without a limit.
    const HEARS_QUEUES: bool = false;
    /// An event inside a flow's sender.
    fn tcp(&mut self, _at: Time, _flow: u32, _side: Side, _e: Event) {}
    /// A host sent a packet to its link. `sends` counts transmissions of the same data (1 = first); 0 for pure ACKs.
    fn sent(&mut self, _at: Time, _flow: u32, _from: Side, _seg: &Segment, _wire: u32, _sends: u8) {}
    /// A packet was dropped.
    fn dropped(&mut self, _packet: Dropped<'_>) {}
    /// A packet reached a host. `sends` is the value given to [`Watch::sent`].
    fn delivered(&mut self, _at: Time, _flow: u32, _to: Side, _seg: &Segment, _wire: u32, _sends: u8) {}
    /// The host's TCP threw away the packet of the last call of [`Watch::delivered`], or part of it. `missing` are the parts of
    /// its sequence space that the host does not have; empty for a packet without new data. Called before the host sends.
    #[expect(clippy::too_many_arguments, reason = "a record of a refusal")]
    fn refused(
        &mut self,
        _at: Time,
        _flow: u32,
        _to: Side,
        _why: Refusal,
        _seg: &Segment,
        _sends: u8,
        _missing: &[(Offset, Offset)],
    ) {
    }
    /// The packet of the next call of [`Watch::delivered`], by its number. Numbers count the sender's packets from 0,
    /// retransmissions and pure ACKs included. A packet that the network duplicated arrives twice with the same number.
    #[inline]
    fn arrived(&mut self, _at: Time, _flow: u32, _to: Side, _number: u32, _seg: &Segment) {}
    /// A packet passed from one link to the next, the directed link `link` (`2 · link`, and one more for `back`), and is about to
    /// enter its queue. `number` as in [`Watch::arrived`].
    #[inline]
    fn passed(&mut self, _at: Time, _link: u32, _flow: u32, _to: Side, _number: u32, _seg: &Segment) {}
    /// The packet of the next call of [`Watch::dropped`], by its number as in [`Watch::arrived`].
    #[inline]
    fn lost(&mut self, _flow: u32, _to: Side, _number: u32) {}
    /// A sender's current retransmission timeout, back-off included; called after each of its ACKs and timeouts.
    #[inline]
    fn rto(&mut self, _at: Time, _flow: u32, _side: Side, _rto: Nanos) {}
    /// The packet of the next call of [`Watch::doubled`], in the same way.
    #[inline]
    fn copied(&mut self, _flow: u32, _to: Side, _number: u32) {}
    /// The network duplicated a packet; each of the two will be dropped or delivered.
    #[inline]
    fn doubled(&mut self, _at: Time, _flow: u32, _to: Side, _seg: &Segment, _sends: u8) {}
    /// A packet entered the queue of directed link `link`, which now holds this much (waiting and in service, the packet
    /// included). The paths of splits are numbered after all links. Not called for links that only one, slower link feeds: their
    /// queues are never full.
    #[inline]
    fn queue(&mut self, _at: Time, _link: u32, _packets: u32, _bytes: u64) {}
}

impl Watch for () {
    const ENABLED: bool = false;
    const HEARS: Frequent = Frequent::NONE;
}
