//! Lays out background traffic: its generators, and the hosts that its transfers reuse.

use crate::app::App;
use crate::background::{names, Generator, Slot, ROUND_BITS};
use crate::host::{Endpoint, Host, UNARMED};
use crate::scenario::{BackgroundKind, FlowSpec, Scenario};
use crate::watch::Side;

/// Appends the slots' hosts to the flows'. `first` is the start of each pair's two paths, flows before background.
pub(super) fn lay_out<E: Endpoint, H: Default>(
    s: &Scenario,
    seed: u64,
    first: &[u32],
    hosts: &mut Vec<Host<E, H>>,
    make: &mut impl FnMut(&FlowSpec, Side) -> E,
) -> (Vec<Slot>, Vec<Generator>) {
    let (mut slots, mut generators) = (Vec::new(), Vec::new());
    for (i, (b, name)) in s.background.iter().zip(names(s)).enumerate() {
        let pair = 2 * (s.flows.len() + i);
        let first_hops = [first[pair], first[pair + 1]];
        let begin = slots.len() as u32;
        if let BackgroundKind::Transfers(t) = &b.kind {
            for _ in 0..t.most {
                slots.push(Slot { generator: i as u32, round: 1, began: 0 });
                for (side, first_hop) in [(Side::Sender, first_hops[0]), (Side::Receiver, first_hops[1])] {
                    let tcp = make(&t.flow, side);
                    hosts.push(Host {
                        hears_drops: side == Side::Sender && tcp.hears_drops(),
                        tcp,
                        meter: H::default(),
                        armed: UNARMED,
                        first_hop,
                        peer: (hosts.len() as u32 ^ 1) | 1 << ROUND_BITS,
                        wire: t.flow.wire,
                        app: App::Idle,
                        data_sent: 0,
                        retransmitted: 0,
                        sent: 0,
                    });
                }
            }
        }
        generators.push(Generator::new(b, first_hops[0], begin..slots.len() as u32, seed, &name));
    }
    (slots, generators)
}
