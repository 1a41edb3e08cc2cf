//! What the sender tells its components, against the referee's own notebook: the facts of each ACK, the view of the sender, and
//! whether a component that learns hears all that it is to learn from.

use super::counting::below_segments;
use super::rates::Rates;
use super::{advances, board, end_of};
use crate::book::Piece;
use crate::judge::Judge;
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::{Cause, Phase, Window};
use ackclock_tcp::facts::ack::{AckEvent, DupRule};
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Ledger, Mistake};
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::robust::OwnLimit;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::spurious::Spurious;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The notebook, and what was heard.
pub(crate) struct Notebook {
    pub(crate) judge: Judge,
    pub(crate) rates: Rates,
    /// Round-trip times of data sent once.
    rtts: Vec<Nanos>,
    /// Times of the duplicates of the hole that is open.
    dups: Vec<Time>,
    heard: Option<ReorderSample>,
    recovered: u32,
    timeouts: u32,
    /// Somebody listens.
    pub(super) active: bool,
    pub(crate) wrong: Option<String>,
}

impl Notebook {
    pub(crate) fn new(judge: Judge, rates: Rates) -> Notebook {
        let (rtts, dups) = (vec![], vec![]);
        Notebook { judge, rates, rtts, dups, heard: None, recovered: 0, timeouts: 0, active: false, wrong: None }
    }

    fn expect(&mut self, holds: bool, why: impl FnOnce() -> String) {
        if !holds && self.wrong.is_none() {
            self.wrong = Some(why());
        }
    }

    /// The facts of this ACK agree with the notebook.
    fn check_ack(&mut self, a: &AckEvent, cx: &Ctx) {
        let book = &self.judge.book;
        let Some(ack) = self.judge.ack.clone() else {
            return self.expect(false, || format!("{a:?}, and no ACK has arrived"));
        };
        let late = ack.ack < book.una;
        let sacked: u64 = ack.news.iter().filter(|p| p.start >= book.una).map(|p| p.end - p.start).sum();
        // A segment that is acknowledged in part is named by its end all the same.
        let end =
            |p: &Piece| ack.before.iter().find(|b| b.start <= p.start && p.start < b.end).map_or(p.end, |b| b.end);
        let newest = ack.news.iter().max_by_key(|p| (p.last, end(p)));
        let rtt = newest.filter(|p| p.sends == 1 && !late).map(|p| book.now.since(p.last));
        let (una, dups) = (book.una, book.dups);
        self.rtts.extend(rtt);
        let told = (a.ack.0, a.prior_una.0, a.delivered, a.sacked, a.dup_run, a.ece, a.rtt);
        let known = (una, una - ack.acked, ack.delivered, sacked, dups, ack.ece, rtt);
        self.expect(told == known, || format!("the facts of an ACK are {told:?}, and they should be {known:?}"));
        let told = (a.is_dup, a.has_sack, a.dsack.map(|d| (d.0 .0, d.1 .0)), a.tsecr);
        // Of a late ACK only the blocks count.
        let known = (ack.dup || ack.late_dup, ack.has_sack, ack.dsack, ack.tsecr.filter(|_| !late));
        self.expect(told == known, || format!("the ACK is {told:?}, and it should be {known:?}"));
        let resent = ack.news.iter().any(|p| p.sends > 1);
        self.expect(a.covers_retransmit == resent, || format!("{a:?}: resent data is not told right"));
        let told = a.newest.map(|n| (n.at, n.end.0, n.retransmitted));
        let known = newest.map(|p| (p.last, end(p), p.sends > 1));
        self.expect(told == known, || format!("the newest is {told:?}, and it should be {known:?}"));
        let least = self.rtts.iter().min().copied();
        self.expect(cx.min_rtt == least, || {
            format!("the smallest RTT is {:?}, and it should be {least:?}", cx.min_rtt)
        });
    }

    /// The view of the sender.
    fn check_view(&mut self, w: &Window, cx: &Ctx) {
        let book = &self.judge.book;
        let told = (cx.snd_una.0, cx.snd_max.0, cx.phase, cx.now);
        let known = (book.una, book.max, book.phase, book.now);
        let window = book.w;
        self.expect(told == known, || format!("the view is {told:?}, and it should be {known:?}"));
        let same = window.is_none_or(|b| b == *w);
        self.expect(same, || format!("a window of {w:?}, and {window:?} was reported"));
    }

    /// The scoreboard has the pieces that the notebook has, and finds in them what anybody finds.
    fn check_board(&mut self, a: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let book = &self.judge.book;
        let told: Vec<_> = board.iter().map(|s| (s.start.0, end_of(s), s.at, s.sends, board::sacked(s))).collect();
        let known: Vec<_> = (book.out.iter())
            .map(|p| (p.start, p.end, p.last, u8::try_from(p.sends).unwrap_or(u8::MAX), p.sacked.is_some()))
            .collect();
        let first = told.iter().zip(&known).find(|(t, k)| t != k);
        let same = told.len() == known.len() && first.is_none();
        let why = format!("the scoreboard has {first:?} first, {} pieces and not {}", told.len(), known.len());
        let late = self.judge.ack.as_ref().is_some_and(|ack| ack.ack < book.una);
        let news: Option<BTreeSet<u64>> = self.judge.ack.as_ref().map(|ack| ack.news.iter().map(|p| p.start).collect());
        self.expect(same, || why);
        let newly: BTreeSet<u64> = board.newly().map(|s| s.start.0).collect();
        let whole = board.iter().next().is_none_or(|s| s.start.0 != a.ack.0 || s.start.0 == a.prior_una.0);
        let partial = news.as_ref().is_some_and(|news| news.len() != newly.len()) && !whole;
        self.expect(late || partial || news.as_ref() == Some(&newly), || format!("new are {newly:?}, not {news:?}"));
        let told = (
            board.highest_sacked().map(|o| o.0),
            board.first_lost().map(|o| o.0),
            board.first_hole().map(|s| s.start.0),
            board.resends_out(),
            board.pipe(),
            [1, 3].map(|n| board.holes_end(n).map(|o| o.0)),
            [Time::ZERO, cx.now].map(|t| board.is_resent_lost_since(t)),
        );
        let known = (
            board::highest_sacked(board),
            board::first_lost(board).map(|s| s.start.0),
            board::first_hole(board).map(|s| s.start.0),
            board::retrans_out(board),
            board::pipe(board),
            [1, 3].map(|n| below_segments(board, n)),
            [Time::ZERO, cx.now].map(|t| board::lost_again_since(board, t)),
        );
        self.expect(told == known, || format!("the scoreboard finds {told:?}, and it has {known:?}"));
    }

    /// What a new segment may use, and how long the next one is (RFC 1122 §4.2.3.4), where all data is written at the start.
    fn check_room(&mut self, cx: &Ctx) {
        let (book, mss) = (&self.judge.book, u64::from(cx.mss));
        let Some(written) = book.written_at_start() else { return };
        let cap = book.stack.limits.cwnd_cap_segs.map_or(u64::MAX, |n| u64::from(n) * mss);
        let free = matches!(&book.stack.recovery, RecoverySpec::Robust(s) if s.cap == OwnLimit::Ignored);
        let cap = if free && cx.phase == Phase::Recovery { u64::MAX } else { cap };
        let limit = written.min(book.edge).min(book.una.saturating_add(cap));
        let room = limit.saturating_sub(book.max);
        let silly =
            book.stack.limits.avoid_silly_window && room < mss && book.max + room != written && 2 * room < book.widest;
        let next = if silly { 0 } else { room.min(mss) };
        let told = (cx.room, u64::from(cx.next_len));
        let back = cx.snd_nxt < cx.snd_max;
        self.expect(told.0 == room && (back || told.1 == next), || {
            format!("room and length of the next segment are {told:?}, and not {room} and {next}")
        });
    }

    /// A hole that filled on its own is told, with its duplicates.
    fn check_hole(&mut self, a: &AckEvent, cx: &Ctx) {
        let heard = self.heard.take();
        if !advances(a) {
            return;
        }
        let dups = std::mem::take(&mut self.dups);
        let (Some(first), Some(last), Phase::Disorder) = (dups.first(), dups.last(), cx.phase) else { return };
        let sample = ReorderSample {
            dupacks: a.dup_run,
            first_dup: *first,
            last_dup: *last,
            filled: cx.now,
            resent: None,
            segments: 0,
        };
        self.expect(heard == Some(sample), || format!("a hole filled: {sample:?}, and {heard:?} was told"));
    }

    /// Every repair that has ended and every timeout was told.
    pub(crate) fn settle(&mut self) {
        let (ended, fired) = (self.judge.repaired, self.judge.book.timeouts);
        let (recovered, timeouts) = (self.recovered, self.timeouts);
        if !self.active {
            return;
        }
        self.expect(recovered == ended, || format!("{recovered} repairs are told to have ended, and {ended} have"));
        self.expect(timeouts == fired, || format!("{timeouts} timeouts are told, and there were {fired}"));
    }
}

/// A detector that tells what it hears.
pub(super) struct Witness {
    pub(super) inner: Box<dyn Detector>,
    pub(super) notebook: Arc<Mutex<Notebook>>,
}

impl Witness {
    fn with(&self, check: impl FnOnce(&mut Notebook)) {
        if let Ok(mut notebook) = self.notebook.lock() {
            check(&mut notebook);
        }
    }
}

impl Detector for Witness {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.with(|n| {
            n.check_view(w, cx);
            // Without SACK, Linux counts duplicates as deliveries.
            if n.judge.book.stack.dup_rule != DupRule::EmulatedSack {
                n.check_ack(ack, cx);
            }
            n.check_board(ack, board, cx);
            n.check_room(cx);
            n.check_hole(ack, cx);
        });
        let verdict = self.inner.on_ack(ack, w, board, cx);
        let doubt = match cx.phase {
            Phase::Open => verdict == Verdict::Suspect,
            Phase::Disorder => !advances(ack) && matches!(verdict, Verdict::Suspect | Verdict::Clear),
            Phase::Recovery | Phase::Loss => false,
        };
        self.with(|n| n.rates.lose(super::segments(verdict.lost(), cx)));
        self.with(|n| match verdict {
            Verdict::Lost(_) | Verdict::Collapsed(_) => n.dups.clear(),
            _ if doubt && ack.is_dup => n.dups.push(cx.now),
            _ => {}
        });
        verdict
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        self.inner.dupthresh(w, cx)
    }
}

impl Timekeeper for Witness {
    fn keeps_time(&self) -> bool {
        self.inner.keeps_time()
    }
    fn deadline(&self) -> Option<Time> {
        self.inner.deadline()
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let verdict = self.inner.on_timer(w, board, cx);
        if matches!(verdict, Verdict::Lost(_) | Verdict::Collapsed(_)) {
            self.with(|n| n.dups.clear());
        }
        verdict
    }
    fn watches_sends(&self) -> bool {
        self.inner.watches_sends()
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.with(|n| {
            let (max, end) = (cx.snd_max.0, end_of(sent));
            let new = sent.sends > 1 || end == max;
            n.expect(new, || format!("a new segment ends at {end}, and {max} is the end of all"));
        });
        self.inner.on_sent(x, sent, cx);
    }
    fn hold_until(&self) -> Option<Time> {
        self.inner.hold_until()
    }
    fn owns_rto(&self) -> bool {
        self.inner.owns_rto()
    }
    fn stands_in_for_rto(&self) -> StandIn {
        self.inner.stands_in_for_rto()
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        self.inner.after_rto(board, cx)
    }
}

impl Learner for Witness {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        if sample.resent.is_none() {
            self.with(|n| n.heard = Some(*sample));
        }
        self.inner.on_reorder(sample, w, cx);
    }
    fn on_handshake(&mut self, rtt: Nanos, now: Time) {
        self.inner.on_handshake(rtt, now);
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        self.inner.on_needless(w, cx);
    }
    fn on_late_original(&mut self, from: Offset, waits: bool, board: &Scoreboard, cx: &Ctx) {
        self.inner.on_late_original(from, waits, board, cx);
    }
    fn on_recovered(&mut self, cx: &Ctx) {
        self.with(|n| n.recovered += 1);
        self.inner.on_recovered(cx);
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.inner.on_cut(w, cx);
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        self.inner.on_stall(idle, w, cx);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.with(|n| {
            n.timeouts += 1;
            n.dups.clear();
        });
        self.inner.on_rto(dup_run, w, cx);
    }
    fn on_excess(&mut self, segments: u32) {
        self.inner.on_excess(segments);
    }
}

/// A judge of mistakes that looks at the ledger.
pub(super) struct Auditor {
    pub(super) inner: Box<dyn Spurious>,
    pub(super) notebook: Arc<Mutex<Notebook>>,
}

impl Spurious for Auditor {
    fn on_begin(&mut self, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) {
        if let Ok(mut n) = self.notebook.lock() {
            let id = ledger.count();
            let fast = ledger.get(id).is_some_and(|ep| ep.cause == Cause::Fast);
            // A fast retransmit during another one ends that.
            let before = ledger.get(id - 1).map(|ep| ep.ended);
            let entered = std::mem::take(&mut n.judge.entered);
            if fast && !entered {
                n.expect(before == Some(Some(cx.now)), || format!("episode {id} begins, and {before:?} ended before"));
            }
        }
        self.inner.on_begin(ledger, board, cx);
    }
    fn answers_late_original(&self, ack: &AckEvent) -> bool {
        self.inner.answers_late_original(ack)
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, cx: &Ctx) {
        self.inner.on_retransmit(seg, before, ep, cx);
    }
    fn passes_over(&self, ack: &AckEvent, cx: &Ctx) -> bool {
        self.inner.passes_over(ack, cx)
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        self.inner.on_ack(ack, ledger, board, cx)
    }
    fn rtt(&mut self, cx: &Ctx) -> Option<Nanos> {
        self.inner.rtt(cx)
    }
    fn needless(&mut self) -> bool {
        self.inner.needless()
    }
    fn on_episode_end(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.inner.on_episode_end(ep, cx)
    }
}
