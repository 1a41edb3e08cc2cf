//! The judges of mistakes, worked out once more.

use super::{advances, board, is_older, ms};
use ackclock_tcp::event::{Cause, Phase};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Ledger, Mistake};
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::spurious::eifel::EifelSpec;
use ackclock_tcp::spurious::linux::LinuxSpec;
use ackclock_tcp::spurious::netstack::NetstackSpec;
use ackclock_tcp::spurious::rtt_min::RttMinSpec;
use ackclock_tcp::spurious::Spurious;
use ackclock_tcp::time::{Nanos, Time};

/// What an episode that has just proven needless says about reordering.
pub(super) fn measured(ep: &Episode, dupacks: u32, filled: Time) -> ReorderSample {
    ReorderSample {
        dupacks,
        first_dup: ep.first_dup,
        last_dup: ep.last_dup,
        filled,
        resent: Some(ep.began),
        segments: ep.retransmits,
    }
}

/// The same for an episode whose hole has been filled.
pub(super) fn remembered(ep: &Episode) -> Option<ReorderSample> {
    Some(measured(ep, ep.dupacks_to_fill, ep.filled?))
}

/// Whether the episode before this one has not ended.
fn continues(ledger: &mut Ledger, id: u32) -> bool {
    id >= 2 && ledger.get(id - 1).is_some_and(|before| before.ended.is_none())
}

/// No judge.
pub(super) struct Nobody;

impl Spurious for Nobody {
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        true
    }
    fn on_ack(&mut self, _: &AckEvent, _: &mut Ledger, _: &Scoreboard, _: &Ctx) -> Option<Mistake> {
        None
    }
}

/// RFC 3522 §3.2.
pub(super) struct Eifel {
    spec: EifelSpec,
    /// The episode whose first retransmission is awaited, then its timestamp.
    awaited: Option<u32>,
    retransmit_ts: Option<(u32, u32)>,
    dsacks: u32,
}

impl Eifel {
    pub(super) fn new(spec: &EifelSpec) -> Eifel {
        Eifel { spec: spec.clone(), awaited: None, retransmit_ts: None, dsacks: 0 }
    }
}

impl Spurious for Eifel {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, _: &Ctx) {
        let id = ledger.count();
        self.awaited = if continues(ledger, id) { None } else { Some(id) };
    }
    fn answers_late_original(&self, _: &AckEvent) -> bool {
        false
    }
    fn on_retransmit(&mut self, _: &Sent, _: Time, ep: &mut Episode, cx: &Ctx) {
        if self.awaited.is_some_and(|id| id == ep.id) {
            self.awaited = None;
            self.retransmit_ts = Some((ep.id, ms(cx.now)));
        }
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        let dsacks = self.dsacks;
        self.dsacks += u32::from(ack.dsack.is_some());
        if !advances(ack) {
            return None;
        }
        let (id, ts) = self.retransmit_ts.take()?;
        // (4), (5).
        if !is_older(ack.tsecr?, ts) || ack.dsack.is_some() || (dsacks == 0 && cx.snd_una.0 == cx.snd_max.0) {
            return None;
        }
        let ep = ledger.get(id)?;
        let fast = ep.cause == Cause::Fast;
        if ep.void || (fast && !self.spec.judge_fast_retransmits) {
            return None;
        }
        ep.recover = ack.prior_una;
        let sample = if fast { Some(measured(ep, ack.dup_run, cx.now)) } else { None };
        Some(Mistake { episode: id, cause: ep.cause, sample })
    }
    fn rtt(&mut self, _: &Ctx) -> Option<Nanos> {
        None
    }
    fn needless(&mut self) -> bool {
        false
    }
    fn on_episode_end(&mut self, _: &mut Episode, _: &Ctx) -> Option<Mistake> {
        None
    }
}

/// Allman & Paxson 1999 §3.
pub(super) struct RttMin {
    pub(super) spec: RttMinSpec,
    pub(super) timed: Option<(u32, Time)>,
}

impl Spurious for RttMin {
    fn on_retransmit(&mut self, _: &Sent, _: Time, ep: &mut Episode, cx: &Ctx) {
        if ep.retransmits < 2 {
            self.timed = Some((ep.id, cx.now));
        }
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        if !advances(ack) {
            return None;
        }
        let (id, sent) = self.timed.take()?;
        let soon = ((cx.now.0 - sent.0) as f64) < self.spec.share * cx.min_rtt?.0 as f64;
        let ep = ledger.get(id)?;
        let judged = self.spec.judge_fast_retransmits || ep.cause == Cause::Rto;
        (soon && judged && !ep.void).then_some(Mistake { episode: id, cause: ep.cause, sample: None })
    }
}

/// Linux's `tcp_may_undo` and its callers.
pub(super) struct Linux {
    spec: LinuxSpec,
    /// The episode, and undo_marker.
    marker: Option<(u32, u64)>,
    /// undo_retrans, -1 before the first.
    undo_retrans: i64,
    retrans_stamp: Option<u32>,
}

impl Linux {
    pub(super) fn new(spec: &LinuxSpec) -> Linux {
        Linux { spec: spec.clone(), marker: None, undo_retrans: -1, retrans_stamp: None }
    }

    /// Everything resent was reported as a duplicate.
    fn by_dsack(&self) -> bool {
        self.undo_retrans == 0 && self.spec.dsack
    }

    /// `tcp_packet_delayed`.
    fn packet_delayed(&self, ack: &AckEvent) -> bool {
        if !self.spec.timestamps {
            return false;
        }
        match self.retrans_stamp {
            None => true,
            Some(stamp) => ack.tsecr.is_some_and(|echo| is_older(echo, stamp)),
        }
    }
}

impl Spurious for Linux {
    fn on_begin(&mut self, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) {
        let id = ledger.count();
        if continues(ledger, id) {
            if let Some(marker) = &mut self.marker {
                marker.0 = id;
            }
            return;
        }
        // tcp_init_undo.
        self.marker = Some((id, cx.snd_una.0));
        self.retrans_stamp = None;
        let out = board::retrans_out(board);
        self.undo_retrans = if out == 0 { -1 } else { i64::from(out) };
    }
    fn answers_late_original(&self, ack: &AckEvent) -> bool {
        self.packet_delayed(ack) && self.marker.is_some()
    }
    fn on_retransmit(&mut self, _: &Sent, _: Time, _: &mut Episode, cx: &Ctx) {
        self.undo_retrans = i64::max(self.undo_retrans, 0) + 1;
        if self.retrans_stamp.is_none() {
            self.retrans_stamp = Some(ms(cx.now));
        }
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        let (id, from) = self.marker?;
        if ack.dsack.is_some_and(|(_, right)| right.0 > from) && self.undo_retrans > 0 {
            self.undo_retrans -= 1;
        }
        let ep = ledger.get(id)?;
        let whole = ack.ack.0 >= ep.recover.0;
        let delayed = self.packet_delayed(ack);
        let undo = match cx.phase {
            Phase::Open | Phase::Disorder => self.by_dsack(),
            Phase::Loss => advances(ack) && (delayed || self.by_dsack()),
            Phase::Recovery if whole => delayed || self.by_dsack(),
            Phase::Recovery => self.by_dsack() || (advances(ack) && delayed && board::retrans_out(board) == 0),
        };
        if !undo || ep.void {
            return None;
        }
        self.marker = None;
        let midway = cx.phase == Phase::Recovery && !whole;
        let mut sample = remembered(ep);
        if sample.is_none() && midway && advances(ack) {
            sample = Some(measured(ep, ack.dup_run, cx.now));
        }
        if midway {
            ep.recover = ack.prior_una;
        }
        Some(Mistake { episode: id, cause: ep.cause, sample: if delayed { sample } else { None } })
    }
    fn rtt(&mut self, _: &Ctx) -> Option<Nanos> {
        None
    }
    fn needless(&mut self) -> bool {
        false
    }
    fn on_episode_end(&mut self, _: &mut Episode, _: &Ctx) -> Option<Mistake> {
        None
    }
}

/// gVisor's `detectSpuriousRecovery`.
pub(super) struct Netstack {
    spec: NetstackSpec,
    /// The repair and retransmitTS.
    repair: Option<(u32, u32)>,
    spurious: bool,
    dsacks: u32,
}

impl Netstack {
    pub(super) fn new(spec: &NetstackSpec) -> Netstack {
        Netstack { spec: spec.clone(), repair: None, spurious: false, dsacks: 0 }
    }
}

impl Spurious for Netstack {
    fn on_begin(&mut self, ledger: &mut Ledger, _: &Scoreboard, cx: &Ctx) {
        let id = ledger.count();
        self.spurious = false;
        self.repair = if continues(ledger, id) { None } else { Some((id, ms(cx.now))) };
    }
    fn passes_over(&self, _: &AckEvent, _: &Ctx) -> bool {
        false
    }
    fn on_ack(&mut self, ack: &AckEvent, _: &mut Ledger, _: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        let dsack = self.spec.dsack && ack.dsack.is_some();
        self.dsacks += u32::from(dsack);
        if let (Some((_, ts)), Some(echo), true, false) = (self.repair, ack.tsecr, advances(ack), dsack) {
            let all = cx.snd_una.0 == cx.snd_max.0;
            self.spurious |= is_older(echo, ts) && (self.dsacks > 0 || !all);
        }
        None
    }
    fn on_episode_end(&mut self, ep: &mut Episode, _: &Ctx) -> Option<Mistake> {
        let repair = self.repair.take();
        let spurious = std::mem::replace(&mut self.spurious, false);
        if !spurious || ep.void || repair.is_none_or(|r| r.0 != ep.id) {
            return None;
        }
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: None })
    }
}
