//! Requests and answers: how long a client, the network and a server took.
//!
//! Idea: the end that opened the connection is the client. Its data up to the next data of the other end are a request, and those
//! are the answer. Seen from the client the time to the answer's first byte includes a round trip; seen from the server it does
//! not.

use crate::seen::{Seen, Way};

/// The number of exchanges of a connection that are kept: those with the longest time to the first byte.
const KEPT: usize = 256;

/// A request and its answer. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// When the request's first and last segments were captured.
    pub request: (i64, i64),
    /// The frame of its first segment.
    pub frame: u64,
    /// When it was acknowledged, if that was before the answer.
    pub acked: Option<i64>,
    /// When the answer's first segment was captured, and its frame; `None` if there was none.
    pub answer: Option<(i64, u64)>,
    /// When its last segment was captured.
    pub end: i64,
}

impl Exchange {
    /// From the request's last segment to the answer's first.
    pub fn first_byte(&self) -> Option<i64> {
        self.answer.map(|(at, _)| (at - self.request.1).max(0))
    }
}

/// The exchanges of a connection. Times in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchanges {
    /// Answered requests.
    pub count: u64,
    /// Whether the last request had no answer.
    pub unanswered: bool,
    /// The total time from the last segments of requests to the first of their answers.
    pub first_byte: i64,
    /// The total time from the first to the last segments of answers.
    pub answers: i64,
    /// The total time from the last segments of answers to the next requests.
    pub client: i64,
    /// Those with the longest time to the first byte, in the order of time; at most 256.
    pub kept: Vec<Exchange>,
    turn: Option<Way>,
    now: Option<Exchange>,
}

impl Exchanges {
    /// Whether the next data of this way only continues a request or an answer.
    pub(crate) fn goes_on(&self, way: Way) -> bool {
        self.turn == Some(way)
    }

    /// Times have jumped: what goes on is not measured.
    pub(crate) fn jump(&mut self) {
        (self.turn, self.now) = (None, None);
    }

    /// New data. `last`: when the last data of each way before were captured. `acked`: when data of the client were last
    /// acknowledged for the first time.
    pub(crate) fn data(&mut self, seen: &Seen, last: [i64; 2], acked: Option<i64>) {
        if self.turn == Some(seen.way) {
            return;
        }
        self.turn = Some(seen.way);
        match seen.way {
            Way::Out => {
                self.close(last[Way::Back as usize], Some(seen.at));
                self.now = Some(Exchange { request: (seen.at, seen.at), frame: seen.frame, ..Exchange::default() });
            }
            Way::Back => {
                let Some(now) = &mut self.now else { return };
                now.request.1 = last[Way::Out as usize];
                now.acked = acked.filter(|at| *at >= now.request.1);
                now.answer = Some((seen.at, seen.frame));
            }
        }
    }

    /// The exchange ends, with the last data of the answer at `end`; the next request follows at `next`.
    fn close(&mut self, end: i64, next: Option<i64>) {
        let Some(one) = self.now.take() else { return };
        let Some((at, _)) = one.answer else { return };
        let one = Exchange { end, ..one };
        self.count += 1;
        self.first_byte += one.first_byte().unwrap_or(0);
        self.answers += (end - at).max(0);
        self.client += next.map_or(0, |next| (next - end).max(0));
        self.kept.push(one);
        if self.kept.len() > KEPT {
            let shortest = self.kept.iter().enumerate().min_by_key(|(_, e)| e.first_byte()).map_or(0, |(i, _)| i);
            self.kept.remove(shortest);
        }
    }

    /// The connection has no further data.
    pub(crate) fn finish(mut self, last: [i64; 2]) -> Exchanges {
        self.unanswered = self.now.is_some_and(|one| one.answer.is_none());
        self.close(last[Way::Back as usize], None);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_each_exchange_is_the_servers_the_answers_and_the_clients() {
        let mut all = Exchanges::default();
        let mut last = [0; 2];
        let mut data = |way: Way, at: i64| {
            all.data(&Seen { way, at, len: 10, frame: at as u64, ..Seen::default() }, last, Some(at - 1));
            last[way as usize] = at;
        };
        // The server greets; two requests of two segments each, and a last one without an answer.
        data(Way::Back, 5);
        for begin in [100, 1000] {
            for (way, at) in [(Way::Out, 0), (Way::Out, 2), (Way::Back, 52), (Way::Back, 60)] {
                data(way, begin + at);
            }
        }
        data(Way::Out, 2000);
        let done = all.finish(last);
        assert_eq!((done.count, done.unanswered), (2, true));
        assert_eq!((done.first_byte, done.answers, done.client), (100, 16, 840 + 940));
        assert_eq!(done.kept[1].first_byte(), Some(50));
        assert_eq!((done.kept[1].frame, done.kept[1].answer), (1000, Some((1052, 1052))));
    }

    #[test]
    fn no_exchange_is_measured_across_a_jump_of_the_clock() {
        let mut all = Exchanges::default();
        let data =
            |all: &mut Exchanges, way, at, last| all.data(&Seen { way, at, len: 10, ..Seen::default() }, last, None);
        data(&mut all, Way::Out, 10, [0, 0]);
        all.jump();
        data(&mut all, Way::Back, 1_000_000, [10, 0]);
        data(&mut all, Way::Out, 1_000_010, [10, 1_000_000]);
        data(&mut all, Way::Back, 1_000_015, [1_000_010, 1_000_000]);
        all.jump();
        let done = all.finish([1_000_010, 9_000_000]);
        assert_eq!((done.count, done.first_byte, done.answers, done.client), (0, 0, 0, 0));
    }
}
