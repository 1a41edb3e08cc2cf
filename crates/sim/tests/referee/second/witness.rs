//! What the sender tells its components, against the referee's own notebook: the facts of each ACK, the view of the sender, and
//! whether a component that learns hears all that it is to learn from.

use super::consequences::Awaited;
use super::counting::below_segments;
use super::pause::Pause;
use super::presumed::Presumed;
use super::rates::Rates;
use super::view::View;
use super::{advances, board, end_of};
use crate::book::Piece;
use crate::judge::Judge;
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::{Cause, Phase, Window};
use ackclock_tcp::facts::ack::{AckEvent, DupRule};
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{CcUndo, Episode, Ledger, Mistake};
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::robust::OwnLimit;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::spurious::Spurious;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::undo::Standing;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The notebook, and what was heard.
pub(crate) struct Notebook {
    pub(crate) judge: Judge,
    pub(crate) rates: Rates,
    /// Round-trip times of data sent once.
    rtts: Vec<Nanos>,
    /// Times of the duplicates of the hole that is open.
    pub(super) dups: Vec<Time>,
    heard: Option<ReorderSample>,
    recovered: u32,
    timeouts: u32,
    /// The sender's own state.
    pub(crate) view: View,
    /// Times of the first and the last duplicate before the newest episode.
    pub(super) span: Option<(Time, Time)>,
    /// The bytes of the last verdict, and the sample of reordering that came with a mistake.
    lost: u64,
    measured: Option<ReorderSample>,
    /// Answers that others must be told: what a mistake gives back, a copy that was timed, a late original, losses by time.
    pub(super) gives_back: Option<CcUndo>,
    pub(super) spurious_at: Option<Time>,
    pub(super) timed_copy: Option<Nanos>,
    needless: bool,
    late_original: Option<bool>,
    late_reported: bool,
    pub(super) holds_resends: bool,
    pub(super) judges_by_time: bool,
    pub(super) before_interrupted: bool,
    /// The detector may hold back segments.
    pub(super) holds: bool,
    pub(super) presumed: Presumed,
    pub(super) pause: Pause,
    pub(super) awaited: Awaited,
    /// What the congestion control saved before the last cut.
    pub(super) saved: CcUndo,
    /// Only the handshake is looked at: who was told which RTT.
    pub(crate) greets: bool,
    pub(crate) everybody: bool,
    pub(super) greeted: [Vec<Nanos>; 4],
    /// Somebody listens; everybody does.
    pub(super) active: bool,
    pub(super) complete: bool,
    pub(crate) wrong: Option<String>,
}

impl Notebook {
    pub(crate) fn new(judge: Judge, rates: Rates) -> Notebook {
        Notebook {
            judge,
            rates,
            rtts: vec![],
            dups: vec![],
            heard: None,
            recovered: 0,
            timeouts: 0,
            view: View::new(),
            span: None,
            lost: 0,
            measured: None,
            gives_back: None,
            spurious_at: None,
            timed_copy: None,
            needless: false,
            late_original: None,
            late_reported: false,
            holds_resends: false,
            judges_by_time: false,
            before_interrupted: false,
            holds: false,
            presumed: Presumed::default(),
            pause: Pause::default(),
            awaited: Awaited::default(),
            saved: CcUndo::default(),
            greets: false,
            everybody: false,
            greeted: [vec![], vec![], vec![], vec![]],
            active: false,
            complete: false,
            wrong: None,
        }
    }

    pub(super) fn expect(&mut self, holds: bool, why: impl FnOnce() -> String) {
        if !holds && self.wrong.is_none() && !self.greets {
            self.wrong = Some(why());
        }
    }

    /// The facts of this ACK agree with the notebook.
    fn check_ack(&mut self, a: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let Some(ack) = self.judge.ack.clone() else {
            return self.expect(false, || format!("{a:?}, and no ACK has arrived"));
        };
        let counts = self.complete && self.view.phase == cx.phase && !(cx.phase == Phase::Open && advances(a));
        let delivered = match (self.presumes(), counts) {
            // Without SACK, Linux counts duplicates as deliveries.
            (true, true) => self.check_presumed(board, cx.phase, self.view.recover_before),
            // A mistake on this ACK has changed what is lost; or it is the usual ACK, on which the sender does not look at the
            // count: it is 0 where Linux's detector leaves Open for it.
            (true, false) => {
                self.presume(board.presumed());
                a.delivered
            }
            (false, _) => ack.delivered,
        };
        let book = &self.judge.book;
        let late = ack.ack < book.una;
        let sacked: u64 = ack.news.iter().filter(|p| p.start >= book.una).map(|p| p.end - p.start).sum();
        // A segment that is acknowledged in part is named by its end all the same.
        let end =
            |p: &Piece| ack.before.iter().find(|b| b.start <= p.start && p.start < b.end).map_or(p.end, |b| b.end);
        let newest = ack.news.iter().max_by_key(|p| (p.last, end(p)));
        let rtt = newest.filter(|p| p.sends == 1 && !late).map(|p| book.now.since(p.last));
        let (una, dups) = (book.una, book.dups);
        self.rtts.extend(rtt);
        let seen = (a.ack.0, a.prior_una.0, a.delivered, a.sacked, a.dup_run, a.ece, a.rtt);
        let known = (una, una - ack.acked, delivered, sacked, dups, ack.ece, rtt);
        self.expect(seen == known, || format!("the facts of an ACK are {seen:?}, and they should be {known:?}"));
        let seen = (a.is_dup, a.has_sack, a.dsack.map(|d| (d.0 .0, d.1 .0)), a.tsecr);
        // Of a late ACK only the blocks count.
        let known = (ack.dup || ack.late_dup, ack.has_sack, ack.dsack, ack.tsecr.filter(|_| !late));
        self.expect(seen == known, || format!("the ACK is {seen:?}, and it should be {known:?}"));
        let resent = ack.news.iter().any(|p| p.sends > 1);
        self.expect(a.covers_retransmit == resent, || format!("{a:?}: resent data is not told right"));
        let seen = a.newest.map(|n| (n.at, n.end.0, n.retransmitted));
        let known = newest.map(|p| (p.last, end(p), p.sends > 1));
        self.expect(seen == known, || format!("the newest is {seen:?}, and it should be {known:?}"));
        let least = self.rtts.iter().min().copied();
        self.expect(cx.min_rtt == least, || {
            format!("the smallest RTT is {:?}, and it should be {least:?}", cx.min_rtt)
        });
    }

    /// The scoreboard has the pieces that the notebook has, and finds in them what anybody finds.
    fn check_board(&mut self, a: &AckEvent, board: &Scoreboard, cx: &Ctx) {
        let book = &self.judge.book;
        let seen: Vec<_> = board.iter().map(|s| (s.start.0, end_of(s), s.at, s.sends, board::sacked(s))).collect();
        let known: Vec<_> = (book.out.iter())
            .map(|p| (p.start, p.end, p.last, u8::try_from(p.sends).unwrap_or(u8::MAX), p.sacked.is_some()))
            .collect();
        let first = seen.iter().zip(&known).find(|(t, k)| t != k);
        let same = seen.len() == known.len() && first.is_none();
        let why = format!("the scoreboard has {first:?} first, {} pieces and not {}", seen.len(), known.len());
        let late = self.judge.ack.as_ref().is_some_and(|ack| ack.ack < book.una);
        let news: Option<BTreeSet<u64>> = self.judge.ack.as_ref().map(|ack| ack.news.iter().map(|p| p.start).collect());
        self.expect(same, || why);
        let newly: BTreeSet<u64> = board.newly().map(|s| s.start.0).collect();
        let whole = board.iter().next().is_none_or(|s| s.start.0 != a.ack.0 || s.start.0 == a.prior_una.0);
        let partial = news.as_ref().is_some_and(|news| news.len() != newly.len()) && !whole;
        self.expect(late || partial || news.as_ref() == Some(&newly), || format!("new are {newly:?}, not {news:?}"));
        let seen = (
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
        self.expect(seen == known, || format!("the scoreboard finds {seen:?}, and it has {known:?}"));
    }

    /// What a new segment may use, and how long the next one is (RFC 1122 §4.2.3.4), where all data is written at the start.
    pub(super) fn next_segment(&self) -> Option<(u64, u64)> {
        let book = &self.judge.book;
        let (written, mss) = (book.written_at_start()?, book.mss);
        let cap = book.stack.limits.cwnd_cap_segs.map_or(u64::MAX, |n| u64::from(n) * mss);
        let free = matches!(&book.stack.recovery, RecoverySpec::Robust(s) if s.cap == OwnLimit::Ignored);
        let cap = if free && book.phase == Phase::Recovery { u64::MAX } else { cap };
        let limit = written.min(book.edge).min(book.una.saturating_add(cap));
        let room = limit.saturating_sub(book.max);
        let silly =
            book.stack.limits.avoid_silly_window && room < mss && book.max + room != written && 2 * room < book.widest;
        let new = if silly { 0 } else { room.min(mss) };
        let nxt = self.view.nxt();
        let again = book.out.iter().find(|p| p.start <= nxt && nxt < p.end);
        Some((room, if nxt < book.max { again.map_or(0, Piece::len) } else { new }))
    }

    pub(crate) fn room_for_next(&self) -> Option<u64> {
        self.next_segment().map(|next| next.1)
    }

    pub(super) fn check_room(&mut self, cx: &Ctx) {
        let Some((room, next)) = self.next_segment() else { return };
        let seen = (cx.room, u64::from(cx.next_len));
        self.expect(seen == (room, next), || {
            format!("room and length of the next segment are {seen:?}, and not {room} and {next}")
        });
    }

    /// An owner of Recovery or Loss is told of the ACK, and of the bytes newly marked lost.
    pub(super) fn check_answer(&mut self, ack: &AckEvent, lost: u64) {
        let (known, una) = (self.lost, self.judge.book.una);
        let same = lost == known && ack.ack.0 == una;
        self.expect(same || !self.complete, || format!("{lost} bytes are told as lost, and {known} are ({ack:?})"));
    }

    /// Retransmissions are held back exactly while a late original waits for others.
    pub(super) fn check_hold(&mut self, hold: bool) {
        let known = self.holds_resends && self.judge.ack.is_some();
        self.view.hold_reported = true;
        self.expect(hold == known || !self.complete, || format!("resends are held: {hold}, and should be: {known}"));
    }

    /// A mistake is told with what arrived with this ACK, and its sample has been told before.
    pub(super) fn check_mistake(&mut self, m: &Mistake, at: Standing) {
        let measured = self.measured.take();
        if !self.complete {
            return;
        }
        self.expect(measured == m.sample, || format!("{:?} was measured, and {measured:?} told", m.sample));
        let acked = self.judge.ack.as_ref().map_or(0, |a| a.delivered);
        let counts = self.judge.book.stack.dup_rule != DupRule::EmulatedSack;
        self.expect(!counts || at.acked == acked, || format!("{} bytes arrived with a mistake, not {acked}", at.acked));
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

    /// A partial ACK in a Recovery was shown to the judge of mistakes, whose answer was told, and the recovery heard of it.
    fn check_late_original(&mut self, ack: &AckEvent) {
        let (asked, v) = (self.late_original.take(), &self.view);
        let partial = v.phase == Phase::Recovery && advances(ack) && v.recover_before.is_some_and(|r| ack.ack.0 < r);
        let seen = (asked.is_some(), v.hold_reported);
        // A late original has been taken by then.
        let known = (partial && !self.late_reported, v.phase == Phase::Recovery);
        self.late_reported = false;
        let holds = seen == known && asked != Some(true);
        self.expect(holds || !self.complete, || format!("late originals: {seen:?}, {asked:?}, and not {known:?}"));
    }

    /// All who are told about the handshake were told the same.
    pub(crate) fn check_greetings(&mut self) {
        let [start, congestion, detector, timer] = &self.greeted;
        let heard = start.iter().all(|rtt| timer.contains(rtt)) && !timer.is_empty();
        if start != congestion || start != detector || !heard {
            self.wrong = Some(format!("the handshake took {start:?}, {congestion:?}, {detector:?}, {timer:?}"));
        }
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
        let left = (self.gives_back, self.spurious_at, self.timed_copy, self.needless);
        let nothing = left == (None, None, None, false);
        self.expect(nothing || !self.complete, || format!("answers that nobody was told: {left:?}"));
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

    /// Looks at the view, if everybody does.
    fn see(&self, w: Option<&Window>, cx: &Ctx) {
        self.with(|n| {
            n.check_cx(cx);
            if let Some(w) = w {
                n.check_window(w);
            }
        });
    }

    /// What the detector now wants of timers.
    fn note_times(&self, now: Time) {
        self.with(|n| {
            n.view.owns_rto = self.inner.owns_rto();
            n.view.stand_in = self.inner.stands_in_for_rto();
            let deadline = self.inner.deadline().filter(|_| self.inner.keeps_time());
            n.view.deadline = deadline.map(|at| (at, now));
        });
    }
}

impl Detector for Witness {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.see(Some(w), cx);
        self.with(|n| {
            n.asked_about(ack, w, cx);
            n.check_ack(ack, board, cx);
            n.check_board(ack, board, cx);
            n.check_hole(ack, cx);
            n.check_late_original(ack);
        });
        let verdict = self.inner.on_ack(ack, w, board, cx);
        self.with(|n| {
            n.judged(verdict, self.inner.dupthresh(w, cx));
            n.lost = verdict.lost();
        });
        self.note_times(cx.now);
        let doubt = match cx.phase {
            Phase::Open => verdict == Verdict::Suspect,
            Phase::Disorder => !advances(ack) && matches!(verdict, Verdict::Suspect | Verdict::Clear),
            Phase::Recovery | Phase::Loss => false,
        };
        let begins = !cx.phase.repairs() && matches!(verdict, Verdict::Lost(_) | Verdict::Collapsed(_));
        self.with(|n| n.rates.lose(super::segments(verdict.lost(), cx)));
        self.with(|n| {
            if (doubt || begins) && ack.is_dup {
                n.dups.push(cx.now);
            }
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
        // The deadline is met now, and the timer that it may stand in for.
        self.with(|n| n.view.deadline = None);
        self.see(Some(w), cx);
        let verdict = self.inner.on_timer(w, board, cx);
        self.with(|n| {
            n.timer_ran(verdict, cx, self.inner.deadline());
            if verdict == Verdict::Probe {
                n.await_probe(cx.now);
            }
            n.lost = verdict.lost();
        });
        self.note_times(cx.now);
        verdict
    }
    fn watches_sends(&self) -> bool {
        self.inner.watches_sends()
    }
    fn hears_drops(&self) -> bool {
        self.inner.hears_drops()
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.see(None, cx);
        self.with(|n| {
            let (max, end) = (cx.snd_max.0, end_of(sent));
            let new = sent.sends > 1 || end == max;
            n.expect(new, || format!("a new segment ends at {end}, and {max} is the end of all"));
            n.detector_informed(sent);
        });
        self.inner.on_sent(x, sent, cx);
        self.note_times(cx.now);
    }
    fn hold_until(&self) -> Option<Time> {
        let until = self.inner.hold_until();
        self.with(|n| n.holds |= until.is_some());
        until
    }
    fn owns_rto(&self) -> bool {
        self.inner.owns_rto()
    }
    fn stands_in_for_rto(&self) -> StandIn {
        self.inner.stands_in_for_rto()
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        self.see(None, cx);
        self.with(|n| n.expect(board.presumed() == 0, || "after a timeout something is said to have arrived".into()));
        let by_time = self.inner.after_rto(board, cx);
        self.with(|n| n.judges_by_time = by_time);
        self.note_times(cx.now);
        by_time
    }
}

impl Learner for Witness {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        self.with(|n| match sample.resent {
            None => n.heard = Some(*sample),
            Some(_) => n.measured = Some(*sample),
        });
        self.see(Some(w), cx);
        self.inner.on_reorder(sample, w, cx);
        self.note_times(cx.now);
    }
    fn on_handshake(&mut self, rtt: Nanos, now: Time) {
        self.with(|n| n.greeted[2].push(rtt));
        self.inner.on_handshake(rtt, now);
    }
    fn on_needless(&mut self, w: &Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.with(|n| {
            let due = std::mem::take(&mut n.needless);
            n.expect(due || !n.complete, || "a copy is told to be needless, and no judge said so".into());
        });
        self.inner.on_needless(w, cx);
    }
    fn on_late_original(&mut self, from: Offset, waits: bool, board: &Scoreboard, cx: &Ctx) {
        self.see(None, cx);
        self.with(|n| {
            let due = n.late_original.take() == Some(true) || !n.complete;
            n.late_reported = true;
            n.holds_resends = board::retrans_out(board) > 0;
            let known = (n.judge.book.una - n.judge.ack.as_ref().map_or(0, |a| a.acked), n.holds_resends);
            n.expect(due && (from.0, waits) == known, || format!("late from {from:?}, waits: {waits}; not {known:?}"));
        });
        self.inner.on_late_original(from, waits, board, cx);
        self.note_times(cx.now);
    }
    fn on_recovered(&mut self, cx: &Ctx) {
        self.with(|n| n.recovered += 1);
        self.see(None, cx);
        self.inner.on_recovered(cx);
        self.note_times(cx.now);
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.with(|n| n.check_cut_applied(w));
        self.inner.on_cut(w, cx);
        self.note_times(cx.now);
        self.with(|n| n.cut_reported(cx));
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.with(|n| n.stall_reported(idle, cx.now));
        self.inner.on_stall(idle, w, cx);
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.see(Some(w), cx);
        self.with(|n| {
            n.timeouts += 1;
            let known = n.judge.book.dups_at_timeout;
            n.expect(dup_run == known, || format!("{dup_run} duplicates before a timeout, not {known}"));
        });
        self.inner.on_rto(dup_run, w, cx);
        self.note_times(cx.now);
    }
    fn on_excess(&mut self, segments: u32) {
        self.with(|n| n.presumed.excess.push(segments));
        self.inner.on_excess(segments);
    }
}

/// A judge of mistakes that looks at the ledger.
pub(super) struct Auditor {
    pub(super) inner: Box<dyn Spurious>,
    pub(super) notebook: Arc<Mutex<Notebook>>,
}

impl Auditor {
    fn with(&self, check: impl FnOnce(&mut Notebook)) {
        if let Ok(mut notebook) = self.notebook.lock() {
            check(&mut notebook);
        }
    }
}

impl Spurious for Auditor {
    fn on_begin(&mut self, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) {
        self.with(|n| {
            n.check_cx(cx);
            let id = ledger.count();
            let before = ledger.get(id - 1).cloned();
            let Some(ep) = ledger.get(id).cloned() else { return n.expect(false, || "no episode has begun".into()) };
            // A fast retransmit during another one ends that.
            let entered = std::mem::take(&mut n.judge.entered);
            if ep.cause == Cause::Fast && !entered {
                let ended = before.as_ref().map(|b| b.ended);
                n.expect(ended == Some(Some(cx.now)), || format!("episode {id} begins, and {ended:?} ended before"));
            }
            // A timeout in a repair may remember what that one remembers.
            let interrupted = before.filter(|b| ep.cause == Cause::Rto && b.ended.is_none() && n.before_interrupted);
            n.check_episode(&ep, interrupted.map(|b| (b.prior, b.cc_undo.get())));
            n.episode_begins(&ep);
        });
        self.inner.on_begin(ledger, board, cx);
    }
    fn answers_late_original(&self, ack: &AckEvent) -> bool {
        let late = self.inner.answers_late_original(ack);
        self.with(|n| n.late_original = Some(late));
        late
    }
    fn on_retransmit(&mut self, seg: &Sent, before: Time, ep: &mut Episode, cx: &Ctx) {
        self.with(|n| {
            n.check_cx(cx);
            let known = n.judge.book.sent_before;
            n.expect(before == known, || format!("the segment resent was last sent at {before:?}, not at {known:?}"));
            n.judge_informed(ep);
        });
        self.inner.on_retransmit(seg, before, ep, cx);
    }
    fn passes_over(&self, ack: &AckEvent, cx: &Ctx) -> bool {
        self.inner.passes_over(ack, cx)
    }
    fn on_ack(&mut self, ack: &AckEvent, ledger: &mut Ledger, board: &Scoreboard, cx: &Ctx) -> Option<Mistake> {
        self.with(|n| n.check_cx(cx));
        let mistake = self.inner.on_ack(ack, ledger, board, cx);
        if mistake.as_ref().is_some_and(|m| ledger.open().is_some_and(|ep| ep.id == m.episode)) {
            self.with(Notebook::mistake_ends_repair);
        }
        mistake
    }
    fn rtt(&mut self, cx: &Ctx) -> Option<Nanos> {
        let rtt = self.inner.rtt(cx);
        self.with(|n| n.timed_copy = rtt);
        rtt
    }
    fn needless(&mut self) -> bool {
        let needless = self.inner.needless();
        self.with(|n| n.needless = needless);
        needless
    }
    fn on_episode_end(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.with(|n| n.check_cx(cx));
        self.inner.on_episode_end(ep, cx)
    }
}
