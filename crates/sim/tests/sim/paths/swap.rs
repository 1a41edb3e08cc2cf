//! Queue swaps measured by the metrics.

use super::*;

/// Swaps on a queue of 130 packets, spaced so that each packet has left before the next swap.
fn swapped(mode: SwapMode) -> (u64, Reordering) {
    let gap = Gap::Constant(Nanos::from_millis(300));
    let swap = ElementSpec::Swap(SwapSpec { mode, count: 1, gap });
    let (r, order) = run(&line(with(swap, pipe(Some(Rate(10_000_000)), Nanos::from_millis(5))), 155), 1);
    let swaps = r.links[2].swap_events - r.links[2].swap_skipped;
    assert!(swaps > 55, "{swaps}");
    (swaps, order)
}

#[test]
fn a_swap_of_neighbours_makes_one_packet_late_by_one() {
    let (swaps, order) = swapped(SwapMode::Neighbours);
    let late = order.late();
    // The last may still be in the queue.
    assert!((swaps - 1..=swaps).contains(&late.packets), "{swaps} {late:?}");
    assert_eq!(late.extents.get(&1), Some(&late.packets));
}

#[test]
fn a_swap_of_two_places_makes_the_packets_from_the_one_to_the_other_late() {
    let (swaps, order) = swapped(SwapMode::Literal);
    let late = order.late();
    // Over distance d the packet of the second place arrives first: d packets are late by 1, 2, … d. The mean distance
    // of two places of n is (n + 1) / 3: 44 for 130.
    let mean = late.packets as f64 / swaps as f64;
    assert!((36.0..52.0).contains(&mean), "{mean}");
    assert!(late.extents.keys().all(|e| *e < 130));
    let counts: Vec<u64> = late.extents.values().copied().collect();
    assert!(counts.windows(2).all(|w| w[0] >= w[1]), "each distance has all shorter extents: {counts:?}");
    assert!((swaps - 1..=swaps).contains(&counts[0]));
}
