//! The fields of `struct tcp_info` (Linux 6.18, `include/uapi/linux/tcp.h`), as `getsockopt(TCP_INFO)` fills them
//! (`net/ipv4/tcp.c`, `tcp_get_info`).

use super::Engine;
use ackclock_tcp::connection::State;
use ackclock_tcp::event::Phase;
use ackclock_tcp::time::Nanos;

/// The value of a threshold that was never set (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: i64 = 0x7fff_ffff;

/// A field by its name; `None` if the engine does not have it.
pub(super) fn field<W>(engine: &Engine<W>, fd: u32, name: &str) -> Option<i64> {
    let id = engine.sockets.get(fd as usize)?.as_ref()?.id()?;
    let endpoint = engine.host.endpoint(id)?;
    let info = endpoint.info();
    Some(match name {
        "tcpi_state" => state(info.state),
        "tcpi_ca_state" => ca_state(info.ca_state),
        "tcpi_options" => {
            i64::from(info.options.timestamps)
                | i64::from(info.options.sack) << 1
                | i64::from(info.rcv_wscale > 0) << 2
                | i64::from(info.options.ecn) << 3
        }
        "tcpi_backoff" => i64::from(info.backoff),
        "tcpi_probes" => i64::from(info.probes),
        "tcpi_rcv_wscale" => i64::from(info.rcv_wscale),
        "tcpi_rto" => micros(info.rto?),
        "tcpi_rtt" => micros(info.rtt.unwrap_or_default()),
        "tcpi_rttvar" => micros(info.rttvar.unwrap_or_default()),
        "tcpi_min_rtt" => micros(info.min_rtt?),
        "tcpi_snd_mss" => i64::from(info.snd_mss),
        "tcpi_advmss" => i64::from(info.advmss),
        "tcpi_snd_cwnd" => info.snd_cwnd()? as i64,
        // A window is at most 2³⁰ bytes: such a threshold was never set.
        "tcpi_snd_ssthresh" if info.window.is_some_and(|w| w.ssthresh >= f64::from(1 << 30)) => INFINITE_SSTHRESH,
        "tcpi_snd_ssthresh" => {
            info.snd_ssthresh().map_or(INFINITE_SSTHRESH, |segs| (segs as i64).min(INFINITE_SSTHRESH))
        }
        "tcpi_snd_wnd" => info.snd_wnd as i64,
        "tcpi_rcv_wnd" => info.rcv_wnd as i64,
        "tcpi_unacked" => i64::from(info.unacked),
        "tcpi_sacked" => i64::from(info.sacked),
        "tcpi_lost" => i64::from(info.lost),
        "tcpi_retrans" => i64::from(info.retrans),
        "tcpi_reordering" => i64::from(info.reordering?),
        "tcpi_total_retrans" => i64::from(info.total_retrans),
        "tcpi_bytes_acked" => info.bytes_acked as i64,
        "tcpi_bytes_received" => info.bytes_received as i64,
        "tcpi_notsent_bytes" => info.notsent_bytes as i64,
        _ => return None,
    })
}

fn micros(time: Nanos) -> i64 {
    (time.0 / 1000) as i64
}

/// The numbers of `include/net/tcp_states.h`.
fn state(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

/// The numbers of `enum tcp_ca_state`.
fn ca_state(phase: Phase) -> i64 {
    match phase {
        Phase::Open => 0,
        Phase::Disorder => 1,
        Phase::Recovery => 3,
        Phase::Loss => 4,
    }
}
