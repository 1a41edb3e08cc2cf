//! Finding needless retransmissions by DSACK.
//!
//! Source: Blanton & Allman 2002 §3, §5; RFC 3708 §3 (its tests as switches); RFC 2883 §4.
//!
//! Idea: remember the segments that an episode resent. Once each of them has been reported as a duplicate, nothing was lost and
//! the episode was a mistake. The needless retransmission travels behind the whole window, so its DSACK often arrives after the
//! ACK that ends recovery: the verdict stays pending (decision 0004).
//!
//! | source | here |
//! | --- | --- |
//! | rexmit set | `list`, at most 512 segments |
//! | "loss" recovery event completed | the phase of the episode ended, and every segment has its verdict |
//! | RFC 3708 (A.1), (A.3), (A.4) | `stop_on_lost_acks`, always, `stop_on_network_duplicate` |
//!
//! `sample_resent` is RR-TCP's enhanced sampling (Zhang, Karp, Floyd & Peterson 2003; decision 0059): a segment is sent twice, at
//! s1 and s2, and acknowledged twice, by an ACK at a1 and a DSACK at a2. Whichever belongs to which, the mean RTT is ((a1 + a2) −
//! (s1 + s2)) / 2.
//!
//! Departures: none. Unsaid: how late a verdict may still be given. Here: up to `pending_srtts` round trips after the full ACK,
//! or until a newer episode begins; later the sample is still taken, but nothing is undone.

use super::Spurious;
use crate::event::Cause;
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Ledger, Mistake};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most retransmissions remembered.
const CAPACITY: usize = 512;

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DsackSpec {
    /// Smoothed RTTs after the end of an episode within which a verdict still undoes it. Default: 2; with 0, only the ACK that
    /// ends the episode can. Before the first sample the RTO replaces the RTT.
    pub pending_srtts: u32,
    /// RFC 3708 (A.1): a DSACK at `snd_una` with an empty scoreboard indicates a lost window of ACKs; no undo. Default: no.
    pub stop_on_lost_acks: bool,
    /// RFC 3708 (A.4): a duplicate of a segment never resent means that the network duplicates; no undo from then on. Default: no
    /// (Blanton & Allman only require that the segment was resent).
    pub stop_on_network_duplicate: bool,
    /// Whether episodes that a timeout began are also judged. Default: no.
    pub judge_timeouts: bool,
    /// Whether a needlessly resent segment gives the timer the mean of its two RTTs as a sample. Default: no.
    pub sample_resent: bool,
}

impl Default for DsackSpec {
    fn default() -> Self {
        DsackSpec {
            pending_srtts: 2,
            stop_on_lost_acks: false,
            stop_on_network_duplicate: false,
            judge_timeouts: false,
            sample_resent: false,
        }
    }
}

/// A resent segment.
#[derive(Clone, Copy)]
struct Resent {
    start: Offset,
    end: Offset,
    episode: u32,
    proven: bool,
    /// When the first and the second copy were sent; `None` from the third on.
    sent: Option<(Time, Time)>,
    /// When it was delivered, by the first copy to arrive.
    answered: Option<Time>,
}

/// The judge at work. Its list is empty, and costs nothing, until something is resent.
pub struct Dsack {
    spec: DsackSpec,
    list: Vec<Resent>,
    stopped: bool,
    /// The last DSACK reported a needless fast retransmission.
    needless: bool,
    /// An RTT sample for the timer.
    rtt: Option<Nanos>,
}

impl Dsack {
    pub(super) fn new(spec: &DsackSpec) -> Self {
        Dsack { spec: spec.clone(), list: Vec::new(), stopped: false, needless: false, rtt: None }
    }

    /// Records when resent segments are delivered.
    fn note_answers(&mut self, board: &Scoreboard, cx: &Ctx) {
        for s in board.newly().filter(|s| s.sends > 1) {
            if let Some(r) = self.list.iter_mut().rev().find(|r| r.end == s.end()) {
                r.answered.get_or_insert(cx.now);
            }
        }
    }

    /// The mean of both RTTs of the segment that a DSACK reports.
    fn sample(&self, (left, right): (Offset, Offset), cx: &Ctx) -> Option<Nanos> {
        let r = self.list.iter().rev().find(|r| left <= r.start && r.end <= right && !r.proven)?;
        let ((first, second), answered) = (r.sent?, r.answered?);
        Some(Nanos((answered.since(first).0 + cx.now.since(second).0) / 2))
    }

    /// Marks the segment that the DSACK reports; returns its episode, if this is news.
    fn prove(&mut self, (left, right): (Offset, Offset), ledger: &mut Ledger) -> Option<u32> {
        let hit = self.list.iter_mut().rev().find(|r| left <= r.start && r.end <= right);
        let Some(r) = hit else {
            self.stopped |= self.spec.stop_on_network_duplicate;
            return None;
        };
        if std::mem::replace(&mut r.proven, true) {
            return None;
        }
        let twice = r.sent.is_some();
        let ep = ledger.get(r.episode)?;
        // With three copies it is unknown which one was needless.
        self.needless = twice && (ep.cause == Cause::Fast || self.spec.judge_timeouts);
        ep.proven_spurious += 1;
        Some(ep.id)
    }

    /// The verdict on an episode, if everything it resent is proven needless.
    fn judge(&self, ep: &mut Episode, newest: bool, cx: &Ctx) -> Option<Mistake> {
        let judged = ep.cause == Cause::Fast || self.spec.judge_timeouts;
        if ep.void || !judged || ep.retransmits == 0 || ep.proven_spurious < ep.retransmits {
            return None;
        }
        // Before the first sample the RTO replaces the RTT: it is the sender's guess of the longest one.
        let grace = cx.srtt.unwrap_or(cx.rto).times(u64::from(self.spec.pending_srtts));
        let late = ep.ended.is_some_and(|at| cx.now.since(at) > grace);
        // Too late for an undo, but its reordering sample still counts.
        ep.void |= late || !newest || self.stopped;
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: ep.sample() })
    }
}

impl Spurious for Dsack {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) {
        let oldest = ledger.count().saturating_sub(3);
        self.list.retain(|r| r.episode >= oldest);
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, _: &Ctx) {
        // RFC 3708 (A.3): if a segment was resent more than once, in any episode or none, a duplicate proves nothing.
        ep.void |= seg.sends > 2 || self.list.len() >= CAPACITY;
        if self.list.len() < CAPACITY {
            // A third copy: it is unknown which copy an answer is for.
            let sent = (seg.sends == 2).then_some((before, seg.at));
            let resent =
                Resent { start: seg.start, end: seg.end(), episode: ep.id, proven: false, sent, answered: None };
            self.list.push(resent);
        }
    }
    fn passes_over(&self, ack: &AckEvent, _: &Ctx) -> bool {
        ack.dsack.is_none() && !ack.covers_retransmit
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        if ack.covers_retransmit && self.spec.sample_resent {
            self.note_answers(board, cx);
        }
        let block = ack.dsack?;
        self.rtt = self.spec.sample_resent.then(|| self.sample(block, cx)).flatten();
        let id = self.prove(block, ledger)?;
        let newest = ledger.count() == id;
        let running = ledger.open().is_some_and(|ep| ep.id == id);
        let ep = ledger.get(id)?;
        // RFC 3708 (A.1) refers to SND.UNA and the scoreboard as they were before this ACK.
        let board_was_empty = board.sacked() == ack.sacked && ack.delivered == ack.acked() + ack.sacked;
        ep.void |= self.spec.stop_on_lost_acks && board_was_empty && block.0 == ack.prior_una;
        // Too early: before the end of the episode another retransmission may follow.
        if running {
            return None;
        }
        self.judge(ep, newest, cx)
    }
    fn on_episode_end(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.judge(ep, true, cx)
    }
    fn needless(&mut self) -> bool {
        std::mem::take(&mut self.needless)
    }
    fn rtt(&mut self, _: &Ctx) -> Option<Nanos> {
        self.rtt.take()
    }
}
