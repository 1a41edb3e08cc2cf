//! `detect`: is it lost?

use super::algorithm::{answered, moment, senseless, whole_or_none, Algorithm, Hook};
use crate::views::{Ack, Board, Cause as CauseView, Context, Sample, Segment};
use crate::views::{Verdict as VerdictView, Window as WindowView, Xmit as XmitView};
use ackclock_tcp::detect::{Detector, Learner, Timekeeper, Verdict};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::time::{Nanos, Time};
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Detector`.
pub(super) struct Judge {
    algorithm: Algorithm,
    owns_rto: bool,
    on_ack: Hook,
    on_timer: Hook,
    deadline: Hook,
    hold_until: Hook,
    on_sent: Hook,
    on_reorder: Hook,
    on_recovered: Hook,
    on_cut: Hook,
    on_stall: Hook,
    on_rto: Hook,
    after_rto: Hook,
    dupthresh: Hook,
}

impl Judge {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Judge {
            owns_rto: algorithm.attribute("owns_rto", false, truth),
            on_ack: algorithm.hook("on_ack"),
            on_timer: algorithm.hook("on_timer"),
            deadline: algorithm.hook("deadline"),
            hold_until: algorithm.hook("hold_until"),
            on_sent: algorithm.hook("on_sent"),
            on_reorder: algorithm.hook("on_reorder"),
            on_recovered: algorithm.hook("on_recovered"),
            on_cut: algorithm.hook("on_cut"),
            on_stall: algorithm.hook("on_stall"),
            on_rto: algorithm.hook("on_rto"),
            after_rto: algorithm.hook("after_rto"),
            dupthresh: algorithm.hook("dupthresh"),
            algorithm,
        }
    }

    /// An attribute, read when the verdict was given, determines how a verdict of loss counts.
    fn counted(&self, verdict: Verdict) -> Verdict {
        let Verdict::Lost(bytes) = verdict else { return verdict };
        let counts_as_rto = self.algorithm.attribute("began_by", false, |v| match v.extract() {
            Ok(CauseView::Fast) => Ok(false),
            Ok(CauseView::Rto) => Ok(true),
            _ => Err(senseless(v, "Cause.FAST or Cause.RTO")),
        });
        if counts_as_rto {
            Verdict::Collapsed(bytes)
        } else {
            verdict
        }
    }
}

fn truth(v: &Bound<'_, PyAny>) -> PyResult<bool> {
    v.extract().map_err(|_| senseless(v, "True or False"))
}

/// A verdict that is consistent with the outstanding data.
fn verdict(answer: &Bound<'_, PyAny>, board: &Scoreboard, cx: &Ctx) -> PyResult<Verdict> {
    match answered::<VerdictView>(answer, "a Verdict")?.0 {
        Verdict::Lost(_) | Verdict::Collapsed(_) | Verdict::More(_) | Verdict::Repaired
            if board.is_empty() && cx.flight() == 0 =>
        {
            Err(senseless(answer, "Verdict.CLEAR, SUSPECT or PROBE, since nothing is outstanding"))
        }
        Verdict::Lost(bytes) | Verdict::Collapsed(bytes) | Verdict::More(bytes) if bytes > cx.flight() => {
            Err(senseless(answer, &format!("a Verdict on the outstanding data ({} B)", cx.flight())))
        }
        verdict => Ok(verdict),
    }
}

impl Detector for Judge {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let verdict = self.algorithm.ask(&self.on_ack, Some(cx.now), Verdict::Clear, |f| {
            let w = WindowView::read(w);
            let answer = Board::lend_mut(f.py(), board, |lent| f.call1((Ack(*ack), w, lent, Context(*cx))))?;
            verdict(&answer, board, cx)
        });
        self.counted(verdict)
    }
    fn dupthresh(&self, w: &Window, cx: &Ctx) -> Option<u32> {
        self.algorithm.ask(&self.dupthresh, Some(cx.now), None, |f| {
            let answer = f.call1((WindowView::read(w), Context(*cx)))?;
            Ok(whole_or_none(&answer, 1, u32::MAX.into())?.map(|n| n as u32))
        })
    }
}

impl Timekeeper for Judge {
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        let verdict = self.algorithm.ask(&self.on_timer, Some(cx.now), Verdict::Clear, |f| {
            let w = WindowView::read(w);
            let answer = Board::lend_mut(f.py(), board, |lent| f.call1((w, lent, Context(*cx))))?;
            verdict(&answer, board, cx)
        });
        self.counted(verdict)
    }
    fn keeps_time(&self) -> bool {
        self.deadline.is_there()
    }
    fn deadline(&self) -> Option<Time> {
        self.algorithm.ask(&self.deadline, None, None, |f| moment(&f.call0()?))
    }
    fn hold_until(&self) -> Option<Time> {
        self.algorithm.ask(&self.hold_until, None, None, |f| moment(&f.call0()?))
    }
    fn watches_sends(&self) -> bool {
        self.algorithm.attribute("watches_sends", false, truth)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        self.algorithm.tell(&self.on_sent, Some(cx.now), || (XmitView(x), Segment(*sent), Context(*cx)));
    }
    fn after_rto(&mut self, board: &mut Scoreboard, cx: &Ctx) -> bool {
        self.algorithm.ask(&self.after_rto, Some(cx.now), (), |f| {
            Board::lend_mut(f.py(), board, |board| f.call1((board, Context(*cx))).map(drop))
        });
        // The owner of Loss has already marked everything that this detector might mark.
        false
    }
    fn owns_rto(&self) -> bool {
        self.owns_rto
    }
}

impl Learner for Judge {
    fn on_reorder(&mut self, sample: &ReorderSample, w: &Window, cx: &Ctx) {
        let what = || (Sample(*sample), WindowView::read(w), Context(*cx));
        self.algorithm.tell(&self.on_reorder, Some(cx.now), what);
    }
    fn on_recovered(&mut self, cx: &Ctx) {
        self.algorithm.tell(&self.on_recovered, Some(cx.now), || (Context(*cx),));
    }
    fn on_cut(&mut self, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_cut, Some(cx.now), || (WindowView::read(w), Context(*cx)));
    }
    fn on_stall(&mut self, idle: Nanos, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_stall, Some(cx.now), || (idle.0, WindowView::read(w), Context(*cx)));
    }
    fn on_rto(&mut self, dup_run: u32, w: &Window, cx: &Ctx) {
        self.algorithm.tell(&self.on_rto, Some(cx.now), || (dup_run, WindowView::read(w), Context(*cx)));
    }
}
