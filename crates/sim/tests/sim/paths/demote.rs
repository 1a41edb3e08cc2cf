//! Fukuda, Nobayashi & Ikenaga's reordering.

use super::*;
use std::collections::BTreeMap;

/// Their network: access links of 100 Mb/s and 15 ms, a bottleneck of 10 Mb/s and 5 ms.
fn fukuda(interval: u32, device: Option<u32>, window_segs: u64) -> Scenario {
    let bottleneck = pipe(Some(Rate(10_000_000)), Nanos::from_millis(5));
    let mut s =
        line(with(ElementSpec::Demote(DemoteSpec { interval, device: device.map(Packets) }), bottleneck), window_segs);
    for access in [0, 2] {
        (s.links[access].forward.delay, s.links[access].back.delay) = (Nanos::from_millis(15), Nanos::from_millis(15));
    }
    s
}

#[test]
fn a_moved_packet_has_the_interval_as_its_extent_and_is_so_much_n_reordered() {
    for interval in [1, 4, 8, 30] {
        let (_, order) = run(&fukuda(interval, None, 155), 1);
        let late = order.late();
        assert!(late.packets > 100, "{interval}: {late:?}");
        let extents = BTreeMap::from([(u64::from(interval), late.packets)]);
        assert_eq!((&late.extents, &late.n), (&extents, &extents), "{interval}");
        // Each moved packet and the `interval` packets that overtake it form a round, and once the queue is long all packets
        // belong to one.
        let whole = 1.0 / f64::from(interval + 1);
        assert!((0.95 * whole..whole).contains(&order.ratio()), "{interval}: {}", order.ratio());
    }
}

#[test]
fn nothing_is_moved_where_the_queue_never_exceeds_the_interval_by_the_window_or_by_the_device() {
    // 155 packets less the 59 in flight leave 96 in the queue: RI 90 moves packets, RI 100 does not.
    let moved = |interval, device, window| run(&fukuda(interval, device, window), 1).1.late().packets;
    assert!(moved(90, None, 155) > 0);
    assert_eq!(moved(100, None, 155), 0);
    assert!(moved(100, None, 300) > 0);
    assert_eq!(moved(100, Some(100), 300), 0);
    assert!(moved(90, Some(100), 300) > 0);
}

#[test]
fn an_interval_of_zero_or_a_second_demote_is_refused() {
    assert!(refused(&fukuda(0, None, 155)).contains("elements[0].interval: found 0; allowed: a whole number from 1"));
    assert!(refused(&fukuda(4, Some(0), 155)).contains("elements[0].device: found 0 packets"));
    let mut s = fukuda(4, None, 155);
    s.links[1].forward.elements.push(ElementSpec::Demote(DemoteSpec { interval: 5, device: None }));
    assert!(refused(&s).contains("2 elements decide on the order of the queue; allowed: one in each direction"));
}
