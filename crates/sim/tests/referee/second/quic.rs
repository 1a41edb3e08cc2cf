//! QUIC's loss detection, worked out once more from a list of all transmissions.

use super::{board, end_of, mss};
use ackclock_tcp::detect::quic::QuicSpec;
use ackclock_tcp::detect::{Detector, Learner, StandIn, Timekeeper, Verdict};
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::answer::Xmit;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::facts::reorder::ReorderSample;
use ackclock_tcp::facts::scoreboard::{Scoreboard, Sent};
use ackclock_tcp::time::Time;

/// A transmission, with its packet number. Nanoseconds.
#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    end: u64,
    at: u64,
}

/// A packet that was declared lost, and when its data arrived, if perhaps by a later copy.
struct Declared {
    end: u64,
    at: u64,
    distance: u64,
    arrived: Option<u64>,
}

/// RFC 9002 §6, §7.6, appendix A.
pub(super) struct Quic {
    spec: QuicSpec,
    packets: Vec<Packet>,
    sent: u64,
    largest_acked: Option<u64>,
    latest_rtt: Option<u64>,
    /// congestion_recovery_start_time.
    recovery_start: Option<u64>,
    loss_time: Option<u64>,
    /// When the PTO timer was set, the PTO, and pto_count.
    timer: Option<(u64, u64)>,
    pto_count: u32,
    /// When the first packet of a run of lost ones was sent; what was sent up to then had no RTT.
    run_since: Option<u64>,
    unmeasured: Option<u64>,
    persistent: bool,
    declared: Vec<Declared>,
}

impl Quic {
    pub(super) fn new(spec: &QuicSpec) -> Quic {
        Quic {
            spec: spec.clone(),
            packets: vec![],
            sent: 0,
            largest_acked: None,
            latest_rtt: None,
            recovery_start: None,
            loss_time: None,
            timer: None,
            pto_count: 0,
            run_since: None,
            unmeasured: None,
            persistent: false,
            declared: vec![],
        }
    }

    /// max (smoothed_rtt, latest_rtt), a third of the first timeout before there is one.
    fn rtt(&self, cx: &Ctx) -> u64 {
        self.latest_rtt.into_iter().chain(cx.srtt.map(|s| s.0)).max().unwrap_or(cx.rto.0 / 3)
    }

    /// A.7: the packet that this ACK acknowledges and that was sent last.
    fn newest(&self, ack: &AckEvent, board: &Scoreboard, cx: &Ctx) -> Option<u64> {
        let own = |at: u64| cx.min_rtt.is_none_or(|min| cx.now.0 - at >= min.0);
        let n = ack.newest?;
        let (at, end) = if n.retransmitted && !own(n.at.0) {
            board::newly(board).filter(|s| s.sends == 1 || own(s.at.0)).map(|s| (s.at.0, end_of(s))).max()?
        } else {
            (n.at.0, n.end.0)
        };
        self.packets.iter().rev().find(|p| p.at == at && p.end == end).map(|p| p.number)
    }

    /// How long nothing was delivered up to this lost packet (§7.6).
    fn lost_in_a_row(&mut self, at: u64) -> u64 {
        if self.unmeasured.is_some_and(|until| at <= until) {
            return 0;
        }
        let since = *self.run_since.get_or_insert(at);
        at - since
    }

    /// A.10.
    fn detect_lost(&mut self, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.loss_time = None;
        let Some(largest) = self.largest_acked else { return Verdict::Clear };
        let threshold = (self.rtt(cx) as f64 * self.spec.time_threshold) as u64;
        let delay = u64::max(threshold, self.spec.granularity.0);
        let (mut lost, mut news, mut silence) = (0, false, 0);
        while let Some(p) = self.packets.first().copied().filter(|p| p.number <= largest) {
            let place = p.end - 1;
            let s = board.iter().find(|s| s.start.0 <= place && place < end_of(s)).copied();
            let settled = |s: &Sent| board::sacked(s) || (s.at.0 == p.at && board::lost(s) && !board::resent(s));
            match s.filter(|s| !settled(s)) {
                None => self.run_since = None,
                Some(s) if s.at.0 != p.at => silence = u64::max(silence, self.lost_in_a_row(p.at)),
                Some(_) => {
                    let distance = largest - p.number;
                    let few = distance < u64::from(self.spec.packet_threshold);
                    if distance == 0 || (few && cx.now.0 < p.at + delay) {
                        self.loss_time = if distance > 0 { Some(p.at + delay) } else { None };
                        break;
                    }
                    lost += board.mark_lost(board::at(place));
                    news |= self.recovery_start.is_none_or(|start| start < p.at);
                    if self.spec.adapt {
                        if self.declared.len() == 512 {
                            self.declared.remove(0);
                        }
                        self.declared.push(Declared { end: p.end, at: p.at, distance, arrived: None });
                    }
                    silence = u64::max(silence, self.lost_in_a_row(p.at));
                }
            }
            self.packets.remove(0);
        }
        self.persistent = lost > 0 && silence > cx.rto.0.saturating_mul(u64::from(self.spec.persistent));
        if lost == 0 {
            Verdict::Clear
        } else if self.persistent {
            Verdict::Collapsed(lost)
        } else if news {
            Verdict::Lost(lost)
        } else {
            Verdict::More(lost)
        }
    }

    /// Decision 0061: both thresholds as they would have had to be.
    fn adapt(&mut self, ack: &AckEvent, w: &Window, board: &Scoreboard, cx: &Ctx) {
        if self.declared.is_empty() {
            return;
        }
        let rtt = u64::max(self.rtt(cx), 1) as f64;
        let mut needless: Vec<(u64, f64)> = vec![];
        let round_trips = |d: &Declared, arrived: u64| f64::min(arrived.saturating_sub(d.at) as f64 / rtt, 2.0);
        for s in board::newly(board) {
            let of = |d: &Declared| d.end == end_of(s) && d.arrived.is_none();
            let Some(i) = self.declared.iter().rposition(of) else { continue };
            let soon = cx.min_rtt.is_some_and(|min| cx.now.0 - s.at.0 < min.0);
            if soon || s.at.0 == self.declared[i].at {
                let d = self.declared.remove(i);
                needless.push((d.distance + 1, round_trips(&d, cx.now.0)));
            } else {
                self.declared[i].arrived = Some(cx.now.0);
            }
        }
        if let Some((left, right)) = ack.dsack {
            let of = |d: &Declared| left.0 < d.end && d.end <= right.0 && d.arrived.is_some();
            if let Some(i) = self.declared.iter().rposition(of) {
                let d = self.declared.remove(i);
                needless.push((d.distance + 1, round_trips(&d, d.arrived.unwrap_or(cx.now.0))));
            }
        }
        for (packets, trips) in needless {
            let window = (w.cwnd / mss(cx)).floor() as u64;
            let packets = packets.min(window).min(1000) as u32;
            self.spec.packet_threshold = u32::max(self.spec.packet_threshold, packets);
            self.spec.time_threshold = f64::max(self.spec.time_threshold, trips);
        }
    }
}

impl Detector for Quic {
    fn on_ack(&mut self, ack: &AckEvent, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        if self.spec.adapt {
            self.adapt(ack, w, board, cx);
        }
        self.persistent = false;
        if board::oldest(board).is_none() {
            self.packets.clear();
            (self.timer, self.pto_count, self.run_since, self.loss_time) = (None, 0, None, None);
            return Verdict::Clear;
        }
        self.timer = Some((self.timer.map_or(cx.now.0, |t| t.0), cx.rto.0));
        if ack.delivered == 0 {
            return Verdict::Clear;
        }
        self.pto_count = 0;
        if let Some(rtt) = ack.rtt {
            self.latest_rtt = Some(rtt.0);
        }
        self.largest_acked = self.largest_acked.max(self.newest(ack, board, cx));
        self.detect_lost(board, cx)
    }
    fn dupthresh(&self, _: &Window, _: &Ctx) -> Option<u32> {
        None
    }
}

impl Timekeeper for Quic {
    fn keeps_time(&self) -> bool {
        true
    }
    fn deadline(&self) -> Option<Time> {
        if let Some(at) = self.loss_time {
            return Some(Time(at));
        }
        let (since, pto) = self.timer?;
        let doubled = (0..self.pto_count.min(32)).fold(u128::from(pto), |pto, _| 2 * pto);
        Some(Time(since + u128::min(doubled, u128::from(self.spec.max_pto.0)) as u64))
    }
    fn on_timer(&mut self, w: &Window, board: &mut Scoreboard, cx: &Ctx) -> Verdict {
        self.persistent = false;
        let postpone = |timer: &mut Option<(u64, u64)>| *timer = timer.map(|t| (cx.now.0, t.1));
        if self.loss_time.is_some_and(|at| cx.now.0 >= at) {
            let verdict = self.detect_lost(board, cx);
            if self.deadline().is_some_and(|at| cx.now >= at) {
                postpone(&mut self.timer);
            }
            return verdict;
        }
        self.pto_count += 1;
        postpone(&mut self.timer);
        if board::reneged(board) {
            board.clear_sacks();
        }
        // §6.2.4.
        let last_arrived = board.iter().last().is_some_and(board::sacked);
        if cx.next_len > 0 || (self.pto_count == 1 && !last_arrived) {
            return Verdict::Probe;
        }
        let mut lost = 0;
        loop {
            let flying = |s: &&Sent| !board::sacked(s) && (!board::lost(s) || board::resent(s));
            let Some(start) = board.iter().find(flying).map(|s| s.start) else { break };
            lost += board.mark_lost(start);
            if board::pipe_admits(w, board, cx) {
                break;
            }
        }
        Verdict::More(lost)
    }
    fn watches_sends(&self) -> bool {
        true
    }
    fn on_sent(&mut self, _: Xmit, sent: &Sent, cx: &Ctx) {
        self.packets.push(Packet { number: self.sent, end: end_of(sent), at: sent.at.0 });
        self.sent += 1;
        self.timer = Some((cx.now.0, cx.rto.0));
        if cx.srtt.is_none() {
            self.unmeasured = Some(cx.now.0);
        }
    }
    fn hold_until(&self) -> Option<Time> {
        None
    }
    fn owns_rto(&self) -> bool {
        true
    }
    fn stands_in_for_rto(&self) -> StandIn {
        StandIn::No
    }
    fn after_rto(&mut self, _: &mut Scoreboard, _: &Ctx) -> bool {
        false
    }
}

impl Learner for Quic {
    fn on_reorder(&mut self, sample: &ReorderSample, _: &Window, _: &Ctx) {
        if sample.resent.is_some() {
            self.recovery_start = None;
        }
    }
    fn on_cut(&mut self, _: &Window, cx: &Ctx) {
        if self.persistent {
            (self.recovery_start, self.run_since) = (None, None);
        } else {
            self.recovery_start = Some(cx.now.0);
        }
    }
}
