//! The effect of a pause on the window (RFC 5681 §4.1; Linux's `tcp_cwnd_restart`).

use super::*;
use crate::event::{Event, Slot, Window};
use crate::idle::IdleRule;
use crate::startup::fixed::FixedSpec;
use crate::startup::StartupSpec;

/// Acknowledges everything sent, 50 ms later, until nothing more is sent; returns when the last segment was
/// sent.
fn transfer(c: &mut Connection, from: u64, bytes: u64, wnd: u32) -> u64 {
    c.write(bytes);
    let (mut at, mut last) = (from, from);
    while !speak(c, ms(at)).is_empty() {
        last = at;
        at += 50;
        let max = c.sender().expect("a sender").positions().2;
        hear(c, ms(at), &[acks(max.0, wnd)]);
    }
    last
}

fn acks(ack: u64, wnd: u32) -> Segment {
    Segment { seq: Offset::DATA, ack: Offset(ack), wnd, flags: Segment::ACK, ..Segment::EMPTY }
}

fn with(rule: IdleRule, iw: u32) -> Connection {
    let startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: iw, ssthresh_segs: None });
    let stack = Stack { startup, idle: rule, ..stack() };
    Connection::established(&stack, Sides::Both, MSS, 1 << 20)
}

fn cwnd(c: &Connection) -> f64 {
    c.info().snd_cwnd().expect("a sender")
}

#[test]
fn after_more_than_a_timeout_without_sending_the_window_is_that_of_the_beginning() {
    for (rule, pause, want) in [
        (IdleRule::Restart, 1001, 3.0),
        (IdleRule::Restart, 1000, 9.0),
        (IdleRule::Keep, 1_000_000, 9.0),
        (IdleRule::Restart, 1_000_000, 3.0),
    ] {
        let mut c = with(rule, 3);
        let last = transfer(&mut c, 0, 30_000, 1 << 20);
        let (before, ssthresh) = (cwnd(&c), c.info().snd_ssthresh());
        assert!(before > 5.0, "{before}");
        let mut heard: Vec<(Time, Event)> = vec![];
        c.write(20_000);
        let mut out = Segment::EMPTY;
        assert!(c.poll_transmit(ms(last + pause), &mut out, &mut heard));
        let cut = heard.iter().any(|e| matches!(e.1, Event::Window { by: Slot::Startup, .. }));
        assert_eq!(cut, want == 3.0, "{rule:?} {pause}");
        assert_eq!(cwnd(&c), if cut { want } else { before }, "{rule:?} {pause}");
        assert_eq!(c.info().snd_ssthresh(), ssthresh);
        assert_eq!(1 + speak(&mut c, ms(last + pause)).len() as u64, cwnd(&c) as u64, "{rule:?} {pause}");
    }
}

#[test]
fn a_window_below_the_initial_one_is_not_opened_by_a_pause() {
    let mut c = with(IdleRule::Restart, 10);
    c.write(1000);
    speak(&mut c, ms(0));
    let at = c.next_timer().expect("data is outstanding");
    c.on_timer(at, &mut ());
    speak(&mut c, at);
    hear(&mut c, ms(1100), &[acks(1001, 1 << 20)]);
    let before = cwnd(&c);
    assert!(before < 10.0);
    c.write(1000);
    speak(&mut c, ms(100_000));
    assert_eq!(cwnd(&c), before);
}

#[test]
fn resent_data_ends_a_pause_like_new_data() {
    let mut c = with(IdleRule::Restart, 3);
    transfer(&mut c, 0, 30_000, 1 << 20);
    // Three segments, the first of which is lost and resent when the timer fires.
    c.write(3000);
    assert_eq!(speak(&mut c, ms(1000)).len(), 3);
    let fired = c.next_timer().expect("data is outstanding");
    c.on_timer(fired, &mut ());
    let again = speak(&mut c, fired);
    assert_eq!(again[0].len, 1000);
    hear(&mut c, fired + crate::time::Nanos::from_millis(50), &[acks(33_001, 1 << 20)]);
    let before = cwnd(&c);
    c.write(1000);
    speak(&mut c, fired + crate::time::Nanos::from_millis(900));
    assert_eq!(cwnd(&c), before);
}

#[test]
fn data_that_follow_at_once_and_a_first_write_after_a_long_time_change_nothing() {
    let mut c = with(IdleRule::Restart, 3);
    c.write(10_000);
    assert_eq!(speak(&mut c, ms(100_000)).len(), 3);
    let mut c = with(IdleRule::Restart, 3);
    let last = transfer(&mut c, 0, 30_000, 1 << 20);
    let before = cwnd(&c);
    // Data is outstanding when more is written, and is acknowledged late.
    c.write(1000);
    speak(&mut c, ms(last + 100));
    c.write(1000);
    hear(&mut c, ms(last + 1050), &[acks(31_001, 1 << 20)]);
    speak(&mut c, ms(last + 1101));
    assert!(cwnd(&c) >= before);
}

#[test]
fn a_window_that_opens_after_a_long_time_ends_a_pause_too() {
    let mut c = with(IdleRule::Restart, 3);
    let last = transfer(&mut c, 0, 30_000, 1 << 20);
    let before = cwnd(&c);
    assert!(before > 5.0);
    c.write(1000);
    speak(&mut c, ms(last + 100));
    hear(&mut c, ms(last + 150), &[acks(31_001, 0)]);
    c.write(20_000);
    assert_eq!(speak(&mut c, ms(last + 150)).len(), 0);
    let probe = c.next_timer().expect("a probe");
    c.on_timer(probe, &mut ());
    assert_eq!(speak(&mut c, probe)[0].len, 1);
    let later = |millis| probe + crate::time::Nanos::from_millis(millis);
    hear(&mut c, later(10), &[acks(31_002, 0)]);
    hear(&mut c, later(1500), &[acks(31_002, 1 << 20)]);
    assert_eq!(speak(&mut c, later(1500)).len(), 3);
}

#[test]
fn the_stacks_of_rfcs_restart_and_no_others() {
    let restarting: Vec<_> = Stack::names().filter(|n| named(n).idle == IdleRule::Restart).collect();
    let want = [
        "reno",
        "newreno",
        "rfc-6675",
        "cubic",
        "prr",
        "ncr-careful",
        "ncr-aggressive",
        "rack-tlp",
        "eifel",
        "frto",
        "rfc-today",
        "gvisor",
        "gvisor-no-rack",
        "late",
    ];
    assert_eq!(restarting, want);
}

#[test]
fn the_cubic_of_a_restarted_connection_begins_when_slow_start_has_ended() {
    use crate::congestion::cubic::CubicSpec;
    use crate::congestion::CongestionSpec;
    let startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 3, ssthresh_segs: Some(8) });
    let congestion = CongestionSpec::Cubic(CubicSpec::default());
    let stack = Stack { startup, congestion, idle: IdleRule::Restart, ..stack() };
    let mut c = Connection::established(&stack, Sides::Both, MSS, 1 << 20);
    transfer(&mut c, 0, 60_000, 1 << 20);
    let before = cwnd(&c);
    assert!(before > 8.0 && before < 12.0, "{before}");
    // A thousand seconds on the old cubic would ask for half a window more on each ACK.
    transfer(&mut c, 1_000_000, 40_000, 1 << 20);
    assert!(cwnd(&c) < 12.0, "{}", cwnd(&c));
}

#[test]
fn linux_halves_the_window_for_each_timeout_of_a_pause_and_keeps_three_quarters_as_the_threshold() {
    let ms = crate::time::Nanos::from_millis;
    let before = Window { cwnd: 80_000.0, ssthresh: 20_000.0 };
    let after = |pause| IdleRule::Halve.restart(before, 10_000.0, ms(pause), ms(1000));
    let cwnd: Vec<f64> = [1001, 2000, 2001, 3001, 600_000].map(|pause| after(pause).cwnd).to_vec();
    assert_eq!(cwnd, [40_000.0, 40_000.0, 20_000.0, 10_000.0, 10_000.0]);
    assert_eq!(after(1001).ssthresh, 60_000.0);
}

#[test]
fn linuxs_stacks_halve() {
    let halving: Vec<_> = Stack::names().filter(|n| named(n).idle == IdleRule::Halve).collect();
    assert_eq!(halving, ["linux-2025", "linux-reno-2025"]);
}
