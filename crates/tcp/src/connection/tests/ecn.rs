//! Explicit congestion notification, one rule of RFC 3168 at a time.

use super::*;
use crate::startup::fixed::FixedSpec;
use crate::startup::StartupSpec;

fn with_ecn(name: &str) -> Stack {
    let mut s = Stack::named(name).unwrap();
    s.options.ecn = true;
    s.startup = StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: None });
    s
}

/// Marks the segments of `segs` at these places, if they may be marked.
fn mark(segs: &mut [Segment], places: &[usize]) {
    places.iter().for_each(|i| assert!(segs[*i].mark_congestion(), "{:?}", segs[*i]));
}

fn echoes(segs: &[Segment]) -> usize {
    segs.iter().filter(|s| s.has(Segment::ECE)).count()
}

#[test]
fn both_ends_use_it_if_both_offered_it() {
    // RFC 3168 §6.1.1.
    for (ours, theirs) in [(true, true), (true, false), (false, true), (false, false)] {
        let stack_of = |ecn| if ecn { with_ecn("newreno") } else { stack() };
        let mut a = Connection::connect(&stack_of(ours), MSS, RWND);
        let mut b = Connection::listen(&stack_of(theirs), MSS, RWND);
        let syn = speak(&mut a, ms(0));
        assert_eq!(syn[0].has(Segment::ECE | Segment::CWR), ours);
        hear(&mut b, ms(0), &syn);
        let answer = speak(&mut b, ms(0));
        assert_eq!((answer[0].has(Segment::ECE), answer[0].has(Segment::CWR)), (ours && theirs, false));
        hear(&mut a, ms(1), &answer);
        a.write(5000);
        let data = speak(&mut a, ms(1));
        assert!(data.iter().all(|s| (s.opts & Segment::ECT != 0) == (ours && theirs && s.len > 0)));
    }
}

#[test]
fn a_mark_is_echoed_until_the_sender_says_that_it_has_reduced_its_window() {
    let (mut a, mut b) = pair(&with_ecn("newreno"));
    a.write(100_000);
    let mut flight = speak(&mut a, ms(0));
    mark(&mut flight, &[2, 3]);
    let acks: Vec<Segment> = flight
        .iter()
        .flat_map(|s| {
            hear(&mut b, ms(50), &[*s]);
            speak(&mut b, ms(50))
        })
        .collect();
    assert_eq!(echoes(&acks), 8, "from the mark on every ACK");
    let before = a.sender().unwrap().window().cwnd;
    hear(&mut a, ms(100), &acks);
    let w = a.sender().unwrap().window();
    // The third ACK brings the first echo; seven segments are outstanding after it.
    assert_eq!((before, w.ssthresh, w.cwnd), (10_000.0, 3500.0, 3500.0));
    assert_eq!(a.sender().unwrap().episodes(), 0, "nothing is repaired");
    let next = speak(&mut a, ms(100));
    assert_eq!(next.iter().map(|s| s.has(Segment::CWR)).collect::<Vec<_>>(), [true, false, false]);
    hear(&mut b, ms(150), &next);
    assert_eq!(echoes(&speak(&mut b, ms(150))), 0);
}

#[test]
fn a_second_mark_of_the_same_window_cuts_no_further_and_no_echo_opens_the_window() {
    let (mut a, mut b) = pair(&with_ecn("rfc-6675"));
    a.write(1_000_000);
    let mut flight = speak(&mut a, ms(0));
    mark(&mut flight, &[0, 9]);
    let mut acks = vec![];
    for s in &flight {
        hear(&mut b, ms(50), &[*s]);
        acks.extend(speak(&mut b, ms(50)));
    }
    let mut windows = vec![];
    for ack in &acks {
        hear(&mut a, ms(100), &[*ack]);
        windows.push(a.sender().unwrap().window().cwnd);
    }
    assert_eq!(windows, [4500.0; 10]);
}

#[test]
fn a_cut_for_a_loss_answers_the_marks_of_the_same_window_and_nothing_is_undone_after_an_echo() {
    let (mut a, mut b) = pair(&with_ecn("dsack"));
    a.write(100_000);
    let mut flight = speak(&mut a, ms(0));
    mark(&mut flight, &[8]);
    // The first segment is late: a needless fast retransmit, which DSACK would undo.
    for s in &flight[1..] {
        hear(&mut b, ms(50), &[*s]);
        let acks = speak(&mut b, ms(50));
        hear(&mut a, ms(100), &acks);
    }
    let w = a.sender().unwrap().window();
    let again = speak(&mut a, ms(101));
    assert_eq!(again[0].seq, flight[0].seq);
    assert_eq!(again[0].opts & Segment::ECT, 0, "a retransmission may not be marked (§6.1.5)");
    hear(&mut b, ms(120), &[flight[0], again[0]]);
    let acks = speak(&mut b, ms(120));
    hear(&mut a, ms(160), &acks);
    assert_eq!(a.sender().unwrap().window().ssthresh, w.ssthresh, "no undo");
}
