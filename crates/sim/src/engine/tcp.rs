//! The network with the real engine on it.

use super::Network;
use crate::error::Impossible;
use crate::host::Endpoint;
use crate::scenario::{FlowSpec, Scenario};
use crate::watch::{Side, Watch};
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::event::Observer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;

/// A run of `ackclock_tcp` on a network.
pub type Sim<W> = Network<W, Connection>;

impl<W: Watch> Sim<W> {
    /// Lays out `scenario` with the stacks to which its flows refer. All luck comes from `seed`.
    ///
    /// # Errors
    /// What makes the scenario impossible to run.
    pub fn new(scenario: &Scenario, stacks: &[Stack], seed: u64, watch: W) -> Result<Self, Impossible> {
        for s in stacks {
            let stack = s.name.clone();
            s.validate().map_err(|source| Impossible::Stack { stack, source })?;
        }
        if let Some(f) = scenario.flows.iter().find(|f| f.stack as usize >= stacks.len()) {
            let what = format!("flow \"{}\"", f.name);
            return Err(Impossible::Unknown { what, kind: "stack", index: f.stack, len: stacks.len() });
        }
        Self::with_endpoints(scenario, seed, watch, |flow, side| endpoint(&stacks[flow.stack as usize], flow, side))
    }
}

fn endpoint(stack: &Stack, flow: &FlowSpec, side: Side) -> Connection {
    let (mss, rwnd) = (flow.mss, flow.window);
    let receiver = || Stack { ack: flow.ack.clone(), ..stack.clone() };
    match (flow.handshake, side) {
        (false, Side::Sender) => Connection::established(stack, Sides::Sender, mss, rwnd),
        (false, Side::Receiver) => Connection::established(&receiver(), Sides::Receiver, mss, rwnd),
        (true, Side::Sender) => Connection::connect(stack, mss, rwnd),
        (true, Side::Receiver) => Connection::listen(&receiver(), mss, rwnd),
    }
}

impl Endpoint for Connection {
    #[inline]
    fn on_segment<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) {
        Connection::on_segment(self, now, seg, obs);
    }

    #[inline]
    fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        Connection::on_timer(self, now, obs);
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        Connection::next_timer(self)
    }

    #[inline]
    fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        Connection::poll_transmit(self, now, out, obs)
    }

    #[inline]
    fn last_sends(&self) -> u8 {
        Connection::last_sends(self)
    }

    fn write(&mut self, bytes: u64) {
        Connection::write(self, bytes);
    }

    fn close(&mut self) {
        Connection::close(self);
    }

    #[inline]
    fn acked(&self) -> u64 {
        Connection::acked(self)
    }

    fn received(&self) -> u64 {
        Connection::received(self)
    }
}
