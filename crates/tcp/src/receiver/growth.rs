//! State that a receiver keeps for rules that need it: the RTT, and a buffer that grows.

use super::{window, Receiver};
use crate::ack::AckPolicy;
use crate::receive_window::rtt::ReceiveRtt;
use crate::receive_window::{AnyReceiveWindow, Progress, ReceiveWindow, ReceiveWindowSpec};
use crate::segment::{timestamp, Segment};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// The RTT, and the rule of a growing buffer with its maximum.
pub(super) struct Growth {
    rtt: ReceiveRtt,
    rule: Option<AnyReceiveWindow>,
    largest: Bytes,
}

impl Growth {
    /// Returns `None` if the buffer is fixed and nothing needs the RTT.
    pub(super) fn new(spec: &ReceiveWindowSpec, mss: u32, largest: Bytes, asked: bool) -> Option<Box<Growth>> {
        let rule = spec.build(mss);
        (asked || rule.is_some()).then(|| Box::new(Growth { rtt: ReceiveRtt::default(), rule, largest }))
    }

    /// The initial size of the buffer.
    pub(super) fn initial(&self) -> Bytes {
        self.rule.as_ref().map_or(self.largest, |rule| rule.initial().min(self.largest))
    }

    /// The maximum size of the buffer.
    pub(super) fn largest(&self) -> Bytes {
        self.largest
    }
}

impl Receiver {
    /// Passes on our own sender's RTT and RTO, if the policy asks for them.
    #[inline]
    pub(crate) fn hear_sender(&mut self, knows: impl FnOnce() -> (Option<Nanos>, Nanos)) {
        if self.ack.asks() {
            let (srtt, rto) = knows();
            self.ack.on_sender(srtt, rto);
        }
    }

    /// An acceptable segment with a timestamp arrived.
    #[inline(always)]
    pub(super) fn hear_echo(&mut self, now: Time, seg: &Segment) {
        if let Some(g) = &mut self.growth {
            let ms = timestamp(now).wrapping_sub(seg.tsecr);
            // Beyond 2³¹ it is in the future, so it is not an echo of ours.
            if seg.len > 0 && seg.has(Segment::ACK) && ms < 1 << 31 {
                g.rtt.on_echo(seg.tsecr, Nanos::from_millis(u64::from(ms)));
                self.ack.on_rtt(g.rtt.get());
            }
        }
    }

    /// An ACK has been written: the buffer may grow for the next one. It never shrinks.
    #[inline(never)]
    pub(super) fn grow(&mut self, now: Time) {
        let Some(g) = &mut self.growth else { return };
        g.rtt.on_ack(now, self.rcv_nxt, self.right_edge);
        let rtt = g.rtt.get();
        self.ack.on_rtt(rtt);
        let Some(rule) = &mut g.rule else { return };
        let read = Offset(self.rcv_nxt.0 - u64::from(self.fin) - u64::from(self.unread));
        let wanted = rule.on_ack(&Progress { now, rcv_nxt: self.rcv_nxt, right_edge: self.right_edge, read, rtt });
        let capacity = window::whole_units(wanted.min(g.largest), self.wscale);
        if capacity > self.capacity {
            self.capacity = capacity;
            self.limit = window::announceable(capacity, self.wscale);
            self.ack.on_growth();
        }
    }
}
