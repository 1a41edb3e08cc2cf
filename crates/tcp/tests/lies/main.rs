//! Peers that lie, one file per lie: receivers against every named stack, and senders against the receiver (`floods.rs`). No lie
//! may make a sender panic, send for ever, send beyond the advertised window, or use ever more memory. If the peer becomes honest
//! at some time, the transfer ends. The invariants of the sequencer and the scoreboard are checked meanwhile.

mod division;
mod dsacks;
mod ece;
mod floods;
mod forever;
#[path = "../../../../tests/fuzz/heap.rs"]
mod heap;
mod optimistic;
mod peer;
mod renege;
#[path = "../shared/rng.rs"]
mod rng;
mod sack_blocks;
mod shrink;
mod stamps;
mod talk;

use ackclock_tcp::stack::Stack;
use peer::Lie;
use talk::{Reports, Talk};

pub(crate) const MSS: u32 = 1000;
/// The window that an honest peer offers.
pub(crate) const RWND: u64 = 40_000;

/// Runs for each stack and lie, each with different losses.
const SEEDS: u64 = 12;

/// Every named stack, and again with the options that a peer can lie about: timestamps and ECN.
pub(crate) fn stacks() -> impl Iterator<Item = Stack> {
    Stack::names().flat_map(|name| {
        [false, true].map(|all| {
            let mut stack = Stack::named(name).expect("listed");
            stack.options.timestamps |= all;
            stack.options.ecn |= all;
            assert_eq!(stack.validate(), Ok(()), "{name}");
            stack
        })
    })
}

/// Runs every stack against the lie and then the truth; returns the outcome of all runs.
pub(crate) fn every_stack_survives(lie: Lie) -> Reports {
    let mut all = Reports::default();
    for stack in stacks() {
        for seed in 0..SEEDS {
            let mut talk = Talk::new(&stack, seed);
            talk.hear(lie);
            talk.finish();
            all.add(&talk.reports);
        }
    }
    println!("{all:?}");
    assert!(all.sent > 100_000 && all.resent > 1_000, "too quiet: {all:?}");
    all
}
