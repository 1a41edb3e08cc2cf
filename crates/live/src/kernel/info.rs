//! The kernel's information about a connection: `struct tcp_info`.
//!
//! Source: Linux, `include/uapi/linux/tcp.h` and `tcp_get_info` in `net/ipv4/tcp.c`.

use crate::sys;
use std::io;
use std::os::fd::AsFd;

/// The length of the buffer; a kernel that lacks a field leaves its bytes unchanged.
const LEN: usize = 256;

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident: $of:ty = $at:literal,)*) => {
        /// `struct tcp_info`; the names are the kernel's without `tcpi_`. A field that the kernel lacks is 0.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TcpInfo {
            $($(#[$doc])* pub $name: $of,)*
        }

        impl TcpInfo {
            fn read(bytes: &[u8; LEN]) -> Self {
                TcpInfo { $($name: <$of>::from_ne_bytes(part(bytes, $at)),)* }
            }
        }
    };
}

fields! {
    /// State of the connection: 1 is ESTABLISHED.
    state: u8 = 0,
    /// State of congestion avoidance (`enum tcp_ca_state`): open, disorder, CWR, recovery, loss.
    ca_state: u8 = 1,
    /// Retransmission timeouts in a row.
    retransmits: u8 = 2,
    /// Unanswered window probes.
    probes: u8 = 3,
    /// Back-off of the retransmission timer.
    backoff: u8 = 4,
    /// Retransmission timeout, µs.
    rto: u32 = 8,
    /// Maximum segment size that it sends with, bytes.
    snd_mss: u32 = 16,
    /// Segments outstanding.
    unacked: u32 = 24,
    /// Outstanding segments that are SACKed.
    sacked: u32 = 28,
    /// Outstanding segments considered lost.
    lost: u32 = 32,
    /// Outstanding segments that were retransmitted.
    retrans: u32 = 36,
    /// Smoothed round-trip time, µs.
    rtt: u32 = 68,
    /// Its variation, µs.
    rttvar: u32 = 72,
    /// Slow start threshold, segments; 2³¹ − 1 if there is none yet.
    snd_ssthresh: u32 = 76,
    /// Congestion window, segments.
    snd_cwnd: u32 = 80,
    /// Reordering degree, segments.
    reordering: u32 = 88,
    /// Segments retransmitted since the beginning.
    total_retrans: u32 = 100,
    /// Payload acknowledged, bytes; one more for the SYN at the end that opened the connection, and one more at both ends for a
    /// FIN (`tcp_snd_una_update`).
    bytes_acked: u64 = 120,
    /// Payload written but not yet sent, bytes.
    notsent_bytes: u32 = 144,
    /// Smallest round-trip time, µs.
    min_rtt: u32 = 148,
    /// DSACKs received.
    dsack_dups: u32 = 216,
    /// The number of times that reordering was seen.
    reord_seen: u32 = 220,
    /// The peer's window, bytes.
    snd_wnd: u32 = 228,
    /// Retransmission timeouts since the beginning.
    total_rto: u16 = 240,
}

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

fn part<const N: usize>(bytes: &[u8; LEN], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

impl TcpInfo {
    /// Queries the kernel about a socket.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn of(socket: impl AsFd) -> io::Result<TcpInfo> {
        let mut bytes = [0; LEN];
        sys::get_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
        Ok(TcpInfo::read(&bytes))
    }

    /// The slow start threshold; `None` if there is none yet.
    pub fn ssthresh(&self) -> Option<u32> {
        Some(self.snd_ssthresh).filter(|s| *s < INFINITE_SSTHRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// Sends 5,000 bytes from one end to the other; returns the sender's `tcp_info` once all of them are acknowledged.
    fn after_5000_bytes(from: &mut TcpStream, to: &mut TcpStream) -> TcpInfo {
        from.write_all(&[7; 5000]).unwrap();
        to.read_exact(&mut [0; 5000]).unwrap();
        (0..1000)
            .map(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                TcpInfo::of(&*from).unwrap()
            })
            .find(|info| info.unacked == 0 && info.notsent_bytes == 0)
            .expect("loopback acknowledges within a second")
    }

    #[test]
    fn the_kernel_reports_the_data_sent_over_loopback() {
        // A separate address: the kernel stores thresholds by address (`tcp_metrics`).
        let [.., a, b, c] = std::process::id().to_be_bytes();
        let own = std::net::Ipv4Addr::new(127, 128 | a, b, c);
        let listener = TcpListener::bind((own, 0)).unwrap();
        let mut out = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut into, _) = listener.accept().unwrap();
        // The end that sent the SYN has one more byte acknowledged.
        for (info, acked) in
            [(after_5000_bytes(&mut out, &mut into), 5001), (after_5000_bytes(&mut into, &mut out), 5000)]
        {
            assert_eq!((info.state, info.ca_state, info.bytes_acked, info.total_retrans), (1, 0, acked, 0));
            assert!(info.snd_cwnd >= 2 && info.rto >= 100_000 && info.rtt > 0 && info.reordering >= 3, "{info:?}");
            assert!(info.snd_mss > 500 && info.snd_wnd > 0 && info.ssthresh().is_none(), "{info:?}");
        }
    }
}
