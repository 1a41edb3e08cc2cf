//! Nagle's algorithm, cork, and "more follows".

use super::*;
use crate::startup::fixed::FixedSpec;
use crate::startup::StartupSpec;

fn sender() -> Connection {
    let startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: None });
    Connection::established(&Stack { startup, ..stack() }, Sides::Both, MSS, RWND)
}

fn with_nagle() -> Connection {
    let mut c = sender();
    c.set_nagle(true);
    c
}

fn sent(c: &mut Connection, at: u64) -> Vec<(u64, u32)> {
    speak(c, ms(at)).iter().map(|s| (s.seq.0, s.len)).collect()
}

fn written(c: &mut Connection, bytes: u64) -> Vec<(u64, u32)> {
    c.write(bytes);
    sent(c, 0)
}

fn acked(c: &mut Connection, ack: u64) -> Vec<(u64, u32)> {
    let seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd: 20_000, flags: Segment::ACK, ..Segment::EMPTY };
    hear(c, ms(10), &[seg]);
    sent(c, 10)
}

#[test]
fn without_nagle_each_small_write_leaves_at_once() {
    let mut c = sender();
    assert_eq!([100, 100].map(|n| written(&mut c, n)), [vec![(1, 100)], vec![(101, 100)]]);
}

#[test]
fn with_nagle_small_writes_wait_for_the_ack_of_the_last_small_segment_and_leave_as_one() {
    let mut c = with_nagle();
    assert_eq!(written(&mut c, 100), [(1, 100)]);
    assert_eq!([100, 150].map(|n| written(&mut c, n)), [vec![], vec![]]);
    assert_eq!(acked(&mut c, 51), [], "half of it is still out");
    assert_eq!(acked(&mut c, 101), [(101, 250)]);
    assert_eq!(written(&mut c, 10), [], "and now that one is out");
    assert_eq!(acked(&mut c, 351), [(351, 10)]);
}

#[test]
fn full_segments_outstanding_keep_no_small_one_back() {
    let mut c = with_nagle();
    assert_eq!(written(&mut c, 2500), [(1, 1000), (1001, 1000), (2001, 500)]);
    assert_eq!(written(&mut c, 999), []);
    // A segment that has become full does not wait.
    assert_eq!(written(&mut c, 2), [(2501, 1000)]);
    assert_eq!(acked(&mut c, 2001), []);
    assert_eq!(acked(&mut c, 2501), [(3501, 1)]);
}

#[test]
fn a_fin_and_the_end_of_nagle_release_the_data() {
    let mut c = with_nagle();
    written(&mut c, 100);
    assert_eq!(written(&mut c, 100), []);
    c.set_nagle(false);
    assert_eq!(sent(&mut c, 0), [(101, 100)]);
    c.set_nagle(true);
    assert_eq!(written(&mut c, 100), []);
    c.close();
    assert_eq!(sent(&mut c, 0), [(201, 100)]);
}

#[test]
fn a_cork_lets_full_segments_out_alone_until_it_is_pulled() {
    let mut c = sender();
    c.set_cork(true);
    assert_eq!(written(&mut c, 1300), [(1, 1000)]);
    assert_eq!(acked(&mut c, 1001), []);
    assert_eq!(written(&mut c, 900), [(1001, 1000)]);
    c.set_cork(false);
    assert_eq!(sent(&mut c, 20), [(2001, 200)]);
}

#[test]
fn what_lies_under_a_cork_leaves_after_a_retransmission_timeout() {
    let mut c = sender();
    c.set_cork(true);
    assert_eq!(written(&mut c, 300), []);
    assert_eq!(c.next_timer(), Some(ms(1000)));
    c.on_timer(ms(1000), &mut ());
    assert_eq!(sent(&mut c, 1000), [(1, 300)]);
    let seg = Segment { seq: Offset::DATA, ack: Offset(301), wnd: 20_000, flags: Segment::ACK, ..Segment::EMPTY };
    hear(&mut c, ms(1100), &[seg]);
    assert_eq!((sent(&mut c, 1100), c.next_timer()), (vec![], None));
}

#[test]
fn data_released_by_the_next_write_is_not_requested_again() {
    let mut c = sender();
    c.set_cork(true);
    assert_eq!(written(&mut c, 300), []);
    assert_eq!(written(&mut c, 700), [(1, 1000)]);
    // The next timer is the retransmission timer; no probe comes before it.
    let rto = c.next_timer().expect("data is outstanding");
    assert_eq!((rto, c.info().probes), (ms(1000), 0));
    assert_eq!(acked(&mut c, 1001), []);
    assert_eq!(c.next_timer(), None);
}

#[test]
fn data_released_by_the_write_that_was_to_follow_is_not_requested_again() {
    let mut c = sender();
    c.write_more(300);
    assert_eq!(sent(&mut c, 0), []);
    c.write(200);
    assert_eq!(sent(&mut c, 10), [(1, 500)]);
    // The next timer is the retransmission timer, set now; the wait for more has ended.
    assert_eq!(c.next_timer(), Some(ms(1010)));
}

#[test]
fn more_that_follows_is_waited_for_once() {
    let mut c = sender();
    c.write_more(300);
    assert_eq!(sent(&mut c, 0), []);
    assert_eq!(written(&mut c, 200), [(1, 500)]);
    c.write_more(1200);
    assert_eq!(sent(&mut c, 0), [(501, 1000)]);
    c.close();
    assert_eq!(sent(&mut c, 0), [(1501, 200)]);
}
