//! `recovery`: what may be sent to repair?

use super::algorithm::{answered, senseless, Algorithm, Hook};
use crate::views::{Ack, Board, Context, Episode as EpisodeView, Flow as FlowView, Gate as GateView};
use crate::views::{Segment, Window as WindowView, Xmit as XmitView};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::answer::{Flow, Rearm};
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::episode::Episode;
use ackclock_tcp::facts::gate::Gate;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::recovery::Recovery;
use ackclock_tcp::units::Bytes;
use pyo3::prelude::*;

/// A running instance of a subclass of `ackclock.Recovery`.
pub(super) struct Repairer {
    algorithm: Algorithm,
    open_gate: Gate,
    /// Read after each method that may change it.
    inflation: f64,
    enter: Hook,
    on_ack: Hook,
    next: Hook,
    on_sent: Hook,
}

impl Repairer {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        let gate = algorithm.attribute("open_gate", GateView::Window, |v| {
            v.extract().map_err(|_| senseless(v, "Gate.WINDOW or Gate.PIPE"))
        });
        Repairer {
            open_gate: gate.into(),
            inflation: 0.0,
            enter: algorithm.hook("enter"),
            on_ack: algorithm.hook("on_ack"),
            next: algorithm.hook("next"),
            on_sent: algorithm.hook("on_sent"),
            algorithm,
        }
    }

    fn read_inflation(&mut self) {
        self.inflation = self.algorithm.attribute("inflation", self.inflation, |v| {
            let bytes = v.extract().ok().filter(|n: &f64| n.is_finite());
            bytes.ok_or_else(|| senseless(v, "a number of bytes"))
        });
    }
}

/// Everything that an owner of Recovery or Loss may write to, lent for one call.
pub(super) fn lend_all<'py, R>(
    py: Python<'py>,
    (ep, w, board): (&mut Episode, &mut Window, &mut Scoreboard),
    cx: &Ctx,
    call: impl FnOnce((&Bound<'py, EpisodeView>, &Bound<'py, WindowView>, &Bound<'py, Board>)) -> PyResult<R>,
) -> PyResult<R> {
    EpisodeView::lend(py, ep, |ep| {
        WindowView::lend(py, w, cx.mss, |w| Board::lend_mut(py, board, |board| call((ep, w, board))))
    })
}

impl Recovery for Repairer {
    fn enter(
        &mut self,
        ack: Option<&AckEvent>,
        ep: &mut Episode,
        w: &mut Window,
        board: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        let flow = self.algorithm.ask(&self.enter, Some(cx.now), Flow::Done { grow: false }, |f| {
            lend_all(f.py(), (ep, w, board), cx, |(ep, w, board)| {
                let answer = f.call1((ack.map(|a| Ack(*a)), ep, w, board, Context(*cx)))?;
                match answered::<FlowView>(&answer, "a Flow")?.0 {
                    Flow::Begin | Flow::Rewind => {
                        Err(senseless(&answer, "any Flow except BEGIN and REWIND, since the episode begins now"))
                    }
                    flow => Ok(flow),
                }
            })
        });
        self.read_inflation();
        flow
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
        let flow = self.algorithm.ask(&self.on_ack, Some(cx.now), Flow::Continue(Rearm::OnNewData), |f| {
            lend_all(f.py(), (ep, w, board), cx, |(ep, w, board)| {
                let answer = f.call1((Ack(*ack), lost, ep, w, board, Context(*cx)))?;
                match answered::<FlowView>(&answer, "a Flow")?.0 {
                    Flow::Rewind => Err(senseless(&answer, "any Flow except REWIND, which only a Timeout may return")),
                    flow => Ok(flow),
                }
            })
        });
        self.read_inflation();
        flow
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        self.algorithm.next(&self.next, w, board, cx)
    }
    fn on_sent(&mut self, x: Xmit, sent: &Sent, cx: &Ctx) {
        if self.on_sent.is_there() {
            self.algorithm.tell(&self.on_sent, Some(cx.now), || (XmitView(x), Segment(*sent), Context(*cx)));
            self.read_inflation();
        }
    }
    fn inflation(&self) -> f64 {
        self.inflation
    }
    fn open_gate(&self) -> Gate {
        self.open_gate
    }
}
