//! The kernel's `tcp_info` as the events of a sender, so that its run is traced and drawn like an engine's.
//!
//! Source: Linux, `enum tcp_ca_state` in `include/uapi/linux/tcp.h`. CWR, in which the window shrinks without a loss, is
//! not a separate phase here: it counts as open.

use super::acks::AckContent;
use crate::kernel::TcpInfo;
use ackclock_tcp::connection::Info;
use ackclock_tcp::event::{Event, Phase, Slot, Why, Window};
use ackclock_tcp::time::Nanos;

/// The last sample of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    last: Option<TcpInfo>,
    /// The last [`Event::Rtt`] of an engine.
    engines: Option<Event>,
    episode: u32,
}

fn phase(info: &TcpInfo) -> Phase {
    match info.ca_state {
        1 => Phase::Disorder,
        3 => Phase::Recovery,
        4 => Phase::Loss,
        // Open and CWR.
        _ => Phase::Open,
    }
}

fn window(info: &TcpInfo) -> Window {
    let bytes = |segments: u32| f64::from(segments) * f64::from(info.snd_mss);
    Window { cwnd: bytes(info.snd_cwnd), ssthresh: info.ssthresh().map_or(f64::INFINITY, bytes) }
}

/// A field in microseconds.
fn micros(field: u32) -> Nanos {
    Nanos(u64::from(field) * 1000)
}

fn round_trip(info: &TcpInfo) -> Event {
    let [srtt, rttvar, rto] = [info.rtt, info.rttvar, info.rto].map(micros);
    Event::Rtt { srtt, rttvar, rto }
}

impl Sampler {
    /// Whether data was outstanding at the last sample.
    pub(crate) fn outstanding(&self) -> bool {
        self.last.is_some_and(|info| info.unacked > 0)
    }

    /// An ACK arrived, after which the kernel reports `info`.
    pub(crate) fn acked(&mut self, content: AckContent, info: &TcpInfo, mut tell: impl FnMut(Event)) {
        let AckContent { ack, delivered, dup_run } = content;
        // `tcp_packets_in_flight`
        let left = (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
        tell(Event::Acked { ack, delivered, dup_run, pipe: u64::from(left) * u64::from(info.snd_mss) });
        self.take(info, tell);
    }

    /// Values that an engine does not report as events, once it has a round-trip sample.
    pub(crate) fn engine(&mut self, info: &Info, mut tell: impl FnMut(Event)) {
        let (Some(srtt), Some(rttvar), Some(rto)) = (info.rtt, info.rttvar, info.rto) else { return };
        let now = Event::Rtt { srtt, rttvar, rto };
        if self.engines != Some(now) {
            self.engines = Some(now);
            tell(now);
        }
    }

    /// Reports the changes since the last sample.
    pub(crate) fn take(&mut self, info: &TcpInfo, mut tell: impl FnMut(Event)) {
        // Before the connection is established nothing is known.
        if info.state != 1 && self.last.is_none() {
            return;
        }
        let first = self.last.is_none();
        let last = self.last.replace(*info).unwrap_or(*info);
        let (from, to) = (phase(&last), phase(info));
        if from != to && to.repairs() {
            self.episode += 1;
        }
        if info.total_rto > last.total_rto {
            tell(Event::Timeout { episode: self.episode, backoff: info.backoff.saturating_sub(1).into() });
        }
        if from != to {
            tell(Event::Phase { from, to, why: why(from, to), episode: self.episode });
        }
        if window(&last) != window(info) || first {
            let by = match to {
                Phase::Open => Slot::Congestion,
                Phase::Disorder => Slot::Disorder,
                Phase::Recovery => Slot::Recovery,
                Phase::Loss => Slot::Timeout,
            };
            tell(Event::Window { by, episode: self.episode, from: window(&last), to: window(info) });
        }
        if info.rtt > 0 && (round_trip(&last) != round_trip(info) || first) {
            tell(round_trip(info));
        }
        if last.reordering != info.reordering || first {
            let (dupthresh, mss, cwnd) = (info.reordering, info.snd_mss, window(info).cwnd);
            tell(Event::Threshold { dupthresh, mss, cwnd });
        }
    }
}

fn why(from: Phase, to: Phase) -> Why {
    match (from, to) {
        (_, Phase::Disorder) => Why::Suspected,
        (_, Phase::Recovery) => Why::Lost,
        (_, Phase::Loss) => Why::Timeout,
        (Phase::Disorder, Phase::Open) => Why::Resolved,
        (_, Phase::Open) => Why::Repaired,
    }
}
