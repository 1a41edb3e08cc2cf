//! gVisor's netstack, which is also the TCP of Tailscale's userspace networking and of many proxies written in Go.
//!
//! Source: module gvisor.dev/gvisor v0.0.0-20260224225140-573d5e7127a8 (used by Tailscale 1.102.2), `pkg/tcpip/transport/tcp`:
//! `snd.go`, `rack.go`, `reno.go`, `sack_recovery.go`, `sack_scoreboard.go`, `endpoint.go`, `protocol.go`.
//!
//! As published: Reno, initial window 10, SACK, timestamps, RACK-TLP (option `TCPRACKLossDetection`), a timeout between 200 ms
//! and 120 s, go back N after it, Eifel detection without a response, an ACK for each segment, no DSACKs sent. Where it follows
//! an RFC, the parts are the RFC's; where its arithmetic is its own, they are called `netstack`. Known departures, from reading
//! its source:
//!
//! - With RACK, netstack has one timer for probe and timeout; here there are two.
//! - When several blocks are new in an ACK, RACK considers only the highest; the others when they are acknowledged.
//! - RACK's reordering timer is not changed while it runs.
//! - After a timeout with RACK, the marks decide what is sent, under the pipe, not a pointer that goes back.
//! - Netstack's CUBIC is not implemented.

use super::rfc_6675;
use crate::congestion::CongestionSpec;
use crate::detect::rack_tlp::RackTlpSpec;
use crate::detect::DetectSpec;
use crate::disorder::DisorderSpec;
use crate::facts::ack::DupRule;
use crate::recovery::netstack::NetstackSpec;
use crate::recovery::RecoverySpec;
use crate::rto::rfc6298::Rfc6298Spec;
use crate::rto::RtoSpec;
use crate::spurious::netstack::NetstackSpec as JudgeSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Options, Stack};
use crate::startup::fixed::{FixedSpec, INFINITE_SSTHRESH};
use crate::startup::StartupSpec;
use crate::time::Nanos;
use crate::timeout::sack::{Mark, SackSpec};
use crate::timeout::TimeoutSpec;

/// With RACK, as published.
pub(super) fn gvisor(name: &str) -> Stack {
    // The smallest RTT is that of the whole connection.
    let rack = RackTlpSpec { min_rtt_window: Nanos::from_secs(1_000_000), ..Default::default() };
    Stack {
        detect: DetectSpec::RackTlp(rack),
        recovery: RecoverySpec::Netstack(NetstackSpec { marks: true }),
        timeout: TimeoutSpec::Sack(SackSpec { mark: Mark::All, clear_sacks: true }),
        spurious: SpuriousSpec::Netstack(JudgeSpec::default()),
        ..gvisor_no_rack(name)
    }
}

/// With RACK off (`TCPRecovery(0)`), as Tailscale sets it.
pub(super) fn gvisor_no_rack(name: &str) -> Stack {
    Stack {
        rto: RtoSpec::Rfc6298(Rfc6298Spec {
            min: Nanos::from_millis(200),
            max: Nanos::from_secs(120),
            timestamps: true,
            divide_gains: true,
            ..Default::default()
        }),
        detect: DetectSpec::Netstack,
        disorder: DisorderSpec::Nothing,
        recovery: RecoverySpec::Netstack(NetstackSpec::default()),
        timeout: TimeoutSpec::default(),
        congestion: CongestionSpec::NetstackReno,
        startup: StartupSpec::Fixed(FixedSpec { initial_window_segs: 10, ssthresh_segs: Some(INFINITE_SSTHRESH) }),
        spurious: SpuriousSpec::Netstack(JudgeSpec { dsack: false }),
        dup_rule: DupRule::Netstack,
        options: Options { sack: true, timestamps: true, sack_blocks: 3, ..Options::default() },
        ..rfc_6675(name)
    }
}
