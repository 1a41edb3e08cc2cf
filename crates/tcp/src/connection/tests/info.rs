//! The output of `Connection::info` against values worked out by hand from the exchange.

use super::*;
use crate::event::Phase;
use crate::startup::fixed::FixedSpec;
use crate::startup::StartupSpec;
use crate::time::Nanos;

fn sack_stack() -> Stack {
    let startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: None });
    Stack { startup, ..named("rfc-6675") }
}

fn sacks(ack: u64, blocks: &[(u64, u64)]) -> Segment {
    let mut seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd: 20_000, flags: Segment::ACK, ..Segment::EMPTY };
    blocks.iter().for_each(|b| seg.push_sack(Offset(b.0), Offset(b.1)));
    seg
}

#[test]
fn before_the_handshake_nothing_is_known_but_the_state() {
    let info = Connection::listen(&stack(), MSS, RWND).info();
    assert_eq!((info.state, info.rto, info.window, info.snd_cwnd()), (State::Listen, None, None, None));
    assert_eq!((info.snd_mss, info.unacked, info.bytes_acked, info.options), (0, 0, 0, Agreed::default()));
}

#[test]
fn the_counts_are_those_of_the_scoreboard_in_segments() {
    let mut c = Connection::established(&sack_stack(), Sides::Both, MSS, RWND);
    c.write(12_000);
    assert_eq!(speak(&mut c, ms(0)).len(), 10);
    hear(&mut c, ms(100), &[sacks(1001, &[]), sacks(1001, &[(3001, 7001)])]);
    let info = c.info();
    // Three segments above segment 2 are SACKed: it is lost, and not yet resent.
    assert_eq!((info.ca_state, info.unacked, info.sacked, info.lost, info.retrans), (Phase::Recovery, 9, 4, 2, 0));
    assert_eq!((info.total_retrans, info.pipe, info.bytes_acked), (0, 3000, 1000));
    assert_eq!((info.rtt, info.rttvar), (Some(Nanos::from_millis(100)), Some(Nanos::from_millis(50))));
    assert_eq!((info.min_rtt, info.rto), (Some(Nanos::from_millis(100)), Some(Nanos::from_secs(1))));
    assert_eq!((info.snd_mss, info.snd_wnd, info.reordering), (MSS, 20_000, Some(3)));
    assert!(info.options.sack && !info.options.timestamps && !info.options.ecn, "{:?}", info.options);
    let sent = speak(&mut c, ms(100));
    let info = c.info();
    let again = sent.iter().filter(|s| s.seq < Offset(10_001)).count() as u32;
    assert!(again > 0, "{sent:?}");
    assert_eq!((info.retrans, info.total_retrans), (again, again));
    assert_eq!(
        info.notsent_bytes,
        12_000 - 10_000 - sent.iter().map(|s| u64::from(s.len)).sum::<u64>() + 1000 * u64::from(again)
    );
}

#[test]
fn a_timeout_shows_in_the_back_off_and_doubles_the_timeout() {
    let mut c = Connection::established(&sack_stack(), Sides::Both, MSS, RWND);
    c.write(1000);
    speak(&mut c, ms(0));
    for k in 1..=3 {
        let at = c.next_timer().expect("data is outstanding");
        c.on_timer(at, &mut ());
        speak(&mut c, at);
        let info = c.info();
        assert_eq!((info.ca_state, info.backoff, info.total_retrans), (Phase::Loss, k, k));
        assert_eq!(info.rto, Some(Nanos::from_secs(1 << k)));
    }
    hear(&mut c, ms(60_000), &[sacks(1001, &[])]);
    assert_eq!((c.info().unacked, c.info().retrans, c.info().lost), (0, 0, 0));
}

#[test]
fn data_waiting_to_be_sent_is_reported_without_the_fin() {
    let mut c = Connection::established(&sack_stack(), Sides::Both, MSS, 2_000);
    c.write(5000);
    c.close();
    assert_eq!(c.info().notsent_bytes, 5000);
    speak(&mut c, ms(0));
    assert_eq!(c.info().notsent_bytes, 3000);
}
