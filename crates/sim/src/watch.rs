//! Who may look: a run is generic over one listener, and `()` costs nothing.

use crate::measures::Meters;
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The end that sends the data.
    Sender,
    /// The end that answers.
    Receiver,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropWhy {
    /// The queue was full.
    Queue,
    /// A loss model said so, or the link was interrupted.
    Loss,
    /// The queue was getting long (RED).
    Early,
    /// The scenario's script said so.
    Script,
}

/// Listens to a run: the network's own events and, through [`Watch::tcp`], the senders'.
///
/// Calls come in the order in which the simulator does things; times never go back.
pub trait Watch {
    /// Whether anything listens; where it is `false` no record is built.
    const ENABLED: bool = true;
    /// Whether [`Watch::rto`] is told.
    const HEARS_RTO: bool = false;
    /// Whether [`Watch::passed`] is told.
    const HEARS_HOPS: bool = false;
    /// Whether [`Watch::meters`] answers any.
    const MEASURES: bool = false;
    /// What counts delays and what links carry, where that is asked for: the engine itself does it there.
    #[inline(always)]
    fn meters(&mut self) -> Option<&mut Meters> {
        None
    }
    /// Something happened inside a flow's sender.
    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event);
    /// A host handed a packet to its link. `sends` counts transmissions of the same data (1 = first); 0 for pure ACKs.
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, wire: u32, sends: u8);
    /// A packet was dropped as the `nth` (0-based) arrival at element `element`. `sends` is what [`Watch::sent`] said of it.
    #[expect(clippy::too_many_arguments, reason = "a record of a drop, taken apart so that nothing is built for `()`")]
    fn dropped(
        &mut self,
        at: Time,
        flow: u32,
        to: Side,
        element: u32,
        nth: u64,
        why: DropWhy,
        seg: &Segment,
        sends: u8,
    );
    /// A packet reached a host. `sends` is what [`Watch::sent`] said of it.
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, sends: u8);
    /// The host's TCP threw away the packet of the last call of [`Watch::delivered`], or some of it. `missing` are the parts of
    /// its sequence space that the host does not have; empty for one that brought nothing new. Told before the host sends.
    #[expect(clippy::too_many_arguments, reason = "a record of a refusal, taken apart as that of a drop is")]
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
    /// The same packet, which its sender sent as number `number` (each packet one more, from 0, retransmissions and pure ACKs
    /// too). One that the network doubled arrives twice with the same number.
    #[inline]
    fn arrived(&mut self, _at: Time, _flow: u32, _to: Side, _number: u32, _seg: &Segment) {}
    /// A packet came from one link to the next, the directed link `link` (`2 · link`, and one more for `back`), and stands before its
    /// queue. `number` as in [`Watch::arrived`].
    #[inline]
    fn passed(&mut self, _at: Time, _link: u32, _flow: u32, _to: Side, _number: u32, _seg: &Segment) {}
    /// The packet of the next call of [`Watch::dropped`], by its number as in [`Watch::arrived`].
    #[inline]
    fn lost(&mut self, _flow: u32, _to: Side, _number: u32) {}
    /// How long a sender's retransmission timer now runs, back-off included; told after each of its ACKs and timeouts.
    #[inline]
    fn rto(&mut self, _at: Time, _flow: u32, _side: Side, _rto: Nanos) {}
    /// The packet of the next call of [`Watch::doubled`], likewise.
    #[inline]
    fn copied(&mut self, _flow: u32, _to: Side, _number: u32) {}
    /// The network made two packets of one; each will be dropped or delivered.
    #[inline]
    fn doubled(&mut self, _at: Time, _flow: u32, _to: Side, _seg: &Segment, _sends: u8) {}
    /// A packet came to the queue of directed link `link`, which now holds this much (waiting and in service, the packet
    /// included). The paths of splits are numbered after all links. Not called for links that another, slower link alone feeds: their queues are never full.
    fn queue(&mut self, at: Time, link: u32, packets: u32, bytes: u64);
}

impl Watch for () {
    const ENABLED: bool = false;
    #[inline]
    fn tcp(&mut self, _: Time, _: u32, _: Side, _: Event) {}
    #[inline]
    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    #[inline]
    fn dropped(&mut self, _: Time, _: u32, _: Side, _: u32, _: u64, _: DropWhy, _: &Segment, _: u8) {}
    #[inline]
    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    #[inline]
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}

/// Counts, and hears nothing else.
impl Watch for Meters {
    const MEASURES: bool = true;
    #[inline(always)]
    fn meters(&mut self) -> Option<&mut Meters> {
        Some(self)
    }
    #[inline]
    fn tcp(&mut self, _: Time, _: u32, _: Side, _: Event) {}
    #[inline]
    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    #[inline]
    fn dropped(&mut self, _: Time, _: u32, _: Side, _: u32, _: u64, _: DropWhy, _: &Segment, _: u8) {}
    #[inline]
    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    #[inline]
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}

/// Counts where there is something to count with, and hears nothing else.
impl Watch for Option<Meters> {
    const MEASURES: bool = true;
    #[inline(always)]
    fn meters(&mut self) -> Option<&mut Meters> {
        self.as_mut()
    }
    #[inline]
    fn tcp(&mut self, _: Time, _: u32, _: Side, _: Event) {}
    #[inline]
    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    #[inline]
    fn dropped(&mut self, _: Time, _: u32, _: Side, _: u32, _: u64, _: DropWhy, _: &Segment, _: u8) {}
    #[inline]
    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}
    #[inline]
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}
