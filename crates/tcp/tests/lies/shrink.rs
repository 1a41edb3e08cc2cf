//! Windows that shrink (RFC 9293 §3.8.6 calls it discouraged; a sender must be prepared).

use crate::{every_stack_survives, talk, MSS};
use ackclock_tcp::segment::Segment;

#[test]
fn a_window_that_jumps_between_nothing_and_all_is_never_overrun() {
    let reports = every_stack_survives(|peer, seg| {
        let mut acks = peer.honest(seg);
        let wnd = [0, 1, 999, 1000, 2500, 40_000][peer.rng.below(6) as usize];
        acks.iter_mut().for_each(|a| a.wnd = wnd);
        acks
    });
    assert!(reports.probes > 100, "{reports:?}");
}

#[test]
fn a_window_whose_right_edge_moves_left_with_every_ack_is_never_overrun() {
    every_stack_survives(|peer, seg| {
        let mut acks = peer.honest(seg);
        // A window of forty segments that closes completely, over and over.
        let left = 40 - peer.arrivals % 41;
        acks.iter_mut().for_each(|a| a.wnd = left as u32 * 1000);
        acks
    });
}

#[test]
fn a_window_opened_byte_by_byte_makes_no_silly_segments_and_no_heap_of_records() {
    let reports = every_stack_survives(|peer, seg| {
        let truth = peer.honest(seg)[0];
        (0..20).map(|n| Segment { wnd: 1 + n, ..truth }).collect()
    });
    // Besides the segments of the honest part, only timers released segments, one each (RFC 1122 §4.2.3.4).
    let segments = reports.runs * talk::BYTES / u64::from(MSS);
    assert!(reports.sent - reports.resent <= segments + reports.probes, "{reports:?}");
}
