//! The senders of Blanton & Allman 2002.

use super::sack_ff96;
use crate::detect::delayed::DelayedSpec;
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::threshold::ThresholdSpec;
use crate::detect::{DetectSpec, Guard};
use crate::disorder::extended::ExtendedSpec;
use crate::disorder::DisorderSpec;
use crate::recovery::sack_ff96::SackFf96Spec;
use crate::recovery::RecoverySpec;
use crate::spurious::dsack::DsackSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Options, Stack};
use crate::undo::slow_start_back::SlowStartBackSpec;
use crate::undo::UndoSpec;

/// Blanton & Allman §5: SACK with their changes, DSACK detection, undo by slow start.
pub(super) fn dsack(name: &str) -> Stack {
    let detect = DupAckSpec { guard: Guard::AfterTimeout, judge_in_recovery: true, ..Default::default() };
    Stack {
        detect: DetectSpec::DupAck(detect),
        disorder: DisorderSpec::LimitedTransmit,
        recovery: RecoverySpec::SackFf96(SackFf96Spec::blanton_allman()),
        spurious: SpuriousSpec::Dsack(DsackSpec::default()),
        undo: UndoSpec::SlowStartBack(SlowStartBackSpec::default()),
        options: Options { sack: true, dsack: true, ..Options::default() },
        ..sack_ff96(name)
    }
}

/// Blanton & Allman §6: the same with an adaptive threshold and extended limited transmit.
fn adaptive(name: &str, threshold: ThresholdSpec) -> Stack {
    let detect = DupAckSpec { threshold, guard: Guard::AfterTimeout, judge_in_recovery: true };
    Stack {
        detect: DetectSpec::DupAck(detect),
        disorder: DisorderSpec::Extended(ExtendedSpec::default()),
        ..dsack(name)
    }
}

pub(super) fn dsack_inc(name: &str) -> Stack {
    adaptive(name, ThresholdSpec::Inc(Default::default()))
}

pub(super) fn dsack_avg(name: &str) -> Stack {
    adaptive(name, ThresholdSpec::Avg(Default::default()))
}

/// Blanton & Allman §6.4: a timer in place of the threshold.
pub(super) fn dsack_del(name: &str) -> Stack {
    let detect = DelayedSpec { guard: Guard::AfterTimeout, judge_in_recovery: true, ..Default::default() };
    Stack { detect: DetectSpec::Delayed(detect), ..adaptive(name, ThresholdSpec::default()) }
}

pub(super) fn dsack_ewma(name: &str) -> Stack {
    adaptive(name, ThresholdSpec::Ewma(Default::default()))
}
