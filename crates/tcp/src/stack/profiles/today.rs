//! What hosts run today: the RFCs as they stand, and Linux.
//!
//! Linux's are put together from its parts in the tree, with defaults of kernels 6.x. Where they depart from the kernel:
//! RACK's window grows by RFC 8985's rule, PRR's `RecoverFS` is the flight and not the window, nothing is paced, a pause changes
//! nothing (Linux halves the window for each timeout of it), the
//! receiver does not begin with quick ACKs, and Reno cuts what is outstanding, not the window.

use super::modern::rack_tlp;
use crate::ack::AckSpec;
use crate::congestion::aimd::AimdSpec;
use crate::congestion::cubic_2008::{Cubic2008Spec, FirstCount};
use crate::congestion::CongestionSpec;
use crate::idle::IdleRule;
use crate::rto::rfc6298::Rfc6298Spec;
use crate::rto::RtoSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Options, Stack};
use crate::startup::fixed::{FixedSpec, INFINITE_SSTHRESH};
use crate::startup::StartupSpec;
use crate::time::Nanos;
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
    let cubic = Cubic2008Spec {
        beta_1024: 717,
        friendliness: true,
        first_count: FirstCount::AtMostTwenty,
        least_count: 2,
        count_segments: true,
        only_if_limited: true,
        ..Default::default()
    };
    Stack {
        congestion: CongestionSpec::Cubic2008(cubic),
        startup: StartupSpec::Hystart(Default::default()),
        ..linux_reno(name)
    }
}

/// Linux with Reno.
pub(super) fn linux_reno(name: &str) -> Stack {
    let (min, max) = (Nanos::from_millis(200), Nanos::from_secs(120));
    Stack {
        rto: RtoSpec::Rfc6298(Rfc6298Spec {
            min,
            max,
            min_deviations: Some(min),
            every_ack: true,
            timestamps: true,
            ..Default::default()
        }),
        congestion: CongestionSpec::Aimd(AimdSpec { only_if_limited: true, ..Default::default() }),
        startup: StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: Some(INFINITE_SSTHRESH) }),
        timeout: frto(Form::Linux),
        spurious: SpuriousSpec::Linux(Default::default()),
        undo: UndoSpec::Restore(Default::default()),
        ack: AckSpec::Delayed { delay: Nanos::from_millis(40) },
        options: Options { late_sack: true, ..options() },
        idle: IdleRule::Keep,
        ..rack_tlp(name)
    }
}
