//! Detectors without TCP: a transport that numbers its packets, as QUIC does, asks which of them are lost and when.
//!
//! Packet n is at offset n of a scoreboard, so everything is counted in packets; a retransmission is a new packet. A packet is
//! sent every millisecond, and its ACK takes 100 ms. Packets 3, 4 and 40 are lost. Packet 10 is 2 ms late and overtaken by two
//! packets; packet 50 is 7 ms late and overtaken by seven. Three overtaking packets are enough for QUIC to declare a loss; RACK
//! has learnt from packet 10 to wait.

use ackclock_tcp::detect::{quic::QuicSpec, rack_tlp::RackTlpSpec, DetectSpec, Detector, Timekeeper};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::scoreboard::{Delivered, Marks, Scoreboard};
use ackclock_tcp::facts::{answer::Xmit, ctx::Ctx};
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::BTreeSet;

const RTT: Nanos = Nanos::from_millis(100);

/// How late the ACK of a packet arrives, in ms; `None` if the packet is lost.
fn lateness(packet: u64) -> Option<u64> {
    match packet {
        3 | 4 | 40 => None,
        10 => Some(2),
        50 => Some(7),
        _ => Some(0),
    }
}

/// The packets, out of 60, that a detector declares lost, each with the time in ms.
fn judged(spec: &DetectSpec) -> Vec<(u64, u64)> {
    let (mut detector, mut board) = (spec.build(1), Scoreboard::default());
    let w = Window { cwnd: 1e9, ssthresh: 1e9 };
    // ACKs in flight, packets with unknown fate, the next packet's number, and how many packets are to be resent.
    let (mut acks, mut unknown, mut next, mut again) = (BTreeSet::new(), BTreeSet::new(), 1, 0);
    let mut lost = vec![];
    for ms in 0..500 {
        let now = Time(ms * 1_000_000);
        let view = |unknown: &BTreeSet<u64>, next: u64| {
            let (snd_una, snd_max) = (Offset(unknown.first().copied().unwrap_or(next)), Offset(next));
            let (srtt, min_rtt, rto_at) = (Some(RTT), Some(RTT), Some(now + Nanos::from_secs(1)));
            Ctx { now, snd_una, snd_nxt: snd_max, snd_max, srtt, min_rtt, rto_at, next_len: 1, ..Ctx::at_start(1) }
        };
        while acks.first().is_some_and(|ack: &(u64, u64)| ack.0 <= ms) {
            let Some((_, packet)) = acks.pop_first() else { break };
            let prior_una = view(&unknown, next).snd_una;
            if unknown.remove(&packet) {
                let (cx, mut delivered) = (view(&unknown, next), Delivered::default());
                board.begin_ack();
                board.acknowledge(cx.snd_una, &mut delivered);
                board.apply_sack((Offset(packet), Offset(packet + 1)), &mut delivered);
                detector.on_ack(&delivered.ack_event(prior_una, cx.snd_una, now), &w, &mut board, &cx);
            }
        }
        if detector.deadline().is_some_and(|at| at <= now) {
            detector.on_timer(&w, &mut board, &view(&unknown, next));
        }
        // Lost packets leave the board, RFC 9002's sent_packets. Numbers are in the order of sending, so they are the oldest.
        for packet in board.iter().filter(|s| s.marks.any(Marks::LOST)).map(|s| s.start.0) {
            if unknown.remove(&packet) {
                lost.push((ms, packet));
                again += 1;
            }
        }
        board.acknowledge(view(&unknown, next).snd_una, &mut Delivered::default());
        for _ in 0..u64::from(ms < 60) + std::mem::take(&mut again) {
            let sent = board.push(Offset(next), 1, now, w.cwnd, false);
            unknown.insert(next);
            acks.extend(lateness(next).map(|late| (ms + RTT.0 / 1_000_000 + late, next)));
            next += 1;
            if detector.watches_sends() {
                detector.on_sent(Xmit::New, &sent, &view(&unknown, next));
            }
        }
    }
    lost
}

fn rack_tlp() -> DetectSpec {
    DetectSpec::RackTlp(RackTlpSpec::default())
}

fn rfc_9002() -> DetectSpec {
    DetectSpec::Quic(QuicSpec::default())
}

fn main() {
    for (name, spec) in [("RACK-TLP", rack_tlp()), ("RFC 9002", rfc_9002())] {
        let lost = judged(&spec).into_iter().map(|(ms, packet)| format!("{packet} at {ms} ms"));
        println!("{name}: {}", lost.collect::<Vec<_>>().join(", "));
    }
}

#[test]
fn both_find_what_was_lost_and_rack_waits_for_what_is_late_once_it_has_seen_reordering() {
    // Packet 3 is declared lost once three later packets have arrived. From then on RACK waits for a quarter of an RTT, 25 ms.
    assert_eq!(judged(&rack_tlp()), [(106, 3), (106, 4), (39 + 100 + 25, 40)]);
    assert_eq!(judged(&rfc_9002()), [(105, 3), (106, 4), (142, 40), (152, 50)]);
}
