//! What a mistake gives back, worked out once more.

use super::mss;
use ackclock_tcp::event::{Cause, Window};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::{Ledger, Mistake};
use ackclock_tcp::undo::eifel_response::EifelResponseSpec;
use ackclock_tcp::undo::restore::RestoreSpec;
use ackclock_tcp::undo::slow_start_back::SlowStartBackSpec;
use ackclock_tcp::undo::{GiveBack, Prior, Standing, Undo};

pub(super) enum Returns {
    Nothing,
    SlowStart(SlowStartBackSpec),
    Eifel(EifelResponseSpec),
    Everything(RestoreSpec),
}

pub(super) struct Returning(pub(super) Returns);

impl Undo for Returning {
    fn on_mistake(&mut self, m: &Mistake, at: Standing, ledger: &mut Ledger, w: &mut Window, cx: &Ctx) -> GiveBack {
        let nothing = GiveBack { congestion: None, fired: None };
        let Some(ep) = ledger.get(m.episode) else { return nothing };
        let timer = m.cause == Cause::Rto;
        let refuses = match &self.0 {
            Returns::Nothing => true,
            Returns::SlowStart(s) => timer && !s.undo_timeouts,
            Returns::Eifel(_) | Returns::Everything(_) => false,
        };
        if ep.void || refuses {
            return nothing;
        }
        // An undo is for once.
        ep.void = true;
        let (prior, now) = (ep.prior, *w);
        let mut fired = None;
        match &self.0 {
            Returns::Nothing => {}
            // Blanton & Allman 2002 §5.
            Returns::SlowStart(s) => {
                w.ssthresh = f64::max(now.ssthresh, prior.cwnd);
                w.cwnd = if s.restore_cwnd { f64::max(now.cwnd, prior.cwnd) } else { now.cwnd };
            }
            // tcp_undo_cwnd_reduction; prior_ssthresh is at least three quarters of the window.
            Returns::Everything(s) => {
                w.cwnd = f64::max(now.cwnd, prior.cwnd);
                if s.restore_ssthresh {
                    let before = f64::max(prior.ssthresh, prior.cwnd * 0.75);
                    w.ssthresh = f64::max(now.ssthresh, before);
                }
            }
            // RFC 4015 §3.1 (0), (9), (11).
            Returns::Eifel(s) => {
                let smss = mss(cx);
                let iw = match s.initial_window_segs {
                    Some(n) => f64::from(n) * smss,
                    None => f64::min(4.0 * smss, f64::max(2.0 * smss, 4380.0)),
                };
                let pipe_prev = f64::max(ep.flight as f64, prior.ssthresh);
                let flight = at.outstanding as f64;
                let cwnd =
                    if timer { flight + f64::min(at.acked as f64, iw) } else { f64::min(pipe_prev, flight + iw) };
                w.cwnd = f64::max(f64::min(cwnd, prior.cwnd), smss);
                let most = f64::max(prior.ssthresh, prior.cwnd);
                w.ssthresh = f64::max(f64::min(pipe_prev, most), now.ssthresh);
                fired = if timer && s.adapt_timer { Some(ep.began) } else { None };
            }
        }
        GiveBack { congestion: Some(ep.cc_undo.get()), fired }
    }
    fn prior_in_recovery(&self) -> Prior {
        match &self.0 {
            Returns::Everything(s) if s.before_interrupted => Prior::BeforeInterrupted,
            _ => Prior::AtTimeout,
        }
    }
}
