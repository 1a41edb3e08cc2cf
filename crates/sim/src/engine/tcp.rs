//! The network with the real engine on it.

use super::Network;
use crate::error::Impossible;
use crate::fetch::{fetch, fetch_all};
use crate::host::Endpoint;
use crate::measures::{Metering, Unmetered};
use crate::next_event::Search;
use crate::scenario::{BackgroundKind, FlowSpec, Scenario};
use crate::watch::{Side, Watch};
use ackclock_tcp::connection::{Connection, Outcome, Sides, State};
use ackclock_tcp::event::{Observer, Resend};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::sender::Sender;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;

/// A run of `ackclock_tcp` on a network.
pub type Sim<W, M = Unmetered> = Network<W, Connection, M>;

impl<W: Watch> Sim<W> {
    /// Lays out `scenario` with the stacks to which its flows refer. `seed` determines all random
    /// numbers.
    ///
    /// # Errors
    /// The reason why the scenario cannot be run.
    pub fn new(scenario: &Scenario, stacks: &[Stack], seed: u64, watch: W) -> Result<Self, Impossible> {
        Self::metered(scenario, stacks, seed, watch, Time::ZERO)
    }
}

impl<W: Watch, M: Metering> Sim<W, M> {
    /// The same for a run that may be measured, the first time up to and including `until` (see [`Network::measured`]).
    ///
    /// # Errors
    /// The reason why the scenario cannot be run.
    pub fn metered(
        scenario: &Scenario,
        stacks: &[Stack],
        seed: u64,
        watch: W,
        until: Time,
    ) -> Result<Self, Impossible> {
        check(scenario, stacks)?;
        let stacks = stacks.to_vec();
        let make = move |flow: &FlowSpec, side| endpoint(&stacks[flow.stack as usize], flow, side);
        Self::with_search(scenario, seed, watch, make, Search::Auto, until)
    }
}

/// Checks that each stack is consistent and that every flow has one.
pub(super) fn check(scenario: &Scenario, stacks: &[Stack]) -> Result<(), Impossible> {
    for s in stacks {
        let stack = s.name.clone();
        s.validate().map_err(|source| Impossible::Stack { stack, source })?;
    }
    let background = scenario.background.iter().filter_map(|b| match &b.kind {
        BackgroundKind::Transfers(t) => Some(&t.flow),
        BackgroundKind::Source(_) => None,
    });
    if let Some(f) = scenario.flows.iter().chain(background).find(|f| f.stack as usize >= stacks.len()) {
        let what = format!("flow \"{}\"", f.name);
        return Err(Impossible::Unknown { what, kind: "stack", index: f.stack, len: stacks.len() });
    }
    Ok(())
}

pub(super) fn endpoint(stack: &Stack, flow: &FlowSpec, side: Side) -> Connection {
    let (mss, rwnd) = (flow.mss, flow.window);
    let receiver = || Stack { ack: flow.ack.clone(), options: flow.peer.of(stack.options), ..stack.clone() };
    let mut end = match (flow.handshake, side) {
        (false, Side::Sender) => return Connection::established(&flow.peer.met(stack), Sides::Sender, mss, rwnd),
        (false, Side::Receiver) => {
            let mut receiver = receiver();
            receiver.options.sack &= stack.options.sack;
            receiver.options.timestamps &= stack.options.timestamps;
            return Connection::established(&receiver, Sides::Receiver, mss, rwnd);
        }
        (true, Side::Sender) => Connection::connect(stack, mss, rwnd),
        (true, Side::Receiver) => Connection::listen(&receiver(), mss, rwnd),
    };
    // A flow lasts as long as its run, however long its path is interrupted (decision 0118).
    end.set_user_timeout(None);
    end
}

impl Endpoint for Connection {
    #[inline(always)]
    fn on_expected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> bool {
        Connection::on_expected(self, now, seg, obs)
    }

    fn on_unexpected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        Connection::on_unexpected(self, now, seg, obs)
    }

    fn missing(&self, from: Offset, to: Offset) -> Vec<(Offset, Offset)> {
        match self.receiver() {
            Some(rx) => rx.missing(from, to),
            // Before the handshake reached a peer, or after the connection broke.
            None => Vec::from_iter((from < to).then_some((from, to))),
        }
    }

    #[inline]
    fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        Connection::on_timer(self, now, obs);
    }

    // Called after every packet.
    #[inline(always)]
    fn next_timer(&self) -> Option<Time> {
        Connection::next_timer(self)
    }

    #[inline(always)]
    fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        Connection::poll_transmit(self, now, out, obs)
    }

    #[inline]
    fn last_sends(&self) -> u8 {
        Connection::last_sends(self)
    }

    fn resend(&self) -> Option<Resend> {
        self.sender().map(Sender::resend)
    }

    fn hears_drops(&self) -> bool {
        Connection::hears_drops(self)
    }

    fn drop_copy(&mut self, start: Offset, sends: u8) {
        Connection::drop_copy(self, start, sends);
    }

    fn write(&mut self, bytes: u64) {
        Connection::write(self, bytes);
    }

    fn is_opening(&self) -> bool {
        matches!(self.state(), State::Listen | State::SynSent)
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

    #[inline]
    fn fetch(&self) {
        match (self.sender(), self.receiver()) {
            (Some(tx), _) => fetch_all(tx),
            (None, Some(rx)) => fetch_all(rx),
            (None, None) => {}
        }
    }

    #[inline]
    fn fetch_further(&self) {
        if let Some(oldest) = self.sender().and_then(|tx| tx.board().iter().next()) {
            fetch(std::ptr::from_ref(oldest).cast());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;
    use crate::scenario::{DirectionSpec, ElementSpec, Gap, PeerSpec, QueueLimit, QueueSpec, SwapMode, SwapSpec};
    use crate::topology::dumbbell::{dumbbell, flow, pipe};
    use ackclock_tcp::detect::DetectSpec;
    use ackclock_tcp::time::Nanos;
    use ackclock_tcp::units::Rate;

    /// `flows` transfers of 200 segments over a queue of 20.
    fn transfers(flows: u32, handshake: bool) -> Scenario {
        let queue = QueueSpec { limit: QueueLimit::Packets(20), limit_counts_service: true };
        let shared = DirectionSpec { queue, ..pipe(Some(Rate(5_000_000)), Nanos::from_millis(20)) };
        let mut s = dumbbell(flows, &pipe(Some(Rate(10_000_000)), Nanos::ZERO), &shared, &flow());
        for f in &mut s.flows {
            f.handshake = handshake;
            f.app.bytes = Some(200 * 1460);
        }
        s
    }

    fn stacks() -> Vec<Stack> {
        Stack::names().filter_map(Stack::named).collect()
    }

    #[test]
    fn every_stack_finishes_with_and_without_a_handshake() {
        for stack in stacks() {
            for handshake in [false, true] {
                let s = transfers(3, handshake);
                let r = Sim::new(&s, std::slice::from_ref(&stack), 1, ()).unwrap().run();
                // Negotiated timestamps reduce the payload.
                let payload = if handshake && stack.options.timestamps { 1448 } else { 1460u64 };
                let segments = (200 * 1460u64).div_ceil(payload);
                for f in &r.flows {
                    assert_eq!((f.delivered, f.acked), (200 * 1460, 200 * 1460), "{} {handshake}", stack.name);
                    assert!(f.finished.is_some() && f.data_sent == segments + f.retransmitted, "{} {f:?}", stack.name);
                }
                assert!(r.links[0].drops.queue > 0, "{}", stack.name);
            }
        }
    }

    #[test]
    fn both_ends_use_what_both_know_with_a_handshake_and_without() {
        struct Options(u16, u32);
        impl Watch for Options {
            fn sent(&mut self, _: Time, _: u32, _: Side, seg: &Segment, _: u32, _: u8) {
                if !seg.has(Segment::SYN) {
                    self.0 |= u16::from(seg.opts & Segment::TIMESTAMPS != 0);
                    self.1 += u32::from(seg.blocks);
                }
            }
        }
        let stack = Stack::named("linux-2025").unwrap();
        for handshake in [false, true] {
            let run = |stack: &Stack, peer| {
                let mut s = transfers(1, handshake);
                s.flows[0].peer = peer;
                let mut n = Sim::new(&s, std::slice::from_ref(stack), 1, Options(0, 0)).unwrap();
                let r = n.run();
                assert!(r.links[0].drops.queue > 0 && r.flows[0].finished.is_some());
                let Options(stamps, blocks) = n.into_watch();
                (stamps > 0, blocks > 0, r.flows)
            };
            let (no, plain) = (Some(false), PeerSpec::default());
            assert_eq!((run(&stack, plain).0, run(&stack, plain).1), (true, true));
            let old = PeerSpec { sack: no, dsack: no, timestamps: no };
            let (stamps, blocks, flows) = run(&stack, old);
            assert_eq!((stamps, blocks), (false, false), "{handshake}");
            // The sender then acts as if its own stack lacked these options.
            let mut own = stack.without_sack();
            own.options.timestamps = false;
            assert_eq!(run(&own, plain).2, flows, "{handshake}");
            // Options that the sender lacks are of no use to the receiver.
            let all = PeerSpec { sack: Some(true), dsack: Some(true), timestamps: Some(true) };
            assert_eq!(run(&own, all).2, flows, "{handshake}");
        }
    }

    #[test]
    fn scan_and_tree_give_the_same_run() {
        let (s, stacks) = (transfers(3, true), stacks());
        let run = |search| -> Results {
            let stacks = stacks.clone();
            let make = move |f: &FlowSpec, side| endpoint(&stacks[f.stack as usize], f, side);
            Sim::<_>::with_search(&s, 1, (), make, search, Time::ZERO).unwrap().run()
        };
        assert_eq!(run(Search::Auto), run(Search::Tree));
    }

    #[test]
    fn an_oracle_repairs_every_loss_and_resends_nothing_needlessly() {
        let mut oracle = Stack::named("late").unwrap();
        oracle.detect = DetectSpec::Oracle;
        for (handshake, seed) in [(false, 1), (true, 2), (true, 3)] {
            let mut s = transfers(3, handshake);
            let swap = SwapSpec { mode: SwapMode::Slots, count: 3, gap: Gap::Exponential(Nanos::from_millis(20)) };
            s.links[0].forward.elements.push(ElementSpec::Swap(swap));
            let run = |stack: &Stack| Sim::new(&s, std::slice::from_ref(stack), seed, ()).unwrap().run();
            let (r, other) = (run(&oracle), run(&Stack::named("newreno").unwrap()));
            for f in &r.flows {
                assert!(f.finished.is_some() && f.delivered == 200 * 1460, "{f:?}");
                assert_eq!(f.needless - f.needless_by.probe, 0, "{f:?}");
            }
            let resent: u64 = r.flows.iter().map(|f| f.needed).sum();
            assert_eq!(resent, r.links.iter().map(|l| l.drops.total()).sum::<u64>());
            assert!(resent > 0 && other.flows.iter().any(|f| f.needless > 0), "nothing is lost or late: {other:?}");
        }
    }

    #[test]
    fn a_train_is_split_into_its_packets() {
        let run = |max_train| {
            let mut stack = Stack::named("newreno").unwrap();
            stack.limits.max_train = max_train;
            let r = Sim::new(&transfers(3, false), &[stack], 1, ()).unwrap().run();
            (r.flows, r.links)
        };
        let one = run(1);
        assert_eq!(run(4), one);
        assert_eq!(run(16), one);
    }

    #[test]
    fn a_stack_that_is_missing_or_senseless_is_refused() {
        let mut s = transfers(2, false);
        let mut stack = Stack::named("newreno").unwrap();
        stack.limits.max_train = 0;
        let refusal = |s: &Scenario, stacks: &[Stack]| Sim::new(s, stacks, 1, ()).err().map(|e| e.to_string());
        assert!(refusal(&s, &[stack]).is_some_and(|e| e.starts_with("stack \"newreno\": limits.max_train")));
        s.flows[1].stack = 99;
        let missing = refusal(&s, &stacks()).unwrap_or_default();
        assert!(missing.contains("flow \"flow1\": there is no stack number 99"), "{missing}");
    }
}
