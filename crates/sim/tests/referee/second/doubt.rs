//! What may be sent while it is unclear whether data is lost, worked out once more.

use super::{board, flight, mss, whole};
use ackclock_tcp::disorder::extended::ExtendedSpec;
use ackclock_tcp::disorder::Disorder;
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::ncr::NcrMode;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::units::Bytes;

/// What duplicates allow beyond the window.
pub(super) enum Allowance {
    /// RFC 5681.
    None,
    /// RFC 3042.
    Two,
    /// Blanton & Allman 2002 §6.1.
    Extended(ExtendedSpec),
}

/// The window, and what duplicates allow beyond it.
pub(super) struct ByWindow {
    allowance: Allowance,
    /// Bytes that may go beyond the window now.
    extra: u64,
    /// Segments sent beyond it.
    beyond: Vec<u64>,
}

impl ByWindow {
    pub(super) fn new(allowance: Allowance) -> ByWindow {
        ByWindow { allowance, extra: 0, beyond: vec![] }
    }
}

impl Disorder for ByWindow {
    fn on_enter(&mut self, _: &Window, _: &Ctx) {
        self.extra = 0;
        self.beyond.clear();
    }
    fn on_dup(&mut self, ack: &AckEvent, w: &Window, cx: &Ctx) {
        let smss = u64::from(cx.mss);
        self.extra = match &self.allowance {
            Allowance::None => 0,
            Allowance::Two => u64::from(ack.dup_run.min(2)) * smss,
            Allowance::Extended(s) => {
                // One for each of the first two duplicates, then one for every second: the 4th, the 6th, ...
                let of = (1..=ack.dup_run).filter(|k| s.every_dup || *k <= 2 || k % 2 == 0).count() as u64 * smss;
                s.most_cwnds.map_or(of, |n| of.min(whole(w.cwnd * f64::from(n), cx)))
            }
        };
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        board::window_admits(w, self.extra, cx).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        if flight(cx) > whole(w.cwnd, cx) && !matches!(self.allowance, Allowance::None) {
            self.beyond.push(u64::from(sent.len));
        }
    }
    fn sent_beyond(&self) -> Bytes {
        self.beyond.iter().sum()
    }
    fn on_resolved(&mut self, _: &mut Window, _: &Ctx) {
        self.extra = 0;
        self.beyond.clear();
    }
}

/// RFC 8985's senders: as much as the pipe leaves room for.
#[derive(Default)]
pub(super) struct Pipe(u64);

impl Disorder for Pipe {
    fn on_enter(&mut self, _: &Window, _: &Ctx) {
        self.0 = 0;
    }
    fn on_dup(&mut self, _: &AckEvent, _: &Window, _: &Ctx) {}
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        board::lost_or_new(w, board, cx)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, w: &Window, cx: &Ctx) {
        if matches!(x, Xmit::New) && flight(cx) > whole(w.cwnd, cx) {
            self.0 += u64::from(sent.len);
        }
    }
    fn sent_beyond(&self) -> Bytes {
        self.0
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        let above = flight(cx).saturating_sub(whole(w.cwnd, cx));
        self.0 = u64::min(self.0, above);
    }
}

/// RFC 4653 §3.
pub(super) struct Ncr {
    mode: NcrMode,
    flight_size_prev: u64,
    skipped: u64,
    beyond: u64,
}

impl Ncr {
    pub(super) fn new(mode: NcrMode) -> Ncr {
        Ncr { mode, flight_size_prev: 0, skipped: 0, beyond: 0 }
    }

    fn more_than_before(&self, cx: &Ctx) -> u64 {
        flight(cx).saturating_sub(self.flight_size_prev)
    }
}

impl Disorder for Ncr {
    fn on_enter(&mut self, _: &Window, cx: &Ctx) {
        *self = Ncr { flight_size_prev: flight(cx), ..Ncr::new(self.mode) };
    }
    fn on_dup(&mut self, _: &AckEvent, _: &Window, _: &Ctx) {}
    fn next(&self, _: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        // §3.2 (E.2).
        let free = i128::from(self.flight_size_prev) - i128::from(board::pipe(board)) - i128::from(self.skipped);
        (free >= i128::from(cx.mss) && cx.next_len > 0).then_some(Xmit::New)
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, _: &Window, cx: &Ctx) {
        match self.mode {
            NcrMode::Careful => self.skipped += u64::from(sent.len),
            NcrMode::Aggressive => {}
        }
        self.beyond = self.more_than_before(cx);
    }
    fn sent_beyond(&self) -> Bytes {
        self.beyond
    }
    fn on_resolved(&mut self, w: &mut Window, cx: &Ctx) {
        // §3.3 (T.2), (T.3); the ACK itself opens the window by the missing segment.
        let (before, now) = (self.flight_size_prev as f64, flight(cx) as f64);
        w.cwnd = f64::max(f64::min(now, before - mss(cx)), mss(cx));
        w.ssthresh = f64::max(before, 2.0 * mss(cx));
        self.skipped = 0;
        self.beyond = self.more_than_before(cx);
    }
}
