//! Hoe's recovery: the first that continues across partial ACKs; every second duplicate keeps the ACK clock running.
//!
//! Source: Hoe 1995 §7.2. With `dups_per_segment = 1` also right-edge recovery and Lin & Kung's, as Wang & Shin §1 name them.
//!
//! Idea: an ACK that stops short of the highest segment sent before the fast retransmission shows that the next segment is lost
//! as well, so it is resent at once; meanwhile every second duplicate releases one new segment, regardless of the window.
//!
//! | source | here |
//! | --- | --- |
//! | highest_seq | `ep.recover` (first unsent) |
//! | fast retransmit phase | Recovery |
//! | snd_next | `snd_nxt` |
//!
//! Departures: none. For right-edge and Lin & Kung, the disorder slot decides what is sent before the verdict.
//! Unsaid: inflation (none: only duplicates release new data), which duplicates count (all after the verdict; the even ones
//! send), the timer (restarted by every partial ACK), and the window of the phase (the one after the cut); decision 0048.

use super::Recovery;
use crate::error::StackError;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::scoreboard::{Scoreboard, Sent};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HoeSpec {
    /// Number of duplicates that release one new segment. Default: 2 (§7.2); 1 for right-edge recovery and Lin & Kung.
    #[schemars(range(min = 1, max = 1000))]
    pub dups_per_segment: u32,
    /// The phase lasts until data sent *during* it is acknowledged, too (§7.2, footnote). Default: no.
    pub aggressive: bool,
    /// Whether the ACK that ends the phase also opens the window. Default: yes (Net/2).
    pub grow_on_exit: bool,
}

impl Default for HoeSpec {
    fn default() -> Self {
        HoeSpec { dups_per_segment: 2, aggressive: false, grow_on_exit: true }
    }
}

impl HoeSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        let n = self.dups_per_segment;
        StackError::unless((1..=1000).contains(&n), "recovery.dups_per_segment", &n, "1 to 1000 duplicate ACKs")
    }
}

/// Hoe's recovery at work.
pub struct Hoe {
    spec: HoeSpec,
    ndup: u32,
    resend: bool,
    /// A duplicate releases one new segment; if it cannot be sent now, it is not sent later either.
    force: bool,
}

impl Hoe {
    pub(super) fn new(spec: &HoeSpec) -> Self {
        Hoe { spec: spec.clone(), ndup: 0, resend: false, force: false }
    }
}

impl Recovery for Hoe {
    fn enter(&mut self, _: Option<&AckEvent>, ep: &mut Episode, w: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        w.cwnd = ep.target;
        (self.ndup, self.resend, self.force) = (0, true, false);
        Flow::Continue(Rearm::Restart)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        _: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        cx: &Ctx,
    ) -> Flow {
        if self.spec.aggressive {
            ep.recover = cx.snd_max;
        }
        if ack.ack >= ep.recover {
            (self.resend, self.force) = (false, false);
            return Flow::Done { grow: self.spec.grow_on_exit };
        }
        if ack.advances() {
            (self.resend, self.force) = (true, false);
            return Flow::Continue(Rearm::Restart);
        }
        if ack.is_dup {
            self.ndup += 1;
            self.force = self.ndup.is_multiple_of(self.spec.dups_per_segment);
        }
        Flow::Continue(Rearm::OnNewData)
    }
    fn next(&self, _: &Window, _: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if self.resend {
            return Some(Xmit::Again(cx.snd_una));
        }
        (self.force && cx.next_len > 0).then_some(Xmit::New)
    }
    fn on_sent(&mut self, x: Xmit, _: &Sent, _: &Ctx) {
        match x {
            Xmit::Again(_) => self.resend = false,
            Xmit::New => self.force = false,
        }
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

    /// The segments sent on each of eight duplicates, with room for new data.
    fn on_duplicates(spec: HoeSpec) -> Vec<Option<Xmit>> {
        let (mut hoe, mut board, mut ep) = (Hoe::new(&spec), Scoreboard::default(), episode());
        let cx = Ctx { snd_una: Offset(1), snd_nxt: ep.recover, snd_max: ep.recover, next_len: 1000, ..context() };
        let (mut w, dup) = (ep.prior, AckEvent { is_dup: true, ack: Offset(1), prior_una: Offset(1), ..blank() });
        let sent = board.push(Offset(1), 1000, Time(0), w.cwnd, false);
        hoe.enter(Some(&dup), &mut ep, &mut w, &mut board, &cx);
        assert_eq!((hoe.next(&w, &board, &cx), w.cwnd), (Some(Xmit::Again(Offset(1))), ep.target));
        hoe.on_sent(Xmit::Again(Offset(1)), &sent, &cx);
        let mut hear = |_| {
            hoe.on_ack(&dup, 0, &mut ep, &mut w, &mut board, &cx);
            let x = hoe.next(&w, &board, &cx);
            x.inspect(|&x| hoe.on_sent(x, &sent, &cx))
        };
        (0..8).map(&mut hear).collect()
    }

    #[test]
    fn every_second_duplicate_forces_a_new_segment_out_and_at_the_right_edge_each() {
        let new = Some(Xmit::New);
        assert_eq!(on_duplicates(HoeSpec::default()), [None, new, None, new, None, new, None, new]);
        assert_eq!(on_duplicates(HoeSpec { dups_per_segment: 1, ..HoeSpec::default() }), [new; 8]);
    }

    #[test]
    fn an_ack_below_the_data_sent_before_resends_and_the_aggressive_form_requires_the_data_sent_since() {
        for (aggressive, ends) in [(false, true), (true, false)] {
            let mut hoe = Hoe::new(&HoeSpec { aggressive, ..HoeSpec::default() });
            let (mut ep, mut board) = (episode(), Scoreboard::default());
            let (mut w, recover) = (ep.prior, ep.recover);
            let mut hear = |ack: Offset, ep: &mut Episode| {
                let cx = Ctx { snd_una: ack, snd_nxt: recover + 3000, snd_max: recover + 3000, ..context() };
                let e = AckEvent { ack, prior_una: Offset(1), ..blank() };
                hoe.on_ack(&e, 0, ep, &mut w, &mut board, &cx)
            };
            assert_eq!(hear(Offset(5001), &mut ep), Flow::Continue(Rearm::Restart));
            assert_eq!(hear(recover, &mut ep) == (Flow::Done { grow: true }), ends);
            assert_eq!(hear(recover + 3000, &mut ep), Flow::Done { grow: true });
        }
    }
}
