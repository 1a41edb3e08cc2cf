//! BBR in the sequencer: its behaviour over a transmitter of one segment per millisecond with an RTT of 100
//! ms.

use super::*;
use std::collections::VecDeque;

/// A sender, a transmitter with an endless queue, and a receiver that acknowledges every segment.
struct Line {
    s: Sender,
    now: Time,
    free: Time,
    /// When each ACK arrives, and its offset.
    acks: VecDeque<(Time, Offset)>,
    /// The most segments in flight after a send.
    most: u64,
}

impl Line {
    fn new(name: &str) -> Self {
        let mut s = Sender::new(&named(name), MSS, 1 << 30);
        s.write(1 << 40);
        Line { s, now: ms(0), free: ms(0), acks: VecDeque::new(), most: 0 }
    }

    fn pump(&mut self) {
        let mut out = Segment::EMPTY;
        while self.s.poll_transmit(self.now, &mut out, &mut ()) {
            self.free = self.free.max(self.now) + Nanos::from_millis(1);
            self.acks.push_back((self.free + Nanos::from_millis(99), out.seq + out.seq_len()));
            self.most = self.most.max(self.acks.len() as u64);
        }
    }

    /// Runs until `end`; returns how many segments were acknowledged and the most in flight.
    fn until(&mut self, end: Time) -> (u64, u64) {
        let before = self.s.acked();
        self.most = 0;
        self.pump();
        loop {
            let ack = self.acks.front().map(|a| a.0);
            let next = crate::time::earliest(ack, self.s.next_timer()).expect("something is to come");
            if next >= end {
                return ((self.s.acked() - before) / u64::from(MSS), self.most);
            }
            assert!(next >= self.now, "a timer in the past");
            self.now = next;
            if ack == Some(next) {
                let (_, upto) = self.acks.pop_front().expect("it was looked at");
                ack_plain(&mut self.s, next, upto);
            } else {
                self.s.on_timer(next, &mut ());
            }
            self.pump();
        }
    }
}

fn ack_plain(s: &mut Sender, now: Time, upto: Offset) {
    ack(s, now, upto.0, 1 << 30, &[]);
}

#[test]
fn it_fills_the_line_drains_its_queue_and_then_keeps_hardly_more_on_the_way_than_the_line_holds() {
    let mut line = Line::new("linux-bbr-2025");
    let (_, most) = line.until(ms(2000));
    assert!(most > 200, "the start overshoots: {most}");
    let (delivered, most) = line.until(ms(10_000));
    // At most 8000 can be delivered. A cycle probes for one round trip with a quarter more than the
    // line's 100.
    assert!(delivered > 7800, "{delivered}");
    assert!((110..140).contains(&most), "{most}");
}

#[test]
fn every_ten_seconds_four_segments_look_for_the_round_trip() {
    let mut line = Line::new("linux-bbr-2025");
    line.until(ms(10_000));
    let quiet = (100..130).map(|n| line.until(ms(100 * (n + 1))).0).filter(|n| *n <= 8).count();
    assert!((2..=4).contains(&quiet), "tenths of a second with a window of four: {quiet}");
    let (delivered, _) = line.until(ms(15_000));
    assert!(delivered > 1900, "and the window is back: {delivered}");
}

#[test]
fn a_window_of_reno_over_the_same_line_is_paced_by_itself() {
    let mut line = Line::new("linux-reno-2025");
    line.s.paced = true;
    line.s.watched = true;
    line.until(ms(150));
    // 20 segments at two windows per round trip: hardly any queue at the transmitter.
    assert!(line.free.since(line.now) < Nanos::from_millis(5), "{:?}", line.free.since(line.now));
}
