//! What hosts run today: the RFCs as they stand, and Linux.
//!
//! Linux's are kernel 6.18's with its defaults. Where they depart from the kernel, by what a look at its sources says:
//!
//! - Pacing is off but with BBR; the kernel's is, too, unless a queue or an application asks for it.
//! - Without SACK BBR falls back to NewReno; the kernel's goes on.
//! - The receive window does not grow unless it is told to (`receive_window`); what Linux makes quick while it grows is delayed.
//! - An ACK that reveals a loss opens the window before it is cut; the kernel's does not open it.
//! - An unused window does not shrink; the kernel halves the difference for each timeout (`tcp_cwnd_application_limited`).
//! - Of several segments that an ACK delivers, the one sent last is timed; the kernel's timeout is made of the one sent first.
//!
//! What they amount to together stands in docs/linux.md, path by path.

use super::modern::rack_tlp;
use crate::ack::AckSpec;
use crate::congestion::CongestionSpec;
use crate::detect::rack_tlp::{RackTlpSpec, Rules};
use crate::detect::DetectSpec;
use crate::idle::IdleRule;
use crate::pacing::PacingRule;
use crate::recovery::prr::{Bound, Order, PrrSpec};
use crate::recovery::RecoverySpec;
use crate::rto::rfc6298::Rfc6298Spec;
use crate::rto::RtoSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Options, Stack};
use crate::startup::fixed::{FixedSpec, INFINITE_SSTHRESH};
use crate::startup::StartupSpec;
use crate::timeout::frto::{Form, FrtoSpec};
use crate::timeout::TimeoutSpec;
use crate::undo::UndoSpec;

fn options() -> Options {
    Options { sack: true, dsack: true, timestamps: true, sack_blocks: 3, ..Options::default() }
}

fn frto(form: Form) -> TimeoutSpec {
    TimeoutSpec::Frto(FrtoSpec { form, ..Default::default() })
}

/// RFC 9438, 9406, 8985, 9937, 5682, 3522, 4015, 6298 and 7323 together.
pub(super) fn rfc_today(name: &str) -> Stack {
    Stack {
        rto: RtoSpec::Rfc6298(Rfc6298Spec {
            every_ack: true,
            timestamps: true,
            divide_gains: true,
            ..Default::default()
        }),
        congestion: CongestionSpec::Cubic(Default::default()),
        startup: StartupSpec::HystartPlusPlus(Default::default()),
        timeout: frto(Form::Sack),
        spurious: SpuriousSpec::Eifel(Default::default()),
        undo: UndoSpec::EifelResponse(Default::default()),
        options: options(),
        ..rack_tlp(name)
    }
}

/// Linux with CUBIC.
pub(super) fn linux(name: &str) -> Stack {
    Stack {
        congestion: CongestionSpec::LinuxCubic(Default::default()),
        startup: StartupSpec::Hystart(Default::default()),
        ..linux_reno(name)
    }
}

/// Linux with BBR, which asks for pacing and lets neither a recovery nor a pause touch the window.
pub(super) fn linux_bbr(name: &str) -> Stack {
    Stack {
        congestion: CongestionSpec::Bbr(Default::default()),
        recovery: RecoverySpec::ByRate,
        idle: IdleRule::Keep,
        pacing: PacingRule::Linux,
        ..linux_reno(name)
    }
}

/// Linux with Reno.
pub(super) fn linux_reno(name: &str) -> Stack {
    Stack {
        rto: RtoSpec::Linux(Default::default()),
        detect: DetectSpec::RackTlp(RackTlpSpec { rules: Rules::Linux, ..Default::default() }),
        recovery: RecoverySpec::Prr(PrrSpec {
            bound: Bound::Linux,
            order: Order::Marks,
            respond_lost_rexmit: false,
            restart_timer: true,
            ..Default::default()
        }),
        congestion: CongestionSpec::LinuxReno,
        startup: StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: Some(INFINITE_SSTHRESH) }),
        timeout: frto(Form::Linux),
        spurious: SpuriousSpec::Linux(Default::default()),
        undo: UndoSpec::Restore(Default::default()),
        ack: AckSpec::Linux(Default::default()),
        options: Options { late_sack: true, ..options() },
        idle: IdleRule::Halve,
        ..rack_tlp(name)
    }
}
