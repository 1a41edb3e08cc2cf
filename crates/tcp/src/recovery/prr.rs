//! Proportional Rate Reduction: the window is reduced over a round trip, in step with delivered data.
//!
//! Source: RFC 9937 §6.1, §6.2; Linux 6.18 (`tcp_cwnd_reduction` in `net/ipv4/tcp_input.c`), in our words; RFC 6937 §3 (its two
//! bounds as switches); RFC 6675 §4 for the choice of segments.
//!
//! Idea: while more than ssthresh is in the network, send ssthresh / RecoverFS of the data delivered; below it, about as much
//! as is delivered, so that heavy losses end neither in a burst nor in a stall.
//!
//! | source | here |
//! | --- | --- |
//! | RecoverFS, prr_delivered, prr_out | `recover_fs`, `delivered`, `out`, bytes |
//! | inflight (RFC 9937), pipe (RFC 6937) | `board.pipe()` |
//! | sndcnt | the room that the gate `cwnd − pipe` leaves |
//! | SafeACK | `safe` |
//! | PRR-CRB, PRR-SSRB (RFC 6937) | `bound` |
//!
//! Departures: without SACK only if duplicates count as SACKs. The proportional part is rounded up to whole segments
//! (decision 0041); the window is never below one segment.
//! Unsaid: an episode begun by a timer has no ACK; it sends one segment at once. A loss shown by the ACK that ends the episode
//! begins the next one.

use super::next_seg::NextSeg;
use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate::{self, Gate};
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::needs::Resends;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much may be sent while less than ssthresh is in the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// As much as is delivered, plus a segment on an ACK that advances and shows no loss (RFC 9937 §6.2).
    #[default]
    Rfc9937,
    /// As much as is delivered plus a segment, the slow start reduction bound (RFC 6937 §3).
    Ssrb,
    /// As much as was delivered since the start, the conservative reduction bound (RFC 6937 §3).
    Crb,
    /// As "rfc9937", but RecoverFS is the window (Linux: `tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`).
    Linux,
}

/// Which segment is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// RFC 6675's `NextSeg`: lost segments, new data, other holes, one rescue.
    #[default]
    Rfc6675,
    /// Segments marked lost, then new data: for detectors that find every loss (RFC 8985 §9.2).
    Marks,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrrSpec {
    /// How much may be sent below ssthresh, and the data that RecoverFS includes. Default: "rfc9937".
    pub bound: Bound,
    /// Which segment is sent. Default: "rfc6675".
    pub order: Order,
    /// Whether a lost retransmission begins a new episode, with another cut, at most once per round trip (RFC 9937 §6.1,
    /// RFC 8985 §9.3). Default: yes; only some detectors find lost retransmissions.
    pub respond_lost_rexmit: bool,
    /// Whether the retransmission timer restarts when the oldest segment is resent (Linux: `tcp_xmit_retransmit_queue`).
    /// Default: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub restart_timer: bool,
    /// Whether it continues until more is acknowledged than was outstanding at its start (RFC 6582 §3.2; Linux without SACK:
    /// `tcp_is_non_sack_preventing_reopen`). Default: no, it ends when exactly that much is acknowledged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub beyond_recover: bool,
}

impl Default for PrrSpec {
    fn default() -> Self {
        PrrSpec {
            bound: Bound::Rfc9937,
            order: Order::Rfc6675,
            respond_lost_rexmit: true,
            restart_timer: false,
            beyond_recover: false,
        }
    }
}

impl PrrSpec {
    pub(super) fn resends(&self) -> Resends {
        match self.order {
            Order::Rfc6675 => Resends::ByRule,
            Order::Marks => Resends::ByMark,
        }
    }

    pub(super) fn without_sack(&self) -> Option<PrrSpec> {
        (self.bound == Bound::Linux).then(|| PrrSpec { beyond_recover: true, ..self.clone() })
    }
}

/// PRR at work.
pub struct Prr {
    spec: PrrSpec,
    next_seg: NextSeg,
    recover_fs: Bytes,
    delivered: Bytes,
    out: Bytes,
    /// Retransmissions are on hold.
    holds: bool,
}

impl Prr {
    pub(super) fn new(spec: &PrrSpec) -> Self {
        Prr { spec: spec.clone(), next_seg: NextSeg::default(), recover_fs: 0, delivered: 0, out: 0, holds: false }
    }

    /// Sets `cwnd` so that the gate admits sndcnt bytes after an ACK that newly delivered `delivered` bytes.
    fn pace(&mut self, delivered: Bytes, safe: bool, w: &mut Window, board: &Scoreboard, cx: &Ctx) {
        self.delivered += delivered;
        let (inflight, smss) = (board.pipe() as f64, cx.smss());
        let (all, now, out) = (self.delivered as f64, delivered as f64, self.out as f64);
        let mut sndcnt = if inflight > w.ssthresh {
            let share = all * w.ssthresh / (self.recover_fs.max(1) as f64 * smss);
            libm::ceil(share) * smss - out
        } else {
            let limit = match self.spec.bound {
                Bound::Rfc9937 | Bound::Linux => (all - out).max(now) + if safe { smss } else { 0.0 },
                Bound::Ssrb => (all - out).max(now) + smss,
                Bound::Crb => all - out,
            };
            limit.min(w.ssthresh - inflight)
        };
        // RFC 9937 §6.2: the first retransmission is always sent.
        if self.out == 0 {
            sndcnt = sndcnt.max(smss);
        }
        w.cwnd = (inflight + sndcnt).max(smss);
    }

    /// Bytes that an ACK delivered. Linux also counts the second copy that a DSACK reports (`tcp_dsack_seen`).
    fn newly(&self, ack: &AckEvent) -> Bytes {
        match (self.spec.bound, ack.dsack) {
            (Bound::Linux, Some((left, right))) => ack.delivered + (right - left),
            (Bound::Linux, None) | (Bound::Rfc9937 | Bound::Ssrb | Bound::Crb, _) => ack.delivered,
        }
    }

    /// RFC 9937 §6.2: the ACK advances and shows no further loss.
    fn is_safe(&self, ack: &AckEvent, lost: Bytes, board: &Scoreboard, cx: &Ctx) -> bool {
        let rescue = self.spec.order == Order::Rfc6675 && self.next_seg.would_rescue(board, cx);
        ack.advances() && lost == 0 && !rescue
    }
}

impl Recovery for Prr {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        _: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        (self.next_seg, self.delivered, self.out) = (NextSeg::begin(board, cx), 0, 0);
        self.holds = false;
        let delivered = match (ack, self.spec.bound) {
            (Some(ack), _) => self.newly(ack),
            // tcp_rack_reo_timeout: as if a segment had been delivered.
            (None, Bound::Linux) => u64::from(cx.mss),
            (None, Bound::Rfc9937 | Bound::Ssrb | Bound::Crb) => 0,
        };
        self.recover_fs = match self.spec.bound {
            // RFC 9937 §6.2: without data that had left the network before the ACK that began the recovery.
            Bound::Rfc9937 => cx.flight() - board.sacked() + delivered,
            Bound::Linux => u64::from(cx.mss) * (w.cwnd / cx.smss()) as u64,
            Bound::Ssrb | Bound::Crb => cx.flight() + ack.map_or(0, AckEvent::acked),
        };
        self.pace(delivered, false, w, board, cx);
        Flow::Continue(Rearm::OnNewData)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        let ends = if self.spec.beyond_recover { ack.ack > ep.recover } else { ack.ack >= ep.recover };
        if ends {
            // Not every congestion control keeps ssthresh at a segment or more (RFC 9002).
            w.cwnd = w.ssthresh.max(cx.smss());
        }
        match (ends, lost > 0) {
            (true, true) => return Flow::Begin,
            (true, false) => return Flow::Done { grow: false },
            (false, _) if self.spec.respond_lost_rexmit && board.is_resent_lost_since(ep.began) => return Flow::Begin,
            (false, _) => {}
        }
        let delivered = self.newly(ack);
        if delivered > 0 {
            self.pace(delivered, self.is_safe(ack, lost, board, cx), w, board, cx);
        }
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if !gate::pipe(w, board, cx) {
            return None;
        }
        match self.spec.order {
            Order::Rfc6675 => self.next_seg.choose(board, cx),
            Order::Marks => {
                let lost = board.first_lost().filter(|_| !self.holds);
                lost.map(Xmit::Again).or((cx.next_len > 0).then_some(Xmit::New))
            }
        }
    }
    fn hold_resends(&mut self, hold: bool) {
        self.holds = hold;
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.out += u64::from(sent.len);
        self.next_seg.on_sent(x, sent, cx);
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
    fn restarts_timer(&self) -> bool {
        self.spec.restart_timer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode};
    use crate::time::Time;

    #[test]
    fn only_a_retransmission_of_this_episode_counts_as_lost_again() {
        let mut board = Scoreboard::default();
        board.push(Offset(1), 1000, Time(0), 1e9, false);
        board.mark_lost(Offset(1));
        assert!(!board.is_resent_lost_since(episode().began), "lost once");
        board.resend(Offset(1), Time(10), 1e9);
        assert!(!board.is_resent_lost_since(episode().began), "on its way again");
        board.mark_lost(Offset(1));
        for (began, again) in [(9, true), (10, true), (11, false)] {
            let ep = Episode { began: Time(began), ..episode() };
            assert_eq!(board.is_resent_lost_since(ep.began), again, "an episode that began at {began}");
        }
    }

    #[test]
    fn a_lost_retransmission_of_an_earlier_episode_begins_no_other() {
        // RFC 8985 §9.3, RFC 9937 §6.1: the segment was resent at 10.
        for (began, begins) in [(10, true), (11, false)] {
            let (mut prr, mut board) = (Prr::new(&PrrSpec::default()), Scoreboard::default());
            board.push(Offset(1), 1000, Time(0), 1e9, false);
            board.mark_lost(Offset(1));
            board.resend(Offset(1), Time(10), 1e9);
            board.mark_lost(Offset(1));
            let mut ep = Episode { began: Time(began), ..episode() };
            let (mut w, ack) = (ep.prior, AckEvent { ack: Offset(1), prior_una: Offset(1), ..blank() });
            let flow = prr.on_ack(&ack, 0, &mut ep, &mut w, &mut board, &context());
            assert_eq!(flow == Flow::Begin, begins, "an episode that began at {began}");
        }
    }
}
