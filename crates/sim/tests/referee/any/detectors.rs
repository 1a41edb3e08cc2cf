//! Detectors and their thresholds, drawn.

use super::{coin, span, GUARDS, MODES};
use crate::paths::Luck;
use ackclock_tcp::detect::threshold::{avg, avg_dev, ewma, fa, fixed as t_fixed, inc, linux as t_linux, multipath};
use ackclock_tcp::detect::threshold::{ncr as t_ncr, CapSpec, CapStore, ThresholdSpec};
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::detect::{delayed, dup_ack, fack, late, linux_no_sack, quic, rack_tlp, sack, tcp_pr, vegas};
use ackclock_tcp::time::Nanos;

fn cap(luck: &mut Luck) -> CapSpec {
    CapSpec { store: luck.of(&[CapStore::Stored, CapStore::Test]), floor_segs: luck.of(&[1, 2, 3, 3, 5]) }
}

fn share(luck: &mut Luck) -> f64 {
    luck.of(&[0.0, 0.0625, 0.25, 0.3, 0.5, 0.7, 1.0])
}

fn threshold(luck: &mut Luck) -> ThresholdSpec {
    match luck.below(11) {
        0 => ThresholdSpec::Fixed(t_fixed::FixedSpec { segments: luck.of(&[1, 2, 3, 4, 10, 1000]) }),
        1 => {
            use inc::UpdatePer::{Dsack, Episode, Segment};
            let update_per = luck.of(&[Episode, Segment, Dsack]);
            ThresholdSpec::Inc(inc::IncSpec { step: luck.of(&[1, 2, 5]), update_per, cap: cap(luck) })
        }
        2 => ThresholdSpec::Avg(avg::AvgSpec { count_filling_ack: coin(luck), cap: cap(luck) }),
        3 => ThresholdSpec::Ewma(ewma::EwmaSpec {
            alpha: share(luck),
            x: share(luck),
            count_filling_ack: coin(luck),
            cap: cap(luck),
        }),
        4 => ThresholdSpec::Ncr(t_ncr::NcrSpec { mode: luck.of(&MODES) }),
        5 => ThresholdSpec::AvgDev(avg_dev::AvgDevSpec {
            alpha: share(luck),
            beta: share(luck),
            lambda: luck.of(&[0.0, 0.3, 2.0, 100.0]),
            gamma: share(luck),
            c1: share(luck),
            c2: share(luck),
            count_filling_ack: coin(luck),
            start_at_first: coin(luck),
            time_bound: luck.of(&[avg_dev::TimeBound::IgnoreBelowThree, avg_dev::TimeBound::Clamp]),
            every_timeout_bounds: coin(luck),
            every_timeout_shrinks: coin(luck),
            floor_segs: luck.of(&[1, 2, 3]),
        }),
        6 => {
            ThresholdSpec::Linux(t_linux::LinuxSpec { initial: luck.of(&[1, 2, 3, 5]), max: luck.of(&[1, 3, 10, 300]) })
        }
        7..10 => {
            let step = luck.of(&[0.01, 0.1, 1.0]);
            let ta = fa::AvoidTimeouts { step, count_growth: coin(luck) };
            ThresholdSpec::Fa(fa::FaSpec {
                ratio: luck.of(&[0.05, 0.5, 0.9, 1.0]),
                events: luck.of(&[fa::Events::Confirmed, fa::Events::All]),
                in_order: coin(luck),
                samples: luck.of(&[1, 2, 2, 5, 10, 1000]),
                rule: luck.of(&[fa::Rule::Percentile, fa::Rule::Mean]),
                flight_cwnds: luck.of(&[1.0, 1.5, 2.0]),
                avoid_timeouts: (!luck.one_in(3)).then_some(ta),
            })
        }
        _ => ThresholdSpec::Multipath(multipath::MultipathSpec { paths: luck.of(&[1, 2, 3, 4, 5, 65_536]) }),
    }
}

/// Late, with settings at both ends and between.
pub(super) fn late_spec(luck: &mut Luck) -> late::LateSpec {
    late::LateSpec {
        margin: luck.of(&[1.0, 1.5, 3.0, 1000.0]),
        least_rtts: luck.of(&[0.0, 0.0, 0.5, 2.0]),
        first_rtts: luck.of(&[0.0, 0.25, 0.75, 10.0]),
        cap_srtts: luck.of(&[0.1, 1.0, 8.0, 1000.0]),
        keep: luck.of(&[0.0, 0.5, 0.999, 1.0]),
        keep_after_losses: luck.of(&[0.0, 0.5, 0.95, 1.0]),
        dupthresh: luck.of(&[0, 1, 3, 10]),
        max_ack_delay: span(luck, &[0, 25, 200]),
    }
}

pub(super) fn detect(luck: &mut Luck) -> DetectSpec {
    let guard = luck.of(&GUARDS);
    match luck.below(15) {
        0..3 => {
            DetectSpec::DupAck(dup_ack::DupAckSpec { threshold: threshold(luck), guard, judge_in_recovery: coin(luck) })
        }
        3..6 => DetectSpec::Sack(sack::SackSpec { threshold: threshold(luck) }),
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
                target: luck.of(&[DelayTarget::Fill, DelayTarget::LastDup]),
                guard,
                judge_in_recovery: coin(luck),
                arming_dups: luck.of(&[1, 2, 3, 4]),
                wait: luck.of(&waits),
                ceiling: luck.of(&[DelayCeiling::Now, DelayCeiling::BeforeTheCut]),
            })
        }
        7 => DetectSpec::Vegas(vegas::VegasSpec { guard }),
        8 => DetectSpec::RackTlp(rack_tlp::RackTlpSpec {
            dupthresh: luck.of(&[1, 2, 3, 5]),
            persist: luck.of(&[0, 1, 2, 16]),
            min_rtt_window: span(luck, &[0, 100, 1000, 300_000]),
            tlp: !luck.one_in(4),
            max_ack_delay: span(luck, &[0, 25, 200]),
            rules: luck.of(&[rack_tlp::Rules::Rfc8985, rack_tlp::Rules::Linux]),
            max_reordering: luck.of(&[1, 3, 10, 300]),
            hz: luck.of(&[10, 100, 250, 1000]),
        }),
        9 => DetectSpec::LinuxNoSack(linux_no_sack::LinuxNoSackSpec {
            dupthresh: luck.of(&[1, 2, 3, 5]),
            max_reordering: luck.of(&[1, 3, 10, 300]),
        }),
        10 => DetectSpec::Fack(fack::FackSpec { threshold_segs: luck.of(&[1, 2, 3, 10]), guard }),
        11 => DetectSpec::TcpPr(tcp_pr::TcpPrSpec {
            alpha: luck.of(&[0.1, 0.9, 0.995, 1.0]),
            beta: luck.of(&[1.0, 1.5, 3.0, 1000.0]),
            initial: span(luck, &[1000, 1001, 3000]),
            max: span(luck, &[1000, 60_000]),
            root: luck.of(&[tcp_pr::Root::Exact, tcp_pr::Root::TwoNewtonSteps]),
        }),
        12 | 13 => DetectSpec::Late(late_spec(luck)),
        _ => DetectSpec::Quic(quic::QuicSpec {
            packet_threshold: luck.of(&[1, 2, 3, 6]),
            time_threshold: luck.of(&[1.0, 1.125, 2.0, 10.0]),
            granularity: span(luck, &[1, 30]),
            persistent: luck.of(&[1, 3]),
            max_pto: span(luck, &[1, 400, 60_000]),
            adapt: !luck.one_in(4),
        }),
    }
}
