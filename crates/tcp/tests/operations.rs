//! Random operations against a whole connection of every named stack: nothing panics, no data is sent beyond the peer's limit,
//! and afterwards an honest peer can still finish the transfer. Every invariant of the sequencer and of the scoreboard is
//! checked meanwhile (`debug_assertions` and overflow checks are on in test builds). `ACKCLOCK_FUZZ` sets the number of
//! sequences (default 10,000).

#[path = "../../../tests/fuzz/mod.rs"]
mod fuzz;
#[path = "../../../tests/fuzz/rng.rs"]
mod rng;

use ackclock_tcp::connection::{Connection, Sides, State, TooBig};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{fixed::FixedSpec, StartupSpec};
use ackclock_tcp::time::{Nanos, Time};
use fuzz::Target;
use rng::Rng;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};

const MSS: u32 = 1000;
const RWND: u64 = 20_000;

#[derive(Clone, Debug)]
enum Op {
    /// An ACK: its position between `snd_una` and `snd_max` (in 8ths), plus an offset in bytes; window; SACK blocks (start and
    /// length in 16ths of the flight, plus an offset in bytes).
    Ack {
        eighths: u64,
        off: i64,
        wnd: u32,
        dsack: Option<(u64, u64)>,
        blocks: Vec<(u64, u64, i64)>,
    },
    /// Anything at all.
    Wild {
        ack: u64,
        seq: u64,
        len: u32,
        wnd: u32,
        flags: u8,
        blocks: u8,
        sack: [(i32, i32); 4],
        stamps: (u32, u32),
    },
    /// Time passes until the next timer, or for this many milliseconds.
    Timer,
    Pass(u64),
    Write(u64),
    Close,
    Consume(u64),
    /// The network reports that the segment at this position (in 8ths) of the outstanding data was too big, or the driver sets
    /// the segment size.
    TooBig(u64, u32),
    Mss(u32),
    Nagle(bool),
    Cork(bool),
    WriteMore(u64),
    /// The driver takes at most this many segments after the next operations.
    Take(usize),
}

impl Rng {
    fn among(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    fn about(&mut self, range: Range<i64>) -> i64 {
        range.start + self.among(0..range.end.abs_diff(range.start)) as i64
    }

    fn small(&mut self, range: Range<u32>) -> u32 {
        self.among(range.start.into()..range.end.into()) as u32
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

fn window(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0..4 => 20_000,
        4 => 0,
        5 => rng.small(1..3000),
        6 => rng.small(3000..60_000),
        _ => u32::MAX,
    }
}

fn an_ack(rng: &mut Rng) -> Op {
    let eighths = match rng.below(6) {
        0..3 => 0,
        3 | 4 => rng.among(1..8),
        _ => 8,
    };
    let off = match rng.below(8) {
        0..6 => 0,
        6 => rng.about(-2..3),
        _ => rng.about(-1500..1500),
    };
    let block = |rng: &mut Rng| {
        let off = if rng.below(6) < 5 { 0 } else { rng.about(-600..600) };
        (rng.among(0..18), rng.among(0..6), off)
    };
    let blocks = if rng.below(5) < 2 { 0 } else { rng.among(1..4) };
    let dsack = (rng.below(10) == 0).then(|| (rng.among(0..3000), rng.among(0..2000)));
    Op::Ack { eighths, off, wnd: window(rng), dsack, blocks: (0..blocks).map(|_| block(rng)).collect() }
}

fn wild(rng: &mut Rng) -> Op {
    let place = |rng: &mut Rng| match rng.below(5) {
        0..3 => rng.among(0..60_000),
        3 => 1,
        _ => rng.next(),
    };
    let len = match rng.below(5) {
        0 | 1 => 0,
        2 | 3 => rng.small(1..1500),
        _ => rng.next() as u32,
    };
    Op::Wild {
        ack: place(rng),
        seq: place(rng),
        len,
        wnd: rng.next() as u32,
        // No RST: it would end the connection and leave little to test.
        flags: rng.next() as u8 & !Segment::RST,
        blocks: rng.next() as u8,
        sack: [(); 4].map(|()| (rng.next() as i32, rng.next() as i32)),
        stamps: (rng.next() as u32, rng.next() as u32),
    }
}

fn op(rng: &mut Rng) -> Op {
    match rng.below(40) {
        0..20 => an_ack(rng),
        20 | 21 => wild(rng),
        22..26 => Op::Timer,
        26..29 => Op::Pass(rng.among(0..2000)),
        29..32 => Op::Write(if rng.coin() { rng.among(1..1500) } else { rng.among(1000..30_000) }),
        32 => Op::Close,
        33 => Op::Consume(rng.among(0..5000)),
        34 => Op::Take(rng.below(5)),
        35 => Op::TooBig(rng.among(0..10), rng.small(0..1200)),
        36 => Op::Mss(rng.small(0..1200)),
        37 => Op::Nagle(rng.coin()),
        38 => Op::Cork(rng.coin()),
        _ => Op::WriteMore(rng.among(1..1500)),
    }
}

struct Run {
    c: Connection,
    now: Time,
    /// The furthest offset that the peer has ever allowed.
    edge: Offset,
    /// The size that no segment may exceed.
    largest: u32,
    maxburst: usize,
    late_sack: bool,
    take: usize,
    written: u64,
    closed: bool,
    /// Segments sent since the last input that gave a new allowance (an ACK that counts, or a timer).
    burst: usize,
}

impl Run {
    fn new(stack: &Stack) -> Run {
        let c = Connection::established(stack, Sides::Both, MSS, RWND);
        let maxburst = stack.limits.maxburst_segs.map_or(usize::MAX, |n| n as usize);
        let edge = Offset(1 + RWND);
        Run {
            c,
            now: Time::ZERO,
            edge,
            largest: MSS,
            maxburst,
            late_sack: stack.options.late_sack,
            take: usize::MAX,
            written: 0,
            closed: false,
            burst: 0,
        }
    }

    fn positions(&self) -> (Offset, Offset, Offset) {
        self.c.sender().expect("both halves").positions()
    }

    fn hear(&mut self, seg: &Segment) {
        let (una, _, max) = self.positions();
        if seg.has(Segment::ACK) && (una..=max).contains(&seg.ack) {
            self.edge = self.edge.max(seg.ack + u64::from(seg.wnd));
            self.burst = 0;
        }
        // The blocks of a late ACK also count.
        if self.late_sack && seg.has(Segment::ACK) && seg.ack < una && seg.blocks > 0 {
            self.burst = 0;
        }
        self.c.on_segment(self.now, seg, &mut ());
    }

    #[expect(clippy::too_many_lines, reason = "an arm for each operation")]
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Ack { eighths, off, wnd, dsack, blocks } => {
                let (una, _, max) = self.positions();
                let flight = max - una;
                let ack = (una.0 + flight * eighths / 8).saturating_add_signed(*off);
                let rcv_nxt = self.c.receiver().expect("both halves").rcv_nxt();
                let (seq, flags) = (rcv_nxt, Segment::ACK);
                let mut seg = Segment { seq, ack: Offset(ack), wnd: *wnd, flags, ..Segment::EMPTY };
                seg.opts = Segment::TIMESTAMPS;
                seg.tsval = (self.now.0 / 1_000_000) as u32;
                if let Some((below, len)) = dsack {
                    let left = ack.saturating_sub(*below);
                    seg.push_sack(Offset(left), Offset(left + len));
                }
                for (start, len, off) in blocks {
                    let left = (ack + flight * start / 16).saturating_add_signed(*off);
                    seg.push_sack(Offset(left), Offset(left + flight * len / 16));
                }
                self.hear(&seg);
            }
            Op::Wild { ack, seq, len, wnd, flags, blocks, sack, stamps } => {
                // A timestamp from the future would rightly lock out the honest peer (PAWS).
                let (tsval, tsecr) = (stamps.0.min((self.now.0 / 1_000_000) as u32), stamps.1);
                let opts = Segment::TIMESTAMPS * (stamps.0 as u8 & 1);
                let (seq, ack) = (Offset(*seq), Offset(*ack));
                let (flags, blocks) = (*flags, *blocks);
                let (len, wnd, sack) = (*len, *wnd, *sack);
                self.hear(&Segment { seq, ack, len, wnd, tsval, tsecr, flags, blocks, sack, opts, ..Segment::EMPTY });
            }
            Op::Timer => {
                if let Some(t) = self.c.next_timer() {
                    self.now = t.max(self.now);
                    self.burst = 0;
                    self.c.on_timer(self.now, &mut ());
                    assert!(self.c.next_timer().is_none_or(|t| t > self.now), "a timer stands still");
                }
            }
            Op::Pass(ms) => self.now += Nanos::from_millis(*ms),
            Op::Write(n) if !self.closed => {
                self.c.write(*n);
                self.written += n;
            }
            Op::Write(n) => self.c.write(*n),
            Op::Nagle(on) => self.c.set_nagle(*on),
            Op::Cork(on) => self.c.set_cork(*on),
            Op::WriteMore(n) => {
                self.c.write_more(*n);
                self.written += if self.closed { 0 } else { *n };
            }
            Op::Close => {
                self.c.close();
                self.closed = true;
            }
            Op::Consume(n) => self.c.consume(*n),
            Op::Take(n) => self.take = *n,
            Op::TooBig(eighths, mss) => {
                let (una, _, max) = self.positions();
                let at = una + (max - una) * eighths / 8;
                let before = self.c.info().snd_mss;
                match self.c.on_too_big(self.now, at, *mss) {
                    TooBig::Taken => self.largest = self.c.info().snd_mss,
                    TooBig::Ignored => assert!(at < una || at >= max || *mss >= before || before <= 500),
                }
                assert_eq!(self.c.info().snd_mss, if at < max { before.min(*mss).max(500) } else { before });
            }
            Op::Mss(mss) => {
                self.c.set_mss(*mss);
                assert_eq!(self.c.info().snd_mss, (*mss).clamp(500, MSS));
                // Outstanding segments may be larger.
                self.largest = MSS;
            }
        }
        self.speak();
    }

    fn speak(&mut self) {
        let mut out = Segment::EMPTY;
        for _ in 0..self.take.min(100_000) {
            if !self.c.poll_transmit(self.now, &mut out, &mut ()) {
                break;
            }
            self.burst += if out.seq_len() > 0 { usize::from(out.train) } else { 0 };
            let allowed = out.end() <= self.edge || out.seq_len() <= 1;
            assert!(allowed, "{out:?} lies beyond the peer's edge {}", self.edge);
            assert!(out.len <= self.largest * u32::from(out.train), "{out:?} is too large");
            let written = Offset(1 + self.written);
            assert!(out.len == 0 || out.seq + u64::from(out.len) <= written, "{out:?} was never written");
        }
        assert!(self.burst <= self.maxburst, "{} segments after one input", self.burst);
    }

    /// From here on the peer is honest and acknowledges all that it receives; everything must get through.
    fn finish(&mut self) {
        self.take = usize::MAX;
        for _ in 0..2000 {
            if self.c.acked() == self.written {
                return;
            }
            let max = self.positions().2;
            // An honest peer does not take back the largest window that it has offered.
            let wnd = u32::try_from((self.edge.0.saturating_sub(max.0)).max(RWND)).unwrap_or(u32::MAX);
            let receiver = self.c.receiver().expect("both halves");
            let mut seg = Segment { seq: receiver.rcv_nxt(), ack: max, wnd, flags: Segment::ACK, ..Segment::EMPTY };
            (seg.opts, seg.tsval) = (Segment::TIMESTAMPS, (self.now.0 / 1_000_000) as u32);
            self.now += Nanos::from_millis(100);
            self.hear(&seg);
            self.speak();
            while self.c.next_timer().is_some_and(|t| t <= self.now) {
                self.apply(&Op::Timer);
            }
            // A lost probe, left by the random operations, is resent by the timer.
            if self.positions().0 == max && self.c.acked() < self.written {
                self.apply(&Op::Timer);
            }
        }
        let s = self.c.sender().expect("both halves");
        panic!(
            "stuck, {} of {} acknowledged, at {:?} in {:?}: {}",
            self.c.acked(),
            self.written,
            s.positions(),
            s.phase(),
            s.board()
        );
    }
}

fn stack(name: &str, iw: u32, train: u16, burst: Option<u32>, cap: Option<u32>, stamps: bool) -> Stack {
    let mut stack = Stack::named(name).expect("listed");
    stack.startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: iw, ssthresh_segs: None });
    (stack.limits.max_train, stack.limits.maxburst_segs, stack.limits.cwnd_cap_segs) = (train, burst, cap);
    // Some stacks are invalid without them.
    stack.options.timestamps |= stamps;
    assert_eq!(stack.validate(), Ok(()));
    stack
}

/// Name, initial window, longest train, burst, cap, timestamps.
type Parameters = (&'static str, u32, u16, Option<u32>, Option<u32>, bool);

fn any_stack(names: &[&'static str], rng: &mut Rng) -> Parameters {
    let burst = (rng.below(10) < 3).then(|| rng.small(1..5));
    let cap = (rng.below(5) == 0).then(|| rng.small(1..10));
    (names[rng.below(names.len())], rng.small(1..20), [1, 4, 16][rng.below(3)], burst, cap, rng.coin())
}

/// Applies the operations; then an honest peer finishes the transfer.
fn play(stack: &Stack, ops: &[Op]) {
    let mut run = Run::new(stack);
    for op in [&Op::Write(15_000)].into_iter().chain(ops) {
        run.apply(op);
        if run.c.state() == State::Closed {
            return;
        }
    }
    run.finish();
}

/// Leaves out each operation without which it still fails.
fn shortest(stack: &Stack, mut ops: Vec<Op>) -> Vec<Op> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let mut at = 0;
    while at < ops.len() {
        let mut fewer = ops.clone();
        fewer.remove(at);
        if panic::catch_unwind(AssertUnwindSafe(|| play(stack, &fewer))).is_err() {
            ops = fewer;
        } else {
            at += 1;
        }
    }
    panic::set_hook(hook);
    ops
}

#[test]
fn no_sequence_of_operations_breaks_a_stack_and_an_honest_peer_can_finish() {
    let names: Vec<_> = Stack::names().collect();
    let target = Target::new("operations", 100_000);
    target.each(fuzz::cases(10_000), |number, seed| {
        let mut rng = Rng(seed);
        let parameters = any_stack(&names, &mut rng);
        let ops: Vec<Op> = (0..rng.among(1..60)).map(|_| op(&mut rng)).collect();
        let (name, iw, train, burst, cap, stamps) = parameters;
        let stack = stack(name, iw, train, burst, cap, stamps);
        let run = || target.run(number, &(parameters, &ops), || play(&stack, &ops));
        if let Err(why) = panic::catch_unwind(AssertUnwindSafe(run)) {
            eprintln!("{parameters:?}, the shortest: {:?}", shortest(&stack, ops));
            panic::resume_unwind(why);
        }
    });
}
