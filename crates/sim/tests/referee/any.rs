//! Any stack: a named one in which components of random layers are exchanged, with settings at the ends of what is allowed, and
//! between.

mod detectors;
mod kinds;

use crate::paths::Luck;
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
pub(crate) fn draw(luck: &mut Luck) -> Stack {
    let names: Vec<&str> = Stack::names().collect();
    loop {
        let named = |luck: &mut Luck| Stack::named(luck.of(&names)).expect("listed");
        let mut s = named(luck);
        // Few others go together with these.
        match luck.below(16) {
            0 => s = Stack::named(luck.of(&["quic-undo", "quic-9002", "linux-bbr-2025"])).expect("listed"),
            1 => s = Stack::named("linux-2025").expect("listed").without_sack(),
            2 => s = Stack::named("linux-2025").expect("listed"),
            3 => {
                s = Stack::named("late").expect("listed");
                let oracle = luck.one_in(3);
                s.detect = if oracle { DetectSpec::Oracle } else { DetectSpec::Late(detectors::late_spec(luck)) };
            }
            _ => {}
        }
        if let (true, DetectSpec::Quic(q)) = (luck.one_in(2), &mut s.detect) {
            q.adapt = true;
        }
        for _ in 0..1 + luck.below(4) {
            exchange(&mut s, luck);
        }
        surroundings(&mut s, luck);
        if luck.one_in(10) {
            s = s.without_sack();
        }
        s.name = "any".into();
        if s.validate().is_ok() {
            return s;
        }
    }
}

fn exchange(s: &mut Stack, luck: &mut Luck) {
    match luck.below(10) {
        0 => s.rto = rto(luck),
        1 | 9 => s.detect = detectors::detect(luck),
        2 => s.disorder = disorder(luck),
        3 => s.recovery = recovery(luck),
        4 => s.timeout = timeout(luck),
        5 => s.congestion = congestion(luck),
        6 => s.startup = startup(luck),
        7 => s.spurious = spurious(luck),
        _ => s.undo = undo(luck),
    }
}

/// What is no component.
fn surroundings(s: &mut Stack, luck: &mut Luck) {
    if luck.one_in(4) {
        let rules = [DupRule::Rfc5681, DupRule::NewSackInfo, DupRule::Ns2, DupRule::EmulatedSack, DupRule::Netstack];
        s.dup_rule = luck.of(&rules);
    }
    if luck.one_in(4) {
        s.idle = luck.of(&[IdleRule::Keep, IdleRule::Restart, IdleRule::Halve]);
    }
    if luck.one_in(6) {
        s.pacing = luck.of(&[PacingRule::Off, PacingRule::Linux]);
    }
    s.options.sack |= luck.one_in(4);
    s.options.dsack |= s.options.sack && luck.one_in(3);
    s.options.timestamps |= luck.one_in(3);
    s.options.late_sack ^= luck.one_in(8);
    if luck.one_in(6) {
        s.limits.cwnd_cap_segs = luck.of(&[None, Some(1), Some(4), Some(10), Some(30)]);
    }
    if luck.one_in(8) {
        s.limits.maxburst_segs = luck.of(&[None, Some(1), Some(3), Some(6)]);
    }
    if luck.one_in(10) {
        s.limits.max_train = luck.of(&[1, 2, 8]);
    }
    s.limits.avoid_silly_window ^= luck.one_in(10);
}

fn coin(luck: &mut Luck) -> bool {
    luck.one_in(2)
}

/// Milliseconds.
fn span(luck: &mut Luck, ms: &[u64]) -> Nanos {
    Nanos::from_millis(luck.of(ms))
}

fn rto(luck: &mut Luck) -> RtoSpec {
    let hz = luck.of(&[1, 10, 100, 250, 1000]);
    match luck.below(4) {
        0 => {
            let (every_ack, timestamps) = (coin(luck), coin(luck));
            RtoSpec::Rfc6298(rfc6298::Rfc6298Spec {
                initial: span(luck, &[0, 300, 1000, 3000]),
                min: span(luck, &[0, 1, 200, 1000]),
                max: span(luck, &[1000, 4000, 60_000]),
                tick: Nanos(luck.of(&[1, 1_000_000, 10_000_000, 500_000_000])),
                every_ack,
                timestamps,
                divide_gains: (every_ack || timestamps) && coin(luck),
            })
        }
        1 => RtoSpec::Linux(rto_linux::LinuxSpec {
            initial: span(luck, &[1, 1000, 3000]),
            min: span(luck, &[1, 40, 200]),
            max: span(luck, &[200, 5000, 120_000]),
            hz,
        }),
        2 => RtoSpec::Net2Ticks(net2_ticks::Net2TicksSpec {
            tick: span(luck, &[1, 100, 500]),
            phase: Nanos(luck.of(&[0, 1, 123_456_789, 499_999_999, 700_000_000])),
            min_ticks: luck.of(&[1, 2, 3]),
            max_ticks: luck.of(&[3, 20, 128]),
            initial_ticks: luck.of(&[1, 6, 12]),
            arithmetic: {
                use net2_ticks::Arithmetic::{FixedMin, Integer, Real};
                luck.of(&[Integer, FixedMin, Real])
            },
        }),
        _ => RtoSpec::Quic(rto_quic::QuicSpec {
            initial_rtt: span(luck, &[1, 100, 333]),
            max_ack_delay: span(luck, &[0, 25, 200]),
            granularity: span(luck, &[1, 10]),
            max: span(luck, &[500, 60_000]),
        }),
    }
}

fn disorder(luck: &mut Luck) -> DisorderSpec {
    match luck.below(6) {
        0 => DisorderSpec::Nothing,
        1 => DisorderSpec::LimitedTransmit,
        2 | 3 => DisorderSpec::Extended(extended::ExtendedSpec {
            every_dup: coin(luck),
            most_cwnds: luck.of(&[None, Some(0.0), Some(0.5), Some(1.0), Some(1e6)]),
        }),
        4 => DisorderSpec::Pipe,
        _ => DisorderSpec::Ncr(ncr::NcrSpec { mode: luck.of(&MODES) }),
    }
}

fn recovery(luck: &mut Luck) -> RecoverySpec {
    match luck.below(15) {
        0 => RecoverySpec::Tahoe,
        1 => RecoverySpec::Reno(reno::RenoSpec {
            inflate_segs: luck.of(&[0, 1, 3, 7]),
            grow_on_exit: coin(luck),
            net2_order: coin(luck),
            header_prediction: luck.one_in(4),
        }),
        2 | 3 => {
            use newreno::{FullAck, PartialTimer};
            let (inflate, deflate) = (coin(luck), coin(luck));
            RecoverySpec::Newreno(newreno::NewRenoSpec {
                timer: luck.of(&[PartialTimer::Impatient, PartialTimer::SlowButSteady]),
                inflate,
                deflate,
                deflate_uninflated: deflate && !inflate && coin(luck),
                full_ack: luck.of(&[FullAck::Flight, FullAck::Ssthresh, FullAck::Keep]),
                grow_on_exit: coin(luck),
                burst_segs: luck.of(&[None, Some(0), Some(2)]),
            })
        }
        4 => RecoverySpec::InOpen,
        5 | 6 => RecoverySpec::SackFf96(sack_ff96::SackFf96Spec {
            exact_entry: coin(luck),
            new_sack_only: coin(luck),
            limit_double_decrease: coin(luck),
            face_value: coin(luck),
            hole_rule: luck.of(&[sack_ff96::HoleRule::Ff96, sack_ff96::HoleRule::Dupthresh]),
        }),
        7 => RecoverySpec::Rfc6675(rfc6675::Rfc6675Spec { rearm_on_rexmit: coin(luck) }),
        8 | 9 => {
            use prr::{Bound, Order};
            RecoverySpec::Prr(prr::PrrSpec {
                bound: luck.of(&[Bound::Rfc9937, Bound::Ssrb, Bound::Crb, Bound::Linux]),
                order: luck.of(&[Order::Rfc6675, Order::Marks]),
                respond_lost_rexmit: coin(luck),
                restart_timer: coin(luck),
                beyond_recover: coin(luck),
            })
        }
        10 => RecoverySpec::Fack(r_fack::FackSpec { rampdown: coin(luck) }),
        11 => RecoverySpec::RateHalving,
        12 => RecoverySpec::Hoe(hoe::HoeSpec {
            dups_per_segment: luck.of(&[1, 2, 3]),
            aggressive: coin(luck),
            grow_on_exit: coin(luck),
        }),
        13 => {
            use robust::{Count, ExitSsthresh, Extend, Order, OwnLimit};
            RecoverySpec::Robust(robust::RobustSpec {
                count: luck.of(&[Count::Exact, Count::Act, Count::Sent]),
                order: luck.of(&[Order::Rexmit, Order::Extra]),
                extend: luck.of(&[Extend::Detection, Extend::LastRound]),
                exit_ssthresh: luck.of(&[ExitSsthresh::Keep, ExitSsthresh::Min]),
                cap: luck.of(&[OwnLimit::Heeded, OwnLimit::Ignored]),
            })
        }
        _ => RecoverySpec::Netstack(netstack::NetstackSpec { marks: coin(luck) }),
    }
}

fn timeout(luck: &mut Luck) -> TimeoutSpec {
    use frto::Form;
    match luck.below(4) {
        0 => TimeoutSpec::GoBackN(go_back_n::GoBackNSpec { skip_sacked: coin(luck), keep_sacks: coin(luck) }),
        1 => TimeoutSpec::Sack(t_sack::SackSpec {
            mark: luck.of(&[t_sack::Mark::All, t_sack::Mark::Head]),
            clear_sacks: luck.one_in(3),
        }),
        _ => TimeoutSpec::Frto(frto::FrtoSpec {
            form: luck.of(&[Form::Basic, Form::Sack, Form::Linux, Form::LinuxNoSack]),
            clear_sacks: luck.one_in(3),
        }),
    }
}

fn congestion(luck: &mut Luck) -> CongestionSpec {
    let cut_from = luck.of(&[CutFrom::Flight, CutFrom::Pipe, CutFrom::Window]);
    match luck.below(11) {
        0 => CongestionSpec::Aimd(aimd::AimdSpec {
            cut_from,
            only_if_limited: coin(luck),
            abc_limit_segs: luck.of(&[None, Some(1), Some(2)]),
        }),
        1 => CongestionSpec::Net2(net2::Net2Spec {
            eighth: coin(luck),
            inclusive: coin(luck),
            max_window: luck.of(&[1, 10_000, 65_535, u64::MAX >> 1]),
        }),
        2 => CongestionSpec::Cubic(cubic::CubicSpec {
            beta: luck.of(&[0.05, 0.5, 0.7, 0.95]),
            c: luck.of(&[0.04, 0.4, 40.0]),
            fast_convergence: coin(luck),
            cut_from,
            only_if_limited: coin(luck),
        }),
        3 => {
            use cubic_2008::FirstCount::{AtMostTwenty, Fifty, Free};
            CongestionSpec::Cubic2008(cubic_2008::Cubic2008Spec {
                beta_1024: luck.of(&[1, 512, 819, 1023]),
                c: luck.of(&[0.04, 0.4, 40.0]),
                fast_convergence: coin(luck),
                friendliness: coin(luck),
                first_count: luck.of(&[Free, Fifty, AtMostTwenty]),
                limit_rate: coin(luck),
            })
        }
        4 => CongestionSpec::LinuxReno,
        5 => CongestionSpec::LinuxCubic(linux_cubic::LinuxCubicSpec {
            beta_1024: luck.of(&[1, 512, 717, 1023]),
            fast_convergence: coin(luck),
            friendliness: coin(luck),
            hz: luck.of(&[1, 100, 250, 1000]),
        }),
        6 => CongestionSpec::Bbr(bbr::BbrSpec { hz: luck.of(&[1, 100, 250, 1000]) }),
        7 => CongestionSpec::Vegas(cc_vegas::VegasSpec {
            alpha: luck.of(&[0.0, 0.5, 1.0]),
            beta: luck.of(&[1.0, 3.0]),
            gamma: luck.of(&[0.0, 1.0, 2.5]),
        }),
        8 => CongestionSpec::TcpPr,
        9 => CongestionSpec::Quic(cc_quic::QuicSpec {
            loss_reduction: luck.of(&[0.1, 0.5, 1.0]),
            minimum_window_segs: luck.of(&[1, 2, 5]),
        }),
        _ => CongestionSpec::NetstackReno,
    }
}

fn startup(luck: &mut Luck) -> StartupSpec {
    let initial_window_segs = luck.of(&[1, 2, 3, 10, 16, 40]);
    let ssthresh_segs = luck.of(&[None, None, Some(2), Some(8), Some(30)]);
    match luck.below(5) {
        0 => StartupSpec::Fixed(fixed::FixedSpec { initial_window_segs, ssthresh_segs }),
        1 => StartupSpec::Hystart(hystart::HystartSpec {
            initial_window_segs,
            low_window_segs: luck.of(&[0, 4, 16]),
            ack_delta: Nanos(luck.of(&[0, 2_000_000, 20_000_000])),
        }),
        2 => StartupSpec::HystartPlusPlus(hystart_plus_plus::HystartPlusPlusSpec {
            initial_window_segs,
            css_growth_divisor: luck.of(&[1, 2, 4, 100]),
            css_rounds: luck.of(&[1, 2, 5]),
        }),
        3 => {
            StartupSpec::Bdp(bdp::BdpSpec { initial_window_segs, ssthresh_segs, gap_share: luck.of(&[0.0, 0.25, 1.0]) })
        }
        _ => StartupSpec::Smooth(smooth::SmoothSpec {
            initial_window_segs,
            ssthresh_segs,
            depth: luck.of(&[1, 2, 5, 100]),
        }),
    }
}

fn spurious(luck: &mut Luck) -> SpuriousSpec {
    match luck.below(8) {
        0 => SpuriousSpec::Nothing,
        1 | 2 => SpuriousSpec::Dsack(dsack::DsackSpec {
            pending_srtts: luck.of(&[0, 1, 2, 50]),
            stop_on_lost_acks: coin(luck),
            stop_on_network_duplicate: coin(luck),
            judge_timeouts: coin(luck),
            sample_resent: coin(luck),
        }),
        3 => SpuriousSpec::Eifel(eifel::EifelSpec { judge_fast_retransmits: coin(luck) }),
        4 => SpuriousSpec::RttMin(rtt_min::RttMinSpec {
            share: luck.of(&[0.1, 0.75, 1.0]),
            judge_fast_retransmits: coin(luck),
        }),
        5 => SpuriousSpec::Linux(s_linux::LinuxSpec { dsack: coin(luck), timestamps: coin(luck) }),
        6 => SpuriousSpec::LateAck,
        _ => SpuriousSpec::Netstack(s_netstack::NetstackSpec { dsack: coin(luck) }),
    }
}

fn undo(luck: &mut Luck) -> UndoSpec {
    match luck.below(4) {
        0 => UndoSpec::Nothing,
        1 => UndoSpec::SlowStartBack(slow_start_back::SlowStartBackSpec {
            restore_cwnd: coin(luck),
            undo_timeouts: coin(luck),
        }),
        2 => UndoSpec::EifelResponse(eifel_response::EifelResponseSpec {
            initial_window_segs: luck.of(&[None, Some(1), Some(10)]),
            adapt_timer: coin(luck),
        }),
        _ => UndoSpec::Restore(restore::RestoreSpec { restore_ssthresh: coin(luck), before_interrupted: coin(luck) }),
    }
}
