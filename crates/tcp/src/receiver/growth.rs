//! A receive buffer that grows: what its rule hears, and what becomes of its answers.

use super::{window, Receiver};
use crate::receive_window::{AnyReceiveWindow, Progress, ReceiveWindow, ReceiveWindowSpec};
use crate::segment::{timestamp, Segment};
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

/// The rule, and what it may not exceed.
pub(super) struct Growth {
    rule: AnyReceiveWindow,
    largest: Bytes,
}

impl Growth {
    /// `None` if the buffer stays as it is.
    pub(super) fn new(spec: &ReceiveWindowSpec, mss: u32, largest: Bytes) -> Option<Box<Growth>> {
        spec.build(mss).map(|rule| Box::new(Growth { rule, largest }))
    }

    /// Where it begins.
    pub(super) fn initial(&self) -> Bytes {
        self.rule.initial().min(self.largest)
    }

    /// What it may become.
    pub(super) fn largest(&self) -> Bytes {
        self.largest
    }
}

impl Receiver {
    /// An acceptable segment has come, with a timestamp.
    #[inline]
    pub(super) fn hear_echo(&mut self, now: Time, seg: &Segment) {
        if let Some(g) = &mut self.growth {
            let ms = timestamp(now).wrapping_sub(seg.tsecr);
            // Beyond 2³¹ it lies in the future: no echo of ours.
            if seg.len > 0 && seg.has(Segment::ACK) && ms < 1 << 31 {
                g.rule.on_echo(seg.tsecr, Nanos::from_millis(u64::from(ms)));
            }
        }
    }

    /// An ACK has been written: the buffer may grow for the next one. It never shrinks.
    #[inline(never)]
    pub(super) fn grow(&mut self, now: Time) {
        let Some(g) = &mut self.growth else { return };
        let read = Offset(self.rcv_nxt.0 - u64::from(self.fin) - u64::from(self.unread));
        let wanted = g.rule.on_ack(&Progress { now, rcv_nxt: self.rcv_nxt, right_edge: self.right_edge, read });
        let capacity = window::whole_units(wanted.min(g.largest), self.wscale);
        if capacity > self.capacity {
            self.capacity = capacity;
            self.limit = window::announceable(capacity, self.wscale);
        }
    }
}
