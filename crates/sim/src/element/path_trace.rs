//! A path from a trace: delay, loss and rate as they were measured, or the instants at which packets may go.
//!
//! Source: the form of the delivery traces is that of mahimahi (Netravali 2015 and others), the other our own.
//!
//! Idea: a cursor walks through the rows as time goes on; the row in force says what a packet meets.
//!
//! | source | here |
//! | --- | --- |
//! | row of delay, loss, rate | in force from its time to the next row's; a rate may change while a packet is sent |
//! | delivery opportunity: one full-sized packet may go at this millisecond | [`Deliveries`]; small packets share one |
//! | what an opportunity finds no packet for is lost | so here |
//! | the trace begins again after its last line | so here; other traces only with `repeat` |
//!
//! Departures: mahimahi counts 1504 bytes an opportunity, since its packets carry 4 bytes of a tunnel's header; the default
//! here is 1500.
//!
//! Unsaid in the source: nothing that matters here.

use super::Fate;
use crate::next_event::MAX_TIME;
use crate::rng::Stream;
use crate::scenario::{DeliveriesSpec, PathRow, PathTraceSpec, Rows};
use crate::watch::DropWhy;
use ackclock_tcp::time::Nanos;

/// A place in a trace that follows the time.
#[derive(Clone)]
struct Cursor {
    rows: Rows<PathRow>,
    repeat: Option<Nanos>,
    row: usize,
    /// When row 0 was last, or will be, in force.
    base: u64,
}

impl Cursor {
    fn new(spec: &PathTraceSpec) -> Self {
        Cursor { rows: spec.rows.clone(), repeat: spec.repeat, row: 0, base: 0 }
    }

    /// When the next row comes into force.
    fn change(&self) -> Option<u64> {
        match (self.rows.get(self.row + 1), self.repeat) {
            (Some(next), _) => Some(self.base + next.time.0),
            (None, Some(period)) => Some(self.base + period.0),
            (None, None) => None,
        }
    }

    /// The row in force at `now`; times must not go back.
    fn at(&mut self, now: u64) -> PathRow {
        while self.change().is_some_and(|t| t <= now) {
            self.row += 1;
            if self.row == self.rows.len() {
                self.row = 0;
                self.base += self.repeat.map_or(0, |period| period.0);
            }
        }
        self.rows[self.row]
    }
}

/// The delays of a trace.
pub(crate) struct TraceDelay(Cursor);

impl TraceDelay {
    pub(crate) fn new(spec: &PathTraceSpec) -> Self {
        TraceDelay(Cursor::new(spec))
    }

    pub(crate) fn of(&mut self, now: u64) -> u64 {
        self.0.at(now).delay.map_or(0, |d| d.0)
    }
}

/// The losses of a trace.
pub(crate) struct TraceLoss {
    cursor: Cursor,
    luck: Stream,
}

impl TraceLoss {
    pub(crate) fn new(spec: &PathTraceSpec, luck: Stream) -> Self {
        TraceLoss { cursor: Cursor::new(spec), luck }
    }

    pub(crate) fn judge(&mut self, now: u64) -> Fate {
        let p = self.cursor.at(now).loss.unwrap_or(0.0);
        if self.luck.unit() < p {
            Fate::Drop(DropWhy::Loss)
        } else {
            Fate::Pass
        }
    }
}

/// A transmitter whose rate a trace says.
pub(crate) enum Service {
    Rates(Rates),
    Deliveries(Deliveries),
}

impl Service {
    /// Gives it `wire` bytes at `now`; answers when they will have left.
    pub(crate) fn send(&mut self, now: u64, wire: u32) -> u64 {
        match self {
            Service::Rates(r) => r.send(now, wire),
            Service::Deliveries(d) => d.send(now, wire),
        }
    }
}

/// The rates of a trace.
pub(crate) struct Rates {
    cursor: Cursor,
    free_at: u64,
}

impl Rates {
    pub(crate) fn new(spec: &PathTraceSpec) -> Self {
        Rates { cursor: Cursor::new(spec), free_at: 0 }
    }

    fn send(&mut self, now: u64, wire: u32) -> u64 {
        let mut at = now.max(self.free_at);
        // What is left to send, in bits per second · ns.
        let mut left = u128::from(wire) * 8_000_000_000;
        while at < MAX_TIME {
            let rate = self.cursor.at(at).rate.map_or(0, |r| u128::from(r.0));
            let change = self.cursor.change();
            let most = change.map(|t| rate * u128::from(t - at));
            if rate > 0 && most.is_none_or(|most| left <= most) {
                at += left.div_ceil(rate) as u64;
                break;
            }
            left -= most.unwrap_or(0);
            at = change.unwrap_or(MAX_TIME);
        }
        self.free_at = at.min(MAX_TIME);
        self.free_at
    }
}

/// Opportunities to deliver.
pub(crate) struct Deliveries {
    /// Milliseconds.
    times: Rows<u32>,
    bytes: u32,
    /// The opportunity that comes next, and what is added to its time.
    next: usize,
    base: u64,
    /// The opportunity at hand, and the bytes that it still has.
    at: u64,
    room: u32,
}

impl Deliveries {
    pub(crate) fn new(spec: &DeliveriesSpec) -> Self {
        Deliveries { times: spec.times.clone(), bytes: spec.bytes, next: 0, base: 0, at: 0, room: 0 }
    }

    fn send(&mut self, now: u64, wire: u32) -> u64 {
        if self.at < now {
            self.room = 0;
        }
        let mut left = wire;
        while left > self.room {
            left -= self.room;
            self.room = self.opportunity(now);
            if self.at >= MAX_TIME {
                return MAX_TIME;
            }
        }
        self.room -= left;
        self.at
    }

    /// Goes on to the next opportunity that is not before `now`.
    fn opportunity(&mut self, now: u64) -> u32 {
        const NS_PER_MS: u64 = 1_000_000;
        loop {
            let at = self.base + u64::from(self.times[self.next]) * NS_PER_MS;
            self.next += 1;
            if self.next == self.times.len() {
                self.next = 0;
                self.base = at;
            }
            if at >= now {
                self.at = at;
                return self.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Place;

    const MS: u64 = 1_000_000;

    fn trace(text: &str, repeat: Option<u64>) -> PathTraceSpec {
        PathTraceSpec { rows: PathRow::parse(text).unwrap(), repeat: repeat.map(|ms| Nanos(ms * MS)), at: Place::Exit }
    }

    #[test]
    fn a_row_is_in_force_until_the_next_and_the_last_to_the_end_or_until_the_trace_repeats() {
        let text = "time_s,delay_ms\n0,10\n0.5,20\n2,30\n";
        let delays = |repeat| {
            let mut d = TraceDelay::new(&trace(text, repeat));
            [0, 499, 500, 1999, 2000, 2999, 3000, 3600, 6499, 9100].map(|ms| d.of(ms * MS) / MS)
        };
        assert_eq!(delays(None), [10, 10, 20, 20, 30, 30, 30, 30, 30, 30]);
        assert_eq!(delays(Some(3000)), [10, 10, 20, 20, 30, 30, 10, 20, 10, 10]);
    }

    #[test]
    fn a_packet_is_sent_at_the_rates_of_all_the_rows_that_it_meets() {
        // 1500 bytes: 12 ms at 1 Mb/s. Half in the first row, nothing in the second, half at 6 Mb/s.
        let spec = trace("time_s,rate_mbps\n0,1\n0.006,0\n0.1,6\n", None);
        let mut r = Rates::new(&spec);
        assert_eq!(r.send(0, 1500), 101 * MS);
        assert_eq!(r.send(0, 1500), 103 * MS);
        assert_eq!(r.send(200 * MS, 1500), 202 * MS);
        let mut r = Rates::new(&trace("time_s,rate_mbps\n0,1\n1,0\n", None));
        assert_eq!(r.send(995 * MS, 1500), MAX_TIME);
    }

    #[test]
    fn a_trace_of_one_rate_sends_as_a_link_of_that_rate() {
        let mut r = Rates::new(&trace("time_s,rate_mbps\n0,8\n0.0005,8\n", Some(1)));
        let sent: Vec<u64> = (0..1000).map(|_| r.send(0, 1000)).collect();
        assert!(sent.iter().zip(1..).all(|(t, n)| *t == n * MS));
    }

    #[test]
    fn a_packet_is_lost_with_the_probability_of_its_time() {
        let mut l = TraceLoss::new(&trace("time_s,loss\n0,0\n1,1\n2,0.5\n", None), Stream::new(1, "test"));
        let mut lost = |from: u64| (0..1000).filter(|i| l.judge((from + i) * MS) != Fate::Pass).count();
        assert_eq!((lost(0), lost(1000)), (0, 1000));
        assert!(lost(2000).abs_diff(500) < 60);
    }

    #[test]
    fn packets_go_at_the_opportunities_and_small_ones_share_one() {
        let spec = DeliveriesSpec { times: DeliveriesSpec::parse("1\n1\n4\n10\n").unwrap(), bytes: 1500 };
        let mut d = Deliveries::new(&spec);
        assert_eq!([0, 0, 0].map(|_| d.send(0, 1500) / MS), [1, 1, 4]);
        // A large packet takes two opportunities, 40 bytes go with the second; the trace begins again after 10 ms.
        assert_eq!([d.send(5 * MS, 2000), d.send(5 * MS, 40)].map(|t| t / MS), [11, 11]);
        // What nobody used at 14 ms is lost.
        assert_eq!(d.send(15 * MS, 1500) / MS, 20);
        assert_eq!(d.send(20 * MS, 40) / MS, 21);
        assert_eq!(d.send(21 * MS, 1460) / MS, 21);
        assert_eq!(d.send(21 * MS, 1) / MS, 21);
        assert_eq!(d.send(22 * MS, 1) / MS, 24);
    }
}
