//! Compares the ring with a list of all copies.

use super::*;

fn sent(seq: u64, frame: u64, order: u64) -> Sent {
    Sent { seq, at: -5 - ((frame as i64) << 40), frame, order, len: 1460, tsval: frame as u32 ^ 0xffff_0000 }
}

#[test]
fn what_is_kept_in_16_bytes_comes_out_as_it_went_in() {
    assert_eq!(size_of::<Packed>(), 16);
    let (mut ring, mut model) = (Ring::default(), Vec::new());
    for i in 0..500u64 {
        // Every 70th leaves a hole, every 90th arrives after a long time, and one in five has no place in the order of
        // transmission.
        let seq = (1 << 62) + (i + i / 70) * 1460;
        let at = i as i64 * 120_000 + (i as i64 / 90) * 7_000_000_000;
        let order = if i % 5 == 0 { 0 } else { (1 << 32) + 900 - i };
        let one = Sent { at, ..sent(seq, 7 + 3 * i, order) };
        ring.push(&one);
        model.push(one);
    }
    let late = sent(model[70].seq - 1460, 5000, (1 << 32) - 4000);
    ring.insert(70, &late);
    model.insert(70, late);
    assert_eq!(ring.from(0).collect::<Vec<_>>(), model);
    ring.forget(100);
    model.drain(..100);
    assert_eq!((ring.get(3), ring.len()), (model.get(3).copied(), 401));
    assert_eq!(ring.from(37).collect::<Vec<_>>(), model[37..]);
    for frame in [0, 300, 600, 900, 1600] {
        assert_eq!(ring.partition_point(|s| s.frame < frame), model.partition_point(|s| s.frame < frame));
    }
    for passed in [0, 1, 5, 100, 401] {
        let ack = model.get(passed).map_or(u64::MAX >> 1, |s| s.seq);
        let last = passed.checked_sub(1).map(|i| model[i].at);
        assert_eq!(ring.pass(0, ack), (passed, last));
    }
    assert_eq!((ring.get(401), ring.pass(401, u64::MAX >> 1)), (None, (0, None)));
    ring.clear();
    assert_eq!((ring.len(), ring.get(0)), (0, None));
}

#[test]
fn a_copy_far_from_the_first_of_its_block_in_two_ways_at_once_comes_out_as_it_went_in() {
    // 2³² in the time and in the bytes, or in the bytes and the frame, or 2¹⁶ in the order and in the timestamp.
    let first = Sent { at: 0, ..sent(1 << 62, 7, 1 << 20) };
    let (far, later) = ((1 << 32) + 5, first.order + (1 << 16));
    for (at, len, frame, order, tsval) in [
        (far as i64, u32::MAX, 8, first.order, first.tsval),
        (1, u32::MAX, 7 + far, first.order, first.tsval),
        (1, 1, 8, later, first.tsval.wrapping_add(1 << 16)),
    ] {
        let mut ring = Ring::default();
        let other = Sent { seq: first.end(), at, frame, order, len, tsval };
        ring.push(&first);
        ring.push(&other);
        assert_eq!(ring.from(0).collect::<Vec<_>>(), [first, other]);
    }
}

#[test]
fn copies_far_apart_or_in_any_order_are_those_of_a_list() {
    // A linear congruential generator instead of random numbers.
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut ring, mut model) = (Ring::default(), Vec::<Sent>::new());
    for i in 0..20_000u64 {
        let (wild, bits) = (draw(40) == 0, draw(32));
        let seq = model.last().map_or(1 << 62, Sent::end) + if draw(20) == 0 { 1 + 4 * draw(1 << 31) } else { 0 };
        let one = Sent {
            seq,
            at: if wild { -((draw(1 << 31) << 19) as i64) } else { i as i64 * 1000 },
            frame: i + if wild { draw(1 << 31) << 19 } else { 0 },
            order: draw(3) * ((1 << 32) + draw(40_000)),
            len: 1 + draw(1 << bits) as u32,
            tsval: draw(1 << 17) as u32,
        };
        let gap = (1..model.len()).rev().take(60).find(|k| model[k - 1].end() < model[*k].seq);
        match (draw(8), gap) {
            (0, Some(k)) => {
                let (from, room) = (model[k - 1].end(), model[k].seq - model[k - 1].end());
                let len = (1 + draw(room.min(1 << 31))) as u32;
                let filler = Sent { seq: from + draw(room - u64::from(len) + 1), len, ..one };
                ring.insert(k, &filler);
                model.insert(k, filler);
            }
            _ => {
                ring.push(&one);
                model.push(one);
            }
        }
        if draw(50) == 0 {
            let n = draw(model.len() as u64 + 1).min(60) as usize;
            ring.forget(n);
            model.drain(..n);
        }
        let at = draw(model.len() as u64 + 2) as usize;
        assert_eq!((ring.len(), ring.get(at)), (model.len(), model.get(at).copied()), "after {i}");
        if i % 100 == 0 {
            assert_eq!(ring.from(at).collect::<Vec<_>>(), model.get(at..).unwrap_or_default());
        }
        let Some(edge) = model.get(at).map(|s| s.seq + draw(3) * u64::from(s.len)) else { continue };
        assert_eq!(ring.partition_point(|s| s.seq < edge), model.partition_point(|s| s.seq < edge));
        for k in [at, at + 1, at + 2].into_iter().filter(|k| *k < model.len()) {
            assert_eq!(ring.reaching(model[k].end()), Some(model[k]));
            assert_eq!(
                ring.reaching(model[k].end() - 1),
                model.iter().copied().find(|s| s.end() >= model[k].end() - 1)
            );
        }
        assert_eq!(ring.reaching(edge), model.iter().copied().find(|s| s.end() >= edge));
        let from = draw(at as u64 + 1) as usize;
        let passed: Vec<_> = model[from..].iter().take_while(|s| s.end() <= edge).map(|s| s.at).collect();
        assert_eq!(ring.pass(from, edge), (passed.len(), passed.last().copied()));
    }
}
