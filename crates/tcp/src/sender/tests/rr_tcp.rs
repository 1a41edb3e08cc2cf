//! RR-TCP's RTT samples and its learning threshold, tested in a whole sender.

use super::*;
use crate::detect::threshold::fa::FaSpec;
use crate::detect::threshold::ThresholdSpec;
use crate::detect::DetectSpec;
use crate::spurious::{dsack::DsackSpec, SpuriousSpec};

const RWND: u32 = 1_000_000;

/// Segment 0 of 20 is sent at 0 and 300 ms; an ACK for it arrives at 500 ms, a DSACK at 800 ms.
fn resent_needlessly(stack: Stack) -> Sender {
    let mut s = Sender::new(&opened(stack, 20), MSS, u64::from(RWND));
    s.write(1_000_000);
    send(&mut s, ms(0));
    for n in 1..=3 {
        ack(&mut s, ms(297 + n), seg(0), RWND, &[(seg(1), seg(n + 1))]);
        send(&mut s, ms(297 + n));
    }
    assert_eq!((s.phase(), s.board().get(Offset(seg(0))).unwrap().at), (Phase::Recovery, ms(300)));
    ack(&mut s, ms(500), seg(4), RWND, &[]);
    let recover = s.recover.unwrap().0;
    ack(&mut s, ms(700), recover, RWND, &[]);
    send(&mut s, ms(700));
    ack(&mut s, ms(800), recover, RWND, &[(seg(0), seg(1))]);
    s
}

#[test]
fn what_was_sent_at_0_and_300_ms_and_answered_at_500_and_800_ms_took_half_a_second_in_the_mean() {
    assert_eq!(resent_needlessly(named("rr-tcp")).slots.rto.srtt(), Some(Nanos::from_millis(500)));
    // With Karn's rule alone there is no sample.
    let karn = Stack { spurious: SpuriousSpec::Dsack(DsackSpec::default()), ..named("rr-tcp") };
    assert_eq!(resent_needlessly(karn).slots.rto.srtt(), None);
}

#[test]
fn a_proven_length_of_3_makes_the_threshold_4() {
    let s = resent_needlessly(named("rr-tcp"));
    assert_eq!(s.slots.detect.dupthresh(&s.w, &s.ctx(ms(800))), Some(4));
    assert_eq!(s.window().ssthresh, 20_000.0, "and the window comes back");
}

#[test]
fn a_ratio_of_no_share_or_more_than_all_is_refused() {
    for (ratio, good) in [(0.0, false), (1.0, true), (1.1, false), (f64::NAN, false)] {
        let mut stack = named("rr-tcp");
        if let DetectSpec::DupAck(d) = &mut stack.detect {
            d.threshold = ThresholdSpec::Fa(FaSpec { ratio, ..FaSpec::default() });
        }
        assert_eq!(stack.validate().is_ok(), good, "{ratio}");
    }
}
