//! The receiver against a naive one that keeps a flag for every byte, and against nonsense.

use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::receive_window::drs::DrsSpec;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::receiver::{Accept, Consume, Receiver, ReceiverConfig};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::WindowEdge;
use ackclock_tcp::time::{Nanos, Time};
use proptest::prelude::*;

const BYTES: u64 = 300;

#[derive(Clone, Copy, Debug)]
enum Op {
    Segment { at: u64, len: u64 },
    Ack,
    Consume(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let segment = |(at, len): (u64, u64)| Op::Segment { at, len: len.min(BYTES - at) };
    prop_oneof![
        3 => (1..BYTES, 1u64..30).prop_map(segment),
        3 => (1..BYTES / 10, 1u64..60).prop_map(move |(at, len)| segment((10 * at, len / 10 * 10 + 10))),
        2 => Just(Op::Ack),
        1 => (0u64..80).prop_map(Op::Consume),
    ]
}

fn edge() -> impl Strategy<Value = WindowEdge> {
    prop_oneof![Just(WindowEdge::Segment), Just(WindowEdge::Exact)]
}

/// One flag per byte; runs, blocks and duplicates are found by scanning the flags.
struct Naive {
    got: Vec<bool>,
    fin_at: Option<u64>,
    edge: u64,
    read: u64,
    /// One byte of each segment that arrived above `rcv_nxt`, newest last.
    triggers: Vec<u64>,
    dsack: Option<(u64, u64)>,
}

impl Naive {
    fn new(edge: u64) -> Self {
        Self { got: vec![false; BYTES as usize + 1], fin_at: None, edge, read: 1, triggers: vec![], dsack: None }
    }

    fn has(&self, byte: u64) -> bool {
        self.got[byte as usize]
    }

    /// The first missing byte, FIN not counted.
    fn prefix(&self) -> u64 {
        (1..BYTES).find(|&b| !self.has(b)).unwrap_or(BYTES)
    }

    fn rcv_nxt(&self) -> u64 {
        self.prefix() + u64::from(self.fin_at == Some(self.prefix()))
    }

    /// The run of received bytes that contains `b`.
    fn run(&self, b: u64) -> (u64, u64) {
        let left = (1..=b).rev().take_while(|&x| self.has(x)).last().unwrap_or(b);
        let right = (b..=BYTES).take_while(|&x| self.has(x)).last().unwrap_or(b) + 1;
        (left, right)
    }

    /// All runs above `rcv_nxt`.
    fn runs(&self) -> Vec<(u64, u64)> {
        let mut runs: Vec<_> = (self.rcv_nxt()..=BYTES).filter(|&b| self.has(b)).map(|b| self.run(b)).collect();
        runs.dedup();
        runs
    }

    /// Which bytes of a segment are new and inside the window: the first, and how many.
    fn news(&self, at: u64, len: u64) -> (u64, u64) {
        let new: Vec<u64> = (at..(at + len).min(self.edge)).filter(|&b| !self.has(b)).collect();
        new.first().map_or((0, 0), |&first| (first, new.len() as u64))
    }

    /// Processes a segment; returns whether RFC 5681 §4.2 and RFC 9293 §3.10.7.4 want an ACK at once.
    fn segment(&mut self, at: u64, len: u64) -> bool {
        let (before, end) = (self.prefix(), at + len);
        let fin = end == BYTES;
        let mut repeated = (at..end).skip_while(|&b| !self.has(b)).take_while(|&b| self.has(b));
        let duplicate = repeated.next().map(|l| (l, repeated.last().unwrap_or(l) + 1));
        let hole = !self.runs().is_empty();
        if at > before && at < self.edge {
            self.triggers.push(at);
        }
        for b in at..end.min(self.edge) {
            self.got[b as usize] = true;
        }
        if fin && end < self.edge {
            self.fin_at = Some(end);
        }
        self.dsack = duplicate.or(self.dsack);
        fin || duplicate.is_some() || at != before || hole || end > self.edge
    }

    /// The blocks that RFC 2883 §4 and RFC 2018 §4 require, in order. This clears the duplicate.
    fn blocks(&mut self, room: usize, dsack: bool) -> Vec<(u64, u64)> {
        let next = self.rcv_nxt();
        let duplicate = self.dsack.take().filter(|_| dsack);
        self.triggers.extend(duplicate.map(|d| d.0).filter(|&l| l >= next));
        let mut held = Vec::new();
        for &t in self.triggers.iter().rev().filter(|&&t| t >= next) {
            if !held.contains(&self.run(t)) {
                held.push(self.run(t));
            }
        }
        duplicate.into_iter().chain(held).take(room).collect()
    }
}

fn answer(r: &mut Receiver) -> Segment {
    let mut out = Segment::EMPTY;
    r.fill_ack(Time::ZERO, &mut out, u32::MAX);
    out
}

fn pairs(it: impl Iterator<Item = (Offset, Offset)>) -> Vec<(u64, u64)> {
    it.map(|(l, r)| (l.0, r.0)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_receiver_says_what_a_naive_one_says(
        ops in prop::collection::vec(op(), 1..120),
        (buffer, wscale, by_hand) in (20u64..400, 0u8..5, any::<bool>()),
        (sack, dsack, stamps, edge) in (prop::bool::weighted(0.8), any::<bool>(), any::<bool>(), edge()),
    ) {
        let unit = 1u64 << wscale;
        let mut r = Receiver::new(&ReceiverConfig {
            sack_blocks: 4,
            receive_window: ReceiveWindowSpec::Fixed,
            edge,
            rcv_nxt: Offset::DATA, buffer, mss: 20, wscale, sack, dsack, timestamps: stamps, ts_recent: None,
            ack: AckSpec::Delayed { delay: Nanos::from_millis(200) },
            consume: if by_hand { Consume::ByHand } else { Consume::AtOnce },
        });
        let mut m = Naive::new(1 + buffer / unit * unit);
        let (mut seen_edge, mut delivered) = (0, 0);
        for op in ops {
            match op {
                Op::Segment { at, len } => {
                    let was = m.rcv_nxt();
                    let flags = Segment::ACK | if at + len == BYTES { Segment::FIN } else { 0 };
                    let opts = if stamps { Segment::TIMESTAMPS } else { 0 };
                    let seg = Segment { seq: Offset(at), len: len as u32, flags, opts, ..Segment::EMPTY };
                    let news = m.news(at, len);
                    // The window has cut it off, regardless of the data.
                    let no_fin = at + len == BYTES && BYTES >= m.edge && m.fin_at.is_none();
                    let (got, took) = r.on_segment(Time::ZERO, &seg);
                    prop_assert_eq!((took.from.0, u64::from(took.bytes)), news);
                    prop_assert!(took.refused.is_some() || !no_fin, "says nothing of the FIN: {:?}", took);
                    prop_assert!(took.refused.is_none() || news.1 == 0 || no_fin, "took bytes of what it refused: {:?}", took);
                    let at_once = m.segment(at, len);
                    prop_assert!(r.ack_due() || !at_once, "{:?} wants an ACK at once", seg);
                    prop_assert!(r.ack_due() || r.next_timer().is_some(), "{:?} is never answered", seg);
                    let passed = m.rcv_nxt() - was;
                    let finished = passed > 0 && m.fin_at == Some(m.prefix());
                    prop_assert_eq!(matches!(got, Accept::Advanced | Accept::Finished), passed > 0);
                    prop_assert_eq!(got == Accept::Finished, finished);
                    delivered += passed - u64::from(finished);
                }
                Op::Ack => {
                    let out = answer(&mut r);
                    let want = m.blocks(if stamps { 3 } else { 4 }, sack && dsack);
                    prop_assert_eq!(pairs(out.sack_blocks()), if sack { want } else { vec![] });
                    prop_assert_eq!(out.ack.0, m.rcv_nxt());
                    prop_assert_eq!(u64::from(out.wnd) % unit, 0);
                    let edge = out.ack.0 + u64::from(out.wnd);
                    let slack = if by_hand { unit - 1 } else { 0 };
                    // RFC 7323 §2.4: only rounding, and only when the application reads by hand, may show the edge further left
                    // than it is.
                    prop_assert!(edge + slack >= seen_edge);
                    seen_edge = seen_edge.max(edge);
                    m.edge = m.edge.max(edge);
                    prop_assert!(!r.ack_due() && r.next_timer().is_none());
                }
                Op::Consume(n) => {
                    r.consume(n);
                    m.read = (m.read + n).min(m.prefix());
                }
            }
            prop_assert_eq!(r.rcv_nxt().0, m.rcv_nxt());
            prop_assert_eq!(r.right_edge().0, m.edge);
            prop_assert_eq!((r.received(), delivered), (m.prefix() - 1, m.prefix() - 1));
            prop_assert_eq!(r.fin_received(), m.fin_at == Some(m.prefix()));
            if by_hand {
                prop_assert_eq!(r.unread(), m.prefix() - m.read);
                prop_assert!(r.unread() + (m.edge - m.rcv_nxt()) <= buffer, "announced more than the buffer holds");
            }
            prop_assert_eq!(pairs(r.out_of_order()), m.runs());
        }
    }
}

fn place() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0u64..5000, 1 => u64::MAX - 5000..=u64::MAX, 1 => any::<u64>()]
}

fn wild() -> impl Strategy<Value = Segment> {
    let len = prop_oneof![4 => 0u32..2000, 1 => any::<u32>()];
    let flags = prop_oneof![3 => Just(Segment::ACK), 1 => any::<u8>()];
    let opts = prop_oneof![3 => Just(Segment::TIMESTAMPS), 1 => any::<u8>()];
    let train = prop_oneof![3 => Just(1u16), 1 => any::<u16>()];
    (place(), place(), len, flags, opts, train, any::<(u32, u32, u32, u8)>()).prop_map(
        |(seq, ack, len, flags, opts, train, (wnd, tsval, tsecr, blocks))| Segment {
            seq: Offset(seq),
            ack: Offset(ack),
            sack: [(i32::MIN, i32::MAX); 4],
            ..Segment { len, wnd, tsval, tsecr, train, flags, blocks, opts, ..Segment::EMPTY }
        },
    )
}

fn any_config() -> impl Strategy<Value = ReceiverConfig> {
    let ack = prop_oneof![
        Just(AckSpec::Every),
        any::<u64>().prop_map(|d| AckSpec::Delayed { delay: Nanos(d) }),
        any::<u64>().prop_map(|d| AckSpec::DelayedReordered { delay: Nanos(d) }),
        any::<(u64, u64)>().prop_map(|(i, p)| AckSpec::Heartbeat { interval: Nanos(i), phase: Nanos(p) }),
    ];
    let buffer = prop_oneof![0u64..5000, any::<u64>()];
    let window = prop_oneof![
        Just(ReceiveWindowSpec::Fixed),
        any::<u64>().prop_map(|initial| ReceiveWindowSpec::Drs(DrsSpec { initial })),
    ];
    let rules = (ack, window, edge());
    (place(), buffer, any::<(u32, u8, bool, bool, bool)>(), any::<(Option<u32>, bool)>(), rules).prop_map(
        |(
            rcv_nxt,
            buffer,
            (mss, wscale, sack, dsack, timestamps),
            (ts_recent, at_once),
            (ack, receive_window, edge),
        )| ReceiverConfig {
            sack_blocks: 4,
            receive_window,
            edge,
            rcv_nxt: Offset(rcv_nxt),
            buffer,
            mss,
            wscale,
            sack,
            dsack,
            timestamps,
            ts_recent,
            ack,
            consume: if at_once { Consume::AtOnce } else { Consume::ByHand },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_segment_makes_it_panic_or_leave_its_window(
        cfg in any_config(),
        steps in prop::collection::vec((wild(), any::<u64>(), any::<(bool, bool, bool, bool)>()), 1..60),
    ) {
        let mut r = Receiver::new(&cfg);
        for (seg, n, (near, send, wake, read)) in steps {
            // Half of the segments are near the expected one; otherwise none would ever be accepted.
            let near_seq = r.rcv_nxt().0.saturating_add(n % 3000).saturating_sub(500);
            let seg = Segment { seq: if near { Offset(near_seq) } else { seg.seq }, ..seg };
            let (was, edge) = (r.rcv_nxt(), r.right_edge());
            let (got, _) = r.on_segment(Time(n), &seg);
            prop_assert_eq!(matches!(got, Accept::Advanced | Accept::Finished), r.rcv_nxt() > was);
            if wake {
                r.on_timer(Time(n.saturating_add(1 << 20)));
            }
            if read {
                r.consume(n % 4000);
            }
            if send {
                let mut out = seg;
                r.fill_ack(Time(n), &mut out, (n % 60) as u32);
                prop_assert!(out.blocks <= 4 && out.has(Segment::ACK) && out.ack == r.rcv_nxt());
            }
            prop_assert!(was <= r.rcv_nxt() && r.rcv_nxt() <= r.right_edge() && edge <= r.right_edge());
            prop_assert_eq!(r.received() + u64::from(r.fin_received()), r.rcv_nxt() - cfg.rcv_nxt);
            let mut last = r.rcv_nxt();
            for (left, right) in r.out_of_order() {
                prop_assert!(last < left && left < right && right <= r.right_edge());
                last = right;
            }
        }
    }
}

fn answering_everything(buffer: u64) -> Receiver {
    Receiver::new(&ReceiverConfig {
        rcv_nxt: Offset::DATA,
        buffer,
        mss: 1460,
        wscale: 14,
        sack: true,
        dsack: true,
        sack_blocks: 4,
        receive_window: ReceiveWindowSpec::Fixed,
        edge: WindowEdge::Segment,
        timestamps: false,
        ts_recent: None,
        ack: AckSpec::Every,
        consume: Consume::AtOnce,
    })
}

/// Sends a sequence of segments, and compares every answer with the naive receiver's.
fn same_as_naive(sequence: &[(u64, u64)]) {
    let mut r = answering_everything(1 << 16);
    let mut m = Naive::new(1 + (1 << 16));
    for &(left, right) in sequence {
        let (at, len) = (left, right - left);
        let news = m.news(at, len);
        let seg = Segment { seq: Offset(at), len: len as u32, flags: Segment::ACK, ..Segment::EMPTY };
        let (_, took) = r.on_segment(Time::ZERO, &seg);
        m.segment(at, len);
        assert_eq!((took.from.0, u64::from(took.bytes)), news, "{sequence:?}");
        let out = answer(&mut r);
        assert_eq!((out.ack.0, pairs(out.sack_blocks())), (m.rcv_nxt(), m.blocks(4, true)), "{sequence:?}");
        assert_eq!(pairs(r.out_of_order()), m.runs(), "{sequence:?}");
    }
}

/// All four segments of five bytes; of six if `ACKCLOCK_EXHAUSTIVE` is set.
#[test]
fn any_four_segments_of_a_few_bytes_in_any_order_are_put_together_and_reported_like_the_naive_ones() {
    let bytes = if std::env::var_os("ACKCLOCK_EXHAUSTIVE").is_some() { 6 } else { 5 };
    let all: Vec<_> = (1..=bytes).flat_map(|left| (left + 1..=bytes + 1).map(move |right| (left, right))).collect();
    for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        for (c, d) in all.iter().flat_map(|c| all.iter().map(move |d| (c, d))) {
            same_as_naive(&[*a, *b, *c, *d]);
        }
    }
}

/// Sends the byte at this offset; returns the answer.
fn byte(r: &mut Receiver, at: u64) -> Segment {
    r.on_segment(Time::ZERO, &Segment { seq: Offset(at), len: 1, flags: Segment::ACK, ..Segment::EMPTY });
    answer(r)
}

#[test]
fn a_peer_that_sends_every_second_byte_cannot_fill_the_memory() {
    for buffer in [1 << 14, 1 << 30] {
        let mut r = answering_everything(buffer);
        let limit: u64 = (64 + buffer / 128).min(1 << 16);
        for i in 1..100_000 {
            let seg = Segment { seq: Offset(1 + 2 * i), len: 1, flags: Segment::ACK, ..Segment::EMPTY };
            let (_, took) = r.on_segment(Time::ZERO, &seg);
            assert_eq!(took.refused, (i > limit).then_some(Refusal::Window), "range {i}");
            answer(&mut r);
        }
        assert_eq!(r.out_of_order().count() as u64, limit);
    }
}

/// Nanoseconds for a segment and its ACK while about `held` ranges are held: with a new byte, and with a byte already held. The
/// bytes arrive upwards, downwards, and from all over the window.
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn cost(held: u64) -> [f64; 2] {
    let (mut new, mut again) = (0, 0);
    let rounds = 3 * 60_000 / held;
    for round in 0..rounds {
        let place = |i: u64| match round % 3 {
            0 => 1 + 2 * (1 + i),
            1 => 1 + 2 * (held - i),
            _ => 1 + 2 * (1 + i * 7919 % held),
        };
        let mut r = answering_everything(1 << 30);
        (0..held / 2).for_each(|i| _ = byte(&mut r, place(i)));
        let began = std::time::Instant::now();
        (held / 2..held).for_each(|i| _ = byte(&mut r, place(i)));
        new += began.elapsed().as_nanos();
        assert_eq!(r.out_of_order().count() as u64, held);
        let began = std::time::Instant::now();
        (0..held / 2).for_each(|i| _ = byte(&mut r, place(i)));
        again += began.elapsed().as_nanos();
    }
    [new, again].map(|ns| ns as f64 / (rounds * (held / 2)) as f64)
}

/// `cargo test --release -p ackclock-tcp --test reassembly_model -- --ignored --nocapture`
#[test]
#[ignore = "measures time"]
fn a_segment_costs_little_more_when_much_is_held() {
    let costs = [10, 1_000, 60_000].map(|held| (held, cost(held)));
    for (held, [new, again]) in costs {
        println!("{held:6} ranges held: {new:.0} ns for a new one, {again:.0} ns for a repetition");
    }
    let [_, (_, some), (_, many)] = costs;
    for (some, many) in some.into_iter().zip(many) {
        assert!(many < 10.0 * some, "60,000 ranges may cost a few cache misses, not a walk over all of them");
    }
}
