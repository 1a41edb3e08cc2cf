//! The delivery rate: for each ACK, a sample of the rate at which segments arrive.
//!
//! Source: Linux 6.18, `net/ipv4/tcp_rate.c` (`tcp_rate_skb_sent`, `tcp_rate_skb_delivered`, `tcp_rate_gen`,
//! `tcp_rate_check_app_limited`), in our words.
//!
//! Idea: each transmission records how much had been delivered by then, and when. The rate is the data delivered since, divided
//! by the time since. Sending may have taken longer than acknowledging; the longer time counts.
//!
//! | Linux | here |
//! | --- | --- |
//! | tx.first_tx_mstamp, tx.delivered_mstamp, tx.delivered, tx.is_app_limited | `Note` |
//! | tp->delivered, delivered_mstamp, first_tx_mstamp, app_limited, lost | `Rates` |
//! | struct rate_sample | `RateSample` |
//!
//! The SYN counts as the first segment delivered. Departures: a sample is not refused when the receiver reneged.

use super::scoreboard::{Scoreboard, Sent};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use std::collections::VecDeque;

/// Whole microseconds, Linux's unit of time.
#[inline]
pub(crate) fn micros(at: Time) -> u64 {
    at.0 / 1000
}

/// The state when a segment was last sent.
#[derive(Clone, Copy, Debug)]
struct Note {
    start: Offset,
    end: Offset,
    first_tx: Time,
    delivered_at: Time,
    delivered: u64,
    is_app_limited: bool,
}

/// The rate sample of one ACK, in segments and microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Segments delivered over the interval; `None` if nothing was delivered by this ACK.
    pub delivered: Option<u64>,
    /// The length of the interval, µs; `None` if unknown or shorter than the smallest RTT.
    pub interval_us: Option<u64>,
    /// Segments delivered before the interval.
    pub prior_delivered: u64,
    /// The application had nothing more to send when the interval began.
    pub is_app_limited: bool,
    /// Segments newly delivered by this ACK.
    pub acked_sacked: u32,
    /// Segments newly marked lost.
    pub losses: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// Segments in flight after this ACK.
    pub in_flight: u32,
    /// RTT of the newest segment delivered, µs, if it was sent once.
    pub rtt_us: Option<u64>,
    /// The receiver may have delayed the ACK: it acknowledges one short segment.
    pub is_ack_delayed: bool,
    /// How far in the future pacing allows the next segment.
    pub ahead: Nanos,
}

/// Facts of an ACK besides the data that it delivers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckFacts {
    pub(crate) now: Time,
    pub(crate) snd_una: Offset,
    pub(crate) acked_bytes: u64,
    pub(crate) losses: u32,
    pub(crate) in_flight: u32,
    pub(crate) rtt: Option<Nanos>,
    pub(crate) min_rtt: Option<Nanos>,
    pub(crate) mss: u32,
    pub(crate) ahead: Nanos,
}

/// The delivery records of one sender.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Notes on outstanding segments, oldest first.
    notes: VecDeque<Note>,
    delivered: u64,
    delivered_at: Time,
    first_tx: Time,
    /// Samples are application-limited until this much has been delivered.
    app_limited: Option<u64>,
    lost: u64,
    in_flight: u32,
}

impl Default for Rates {
    fn default() -> Self {
        let (notes, at) = (VecDeque::new(), Time::ZERO);
        Rates { notes, delivered: 1, delivered_at: at, first_tx: at, app_limited: None, lost: 0, in_flight: 0 }
    }
}

impl Rates {
    /// Segments delivered so far, including the SYN.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// When the last of them was delivered.
    pub fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Segments marked lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether sending is limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// Marks the data in flight as application-limited, since its samples say nothing about the path.
    pub fn limit_by_application(&mut self) {
        self.app_limited = Some((self.delivered + u64::from(self.in_flight)).max(1));
    }

    /// Records `n` delivered segments.
    #[cfg(test)]
    pub(crate) fn deliver(&mut self, now: Time, n: u32) {
        (self.delivered, self.delivered_at) = (self.delivered + u64::from(n), now);
    }

    /// A segment was sent. `alone`: nothing else is outstanding. `in_flight` counts it, too.
    pub(crate) fn on_sent(&mut self, now: Time, sent: &Sent, alone: bool, in_flight: u32) {
        if alone {
            (self.first_tx, self.delivered_at) = (now, now);
        }
        self.in_flight = in_flight;
        let note = Note {
            start: sent.start,
            end: sent.end(),
            first_tx: self.first_tx,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            is_app_limited: self.app_limited.is_some(),
        };
        if self.notes.back().is_none_or(|last| last.end <= note.start) {
            return self.notes.push_back(note);
        }
        let at = self.notes.partition_point(|n| n.end < note.end);
        match self.notes.get_mut(at) {
            Some(known) if known.end == note.end => *known = note,
            // A smaller segment than before (a new path MTU).
            _ => self.notes.insert(at, note),
        }
    }

    /// A timer fired: `lost` segments are newly marked lost, and `in_flight` are in flight.
    pub(crate) fn on_timer(&mut self, lost: u32, in_flight: u32) {
        self.lost += u64::from(lost);
        self.in_flight = in_flight;
    }

    /// An ACK has been read and judged; returns its sample.
    pub(crate) fn on_ack(&mut self, board: &Scoreboard, ack: &AckFacts) -> RateSample {
        let (mut newest, mut count): (Option<(Time, Note)>, u32) = (None, 0);
        for s in board.newly() {
            let at = self.notes.partition_point(|n| n.end < s.end());
            let Some(note) = self.notes.get(at).filter(|n| n.start <= s.start) else { continue };
            count += 1;
            if newest.is_none_or(|(sent, n)| (s.at, s.end()) > (sent, n.end)) {
                newest = Some((s.at, Note { end: s.end(), ..*note }));
            }
        }
        while self.notes.front().is_some_and(|n| n.end <= ack.snd_una) {
            self.notes.pop_front();
        }
        self.delivered += u64::from(count);
        self.lost += u64::from(ack.losses);
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        if count > 0 {
            self.delivered_at = ack.now;
        }
        let prior_in_flight = std::mem::replace(&mut self.in_flight, ack.in_flight);
        let mut rs = RateSample {
            acked_sacked: count,
            losses: ack.losses,
            prior_in_flight,
            in_flight: ack.in_flight,
            rtt_us: ack.rtt.map(|rtt| rtt.0 / 1000),
            ahead: ack.ahead,
            ..RateSample::default()
        };
        if let Some((sent_at, note)) = newest {
            self.first_tx = sent_at;
            let sending = micros(sent_at).saturating_sub(micros(note.first_tx));
            let acking = micros(ack.now).saturating_sub(micros(note.delivered_at));
            let shortest = ack.min_rtt.map(|rtt| rtt.0 / 1000);
            rs.delivered = Some(self.delivered - note.delivered);
            rs.interval_us = Some(sending.max(acking)).filter(|us| shortest.is_some_and(|least| *us >= least));
            (rs.prior_delivered, rs.is_app_limited) = (note.delivered, note.is_app_limited);
            let short = ack.acked_bytes > 0 && ack.acked_bytes < u64::from(ack.mss);
            rs.is_ack_delayed = count == 1 && short && note.delivered + 1 == self.delivered;
        }
        rs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::scoreboard::Delivered;
    use crate::testing::ms;

    /// Segments of 1000 bytes, sent and acknowledged by number.
    #[derive(Default)]
    struct Path {
        board: Scoreboard,
        rates: Rates,
    }

    impl Path {
        fn send(&mut self, at: u64, n: u64) {
            let alone = self.board.is_empty();
            let sent = self.board.push(Offset(1 + n * 1000), 1000, ms(at), 1e9, false);
            self.rates.on_sent(ms(at), &sent, alone, self.board.len() as u32);
        }

        fn facts(&self, at: u64, una: u64) -> AckFacts {
            AckFacts {
                now: ms(at),
                snd_una: Offset(1 + una * 1000),
                acked_bytes: 1000,
                losses: 0,
                in_flight: self.board.len() as u32,
                rtt: Some(Nanos::from_millis(100)),
                min_rtt: Some(Nanos::from_millis(100)),
                mss: 1000,
                ahead: Nanos::ZERO,
            }
        }

        /// Everything below segment `una` is acknowledged.
        fn ack(&mut self, at: u64, una: u64) -> RateSample {
            self.board.begin_ack();
            self.board.acknowledge(Offset(1 + una * 1000), &mut Delivered::default());
            let facts = self.facts(at, una);
            self.rates.on_ack(&self.board, &facts)
        }
    }

    #[test]
    fn a_round_trip_of_sending_and_of_acknowledging_give_the_longer_of_the_two() {
        let mut p = Path::default();
        // Four segments at once; their ACKs arrive 10 ms apart.
        (0..4).for_each(|n| p.send(0, n));
        let first = p.ack(100, 1);
        assert_eq!((first.delivered, first.interval_us, first.prior_delivered), (Some(1), Some(100_000), 1));
        let last = p.ack(130, 4);
        assert_eq!((last.delivered, last.interval_us, last.acked_sacked), (Some(4), Some(130_000), 3));
        assert_eq!((last.prior_in_flight, last.in_flight, p.rates.delivered()), (3, 0, 5));
        // The first of two takes 140 ms. A third is sent 150 ms after it and is acknowledged together with the second, 110 ms
        // after the first ACK.
        (4..6).for_each(|n| p.send(200, n));
        p.ack(340, 5);
        p.send(350, 6);
        let both = p.ack(450, 7);
        assert_eq!((both.delivered, both.interval_us), (Some(2), Some(150_000)));
    }

    #[test]
    fn an_ack_that_delivers_nothing_is_no_time_of_delivery() {
        // Linux: tcp_rate_gen sets delivered_mstamp only if the ACK delivered something.
        let mut p = Path::default();
        p.send(0, 0);
        p.send(90, 1);
        p.ack(100, 1);
        p.send(185, 2);
        p.ack(190, 2);
        assert_eq!(p.ack(250, 2).acked_sacked, 0);
        p.send(260, 3);
        assert_eq!(p.ack(400, 4).interval_us, Some(210_000), "since 190 ms");
    }

    #[test]
    fn an_ack_may_have_been_delayed_if_it_is_for_less_than_a_segment_that_was_alone() {
        // Linux: FLAG_ACK_MAYBE_DELAYED (tcp_clean_rtx_queue).
        let delayed = |segments: u64, acked_bytes: u64| {
            let mut p = Path::default();
            (0..segments).for_each(|n| p.send(0, n));
            p.board.begin_ack();
            p.board.acknowledge(Offset(1 + segments * 1000), &mut Delivered::default());
            let facts = AckFacts { acked_bytes, ..p.facts(100, segments) };
            p.rates.on_ack(&p.board, &facts).is_ack_delayed
        };
        assert!(delayed(1, 500));
        assert!(!delayed(1, 1000), "a full segment");
        assert!(!delayed(2, 500), "two segments");
    }

    #[test]
    fn what_is_shorter_than_a_round_trip_is_no_interval() {
        let mut p = Path::default();
        p.send(0, 0);
        let rs = p.ack(99, 1);
        assert_eq!((rs.delivered, rs.interval_us), (Some(1), None));
    }

    #[test]
    fn samples_are_the_applications_until_all_that_it_had_sent_is_delivered() {
        let mut p = Path::default();
        p.rates.limit_by_application();
        (0..3).for_each(|n| p.send(0, n));
        assert!(p.ack(100, 1).is_app_limited && !p.rates.is_app_limited(), "more than the SYN is delivered");
        assert!(p.ack(101, 2).is_app_limited, "it was sent then");
        p.send(101, 3);
        p.ack(102, 3);
        assert!(!p.ack(201, 4).is_app_limited);
    }

    #[test]
    fn resent_data_counts_from_its_last_sending() {
        let mut p = Path::default();
        (0..3).for_each(|n| p.send(0, n));
        p.board.begin_ack();
        let mut d = Delivered::default();
        p.board.apply_sack((Offset(1001), Offset(3001)), &mut d);
        let rs = p.rates.on_ack(&p.board, &p.facts(100, 0));
        assert_eq!((rs.acked_sacked, rs.delivered), (2, Some(2)));
        p.board.mark_lost(Offset(1));
        let again = *p.board.resend(Offset(1), ms(100), 1e9).unwrap();
        p.rates.on_sent(ms(100), &again, false, 1);
        let rs = p.ack(200, 3);
        assert_eq!((rs.acked_sacked, rs.delivered, rs.prior_delivered), (1, Some(1), 3), "SACKed segments are not new");
        assert_eq!(rs.interval_us, Some(100_000));
        assert!(p.rates.notes.is_empty());
    }
}
