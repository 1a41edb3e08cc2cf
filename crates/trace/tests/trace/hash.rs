use crate::play::{ack, data, play, story, two_flows, Call, What};
use ackclock_sim::watch::{DropWhy, Side};
use ackclock_tcp::event::{Event, Slot, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_trace::{Both, Hasher, Recorder, TraceHash};
use proptest::prelude::*;

fn hash(calls: &[Call]) -> TraceHash {
    let mut h = Hasher::new(2);
    play(calls, &mut h);
    h.hash()
}

#[test]
fn the_hash_of_a_fixed_conversation_is_pinned() {
    assert_eq!(hash(&two_flows()).to_string(), "xxh3-128:82d784df558c96ca61f9aadd2e6b6468");
}

/// This value and the one above come from Python's `xxhash` and the definition in `docs/trace.md`.
#[test]
fn the_hash_is_what_its_definition_says() {
    let inf = f64::INFINITY;
    let (from, to) = (Window { cwnd: 1.0, ssthresh: inf }, Window { cwnd: 1000.0 / 3.0, ssthresh: inf });
    let mut stamped = ack(9000, &[(11_000, 12_000), (1, 500)]);
    (stamped.opts, stamped.tsval, stamped.tsecr) = (Segment::TIMESTAMPS, 1, 2);
    let (s, r, seg) = (Side::Sender, Side::Receiver, data(1, 1000));
    let what = [
        (10, s, What::Sent { seg, wire: 1040, sends: 1 }),
        (20, r, What::Dropped { element: 3, nth: 7, why: DropWhy::Script, seg, sends: 1 }),
        (30, s, What::Delivered { seg: stamped, wire: 60, sends: 1 }),
        (30, s, What::Tcp(Event::Window { by: Slot::Congestion, episode: 1, from, to })),
    ];
    let calls = what.map(|(at, side, what)| Call { at, flow: 0, side, what });
    assert_eq!(hash(&calls).to_string(), "xxh3-128:c4f938d4153ff3425bc8e5b70cd9a266");
}

proptest! {
    #[test]
    fn calls_of_different_flows_may_interleave_in_any_way(picks in proptest::collection::vec(any::<bool>(), 64)) {
        let (a, b) = (story(0), story(1));
        let (mut i, mut j, mut mixed) = (0, 0, Vec::new());
        for first in picks.into_iter().chain(std::iter::repeat(true)) {
            match (a.get(i), b.get(j)) {
                (Some(x), None) => { mixed.push(*x); i += 1; }
                (Some(x), Some(_)) if first => { mixed.push(*x); i += 1; }
                (_, Some(y)) => { mixed.push(*y); j += 1; }
                (None, None) => break,
            }
        }
        prop_assert_eq!(hash(&mixed), hash(&two_flows()));
    }
}

/// Each alteration of one call that must change the hash.
fn alterations() -> Vec<(&'static str, Call, Call)> {
    let at = |what| Call { at: 5, flow: 0, side: Side::Sender, what };
    let mut all = Vec::new();
    let stamped = Segment { opts: Segment::TIMESTAMPS, tsval: 1, tsecr: 2, ..ack(9000, &[(11_000, 12_000), (1, 500)]) };
    let sent = |seg| at(What::Sent { seg, wire: 60, sends: 1 });
    let mut segment = |name, change: fn(&mut Segment)| {
        let mut other = stamped;
        change(&mut other);
        all.push((name, sent(stamped), sent(other)));
    };
    segment("seq", |s| s.seq = Offset(2));
    segment("ack", |s| s.ack = Offset(9001));
    segment("len", |s| s.len = 1);
    segment("wnd", |s| s.wnd += 1);
    segment("tsval", |s| s.tsval = 9);
    segment("tsecr", |s| s.tsecr = 9);
    segment("flags", |s| s.flags |= Segment::FIN);
    segment("blocks", |s| s.blocks = 1);
    segment("a block's left edge", |s| s.sack[1].0 += 1);
    segment("a block's right edge", |s| s.sack[1].1 += 1);
    segment("mss", |s| s.mss = 536);
    segment("wscale", |s| s.wscale = 1);
    segment("opts", |s| s.opts |= Segment::SACK_PERMITTED);
    let seg = data(1, 1000);
    let base = sent(seg);
    all.push(("time", base, Call { at: 6, ..base }));
    all.push(("flow", base, Call { flow: 1, ..base }));
    all.push(("side", base, Call { side: Side::Receiver, ..base }));
    all.push(("wire", base, at(What::Sent { seg, wire: 61, sends: 1 })));
    all.push(("sends", base, at(What::Sent { seg, wire: 60, sends: 2 })));
    let drop = |element, nth, why| at(What::Dropped { element, nth, why, seg, sends: 1 });
    let base = drop(1, 2, DropWhy::Queue);
    all.push(("element", base, drop(2, 2, DropWhy::Queue)));
    all.push(("nth", base, drop(1, 3, DropWhy::Queue)));
    all.push(("why loss", base, drop(1, 2, DropWhy::Loss)));
    all.push(("why script", base, drop(1, 2, DropWhy::Script)));
    let base = at(What::Delivered { seg, wire: 60, sends: 1 });
    all.push(("kind", base, sent(seg)));
    all.push(("delivered wire", base, at(What::Delivered { seg, wire: 61, sends: 1 })));
    all.push(("delivered segment", base, at(What::Delivered { seg: data(1, 1001), wire: 60, sends: 1 })));
    let w = |cwnd, ssthresh| Window { cwnd, ssthresh };
    let window = |to| at(What::Tcp(Event::Window { by: Slot::Undo, episode: 1, from: w(1.0, 1.0), to }));
    all.push(("cwnd", window(w(2.0, 1.0)), window(w(2.0 + f64::EPSILON * 2.0, 1.0))));
    all.push(("ssthresh", window(w(2.0, 1.0)), window(w(2.0, 3.0))));
    all
}

/// The facts of a record that revision 7 hashed, each in a word of its own.
fn facts(call: &Call) -> Vec<u64> {
    let Call { at, flow, side, what } = *call;
    let side = u64::from(side == Side::Receiver);
    let segment = |s: &Segment| {
        let Segment { seq, ack, len, wnd, tsval, tsecr, train: _, flags, blocks, sack, mss, wscale, opts } = *s;
        let if_ = |there: bool, word: u64| if there { word } else { 0 };
        let stamped = opts & Segment::TIMESTAMPS != 0;
        let ack = if_(flags & Segment::ACK != 0, ack.0);
        let small = [len.into(), flags.into(), wnd.into(), opts.into(), mss.into(), wscale.into()];
        let stamps = [if_(stamped, tsval.into()), if_(stamped, tsecr.into()), blocks.into()];
        let sack = sack.into_iter().take(blocks.into()).flat_map(|(l, r)| [i64::from(l) as u64, i64::from(r) as u64]);
        [seq.0, ack].into_iter().chain(small).chain(stamps).chain(sack).collect::<Vec<_>>()
    };
    let of = |kind: u64, own: &[u64], seg: &Segment| [&[at, flow.into(), kind, side], own, &segment(seg)].concat();
    match what {
        What::Sent { seg, wire, sends } => of(1, &[sends.into(), wire.into()], &seg),
        What::Dropped { element, nth, why, seg, sends: _ } => of(2, &[element.into(), nth, why as u64], &seg),
        What::Delivered { seg, wire, sends: _ } => of(3, &[wire.into()], &seg),
        What::Tcp(Event::Window { from, to, .. }) => {
            let bits = |w: Window| [w.cwnd.to_bits(), w.ssthresh.to_bits()];
            if bits(from) == bits(to) {
                return Vec::new();
            }
            [&[at, flow.into(), 4, side], &bits(to)[..]].concat()
        }
        What::Tcp(_) | What::Refused { .. } | What::Queue { .. } => Vec::new(),
    }
}

fn any_segment() -> impl Strategy<Value = Segment> {
    let offset = || prop_oneof![0u64..3, Just(1 << 33), any::<u64>()];
    let number = || prop_oneof![0u32..3, any::<u32>()];
    let edge = || prop_oneof![-2i32..3, any::<i32>()];
    let small = (
        any::<u8>(),
        0u8..5,
        prop_oneof![Just(0u16), any::<u16>()],
        prop_oneof![Just(Segment::NO_SCALE), any::<u8>()],
        0u8..16,
    );
    let sack = prop::array::uniform4((edge(), edge()));
    ((offset(), offset(), number(), number()), (number(), number(), 1u16..3), small, sack).prop_map(
        |((seq, ack, len, wnd), (tsval, tsecr, train), (flags, blocks, mss, wscale, opts), sack)| {
            let (seq, ack) = (Offset(seq), Offset(ack));
            Segment { seq, ack, len, wnd, tsval, tsecr, train, flags, blocks, sack, mss, wscale, opts }
        },
    )
}

/// Two segments that differ in few fields.
fn any_alike() -> impl Strategy<Value = (Segment, Segment)> {
    (any_segment(), any_segment(), any::<u16>(), any::<u16>()).prop_map(|(a, o, one, other)| {
        let which = one & other & one.rotate_left(5);
        let pick = |field: u32| which >> field & 1 == 1;
        let mut b = a;
        for field in (0..13).filter(|field| pick(*field)) {
            match field {
                0 => b.seq = o.seq,
                1 => b.ack = o.ack,
                2 => b.len = o.len,
                3 => b.wnd = o.wnd,
                4 => b.tsval = o.tsval,
                5 => b.tsecr = o.tsecr,
                6 => b.train = o.train,
                7 => b.flags = o.flags,
                8 => b.blocks = o.blocks,
                9 => b.mss = o.mss,
                10 => b.wscale = o.wscale,
                11 => b.opts = o.opts,
                _ => b.sack[usize::from(o.flags % 4)] = o.sack[0],
            }
        }
        (a, b)
    })
}

fn any_call(seg: Segment) -> impl Strategy<Value = Call> {
    let side = prop_oneof![Just(Side::Sender), Just(Side::Receiver)];
    let why = prop_oneof![Just(DropWhy::Queue), Just(DropWhy::Loss), Just(DropWhy::Script), Just(DropWhy::Early)];
    let size = || prop_oneof![Just(60u32), Just(61u32)];
    let w = || (0u8..3, 0u8..3).prop_map(|(c, s)| Window { cwnd: c.into(), ssthresh: s.into() });
    let what = prop_oneof![
        (size(), 0u8..3).prop_map(move |(wire, sends)| What::Sent { seg, wire, sends }),
        (size(), 0u64..2, why).prop_map(move |(element, nth, why)| What::Dropped { element, nth, why, seg, sends: 1 }),
        size().prop_map(move |wire| What::Delivered { seg, wire, sends: 1 }),
        (w(), w()).prop_map(|(from, to)| What::Tcp(Event::Window { by: Slot::Undo, episode: 1, from, to })),
    ];
    (0u64..2, 0u32..2, side, what).prop_map(|(at, flow, side, what)| Call { at, flow, side, what })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_hashes_are_equal_only_if_all_facts_of_revision_7_are(
        (a, b) in any_alike().prop_flat_map(|(one, other)| (any_call(one), any_call(other))),
        (same, first) in (any::<bool>(), any_segment().prop_flat_map(any_call)),
    ) {
        // The same call with the other segment, more often than not.
        let b = match (a.what, b.what) {
            (What::Sent { wire, sends, .. }, What::Sent { seg, .. }) if same => {
                Call { what: What::Sent { seg, wire, sends }, ..a }
            }
            (What::Delivered { wire, .. }, What::Delivered { seg, .. }) if same => {
                Call { what: What::Delivered { seg, wire, sends: 2 }, ..a }
            }
            (What::Dropped { element, nth, why, .. }, What::Dropped { seg, .. }) if same => {
                Call { what: What::Dropped { element, nth, why, seg, sends: 2 }, ..a }
            }
            _ => b,
        };
        let first = Call { at: 0, ..first };
        prop_assert_eq!(hash(&[a]) == hash(&[b]), facts(&a) == facts(&b), "{:?} {:?}", a, b);
        prop_assert_eq!(hash(&[first, a]) == hash(&[first, b]), facts(&a) == facts(&b), "{:?} {:?}", a, b);
    }
}

#[test]
fn the_hash_is_sensitive_to_each_field() {
    for (name, one, other) in alterations() {
        assert_ne!(hash(&[one]), hash(&[other]), "{name}");
        assert_ne!(hash(&[one]), hash(&[one, one]), "{name}, twice");
        assert_ne!(hash(&[one]), hash(&[]), "{name}, left out");
    }
}

#[test]
fn what_is_no_fact_of_the_wire_is_not_in_the_hash() {
    let at = |what| Call { at: 5, flow: 0, side: Side::Sender, what };
    let sent = |seg| at(What::Sent { seg, wire: 60, sends: 1 });
    let seg = ack(9000, &[]);
    let base = hash(&[sent(seg)]);
    assert_eq!(base, hash(&[sent(Segment { train: 4, ..seg })]), "how packets were handed over");
    assert_eq!(base, hash(&[sent(Segment { sack: [(1, 2); 4], ..seg })]), "leftovers beyond the blocks");
    assert_eq!(base, hash(&[sent(Segment { tsval: 3, tsecr: 4, ..seg })]), "timestamps without the option");
    let same = Window { cwnd: 1.0, ssthresh: 2.0 };
    let window = at(What::Tcp(Event::Window { by: Slot::Undo, episode: 1, from: same, to: same }));
    let acked = at(What::Tcp(Event::Acked { ack: Offset(1), delivered: 0, dup_run: 0, pipe: 0 }));
    assert_eq!(base, hash(&[sent(seg), window, acked, at(What::Queue { packets: 1, bytes: 60 })]));
}

#[test]
fn silent_flows_count() {
    assert_ne!(Hasher::new(1).hash(), Hasher::new(2).hash());
}

#[test]
fn a_hash_is_read_back_with_its_name_and_refused_without() {
    let h = hash(&two_flows());
    assert_eq!(h.to_string().parse(), Ok(h));
    for bad in ["", "xxh3-128:", "md5:00112233445566778899aabbccddeeff", "xxh3-128:+0112233445566778899aabbccddeef"] {
        assert!(bad.parse::<TraceHash>().is_err(), "{bad}");
    }
}

#[test]
fn the_recorders_hash_is_the_hashers() {
    let mut both = Both(Hasher::new(2), Recorder::new(Vec::new(), 2));
    play(&two_flows(), &mut both);
    let (recorded, _) = both.1.close().unwrap();
    assert_eq!(recorded, both.0.hash());
}
