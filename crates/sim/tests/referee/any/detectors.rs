//! Detectors and their thresholds, drawn.

use super::{coin, span, GUARDS, MODES};
use crate::paths::Rng;
use ackclock_tcp::detect::threshold::{avg, avg_dev, ewma, fa, fixed as t_fixed, inc, linux as t_linux, multipath};
use ackclock_tcp::detect::threshold::{ncr as t_ncr, CapSpec, CapStore, ThresholdSpec};
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::detect::{delayed, dup_ack, fack, late, linux_no_sack, quic, rack_tlp, sack, tcp_pr, vegas};
use ackclock_tcp::time::Nanos;

fn cap(rng: &mut Rng) -> CapSpec {
    CapSpec { store: rng.of(&[CapStore::Stored, CapStore::Test]), floor_segs: rng.of(&[1, 2, 3, 3, 5]) }
}

fn share(rng: &mut Rng) -> f64 {
    rng.of(&[0.0, 0.0625, 0.25, 0.3, 0.5, 0.7, 1.0])
}

fn threshold(rng: &mut Rng) -> ThresholdSpec {
    match rng.below(11) {
        0 => ThresholdSpec::Fixed(t_fixed::FixedSpec { segments: rng.of(&[1, 2, 3, 4, 10, 1000]) }),
        1 => {
            use inc::UpdatePer::{Dsack, Episode, Segment};
            let update_per = rng.of(&[Episode, Segment, Dsack]);
            ThresholdSpec::Inc(inc::IncSpec { step: rng.of(&[1, 2, 5]), update_per, cap: cap(rng) })
        }
        2 => ThresholdSpec::Avg(avg::AvgSpec { count_filling_ack: coin(rng), cap: cap(rng) }),
        3 => ThresholdSpec::Ewma(ewma::EwmaSpec {
            alpha: share(rng),
            x: share(rng),
            count_filling_ack: coin(rng),
            cap: cap(rng),
        }),
        4 => ThresholdSpec::Ncr(t_ncr::NcrSpec { mode: rng.of(&MODES) }),
        5 => ThresholdSpec::AvgDev(avg_dev::AvgDevSpec {
            alpha: share(rng),
            beta: share(rng),
            lambda: rng.of(&[0.0, 0.3, 2.0, 100.0]),
            gamma: share(rng),
            c1: share(rng),
            c2: share(rng),
            count_filling_ack: coin(rng),
            start_at_first: coin(rng),
            time_bound: rng.of(&[avg_dev::TimeBound::IgnoreBelowThree, avg_dev::TimeBound::Clamp]),
            every_timeout_bounds: coin(rng),
            every_timeout_shrinks: coin(rng),
            floor_segs: rng.of(&[1, 2, 3]),
        }),
        6 => ThresholdSpec::Linux(t_linux::LinuxSpec { initial: rng.of(&[1, 2, 3, 5]), max: rng.of(&[1, 3, 10, 300]) }),
        7..10 => {
            let step = rng.of(&[0.01, 0.1, 1.0]);
            let ta = fa::AvoidTimeouts { step, count_growth: coin(rng) };
            ThresholdSpec::Fa(fa::FaSpec {
                ratio: rng.of(&[0.05, 0.5, 0.9, 1.0]),
                events: rng.of(&[fa::Events::Confirmed, fa::Events::All]),
                in_order: coin(rng),
                samples: rng.of(&[1, 2, 2, 5, 10, 1000]),
                rule: rng.of(&[fa::Rule::Percentile, fa::Rule::Mean]),
                flight_cwnds: rng.of(&[1.0, 1.5, 2.0]),
                avoid_timeouts: (!rng.one_in(3)).then_some(ta),
            })
        }
        _ => ThresholdSpec::Multipath(multipath::MultipathSpec { paths: rng.of(&[1, 2, 3, 4, 5, 65_536]) }),
    }
}

/// Late, with settings at both ends and between.
pub(super) fn late_spec(rng: &mut Rng) -> late::LateSpec {
    late::LateSpec {
        margin: rng.of(&[1.0, 1.5, 3.0, 1000.0]),
        least_rtts: rng.of(&[0.0, 0.0, 0.5, 2.0]),
        first_rtts: rng.of(&[0.0, 0.25, 0.75, 10.0]),
        cap_srtts: rng.of(&[0.1, 1.0, 8.0, 1000.0]),
        keep: rng.of(&[0.0, 0.5, 0.999, 1.0]),
        keep_after_losses: rng.of(&[0.0, 0.5, 0.95, 1.0]),
        dupthresh: rng.of(&[0, 1, 3, 10]),
        max_ack_delay: span(rng, &[0, 25, 200]),
    }
}

pub(super) fn detect(rng: &mut Rng) -> DetectSpec {
    let guard = rng.of(&GUARDS);
    match rng.below(15) {
        0..3 => {
            DetectSpec::DupAck(dup_ack::DupAckSpec { threshold: threshold(rng), guard, judge_in_recovery: coin(rng) })
        }
        3..6 => DetectSpec::Sack(sack::SackSpec { threshold: threshold(rng) }),
        6 => {
            use delayed::{DelayCeiling, DelayTarget, Wait};
            let waits = [
                Wait::Adaptive,
                Wait::Adaptive,
                Wait::Fixed { delay: Nanos::from_millis(20) },
                Wait::Fixed { delay: Nanos::ZERO },
                Wait::RoundTrip { share: 0.25 },
                Wait::RoundTrip { share: 10.0 },
            ];
            DetectSpec::Delayed(delayed::DelayedSpec {
                target: rng.of(&[DelayTarget::Fill, DelayTarget::LastDup]),
                guard,
                judge_in_recovery: coin(rng),
                arming_dups: rng.of(&[1, 2, 3, 4]),
                wait: rng.of(&waits),
                ceiling: rng.of(&[DelayCeiling::Now, DelayCeiling::BeforeTheCut]),
            })
        }
        7 => DetectSpec::Vegas(vegas::VegasSpec { guard }),
        8 => DetectSpec::RackTlp(rack_tlp::RackTlpSpec {
            dupthresh: rng.of(&[1, 2, 3, 5]),
            persist: rng.of(&[0, 1, 2, 16]),
            min_rtt_window: span(rng, &[0, 100, 1000, 300_000]),
            tlp: !rng.one_in(4),
            max_ack_delay: span(rng, &[0, 25, 200]),
            rules: rng.of(&[rack_tlp::Rules::Rfc8985, rack_tlp::Rules::Linux]),
            max_reordering: rng.of(&[1, 3, 10, 300]),
            hz: rng.of(&[10, 100, 250, 1000]),
        }),
        9 => DetectSpec::LinuxNoSack(linux_no_sack::LinuxNoSackSpec {
            dupthresh: rng.of(&[1, 2, 3, 5]),
            max_reordering: rng.of(&[1, 3, 10, 300]),
        }),
        10 => DetectSpec::Fack(fack::FackSpec { threshold_segs: rng.of(&[1, 2, 3, 10]), guard }),
        11 => DetectSpec::TcpPr(tcp_pr::TcpPrSpec {
            alpha: rng.of(&[0.1, 0.9, 0.995, 1.0]),
            beta: rng.of(&[1.0, 1.5, 3.0, 1000.0]),
            initial: span(rng, &[1000, 1001, 3000]),
            max: span(rng, &[1000, 60_000]),
            root: rng.of(&[tcp_pr::Root::Exact, tcp_pr::Root::TwoNewtonSteps]),
        }),
        12 | 13 => DetectSpec::Late(late_spec(rng)),
        _ => DetectSpec::Quic(quic::QuicSpec {
            packet_threshold: rng.of(&[1, 2, 3, 6]),
            time_threshold: rng.of(&[1.0, 1.125, 2.0, 10.0]),
            granularity: span(rng, &[1, 30]),
            persistent: rng.of(&[1, 3]),
            max_pto: span(rng, &[1, 400, 60_000]),
            adapt: !rng.one_in(4),
        }),
    }
}
