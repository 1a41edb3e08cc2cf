//! Stacks known for how they open the window.

use super::{base, rfc_6675};
use crate::congestion::CongestionSpec;
use crate::detect::DetectSpec;
use crate::recovery::RecoverySpec;
use crate::stack::Stack;

/// RFC 9438 over RFC 6675.
pub(super) fn cubic(name: &str) -> Stack {
    Stack { congestion: CongestionSpec::Cubic(Default::default()), ..rfc_6675(name) }
}

/// Vegas over Reno.
pub(super) fn vegas(name: &str) -> Stack {
    Stack {
        congestion: CongestionSpec::Vegas(Default::default()),
        ..base(name, DetectSpec::Vegas(Default::default()), RecoverySpec::Reno(Default::default()))
    }
}
