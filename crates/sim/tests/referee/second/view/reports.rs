//! The sender's reports, which show what it did with the answers.

use crate::second::witness::Notebook;
use ackclock_tcp::event::Event::{Inflation, Mistake, Probe, Rtt, Threshold};
use ackclock_tcp::event::{Event, Phase, Slot, Why};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::{Rearm, Xmit};
use ackclock_tcp::facts::rate::RateSample;
use ackclock_tcp::time::Time;

impl Notebook {
    /// Follows a report of the sender. The notebook has it already.
    pub(crate) fn follow(&mut self, at: Time, e: &Event, new_data: bool, next: Option<u64>) {
        if !self.complete {
            return;
        }
        self.restart_now();
        match *e {
            Event::Sent { start, len, by, sends, .. } => {
                self.view.may_stall = None;
                self.check_probe(at, start.0, new_data, next);
                let alone = new_data && self.judge.book.out.len() == 1;
                self.sent_after_pause(at, alone);
                let (end, urgent) = (start.0 + u64::from(len), std::mem::take(&mut self.view.urgent));
                self.tally_sent(by, sends > 1, false);
                let probe = urgent || (by == Slot::Sequencer && self.judge.book.phase != Phase::Open);
                let again = by != Slot::Sequencer && self.view.wanted.is_some_and(|x| x != Xmit::New);
                if new_data {
                    self.view.nxt = self.judge.book.max;
                } else if start.0 == self.view.nxt && !probe && !again {
                    self.view.nxt = end;
                    self.skip_sacked();
                }
                if self.view.rto_at.is_none() && !self.view.owns_rto {
                    self.view.set_timer(at);
                }
            }
            Event::Window { by, from, to, .. } => {
                if by == Slot::Startup {
                    self.start_writes(from, to);
                }
                if let (Slot::Congestion, Some(want)) = (by, self.view.grown_to.take()) {
                    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * f64::max(a, b);
                    let same = near(to.cwnd, want.cwnd) && near(to.ssthresh, want.ssthresh);
                    self.expect(same, || format!("the window grows to {to:?}, and it should be {want:?}"));
                }
            }
            Event::Phase { why, to, .. } => {
                if why == Why::Mistaken {
                    self.view.nxt = self.judge.book.max;
                }
                if to == Phase::Recovery {
                    self.view.rearm = Rearm::OnNewData;
                }
            }
            Event::Timeout { backoff, .. } => {
                (self.view.urgent, self.view.fired, self.view.by_timer) = (false, true, false);
                self.presume(0);
                self.no_probe();
                let known = self.view.ask(|rto| rto.backoff_count());
                self.expect(known.is_none_or(|n| n == backoff), || format!("back-off {backoff}, and not {known:?}"));
            }
            Event::Persist { .. } => {
                (self.view.urgent, self.view.probed) = (true, true);
                self.no_probe();
            }
            Event::Acked { pipe, .. } => {
                let (seen, known) = (self.view.in_flight.take(), pipe.div_ceil(self.judge.book.mss) as u32);
                self.expect(seen.is_none_or(|n| n == known), || format!("{seen:?} in flight, and not {known}"));
                self.ack_done(at);
            }
            Inflation { .. } | Mistake { .. } | Probe { .. } | Threshold { .. } | Rtt { .. } => {}
        }
    }

    /// The timeout after a timeout, when everything else is done.
    pub(crate) fn rto_reported(&mut self, at: Time) {
        if std::mem::take(&mut self.view.fired) {
            self.view.set_timer(at);
            let (losses, seen) = (self.view.losses, self.view.reported_cuts);
            self.expect_complete(losses == seen, || format!("{losses} cuts, and {seen} were told"));
        }
    }

    pub(super) fn expect_complete(&mut self, holds: bool, why: impl FnOnce() -> String) {
        self.expect(holds || !self.complete, why);
    }

    /// What a sample of the delivery rate takes from the ACK; the data in flight is reported with the ACK.
    pub(in crate::second) fn check_sample(&mut self, rs: &RateSample) {
        self.view.in_flight = Some(rs.in_flight);
        let rtt = self.view.fact.and_then(|a| a.rtt).map(|rtt| rtt.0 / 1000);
        self.expect_complete(rs.rtt_us == rtt, || format!("a sample's RTT is {:?} µs, and not {rtt:?}", rs.rtt_us));
    }

    /// The sender has done all that follows from an ACK.
    fn ack_done(&mut self, at: Time) {
        let v = &mut self.view;
        if v.grown_to.take().is_some_and(|want| self.judge.book.w.is_some_and(|w| w != want)) {
            self.expect(false, || "growth without a report".into());
        }
        let v = &mut self.view;
        let Some(a) = v.fact.take() else { return };
        let advances = crate::second::advances(&a);
        let oldest = self.judge.book.out.first().map(|p| p.last);
        let hears_sacks = v.ask(|rto| rto.hears_sacks()).unwrap_or(false);
        let sack_restarts =
            !advances && hears_sacks && a.rtt.zip(oldest).is_some_and(|(rtt, sent)| rtt > at.since(sent));
        if v.rearm == Rearm::Restart || (v.rearm == Rearm::OnNewData && (advances || sack_restarts)) {
            v.set_timer(at);
        }
        self.no_timer_without_data();
        self.check_calls(&a, advances, hears_sacks);
        self.check_phase(&a, self.view.owner, self.view.verdict);
        self.check_informed();
        self.look_for_a_stall(at);
    }

    fn check_calls(&mut self, a: &AckEvent, advances: bool, hears_sacks: bool) {
        let v = &self.view;
        let by_sack = v.verdict.lost() == 0 && !a.ece && a.sacked > 0;
        let by_sack = by_sack && v.sack_growth.zip(v.dupthresh).is_some_and(|(above, d)| d > above);
        let opens = if advances { !a.ece && !v.mistaken } else { by_sack };
        let grows = u32::from(opens && v.owner != Phase::Recovery) + u32::from(v.done_grow && !a.ece);
        let heard = u32::from(advances || (a.rtt.is_some() && hears_sacks));
        let seen = (v.judged, v.grown, v.timed, v.asked, v.reported_cuts);
        let known = (1, grows, heard, u32::from(v.asks), v.losses);
        self.expect_complete(seen == known, || {
            format!(
                "on an ACK detector, growth, timer and start were asked, and cuts told, {seen:?} times, not {known:?}"
            )
        });
        let stalled = self.view.stalled.filter(|_| self.judge.book.phase != Phase::Disorder);
        self.expect_complete(stalled.is_none(), || format!("a stall since {stalled:?} was not told"));
    }
}
