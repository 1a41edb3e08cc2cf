//! Late, worked out once more from its documents (papers/late/README.md, decision 0250): every segment is looked
//! at after every ACK, and who overtook whom is a plain list of steps.

use super::tail::Tail;
use super::{advances, board, end_of, flight, is_older, ms};
use ackclock_tcp::detect::late::LateSpec;
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::{Phase, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::time::{Nanos, Time};

/// A segment's place in the order of sending: time, and end.
pub(super) type Order = (u64, u64);

pub(super) fn order(s: &Sent) -> Order {
    (s.at.0, end_of(s))
}

/// Everything sent before `before`, and not before the previous step, is overtaken since then.
struct Step {
    before: Order,
    since: u64,
    /// The overtaking segment was sent once.
    sure: bool,
}

/// Decision 0250: a segment declared lost, of which the original may still arrive.
#[derive(Clone, Copy)]
enum Missing {
    /// Overtaken since then.
    Overtaken(u64),
    /// A report came this long after; the DSACK of the other copy decides.
    ArrivedAfter(u64),
}

/// Steps, and missing segments, that are remembered.
const STEPS: usize = 8;
const MISSING: usize = 4;

pub(super) struct Late {
    spec: LateSpec,
    /// The greatest lateness, which fades.
    longest: Option<u64>,
    late_lately: bool,
    newest: Option<Order>,
    round_trip: u64,
    steps: Vec<Step>,
    missing: [Option<(u64, Missing)>; MISSING],
    next_missing: usize,
    /// Resent segments in the order of sending, as long as none of them has been looked at; `None`: all of the scoreboard.
    resent: Option<Vec<Order>>,
    judge_at: Option<u64>,
    head_waits: bool,
    tail: Tail,
}

impl Late {
    pub(super) fn new(spec: &LateSpec) -> Late {
        Late {
            spec: spec.clone(),
            longest: None,
            late_lately: false,
            newest: None,
            round_trip: 0,
            steps: vec![],
            missing: [None; MISSING],
            next_missing: 0,
            resent: Some(vec![]),
            judge_at: None,
            head_waits: false,
            tail: Tail::new(spec.max_ack_delay),
        }
    }

    // Lateness.

    fn step_of(&self, key: Order) -> Option<&Step> {
        self.steps.iter().find(|step| key < step.before)
    }

    fn surely_since(&self, key: Order) -> Option<u64> {
        self.step_of(key).filter(|step| step.sure).map(|step| step.since)
    }

    fn missing_at(&self, end: u64) -> Option<usize> {
        self.missing.iter().position(|m| m.is_some_and(|m| m.0 == end))
    }

    fn declared_lost(&mut self, s: &Sent) {
        let since = if s.sends == 1 { self.surely_since(order(s)) } else { None };
        if let Some(since) = since {
            self.missing[self.next_missing] = Some((end_of(s), Missing::Overtaken(since)));
            self.next_missing = (self.next_missing + 1) % MISSING;
        }
    }

    /// W = max(e, 0.999 W) for each e that an ACK shows (decision 0250). Returns whether it shows any.
    fn read_lateness(&mut self, ack: &AckEvent, board: &Scoreboard, now: u64) -> bool {
        let samples = self.samples(ack, board, now);
        for lateness in &samples {
            let faded = self.longest.map_or(0, |w| times(w, self.spec.keep));
            self.longest = Some(u64::max(*lateness, faded));
        }
        !samples.is_empty()
    }

    fn samples(&mut self, ack: &AckEvent, board: &Scoreboard, now: u64) -> Vec<u64> {
        let mut found = vec![];
        if let Some(at) = ack.dsack.and_then(|d| self.missing_at(d.1 .0))
            && let Some((_, Missing::ArrivedAfter(by))) = self.missing[at]
        {
            self.missing[at] = None;
            found.push(by);
        }
        let resent: Vec<&Sent> = board::newly(board).filter(|s| s.sends > 1).collect();
        for s in &resent {
            let Some(at) = self.missing_at(end_of(s)) else { continue };
            let Some((end, Missing::Overtaken(since))) = self.missing[at] else { continue };
            let moved_the_point = advances(ack) && s.start == ack.prior_una;
            let of_original = moved_the_point && ack.tsecr.is_some_and(|echo| is_older(echo, ms(s.at)));
            self.missing[at] = (!of_original).then_some((end, Missing::ArrivedAfter(now - since)));
            if of_original {
                found.push(now - since);
            }
        }
        if let (true, Some(n)) = (resent.is_empty(), ack.newest) {
            let lost = self.missing_at(n.end.0).and_then(|at| self.missing[at].take());
            let since = match lost {
                Some((_, Missing::Overtaken(since))) => Some(since),
                Some((_, Missing::ArrivedAfter(_))) | None => self.surely_since((n.at.0, n.end.0)),
            };
            if let Some(since) = since {
                found.push(now - since);
            }
        }
        found
    }

    /// Takes an ACK. Returns whether it only adds to the SACKed run at the newest segment: nothing else is overtaken by it.
    fn overtake(&mut self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> bool {
        let Some((key, once)) = surely_newest(ack, board, cx) else { return false };
        self.round_trip = cx.now.0 - key.0;
        let known = self.newest;
        if known.is_some_and(|known| known >= key) {
            return false;
        }
        self.newest = Some(key);
        let plain = !advances(ack) && !ack.covers_retransmit && self.resent.as_ref().is_some_and(Vec::is_empty);
        let reaches = |from: u64| {
            let mut run = board.iter().skip_while(|s| s.start.0 != from).take_while(|s| board::sacked(s));
            run.any(|s| end_of(s) >= key.1)
        };
        if plain && known.is_some_and(|known| reaches(known.1)) {
            return true;
        }
        self.add(key, once, cx.now.0);
        false
    }

    /// At the limit, the two steps nearest in time become one at the later time.
    fn add(&mut self, before: Order, sure: bool, since: u64) {
        if self.steps.len() == STEPS {
            let gap = |i: &usize| self.steps[i + 1].since - self.steps[*i].since;
            let nearest = (0..STEPS - 1).min_by_key(gap).expect("several steps");
            let earlier = self.steps.remove(nearest);
            self.steps[nearest].sure &= earlier.sure;
        }
        self.steps.push(Step { before, since, sure });
    }

    // Losses.

    /// Marks what waits, was sent before `newest`, and `is_due`; those sent once come first.
    fn mark(&mut self, newest: Order, board: &mut Scoreboard, note: bool, is_due: impl Fn(Order) -> bool) -> u64 {
        let due = |s: &&Sent| waits(s) && order(s) < newest && is_due(order(s));
        let mut found: Vec<Sent> = board.iter().filter(due).copied().collect();
        found.sort_by_key(|s| (s.sends > 1, order(s)));
        let mut bytes = 0;
        for s in found {
            if note {
                self.declared_lost(&s);
            }
            bytes += board.mark_lost(s.start);
        }
        bytes
    }

    /// Of what waits and was sent before `newest`: the oldest, and the newest.
    fn waiting(newest: Order, board: &Scoreboard) -> (Option<Order>, Option<Order>) {
        let waits = || board.iter().filter(|s| waits(s)).map(order).filter(|key| *key < newest);
        (waits().min(), waits().max())
    }

    /// Forgets resent segments at the front that wait no more, or, of a list that is out of date, all that do not.
    fn tidy(&mut self, board: &Scoreboard, newest: Option<Order>) {
        let mut known: Vec<Order> = board.iter().filter(|s| s.sends > 1 && waits(s)).map(order).collect();
        known.sort_unstable();
        let list = self.resent.take().unwrap_or_else(|| known.clone());
        let gone = |key: &&Order| newest.is_none_or(|n| **key < n) && !known.contains(key);
        let n = list.iter().take_while(gone).count();
        self.resent = Some(if board.is_empty() { vec![] } else { list[n..].to_vec() });
    }

    fn wait(&self, repairing: bool, board: &Scoreboard, cx: &Ctx) -> u64 {
        let min = cx.min_rtt.map_or(0, |m| m.0);
        match self.longest {
            None => {
                let sacked = board.iter().filter(|s| board::sacked(s)).count();
                let n = self.spec.dupthresh as usize;
                let enough = n > 0 && sacked >= n;
                if repairing || enough {
                    0
                } else {
                    times(min, self.spec.first_rtts)
                }
            }
            Some(w) => {
                let wait = u64::max(times(w, self.spec.margin), times(min, self.spec.least_rtts));
                cx.srtt.map_or(wait, |srtt| u64::min(wait, times(srtt.0, self.spec.cap_srtts)))
            }
        }
    }

    /// Drops the steps that concern nothing that waits; returns since when the oldest is overtaken.
    fn settle(&mut self, oldest: Option<Order>) -> Option<u64> {
        match oldest {
            Some(key) => self.steps.retain(|step| key < step.before),
            None => self.steps.clear(),
        }
        self.steps.first().map(|step| step.since)
    }

    fn judge(&mut self, repairing: bool, board: &mut Scoreboard, cx: &Ctx) -> u64 {
        let Some(newest) = self.newest else { return 0 };
        (self.head_waits, self.judge_at) = (false, None);
        if self.steps.is_empty() {
            return 0;
        }
        let wait = self.wait(repairing, board, cx);
        if self.longest.is_none() {
            // RFC 8985 §6.2 step 5.
            let wait = self.round_trip + wait;
            let lost = self.mark(newest, board, true, |key| key.0 + wait <= cx.now.0);
            self.tidy(board, Some(newest));
            let (_, last) = Late::waiting(newest, board);
            if last.is_none() {
                self.steps.clear();
            }
            self.judge_at = last.map(|key| key.0 + wait);
            return lost;
        }
        let due = self.steps.iter().filter(|step| step.since + wait <= cx.now.0).map(|step| step.before).max();
        let lost = self.mark(newest, board, true, |key| due.is_some_and(|due| key < due));
        self.tidy(board, None);
        let (oldest, _) = Late::waiting(newest, board);
        let since = self.settle(oldest);
        let head = board::oldest(board).map(order);
        self.head_waits = oldest.is_some() && head == oldest && cx.phase != Phase::Loss;
        self.judge_at = since.map(|since| since + wait);
        lost
    }
}

/// The newest segment that this ACK surely reports (RFC 8985 §6.2 step 2), and whether it was sent once.
pub(super) fn surely_newest(ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> Option<(Order, bool)> {
    let own = |(at, end): Order| {
        let older = end <= ack.ack.0 && ack.tsecr.is_some_and(|echo| is_older(echo, ms(Time(at))));
        !older && cx.min_rtt.is_none_or(|min| cx.now.0 - at >= min.0)
    };
    let n = ack.newest?;
    let first = (n.at.0, n.end.0);
    if !n.retransmitted || own(first) {
        return Some((first, !n.retransmitted));
    }
    let sure = |s: &&Sent| s.sends == 1 || own(order(s));
    board::newly(board).filter(sure).map(|s| (order(s), s.sends == 1)).max()
}

/// In the network as far as is known.
pub(super) fn waits(s: &Sent) -> bool {
    !board::sacked(s) && (!board::lost(s) || board::resent(s))
}

/// What an ACK leads to: losses, a loss that a probe repaired, doubt.
pub(super) fn verdict(lost: u64, repaired: bool, sacked: bool) -> Verdict {
    match (lost, repaired, sacked) {
        (1.., _, _) => Verdict::Lost(lost),
        (0, true, _) => Verdict::Repaired,
        (0, false, true) => Verdict::Suspect,
        (0, false, false) => Verdict::Clear,
    }
}

/// A span times a factor.
fn times(span: u64, factor: f64) -> u64 {
    (span as f64 * factor) as u64
}

impl Detector for Late {
    fn on_ack(&mut self, ack: &AckEvent, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.tail.measured |= ack.rtt.is_some();
        let (now, before) = (cx.now.0, self.longest);
        let learned = self.read_lateness(ack, board, now);
        self.late_lately |= learned;
        let same = self.overtake(ack, board, cx) && before.is_some() && !learned;
        let repaired = self.tail.answered(ack);
        let repairs = super::counting::repairs(cx);
        let repairing = repairs && cx.recover.is_none_or(|r| cx.snd_una.0 < r.0);
        // What only lengthens the run changes no deadline.
        let nothing_due = same && self.judge_at.is_some_and(|at| now < at);
        let lost = if nothing_due { 0 } else { self.judge(repairing, board, cx) };
        self.tail.any_sacked = board::highest_sacked(board).is_some();
        if repairing || self.tail.any_sacked || lost > 0 || flight(cx) == 0 {
            self.tail.pto = None;
        } else if advances(ack) {
            self.tail.arm(now, cx);
        }
        verdict(lost, repaired && !repairs, self.tail.any_sacked)
    }
}

impl Timekeeper for Late {
    fn keeps_time(&self) -> bool {
        true
    }
    fn deadline(&self) -> Option<Time> {
        [self.judge_at, self.tail.pto].into_iter().flatten().min().map(Time)
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let now = cx.now.0;
        let gives_up = self.head_waits && cx.rto_at.is_some_and(|at| at.0 <= now);
        if gives_up || self.judge_at.is_some_and(|at| at <= now) {
            let mut lost = 0;
            if let (true, Some(head)) = (gives_up, board::oldest(board).copied()) {
                self.declared_lost(&head);
                lost += board.mark_lost(head.start);
            }
            lost += self.judge(super::counting::repairs(cx), board, cx);
            if lost > 0 {
                self.tail.pto = None;
                return Verdict::Lost(lost);
            }
        }
        if self.tail.fires(board, cx) {
            Verdict::Probe
        } else {
            Verdict::Clear
        }
    }
    fn watches_sends(&self) -> bool {
        self.tail.watches_sends()
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if let (true, Some(list)) = (sent.sends > 1, &mut self.resent) {
            // Only the last copy counts.
            list.retain(|key| sent.sends == 2 || key.1 != end_of(sent));
            list.push(order(sent));
            list.sort_unstable();
        }
        self.tail.on_sent(x, sent, cx);
    }
    fn hold_until(&self) -> Option<Time> {
        None
    }
    fn owns_rto(&self) -> bool {
        false
    }
    fn stands_in_for_rto(&self) -> StandIn {
        if self.head_waits {
            StandIn::Restart
        } else {
            StandIn::No
        }
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        (self.judge_at, self.head_waits, self.resent) = (None, false, None);
        if self.newest.is_none() {
            return false;
        }
        // RFC 8985 §6.3.
        let wait = self.round_trip + self.wait(true, board, cx);
        self.mark((u64::MAX, 0), board, false, |key| key.0 + wait <= cx.now.0);
        self.resent = None;
        self.judge(true, board, cx);
        true
    }
}

impl Learner for Late {
    fn on_recovered(&mut self, _: &Ctx) {
        if !std::mem::take(&mut self.late_lately) {
            self.longest = self.longest.map(|w| times(w, self.spec.keep_after_losses));
        }
        // The marks may be gone.
        self.resent = None;
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        if super::counting::repairs(cx) {
            self.tail.reset();
        }
    }
    fn on_handshake(&mut self, _: Nanos, _: Time) {}
}
