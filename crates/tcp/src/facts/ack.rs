//! The facts of one ACK, without judgement; and which ACKs count as duplicates.

use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of one acceptable ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckEvent {
    /// Its cumulative acknowledgment.
    pub ack: Offset,
    /// `snd_una` before this ACK.
    pub prior_una: Offset,
    /// Bytes that it newly reports by SACK.
    pub sacked: Bytes,
    /// Bytes that it newly reports, cumulatively or by SACK. Bytes SACKed earlier and acknowledged now are not new.
    pub delivered: Bytes,
    /// Duplicates in a row, this one included; on an advancing ACK, the length of the run that has just ended (the papers' D).
    pub dup_run: u32,
    /// Whether it counts as a duplicate by the stack's rule.
    pub is_dup: bool,
    /// Whether it carries SACK blocks (a DSACK alone does not count).
    pub has_sack: bool,
    /// Whether it echoes a congestion mark and the connection uses ECN (RFC 3168 §6.1).
    pub ece: bool,
    /// Whether any segment that it delivered had been sent more than once.
    pub covers_retransmit: bool,
    /// The DSACK block, split off before SACK blocks are applied (RFC 2883 §4).
    pub dsack: Option<(Offset, Offset)>,
    /// Time since the newest delivered segment was sent, if that was sent once (Karn).
    pub rtt: Option<Nanos>,
    /// The echoed timestamp, if the option is in use.
    pub tsecr: Option<u32>,
    /// The most recently sent of the segments that it delivered.
    pub newest: Option<Newest>,
}

impl AckEvent {
    /// Bytes newly acknowledged cumulatively.
    #[inline]
    pub fn acked(&self) -> Bytes {
        self.ack - self.prior_una
    }

    /// Whether the cumulative point moved.
    #[inline]
    pub fn advances(&self) -> bool {
        self.ack > self.prior_una
    }
}

/// The most recently sent of the segments that an ACK delivered (RFC 8985 §6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// When it was last sent.
    pub at: Time,
    /// Its end.
    pub end: Offset,
    /// Whether it was sent more than once.
    pub retransmitted: bool,
}

/// Which ACKs count as duplicates. The sources differ and results depend on the rule, so it is a field of the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DupRule {
    /// RFC 5681 §2: data outstanding, no data in it, same ACK number, same window.
    #[default]
    Rfc5681,
    /// RFC 6675 §2 and Blanton & Allman's Appendix A: it must carry new SACK information.
    NewSackInfo,
    /// ns-2: same ACK number, no other condition.
    Ns2,
    /// Linux without SACK: no data in it, no larger window. Each counts as a segment that arrived (`tcp_add_reno_sack`).
    EmulatedSack,
    /// gVisor's netstack (`isDupAck`): new SACK information, and all conditions of RFC 5681.
    Netstack,
}
