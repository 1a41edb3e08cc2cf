//! An engine that stands still for seconds during a transfer, like a laptop that is suspended: to it, the clock jumps. The kernel
//! at the other end goes on.

use crate::matrix::{transfer, within_limit};
use crate::trial;
use ackclock_live::bench::{Direction, Family, Transfer};
use ackclock_live::wire::Wire;
use libtest_mimic::Trial;
use std::io;
use std::os::fd::BorrowedFd;
use std::thread;
use std::time::Duration;

/// Longer than ten retransmission timeouts.
const PAUSE: Duration = Duration::from_secs(2);
/// It stands still when this number of frames has arrived, and when this number has been sent.
const FRAMES: u32 = 60;
/// Enough that the transfer is under way at both times.
const BYTES: u64 = 10_000_000;

/// A wire at which the engine stands still, once in each direction.
struct Standing<W> {
    wire: W,
    received: u32,
    sent: u32,
}

/// Counts a frame, and stands still at one of them.
fn count(frames: &mut u32) {
    *frames += 1;
    if *frames == FRAMES {
        thread::sleep(PAUSE);
    }
}

impl<W: Wire> Wire for Standing<W> {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let len = self.wire.recv(buf)?;
        if len.is_some() {
            count(&mut self.received);
        }
        Ok(len)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        count(&mut self.sent);
        self.wire.send(frame)
    }

    fn offload(&self) -> bool {
        self.wire.offload()
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.wire.readable()
    }
}

fn goes_on(stack: &str, direction: Direction) {
    let transfer = Transfer { bytes: BYTES, ..transfer(stack, direction, Family::V4) };
    let (bench, wire) = transfer.prepare().unwrap();
    let outcome = within_limit(|shared| transfer.run(&bench, Standing { wire, received: 0, sent: 0 }, shared)).unwrap();
    assert!(outcome.hashes_equal && outcome.bytes == BYTES, "{outcome:?}");
    assert!(outcome.time.as_secs_f64() > 2.0 * PAUSE.as_secs_f64(), "it never stood still: {outcome:?}");
    // The ACKs that arrived meanwhile are taken before any timer. A receiver sends no data.
    assert_eq!(outcome.retransmitted, 0, "{outcome:?}");
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for stack in ["rfc-6675", "linux-2025"] {
        for (direction, does) in [(Direction::Send, "resends_nothing"), (Direction::Receive, "goes_on_receiving")] {
            let name = format!("{}_{does}_after_a_standstill", stack.replace('-', "_"));
            trials.push(trial(name, move || goes_on(stack, direction)));
        }
    }
    trials
}
