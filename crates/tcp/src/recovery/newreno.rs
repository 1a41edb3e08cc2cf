//! NewReno: fast recovery that lasts until everything outstanding at its start is acknowledged.
//!
//! Source: RFC 6582 §3.2 (and RFC 2582, 3782); ns-2.35's `Agent/TCP/Newreno`.
//!
//! Idea: an ACK that advances but stays below `recover` shows that the next segment is lost too: resend it at once.
//!
//! | source | here |
//! | --- | --- |
//! | recover | `ep.recover` (first unsent; the RFC's is one lower) |
//! | Impatient, Slow-but-Steady (RFC 6582 §4) | `timer` |
//! | partial window deflation (§3.2 step 5) | `deflate`, `deflate_uninflated` |
//! | dupwnd (ns-2) | `inflation`, bytes; never written into `cwnd` |
//!
//! Departures: the inflation is private; deflation reduces it first, then `cwnd`, and leaves one segment of it. Without
//! inflation nothing is deflated by default: step 5 only undoes the inflation of step 4 (decision 0180).
//! Unsaid: with `full_ack = "keep"` (ns-2) the full ACK only drops the inflation; RFC 6582 step 3 has two options.

use super::Recovery;
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which partial ACKs restart the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartialTimer {
    /// Only the first one.
    #[default]
    Impatient,
    /// Every one.
    SlowButSteady,
}

/// The window after the full ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FullAck {
    /// min (ssthresh, max (FlightSize, SMSS) + SMSS): RFC 6582 §3.2 step 3 (1).
    #[default]
    Flight,
    /// ssthresh: RFC 6582 §3.2 step 3 (2).
    Ssthresh,
    /// Unchanged (ns-2).
    Keep,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewRenoSpec {
    /// Which partial ACKs restart the retransmission timer. Default: "impatient".
    pub timer: PartialTimer,
    /// Whether each duplicate inflates the window, so that new data is sent meanwhile (RFC 5681 §3.2 steps 3, 4).
    /// Default: yes.
    pub inflate: bool,
    /// Whether a partial ACK deflates the window by the data it acknowledges. Default: yes (RFC 6582); no in ns-2 before 2001.
    pub deflate: bool,
    /// Whether a partial ACK deflates the window even if duplicates have not inflated it (`inflate = false`): by the data it
    /// acknowledges, with a segment added back (RFC 6582 §3.2 step 5 to the letter, as RFC 2582 and 3782). Default: no.
    pub deflate_uninflated: bool,
    /// The window after the full ACK. Default: "flight".
    pub full_ack: FullAck,
    /// Whether the full ACK also opens the window. Default: no (RFC 6582 §6); yes in ns-2.
    pub grow_on_exit: bool,
    /// New segments that one ACK may release in recovery. Default: no limit; 2 in ns-2.
    pub burst_segs: Option<u32>,
}

impl NewRenoSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let allowed = "only together with recovery.inflate = false and recovery.deflate = true";
        let ok = !self.deflate_uninflated || (self.deflate && !self.inflate);
        StackError::unless(ok, "recovery.deflate_uninflated", &"true", allowed)
    }
}

impl Default for NewRenoSpec {
    fn default() -> Self {
        NewRenoSpec {
            timer: PartialTimer::Impatient,
            inflate: true,
            deflate: true,
            deflate_uninflated: false,
            full_ack: FullAck::Flight,
            grow_on_exit: false,
            burst_segs: None,
        }
    }
}

/// NewReno at work.
pub struct NewReno {
    spec: NewRenoSpec,
    inflation: Bytes,
    released: u32,
    resend: bool,
    partial_seen: bool,
}

impl NewReno {
    pub(super) fn new(spec: &NewRenoSpec) -> Self {
        NewReno { spec: spec.clone(), inflation: 0, released: 0, resend: false, partial_seen: false }
    }

    /// RFC 6582 §3.2 step 5, applied to the inflation first and then to the window; one segment is added back if at least one
    /// was acknowledged.
    fn deflate(&mut self, acked: Bytes, w: &mut Window, cx: &Ctx) {
        let mss = u64::from(cx.mss);
        let back = if acked >= mss { mss } else { 0 };
        if !self.spec.inflate {
            w.cwnd = (w.cwnd - acked as f64 + back as f64).max(cx.smss());
        } else if self.inflation > acked {
            self.inflation = self.inflation - acked + back;
        } else {
            w.cwnd = (w.cwnd - (acked - self.inflation) as f64).max(cx.smss());
            self.inflation = back;
        }
    }

    fn partial(&mut self, ack: &AckEvent, w: &mut Window, board: &mut Scoreboard, cx: &Ctx) -> Flow {
        self.resend = true;
        // Rule 29.
        board.mark_head_lost();
        match (self.spec.deflate, self.inflation) {
            (true, 0) if !self.spec.deflate_uninflated => {}
            (true, _) => self.deflate(ack.acked(), w, cx),
            (false, _) => self.inflation = 0,
        }
        let first = !std::mem::replace(&mut self.partial_seen, true);
        let restart = first || self.spec.timer == PartialTimer::SlowButSteady;
        Flow::Continue(if restart { Rearm::Restart } else { Rearm::Keep })
    }

    fn full(&mut self, w: &mut Window, cx: &Ctx) -> Flow {
        (self.inflation, self.resend) = (0, false);
        // Not every congestion control keeps ssthresh at a segment or more (RFC 9002).
        let ssthresh = w.ssthresh.max(cx.smss());
        match self.spec.full_ack {
            FullAck::Flight => w.cwnd = ssthresh.min((cx.flight() as f64).max(cx.smss()) + cx.smss()),
            FullAck::Ssthresh => w.cwnd = ssthresh,
            FullAck::Keep => {}
        }
        Flow::Done { grow: self.spec.grow_on_exit }
    }
}

impl Recovery for NewReno {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, cx: &Ctx) -> Flow {
        w.cwnd = ep.target;
        self.inflation = if self.spec.inflate { 3 * u64::from(cx.mss) } else { 0 };
        (self.resend, self.partial_seen, self.released) = (true, false, 0);
        Flow::Continue(Rearm::Restart)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        self.released = 0;
        if ack.ack >= ep.recover {
            return self.full(w, cx);
        }
        if ack.advances() {
            return self.partial(ack, w, board, cx);
        }
        if ack.is_dup && self.spec.inflate {
            self.inflation += u64::from(cx.mss);
        }
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, w: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.resend {
            return Some(Xmit::Again(cx.snd_una));
        }
        let more = self.spec.burst_segs.is_none_or(|limit| self.released < limit);
        (more && gate::window(w, self.inflation, cx)).then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        match x {
            Xmit::Again(_) => self.resend = false,
            Xmit::New => self.released += 1,
        }
    }
    fn inflation(&self) -> f64 {
        self.inflation as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::blank;
    use crate::testing::context;
    use crate::testing::episode;
    use crate::time::Time;

    /// Inflation in segments at the third duplicate, at each of the next two, and then after a partial ACK of one segment.
    fn inflated(spec: NewRenoSpec) -> [f64; 4] {
        let (mut newreno, mut board, mut ep) = (NewReno::new(&spec), Scoreboard::default(), episode());
        let cx = Ctx { snd_una: Offset(1), snd_nxt: ep.recover, snd_max: ep.recover, next_len: 1000, ..context() };
        let (mut w, dup) = (ep.prior, AckEvent { is_dup: true, ack: Offset(1), prior_una: Offset(1), ..blank() });
        board.push(Offset(1), 2000, Time(0), w.cwnd, false);
        newreno.enter(Some(&dup), &mut ep, &mut w, &mut board, &cx);
        let mut segments = [newreno.inflation(); 4];
        let partial = AckEvent { is_dup: false, ack: Offset(1001), ..dup };
        for (ack, after) in [dup, dup, partial].iter().zip(&mut segments[1..]) {
            newreno.on_ack(ack, 0, &mut ep, &mut w, &mut board, &cx);
            *after = newreno.inflation();
        }
        assert_eq!(w.cwnd, ep.target);
        segments.map(|bytes| bytes / cx.smss())
    }

    #[test]
    fn duplicates_inflate_the_window_by_default() {
        assert_eq!(inflated(NewRenoSpec::default()), [3.0, 4.0, 5.0, 5.0]);
        assert_eq!(inflated(NewRenoSpec { deflate: false, ..NewRenoSpec::default() }), [3.0, 4.0, 5.0, 0.0]);
        assert_eq!(inflated(NewRenoSpec { inflate: false, ..NewRenoSpec::default() }), [0.0; 4]);
    }

    #[test]
    fn without_inflation_a_partial_ack_deflates_the_window_itself_only_on_request_and_adds_a_segment_back() {
        // 5.5 segments after the cut. An ACK of 1000 bytes takes a segment and adds it back, one of 3000 takes two net, one of
        // 700 adds nothing back; the window stops at one segment.
        let by = [1000, 3000, 700, 9000];
        for (deflate_uninflated, want) in [(true, [5.5, 3.5, 2.8, 1.0]), (false, [5.5; 4])] {
            let spec = NewRenoSpec { inflate: false, deflate_uninflated, ..NewRenoSpec::default() };
            let (mut newreno, mut board, mut ep) = (NewReno::new(&spec), Scoreboard::default(), episode());
            ep.recover = Offset(50_001);
            let (mut w, mut una) = (ep.prior, Offset(1));
            let windows = by.map(|acked| {
                let cx = Ctx { snd_una: una + acked, snd_max: ep.recover, ..context() };
                if una == Offset(1) {
                    newreno.enter(None, &mut ep, &mut w, &mut board, &cx);
                }
                let partial = AckEvent { ack: una + acked, prior_una: una, ..blank() };
                newreno.on_ack(&partial, 0, &mut ep, &mut w, &mut board, &cx);
                una += acked;
                assert_eq!(newreno.inflation(), 0.0);
                w.cwnd / cx.smss()
            });
            assert_eq!(windows, want, "{deflate_uninflated}");
        }
    }

    #[test]
    fn deflation_without_inflation_is_refused_where_the_window_is_inflated_or_never_deflated() {
        for (inflate, deflate, ok) in [(false, true, true), (true, true, false), (false, false, false)] {
            let spec = NewRenoSpec { inflate, deflate, deflate_uninflated: true, ..NewRenoSpec::default() };
            assert_eq!(
                spec.validate().map_err(|e| e.key),
                if ok { Ok(()) } else { Err("recovery.deflate_uninflated") }
            );
        }
    }
}
