//! TCP-PR.

use super::base;
use crate::congestion::CongestionSpec;
use crate::detect::tcp_pr::TcpPrSpec;
use crate::detect::DetectSpec;
use crate::facts::ack::DupRule;
use crate::recovery::RecoverySpec;
use crate::stack::{Options, Stack};

/// Bohacek and others 2003, with SACK.
pub(super) fn tcp_pr(name: &str) -> Stack {
    Stack {
        congestion: CongestionSpec::TcpPr,
        options: Options { sack: true, ..Options::default() },
        dup_rule: DupRule::NewSackInfo,
        ..base(name, DetectSpec::TcpPr(TcpPrSpec::default()), RecoverySpec::InOpen)
    }
}
