//! A wire that loses, delays and duplicates frames in both directions.

use ackclock_live::wire::Wire;
use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// A delayed frame that nothing overtakes is sent after this time.
const LATEST: Duration = Duration::from_millis(2);

/// A wire that impairs its frames.
pub(crate) struct Harm<W> {
    wire: W,
    out: Way,
    back: Way,
    /// Frames that have been read but not passed on.
    waiting: VecDeque<Vec<u8>>,
}

/// One direction.
struct Way {
    random: u64,
    /// Delayed frames: for each, how many others must still overtake it, and when it was delayed.
    held: Vec<(u32, Instant, Vec<u8>)>,
}

impl Way {
    fn draw(&mut self) -> u64 {
        // splitmix64
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0.5 % are lost, 1 % delayed until up to 12 others have passed, 0.5 % duplicated.
    fn pass(&mut self, frame: &[u8], out: &mut VecDeque<Vec<u8>>) {
        match self.draw() % 1000 {
            0..5 => {}
            5..15 => {
                let behind = 1 + (self.draw() % 12) as u32;
                self.held.push((behind, now(), frame.to_vec()));
            }
            15..20 => out.extend([frame.to_vec(), frame.to_vec()]),
            _ => out.push_back(frame.to_vec()),
        }
        self.held.iter_mut().for_each(|(behind, ..)| *behind -= (*behind > 0) as u32);
        self.release(out, |behind, _| behind == 0);
    }

    fn release(&mut self, out: &mut VecDeque<Vec<u8>>, when: impl Fn(u32, Instant) -> bool) {
        let (go, stay): (Vec<_>, Vec<_>) = self.held.drain(..).partition(|(behind, since, _)| when(*behind, *since));
        self.held = stay;
        out.extend(go.into_iter().map(|(_, _, frame)| frame));
    }
}

#[expect(clippy::disallowed_methods, reason = "a live test")]
fn now() -> Instant {
    Instant::now()
}

impl<W: Wire> Harm<W> {
    pub(crate) fn new(wire: W, seed: u64) -> Self {
        let way = |random| Way { random, held: Vec::new() };
        Harm { wire, out: way(seed), back: way(!seed), waiting: VecDeque::new() }
    }
}

impl<W: Wire> Wire for Harm<W> {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let late = |_, since: Instant| since.elapsed() > LATEST;
        let mut out = VecDeque::new();
        self.out.release(&mut out, late);
        for frame in out {
            self.wire.send(&frame)?;
        }
        self.back.release(&mut self.waiting, late);
        while self.waiting.is_empty() {
            let Some(len) = self.wire.recv(buf)? else { return Ok(None) };
            self.back.pass(&buf[..len], &mut self.waiting);
        }
        Ok(self.waiting.pop_front().map(|frame| {
            buf[..frame.len()].copy_from_slice(&frame);
            frame.len()
        }))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let mut out = VecDeque::new();
        self.out.pass(frame, &mut out);
        out.iter().try_for_each(|frame| self.wire.send(frame))
    }

    fn offload(&self) -> bool {
        self.wire.offload()
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.wire.readable()
    }
}

/// A wire that swaps two words at the end of one long frame in each direction: no checksum detects
/// that.
pub(crate) struct Swapped<W> {
    wire: W,
    out: u32,
    back: u32,
}

impl<W> Swapped<W> {
    pub(crate) fn new(wire: W) -> Self {
        Swapped { wire, out: 0, back: 0 }
    }
}

/// Damages the frame if it is the 100th long one.
fn swap(count: &mut u32, frame: &mut [u8]) {
    *count += (frame.len() > 1000) as u32;
    if *count == 100 && frame.len() > 1000 {
        *count += 1;
        let at = (frame.len() - 8) & !1;
        assert_ne!(frame[at..at + 2], frame[at + 2..at + 4]);
        frame[at..at + 4].rotate_left(2);
    }
}

impl<W: Wire> Wire for Swapped<W> {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let len = self.wire.recv(buf)?;
        if let Some(len) = len {
            swap(&mut self.back, &mut buf[..len]);
        }
        Ok(len)
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let mut frame = frame.to_vec();
        swap(&mut self.out, &mut frame);
        self.wire.send(&frame)
    }

    fn offload(&self) -> bool {
        self.wire.offload()
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.wire.readable()
    }
}
