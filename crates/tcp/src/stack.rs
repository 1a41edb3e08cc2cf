//! A stack is a description with one entry per slot, readable from TOML, checked by `validate`, and turned into slots by `build`.

mod check;
pub mod profiles;

use crate::ack::AckSpec;
use crate::congestion::{AnyCongestion, CongestionSpec};
use crate::detect::dup_ack::DupAckSpec;
use crate::detect::threshold::ThresholdSpec;
use crate::detect::{AnyDetect, DetectSpec};
use crate::disorder::{AnyDisorder, DisorderSpec};
use crate::facts::ack::DupRule;
use crate::idle::IdleRule;
use crate::pacing::PacingRule;
use crate::receive_window::ReceiveWindowSpec;
use crate::recovery::{AnyRecovery, RecoverySpec};
use crate::rto::{AnyRto, RtoSpec};
use crate::spurious::{AnySpurious, SpuriousSpec};
use crate::startup::{AnyStartup, StartupSpec};
use crate::timeout::{AnyTimeout, TimeoutSpec};
use crate::undo::{AnyUndo, UndoSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One answer to each question: a TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Its name in results.
    pub name: String,
    /// How long is too long? The retransmission timer.
    #[serde(default)]
    pub rto: RtoSpec,
    /// Is it lost? When a fast retransmit begins.
    pub detect: DetectSpec,
    /// And while we are not sure? What may be sent on duplicates before a loss is declared.
    #[serde(default)]
    pub disorder: DisorderSpec,
    /// What may be sent to repair? Fast recovery.
    pub recovery: RecoverySpec,
    /// And after a timeout? How losses are repaired.
    #[serde(default)]
    pub timeout: TimeoutSpec,
    /// How big may the window be? Growth and reduction.
    #[serde(default)]
    pub congestion: CongestionSpec,
    /// Where does slow start begin and end?
    #[serde(default)]
    pub startup: StartupSpec,
    /// Was it a mistake? Detects needless retransmissions.
    #[serde(default)]
    pub spurious: SpuriousSpec,
    /// And then? The state that is restored after a mistake.
    #[serde(default)]
    pub undo: UndoSpec,
    /// When does this stack's receiver answer? A flow's `receiver` takes precedence.
    #[serde(default = "every")]
    pub ack: AckSpec,
    /// How large may the receive buffer become? A flow's `window` is the maximum; the buffer needs `handshake = true` to grow.
    #[serde(default)]
    pub receive_window: ReceiveWindowSpec,
    /// Which ACKs count as duplicates.
    #[serde(default)]
    pub dup_rule: DupRule,
    /// The effect of a pause on the window.
    #[serde(default, skip_serializing_if = "IdleRule::is_keep")]
    pub idle: IdleRule,
    /// Whether and how sends are paced.
    #[serde(default, skip_serializing_if = "PacingRule::is_off")]
    pub pacing: PacingRule,
    /// TCP options that it offers.
    #[serde(default)]
    pub options: Options,
    /// Limits that are not part of an algorithm.
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
    /// Selective acknowledgments (RFC 2018). Default: no.
    pub sack: bool,
    /// Whether its receiver reports duplicates by DSACK (RFC 2883). Default: no.
    pub dsack: bool,
    /// Largest number of SACK blocks in an ACK of its receiver, 1 to 4. Default: 4 (RFC 2018 §3; 3 with timestamps; ns-2: 3).
    #[schemars(range(min = 1, max = 4))]
    pub sack_blocks: u8,
    /// Whether its sender reads the SACK blocks of a late ACK (below `snd_una`), as Linux does (`tcp_ack`). Default: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late_sack: bool,
    /// Timestamps (RFC 7323). Default: no.
    pub timestamps: bool,
    /// Window scaling (RFC 7323). Default: yes.
    pub window_scale: bool,
    /// The window scale to offer, if it is larger than the buffer requires; only together with `window_scale`. Default: the
    /// scale that the buffer requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 14))]
    pub rcv_wscale: Option<u8>,
    /// Explicit congestion notification (RFC 3168). Default: no.
    pub ecn: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            sack: false,
            dsack: false,
            sack_blocks: 4,
            late_sack: false,
            timestamps: false,
            window_scale: true,
            rcv_wscale: None,
            ecn: false,
        }
    }
}

/// Limits that are not part of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Most segments that one ACK or timer may release (Fall & Floyd 1996 §5). Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub maxburst_segs: Option<u32>,
    /// Most segments that may be outstanding. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cwnd_cap_segs: Option<u32>,
    /// Most equal new segments that one `poll_transmit` may return. Default: 1.
    #[schemars(range(min = 1))]
    pub max_train: u16,
    /// Whether a small segment waits until more of the window is open (RFC 1122 §4.2.3.4). Default: yes. No segment waits for
    /// more data.
    pub avoid_silly_window: bool,
    /// When the receive window's right edge moves while the buffer is not empty. Default: `segment`.
    pub window_edge: WindowEdge,
    /// Most repetitions of its SYN with which a connection begins with its initial window; with more, the window is one segment.
    /// Default: 0 (RFC 5681 §3.1). Linux: 1.
    pub syn_repeats: u32,
}

/// When the right edge of the receive window moves while the application has not read everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WindowEdge {
    /// By a whole segment or half the buffer (RFC 9293 §3.8.6.2.2).
    #[default]
    Segment,
    /// To exactly the free space, unless that is less than a segment and less than a quarter of the buffer (FreeBSD,
    /// `tcp_output`; Linux is exact if windows are scaled).
    Exact,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            maxburst_segs: None,
            cwnd_cap_segs: None,
            max_train: 1,
            avoid_silly_window: true,
            window_edge: WindowEdge::Segment,
            syn_repeats: 0,
        }
    }
}

/// The slots of one sender: one enum each, with state inline. Slots that every ACK touches come first.
#[repr(C)]
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
    /// Start of the connection.
    pub startup: AnyStartup,
    /// Judge of mistakes.
    pub spurious: AnySpurious,
    /// Consequence of mistakes.
    pub undo: AnyUndo,
}

impl Stack {
    /// Returns the stack to use instead when the peer does not support SACK, or the option is off (decision 0015).
    /// Linux's rules continue with duplicates as their input; any other stack becomes NewReno around the parts that do not need
    /// SACK. A stack none of whose parts need SACK stays as it is.
    pub fn without_sack(&self) -> Stack {
        let mut s = self.clone();
        (s.options.sack, s.options.dsack) = (false, false);
        if !self.options.sack && s.validate().is_ok() {
            return s;
        }
        let linux = (self.detect.without_sack(), self.recovery.without_sack(), self.timeout.without_sack());
        if let ((Some(detect), Some(recovery), Some(timeout)), false) = (linux, self.congestion.sets_window()) {
            let (spurious, dup_rule) = (self.spurious.without_sack(), DupRule::EmulatedSack);
            s = Stack { detect, recovery, timeout, spurious, dup_rule, ..s };
        } else {
            s.become_newreno(self.detect.threshold());
        }
        if s.disorder.needs().iter().any(|r| !s.offers(r.need)) {
            s.disorder = DisorderSpec::LimitedTransmit;
        }
        s
    }

    /// NewReno without SACK, with this threshold if it needs no SACK either.
    fn become_newreno(&mut self, threshold: Option<&ThresholdSpec>) {
        self.recovery = RecoverySpec::Newreno(Default::default());
        self.timeout = TimeoutSpec::default();
        if self.congestion.sets_window() {
            self.congestion = CongestionSpec::LinuxReno;
        }
        (self.spurious, self.undo) = (SpuriousSpec::Nothing, UndoSpec::Nothing);
        self.dup_rule = DupRule::Rfc5681;
        let fits =
            |t: &&ThresholdSpec| !matches!(t, ThresholdSpec::Ncr(_)) && t.needs().iter().all(|r| self.offers(r.need));
        let threshold = threshold.filter(fits).cloned().unwrap_or_default();
        self.detect = DetectSpec::DupAck(DupAckSpec { threshold, ..Default::default() });
    }

    /// Builds the slots of one sender whose full segments carry `mss` bytes.
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
