//! TCP-PR: a packet is lost when its own timer expires; duplicates mean nothing.
//!
//! Source: Bohacek, Hespanha, Lee, Lim & Obraczka 2003.
//!
//! Idea: where packets are reordered all the time, only time tells loss from reordering. The limit is a multiple of a slowly
//! decaying maximum of the RTTs. Packets in flight at a cut belong to the same loss and cause no further cut.
//!
//! | source | here |
//! | --- | --- |
//! | time(n), cwnd(n) | `Sent::at`, `Sent::cwnd` |
//! | to_be_ack, to_be_sent | outstanding and not marked lost; marked lost and not resent |
//! | memorize | outstanding packets sent before `event` |
//! | ewrtt, mxrtt, α, β | `ewrtt`, `mxrtt`, `alpha`, `beta` |
//! | cburst, extreme losses | `burst`; `Verdict::Collapsed`, and `hold` |
//!
//! Departures: mxrtt has a ceiling, because lost ACKs would let it grow without bound, and is at least the shortest RTT of a
//! segment sent once: the ACK of an original just after its retransmission gives a sample of almost 0. Until there is such a
//! segment, the first limit holds. The gate is RFC
//! 6675's: a segment's worth of free window. Unsaid: an ACK that tells no packet (a duplicate without SACK) gives no sample;
//! the loss of a segment that was alone on the path counts as a timeout that backs off (decision 0059); and reneging: once
//! the limit has passed, data that is SACKed but not acknowledged counts as not SACKed.

use super::{Detector, Learner, Timekeeper, Verdict};
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::Xmit;
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::{Marks, Scoreboard, Sent};
use crate::time::earliest;
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The least limit after extreme losses.
const COARSE: Nanos = Nanos::from_secs(1);

/// How α to the power of 1/cwnd is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Root {
    /// As exactly as floating point allows.
    #[default]
    Exact,
    /// By two Newton steps from 1, as the paper's implementation does.
    TwoNewtonSteps,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpPrSpec {
    /// α: share of the maximum RTT that remains after a round trip. Default: 0.995.
    pub alpha: f64,
    /// β: the limit as a multiple of the maximum RTT. Default: 3.
    pub beta: f64,
    /// The limit before the first ACK, 1 s or more. Default: 3 s (RFC 2988's first timeout).
    pub initial: Nanos,
    /// Ceiling of the limit. Default: 60 s.
    pub max: Nanos,
    /// How the root is computed. Default: "exact".
    pub root: Root,
}

impl Default for TcpPrSpec {
    fn default() -> Self {
        TcpPrSpec {
            alpha: 0.995,
            beta: 3.0,
            initial: Nanos::from_secs(3),
            max: Nanos::from_secs(60),
            root: Root::Exact,
        }
    }
}

impl TcpPrSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let share = self.alpha > 0.0 && self.alpha <= 1.0;
        StackError::unless(share, "detect.alpha", &self.alpha, "more than 0 and at most 1")?;
        let multiple = (1.0..=1000.0).contains(&self.beta);
        StackError::unless(multiple, "detect.beta", &self.beta, "1 to 1000 round trips")?;
        StackError::unless(self.initial >= COARSE, "detect.initial", &self.initial, "1 s or more")?;
        StackError::unless(self.max >= COARSE, "detect.max", &self.max, "1 s or more")
    }

    /// α to the power of 1/c: the share of the maximum that remains after one of the c ACKs of a round trip.
    fn root_of_alpha(&self, c: f64) -> f64 {
        match self.root {
            Root::Exact => libm::pow(self.alpha, 1.0 / c),
            Root::TwoNewtonSteps => {
                (0..2).fold(1.0, |x, _| (c - 1.0) / c * x + self.alpha / (c * libm::pow(x, c - 1.0)))
            }
        }
    }
}

/// TCP-PR's detector at work.
pub struct TcpPr {
    spec: TcpPrSpec,
    /// In nanoseconds. A maximum, so it is 0 before the first ACK.
    ewrtt: f64,
    mxrtt: Nanos,
    /// The last window in whole segments, and α's root for it.
    root: Option<(u64, f64)>,
    /// Send time of the oldest packet outstanding; `None` if none is.
    oldest: Option<Time>,
    /// Time of the last event; packets sent before it belong to it.
    event: Option<Time>,
    /// Packets of that event lost since.
    burst: u32,
    hold: Option<Time>,
    /// Extreme losses occurred, with no ACK since.
    backed_off: bool,
}

/// The result of one check of the clocks.
#[derive(Default)]
struct Found {
    marked: Bytes,
    /// A lost packet belongs to no earlier event.
    news: bool,
    /// It was alone on the path.
    alone: bool,
    /// More than half of its window is lost.
    extreme: bool,
}

/// Whether it is in the network as far as the sender knows, and not a zero-window probe.
fn is_out(s: &Sent) -> bool {
    let lost = s.marks.any(Marks::LOST);
    !s.marks.any(Marks::SACKED) && (!lost || s.marks.any(Marks::REXMIT)) && (lost || !s.marks.any(Marks::PROBE))
}

impl TcpPr {
    pub(super) fn new(spec: &TcpPrSpec) -> Self {
        TcpPr {
            spec: spec.clone(),
            ewrtt: 0.0,
            mxrtt: spec.initial.min(spec.max),
            root: None,
            oldest: None,
            event: None,
            burst: 0,
            hold: None,
            backed_off: false,
        }
    }

    /// The share of the maximum that remains after an ACK, cached until the window changes.
    fn left(&mut self, segs: u64) -> f64 {
        if let Some((_, left)) = self.root.filter(|known| known.0 == segs) {
            return left;
        }
        let left = self.spec.root_of_alpha(segs as f64);
        self.root = Some((segs, left));
        left
    }

    /// Declares lost every packet outstanding for longer than `mxrtt`, oldest data first.
    fn check_timers(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Found {
        let (mut found, mut oldest) = (Found::default(), None);
        // RFC 2018 §8: a receiver that holds the oldest segment would have acknowledged it; it has reneged.
        let reneged = board.iter().next().is_some_and(|s| s.marks.any(Marks::SACKED));
        if reneged {
            board.clear_sacks();
        }
        let mut next = board.iter().next().map(|s| s.start);
        while let Some(s) = next.and_then(|at| board.get(at)).copied() {
            next = Some(s.end());
            // A SACKed probe belongs to no closed window any more: nothing else resends it.
            let probe = reneged && s.marks.any(Marks::PROBE);
            if !is_out(&s) && !probe {
                continue;
            }
            if cx.now < s.at + self.mxrtt {
                oldest = earliest(oldest, Some(s.at));
                continue;
            }
            found.marked += board.mark_lost(s.start);
            if self.event.is_some_and(|event| s.at < event) {
                self.burst += 1;
                found.extreme |= f64::from(self.burst) > s.cwnd / (2.0 * cx.smss()) + 1.0;
            } else {
                (self.event, self.burst) = (Some(cx.now), 0);
                found.news = true;
                found.alone |= s.cwnd < 2.0 * cx.smss();
            }
        }
        self.oldest = oldest;
        found
    }

    fn verdict(&mut self, found: &Found, cx: &Ctx) -> Verdict {
        let slower = |mxrtt: Nanos, factor| mxrtt.times(factor).max(COARSE).min(self.spec.max);
        match found {
            _ if found.marked == 0 => Verdict::Clear,
            // Data sent after extreme losses is lost, too: back off, since nothing is left to cut.
            _ if self.backed_off => {
                if found.news {
                    self.mxrtt = slower(self.mxrtt, 2);
                }
                Verdict::More(found.marked)
            }
            Found { extreme: true, .. } | Found { alone: true, .. } => {
                self.mxrtt = slower(self.mxrtt, if found.extreme { 1 } else { 2 });
                self.hold = found.extreme.then_some(cx.now + self.mxrtt);
                (self.backed_off, self.event, self.burst) = (true, Some(cx.now), 0);
                Verdict::Collapsed(found.marked)
            }
            Found { news: true, .. } => Verdict::Lost(found.marked),
            _ => Verdict::More(found.marked),
        }
    }
}

impl Detector for TcpPr {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if ack.delivered > 0 {
            let segs = ((w.cwnd / cx.smss()) as u64).max(1);
            let left = self.left(segs);
            self.ewrtt = board.newly().fold(self.ewrtt, |max, s| (max * left).max(cx.now.since(s.at).0 as f64));
            // Without a round trip of a segment sent once, every sample may be too short: the first limit stays.
            if let Some(least) = cx.min_rtt.filter(|_| self.ewrtt > 0.0) {
                self.mxrtt = Nanos((self.spec.beta * self.ewrtt) as u64).max(least).min(self.spec.max);
            }
            self.backed_off = false;
        }
        if board.pipe() == 0 {
            // Nothing is outstanding, but a receiver that only SACKs the oldest segment has not accepted it (RFC 2018 §8):
            // wait for it, too.
            let reneged = board.iter().next().filter(|s| s.marks.any(Marks::SACKED));
            self.oldest = reneged.map(|_| self.oldest.unwrap_or(cx.now));
        } else if let Some(s) = board.iter().next().filter(|s| s.sends == 1 && is_out(s)) {
            // Everything above it was sent later.
            self.oldest = Some(s.at);
        }
        Verdict::Clear
    }
}

impl Timekeeper for TcpPr {
    fn keeps_time(&self) -> bool {
        true
    }
    fn on_timer(&mut self, _: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.hold = self.hold.filter(|t| cx.now < *t);
        let found = self.check_timers(board, cx);
        self.verdict(&found, cx)
    }
    fn deadline(&self) -> Option<Time> {
        earliest(self.oldest.map(|t| t + self.mxrtt), self.hold)
    }
    fn hold_until(&self) -> Option<Time> {
        self.hold
    }
    fn watches_sends(&self) -> bool {
        // While data is outstanding, a send reveals nothing new.
        self.oldest.is_none() || self.hold.is_some()
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, _: &Ctx) {
        if is_out(sent) {
            self.oldest.get_or_insert(sent.at);
        }
    }
    fn owns_rto(&self) -> bool {
        true
    }
}

impl Learner for TcpPr {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::scoreboard::Delivered;
    use crate::seq::Offset;
    use crate::testing::{context, wide};

    #[test]
    fn the_root_of_alpha_by_two_newton_steps_is_the_exact_one_to_ten_digits() {
        // Spec B2's vector: c = 10, alpha = 0.995.
        let near = |root, want: f64| {
            let spec = TcpPrSpec { root, ..TcpPrSpec::default() };
            assert!((spec.root_of_alpha(10.0) - want).abs() < 1e-10, "{root:?}");
        };
        near(Root::Exact, 0.999_498_871_4);
        near(Root::TwoNewtonSteps, 0.999_498_871_4);
        let spec = TcpPrSpec { root: Root::TwoNewtonSteps, ..TcpPrSpec::default() };
        assert_eq!(spec.root_of_alpha(1.0), 0.995);
    }

    /// A board with one segment, sent at 0, and what the detector is told at `now`.
    fn one_segment(now: Time, min_rtt: Option<Nanos>) -> (Scoreboard, Ctx) {
        let mut board = Scoreboard::default();
        board.push(Offset(1), 1000, Time::ZERO, 1000.0, false);
        (board, Ctx { now, min_rtt, ..context() })
    }

    #[test]
    fn before_the_first_sample_an_ack_that_tells_no_packet_leaves_the_limit() {
        // The sample is the time since packet n was sent; a duplicate without SACK names none.
        let mut pr = TcpPr::new(&TcpPrSpec::default());
        let (mut board, cx) = one_segment(Time(40_000_000), None);
        let duplicate = Delivered { bytes: 1000, ..Delivered::default() };
        pr.on_ack(&duplicate.ack_event(Offset(1), Offset(1), cx.now), &wide(), &mut board, &cx);
        assert_eq!(pr.mxrtt, Nanos::from_secs(3));
    }

    #[test]
    fn the_limit_is_at_least_the_shortest_round_trip_of_a_segment_sent_once() {
        // The segment is resent, and the ACK of its original follows a microsecond later.
        let mut pr = TcpPr::new(&TcpPrSpec::default());
        let (mut board, cx) = one_segment(Time(40_001_000), Some(Nanos::from_millis(40)));
        board.resend(Offset(1), Time(40_000_000), 1000.0);
        board.begin_ack();
        let mut delivered = Delivered::default();
        board.acknowledge(Offset(1001), &mut delivered);
        pr.on_ack(&delivered.ack_event(Offset(1), Offset(1001), cx.now), &wide(), &mut board, &cx);
        assert_eq!((pr.ewrtt, pr.mxrtt), (1_000.0, Nanos::from_millis(40)));
    }

    #[test]
    fn until_a_segment_sent_once_is_acknowledged_the_first_limit_holds() {
        // The ACK of an original arrives a microsecond after its copy was sent, and no other round trip is known.
        let mut pr = TcpPr::new(&TcpPrSpec::default());
        let (mut board, cx) = one_segment(Time(40_001_000), None);
        board.resend(Offset(1), Time(40_000_000), 1000.0);
        board.begin_ack();
        let mut delivered = Delivered::default();
        board.acknowledge(Offset(1001), &mut delivered);
        pr.on_ack(&delivered.ack_event(Offset(1), Offset(1001), cx.now), &wide(), &mut board, &cx);
        assert_eq!((pr.ewrtt, pr.mxrtt), (1_000.0, Nanos::from_secs(3)));
    }

    #[test]
    fn an_ack_leaves_alpha_to_the_power_of_one_window_of_the_largest_round_trip() {
        // Bohacek et al. 2003: per round trip, that is per window of ACKs, α of the maximum remains.
        let mut pr = TcpPr::new(&TcpPrSpec::default());
        for segs in [1, 10, 10, 2] {
            let want = libm::pow(TcpPrSpec::default().alpha, 1.0 / segs as f64);
            assert!((pr.left(segs) - want).abs() < 1e-12, "a window of {segs}");
        }
    }
}
