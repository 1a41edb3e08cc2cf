//! Linux's ACKs: quick where the sender waits for each, else delayed by an adaptive time; duplicate ACKs are compressed.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_input.c` (`tcp_event_data_recv`, `tcp_measure_rcv_mss`, `tcp_incr_quickack`,
//! `tcp_enter_quickack_mode`, `tcp_grow_window`, `__tcp_ack_snd_check`, `tcp_sack_new_ofo_skb`, `tcp_data_queue`), `net/ipv4/tcp_output.c`
//! (`tcp_send_delayed_ack`, `tcp_event_ack_sent`, `tcp_event_data_sent`), `tcp_delack_timer_handler` in `net/ipv4/tcp_timer.c`,
//! `__tcp_cleanup_rbuf` in `net/ipv4/tcp.c`, in our words.
//!
//! Idea: more than a full segment is answered at once, and so is everything while a sender starts, restarts or repeats data. A
//! small segment is answered once the application has read it, unless both sides talk in turn. After three duplicates, further
//! ones wait a millisecond to be merged.
//!
//! | Linux | here |
//! | --- | --- |
//! | icsk_ack.quick, .ato, .lrcvtime, .rcv_mss, .last_seg_size | `quick`, `ato`, `heard`, `rcv_mss`, `last_size` |
//! | ICSK_ACK_SCHED; ICSK_ACK_PUSHED, _PUSHED2; ICSK_ACK_TIMER | `scheduled`; `pushed` 1, 2; `delack` |
//! | rcv_nxt − rcv_wup; inet_csk_in_pingpong_mode | `since`; `pingpong` against the parameter |
//! | compressed_ack, dup_ack_counter, compressed_ack_timer | `compressed`, `dups`, `release` |
//!
//! Departures: the size of a full segment counts payload only, where Linux counts headers, too. Congestion marks do not make an
//! ACK quick. A FIN is answered at once: Linux does so only once it has sent its own FIN; before that, the ACK waits for the
//! application, which reads the end and closes. The check whether the window moves is skipped where the application reads by
//! hand. When compression sends two SACKs in a row, the first already reports the second's segment. Without a handshake, the
//! receiver's own RTT replaces the sender's.

use super::{AckDecision, AckPolicy, Arrival};
use crate::error::StackError;
use crate::time::{earliest, Jiffies, Nanos, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The payload from which a segment always counts as full-sized, and the least from which it can (`TCP_MSS_DEFAULT`,
/// `TCP_MIN_MSS`).
const MSS_DEFAULT: u32 = 536;
const MIN_MSS: u32 = 88;
/// Number of duplicates after which further ones wait (`TCP_FASTRETRANS_THRESH`).
const DUPLICATES: u32 = 3;
/// The timeout before any measurement, and the least that a first sample adds to itself (`TCP_TIMEOUT_INIT`, `TCP_RTO_MIN`).
const TIMEOUT_INIT: Nanos = Nanos::from_secs(1);
const TIMEOUT_MIN: Nanos = Nanos::from_millis(200);

/// Parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinuxAckSpec {
    /// Shortest delay of an ACK; the delay adapts from there (`TCP_ATO_MIN`). Default: 40 ms.
    pub delay: Nanos,
    /// Longest delay of an ACK (`TCP_DELACK_MAX`); at most a tick below the shortest retransmission timeout of 200 ms.
    /// Default: 200 ms.
    pub max_delay: Nanos,
    /// Most ACKs sent without delay at the start, after a pause and after a repetition; never more than half the segments of the
    /// window (`TCP_MAX_QUICKACKS`). Default: 16.
    pub quick: u32,
    /// Replies with data after which both sides count as talking in turn, so that ACKs wait for a reply to ride on
    /// (`tcp_pingpong_thresh`). Default: 1.
    #[schemars(range(min = 1))]
    pub pingpong: u32,
    /// Most duplicates merged into one SACK; with 0 each has its own (`tcp_comp_sack_nr`). Default: 44.
    pub compress: u32,
    /// Longest time that a SACK waits to be merged; a twentieth of the RTT if that is less (`tcp_comp_sack_delay_ns`). Default: 1
    /// ms.
    pub compress_delay: Nanos,
    /// Slack of that timer: how late it may fire and, on an idle processor, does (`tcp_comp_sack_slack_ns`). Default: 100 us.
    pub compress_slack: Nanos,
    /// Ticks of the kernel's clock per second, 1 to 1000. Default: 250.
    pub hz: u32,
}

impl Default for LinuxAckSpec {
    fn default() -> Self {
        let ms = Nanos::from_millis;
        LinuxAckSpec {
            delay: ms(40),
            max_delay: ms(200),
            quick: 16,
            pingpong: 1,
            compress: 44,
            compress_delay: ms(1),
            compress_slack: Nanos::from_micros(100),
            hz: 250,
        }
    }
}

impl LinuxAckSpec {
    pub(super) fn validate(&self) -> Result<(), StackError> {
        StackError::unless((1..=1000).contains(&self.hz), "ack.hz", &self.hz, "1 to 1000 ticks a second")?;
        StackError::unless(self.pingpong > 0, "ack.pingpong", &0, "1 or more")?;
        StackError::unless(self.delay.0 > 0, "ack.delay", &self.delay, "more than 0")?;
        let limit = format!("not below ack.delay, which is {}", self.delay);
        StackError::unless(self.max_delay >= self.delay, "ack.max_delay", &self.max_delay, &limit)
    }
}

/// Linux's receiver at work. Times are in whole ticks unless their names say otherwise.
#[derive(Clone, Debug)]
pub struct Linux {
    spec: LinuxAckSpec,
    jiffies: Jiffies,
    advmss: u32,
    sack: bool,
    rcv_mss: u32,
    last_size: u32,
    window: u32,
    quick: u32,
    /// 0: no data yet.
    ato: u64,
    heard: u64,
    pingpong: u32,
    /// The number of small segments and segments with PSH since the last ACK; 2 means two or more.
    pushed: u8,
    scheduled: bool,
    /// Bytes that no ACK has covered yet.
    since: u64,
    /// The tick that the timer is set to, and when it fires.
    delack: Option<(u64, Time)>,
    compressed: u32,
    dups: u32,
    release: Option<Time>,
    /// The next ACK covers only the segments before the last one, which keeps waiting.
    carries: bool,
    rtt: Option<Nanos>,
    sender: Option<(Nanos, Nanos)>,
}

impl Linux {
    /// The peer's segments have up to `advmss` bytes; `sack` says whether SACK was negotiated.
    pub fn new(spec: &LinuxAckSpec, advmss: u32, sack: bool) -> Self {
        Linux {
            spec: spec.clone(),
            jiffies: Jiffies::per_second(spec.hz),
            advmss,
            sack,
            rcv_mss: advmss.clamp(MIN_MSS, MSS_DEFAULT),
            last_size: 0,
            window: 0,
            quick: 0,
            ato: 0,
            heard: 0,
            pingpong: 0,
            pushed: 0,
            scheduled: false,
            since: 0,
            delack: None,
            compressed: 0,
            dups: 0,
            release: None,
            carries: false,
            rtt: None,
            sender: None,
        }
    }

    fn ticks(&self, span: Nanos) -> u64 {
        self.jiffies.count(self.jiffies.whole(span).0)
    }

    fn ato_min(&self) -> u64 {
        self.ticks(self.spec.delay)
    }

    /// `icsk_rto` of our own sender.
    fn rto(&self) -> u64 {
        let guess = self.rtt.map_or(TIMEOUT_INIT, |rtt| rtt + TIMEOUT_MIN);
        self.ticks(self.sender.map_or(guess, |(_, rto)| rto))
    }

    fn srtt(&self) -> Option<Nanos> {
        self.sender.map(|(srtt, _)| srtt).or(self.rtt)
    }

    fn talks_in_turn(&self) -> bool {
        self.pingpong >= self.spec.pingpong
    }

    /// `tcp_incr_quickack`.
    fn be_quick(&mut self) {
        let half = match self.window / self.rcv_mss.saturating_mul(2) {
            0 => 2,
            half => half,
        };
        self.quick = self.quick.max(half.min(self.spec.quick));
    }

    /// `tcp_measure_rcv_mss`: the size of the peer's full segments. A small segment asks for an ACK once it is read.
    fn measure(&mut self, a: &Arrival) {
        let last = std::mem::take(&mut self.last_size);
        if a.len >= self.rcv_mss {
            self.rcv_mss = a.len.min(self.advmss).max(1);
            if a.push {
                self.pushed = self.pushed.max(1);
            }
            return;
        }
        if a.len >= MSS_DEFAULT || a.len >= MIN_MSS && !a.push && !a.fin {
            self.last_size = a.len;
            if a.len == last {
                self.rcv_mss = a.len;
                return;
            }
        }
        self.pushed = if self.pushed == 0 { 1 } else { 2 };
    }

    /// `tcp_event_data_recv`: the delay of an ACK follows the time between segments.
    fn adapt(&mut self, tick: u64) {
        let (min, gap) = (self.ato_min(), tick.saturating_sub(self.heard));
        if self.ato == 0 {
            self.be_quick();
            self.ato = min;
        } else if gap <= min / 2 {
            self.ato = self.ato / 2 + min / 2;
        } else if gap < self.ato {
            self.ato = (self.ato / 2 + gap).min(self.rto());
        } else if gap > self.rto() {
            self.be_quick();
        }
        self.heard = tick;
    }

    /// `tcp_send_delayed_ack`.
    fn delay(&mut self, now: Time, tick: u64) -> AckDecision {
        let (min, max) = (self.ato_min(), self.ticks(self.spec.max_delay));
        let mut ato = self.ato;
        if ato > min {
            let most = if self.talks_in_turn() || self.pushed > 0 { max } else { self.jiffies.per_half_second() };
            let most = self.srtt().map_or(most, |srtt| most.min(self.ticks(srtt).max(min)));
            ato = ato.min(most);
        }
        // `tcp_delack_max`.
        ato = ato.min(max).min(self.ticks(TIMEOUT_MIN).max(2) - 1);
        let at = tick + ato;
        match self.delack {
            Some((old, _)) if old <= tick + ato / 4 => return AckDecision::Now,
            Some((old, _)) if old <= at => {}
            _ => self.delack = Some((at, self.jiffies.fires(now, at))),
        }
        self.wait()
    }

    /// The end of `__tcp_ack_snd_check`: duplicates beyond the third wait to be merged.
    fn compress(&mut self, now: Time) -> AckDecision {
        if !self.sack || self.compressed >= self.spec.compress {
            return AckDecision::Now;
        }
        if self.dups < DUPLICATES {
            self.dups += 1;
            return AckDecision::Now;
        }
        self.compressed += 1;
        self.release.get_or_insert(self.released(now));
        self.wait()
    }

    fn released(&self, now: Time) -> Time {
        let rtt = self.rtt.map_or(Nanos::ZERO, |rtt| self.sender.map_or(rtt, |(srtt, _)| rtt.min(srtt)));
        now + Nanos(rtt.0 / 20).min(self.spec.compress_delay) + self.spec.compress_slack
    }

    fn wait(&self) -> AckDecision {
        earliest(self.delack.map(|(_, fires)| fires), self.release).map_or(AckDecision::No, AckDecision::Delay)
    }

    /// `__tcp_ack_snd_check`.
    fn decide(&mut self, a: &Arrival, tick: u64) -> AckDecision {
        let gap_closed = a.fills_hole && !a.held;
        let quick = self.quick > 0 && !self.talks_in_turn();
        if self.since > u64::from(self.rcv_mss) || quick || gap_closed {
            return AckDecision::Now;
        }
        if !a.held {
            return self.delay(a.now, tick);
        }
        if a.apart && self.compressed > 0 {
            // `tcp_sack_compress_send_ack`: a SACK that might lose a block is sent first.
            self.carries = true;
            return AckDecision::Now;
        }
        self.compress(a.now)
    }
}

impl AckPolicy for Linux {
    fn on_arrival(&mut self, a: &Arrival) -> AckDecision {
        let tick = self.jiffies.count(a.now.0);
        self.window = a.window.saturating_add(self.since.min(u64::from(u32::MAX)) as u32);
        self.scheduled = true;
        if a.len > 0 {
            self.measure(a);
        }
        if a.advanced > 0 {
            self.since += u64::from(a.advanced);
            self.dups = 0;
            if a.len > 0 {
                self.adapt(tick);
            }
            if a.fin {
                self.pingpong = self.spec.pingpong; // `tcp_fin`: an answer may follow
            }
        }
        match self.decide(a, tick) {
            AckDecision::Now => AckDecision::Now,
            _ if a.fin && !a.held => AckDecision::Now,
            waits if a.advanced == 0 || !a.read || a.held => waits,
            waits => match self.on_read() {
                AckDecision::No => waits,
                read => read,
            },
        }
    }

    fn on_read(&mut self) -> AckDecision {
        let small = self.pushed > 1 || self.pushed == 1 && !self.talks_in_turn();
        if self.scheduled && (small || self.since > u64::from(self.rcv_mss)) {
            AckDecision::Now
        } else {
            AckDecision::No
        }
    }

    /// `__tcp_sock_set_quickack`.
    fn set_quick(&mut self, quick: bool) {
        self.pingpong = if quick { 0 } else { self.spec.pingpong };
    }

    fn on_timer(&mut self, _: Time) -> AckDecision {
        if self.compressed == 0 {
            // `tcp_delack_timer_handler`: no data was sent for the ACK to ride on.
            if self.talks_in_turn() {
                (self.pingpong, self.ato) = (0, self.ato_min());
            } else {
                self.ato = (self.ato * 2).min(self.rto());
            }
        }
        AckDecision::Now
    }

    /// `tcp_enter_quickack_mode`.
    fn on_repetition(&mut self, _: Time) {
        self.be_quick();
        (self.pingpong, self.ato) = (0, self.ato_min());
    }

    fn on_ack_sent(&mut self, now: Time, data: bool) -> Option<Time> {
        if self.quick > 0 && self.scheduled {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = self.ato_min();
            }
        }
        (self.since, self.pushed, self.scheduled, self.delack) = (0, 0, false, None);
        (self.compressed, self.release) = (0, None);
        if data && self.jiffies.count(now.0).saturating_sub(self.heard) < self.ato {
            self.pingpong = self.pingpong.saturating_add(1);
        }
        if std::mem::take(&mut self.carries) {
            (self.compressed, self.release) = (1, Some(self.released(now)));
        }
        self.release
    }

    fn asks(&self) -> bool {
        true
    }

    /// `tcp_grow_window`.
    fn on_growth(&mut self) {
        self.quick |= 1;
    }

    fn on_rtt(&mut self, rtt: Option<Nanos>) {
        self.rtt = rtt;
    }

    fn on_sender(&mut self, srtt: Option<Nanos>, rto: Nanos) {
        self.sender = srtt.map(|srtt| (srtt, rto));
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::plain;
    use super::*;

    const MS: u64 = 1_000_000;

    fn linux(spec: LinuxAckSpec) -> Linux {
        Linux::new(&spec, 1460, true)
    }

    /// The default policy past its quick ACKs: 18 segments a millisecond apart.
    fn steady() -> Linux {
        let mut p = linux(LinuxAckSpec::default());
        for ms in 0..18 {
            _ = answer(&mut p, &plain(ms));
        }
        assert_eq!((p.quick, p.since), (0, 0));
        p
    }

    /// Returns `Ok` if it is answered at once, else when.
    fn answer(p: &mut Linux, a: &Arrival) -> Result<(), AckDecision> {
        match p.on_arrival(a) {
            AckDecision::Now => {
                p.on_ack_sent(a.now, false);
                Ok(())
            }
            later => Err(later),
        }
    }

    #[test]
    fn a_fin_is_answered_at_once() {
        for read in [true, false] {
            let a = Arrival { fin: true, push: true, read, ..plain(20) };
            assert_eq!(answer(&mut steady(), &a), Ok(()), "reads at once: {read}");
        }
    }

    fn delayed_to(ms: u64) -> Result<(), AckDecision> {
        Err(AckDecision::Delay(Time(ms * MS)))
    }

    /// Fires the timer and sends the ACK.
    fn fire(p: &mut Linux, ms: u64) {
        assert_eq!(p.on_timer(Time(ms * MS)), AckDecision::Now);
        p.on_ack_sent(Time(ms * MS), false);
    }

    fn gap(ms: u64) -> Arrival {
        Arrival { in_order: false, advanced: 0, held: true, ..plain(ms) }
    }

    fn small(ms: u64) -> Arrival {
        Arrival { len: 100, advanced: 100, push: true, ..plain(ms) }
    }

    #[test]
    fn the_first_sixteen_segments_are_answered_one_by_one_and_then_every_second() {
        let mut p = linux(LinuxAckSpec::default());
        let at_once: Vec<bool> = (0..20).map(|ms| answer(&mut p, &plain(ms)).is_ok()).collect();
        assert_eq!(at_once[..16], [true; 16]);
        assert_eq!(at_once[16..], [false, true, false, true]);
    }

    #[test]
    fn no_more_are_quick_than_half_the_window_has_segments() {
        let mut p = linux(LinuxAckSpec::default());
        let at = |ms| Arrival { window: 8 * 1460, ..plain(ms) };
        let at_once: Vec<bool> = (0..6).map(|ms| answer(&mut p, &at(ms)).is_ok()).collect();
        assert_eq!(at_once, [true, true, true, true, false, true]);
    }

    #[test]
    fn a_single_segment_waits_ten_ticks_and_the_wheel_fires_on_the_next() {
        assert_eq!(
            answer(&mut steady(), &plain(21)),
            delayed_to(64),
            "set on tick 5 for 10 ticks, fired on the next one"
        );
        assert_eq!(
            answer(&mut linux(LinuxAckSpec { quick: 0, hz: 1000, ..Default::default() }), &plain(21)),
            delayed_to(62)
        );
    }

    #[test]
    fn each_timer_that_fires_doubles_the_wait_up_to_the_round_trip_and_segments_close_together_shorten_it() {
        let mut p = linux(LinuxAckSpec { quick: 0, ..Default::default() });
        p.on_sender(Some(Nanos::from_millis(100)), Nanos::from_millis(300));
        for (ms, fires) in [(0, 44), (1000, 1084), (2000, 2104), (3000, 3104)] {
            assert_eq!(answer(&mut p, &plain(ms)), delayed_to(fires));
            fire(&mut p, fires);
        }
        assert_eq!(p.ato, 75, "never above the timeout");
        for ms in 3200..3216 {
            _ = answer(&mut p, &plain(ms));
        }
        assert_eq!(p.ato, 10);
    }

    #[test]
    fn after_a_pause_longer_than_the_timeout_acks_are_quick_again() {
        for (sender, pause) in [(None, 1000), (Some(Nanos::from_millis(100)), 300)] {
            let after = |ms: u64| {
                let mut p = steady();
                p.on_sender(sender, Nanos::from_millis(300));
                p.pushed = 0;
                answer(&mut p, &plain(17 + ms)).is_ok()
            };
            assert_eq!((after(pause), after(pause + 8)), (false, true), "{sender:?}");
        }
    }

    #[test]
    fn while_the_window_grows_every_segment_is_answered_and_the_first_acks_stay_quick() {
        let mut p = linux(LinuxAckSpec::default());
        for ms in 0..50 {
            assert!(answer(&mut p, &plain(ms)).is_ok(), "{ms}");
            p.on_growth();
        }
        let at_once: Vec<bool> = (50..70).map(|ms| answer(&mut p, &plain(ms)).is_ok()).collect();
        assert_eq!(at_once[..15], [true; 15]);
        assert!(at_once.contains(&false));
    }

    #[test]
    fn after_a_repetition_acks_are_quick_again_and_both_sides_no_longer_talk_in_turn() {
        let mut p = steady();
        p.pingpong = 1;
        p.on_repetition(Time(20 * MS));
        assert!((0..16).all(|ms| answer(&mut p, &plain(20 + ms)).is_ok()));
        assert!(answer(&mut p, &plain(40)).is_err());
    }

    #[test]
    fn a_small_segment_is_answered_when_the_application_has_read_it() {
        assert_eq!(answer(&mut steady(), &small(21)), Ok(()));
        let mut p = steady();
        assert_eq!(answer(&mut p, &Arrival { read: false, ..small(21) }), delayed_to(64));
        assert_eq!(p.on_read(), AckDecision::Now);
    }

    #[test]
    fn where_both_sides_talk_in_turn_a_small_segment_waits_for_an_answer_and_a_second_does_not() {
        let mut p = steady();
        p.on_ack_sent(Time(20 * MS), true);
        assert_eq!(answer(&mut p, &small(21)), delayed_to(64));
        assert_eq!(answer(&mut p, &small(22)), Ok(()));
        assert_eq!(answer(&mut p, &small(23)), delayed_to(64));
        fire(&mut p, 64);
        assert_eq!(answer(&mut p, &small(70)), Ok(()), "no data carried the ACK: they do not talk in turn");
    }

    #[test]
    fn data_sent_long_after_the_last_that_came_are_no_answer() {
        let mut p = steady();
        p.on_ack_sent(Time(60 * MS), true);
        assert_eq!(p.pingpong, 0);
    }

    #[test]
    fn equal_segments_without_push_are_full_ones_and_two_of_them_are_answered() {
        let mut p = steady();
        let at = |ms| Arrival { len: 400, advanced: 400, ..plain(ms) };
        assert!(answer(&mut p, &at(21)).is_ok(), "a small one");
        assert!(answer(&mut p, &at(22)).is_err(), "the second segment of that size");
        assert_eq!(p.rcv_mss, 400);
        assert!(answer(&mut p, &at(23)).is_ok());
    }

    #[test]
    fn after_three_duplicates_sacks_wait_for_company_a_millisecond_and_the_slack() {
        let mut p = steady();
        p.on_rtt(Some(Nanos::from_millis(100)));
        assert!((0..3).all(|_| answer(&mut p, &gap(21)).is_ok()));
        let release = Err(AckDecision::Delay(Time(22_100_000)));
        for _ in 0..44 {
            assert_eq!(answer(&mut p, &gap(21)), release);
        }
        assert_eq!(answer(&mut p, &gap(21)), Ok(()), "44 are enough");
        p.on_rtt(Some(Nanos::from_millis(10)));
        assert_eq!(
            answer(&mut p, &gap(22)),
            Err(AckDecision::Delay(Time(22_600_000))),
            "a twentieth of the round trip"
        );
        assert_eq!(p.on_timer(Time(22_600_000)), AckDecision::Now);
        assert_eq!(p.ato, 10, "a compressed ACK is not a delayed one");
    }

    #[test]
    fn data_that_moves_the_window_restarts_the_count_of_duplicates_and_the_end_of_all_gaps_is_answered_at_once() {
        let mut p = steady();
        assert_eq!((0..4).filter(|_| answer(&mut p, &gap(21)).is_ok()).count(), 3);
        let part = Arrival { fills_hole: true, held: true, ..plain(22) };
        assert!(answer(&mut p, &part).is_ok());
        assert_eq!(
            (0..4).filter(|_| answer(&mut p, &gap(23)).is_ok()).count(),
            2,
            "the filling ACK was the first of three"
        );
        assert!(answer(&mut p, &Arrival { fills_hole: true, ..plain(24) }).is_ok());
    }

    #[test]
    fn without_sack_every_duplicate_is_answered() {
        let mut p = Linux::new(&LinuxAckSpec { quick: 0, ..Default::default() }, 1460, false);
        assert!((0..9).all(|ms| answer(&mut p, &gap(ms)).is_ok()));
    }

    #[test]
    fn a_sack_that_might_lose_a_block_goes_first_and_the_next_waits_on() {
        let mut p = steady();
        p.on_rtt(Some(Nanos::from_millis(100)));
        assert_eq!((0..4).filter(|_| answer(&mut p, &gap(21)).is_ok()).count(), 3);
        assert_eq!(p.on_arrival(&Arrival { apart: true, ..gap(22) }), AckDecision::Now);
        assert_eq!(p.on_ack_sent(Time(22 * MS), false), Some(Time(23_100_000)));
    }

    #[test]
    fn parameters_out_of_range_are_refused_by_name() {
        let refused = |spec: LinuxAckSpec| spec.validate().unwrap_err().key;
        assert_eq!(refused(LinuxAckSpec { hz: 0, ..Default::default() }), "ack.hz");
        assert_eq!(refused(LinuxAckSpec { pingpong: 0, ..Default::default() }), "ack.pingpong");
        assert_eq!(refused(LinuxAckSpec { delay: Nanos::ZERO, ..Default::default() }), "ack.delay");
        assert_eq!(refused(LinuxAckSpec { max_delay: Nanos(1), ..Default::default() }), "ack.max_delay");
    }
}
