//! Whether losses are those of a policer: a token bucket that drops what exceeds its rate, and delays nothing.
//!
//! Source: Flach and others, "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016, §3, with the thresholds of the authors'
//! published detector. Tokens arrive at the rate that the transfer had between its first and its last loss. A policer drops packets
//! only while the bucket is empty, lets them pass only while it is not, and no queue grows before its losses. Other than there,
//! each stretch between two silences is looked at by itself, and a slow beginning is allowed: a bucket holds no more than its size.

use crate::fit::estimate::{quantile, sorted};

/// The most points of the curve, and the most losses, that are kept.
const POINTS: usize = 4096;
/// A copy of a segment is looked for among the last ones.
const RECENT: usize = 1024;
/// At least this many losses, and as many samples of what passed.
const SAMPLES: usize = 15;
/// A longer time without any packet is a silence, nanoseconds.
const SILENCE: i64 = 200_000_000;
/// In at least this many round trips.
const ROUND_TRIPS: usize = 3;
/// The first loss is within this many bytes.
const LATE: u64 = 2_000_000;
/// The bucket may differ from empty by what arrives in this many round trips, when packets are lost and when they pass.
const AT_LOSS: f64 = 2.0;
const AT_PASS: f64 = 0.75;
/// In a short round trip less arrives than this many segments, in which packets are counted.
const FEW: f64 = 4.0;
/// The shares of losses and of passing packets that may not fit.
const MISFITS_AT_LOSS: f64 = 0.1;
const MISFITS_AT_PASS: f64 = 0.03;
/// A round trip is inflated if it exceeds the smallest by this factor, and this length in nanoseconds.
const INFLATED: f64 = 1.3;
const INFLATED_FROM: i64 = 20_000_000;
/// The share of losses that inflated round trips may precede.
const MOST_INFLATED: f64 = 0.2;

/// A policer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// Its rate, payload bytes a second.
    pub rate: f64,
    /// What passed before it dropped packets for the first time, bytes.
    pub burst: u64,
}

/// One loss.
#[derive(Clone, Copy, Debug)]
struct Loss {
    seq: u64,
    len: u32,
    /// When its first copy was sent or should have arrived, and when it was repaired.
    at: i64,
    repaired: i64,
    /// Whether the lost copy was the first, and whether the next one was lost, too.
    first: bool,
    again: bool,
    /// The last round trip before, nanoseconds.
    round_trip: i64,
}

/// The course of a transfer from its first retransmission on.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    /// The first byte of the transfer.
    start: u64,
    /// The first byte that was lost.
    lost: u64,
    /// When the highest byte was reached, thinned out.
    curve: Vec<(i64, u64)>,
    every: u32,
    skipped: u32,
    losses: Vec<Loss>,
}

impl Losses {
    pub(super) fn new(start: u64, lost: u64, now: (i64, u64)) -> Self {
        Losses { start, lost, curve: vec![now], every: 1, skipped: 0, losses: Vec::new() }
    }

    /// A segment with new data, that ends before this byte.
    pub(super) fn sent(&mut self, at: i64, end: u64) {
        self.skipped += 1;
        if self.skipped < self.every {
            return;
        }
        self.skipped = 0;
        if self.curve.len() == POINTS {
            let mut keep = false;
            self.curve.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2;
        }
        self.curve.push((at, end));
    }

    /// A retransmission.
    pub(super) fn repaired(&mut self, repaired: i64, seq: u64, len: u32, round_trip: Option<i64>) {
        let before = self.losses.iter_mut().rev().take(RECENT).find(|l| l.seq == seq);
        let first = before.is_none();
        let sent = match before {
            Some(lost) => {
                lost.again = true;
                Some(lost.repaired)
            }
            // What was sent before the curve began is left out.
            None => match self.curve.partition_point(|(_, end)| *end <= seq) {
                0 => None,
                point => self.curve.get(point).map(|(at, _)| *at),
            },
        };
        if let Some(at) = sent.filter(|_| self.losses.len() < POINTS) {
            self.losses.push(Loss { seq, len, at, repaired, first, again: false, round_trip: round_trip.unwrap_or(0) });
        }
    }

    /// Whether they are a policer's; times in nanoseconds.
    pub(super) fn policer(mut self, round_trip: i64, smallest: i64, segment: u32) -> Option<Policer> {
        self.losses.sort_by_key(|l| (l.at, l.seq));
        let (first, last) = (*self.losses.first()?, *self.losses.last()?);
        let (count, burst) = (self.losses.len(), self.lost.saturating_sub(self.start));
        // Behind a queue most round trips are long.
        let limit = INFLATED_FROM.max((INFLATED * smallest as f64) as i64);
        if round_trip > limit
            || count < SAMPLES
            || last.at <= first.at
            || burst > LATE
            || self.round_trips(round_trip) < ROUND_TRIPS
        {
            return None;
        }
        let events = self.events(first.at, last.at);
        let stretches: Vec<&[Event]> = stretches(&events, round_trip.saturating_mul(2).max(SILENCE)).collect();
        let (passed, time) = stretches.iter().fold((0.0, 0), |(bytes, time), s| {
            let (first, last) = (s[0].at, s[s.len() - 1].at);
            (bytes + s.iter().filter(|e| e.at < last).map(|e| e.bytes).sum::<f64>(), time + last - first)
        });
        let rate = passed / time as f64;
        if !(rate > 0.0 && rate.is_finite()) {
            return None;
        }
        let (a_round_trip, few) = (rate * round_trip as f64, FEW * f64::from(segment));

        let (lost, let_by) = tokens(&stretches, rate);
        let (middle, ok) = (median(&lost), mean(&lost) < mean(&let_by));
        if let_by.len() < SAMPLES || !ok || middle >= median(&let_by) {
            return None;
        }
        let misfits = |of: &[f64], is: &dyn Fn(f64) -> bool| of.iter().filter(|t| is(**t - middle)).count() as f64;
        let (most, least) = (a_round_trip.max(few) * AT_LOSS, a_round_trip.max(few) * -AT_PASS);
        let at_loss = misfits(&lost, &|t| t.abs() > most);
        let at_pass = misfits(&let_by, &|t| t < least);
        let inflated = |l: &&Loss| l.round_trip > limit;
        let fits = at_loss <= MISFITS_AT_LOSS * count as f64
            && at_pass <= MISFITS_AT_PASS * let_by.len() as f64
            && self.losses.iter().filter(inflated).count() as f64 <= MOST_INFLATED * count as f64;
        fits.then_some(Policer { rate: rate * 1e9, burst })
    }

    /// The number of round trips with losses.
    fn round_trips(&self, round_trip: i64) -> usize {
        let mut until = i64::MIN;
        let begins = |l: &&Loss| {
            let is_new = l.at > until;
            until = if is_new { l.at.saturating_add(round_trip) } else { until };
            is_new
        };
        self.losses.iter().filter(begins).count()
    }

    /// What was sent, lost and repaired, from the first loss to the last.
    fn events(&self, from: i64, to: i64) -> Vec<Event> {
        let new = self.curve.windows(2).map(|w| Event { at: w[1].0, bytes: (w[1].1 - w[0].1) as f64, is_loss: false });
        let passed = |l: &&Loss| !l.again;
        let repairs = self.losses.iter().filter(passed);
        let repairs = repairs.map(|l| Event { at: l.repaired, bytes: f64::from(l.len), is_loss: false });
        // What was sent for the first time is in the curve, although it did not pass.
        let in_curve = |l: &Loss| if l.first { -f64::from(l.len) } else { 0.0 };
        let losses = self.losses.iter().map(|l| Event { at: l.at, bytes: in_curve(l), is_loss: true });
        let mut all: Vec<_> = new.chain(repairs).chain(losses).filter(|e| (from..=to).contains(&e.at)).collect();
        all.sort_by_key(|e| (e.at, !e.is_loss));
        all
    }
}

/// Bytes that passed, or did not although they were sent.
#[derive(Clone, Copy, Debug)]
struct Event {
    at: i64,
    bytes: f64,
    is_loss: bool,
}

/// The parts from their first loss to their last, between silences: in a silence the bucket fills up to its unknown size.
fn stretches(events: &[Event], silence: i64) -> impl Iterator<Item = &[Event]> {
    events.chunk_by(move |a, b| b.at - a.at <= silence).filter_map(|part| {
        let (first, last) = (part.iter().position(|e| e.is_loss)?, part.iter().rposition(|e| e.is_loss)?);
        (part[last].at > part[first].at).then(|| &part[first..=last])
    })
}

/// The tokens in the bucket at each loss, and whenever something passed; it is empty at the first loss of each stretch.
fn tokens(stretches: &[&[Event]], rate: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut lost, mut let_by) = (Vec::new(), Vec::new());
    for events in stretches {
        let mut passed = 0.0;
        for e in *events {
            let tokens = rate * (e.at - events[0].at) as f64 - passed;
            if e.is_loss {
                lost.push(tokens);
            } else {
                let_by.push(tokens);
            }
            passed += e.bytes;
        }
    }
    (lost, let_by)
}

fn median(of: &[f64]) -> f64 {
    quantile(&sorted(of.iter().copied()), 0.5)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const RTT: i64 = 40 * MS;
    const SEGMENT: u32 = 1000;

    /// A window of segments in each round trip, over a path that loses a segment if `loses` says so for its time. They are sent again
    /// a round trip later; the window is then smaller by three tenths, and otherwise larger by a segment.
    fn sent(mut loses: impl FnMut(i64, u64) -> bool) -> Losses {
        let mut losses = Losses::new(0, 0, (0, 0));
        let (mut next, mut lost, mut window) = (0u64, Vec::new(), 20usize);
        for round in 1..200i64 {
            let again = std::mem::take(&mut lost);
            window = if again.is_empty() { window + 1 } else { window * 7 / 10 };
            for n in 0..window.max(again.len()) {
                let at = round * RTT + n as i64 * MS / 2;
                let seq = again.get(n).copied().unwrap_or(next);
                if n < again.len() {
                    losses.repaired(at, seq, SEGMENT, Some(RTT));
                } else {
                    next += u64::from(SEGMENT);
                    losses.sent(at, next);
                }
                if loses(at, seq) {
                    lost.push(seq);
                }
            }
        }
        losses
    }

    #[test]
    fn a_bucket_that_drops_what_finds_no_tokens_is_a_policer_of_its_rate() {
        let (mut tokens, mut last) = (20_000.0f64, 0);
        let found = sent(|at, _| {
            tokens = (tokens + 0.4e-3 * (at - last) as f64).min(20_000.0);
            last = at;
            let passes = tokens >= 1000.0;
            tokens -= if passes { 1000.0 } else { 0.0 };
            !passes
        });
        let policer = found.policer(RTT, RTT, SEGMENT).expect("a policer");
        assert!((policer.rate / 400_000.0 - 1.0).abs() < 0.1, "{policer:?}");
    }

    #[test]
    fn losses_that_do_not_depend_on_the_rate_are_no_policers_and_neither_are_few_losses() {
        let mut state = 1u64;
        let found = sent(|_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33 < (1 << 31) / 20
        });
        assert!(found.losses.len() > 50);
        assert_eq!(found.policer(RTT, RTT, SEGMENT), None);
        assert_eq!(sent(|_, seq| seq % 400_000 == 0).policer(RTT, RTT, SEGMENT), None);
    }

    #[test]
    fn losses_behind_a_grown_queue_are_no_policers() {
        let mut found = sent(|at, _| at % (3 * RTT) < 8 * MS);
        found.losses.iter_mut().for_each(|l| l.round_trip = 2 * RTT);
        assert_eq!(found.policer(RTT, RTT, SEGMENT), None);
    }
}
