//! BBR's arithmetic, worked out by hand from the kernel's, and its behaviour over a path of 10 segments per 100 ms.

use super::*;
use crate::congestion::tests::loss;
use crate::testing::{context, ms};

/// Ten segments in 100 ms: 10 · 2²⁴ / 100,000.
const BW: u32 = 1677;

fn window(segs: f64) -> Window {
    Window { cwnd: segs * 1000.0, ssthresh: 1e9 }
}

fn segs(w: &Window) -> u32 {
    (w.cwnd / 1000.0) as u32
}

fn at(now: u64) -> Ctx {
    Ctx { now: ms(now), srtt: Some(Nanos::from_millis(100)), ..context() }
}

/// A path whose deliveries each test determines.
struct Path {
    bbr: Bbr,
    rates: Rates,
    w: Window,
    now: u64,
    phase: Phase,
}

impl Path {
    fn new() -> Self {
        let mut bbr = Bbr::new(&BbrSpec::default(), 1000);
        let w = window(10.0);
        bbr.on_handshake(Nanos::from_millis(100), &w);
        Path { bbr, rates: Rates::default(), w, now: 0, phase: Phase::Open }
    }

    /// An ACK 100 ms later, for a segment sent after the previous ACK: `delivered` segments in that time, all of them new, with
    /// `in_flight` left.
    fn round(&mut self, delivered: u32, in_flight: u32) -> u32 {
        let prior = self.rates.delivered();
        self.ack(100, delivered, in_flight, prior, 0)
    }

    /// An ACK `ms` milliseconds later, at the path's rate.
    fn ack(&mut self, after: u64, delivered: u32, in_flight: u32, prior_delivered: u64, losses: u32) -> u32 {
        self.now += after;
        self.rates.deliver(ms(self.now), delivered);
        let rs = RateSample {
            delivered: Some(u64::from(delivered)),
            interval_us: Some(if after == 100 { 100_000 } else { 10_000 * u64::from(delivered) }),
            prior_delivered,
            acked_sacked: delivered,
            losses,
            prior_in_flight: in_flight + delivered,
            in_flight,
            rtt_us: Some(100_000),
            ..RateSample::default()
        };
        let cx = Ctx { phase: self.phase, ..at(self.now) };
        self.bbr.on_rate(&rs, &mut self.rates, &mut self.w, &cx);
        segs(&self.w)
    }

    /// Three rounds at ten segments fill the pipe after the first.
    fn full() -> Self {
        let mut p = Path::new();
        for _ in 0..3 {
            p.round(10, 30);
            assert_eq!(p.bbr.mode, Mode::Startup);
        }
        p.round(10, 30);
        p
    }

    /// In the middle of the cycle, where it sends at the path's rate.
    fn cruising() -> Self {
        let mut p = Path::full();
        p.round(10, 10);
        assert_eq!(p.bbr.mode, Mode::ProbeBw);
        (p.bbr.cycle, p.bbr.pacing_gain) = (3, UNIT);
        p
    }
}

#[test]
fn gains_and_rates_are_the_kernels_to_the_last_bit() {
    assert_eq!((HIGH_GAIN, DRAIN_GAIN, CYCLE[0], CYCLE[1]), (739, 88, 320, 192));
    assert_eq!(bytes_per_second(BW, HIGH_GAIN, 1448), 413_638);
    assert_eq!([UNIT, 320].map(|gain| bytes_per_second(BW, gain, 1000)), [98_957, 123_696]);
    let bbr = Bbr::new(&BbrSpec::default(), 1000);
    assert_eq!(bbr.pace(), Some(Pace { rate: 28_578_488, min_burst: 2 }), "10 segments a millisecond");
    assert_eq!(Path::new().bbr.pacing_rate, bytes_per_second(BW, HIGH_GAIN, 1000));
}

#[test]
fn a_window_is_what_the_path_holds_and_three_bursts_and_even() {
    let mut bbr = Path::new().bbr;
    assert_eq!([UNIT, CWND_GAIN].map(|gain| bbr.bdp(BW, gain)), [10, 20]);
    assert_eq!(bbr.inflight(BW, UNIT), 16, "10 and three times two");
    bbr.pacing_rate = MIN_TSO_RATE - 1;
    assert_eq!(bbr.inflight(BW, UNIT), 14, "one by one: 13, and even");
    (bbr.mode, bbr.cycle) = (Mode::ProbeBw, 0);
    assert_eq!(bbr.inflight(BW, UNIT), 16, "two more to probe");
    bbr.min_rtt_us = None;
    assert_eq!(bbr.bdp(BW, UNIT), 10, "as long as no round trip is known");
    // At 80 Mb/s a burst is a millisecond's data, ten segments.
    (bbr.mode, bbr.pacing_rate) = (Mode::Startup, 10_240_000);
    assert_eq!(bbr.inflight(BW, UNIT), 40, "10 and three times ten");
}

#[test]
fn before_the_path_is_full_the_window_grows_below_its_target_or_until_ten_segments_have_arrived() {
    let mut p = Path::new();
    p.round(10, 30);
    let target = p.bbr.inflight(p.bbr.bw(), p.bbr.cwnd_gain);
    let rs = RateSample { acked_sacked: 3, ..RateSample::default() };
    assert_eq!(p.bbr.next_cwnd(target - 1, &rs, &p.rates, &at(200)), target + 2);
    assert_eq!(p.bbr.next_cwnd(target, &rs, &p.rates, &at(200)), target);
    assert_eq!(p.bbr.next_cwnd(target, &rs, &Rates::default(), &at(200)), target + 3);
    let mut ten = Rates::default();
    ten.deliver(ms(100), 10 - ten.delivered() as u32);
    assert_eq!(p.bbr.next_cwnd(target, &rs, &ten, &at(200)), target);
}

#[test]
fn acks_that_come_together_run_ahead_of_the_rate_and_are_counted() {
    let mut p = Path::new();
    assert_eq!(p.bbr.aggregation.window(BW), 0);
    p.round(10, 30);
    assert_eq!(p.bbr.aggregation.window(BW), 9, "ten at once, and no more than the rate delivers in 100 ms");
}

#[test]
fn the_phases_are_drawn_by_splitmix64() {
    // Vigna's splitmix64.c: the first two numbers of the seed 0.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    assert_eq!([0, STEP].map(|x| scattered(Time(x))), [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
}

#[test]
fn three_rounds_without_a_quarter_more_end_the_start_and_the_queue_is_drained() {
    let p = Path::full();
    assert_eq!((p.bbr.mode, p.bbr.pacing_gain, p.bbr.cwnd_gain), (Mode::Drain, DRAIN_GAIN, HIGH_GAIN));
    assert_eq!(p.w.ssthresh, 16_000.0);
    assert_eq!(p.bbr.pacing_rate, bytes_per_second(BW, DRAIN_GAIN, 1000));
    let mut p = p;
    // Ten, plus three bursts of one at this rate, rounded up to an even number.
    p.round(10, 15);
    assert_eq!(p.bbr.mode, Mode::Drain);
    p.round(10, 14);
    assert_eq!(p.bbr.mode, Mode::ProbeBw);
}

#[test]
fn a_quarter_more_each_round_continues_the_start() {
    let mut p = Path::new();
    for n in [8, 10, 13, 17, 22, 28, 35, 44] {
        p.round(n, 2 * n);
        assert_eq!((p.bbr.mode, p.bbr.full_bw_count), (Mode::Startup, 0));
    }
}

#[test]
fn the_cycle_begins_anywhere_but_where_it_drains() {
    let mut seen = [0; 8];
    let mut bbr = Path::new().bbr;
    for n in 0..700 {
        bbr.probe_bw(Time(n * 1_000_003));
        seen[bbr.cycle] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!([0, 2, 3, 4, 5, 6, 7].iter().all(|k| (60..140).contains(&seen[*k])), "{seen:?}");
}

#[test]
fn a_phase_lasts_a_round_trip_and_probing_until_it_has_filled_the_path_or_lost() {
    let mut p = Path::cruising();
    p.bbr.cycle_at = ms(p.now);
    p.ack(100, 10, 10, p.rates.delivered(), 0);
    assert_eq!(p.bbr.cycle, 3, "not more than a round trip");
    p.ack(1, 1, 10, p.rates.delivered(), 0);
    assert_eq!(p.bbr.cycle, 4);
    // 12.5 segments are on the path when it probes: 13, plus three bursts, rounded up to even, plus two; and the next burst
    // counts.
    for (in_flight, losses, after) in [(10, 0, 0), (18, 0, 1), (10, 1, 1)] {
        (p.bbr.cycle, p.bbr.pacing_gain, p.bbr.cycle_at) = (0, CYCLE[0], ms(p.now));
        p.ack(101, 2, in_flight, p.rates.delivered(), losses);
        assert_eq!(p.bbr.cycle, after, "{in_flight} in flight, {losses} lost");
    }
    // Draining ends as soon as the path holds all the data in flight.
    (p.bbr.cycle, p.bbr.pacing_gain, p.bbr.cycle_at) = (1, CYCLE[1], ms(p.now));
    p.ack(1, 1, 14, p.rates.delivered(), 0);
    assert_eq!(p.bbr.cycle, 1, "15 were before this ACK");
    p.ack(1, 1, 13, p.rates.delivered(), 0);
    assert_eq!(p.bbr.cycle, 2);
}

#[test]
fn a_recovery_sends_as_much_as_arrives_for_a_round_trip_and_gives_the_window_back() {
    let mut p = Path::cruising();
    let before = p.round(10, 10);
    let cut = p.bbr.on_loss(&loss(Cause::Fast, 20), &p.w, &at(p.now));
    assert_eq!(cut, Cut { ssthresh: p.w.ssthresh, cwnd: p.w.cwnd });
    p.phase = Phase::Recovery;
    let delivered = p.rates.delivered();
    assert_eq!(p.ack(1, 1, 8, delivered - 5, 3), 9, "8 in flight and one delivered");
    assert_eq!(p.ack(1, 2, 9, delivered - 4, 0), 11);
    assert!(p.bbr.packet_conservation);
    assert_eq!(p.ack(98, 3, 9, p.rates.delivered(), 0), 14, "the next round trip: slow start");
    p.phase = Phase::Open;
    assert_eq!(p.ack(1, 1, 9, delivered, 0), before);
}

#[test]
fn after_a_timeout_the_window_grows_from_one_and_comes_back() {
    let mut p = Path::cruising();
    let before = p.round(10, 10);
    p.bbr.on_loss(&loss(Cause::Rto, 20), &p.w, &at(p.now));
    assert_eq!((p.bbr.full_bw, p.bbr.round_start), (0, true));
    (p.w.cwnd, p.phase) = (1000.0, Phase::Loss);
    assert_eq!(p.round(1, 0), 4, "the least");
    assert_eq!(p.round(3, 0), 7);
    p.phase = Phase::Open;
    assert_eq!(p.round(1, 0), before);
}

#[test]
fn after_ten_seconds_four_segments_look_for_the_round_trip_for_200_ms() {
    let mut p = Path::cruising();
    let before = p.round(10, 10);
    p.bbr.min_rtt_us = Some(99_000);
    p.now = 10_100;
    assert_eq!(p.round(10, 10), 4);
    assert_eq!((p.bbr.mode, p.bbr.probe_rtt_done), (Mode::ProbeRtt, None), "10 are still in flight");
    assert_eq!(p.bbr.min_rtt_us, Some(100_000), "the old one is forgotten");
    let began = p.now + 100;
    assert_eq!(p.round(6, 4), 4);
    assert!(p.rates.is_app_limited());
    while p.now + 100 <= began + 200 {
        assert_eq!(p.round(4, 4), 4);
    }
    // A jiffy is 4 ms: the next one has passed.
    assert_eq!((p.ack(4, 1, 4, p.rates.delivered(), 0) >= before, p.bbr.mode), (true, Mode::ProbeBw));
}

#[test]
fn after_a_pause_of_the_application_it_paces_at_the_paths_rate() {
    let mut p = Path::cruising();
    p.bbr.pacing_gain = CYCLE[0];
    p.round(10, 0);
    let mut w = p.w;
    p.bbr.pacing_rate = 1;
    p.bbr.on_tx_start(&p.rates, &mut w, &at(p.now));
    assert_eq!((p.bbr.pacing_rate, p.bbr.idle_restart), (1, false), "it was not the application");
    p.rates.limit_by_application();
    p.bbr.on_tx_start(&p.rates, &mut w, &at(p.now));
    assert_eq!((p.bbr.pacing_rate, p.bbr.idle_restart), (98_957, true));
}

#[test]
fn samples_of_the_application_count_only_if_they_are_larger() {
    let mut p = Path::cruising();
    let sample = |delivered| RateSample {
        delivered: Some(delivered),
        interval_us: Some(100_000),
        is_app_limited: true,
        ..RateSample::default()
    };
    p.bbr.update_bw(&sample(3), &p.rates, ms(p.now));
    assert_eq!(p.bbr.max_bw(), BW);
    p.bbr.update_bw(&sample(20), &p.rates, ms(p.now));
    assert_eq!(p.bbr.max_bw(), (20 << 24) / 100_000);
}

#[test]
fn a_clock_that_cannot_be_is_refused_by_name() {
    assert_eq!(BbrSpec { hz: 0 }.validate().unwrap_err().key, "congestion.hz");
}
