//! The yardstick: a minimal NewReno without SACK, options, events or exchangeable parts. A run with it costs about as
//! much as the network alone.

use ackclock_sim::host::Endpoint;
use ackclock_tcp::connection::Outcome;
use ackclock_tcp::event::Observer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::VecDeque;

const MIN_RTO: Nanos = Nanos::from_secs(1);
const DELAYED_ACK: Nanos = Nanos::from_millis(200);

/// One end of a one-way connection.
pub(crate) enum Bare {
    Sender(Sender),
    Receiver(Receiver),
}

pub(crate) struct Sender {
    mss: u64,
    rwnd: u64,
    una: u64,
    nxt: u64,
    max: u64,
    written: u64,
    /// In segments.
    cwnd: f64,
    ssthresh: f64,
    dups: u32,
    recover: u64,
    recovering: bool,
    again: bool,
    srtt: Option<Nanos>,
    timed: Option<(u64, Time)>,
    backoff: u32,
    rto_at: Option<Time>,
    /// Transmissions of each segment from `una` on.
    sends: VecDeque<u8>,
    last_sends: u8,
}

pub(crate) struct Receiver {
    next: u64,
    /// Ranges above `next`, ascending.
    held: Vec<(u64, u64)>,
    every: u32,
    pending: u32,
    ack_at: Option<Time>,
    ack_now: bool,
}

impl Bare {
    pub(crate) fn sender(mss: u32, rwnd: u64) -> Bare {
        Bare::Sender(Sender {
            mss: u64::from(mss),
            rwnd,
            una: 1,
            nxt: 1,
            max: 1,
            written: 1,
            cwnd: 2.0,
            ssthresh: 1e9,
            dups: 0,
            recover: 0,
            recovering: false,
            again: false,
            srtt: None,
            timed: None,
            backoff: 0,
            rto_at: None,
            sends: VecDeque::new(),
            last_sends: 0,
        })
    }

    /// Acknowledges every `every`th packet immediately, others after 200 ms.
    pub(crate) fn receiver(every: u32) -> Bare {
        Bare::Receiver(Receiver { next: 1, held: Vec::new(), every, pending: 0, ack_at: None, ack_now: false })
    }
}

impl Sender {
    fn rto(&self) -> Nanos {
        let base = self.srtt.map_or(Nanos::from_secs(3), |s| Nanos(2 * s.0).max(MIN_RTO));
        base.times(1 << self.backoff.min(6))
    }

    fn on_ack(&mut self, now: Time, ack: u64) {
        if ack > self.una {
            self.on_new_ack(now, ack);
        } else if ack == self.una && self.max > self.una {
            self.dups += 1;
            if self.recovering {
                self.cwnd += 1.0;
            } else if self.dups == 3 && self.una >= self.recover {
                self.ssthresh = ((self.max - self.una) as f64 / self.mss as f64 / 2.0).max(2.0);
                self.cwnd = self.ssthresh + 3.0;
                (self.recover, self.recovering, self.again) = (self.max, true, true);
            }
        }
    }

    fn on_new_ack(&mut self, now: Time, ack: u64) {
        if let Some((_, at)) = self.timed.take_if(|t| ack > t.0) {
            let rtt = now.since(at);
            self.srtt = Some(self.srtt.map_or(rtt, |s| Nanos((7 * s.0 + rtt.0) / 8)));
            self.backoff = 0;
        }
        self.sends.drain(..((ack - self.una).div_ceil(self.mss) as usize).min(self.sends.len()));
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dups = 0;
        if !self.recovering {
            self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
        } else if ack >= self.recover {
            (self.recovering, self.cwnd) = (false, self.ssthresh);
        } else {
            self.again = true;
        }
        self.rto_at = (self.max > ack).then(|| now + self.rto());
    }

    fn on_timeout(&mut self, now: Time) {
        self.ssthresh = ((self.max - self.una) as f64 / self.mss as f64 / 2.0).max(2.0);
        self.cwnd = 1.0;
        (self.nxt, self.recover, self.recovering, self.again) = (self.una, self.max, false, false);
        (self.dups, self.timed) = (0, None);
        self.backoff += 1;
        self.rto_at = Some(now + self.rto());
    }

    fn poll(&mut self, now: Time, out: &mut Segment) -> bool {
        let at = if self.again { self.una } else { self.nxt };
        let window = self.rwnd.min(self.cwnd as u64 * self.mss);
        if at >= self.written || (!self.again && at >= self.una + window) {
            return false;
        }
        let len = self.mss.min(self.written - at);
        *out = Segment { seq: Offset(at), len: len as u32, flags: Segment::ACK, ..Segment::EMPTY };
        let index = ((at - self.una) / self.mss) as usize;
        if index == self.sends.len() {
            self.sends.push_back(0);
            if self.timed.is_none() {
                self.timed = Some((at, now));
            }
        } else if self.timed.is_some_and(|t| t.0 >= at) {
            self.timed = None;
        }
        self.sends[index] = self.sends[index].saturating_add(1);
        self.last_sends = self.sends[index];
        if !std::mem::take(&mut self.again) {
            self.nxt = at + len;
        }
        self.max = self.max.max(at + len);
        if self.rto_at.is_none() {
            self.rto_at = Some(now + self.rto());
        }
        true
    }
}

impl Receiver {
    fn on_data(&mut self, now: Time, seg: &Segment) {
        let (start, end) = (seg.seq.0, seg.end().0);
        let in_order = start <= self.next && end > self.next && self.held.is_empty();
        if start <= self.next {
            self.next = self.next.max(end);
        } else {
            let i = self.held.partition_point(|h| h.0 < start);
            self.held.insert(i, (start, end));
        }
        let next = &mut self.next;
        self.held.retain(|&(s, e)| {
            if s <= *next {
                *next = (*next).max(e);
            }
            s > *next
        });
        self.pending += 1;
        if !in_order || self.pending >= self.every {
            self.ack_now = true;
        } else {
            self.ack_at = Some(now + DELAYED_ACK);
        }
    }

    fn poll(&mut self, out: &mut Segment) -> bool {
        if !std::mem::take(&mut self.ack_now) {
            return false;
        }
        (self.pending, self.ack_at) = (0, None);
        *out = Segment { ack: Offset(self.next), flags: Segment::ACK, ..Segment::EMPTY };
        true
    }
}

impl Endpoint for Bare {
    #[inline]
    fn on_expected<O: Observer>(&mut self, now: Time, seg: &Segment, _: &mut O) -> bool {
        match self {
            Bare::Sender(s) => s.on_ack(now, seg.ack.0),
            Bare::Receiver(r) => r.on_data(now, seg),
        }
        true
    }

    fn on_unexpected<O: Observer>(&mut self, _: Time, _: &Segment, _: &mut O) -> Outcome {
        Outcome::NOTHING
    }

    fn on_timer<O: Observer>(&mut self, now: Time, _: &mut O) {
        match self {
            Bare::Sender(s) => s.on_timeout(now),
            Bare::Receiver(r) => (r.ack_now, r.ack_at) = (true, None),
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<Time> {
        match self {
            Bare::Sender(s) => s.rto_at,
            Bare::Receiver(r) => r.ack_at,
        }
    }

    #[inline]
    fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, _: &mut O) -> bool {
        match self {
            Bare::Sender(s) => s.poll(now, out),
            Bare::Receiver(r) => r.poll(out),
        }
    }

    #[inline]
    fn last_sends(&self) -> u8 {
        match self {
            Bare::Sender(s) => s.last_sends,
            Bare::Receiver(_) => 0,
        }
    }

    fn write(&mut self, bytes: u64) {
        if let Bare::Sender(s) = self {
            s.written += bytes;
        }
    }

    fn close(&mut self) {}

    fn acked(&self) -> u64 {
        match self {
            Bare::Sender(s) => s.una - 1,
            Bare::Receiver(_) => 0,
        }
    }

    fn received(&self) -> u64 {
        match self {
            Bare::Sender(_) => 0,
            Bare::Receiver(r) => r.next - 1,
        }
    }
}
