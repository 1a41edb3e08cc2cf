//! The senders of single papers: Leung & Ma 2005; Wang & Shin.

use super::blanton_allman;
use super::{base, dup_ack};
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::threshold::ThresholdSpec;
use crate::detect::{DetectSpec, Guard};
use crate::disorder::extended::ExtendedSpec;
use crate::disorder::DisorderSpec;
use crate::recovery::robust::RobustSpec;
use crate::recovery::sack_ff96::{HoleRule, SackFf96Spec};
use crate::recovery::RecoverySpec;
use crate::stack::Stack;

/// Leung & Ma: the sender of Blanton & Allman §5 with their own threshold and extended limited transmit (§IV-D); every
/// hole is resent, as in the `sack1` that they cite.
pub(super) fn avg_dev(name: &str) -> Stack {
    let threshold = ThresholdSpec::AvgDev(Default::default());
    let recovery = SackFf96Spec { hole_rule: HoleRule::Ff96, ..SackFf96Spec::blanton_allman() };
    Stack {
        detect: DetectSpec::DupAck(DupAckSpec { threshold, guard: Guard::AfterTimeout, ..Default::default() }),
        disorder: DisorderSpec::Extended(ExtendedSpec::default()),
        recovery: RecoverySpec::SackFf96(recovery),
        ..blanton_allman::dsack(name)
    }
}

/// Wang & Shin: Robust Recovery over Reno's counting of duplicates.
pub(super) fn robust(name: &str) -> Stack {
    base(name, dup_ack(Guard::AfterTimeout), RecoverySpec::Robust(RobustSpec::default()))
}
