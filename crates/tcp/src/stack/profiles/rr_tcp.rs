//! RR-TCP (Zhang, Karp, Floyd & Peterson 2003), in the form that Leung & Ma 2005 compare with: DSACK-FA-MEAN with
//! enhanced sampling.

use super::blanton_allman::dsack;
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::threshold::ThresholdSpec;
use crate::detect::{DetectSpec, Guard};
use crate::disorder::extended::ExtendedSpec;
use crate::disorder::DisorderSpec;
use crate::recovery::sack_ff96::{HoleRule, SackFf96Spec};
use crate::recovery::RecoverySpec;
use crate::spurious::dsack::DsackSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::Stack;

/// RR-TCP with a fixed FA ratio; timeout avoidance is a parameter.
pub(super) fn rr_tcp(name: &str) -> Stack {
    let threshold = ThresholdSpec::Fa(Default::default());
    let detect = DupAckSpec { threshold, guard: Guard::AfterTimeout, ..Default::default() };
    let recovery = SackFf96Spec { hole_rule: HoleRule::Ff96, ..SackFf96Spec::blanton_allman() };
    Stack {
        detect: DetectSpec::DupAck(detect),
        disorder: DisorderSpec::Extended(ExtendedSpec::default()),
        recovery: RecoverySpec::SackFf96(recovery),
        spurious: SpuriousSpec::Dsack(DsackSpec { sample_resent: true, ..DsackSpec::default() }),
        ..dsack(name)
    }
}
