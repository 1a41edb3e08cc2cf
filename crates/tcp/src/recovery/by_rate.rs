//! The congestion control sets the window: segments marked lost are sent, then new data, as far as it allows.
//!
//! Source: Linux 6.18, in our words: `tcp_cong_control`, `tcp_end_cwnd_reduction`, `tcp_enter_recovery` in
//! `net/ipv4/tcp_input.c`, `tcp_xmit_retransmit_queue` in `net/ipv4/tcp_output.c`, for a congestion control with a
//! `cong_control`.
//!
//! Idea: a congestion control that sets the window on every ACK also does so during recovery. Recovery chooses the segments to
//! send, and ends when the data outstanding at its start is acknowledged.
//!
//! Departures: none known. Unsaid: a loss shown by the ACK that ends the episode begins the next one.

use super::Recovery;
use crate::event::Window;
use crate::facts::ack::AckEvent;
use crate::facts::answer::{Flow, Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::episode::Episode;
use crate::facts::gate::{self, Gate};
use crate::facts::scoreboard::Scoreboard;
use crate::units::Bytes;

/// It has no state.
pub struct ByRate;

impl Recovery for ByRate {
    fn enter(&mut self, _: Option<&AckEvent>, _: &mut Episode, _: &mut Window, _: &mut Scoreboard, _: &Ctx) -> Flow {
        Flow::Continue(Rearm::OnNewData)
    }
    fn on_ack(
        &mut self,
        ack: &AckEvent,
        lost: Bytes,
        ep: &mut Episode,
        _: &mut Window,
        _: &mut Scoreboard,
        _: &Ctx,
    ) -> Flow {
        match (ack.ack >= ep.recover, lost > 0) {
            (true, true) => Flow::Begin,
            (true, false) => Flow::Done { grow: false },
            (false, _) => Flow::Continue(Rearm::OnNewData),
        }
    }
    fn next(&self, w: &Window, board: &Scoreboard, cx: &Ctx) -> Option<Xmit> {
        if !gate::pipe(w, board, cx) {
            return None;
        }
        board.first_lost().map(Xmit::Again).or((cx.next_len > 0).then_some(Xmit::New))
    }
    fn open_gate(&self) -> Gate {
        Gate::Pipe
    }
    fn restarts_timer(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Offset;
    use crate::testing::{blank, context, episode, wide};
    use crate::time::Time;

    #[test]
    fn it_leaves_the_window_alone_and_ends_where_the_episode_does() {
        let (mut ep, mut w, mut board) = (episode(), wide(), Scoreboard::default());
        let mut flow = |ack, lost| {
            let ack = AckEvent { ack: Offset(ack), ..blank() };
            ByRate.on_ack(&ack, lost, &mut ep, &mut w, &mut board, &context())
        };
        assert_eq!(flow(13_000, 1000), Flow::Continue(Rearm::OnNewData));
        assert_eq!(flow(13_001, 0), Flow::Done { grow: false });
        assert_eq!(flow(13_001, 1000), Flow::Begin);
        assert_eq!(w, wide());
    }

    #[test]
    fn what_is_lost_goes_before_new_data_and_both_only_into_free_window() {
        let mut board = Scoreboard::default();
        (0..3).for_each(|n| _ = board.push(Offset(1 + n * 1000), 1000, Time(0), 1e9, false));
        let cx = Ctx { next_len: 1000, ..context() };
        let next = |cwnd, board: &Scoreboard| ByRate.next(&Window { cwnd, ssthresh: 1e9 }, board, &cx);
        assert_eq!([next(3999.0, &board), next(4000.0, &board)], [None, Some(Xmit::New)]);
        board.mark_lost(Offset(1001));
        assert_eq!([next(2999.0, &board), next(3000.0, &board)], [None, Some(Xmit::Again(Offset(1001)))]);
    }
}
