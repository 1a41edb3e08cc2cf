//! Timestamps echoed wrongly (RFC 7323 §3.2): RTT measurements and judges of mistakes that use them get
//! nonsense.

use crate::every_stack_survives;
use crate::peer::Peer;
use ackclock_tcp::segment::Segment;

fn echoing(peer: &mut Peer, seg: &Segment, echo: u32) -> Vec<Segment> {
    let mut acks = peer.honest(seg);
    acks.iter_mut().for_each(|a| a.tsecr = echo);
    acks
}

#[test]
fn an_echo_of_nothing_does_no_harm() {
    every_stack_survives(|peer, seg| echoing(peer, seg, 0));
    every_stack_survives(|peer, seg| {
        let mut acks = peer.honest(seg);
        acks.iter_mut().for_each(|a| a.opts &= !Segment::TIMESTAMPS);
        acks
    });
}

#[test]
fn an_echo_from_the_future_or_from_long_ago_does_no_harm() {
    every_stack_survives(|peer, seg| {
        let ahead = seg.tsval.wrapping_add(1 + peer.rng.below(1 << 31) as u32);
        echoing(peer, seg, ahead)
    });
    every_stack_survives(|peer, seg| {
        let ago = seg.tsval.wrapping_sub(peer.rng.below(1 << 31) as u32);
        echoing(peer, seg, ago)
    });
}

#[test]
fn an_echo_a_little_too_old_or_of_just_now_does_no_harm() {
    let reports = every_stack_survives(|peer, seg| {
        let echo = seg.tsval.saturating_sub(200 + peer.rng.below(1000) as u32);
        echoing(peer, seg, echo)
    });
    assert!(reports.mistakes > 5, "no timeout was taken for needless: {reports:?}");
    every_stack_survives(|peer, seg| {
        // An RTT of zero.
        let echo = (peer.now.0 / 1_000_000) as u32 + 50;
        echoing(peer, seg, echo)
    });
}
