//! Statistics of the sending half.

use super::{Detector, Rto, Sender};
use crate::event::{Phase, Window};
use crate::facts::scoreboard::Marks;
use crate::time::Nanos;
use crate::units::Bytes;

/// The sending half's part of [`crate::connection::Info`], with its names and units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SenderInfo {
    pub(crate) phase: Phase,
    pub(crate) backoff: u32,
    pub(crate) probes: u32,
    pub(crate) rto: Nanos,
    pub(crate) rtt: Option<Nanos>,
    pub(crate) rttvar: Option<Nanos>,
    pub(crate) min_rtt: Option<Nanos>,
    pub(crate) mss: u32,
    pub(crate) window: Window,
    pub(crate) wnd: Bytes,
    pub(crate) unacked: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retrans: u32,
    pub(crate) pipe: Bytes,
    pub(crate) reordering: Option<u32>,
    pub(crate) total_retrans: u32,
    pub(crate) notsent: Bytes,
}

impl Sender {
    /// The smoothed RTT and the timeout.
    pub(crate) fn round_trip(&self) -> (Option<Nanos>, Nanos) {
        (self.slots.rto.srtt(), self.slots.rto.backed_off())
    }

    /// Visits every outstanding record, because the scoreboard counts bytes and `tcp_info`
    /// segments.
    pub(crate) fn info(&self) -> SenderInfo {
        let count = |bit| self.board.iter().filter(|s| s.marks.any(bit)).count() as u32;
        let fin_waits = self.closed && self.snd_max < self.stream_end;
        SenderInfo {
            phase: self.phase,
            backoff: self.slots.rto.backoff_count(),
            probes: self.persist.probes(),
            rto: self.slots.rto.backed_off(),
            rtt: self.slots.rto.srtt(),
            rttvar: self.slots.rto.rttvar(),
            min_rtt: self.min_rtt.get(),
            mss: self.mss,
            window: self.w,
            wnd: u64::from(self.peer.wnd),
            unacked: self.board.len() as u32,
            sacked: count(Marks::SACKED),
            lost: count(Marks::LOST),
            retrans: count(Marks::REXMIT),
            pipe: self.board.pipe(),
            // A threshold rule reads no part of the view that depends on the time.
            reordering: self.slots.detect.dupthresh(&self.w, &self.ctx(crate::time::Time::ZERO)),
            total_retrans: self.cold.retransmits,
            notsent: self.stream_end - self.snd_max - u64::from(fin_waits),
        }
    }
}
