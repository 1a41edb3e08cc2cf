//! Is it lost? A detector marks segments on the scoreboard and returns a verdict; it never sends and never cuts the window.

pub mod delayed;
pub mod dup_ack;
pub mod fack;
mod guard;
pub mod late;
mod learner;
pub mod linux_no_sack;
pub mod netstack;
pub mod oracle;
pub mod quic;
pub mod rack_tlp;
pub mod sack;
pub mod tcp_pr;
pub mod threshold;
mod timekeeper;
mod tlp;
pub mod vegas;

use crate::error::StackError;
use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::Requirement;
use crate::seq::Offset;
use crate::slot::{dispatch, Factory};
use crate::time::{Nanos, Time};
use crate::units::Bytes;
pub use guard::Guard;
pub use learner::Learner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threshold::ThresholdSpec;
pub use timekeeper::{StandIn, Timekeeper};

/// A detector's judgement after an ACK or a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is missing.
    Clear,
    /// Something is missing: Disorder.
    Suspect,
    /// These bytes are marked lost, and it is a new event: an episode begins if none is running.
    Lost(Bytes),
    /// As `Lost`, but so much is lost that the episode counts as begun by a timeout.
    Collapsed(Bytes),
    /// These bytes are marked lost, but as part of an event already known.
    More(Bytes),
    /// An event with nothing left to repair: the window is cut, but no phase begins.
    Repaired,
    /// One segment is to be sent now, regardless of the window.
    Probe,
}

impl Verdict {
    /// Bytes that this verdict newly marks lost.
    pub fn lost(self) -> Bytes {
        match self {
            Verdict::Lost(n) | Verdict::Collapsed(n) | Verdict::More(n) => n,
            Verdict::Clear | Verdict::Suspect | Verdict::Repaired | Verdict::Probe => 0,
        }
    }

    /// The cause of an episode that begins with this verdict.
    pub fn cause(self) -> Cause {
        match self {
            Verdict::Collapsed(_) => Cause::Rto,
            Verdict::Clear
            | Verdict::Suspect
            | Verdict::Lost(_)
            | Verdict::More(_)
            | Verdict::Repaired
            | Verdict::Probe => Cause::Fast,
        }
    }
}

/// The functions that every detector has. [`Timekeeper`] and [`Learner`] hold the optional parts.
pub trait Detector: Timekeeper + Learner + Send {
    /// Reads an ACK; marks on `board` the segments that it considers lost.
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict;
    /// The number of duplicates at which it now declares a loss, in segments; `None` if it does not count. Used for observers
    /// only.
    fn dupthresh(&self, _w: &Window, _cx: &Ctx) -> Option<u32> {
        None
    }
}

/// A detector's description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DetectSpec {
    /// Counting duplicate ACKs (RFC 5681 §3.2).
    DupAck(dup_ack::DupAckSpec),
    /// Counting SACKed data (RFC 6675 §4).
    Sack(sack::SackSpec),
    /// Three duplicates, then a short delay (Blanton & Allman §6.4).
    Delayed(delayed::DelayedSpec),
    /// Three duplicates, or fewer if the segment is late (Brakmo & Peterson 1995).
    Vegas(vegas::VegasSpec),
    /// Send times, and a tail loss probe (RFC 8985).
    RackTlp(rack_tlp::RackTlpSpec),
    /// How long segments have been overtaken (this project).
    Late(late::LateSpec),
    /// Counting duplicate ACKs as segments that arrived (Linux without SACK).
    LinuxNoSack(linux_no_sack::LinuxNoSackSpec),
    /// The distance to the highest SACKed byte (Mathis & Mahdavi 1996).
    Fack(fack::FackSpec),
    /// A timer for each packet, duplicates ignored (TCP-PR).
    TcpPr(tcp_pr::TcpPrSpec),
    /// The order and times of sending (RFC 9002).
    Quic(quic::QuicSpec),
    /// Three duplicates, or two full segments SACKed (gVisor's netstack without RACK).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Netstack,
    /// Which copies the path dropped: never wrong, and only in the simulator (this project).
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Oracle,
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn Detector>),
}

/// A detector at work.
pub enum AnyDetect {
    /// Counting duplicate ACKs.
    DupAck(dup_ack::DupAck),
    /// Counting SACKed data.
    Sack(sack::Sack),
    /// Three duplicates, then a short delay.
    Delayed(Box<delayed::Delayed>),
    /// Three duplicates, or fewer if the segment is late.
    Vegas(Box<vegas::Vegas>),
    /// Send times, and a tail loss probe.
    RackTlp(Box<rack_tlp::RackTlp>),
    /// How long segments have been overtaken.
    Late(Box<late::Late>),
    /// Counting duplicate ACKs as segments that arrived.
    LinuxNoSack(Box<linux_no_sack::LinuxNoSack>),
    /// The distance to the highest SACKed byte.
    Fack(fack::Fack),
    /// A timer for each packet.
    TcpPr(Box<tcp_pr::TcpPr>),
    /// The order and times of sending.
    Quic(Box<quic::Quic>),
    /// Netstack's count.
    Netstack(netstack::Netstack),
    /// Which copies the path dropped.
    Oracle(Box<oracle::Oracle>),
    /// An algorithm from outside the crate.
    Custom(Box<dyn Detector>),
}

impl DetectSpec {
    /// Checks the numbers.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        if let Some(threshold) = self.threshold() {
            threshold.validate()?;
        }
        match self {
            DetectSpec::RackTlp(s) => s.validate(),
            DetectSpec::Late(s) => s.validate(),
            DetectSpec::LinuxNoSack(s) => s.validate(),
            DetectSpec::Fack(s) => s.validate(),
            DetectSpec::TcpPr(s) => s.validate(),
            DetectSpec::Quic(s) => s.validate(),
            DetectSpec::Delayed(s) => s.validate(),
            DetectSpec::DupAck(_)
            | DetectSpec::Sack(_)
            | DetectSpec::Vegas(_)
            | DetectSpec::Netstack
            | DetectSpec::Oracle
            | DetectSpec::Custom(_) => Ok(()),
        }
    }

    /// Requirements on the rest of the stack.
    pub(crate) fn needs(&self) -> Vec<Requirement> {
        match self {
            DetectSpec::Sack(s) => s.needs(),
            DetectSpec::RackTlp(s) => s.needs(),
            DetectSpec::Late(s) => s.needs(),
            DetectSpec::LinuxNoSack(s) => s.needs(),
            DetectSpec::Fack(_) => vec![Requirement::sack("detect", "\"fack\"")],
            DetectSpec::Quic(s) => s.needs(),
            DetectSpec::Netstack => netstack::needs(),
            DetectSpec::Oracle => oracle::needs(),
            DetectSpec::DupAck(s) => s.threshold.needs(),
            DetectSpec::Delayed(_) | DetectSpec::Vegas(_) | DetectSpec::TcpPr(_) | DetectSpec::Custom(_) => vec![],
        }
    }

    /// Whether it declares each loss, not only the first of a window.
    pub(crate) fn declares_each_loss(&self) -> bool {
        match self {
            DetectSpec::DupAck(_) => false,
            DetectSpec::Sack(_)
            | DetectSpec::Delayed(_)
            | DetectSpec::Vegas(_)
            | DetectSpec::RackTlp(_)
            | DetectSpec::Late(_)
            | DetectSpec::LinuxNoSack(_)
            | DetectSpec::Fack(_)
            | DetectSpec::TcpPr(_)
            | DetectSpec::Quic(_)
            | DetectSpec::Netstack
            | DetectSpec::Oracle
            | DetectSpec::Custom(_) => true,
        }
    }

    /// Its rule for `dupthresh`, if it has one.
    pub(crate) fn threshold(&self) -> Option<&ThresholdSpec> {
        match self {
            DetectSpec::DupAck(s) => Some(&s.threshold),
            DetectSpec::Sack(s) => Some(&s.threshold),
            DetectSpec::Delayed(_)
            | DetectSpec::Vegas(_)
            | DetectSpec::RackTlp(_)
            | DetectSpec::Late(_)
            | DetectSpec::LinuxNoSack(_)
            | DetectSpec::Fack(_)
            | DetectSpec::TcpPr(_)
            | DetectSpec::Quic(_)
            | DetectSpec::Netstack
            | DetectSpec::Oracle
            | DetectSpec::Custom(_) => None,
        }
    }

    /// The same, to be replaced.
    pub fn threshold_mut(&mut self) -> Option<&mut ThresholdSpec> {
        match self {
            DetectSpec::DupAck(s) => Some(&mut s.threshold),
            DetectSpec::Sack(s) => Some(&mut s.threshold),
            DetectSpec::Delayed(_)
            | DetectSpec::Vegas(_)
            | DetectSpec::RackTlp(_)
            | DetectSpec::Late(_)
            | DetectSpec::LinuxNoSack(_)
            | DetectSpec::Fack(_)
            | DetectSpec::TcpPr(_)
            | DetectSpec::Quic(_)
            | DetectSpec::Netstack
            | DetectSpec::Oracle
            | DetectSpec::Custom(_) => None,
        }
    }

    /// Whether it also marks holes on the scoreboard in Recovery.
    pub(crate) fn judges_in_recovery(&self) -> bool {
        match self {
            DetectSpec::DupAck(s) => s.judge_in_recovery,
            DetectSpec::Delayed(s) => s.judge_in_recovery,
            DetectSpec::Vegas(_) => false,
            DetectSpec::Sack(_)
            | DetectSpec::RackTlp(_)
            | DetectSpec::Late(_)
            | DetectSpec::LinuxNoSack(_)
            | DetectSpec::Fack(_)
            | DetectSpec::TcpPr(_)
            | DetectSpec::Quic(_)
            | DetectSpec::Netstack
            | DetectSpec::Oracle
            | DetectSpec::Custom(_) => true,
        }
    }

    /// The detector to use instead, under Linux's rules, if the connection has no SACK; `None` if this detector does not follow
    /// them.
    pub(crate) fn without_sack(&self) -> Option<DetectSpec> {
        match self {
            DetectSpec::RackTlp(s) if s.rules == rack_tlp::Rules::Linux => {
                let (dupthresh, max_reordering) = (s.dupthresh, s.max_reordering);
                Some(DetectSpec::LinuxNoSack(linux_no_sack::LinuxNoSackSpec { dupthresh, max_reordering }))
            }
            DetectSpec::LinuxNoSack(_) => Some(self.clone()),
            DetectSpec::DupAck(_)
            | DetectSpec::Sack(_)
            | DetectSpec::Delayed(_)
            | DetectSpec::Vegas(_)
            | DetectSpec::RackTlp(_)
            | DetectSpec::Late(_)
            | DetectSpec::Fack(_)
            | DetectSpec::TcpPr(_)
            | DetectSpec::Quic(_)
            | DetectSpec::Netstack
            | DetectSpec::Oracle
            | DetectSpec::Custom(_) => None,
        }
    }

    /// The detector at work, for segments of `mss` bytes.
    pub fn build(&self, mss: u32) -> AnyDetect {
        match self {
            DetectSpec::DupAck(s) => AnyDetect::DupAck(dup_ack::DupAck::new(s, mss)),
            DetectSpec::Sack(s) => AnyDetect::Sack(sack::Sack::new(s, mss)),
            DetectSpec::Delayed(s) => AnyDetect::Delayed(Box::new(delayed::Delayed::new(s))),
            DetectSpec::Vegas(s) => AnyDetect::Vegas(Box::new(vegas::Vegas::new(s, mss))),
            DetectSpec::RackTlp(s) => AnyDetect::RackTlp(Box::new(rack_tlp::RackTlp::new(s))),
            DetectSpec::Late(s) => AnyDetect::Late(Box::new(late::Late::new(s))),
            DetectSpec::LinuxNoSack(s) => AnyDetect::LinuxNoSack(Box::new(linux_no_sack::LinuxNoSack::new(s))),
            DetectSpec::Fack(s) => AnyDetect::Fack(fack::Fack::new(s)),
            DetectSpec::TcpPr(s) => AnyDetect::TcpPr(Box::new(tcp_pr::TcpPr::new(s))),
            DetectSpec::Quic(s) => AnyDetect::Quic(Box::new(quic::Quic::new(s))),
            DetectSpec::Netstack => AnyDetect::Netstack(netstack::Netstack::default()),
            DetectSpec::Oracle => AnyDetect::Oracle(Box::default()),
            DetectSpec::Custom(f) => AnyDetect::Custom((f.make)(mss)),
        }
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyDetect: DupAck | Sack | Delayed | Vegas | RackTlp | Late | LinuxNoSack | Fack | TcpPr | Quic | Netstack | Oracle | Custom, $x => $call) };
}

impl Detector for AnyDetect {
    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        each!(self, x => x.on_ack(ack, w, board, cx))
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        each!(self, x => x.dupthresh(w, cx))
    }
}

impl Timekeeper for AnyDetect {
    fn keeps_time(&self) -> bool {
        each!(self, x => x.keeps_time())
    }
    #[inline(never)]
    fn deadline(&self) -> Option<Time> {
        each!(self, x => x.deadline())
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        each!(self, x => x.on_timer(w, board, cx))
    }
    fn watches_sends(&self) -> bool {
        each!(self, x => x.watches_sends())
    }
    fn hears_drops(&self) -> bool {
        each!(self, x => x.hears_drops())
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        each!(self, d => d.on_sent(x, sent, cx));
    }
    fn hold_until(&self) -> Option<Time> {
        each!(self, x => x.hold_until())
    }
    fn owns_rto(&self) -> bool {
        each!(self, x => x.owns_rto())
    }
    fn stands_in_for_rto(&self) -> StandIn {
        each!(self, x => x.stands_in_for_rto())
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        each!(self, x => x.after_rto(board, cx))
    }
}

impl Learner for AnyDetect {
    fn on_handshake(&mut self, rtt: Nanos, now: Time) {
        each!(self, x => x.on_handshake(rtt, now));
    }
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_reorder(sample, w, cx));
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_needless(w, cx));
    }
    fn on_late_original(&mut self, from: Offset, waits: bool, board: &Scoreboard, cx: &Ctx) {
        each!(self, x => x.on_late_original(from, waits, board, cx));
    }
    fn on_recovered(&mut self, cx: &Ctx) {
        each!(self, x => x.on_recovered(cx));
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_cut(w, cx));
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_stall(idle, w, cx));
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        each!(self, x => x.on_rto(dup_run, w, cx));
    }
    fn on_excess(&mut self, segments: u32) {
        each!(self, x => x.on_excess(segments));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::context;

    #[test]
    fn a_guard_forbids_at_recover_or_below_it_as_its_source_says() {
        let admits = |g: Guard, una, timed_out| {
            g.admits(&Ctx { snd_una: Offset(una), recover: Some(Offset(5001)), timed_out, ..context() })
        };
        // Below recover, at it and above it, after a fast recovery and after a timeout.
        let all = |g| [4001, 5001, 6001].map(|una| (admits(g, una, false), admits(g, una, true)));
        assert_eq!(all(Guard::Careful), [(false, false), (false, false), (true, true)]);
        assert_eq!(all(Guard::LessCareful), [(false, false), (true, true), (true, true)]);
        assert_eq!(all(Guard::AfterTimeout), [(true, false), (true, false), (true, true)]);
        assert_eq!(all(Guard::Off), [(true, true); 3]);
        for g in [Guard::Careful, Guard::LessCareful, Guard::AfterTimeout, Guard::Off] {
            assert!(g.admits(&context()), "before the first episode no guard forbids: {g:?}");
        }
    }
}
