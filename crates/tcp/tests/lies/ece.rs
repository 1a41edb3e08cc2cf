//! A flood of congestion echoes without any congestion (RFC 3168).

use crate::{every_stack_survives, stacks, talk::Talk};
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::segment::Segment;

fn flood(peer: &mut crate::peer::Peer, seg: &Segment) -> Vec<Segment> {
    let mut acks = peer.honest(seg);
    acks.iter_mut().for_each(|a| a.flags |= Segment::ECE);
    acks
}

#[test]
fn an_echo_in_every_ack_keeps_the_window_small_and_the_transfer_going() {
    every_stack_survives(flood);
}

#[test]
fn with_ecn_an_echo_in_every_ack_never_opens_the_window_and_without_it_says_nothing() {
    for stack in stacks() {
        let mut talk = Talk::new(&stack, 1);
        let first = talk.c.sender().expect("a sender").window().cwnd;
        talk.hear(flood);
        // BBR's model ignores the echo.
        let deaf = matches!(stack.congestion, CongestionSpec::Bbr(_));
        if stack.options.ecn && !deaf {
            // Only a recovery's inflation or an undo could exceed it, and an echo forbids both.
            assert!(talk.reports.cwnd <= first.max(4_000.0), "{}: {} to {}", stack.name, first, talk.reports.cwnd);
        } else {
            assert!(talk.reports.cwnd >= 4_000.0, "{}: {}", stack.name, talk.reports.cwnd);
        }
    }
}
