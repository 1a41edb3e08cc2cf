//! BSD Net/2 as Hoe 1995 measured it, her changes, and the recoveries of 1998 that Wang & Shin compare.

use super::{base, dup_ack, reno};
use crate::ack::AckSpec;
use crate::congestion::net2::Net2Spec;
use crate::congestion::CongestionSpec;
use crate::detect::Guard;
use crate::disorder::extended::ExtendedSpec;
use crate::disorder::DisorderSpec;
use crate::idle::IdleRule;
use crate::recovery::hoe::HoeSpec;
use crate::recovery::reno::RenoSpec;
use crate::recovery::RecoverySpec;
use crate::rto::net2_ticks::{Arithmetic, Net2TicksSpec};
use crate::rto::RtoSpec;
use crate::stack::{Options, Stack};
use crate::startup::StartupSpec;
use crate::time::Nanos;

/// Net/2 (Hoe §3.2): no window scaling, a slow clock, Reno that may cut several times for one window.
pub(super) fn net2(name: &str) -> Stack {
    let rto = Net2TicksSpec { arithmetic: Arithmetic::FixedMin, ..Default::default() };
    let recovery = RenoSpec { net2_order: true, ..Default::default() };
    Stack {
        rto: RtoSpec::Net2Ticks(rto),
        congestion: CongestionSpec::Net2(Net2Spec::default()),
        ack: AckSpec::WindowUpdate { interval: Nanos::from_millis(200), phase: Nanos::ZERO },
        options: Options { window_scale: false, ..Options::default() },
        ..base(name, dup_ack(Guard::Off), RecoverySpec::Reno(recovery))
    }
}

/// Hoe §7: Net/2 without the eighth, with her recovery and her estimate of the threshold.
pub(super) fn hoe(name: &str) -> Stack {
    Stack {
        congestion: CongestionSpec::Net2(Net2Spec { eighth: false, ..Default::default() }),
        recovery: RecoverySpec::Hoe(HoeSpec::default()),
        startup: StartupSpec::Bdp(Default::default()),
        ..net2(name)
    }
}

/// One new segment for each duplicate, before the verdict and after it (Wang & Shin §1).
pub(super) fn right_edge(name: &str) -> Stack {
    Stack { disorder: DisorderSpec::Extended(ExtendedSpec { every_dup: true, ..Default::default() }), ..lin_kung(name) }
}

/// One new segment for each of the first two duplicates, then one for each in recovery (Wang & Shin §1).
pub(super) fn lin_kung(name: &str) -> Stack {
    let recovery = HoeSpec { dups_per_segment: 1, grow_on_exit: false, ..Default::default() };
    Stack {
        disorder: DisorderSpec::LimitedTransmit,
        recovery: RecoverySpec::Hoe(recovery),
        idle: IdleRule::Keep,
        ..reno(name)
    }
}
