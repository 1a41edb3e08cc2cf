//! The TCPs of today: the current RFCs, and Linux.
//!
//! The Linux stacks follow kernel 6.18 with its defaults. Known departures, from reading the kernel's source:
//!
//! - Pacing is off except with BBR, as in the kernel, unless a queue or an application asks for it there.
//! - Without SACK, BBR falls back to NewReno; the kernel's BBR stays.
//! - The receive window does not grow unless configured (`receive_window`); ACKs that Linux sends quickly while it grows are
//!   delayed.
//! - An ACK that reveals a loss opens the window before the cut; in the kernel it does not.
//! - An unused window does not shrink; the kernel halves the difference for each timeout (`tcp_cwnd_application_limited`).
//! - Of several segments that an ACK delivers, the one sent last is timed; the kernel's timeout uses the one sent first.
//!
//! docs/linux.md shows their combined effect, path by path.

use super::modern::rack_tlp;
use crate::ack::AckSpec;
use crate::congestion::cubic::CubicSpec;
use crate::congestion::{CongestionSpec, CutFrom};
use crate::detect::rack_tlp::{RackTlpSpec, Rules};
use crate::detect::DetectSpec;
use crate::idle::IdleRule;
use crate::pacing::PacingRule;
use crate::recovery::prr::{Bound, Order, PrrSpec};
use crate::recovery::RecoverySpec;
use crate::rto::rfc6298::Rfc6298Spec;
use crate::rto::RtoSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Limits, Options, Stack};
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

/// [`rfc_today`] with Late in place of RACK. It has no timestamps: after a needless retransmission, PAWS makes the receiver
/// refuse the original that comes late (RFC 7323 §5). So DSACKs judge, a mistake is undone whole, and the cut is taken from the
/// window, since the flight is small when a detector has waited long. When it has, the timeout is near: the timer restarts with
/// the repair.
pub(super) fn late(name: &str) -> Stack {
    let rto = Rfc6298Spec { every_ack: true, divide_gains: true, ..Default::default() };
    Stack {
        rto: RtoSpec::Rfc6298(rto),
        congestion: CongestionSpec::Cubic(CubicSpec { cut_from: CutFrom::Window, ..Default::default() }),
        detect: DetectSpec::Late(Default::default()),
        recovery: RecoverySpec::Prr(PrrSpec { order: Order::Marks, restart_timer: true, ..PrrSpec::default() }),
        spurious: SpuriousSpec::Dsack(Default::default()),
        undo: UndoSpec::Restore(Default::default()),
        options: Options { timestamps: false, ..options() },
        ..rfc_today(name)
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

/// Linux with BBR, which needs pacing and lets neither a recovery nor a pause change the window.
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
        // `tcp_init_transfer`: one repetition may be needless, since the first timeout is as short as 1 s.
        limits: Limits { syn_repeats: 1, ..Limits::default() },
        ..rack_tlp(name)
    }
}
