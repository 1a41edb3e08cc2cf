//! Counts for each flow what the simulator itself does not.

use ackclock_sim::reordering::Order;
use ackclock_sim::watch::{DropWhy, Side, Watch};
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

/// By flow.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) flows: Vec<FlowTally>,
    /// Where it was asked for.
    pub(crate) order: Option<Order>,
}

/// Of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTally {
    pub(crate) data_drops: u64,
    pub(crate) ack_drops: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
}

impl Watch for Tally {
    fn tcp(&mut self, _: Time, flow: u32, side: Side, e: Event) {
        let Some(f) = self.flows.get_mut(flow as usize).filter(|_| side == Side::Sender) else { return };
        match e {
            Event::Timeout { .. } => f.timeouts += 1,
            Event::Phase { to: Phase::Recovery, .. } => f.fast_recoveries += 1,
            _ => {}
        }
    }

    fn sent(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32, _: u8) {}

    fn dropped(&mut self, _: Time, flow: u32, to: Side, _: u32, _: u64, _: DropWhy, seg: &Segment) {
        let Some(f) = self.flows.get_mut(flow as usize) else { return };
        match to {
            Side::Receiver if seg.seq_len() > 0 => f.data_drops += 1,
            Side::Sender if seg.seq_len() == 0 => f.ack_drops += 1,
            _ => {}
        }
    }

    fn delivered(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u32) {}

    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        if let Some(order) = &mut self.order {
            order.arrived(at, flow, to, number, seg);
        }
    }

    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}
