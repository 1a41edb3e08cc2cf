//! The Robust Recovery (RR): new data clocks the repair, and the duplicates that it causes measure the path.
//!
//! Source: Wang & Shin §2.2. Its Figures 1 and 2 are lost: the state machine follows the text.
//!
//! Idea: the window is frozen. In the first round trip (*retreat*) every second duplicate releases one new segment; from the
//! first partial ACK on (*probe*) every one does, and each partial ACK ends a round. If as many duplicates arrived as new
//! segments had been sent, nothing more was lost and one more may be sent; otherwise the difference was lost, too.
//!
//! | source | here |
//! | --- | --- |
//! | ndup, actnum | `ndup`, `act`, segments |
//! | recover | `ep.recover` (first unsent) |
//! | actnum = 0 tells retreat from probe | `retreat` |
//! | new segments between the last two retransmissions | `expected` |
//!
//! Departures: further losses are counted by the segments really sent (`count = "exact"`), and the retransmission is sent before
//! the additional segment; `count = "act"` with `order = "extra"` is the paper's way (decision 0047).
//! Unsaid: `ssthresh` (halved at entry), the meaning of a blocked new segment, the guard (only after a timeout), whether the
//! sender's own limit (`limits.cwnd_cap_segs`, ns-2's `window_`) applies: `cap` (decision 0180).

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::seq::Offset;
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number with which the duplicates of a round are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// The new segments sent between the last two retransmissions; `actnum` is kept separately.
    #[default]
    Exact,
    /// `actnum`, to the letter of §2.2.3: data held back by the peer's window looks lost.
    Act,
    /// `actnum`, set at each step to the number of new segments actually sent.
    Sent,
}

/// The segment that is sent first on a partial ACK that allows one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The retransmission.
    #[default]
    Rexmit,
    /// The additional segment.
    Extra,
}

/// How far a further loss extends the recovery: §2.2 and §2.2.3 differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Extend {
    /// `snd.nxt` when it was detected (§2.2).
    #[default]
    Detection,
    /// The data outstanding at the start of the last round (§2.2.3).
    LastRound,
}

/// The threshold at the exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExitSsthresh {
    /// As halved at entry.
    #[default]
    Keep,
    /// At most the window and at least two segments, so that congestion avoidance begins (§2.2.3: "enters the congestion-avoidance phase").
    Min,
}

/// Whether the sender's own limit holds back its new segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnLimit {
    /// It does.
    #[default]
    Heeded,
    /// It does not: each duplicate sends a new segment, as §2.2.3 says, so `ndup = actnum` is possible.
    Ignored,
}

/// Parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RobustSpec {
    /// The number with which the duplicates of a round are compared. Default: "exact".
    pub count: Count,
    /// The segment that is sent first on a partial ACK. Default: "rexmit".
    pub order: Order,
    /// How far a further loss extends the recovery. Default: "detection".
    pub extend: Extend,
    /// The threshold at the exit. Default: "keep".
    pub exit_ssthresh: ExitSsthresh,
    /// Whether `limits.cwnd_cap_segs` (ns-2's `window_`) limits its new segments. Default: "heeded". The peer's window always
    /// applies: every receiver, even a simulated one, refuses data beyond it.
    pub cap: OwnLimit,
}

/// Robust Recovery at work.
pub struct Robust {
    spec: RobustSpec,
    retreat: bool,
    /// Duplicates of this round.
    ndup: u32,
    act: u32,
    /// New segments sent between the last two retransmissions, and since the last.
    expected: u32,
    sent: u32,
    /// New segments released by duplicates of this round.
    by_dups: u32,
    /// `snd_max` when the last retransmission was sent.
    mark: Offset,
    resend: bool,
    /// A duplicate allows one new segment; a round without loss allows one more. Neither waits for a later ACK.
    one: bool,
    extra: bool,
}

impl Robust {
    pub(super) fn new(spec: &RobustSpec) -> Self {
        Robust {
            spec: spec.clone(),
            retreat: true,
            ndup: 0,
            act: 0,
            expected: 0,
            sent: 0,
            by_dups: 0,
            mark: Offset::DATA,
            resend: false,
            one: false,
            extra: false,
        }
    }

    /// Segments that the last ACK allowed but that could not be sent are forfeited.
    fn forgo(&mut self) {
        if self.extra && self.spec.count == Count::Sent {
            self.act = self.act.saturating_sub(1);
        }
        (self.one, self.extra) = (false, false);
    }

    fn on_dup(&mut self) {
        self.ndup += 1;
        self.one = !self.retreat || self.ndup.is_multiple_of(2);
    }

    /// §2.2.2, §2.2.3: a round ends.
    fn end_round(&mut self, ep: &mut Episode, cx: &Ctx) {
        let exact = self.spec.count == Count::Exact;
        let counted = if exact { self.expected } else { self.act };
        let lost = counted.saturating_sub(self.ndup);
        if lost == 0 {
            self.act = if self.spec.count == Count::Sent { self.by_dups + 1 } else { self.act + 1 };
            self.extra = true;
            return;
        }
        self.act = if exact { self.act.saturating_sub(lost) } else { self.ndup };
        ep.recover = match self.spec.extend {
            Extend::Detection => cx.snd_max,
            Extend::LastRound => self.mark.max(ep.recover),
        };
    }

    fn on_new_ack(&mut self, ack: &AckEvent, ep: &mut Episode, w: &mut Window, cx: &Ctx) -> Flow {
        if self.retreat {
            self.act = if self.spec.count == Count::Sent { self.by_dups } else { self.ndup / 2 };
            self.retreat = false;
        } else {
            self.end_round(ep, cx);
        }
        (self.ndup, self.by_dups) = (0, 0);
        if ack.ack >= ep.recover {
            return self.exit(w, cx);
        }
        self.resend = true;
        Flow::Continue(Rearm::Restart)
    }

    /// §2.2.3: the window becomes the data in flight, so the ACK that ends the recovery releases one segment.
    fn exit(&mut self, w: &mut Window, cx: &Ctx) -> Flow {
        (self.resend, self.extra) = (false, false);
        w.cwnd = f64::from(self.act.max(1)) * cx.smss();
        if self.spec.exit_ssthresh == ExitSsthresh::Min {
            w.ssthresh = w.ssthresh.min(w.cwnd).max(2.0 * cx.smss());
        }
        Flow::Done { grow: false }
    }
}

impl Recovery for Robust {
    fn enter(&mut self, _: Option<&AckEvent>, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        let spec = self.spec.clone();
        *self = Robust { mark: cx.snd_max, resend: true, ..Robust::new(&spec) };
        Flow::Continue(Rearm::Restart)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if ack.advances() {
            self.forgo();
            return self.on_new_ack(ack, ep, w, cx);
        }
        if ack.is_dup {
            self.forgo();
            self.on_dup();
        }
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, _: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        let may_send = (self.one || self.extra) && cx.next_len > 0;
        let resend_first = self.spec.order == Order::Rexmit || !self.extra || !may_send;
        match (self.resend, resend_first) {
            (true, true) => Some(Xmit::Again(cx.snd_una)),
            _ => may_send.then_some(Xmit::New),
        }
    }
    fn passes_cap(&self) -> bool {
        self.spec.cap == OwnLimit::Ignored
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, cx: &Ctx) {
        match x {
            Xmit::Again(_) => {
                (self.expected, self.sent) = (self.sent, 0);
                (self.mark, self.resend) = (cx.snd_max, false);
            }
            Xmit::New => {
                self.sent += 1;
                self.by_dups += u32::from(self.one);
                (self.one, self.extra) = (false, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Phase;
    use crate::testing::blank;
    use crate::testing::context;
    use crate::testing::episode;
    use crate::time::Time;
    use std::collections::{BTreeSet, VecDeque};

    const MSS: u64 = 1000;
    const LOST: [u64; 6] = [0, 1, 4, 5, 9, 12];

    fn offset(segment: u64) -> Offset {
        Offset(1 + MSS * segment)
    }

    /// Twenty segments are outstanding, and every copy except the first copies of `lost` arrives in the order of sending. Returns
    /// (ndup, act) at the end of each round of the probe, with act before its change, and the window at the exit in segments.
    fn run(spec: RobustSpec, lost: &[u64], last: u64) -> (Vec<(u32, u32)>, f64) {
        let (mut rr, mut board, mut ep) = (Robust::new(&spec), Scoreboard::default(), episode());
        let mut w = Window { cwnd: 20_000.0, ssthresh: 10_000.0 };
        let mut path: VecDeque<(u64, bool)> = (0..20).map(|n| (n, true)).collect();
        (0..20).for_each(|n| _ = board.push(offset(n), MSS as u32, Time(0), w.cwnd, false));
        let (mut held, mut una, mut next, mut dups) = (BTreeSet::new(), 0, 20, 0);
        let mut rounds = Vec::new();
        while let Some((n, first)) = path.pop_front() {
            if first && lost.contains(&n) {
                continue;
            }
            held.insert(n);
            let before = una;
            while held.contains(&una) {
                una += 1;
            }
            dups = if una == before { dups + 1 } else { 0 };
            let cx = |una, next| Ctx {
                snd_una: offset(una),
                snd_nxt: offset(next),
                snd_max: offset(next),
                next_len: if next <= last { MSS as u32 } else { 0 },
                phase: Phase::Recovery,
                ..context()
            };
            let ack = AckEvent { prior_una: offset(before), ack: offset(una), is_dup: una == before, ..blank() };
            board.acknowledge(offset(una), &mut Default::default());
            if dups == 3 && rr.mark == Offset::DATA {
                ep.recover = offset(next);
                rr.enter(Some(&ack), &mut ep, &mut w, &mut board, &cx(una, next));
            } else if rr.mark > Offset::DATA {
                if una > before && !rr.retreat {
                    rounds.push((rr.ndup, rr.act));
                }
                if rr.on_ack(&ack, 0, &mut ep, &mut w, &mut board, &cx(una, next)) == (Flow::Done { grow: false }) {
                    return (rounds, w.cwnd / MSS as f64);
                }
            }
            while let Some(x) = rr.next(&w, &board, &cx(una, next)) {
                let (n, first) = if x == Xmit::New { (next, true) } else { (una, false) };
                next = next.max(n + 1);
                let sent = match first {
                    true => board.push(offset(n), MSS as u32, Time(0), w.cwnd, false),
                    false => *board.resend(offset(n), Time(0), w.cwnd).unwrap(),
                };
                path.push_back((n, first));
                rr.on_sent(x, &sent, &cx(una, next));
            }
        }
        panic!("the recovery did not end: {rounds:?}");
    }

    fn spec(count: Count, order: Order) -> RobustSpec {
        RobustSpec { count, order, ..RobustSpec::default() }
    }

    /// Only the available data limits sending.
    const OPEN: u64 = 10_000;

    #[test]
    fn to_the_letter_each_round_without_loss_adds_one_if_the_additional_segment_goes_first() {
        let letter = spec(Count::Act, Order::Extra);
        assert_eq!(run(letter.clone(), &LOST, OPEN), (vec![(5, 5), (6, 6), (7, 7), (8, 8), (9, 9)], 10.0));
        let further = [&LOST[..], &[25]].concat();
        let want = vec![(5, 5), (5, 6), (5, 5), (6, 6), (7, 7), (8, 8)];
        assert_eq!(run(letter, &further, OPEN), (want, 9.0));
    }

    #[test]
    fn to_the_letter_with_the_retransmission_first_a_loss_is_seen_that_was_none() {
        let second = spec(Count::Act, Order::Rexmit);
        assert_eq!(run(second.clone(), &LOST, OPEN), (vec![(5, 5), (5, 6), (6, 5), (6, 6), (7, 7)], 8.0));
        let further = [&LOST[..], &[25]].concat();
        let want = vec![(5, 5), (4, 6), (5, 4), (5, 5), (6, 6), (7, 7)];
        assert_eq!(run(second, &further, OPEN), (want, 8.0));
    }

    #[test]
    fn the_exact_count_sees_only_losses_that_were_in_either_order() {
        let further = [&LOST[..], &[25]].concat();
        let first = spec(Count::Exact, Order::Extra);
        assert_eq!(run(first.clone(), &LOST, OPEN), (vec![(5, 5), (6, 6), (7, 7), (8, 8), (9, 9)], 10.0));
        let want = vec![(5, 5), (5, 6), (5, 5), (6, 6), (7, 7), (8, 8)];
        assert_eq!(run(first, &further, OPEN), (want, 9.0));
        let default = RobustSpec::default();
        assert_eq!(run(default.clone(), &LOST, OPEN), (vec![(5, 5), (5, 6), (6, 7), (7, 8), (8, 9)], 10.0));
        let want = vec![(5, 5), (4, 6), (5, 5), (5, 6), (6, 7), (7, 8)];
        assert_eq!(run(default, &further, OPEN), (want, 9.0));
    }

    #[test]
    fn where_the_data_end_the_exact_count_sees_no_loss_and_the_letter_one_each_round() {
        let letter = spec(Count::Act, Order::Extra);
        assert_eq!(run(letter, &LOST, 21), (vec![(2, 5), (0, 2), (0, 0), (0, 1), (0, 0)], 1.0));
        assert_eq!(run(RobustSpec::default(), &LOST, 21), (vec![(2, 5), (0, 6), (0, 7), (0, 8), (0, 9)], 10.0));
    }

    #[test]
    fn counting_what_was_sent_is_the_letter_where_nothing_is_blocked_and_shrinks_where_it_is() {
        let sent = spec(Count::Sent, Order::Extra);
        assert_eq!(run(sent.clone(), &LOST, OPEN), run(spec(Count::Act, Order::Extra), &LOST, OPEN));
        let (rounds, cwnd) = run(sent, &LOST, 21);
        assert_eq!((rounds[0], cwnd), ((2, 2), 1.0), "{rounds:?}");
    }

    #[test]
    fn after_a_single_loss_the_window_is_half_of_what_was_reported_after_the_verdict() {
        // (W - 4) / 2: sixteen duplicates after the third.
        assert_eq!(run(RobustSpec::default(), &[0], OPEN), (vec![], 8.0));
    }

    #[test]
    fn a_further_loss_extends_the_recovery_to_what_was_sent_by_then_or_by_the_start_of_the_round() {
        let further = [&LOST[..], &[25]].concat();
        let rounds = |extend| run(RobustSpec { extend, ..RobustSpec::default() }, &further, OPEN).0.len();
        assert_eq!([Extend::Detection, Extend::LastRound].map(rounds), [6, 6]);
        // 27 was outstanding when the loss of 25 was detected, 30 was not.
        let mut rr = Robust::new(&RobustSpec { extend: Extend::LastRound, ..RobustSpec::default() });
        let mut ep = episode();
        (rr.mark, rr.expected) = (offset(27), 2);
        ep.recover = offset(20);
        rr.end_round(&mut ep, &Ctx { snd_max: offset(30), ..context() });
        assert_eq!((ep.recover, rr.act), (offset(27), 0));
    }

    #[test]
    fn at_the_exit_the_threshold_is_kept_or_not_above_the_window() {
        for (exit_ssthresh, act, want) in
            [(ExitSsthresh::Keep, 5, 9.0), (ExitSsthresh::Min, 5, 5.0), (ExitSsthresh::Min, 1, 2.0)]
        {
            let mut rr = Robust::new(&RobustSpec { exit_ssthresh, ..RobustSpec::default() });
            rr.act = act;
            let mut w = Window { cwnd: 20_000.0, ssthresh: 9_000.0 };
            rr.exit(&mut w, &context());
            assert_eq!((w.cwnd, w.ssthresh), (f64::from(act) * 1000.0, want * 1000.0));
        }
    }

    #[test]
    fn the_end_of_the_last_round_never_shortens_the_recovery() {
        let mut rr = Robust::new(&RobustSpec { extend: Extend::LastRound, ..RobustSpec::default() });
        let mut ep = episode();
        (rr.mark, rr.expected, ep.recover) = (offset(15), 2, offset(20));
        rr.end_round(&mut ep, &Ctx { snd_max: offset(30), ..context() });
        assert_eq!(ep.recover, offset(20));
    }

    #[test]
    fn counting_what_was_sent_adds_one_to_what_duplicates_let_out_and_takes_it_back_if_it_could_not_go() {
        for (count, act) in [(Count::Sent, 4), (Count::Act, 5)] {
            let mut rr = Robust::new(&spec(count, Order::Extra));
            (rr.act, rr.ndup, rr.by_dups) = (4, 4, 3);
            rr.end_round(&mut episode(), &context());
            assert_eq!((rr.act, rr.extra), (act, true));
            rr.forgo();
            assert_eq!(rr.act, if count == Count::Sent { 3 } else { 5 });
        }
    }
}
