//! Random operations against a whole connection of every named stack: nothing panics, no data is sent beyond the peer's limit,
//! and afterwards an honest peer can still finish the transfer. Every invariant of the sequencer and of the scoreboard is
//! checked meanwhile (`debug_assertions` and overflow checks are on in test builds). `ACKCLOCK_FUZZ` sets the number of
//! sequences (default 10,000).

#[path = "../../../tests/fuzz/mod.rs"]
mod fuzz;

use ackclock_tcp::connection::{Connection, Sides, State, TooBig};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{fixed::FixedSpec, StartupSpec};
use ackclock_tcp::time::{Nanos, Time};
use fuzz::Target;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

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

fn window() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(20_000u32), 1 => Just(0), 1 => 1u32..3000, 1 => 3000u32..60_000, 1 => Just(u32::MAX)]
}

fn an_ack() -> impl Strategy<Value = Op> {
    let off = prop_oneof![6 => Just(0i64), 1 => -2i64..3, 1 => -1500i64..1500];
    let block = (0u64..18, 0u64..6, prop_oneof![5 => Just(0i64), 1 => -600i64..600]);
    let blocks = prop_oneof![2 => Just(vec![]), 3 => prop::collection::vec(block, 1..=3)];
    let eighths = prop_oneof![3 => Just(0u64), 2 => 1u64..8, 1 => Just(8u64)];
    let dsack = prop::option::weighted(0.1, (0u64..3000, 0u64..2000));
    (eighths, off, window(), dsack, blocks).prop_map(|(eighths, off, wnd, dsack, blocks)| Op::Ack {
        eighths,
        off,
        wnd,
        dsack,
        blocks,
    })
}

fn wild() -> impl Strategy<Value = Op> {
    let place = || prop_oneof![3 => 0u64..60_000, 1 => Just(1u64), 1 => any::<u64>()];
    // No RST: it would end the connection and leave little to test.
    let flags = any::<u8>().prop_map(|f| f & !Segment::RST);
    let sack = prop::array::uniform4((any::<i32>(), any::<i32>()));
    let len = prop_oneof![2 => Just(0u32), 2 => 1u32..1500, 1 => any::<u32>()];
    (place(), place(), len, any::<u32>(), flags, any::<u8>(), sack, any::<(u32, u32)>()).prop_map(
        |(ack, seq, len, wnd, flags, blocks, sack, stamps)| Op::Wild {
            ack,
            seq,
            len,
            wnd,
            flags,
            blocks,
            sack,
            stamps,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        20 => an_ack(),
        2 => wild(),
        4 => Just(Op::Timer),
        3 => (0u64..2000).prop_map(Op::Pass),
        3 => prop_oneof![1u64..1500, 1000u64..30_000].prop_map(Op::Write),
        1 => Just(Op::Close),
        1 => (0u64..5000).prop_map(Op::Consume),
        1 => (0usize..5).prop_map(Op::Take),
        1 => (0u64..10, 0u32..1200).prop_map(|(at, mss)| Op::TooBig(at, mss)),
        1 => (0u32..1200).prop_map(Op::Mss),
        1 => any::<bool>().prop_map(Op::Nagle),
        1 => any::<bool>().prop_map(Op::Cork),
        1 => (1u64..1500).prop_map(Op::WriteMore),
    ]
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

/// A stack with its parameters: name, initial window, longest train, burst, cap, timestamps.
fn any_stack() -> impl Strategy<Value = (&'static str, u32, u16, Option<u32>, Option<u32>, bool)> {
    let name = prop::sample::select(Stack::names().collect::<Vec<_>>());
    let train = prop::sample::select(vec![1u16, 4, 16]);
    let burst = prop::option::weighted(0.3, 1u32..5);
    let cap = prop::option::weighted(0.2, 1u32..10);
    (name, 1u32..20, train, burst, cap, any::<bool>())
}

/// Draws by this seed, and shrinks what fails.
fn runner(seed: u64) -> TestRunner {
    let config = Config { failure_persistence: None, ..Config::default() };
    let bytes = [seed, !seed].map(u64::to_le_bytes).concat();
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::XorShift, &bytes))
}

#[test]
fn no_sequence_of_operations_breaks_a_stack_and_an_honest_peer_can_finish() {
    let strategy = (any_stack(), prop::collection::vec(op(), 1..60));
    let target = Target::new("operations", 100_000);
    target.each(fuzz::cases(10_000), |number, seed| {
        let mut runner = runner(seed);
        let drawn = strategy.new_tree(&mut runner).unwrap();
        let ended = runner.run_one(drawn, |((name, iw, train, burst, cap, stamps), ops)| {
            let stack = stack(name, iw, train, burst, cap, stamps);
            target.run(number, &(name, iw, train, burst, cap, stamps, &ops), || {
                let mut run = Run::new(&stack);
                for op in [&Op::Write(15_000)].into_iter().chain(&ops) {
                    run.apply(op);
                    if run.c.state() == State::Closed {
                        return;
                    }
                }
                run.finish();
            });
            Ok(())
        });
        assert!(ended.is_ok(), "{}", ended.unwrap_err());
    });
}
