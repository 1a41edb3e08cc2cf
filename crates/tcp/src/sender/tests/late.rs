//! Late: its timer and the retransmission timer.

use super::*;
use crate::detect::late::LateSpec;
use crate::detect::{DetectSpec, StandIn, Timekeeper};

#[test]
fn a_timeout_that_comes_due_while_the_head_is_waited_for_repairs_it_and_starts_anew() {
    let detect = DetectSpec::Late(LateSpec { margin: 1000.0, cap_srtts: 9.0, ..LateSpec::default() });
    let mut s = Sender::new(&Stack { detect, ..opened(named("late"), 20) }, MSS, 1_000_000);
    let mut heard: Vec<(Time, Event)> = vec![];
    s.write(20_000);
    send(&mut s, ms(0));
    // Segment 0 is 1 ms late, so from now on the wait is nine smoothed round trips.
    ack(&mut s, ms(100), 1, 1_000_000, &[(1001, 2001)]);
    ack(&mut s, ms(101), 2001, 1_000_000, &[]);
    ack(&mut s, ms(110), 3001, 1_000_000, &[]);
    assert_eq!(s.timers.rto, Some(ms(1110)));
    ack(&mut s, ms(300), 3001, 1_000_000, &[(4001, 5001)]);
    assert_eq!(send(&mut s, ms(300)), []);
    assert_eq!(s.slots.detect.stands_in_for_rto(), StandIn::Restart);
    assert!(s.slots.detect.deadline().is_some_and(|at| at > ms(1110)));
    s.on_timer(ms(1110), &mut heard);
    assert_eq!(send(&mut s, ms(1110)), [(3001, 1000)]);
    assert!(!heard.iter().any(|h| matches!(h.1, Event::Timeout { .. })), "{heard:?}");
    assert_eq!((s.phase, s.timers.rto), (Phase::Recovery, Some(ms(2110))));
    // Nothing sent after the copy has arrived: the next time it is a timeout.
    s.on_timer(ms(2110), &mut heard);
    assert!(heard.iter().any(|h| matches!(h.1, Event::Timeout { .. })), "{heard:?}");
}
