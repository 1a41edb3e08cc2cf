//! A stack is a description: one entry per slot, readable from TOML, checked by `validate`, made real by `build`.

pub mod profiles;

use crate::ack::AckSpec;
use crate::congestion::{AnyCongestion, CongestionSpec};
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::{AnyDetect, DetectSpec};
use crate::disorder::{AnyDisorder, DisorderSpec};
use crate::recovery::sack_ff96::HoleRule;
use crate::recovery::{AnyRecovery, RecoverySpec};
use crate::rto::{AnyRto, RtoSpec};
use crate::sender::ack::DupRule;
use crate::spurious::{AnySpurious, SpuriousSpec};
use crate::startup::{AnyStartup, StartupSpec};
use crate::timeout::{AnyTimeout, TimeoutSpec};
use crate::undo::{AnyUndo, UndoSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One answer to each question: a TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// What it is called in results.
    pub name: String,
    /// How long is too long? The retransmission timer.
    #[serde(default)]
    pub rto: RtoSpec,
    /// Is it lost? When a fast retransmit begins.
    pub detect: DetectSpec,
    /// And while we are not sure? What duplicates may send before a loss is declared.
    #[serde(default)]
    pub disorder: DisorderSpec,
    /// What may be sent to repair? Fast recovery.
    pub recovery: RecoverySpec,
    /// And after a timeout? How the repair goes.
    #[serde(default)]
    pub timeout: TimeoutSpec,
    /// How big may the window be? Growth and cut.
    #[serde(default)]
    pub congestion: CongestionSpec,
    /// Where does slow start begin and end?
    #[serde(default)]
    pub startup: StartupSpec,
    /// Was it a mistake? A judge of needless retransmissions.
    #[serde(default)]
    pub spurious: SpuriousSpec,
    /// And then? What a mistake gives back.
    #[serde(default)]
    pub undo: UndoSpec,
    /// When does this stack's receiver answer? A flow's `receiver` comes before it.
    #[serde(default = "every")]
    pub ack: AckSpec,
    /// Which ACKs count as duplicates.
    #[serde(default)]
    pub dup_rule: DupRule,
    /// Options of the TCP header that it offers.
    #[serde(default)]
    pub options: Options,
    /// Limits that belong to no algorithm.
    #[serde(default)]
    pub limits: Limits,
}

fn every() -> AckSpec {
    AckSpec::Every
}

/// TCP options that a stack offers and, if the peer agrees, uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Selective acknowledgments (RFC 2018). Default no.
    pub sack: bool,
    /// Its receiver reports duplicates by DSACK (RFC 2883). Default no.
    pub dsack: bool,
    /// Most SACK blocks in an ACK of its receiver, 1 to 4. Default 4 (RFC 2018 §3; 3 with timestamps; ns-2: 3).
    #[schemars(range(min = 1, max = 4))]
    pub sack_blocks: u8,
    /// Timestamps (RFC 7323). Default no.
    pub timestamps: bool,
    /// Window scaling (RFC 7323). Default yes.
    pub window_scale: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { sack: false, dsack: false, sack_blocks: 4, timestamps: false, window_scale: true }
    }
}

/// Limits that belong to no algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Segments that one ACK or timer may release (Fall & Floyd 1996 §5). Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub maxburst_segs: Option<u32>,
    /// Never more than this outstanding, in segments. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cwnd_cap_segs: Option<u32>,
    /// Equal new segments that `poll_transmit` may hand out at once. Default 1.
    #[schemars(range(min = 1))]
    pub max_train: u16,
    /// Whether a small segment waits for more window (RFC 1122 §4.2.3.4). Default yes; for more data none waits.
    pub avoid_silly_window: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { maxburst_segs: None, cwnd_cap_segs: None, max_train: 1, avoid_silly_window: true }
    }
}

/// A description that makes no sense, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackError {
    /// The parameter's path, as in `recovery` or `limits.max_train`.
    pub key: &'static str,
    /// What was found.
    pub found: String,
    /// What is allowed, or why it cannot be.
    pub allowed: String,
}

impl fmt::Display for StackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, allowed: {}", self.key, self.found, self.allowed)
    }
}

impl std::error::Error for StackError {}

/// The slots of one sender: one enum each, state inline.
pub struct Slots {
    /// Retransmission timeout.
    pub rto: AnyRto,
    /// Growth and cut.
    pub congestion: AnyCongestion,
    /// Judge of loss.
    pub detect: AnyDetect,
    /// Owner of Disorder.
    pub disorder: AnyDisorder,
    /// Owner of Recovery.
    pub recovery: AnyRecovery,
    /// Owner of Loss.
    pub timeout: AnyTimeout,
    /// The start.
    pub startup: AnyStartup,
    /// Judge of mistakes.
    pub spurious: AnySpurious,
    /// Consequence of mistakes.
    pub undo: AnyUndo,
}

impl Stack {
    /// Checks that the parts go together.
    ///
    /// # Errors
    /// A sentence that names the parameter, what was found and what is allowed.
    pub fn validate(&self) -> Result<(), StackError> {
        self.check_numbers()?;
        self.ack.validate()?;
        match &self.detect {
            DetectSpec::DupAck(s) => s.threshold.validate()?,
            DetectSpec::Sack(s) => s.threshold.validate()?,
            DetectSpec::Delayed(_) | DetectSpec::Custom(_) => {}
        }
        self.check_sack()
    }

    fn check_numbers(&self) -> Result<(), StackError> {
        let refuse = |key, found: String, allowed: &str| Err(StackError { key, found, allowed: allowed.into() });
        if let StartupSpec::Fixed(s) = &self.startup {
            if !(1..=65535).contains(&s.initial_window_segs) {
                return refuse("startup.initial_window_segs", s.initial_window_segs.to_string(), "1 to 65535 segments");
            }
            if let Some(n) = s.ssthresh_segs.filter(|n| *n < 2) {
                return refuse("startup.ssthresh_segs", n.to_string(), "2 segments or more (RFC 5681 §3.1)");
            }
        }
        match &self.rto {
            RtoSpec::Rfc6298(r) if r.max < r.min => {
                return refuse("rto.max", r.max.to_string(), &format!("not below rto.min, which is {}", r.min));
            }
            RtoSpec::Rfc6298(r) if r.tick.0 == 0 => return refuse("rto.tick", "0".into(), "1 ns or more"),
            RtoSpec::Rfc6298(r) if r.max.0 == 0 => return refuse("rto.max", "0".into(), "more than 0"),
            RtoSpec::Rfc6298(r) if r.initial.max(r.min).0 == 0 => {
                return refuse(
                    "rto.initial",
                    "0".into(),
                    "more than 0 where rto.min is 0: else it fires at once for ever",
                );
            }
            RtoSpec::Net2Ticks(r) if r.tick.0 == 0 => return refuse("rto.tick", "0".into(), "1 ns or more"),
            RtoSpec::Net2Ticks(r) if !(1..=r.max_ticks).contains(&r.min_ticks) => {
                let allowed = format!("1 to rto.max_ticks, which is {}", r.max_ticks);
                return refuse("rto.min_ticks", r.min_ticks.to_string(), &allowed);
            }
            RtoSpec::Net2Ticks(r) if r.initial_ticks == 0 => {
                return refuse("rto.initial_ticks", "0".into(), "1 tick or more");
            }
            _ => {}
        }
        if !(1..=4).contains(&self.options.sack_blocks) {
            return refuse("options.sack_blocks", self.options.sack_blocks.to_string(), "1 to 4 (RFC 2018 §3)");
        }
        if self.limits.max_train == 0 {
            return refuse("limits.max_train", "0".into(), "1 or more");
        }
        if self.limits.maxburst_segs == Some(0) {
            return refuse("limits.maxburst_segs", "0".into(), "1 or more (leave it out for no limit)");
        }
        if self.limits.cwnd_cap_segs == Some(0) {
            return refuse("limits.cwnd_cap_segs", "0".into(), "1 or more (leave it out for no limit)");
        }
        Ok(())
    }

    /// What needs SACK, and what cannot use it.
    fn check_sack(&self) -> Result<(), StackError> {
        let refuse =
            |key, found: &str, allowed: &str| Err(StackError { key, found: found.into(), allowed: allowed.into() });
        let sack = self.options.sack;
        if self.options.dsack && !sack {
            return refuse("options.dsack", "true", "only together with options.sack = true (RFC 2883 §4)");
        }
        if self.dup_rule == DupRule::NewSackInfo && !sack {
            return refuse(
                "dup_rule",
                "\"new-sack-info\"",
                "only together with options.sack = true: else nothing is ever a duplicate",
            );
        }
        let needs = [
            (matches!(self.detect, DetectSpec::Sack(_)), "detect", "\"sack\""),
            (matches!(self.recovery, RecoverySpec::SackFf96(_)), "recovery", "\"sack-ff96\""),
            (matches!(self.recovery, RecoverySpec::Rfc6675(_)), "recovery", "\"rfc6675\""),
            (matches!(self.spurious, SpuriousSpec::Dsack(_)), "spurious", "\"dsack\""),
            (matches!(self.timeout, TimeoutSpec::Sack), "timeout", "\"sack\""),
        ];
        if let Some((_, key, found)) = needs.iter().find(|n| n.0 && !sack) {
            return refuse(key, found, "only together with options.sack = true");
        }
        let marks_in_recovery = match &self.detect {
            DetectSpec::DupAck(d) => d.judge_in_recovery,
            DetectSpec::Delayed(d) => d.judge_in_recovery,
            DetectSpec::Sack(_) | DetectSpec::Custom(_) => true,
        };
        if matches!(&self.recovery, RecoverySpec::SackFf96(r) if r.hole_rule == HoleRule::Dupthresh)
            && !marks_in_recovery
        {
            return refuse(
                "recovery.hole_rule",
                "\"dupthresh\"",
                "only with a detector that marks holes in Recovery (detect.judge_in_recovery = true): else none is resent",
            );
        }
        let go_back_n = matches!(self.timeout, TimeoutSpec::GoBackN(_));
        if matches!(self.recovery, RecoverySpec::Tahoe)
            && !(go_back_n || matches!(self.timeout, TimeoutSpec::Custom(_)))
        {
            return refuse("timeout", "\"sack\"", "\"go-back-n\": Tahoe repairs by going back, not by marks");
        }
        if matches!(self.detect, DetectSpec::Sack(_))
            && matches!(self.recovery, RecoverySpec::Reno(_) | RecoverySpec::Tahoe)
        {
            return refuse(
                "recovery",
                "one that reads no SACK marks",
                "a SACK recovery (\"sack-ff96\", \"rfc6675\") with detect = \"sack\"",
            );
        }
        Ok(())
    }

    /// What takes this stack's place when the peer does not speak SACK (decision 0015): NewReno around the parts that do
    /// not need it. A stack without SACK is left as it is.
    pub fn without_sack(&self) -> Stack {
        let mut s = self.clone();
        if !self.options.sack {
            return s;
        }
        let threshold = match &self.detect {
            DetectSpec::DupAck(d) => d.threshold.clone(),
            DetectSpec::Sack(d) => d.threshold.clone(),
            DetectSpec::Delayed(_) | DetectSpec::Custom(_) => Default::default(),
        };
        s.detect = DetectSpec::DupAck(DupAckSpec { threshold, ..Default::default() });
        s.recovery = RecoverySpec::Newreno(Default::default());
        s.timeout = TimeoutSpec::default();
        (s.spurious, s.undo) = (SpuriousSpec::Nothing, UndoSpec::Nothing);
        s.dup_rule = DupRule::Rfc5681;
        (s.options.sack, s.options.dsack) = (false, false);
        s
    }

    /// Makes the slots of one sender whose full segments carry `mss` bytes.
    pub fn build(&self, mss: u32) -> Slots {
        Slots {
            rto: self.rto.build(mss),
            congestion: self.congestion.build(mss),
            detect: self.detect.build(mss),
            disorder: self.disorder.build(mss),
            recovery: self.recovery.build(mss),
            timeout: self.timeout.build(mss),
            startup: self.startup.build(mss),
            spurious: self.spurious.build(mss),
            undo: self.undo.build(mss),
        }
    }
}
