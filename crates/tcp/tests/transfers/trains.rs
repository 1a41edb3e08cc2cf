//! A train returns several segments at once, and never changes which segments are sent.

use crate::net::{Do, Line, Net, Path};
use crate::{secs, stacks, MSS};
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::stack::Stack;

fn log(stack: &Stack, max_train: u16, path: Path, seed: u64) -> (Vec<Line>, [u64; 2]) {
    let mut stack = stack.clone();
    stack.limits.max_train = max_train;
    let ends = [(); 2].map(|()| Connection::established(&stack, Sides::Both, MSS, 40_000));
    let mut net = Net::new(ends, 40_000, path, seed);
    net.at(secs(0), 0, Do::Write(120_500));
    net.at(secs(0), 1, Do::Write(3_999));
    net.at(secs(3), 0, Do::Close);
    net.at(secs(0), 1, Do::Close);
    net.run(secs(20_000));
    assert!(net.finished(), "{} trains of {max_train}: {}", stack.name, net.describe());
    (net.log, net.received)
}

#[test]
fn trains_of_1_4_and_16_give_the_same_sends_drops_and_deliveries() {
    let quiet = Path::default();
    let paths = [quiet, Path { loss: [3, 3], ..quiet }, Path { late: 10, doubled: 3, loss: [2, 0], ..quiet }];
    let mut longest = 0;
    for stack in stacks() {
        for (p, path) in paths.into_iter().enumerate() {
            for seed in 0..3 {
                let want = log(&stack, 1, path, seed);
                for n in [4, 16] {
                    assert!(log(&stack, n, path, seed) == want, "{} path {p} seed {seed} trains of {n}", stack.name);
                }
                longest = longest.max(want.0.len());
            }
        }
    }
    assert!(longest > 120, "the transfers were too short to have trains");
}
