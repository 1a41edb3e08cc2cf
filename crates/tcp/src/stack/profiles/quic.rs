//! QUIC's loss detection and congestion control (RFC 9002) over TCP.

use super::rfc_6675;
use crate::congestion::CongestionSpec;
use crate::detect::quic::QuicSpec;
use crate::detect::DetectSpec;
use crate::disorder::DisorderSpec;
use crate::idle::IdleRule;
use crate::recovery::RecoverySpec;
use crate::rto::RtoSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::Stack;
use crate::startup::fixed::{FixedSpec, INFINITE_SSTHRESH};
use crate::startup::StartupSpec;
use crate::undo::UndoSpec;

/// RFC 9002. An initial window of ten segments (§7.2, for segments of up to 1472 bytes).
pub(super) fn quic_9002(name: &str) -> Stack {
    Stack {
        rto: RtoSpec::Quic(Default::default()),
        detect: DetectSpec::Quic(QuicSpec::default()),
        disorder: DisorderSpec::Nothing,
        recovery: RecoverySpec::InOpen,
        congestion: CongestionSpec::Quic(Default::default()),
        startup: StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: Some(INFINITE_SSTHRESH) }),
        idle: IdleRule::Keep,
        ..rfc_6675(name)
    }
}

/// The same with MsQuic's response to falsely declared losses.
pub(super) fn quic_undo(name: &str) -> Stack {
    Stack { spurious: SpuriousSpec::LateAck, undo: UndoSpec::Restore(Default::default()), ..quic_9002(name) }
}
