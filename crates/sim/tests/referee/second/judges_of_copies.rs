//! The judges of mistakes that list what was resent, worked out once more.

use super::judges::{measured, remembered};
use super::{board, end_of, is_older, ms};
use ackclock_tcp::event::Cause;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Ledger, Mistake};
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::spurious::dsack::DsackSpec;
use ackclock_tcp::spurious::Spurious;
use ackclock_tcp::time::{Nanos, Time};

/// A segment resent (Blanton & Allman 2002 §5).
struct Resent {
    start: u64,
    end: u64,
    episode: u32,
    reported: bool,
    /// When its two copies were sent, and the first to arrive was acknowledged; none with more copies.
    copies: Option<(u64, u64)>,
    acked: Option<u64>,
}

/// RFC 3708 §3, Blanton & Allman 2002 §5.
pub(super) struct Dsack {
    spec: DsackSpec,
    resent: Vec<Resent>,
    duplicates: bool,
    needless: bool,
    rtt: Option<Nanos>,
}

impl Dsack {
    pub(super) fn new(spec: &DsackSpec) -> Dsack {
        Dsack { spec: spec.clone(), resent: vec![], duplicates: false, needless: false, rtt: None }
    }

    fn judges(&self, cause: Cause) -> bool {
        self.spec.judge_timeouts || cause == Cause::Fast
    }

    fn verdict(&self, ep: &mut Episode, newest: bool, cx: &Ctx) -> Option<Mistake> {
        let all = ep.retransmits > 0 && ep.proven_spurious >= ep.retransmits;
        if ep.void || !all || !self.judges(ep.cause) {
            return None;
        }
        let rtt = cx.srtt.unwrap_or(cx.rto).0;
        let patience = rtt.saturating_mul(u64::from(self.spec.pending_srtts));
        let late = ep.ended.is_some_and(|at| cx.now.0 - at.0 > patience);
        if late || self.duplicates || !newest {
            ep.void = true;
        }
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: remembered(ep) })
    }
}

impl Spurious for Dsack {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) {
        let newest = ledger.count();
        self.resent.retain(|r| r.episode + 3 >= newest);
    }
    fn answers_late_original(&self, _: &AckEvent) -> bool {
        false
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, _: &Ctx) {
        if seg.sends > 2 {
            ep.void = true;
        }
        if self.resent.len() == 512 {
            ep.void = true;
            return;
        }
        let copies = if seg.sends == 2 { Some((before.0, seg.at.0)) } else { None };
        let (start, end, episode) = (seg.start.0, end_of(seg), ep.id);
        self.resent.push(Resent { start, end, episode, reported: false, copies, acked: None });
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        if self.spec.sample_resent {
            for s in board::newly(board).filter(|s| s.sends > 1) {
                let newest = self.resent.iter_mut().filter(|r| r.end == end_of(s)).last();
                if let Some(r) = newest.filter(|r| r.acked.is_none()) {
                    r.acked = Some(cx.now.0);
                }
            }
        }
        let (left, right) = ack.dsack?;
        let inside = |r: &&mut Resent| left.0 <= r.start && r.end <= right.0;
        // RR-TCP: the mean of both round-trip times, of the newest entry that has not been reported yet.
        let mut rtt = None;
        if let Some(r) = self.resent.iter_mut().filter(inside).filter(|r| !r.reported).last()
            && let (Some((first, second)), Some(acked), true) = (r.copies, r.acked, self.spec.sample_resent)
        {
            rtt = Some(Nanos((acked.saturating_sub(first) + cx.now.0.saturating_sub(second)) / 2));
        }
        self.rtt = rtt;
        let Some(r) = self.resent.iter_mut().filter(inside).last() else {
            self.duplicates |= self.spec.stop_on_network_duplicate;
            return None;
        };
        if std::mem::replace(&mut r.reported, true) {
            return None;
        }
        let (twice, id) = (r.copies.is_some(), r.episode);
        let cause = ledger.get(id)?.cause;
        self.needless = twice && self.judges(cause);
        let newest = ledger.count() == id;
        let running = ledger.open().is_some_and(|ep| ep.id == id);
        let ep = ledger.get(id)?;
        ep.proven_spurious += 1;
        // RFC 3708 (A.1): the scoreboard was empty before this ACK.
        let empty = board::bytes(board, board::sacked) == ack.sacked
            && ack.delivered == ack.ack.0 - ack.prior_una.0 + ack.sacked;
        if self.spec.stop_on_lost_acks && empty && left.0 == ack.prior_una.0 {
            ep.void = true;
        }
        if running {
            None
        } else {
            self.verdict(ep, newest, cx)
        }
    }
    fn rtt(&mut self, _: &Ctx) -> Option<Nanos> {
        self.rtt.take()
    }
    fn needless(&mut self) -> bool {
        std::mem::replace(&mut self.needless, false)
    }
    fn on_episode_end(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.verdict(ep, true, cx)
    }
}

/// A copy that was declared lost (MsQuic's LostPackets).
struct Copy {
    end: u64,
    sent: u64,
    resent: u64,
    episode: u32,
}

/// MsQuic: data declared lost is acknowledged after all.
#[derive(Default)]
pub(super) struct LateAck {
    lost: Vec<Copy>,
    watch: Option<(u32, u64)>,
}

impl LateAck {
    /// Copies of more than two timeouts ago have not arrived.
    fn give_up(&mut self, cx: &Ctx) {
        let old = |c: &Copy| cx.now.0 - c.sent > 2 * cx.rto.0;
        if self.lost.iter().any(|c| old(c) && self.watch.is_some_and(|w| w.0 == c.episode)) {
            self.watch = None;
        }
        self.lost.retain(|c| !old(c));
    }

    fn too_soon(sent: u64, cx: &Ctx) -> bool {
        cx.min_rtt.is_some_and(|rtt| cx.now.0 - sent < rtt.0)
    }
}

impl Spurious for LateAck {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) {
        self.give_up(cx);
        self.watch = Some((ledger.count(), cx.now.0));
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, cx: &Ctx) {
        self.give_up(cx);
        if self.lost.len() >= 512 {
            self.watch = None;
        } else {
            let (end, sent, resent) = (end_of(seg), before.0, seg.at.0);
            self.lost.push(Copy { end, sent, resent, episode: ep.id });
        }
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        // It forgets only while it watches.
        self.watch.is_none()
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        self.watch?;
        self.give_up(cx);
        let (id, began) = self.watch?;
        for s in board::newly(board).filter(|s| s.sends > 1) {
            let echoes = s.start.0 == ack.prior_una.0 && ack.tsecr.is_some_and(|echo| is_older(echo, ms(s.at)));
            if echoes || LateAck::too_soon(s.at.0, cx) {
                let of = |c: &Copy| c.end == end_of(s) && c.resent == s.at.0;
                if let Some(i) = (0..self.lost.len()).rev().find(|i| of(&self.lost[*i])) {
                    self.lost.remove(i);
                }
            }
        }
        if board::bytes(board, board::lost) > 0 || !self.lost.is_empty() {
            // The period ends when data sent after the cut arrives.
            if let Some(n) = ack.newest.filter(|n| n.at.0 >= began)
                && (!n.retransmitted || !LateAck::too_soon(n.at.0, cx))
            {
                self.watch = None;
            }
            return None;
        }
        self.watch = None;
        let ep = ledger.get(id)?;
        if ep.void || ep.cause == Cause::Ecn {
            return None;
        }
        ep.proven_spurious = ep.retransmits;
        ep.recover = ack.prior_una;
        Some(Mistake { episode: id, cause: ep.cause, sample: Some(measured(ep, ack.dup_run, cx.now)) })
    }
}
