//! A connection's statistics, with the names of Linux's `struct tcp_info` (include/uapi/linux/tcp.h).

use super::{Connection, Extras, State};
use crate::event::{Phase, Window};
use crate::time::Nanos;
use crate::units::Bytes;

/// A snapshot of a connection. The names are those of Linux's `tcp_info` without `tcpi_`, so both fit into one table.
///
/// As in the kernel, `unacked`, `sacked`, `lost` and `retrans` count segments. `window` is in bytes, which [`Info::snd_cwnd`]
/// and [`Info::snd_ssthresh`] convert to the kernel's segments. Fields that the engine does not know are left out: segments
/// and ACKs that a driver counts as they pass (`segs_out`, `segs_in`, `data_segs_out`), delivery rates, pacing, and the peer's
/// window scale, which `ackclock-wire` knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The state of RFC 9293 §3.3.2.
    pub state: State,
    /// The sender's phase; Linux calls it the congestion avoidance state. Linux's `CWR` is not a phase here.
    pub ca_state: Phase,
    /// Retransmission timeouts since the last valid RTT sample.
    pub backoff: u32,
    /// Probes of a zero window since it closed.
    pub probes: u32,
    /// The options that both ends agreed on.
    pub options: Agreed,
    /// The window scale that we advertised; 0 if none is in use.
    pub rcv_wscale: u8,
    /// Retransmission timeout, back-off included; `None` without a sending half.
    pub rto: Option<Nanos>,
    /// Smoothed round-trip time (RFC 6298); `None` before the first sample.
    pub rtt: Option<Nanos>,
    /// RTT variation; `None` before the first sample.
    pub rttvar: Option<Nanos>,
    /// Smallest round-trip time measured by an ACK.
    pub min_rtt: Option<Nanos>,
    /// Effective maximum segment size: payload bytes of a full segment that we send.
    pub snd_mss: u32,
    /// The maximum segment size that we advertised, bytes.
    pub advmss: u32,
    /// Congestion window and slow start threshold, bytes; `None` without a sending half.
    pub window: Option<Window>,
    /// The peer's window, bytes.
    pub snd_wnd: Bytes,
    /// Bytes that the peer may still send into the advertised window.
    pub rcv_wnd: Bytes,
    /// Segments outstanding.
    pub unacked: u32,
    /// Outstanding segments that are SACKed.
    pub sacked: u32,
    /// Outstanding segments marked lost, resent or not.
    pub lost: u32,
    /// Outstanding segments resent since they were last marked lost.
    pub retrans: u32,
    /// Bytes estimated to be in the network (RFC 6675 §4); not a field of `tcp_info`.
    pub pipe: Bytes,
    /// Duplicates that now mean a loss, in segments; `None` for a detector that counts none (RACK).
    pub reordering: Option<u32>,
    /// Segments retransmitted since the connection was established.
    pub total_retrans: u32,
    /// Payload bytes acknowledged cumulatively.
    pub bytes_acked: Bytes,
    /// Payload bytes received in order.
    pub bytes_received: Bytes,
    /// Payload bytes written and not yet sent.
    pub notsent_bytes: Bytes,
}

/// The options that both ends agreed on (`tcpi_options`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// Timestamps (RFC 7323 §3).
    pub timestamps: bool,
    /// Selective acknowledgments (RFC 2018).
    pub sack: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
}

impl Info {
    /// The congestion window in segments, as in `tcp_info`; `None` without a sending half.
    pub fn snd_cwnd(&self) -> Option<f64> {
        self.window.map(|w| w.cwnd / f64::from(self.snd_mss))
    }

    /// The slow start threshold in segments; `None` without a sending half and while it is unbounded.
    pub fn snd_ssthresh(&self) -> Option<f64> {
        self.window.map(|w| w.ssthresh / f64::from(self.snd_mss)).filter(|segs| segs.is_finite())
    }
}

impl Connection {
    /// Returns a snapshot of the connection. Its cost grows with the outstanding data: it is meant for every few milliseconds,
    /// not for every packet.
    pub fn info(&self) -> Info {
        let (tx, rx) = (self.tx.as_ref().map(|tx| tx.info()), self.rx.as_ref().map(|rx| rx.info()));
        let options = Agreed {
            timestamps: self.extras.has(Extras::TIMESTAMPS),
            sack: rx.is_some_and(|rx| rx.sack),
            ecn: self.extras.has(Extras::ECN),
        };
        Info {
            state: self.state(),
            ca_state: tx.map_or(Phase::Open, |tx| tx.phase),
            backoff: tx.map_or(0, |tx| tx.backoff),
            probes: tx.map_or(0, |tx| tx.probes),
            options,
            rcv_wscale: rx.map_or(0, |rx| rx.wscale),
            rto: tx.map(|tx| tx.rto),
            rtt: tx.and_then(|tx| tx.rtt),
            rttvar: tx.and_then(|tx| tx.rttvar),
            min_rtt: tx.and_then(|tx| tx.min_rtt),
            snd_mss: tx.map_or(0, |tx| tx.mss),
            advmss: rx.map_or(0, |rx| rx.mss),
            window: tx.map(|tx| tx.window),
            snd_wnd: tx.map_or(0, |tx| tx.wnd),
            rcv_wnd: rx.map_or(0, |rx| rx.wnd),
            unacked: tx.map_or(0, |tx| tx.unacked),
            sacked: tx.map_or(0, |tx| tx.sacked),
            lost: tx.map_or(0, |tx| tx.lost),
            retrans: tx.map_or(0, |tx| tx.retrans),
            pipe: tx.map_or(0, |tx| tx.pipe),
            reordering: tx.and_then(|tx| tx.reordering),
            total_retrans: tx.map_or(0, |tx| tx.total_retrans),
            bytes_acked: self.acked(),
            bytes_received: self.received(),
            notsent_bytes: tx.map_or(0, |tx| tx.notsent),
        }
    }
}
