//! Any stack: a named one in which components of random layers are exchanged, with settings at the ends of what is allowed, and
//! between.

mod detectors;
mod kinds;

use crate::paths::Rng;
use ackclock_tcp::congestion::{aimd, bbr, cubic, cubic_2008, linux_cubic, net2, quic as cc_quic, vegas as cc_vegas};
use ackclock_tcp::congestion::{CongestionSpec, CutFrom};
use ackclock_tcp::detect::{DetectSpec, Guard};
use ackclock_tcp::disorder::{extended, ncr, DisorderSpec};
use ackclock_tcp::facts::ack::DupRule;
use ackclock_tcp::facts::ncr::NcrMode;
use ackclock_tcp::idle::IdleRule;
use ackclock_tcp::pacing::PacingRule;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::recovery::{fack as r_fack, hoe, netstack, newreno, prr, reno, rfc6675, robust, sack_ff96};
use ackclock_tcp::rto::{linux as rto_linux, net2_ticks, quic as rto_quic, rfc6298, RtoSpec};
use ackclock_tcp::spurious::{dsack, eifel, linux as s_linux, netstack as s_netstack, rtt_min, SpuriousSpec};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{bdp, fixed, hystart, hystart_plus_plus, smooth, StartupSpec};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::timeout::{frto, go_back_n, sack as t_sack, TimeoutSpec};
use ackclock_tcp::undo::{eifel_response, restore, slow_start_back, UndoSpec};

const GUARDS: [Guard; 4] = [Guard::Careful, Guard::LessCareful, Guard::AfterTimeout, Guard::Off];
const MODES: [NcrMode; 2] = [NcrMode::Careful, NcrMode::Aggressive];

/// The stack of this number.
pub(crate) fn draw(rng: &mut Rng) -> Stack {
    let names: Vec<&str> = Stack::names().collect();
    loop {
        let named = |rng: &mut Rng| Stack::named(rng.of(&names)).expect("listed");
        let mut s = named(rng);
        // Few others go together with these.
        match rng.below(16) {
            0 => s = Stack::named(rng.of(&["quic-undo", "quic-9002", "linux-bbr-2025"])).expect("listed"),
            1 => s = Stack::named("linux-2025").expect("listed").without_sack(),
            2 => s = Stack::named("linux-2025").expect("listed"),
            3 => {
                s = Stack::named("late").expect("listed");
                let oracle = rng.one_in(3);
                s.detect = if oracle { DetectSpec::Oracle } else { DetectSpec::Late(detectors::late_spec(rng)) };
            }
            _ => {}
        }
        if let (true, DetectSpec::Quic(q)) = (rng.one_in(2), &mut s.detect) {
            q.adapt = true;
        }
        for _ in 0..1 + rng.below(4) {
            exchange(&mut s, rng);
        }
        surroundings(&mut s, rng);
        if rng.one_in(10) {
            s = s.without_sack();
        }
        s.name = "any".into();
        if s.validate().is_ok() {
            return s;
        }
    }
}

fn exchange(s: &mut Stack, rng: &mut Rng) {
    match rng.below(10) {
        0 => s.rto = rto(rng),
        1 | 9 => s.detect = detectors::detect(rng),
        2 => s.disorder = disorder(rng),
        3 => s.recovery = recovery(rng),
        4 => s.timeout = timeout(rng),
        5 => s.congestion = congestion(rng),
        6 => s.startup = startup(rng),
        7 => s.spurious = spurious(rng),
        _ => s.undo = undo(rng),
    }
}

/// What is no component.
fn surroundings(s: &mut Stack, rng: &mut Rng) {
    if rng.one_in(4) {
        let rules = [DupRule::Rfc5681, DupRule::NewSackInfo, DupRule::Ns2, DupRule::EmulatedSack, DupRule::Netstack];
        s.dup_rule = rng.of(&rules);
    }
    if rng.one_in(4) {
        s.idle = rng.of(&[IdleRule::Keep, IdleRule::Restart, IdleRule::Halve]);
    }
    if rng.one_in(6) {
        s.pacing = rng.of(&[PacingRule::Off, PacingRule::Linux]);
    }
    s.options.sack |= rng.one_in(4);
    s.options.dsack |= s.options.sack && rng.one_in(3);
    s.options.timestamps |= rng.one_in(3);
    s.options.late_sack ^= rng.one_in(8);
    if rng.one_in(6) {
        s.limits.cwnd_cap_segs = rng.of(&[None, Some(1), Some(4), Some(10), Some(30)]);
    }
    if rng.one_in(8) {
        s.limits.maxburst_segs = rng.of(&[None, Some(1), Some(3), Some(6)]);
    }
    if rng.one_in(10) {
        s.limits.max_train = rng.of(&[1, 2, 8]);
    }
    s.limits.avoid_silly_window ^= rng.one_in(10);
}

fn coin(rng: &mut Rng) -> bool {
    rng.one_in(2)
}

/// Milliseconds.
fn span(rng: &mut Rng, ms: &[u64]) -> Nanos {
    Nanos::from_millis(rng.of(ms))
}

fn rto(rng: &mut Rng) -> RtoSpec {
    let hz = rng.of(&[1, 10, 100, 250, 1000]);
    match rng.below(4) {
        0 => {
            let (every_ack, timestamps) = (coin(rng), coin(rng));
            RtoSpec::Rfc6298(rfc6298::Rfc6298Spec {
                initial: span(rng, &[0, 300, 1000, 3000]),
                min: span(rng, &[0, 1, 200, 1000]),
                max: span(rng, &[1000, 4000, 60_000]),
                tick: Nanos(rng.of(&[1, 1_000_000, 10_000_000, 500_000_000])),
                every_ack,
                timestamps,
                divide_gains: (every_ack || timestamps) && coin(rng),
            })
        }
        1 => RtoSpec::Linux(rto_linux::LinuxSpec {
            initial: span(rng, &[1, 1000, 3000]),
            min: span(rng, &[1, 40, 200]),
            max: span(rng, &[200, 5000, 120_000]),
            hz,
        }),
        2 => RtoSpec::Net2Ticks(net2_ticks::Net2TicksSpec {
            tick: span(rng, &[1, 100, 500]),
            phase: Nanos(rng.of(&[0, 1, 123_456_789, 499_999_999, 700_000_000])),
            min_ticks: rng.of(&[1, 2, 3]),
            max_ticks: rng.of(&[3, 20, 128]),
            initial_ticks: rng.of(&[1, 6, 12]),
            arithmetic: {
                use net2_ticks::Arithmetic::{FixedMin, Integer, Real};
                rng.of(&[Integer, FixedMin, Real])
            },
        }),
        _ => RtoSpec::Quic(rto_quic::QuicSpec {
            initial_rtt: span(rng, &[1, 100, 333]),
            max_ack_delay: span(rng, &[0, 25, 200]),
            granularity: span(rng, &[1, 10]),
            max: span(rng, &[500, 60_000]),
        }),
    }
}

fn disorder(rng: &mut Rng) -> DisorderSpec {
    match rng.below(6) {
        0 => DisorderSpec::Nothing,
        1 => DisorderSpec::LimitedTransmit,
        2 | 3 => DisorderSpec::Extended(extended::ExtendedSpec {
            every_dup: coin(rng),
            most_cwnds: rng.of(&[None, Some(0.0), Some(0.5), Some(1.0), Some(1e6)]),
        }),
        4 => DisorderSpec::Pipe,
        _ => DisorderSpec::Ncr(ncr::NcrSpec { mode: rng.of(&MODES) }),
    }
}

fn recovery(rng: &mut Rng) -> RecoverySpec {
    match rng.below(15) {
        0 => RecoverySpec::Tahoe,
        1 => RecoverySpec::Reno(reno::RenoSpec {
            inflate_segs: rng.of(&[0, 1, 3, 7]),
            grow_on_exit: coin(rng),
            net2_order: coin(rng),
            header_prediction: rng.one_in(4),
        }),
        2 | 3 => {
            use newreno::{FullAck, PartialTimer};
            let (inflate, deflate) = (coin(rng), coin(rng));
            RecoverySpec::Newreno(newreno::NewRenoSpec {
                timer: rng.of(&[PartialTimer::Impatient, PartialTimer::SlowButSteady]),
                inflate,
                deflate,
                deflate_uninflated: deflate && !inflate && coin(rng),
                full_ack: rng.of(&[FullAck::Flight, FullAck::Ssthresh, FullAck::Keep]),
                grow_on_exit: coin(rng),
                burst_segs: rng.of(&[None, Some(0), Some(2)]),
            })
        }
        4 => RecoverySpec::InOpen,
        5 | 6 => RecoverySpec::SackFf96(sack_ff96::SackFf96Spec {
            exact_entry: coin(rng),
            new_sack_only: coin(rng),
            limit_double_decrease: coin(rng),
            face_value: coin(rng),
            hole_rule: rng.of(&[sack_ff96::HoleRule::Ff96, sack_ff96::HoleRule::Dupthresh]),
        }),
        7 => RecoverySpec::Rfc6675(rfc6675::Rfc6675Spec { rearm_on_rexmit: coin(rng) }),
        8 | 9 => {
            use prr::{Bound, Order};
            RecoverySpec::Prr(prr::PrrSpec {
                bound: rng.of(&[Bound::Rfc9937, Bound::Ssrb, Bound::Crb, Bound::Linux]),
                order: rng.of(&[Order::Rfc6675, Order::Marks]),
                respond_lost_rexmit: coin(rng),
                restart_timer: coin(rng),
                beyond_recover: coin(rng),
            })
        }
        10 => RecoverySpec::Fack(r_fack::FackSpec { rampdown: coin(rng) }),
        11 => RecoverySpec::RateHalving,
        12 => RecoverySpec::Hoe(hoe::HoeSpec {
            dups_per_segment: rng.of(&[1, 2, 3]),
            aggressive: coin(rng),
            grow_on_exit: coin(rng),
        }),
        13 => {
            use robust::{Count, ExitSsthresh, Extend, Order, OwnLimit};
            RecoverySpec::Robust(robust::RobustSpec {
                count: rng.of(&[Count::Exact, Count::Act, Count::Sent]),
                order: rng.of(&[Order::Rexmit, Order::Extra]),
                extend: rng.of(&[Extend::Detection, Extend::LastRound]),
                exit_ssthresh: rng.of(&[ExitSsthresh::Keep, ExitSsthresh::Min]),
                cap: rng.of(&[OwnLimit::Heeded, OwnLimit::Ignored]),
            })
        }
        _ => RecoverySpec::Netstack(netstack::NetstackSpec { marks: coin(rng) }),
    }
}

fn timeout(rng: &mut Rng) -> TimeoutSpec {
    use frto::Form;
    match rng.below(4) {
        0 => TimeoutSpec::GoBackN(go_back_n::GoBackNSpec { skip_sacked: coin(rng), keep_sacks: coin(rng) }),
        1 => TimeoutSpec::Sack(t_sack::SackSpec {
            mark: rng.of(&[t_sack::Mark::All, t_sack::Mark::Head]),
            clear_sacks: rng.one_in(3),
        }),
        _ => TimeoutSpec::Frto(frto::FrtoSpec {
            form: rng.of(&[Form::Basic, Form::Sack, Form::Linux, Form::LinuxNoSack]),
            clear_sacks: rng.one_in(3),
        }),
    }
}

fn congestion(rng: &mut Rng) -> CongestionSpec {
    let cut_from = rng.of(&[CutFrom::Flight, CutFrom::Pipe, CutFrom::Window]);
    match rng.below(11) {
        0 => CongestionSpec::Aimd(aimd::AimdSpec {
            cut_from,
            only_if_limited: coin(rng),
            abc_limit_segs: rng.of(&[None, Some(1), Some(2)]),
        }),
        1 => CongestionSpec::Net2(net2::Net2Spec {
            eighth: coin(rng),
            inclusive: coin(rng),
            max_window: rng.of(&[1, 10_000, 65_535, u64::MAX >> 1]),
        }),
        2 => CongestionSpec::Cubic(cubic::CubicSpec {
            beta: rng.of(&[0.05, 0.5, 0.7, 0.95]),
            c: rng.of(&[0.04, 0.4, 40.0]),
            fast_convergence: coin(rng),
            cut_from,
            only_if_limited: coin(rng),
        }),
        3 => {
            use cubic_2008::FirstCount::{AtMostTwenty, Fifty, Free};
            CongestionSpec::Cubic2008(cubic_2008::Cubic2008Spec {
                beta_1024: rng.of(&[1, 512, 819, 1023]),
                c: rng.of(&[0.04, 0.4, 40.0]),
                fast_convergence: coin(rng),
                friendliness: coin(rng),
                first_count: rng.of(&[Free, Fifty, AtMostTwenty]),
                limit_rate: coin(rng),
            })
        }
        4 => CongestionSpec::LinuxReno,
        5 => CongestionSpec::LinuxCubic(linux_cubic::LinuxCubicSpec {
            beta_1024: rng.of(&[1, 512, 717, 1023]),
            fast_convergence: coin(rng),
            friendliness: coin(rng),
            hz: rng.of(&[1, 100, 250, 1000]),
        }),
        6 => CongestionSpec::Bbr(bbr::BbrSpec { hz: rng.of(&[1, 100, 250, 1000]) }),
        7 => CongestionSpec::Vegas(cc_vegas::VegasSpec {
            alpha: rng.of(&[0.0, 0.5, 1.0]),
            beta: rng.of(&[1.0, 3.0]),
            gamma: rng.of(&[0.0, 1.0, 2.5]),
        }),
        8 => CongestionSpec::TcpPr,
        9 => CongestionSpec::Quic(cc_quic::QuicSpec {
            loss_reduction: rng.of(&[0.1, 0.5, 1.0]),
            minimum_window_segs: rng.of(&[1, 2, 5]),
        }),
        _ => CongestionSpec::NetstackReno,
    }
}

fn startup(rng: &mut Rng) -> StartupSpec {
    let initial_window_segs = rng.of(&[1, 2, 3, 10, 16, 40]);
    let ssthresh_segs = rng.of(&[None, None, Some(2), Some(8), Some(30)]);
    match rng.below(5) {
        0 => StartupSpec::Fixed(fixed::FixedSpec { initial_window_segs, ssthresh_segs }),
        1 => StartupSpec::Hystart(hystart::HystartSpec {
            initial_window_segs,
            low_window_segs: rng.of(&[0, 4, 16]),
            ack_delta: Nanos(rng.of(&[0, 2_000_000, 20_000_000])),
        }),
        2 => StartupSpec::HystartPlusPlus(hystart_plus_plus::HystartPlusPlusSpec {
            initial_window_segs,
            css_growth_divisor: rng.of(&[1, 2, 4, 100]),
            css_rounds: rng.of(&[1, 2, 5]),
        }),
        3 => {
            StartupSpec::Bdp(bdp::BdpSpec { initial_window_segs, ssthresh_segs, gap_share: rng.of(&[0.0, 0.25, 1.0]) })
        }
        _ => StartupSpec::Smooth(smooth::SmoothSpec {
            initial_window_segs,
            ssthresh_segs,
            depth: rng.of(&[1, 2, 5, 100]),
        }),
    }
}

fn spurious(rng: &mut Rng) -> SpuriousSpec {
    match rng.below(8) {
        0 => SpuriousSpec::Nothing,
        1 | 2 => SpuriousSpec::Dsack(dsack::DsackSpec {
            pending_srtts: rng.of(&[0, 1, 2, 50]),
            stop_on_lost_acks: coin(rng),
            stop_on_network_duplicate: coin(rng),
            judge_timeouts: coin(rng),
            sample_resent: coin(rng),
        }),
        3 => SpuriousSpec::Eifel(eifel::EifelSpec { judge_fast_retransmits: coin(rng) }),
        4 => SpuriousSpec::RttMin(rtt_min::RttMinSpec {
            share: rng.of(&[0.1, 0.75, 1.0]),
            judge_fast_retransmits: coin(rng),
        }),
        5 => SpuriousSpec::Linux(s_linux::LinuxSpec { dsack: coin(rng), timestamps: coin(rng) }),
        6 => SpuriousSpec::LateAck,
        _ => SpuriousSpec::Netstack(s_netstack::NetstackSpec { dsack: coin(rng) }),
    }
}

fn undo(rng: &mut Rng) -> UndoSpec {
    match rng.below(4) {
        0 => UndoSpec::Nothing,
        1 => UndoSpec::SlowStartBack(slow_start_back::SlowStartBackSpec {
            restore_cwnd: coin(rng),
            undo_timeouts: coin(rng),
        }),
        2 => UndoSpec::EifelResponse(eifel_response::EifelResponseSpec {
            initial_window_segs: rng.of(&[None, Some(1), Some(10)]),
            adapt_timer: coin(rng),
        }),
        _ => UndoSpec::Restore(restore::RestoreSpec { restore_ssthresh: coin(rng), before_interrupted: coin(rng) }),
    }
}
