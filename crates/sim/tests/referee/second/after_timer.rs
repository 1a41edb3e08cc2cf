//! What follows a retransmission timeout, worked out once more.

use super::{advances, board, end_of, mss};
use ackclock_tcp::event::{Cause, Window};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Flow, Rearm, Xmit};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Episode, Mistake};
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::timeout::frto::{Form, FrtoSpec};
use ackclock_tcp::timeout::go_back_n::GoBackNSpec;
use ackclock_tcp::timeout::sack::{Mark, SackSpec};
use ackclock_tcp::timeout::{Repair, Timeout};
use ackclock_tcp::units::Bytes;

type Answer = (Flow, Option<Mistake>);

const GOES_ON: Flow = Flow::Continue(Rearm::OnNewData);
const OVER: Flow = Flow::Done { grow: false };

/// Everything again from `snd_una` on.
pub(super) struct GoBackN(pub(super) GoBackNSpec);

impl Timeout for GoBackN {
    fn enter(&mut self, _: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        w.cwnd = mss(cx);
        if board::reneged(board) || !self.0.keep_sacks {
            board.clear_sacks();
        }
        Repair::Rewind { skip_sacked: self.0.skip_sacked }
    }
    fn marked(&mut self, _: bool, _: &mut Window, _: &mut Scoreboard, _: &Ctx) {}
    fn on_ack(
        &mut self,
        _: &AckEvent,
        lost: Bytes,
        _: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Answer {
        if lost > 0 {
            return (Flow::Begin, None);
        }
        (if cx.snd_nxt.0 < cx.snd_max.0 { GOES_ON } else { OVER }, None)
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        board::window_admits(w, 0, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {}
}

/// RFC 6675 §5.1, RFC 8985 §6.3.
pub(super) struct Sack {
    spec: SackSpec,
    /// Nothing has been sent since the timer fired.
    fresh: bool,
}

impl Sack {
    pub(super) fn new(spec: &SackSpec) -> Sack {
        Sack { spec: spec.clone(), fresh: false }
    }
}

impl Timeout for Sack {
    fn enter(&mut self, _: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        w.cwnd = mss(cx);
        if self.spec.clear_sacks || board::reneged(board) {
            board.clear_sacks();
        }
        self.fresh = self.spec.mark == Mark::Head;
        if self.fresh {
            board.mark_head_lost();
        } else {
            board.mark_rest_lost();
        }
        Repair::Marks
    }
    fn marked(&mut self, _: bool, _: &mut Window, _: &mut Scoreboard, _: &Ctx) {}
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        _: &Ctx,
    ) -> Answer {
        if ack.ack.0 < ep.recover.0 {
            return (GOES_ON, None);
        }
        let another = self.spec.mark == Mark::Head && lost > 0;
        (if another { Flow::Begin } else { OVER }, None)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.fresh {
            return board::lost_or_new_free(board, cx);
        }
        board::lost_or_new(w, board, cx)
    }
    fn on_sent(&mut self, _: Xmit, _: &Sent, _: &Ctx) {
        self.fresh = false;
    }
}

/// Where the detection is (RFC 5682 §2.1).
#[derive(Clone, Copy, PartialEq)]
enum Step {
    One { resent: bool },
    Two { new_segments: u32 },
    Decided,
}

/// RFC 5682, and Linux's variant.
pub(super) struct Frto {
    form: Form,
    clear_sacks: bool,
    step: Step,
    recover: u64,
    /// Of the last timeout: its episode, the end of everything sent, the end of the segment resent.
    episode: u32,
    sent_then: u64,
    resent_end: u64,
}

impl Frto {
    pub(super) fn new(spec: &FrtoSpec) -> Frto {
        let FrtoSpec { form, clear_sacks } = *spec;
        Frto { form, clear_sacks, step: Step::Decided, recover: 0, episode: 0, sent_then: 0, resent_end: 0 }
    }

    fn is_linux(&self) -> bool {
        self.form == Form::Linux || self.form == Form::LinuxNoSack
    }

    /// Step 1: whether this timeout may be examined at all.
    fn may_examine(&self, ep: &Episode, board: &Scoreboard, cx: &Ctx) -> bool {
        if ep.cause != Cause::Rto {
            return false;
        }
        let again = self.episode == ep.id;
        if self.form != Form::Basic && !again && board.iter().any(|s| board::lost(s) || s.sends > 1) {
            return false;
        }
        cx.snd_una.0 >= self.recover || (again && self.is_linux())
    }

    fn lost(&mut self, w: &mut Window, segments: Option<f64>, cx: &Ctx) {
        self.step = Step::Decided;
        if let Some(n) = segments {
            w.cwnd = f64::min(w.cwnd, n * mss(cx));
        }
    }

    fn spurious(&mut self, ep: &mut Episode, cx: &Ctx) -> Option<Mistake> {
        self.step = Step::Decided;
        self.recover = cx.snd_una.0;
        ep.recover = cx.snd_una;
        Some(Mistake { episode: ep.id, cause: ep.cause, sample: None })
    }

    /// An original of before the timeout has arrived.
    fn original(&self, board: &Scoreboard) -> bool {
        board::newly(board).any(|s| s.sends == 1 && end_of(s) <= self.sent_then)
    }

    /// Step 2.
    fn two(&mut self, ack: &AckEvent, ep: &mut Episode, w: &mut Window, cx: &Ctx) {
        let basic = self.form == Form::Basic;
        let counts = advances(ack) || (basic && ack.is_dup);
        if !counts {
            return;
        }
        self.recover = cx.snd_max.0;
        ep.recover = cx.snd_max;
        if !advances(ack) {
            return self.lost(w, None, cx);
        }
        if ack.ack.0 == cx.snd_max.0 {
            let two = if self.form == Form::Sack { Some(2.0) } else { None };
            return self.lost(w, two, cx);
        }
        if cx.next_len == 0 || (basic && ack.ack.0 < self.resent_end) {
            return self.lost(w, None, cx);
        }
        self.step = Step::Two { new_segments: 0 };
    }

    /// Step 3.
    fn three(
        &mut self,
        ack: &AckEvent,
        ep: &mut Episode,
        w: &mut Window,
        board: &Scoreboard,
        cx: &Ctx,
    ) -> Option<Mistake> {
        let reports = ack.is_dup || ack.has_sack || ack.dsack.is_some();
        match self.form {
            Form::Basic => {
                if advances(ack) {
                    return self.spurious(ep, cx);
                }
                if ack.is_dup {
                    self.lost(w, Some(3.0), cx);
                }
            }
            Form::Sack => {
                if !advances(ack) && !reports {
                    return None;
                }
                let beyond = ack.ack.0 > self.recover || board::newly(board).any(|s| end_of(s) > self.recover);
                if !beyond && ack.delivered > 0 {
                    return self.spurious(ep, cx);
                }
                self.lost(w, Some(3.0), cx);
            }
            Form::Linux => {
                if !advances(ack) && reports {
                    self.lost(w, None, cx);
                }
            }
            Form::LinuxNoSack => {
                if ack.is_dup {
                    self.lost(w, None, cx);
                }
            }
        }
        None
    }
}

impl Timeout for Frto {
    fn enter(&mut self, ep: &mut Episode, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Repair {
        let examine = self.may_examine(ep, board, cx);
        if board::reneged(board) || self.clear_sacks {
            board.clear_sacks();
        }
        if self.form == Form::Linux {
            board.mark_head_lost();
        } else {
            board.mark_rest_lost();
        }
        w.cwnd = mss(cx);
        self.episode = ep.id;
        self.sent_then = cx.snd_max.0;
        self.resent_end = board::oldest(board).map_or(cx.snd_una.0, board::end);
        if examine {
            self.step = Step::One { resent: false };
        } else {
            self.step = Step::Decided;
            self.recover = cx.snd_max.0;
        }
        Repair::Marks
    }
    fn marked(&mut self, by_time: bool, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) {
        if self.form != Form::Linux {
            return;
        }
        if !by_time {
            board.mark_rest_lost();
        }
        w.cwnd = board::pipe(board) as f64 + mss(cx);
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Answer {
        // Linux: any ACK of data that was never resent decides.
        let decides = self.is_linux()
            && self.step != Step::Decided
            && self.original(board)
            && (self.form == Form::Linux || !ack.covers_retransmit);
        let mut verdict = None;
        if decides {
            verdict = self.spurious(ep, cx);
            if self.form == Form::LinuxNoSack {
                ep.recover = ack.prior_una;
            }
        } else {
            match self.step {
                Step::One { .. } => self.two(ack, ep, w, cx),
                Step::Two { .. } => verdict = self.three(ack, ep, w, board, cx),
                Step::Decided => {}
            }
        }
        if ack.ack.0 >= ep.recover.0 {
            return (OVER, verdict);
        }
        let again = self.form == Form::Linux && lost > 0 && board::lost_again_since(board, ep.began);
        (if again && verdict.is_none() { Flow::Begin } else { GOES_ON }, verdict)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        match self.step {
            Step::One { resent: true } => None,
            Step::One { resent: false } => Some(Xmit::Again(cx.snd_una)),
            Step::Two { new_segments } => (cx.next_len > 0 && new_segments < 2).then_some(Xmit::New),
            Step::Decided => board::lost_or_new(w, board, cx),
        }
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        match (&mut self.step, x) {
            (Step::One { resent }, Xmit::Again(_)) => *resent = true,
            (Step::Two { new_segments }, Xmit::New) => *new_segments += 1,
            _ => {}
        }
    }
}
