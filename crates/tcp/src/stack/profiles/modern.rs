//! From FACK to RACK: how to pace a recovery, and how to detect losses.

use super::rfc_6675;
use crate::detect::fack;
use crate::detect::rack_tlp::RackTlpSpec;
use crate::detect::sack;
use crate::detect::threshold::ncr;
use crate::detect::threshold::ThresholdSpec;
use crate::detect::DetectSpec;
use crate::disorder::{self, DisorderSpec};
use crate::facts::ncr::NcrMode;
use crate::idle::IdleRule;
use crate::recovery::prr::{Order, PrrSpec};
use crate::recovery::RecoverySpec;
use crate::stack::{Options, Stack};
use crate::timeout::sack::{Mark, SackSpec};
use crate::timeout::TimeoutSpec;

/// Mathis & Mahdavi 1996. There was no limited transmit then.
pub(super) fn fack(name: &str) -> Stack {
    Stack {
        options: Options { sack: true, ..Options::default() },
        detect: DetectSpec::Fack(fack::FackSpec::default()),
        disorder: DisorderSpec::Nothing,
        recovery: RecoverySpec::Fack(Default::default()),
        idle: IdleRule::Keep,
        ..rfc_6675(name)
    }
}

/// Rate halving over RFC 6675's detection.
pub(super) fn rate_halving(name: &str) -> Stack {
    Stack { recovery: RecoverySpec::RateHalving, idle: IdleRule::Keep, ..rfc_6675(name) }
}

/// RFC 9937 over RFC 6675's detection.
pub(super) fn prr(name: &str) -> Stack {
    Stack { recovery: RecoverySpec::Prr(PrrSpec::default()), ..rfc_6675(name) }
}

/// RFC 4653: the threshold, and sending in Disorder.
fn ncr(name: &str, mode: NcrMode) -> Stack {
    let threshold = ThresholdSpec::Ncr(ncr::NcrSpec { mode });
    Stack {
        detect: DetectSpec::Sack(sack::SackSpec { threshold }),
        disorder: DisorderSpec::Ncr(disorder::ncr::NcrSpec { mode }),
        ..rfc_6675(name)
    }
}

pub(super) fn ncr_careful(name: &str) -> Stack {
    ncr(name, NcrMode::Careful)
}

pub(super) fn ncr_aggressive(name: &str) -> Stack {
    ncr(name, NcrMode::Aggressive)
}

/// RFC 8985, paced by RFC 9937.
pub(super) fn rack_tlp(name: &str) -> Stack {
    Stack {
        detect: DetectSpec::RackTlp(RackTlpSpec::default()),
        disorder: DisorderSpec::Pipe,
        recovery: RecoverySpec::Prr(PrrSpec { order: Order::Marks, ..PrrSpec::default() }),
        timeout: TimeoutSpec::Sack(SackSpec { mark: Mark::Head, ..SackSpec::default() }),
        ..rfc_6675(name)
    }
}
