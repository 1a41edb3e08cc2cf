//! The layout of `struct tcp_info` (Linux 6.18, `include/uapi/linux/tcp.h`).

/// Where a field is.
struct Field {
    name: &'static str,
    /// In bytes from the start.
    offset: usize,
    /// In bytes; numbers are little- or big-endian as the machine is.
    width: usize,
}

const fn field(name: &'static str, offset: usize, width: usize) -> Field {
    Field { name, offset, width }
}

/// Where `tcpi_snd_wscale` and `tcpi_rcv_wscale` share a byte.
const SCALES: usize = 6;

const FIELDS: &[Field] = &[
    field("tcpi_state", 0, 1),
    field("tcpi_ca_state", 1, 1),
    field("tcpi_retransmits", 2, 1),
    field("tcpi_probes", 3, 1),
    field("tcpi_backoff", 4, 1),
    field("tcpi_options", 5, 1),
    field("tcpi_rto", 8, 4),
    field("tcpi_ato", 12, 4),
    field("tcpi_snd_mss", 16, 4),
    field("tcpi_rcv_mss", 20, 4),
    field("tcpi_unacked", 24, 4),
    field("tcpi_sacked", 28, 4),
    field("tcpi_lost", 32, 4),
    field("tcpi_retrans", 36, 4),
    field("tcpi_last_data_sent", 44, 4),
    field("tcpi_last_data_recv", 52, 4),
    field("tcpi_last_ack_recv", 56, 4),
    field("tcpi_pmtu", 60, 4),
    field("tcpi_rcv_ssthresh", 64, 4),
    field("tcpi_rtt", 68, 4),
    field("tcpi_rttvar", 72, 4),
    field("tcpi_snd_ssthresh", 76, 4),
    field("tcpi_snd_cwnd", 80, 4),
    field("tcpi_advmss", 84, 4),
    field("tcpi_reordering", 88, 4),
    field("tcpi_rcv_rtt", 92, 4),
    field("tcpi_rcv_space", 96, 4),
    field("tcpi_total_retrans", 100, 4),
    field("tcpi_pacing_rate", 104, 8),
    field("tcpi_max_pacing_rate", 112, 8),
    field("tcpi_bytes_acked", 120, 8),
    field("tcpi_bytes_received", 128, 8),
    field("tcpi_segs_out", 136, 4),
    field("tcpi_segs_in", 140, 4),
    field("tcpi_notsent_bytes", 144, 4),
    field("tcpi_min_rtt", 148, 4),
    field("tcpi_data_segs_in", 152, 4),
    field("tcpi_data_segs_out", 156, 4),
    field("tcpi_delivery_rate", 160, 8),
    field("tcpi_busy_time", 168, 8),
    field("tcpi_rwnd_limited", 176, 8),
    field("tcpi_sndbuf_limited", 184, 8),
    field("tcpi_delivered", 192, 4),
    field("tcpi_delivered_ce", 196, 4),
    field("tcpi_bytes_sent", 200, 8),
    field("tcpi_bytes_retrans", 208, 8),
    field("tcpi_dsack_dups", 216, 4),
    field("tcpi_reord_seen", 220, 4),
    field("tcpi_rcv_ooopack", 224, 4),
    field("tcpi_snd_wnd", 228, 4),
    field("tcpi_rcv_wnd", 232, 4),
];

/// The first `len` bytes of the structure. A field that the TCP does not have is 0.
pub(crate) fn bytes(len: usize, value: impl Fn(&str) -> Option<i64>) -> Vec<u8> {
    let mut bytes = vec![0; len];
    for field in FIELDS {
        let number = value(field.name).unwrap_or(0).to_ne_bytes();
        // The low bytes of a number of 64 bits.
        let low = if cfg!(target_endian = "little") { &number[..field.width] } else { &number[8 - field.width..] };
        if let Some(place) = bytes.get_mut(field.offset..field.offset + field.width) {
            place.copy_from_slice(low);
        }
    }
    let scale = |name| value(name).unwrap_or(0) as u8 & 15;
    if let Some(place) = bytes.get_mut(SCALES) {
        let (first, second) = (scale("tcpi_snd_wscale"), scale("tcpi_rcv_wscale"));
        *place = if cfg!(target_endian = "little") { first | second << 4 } else { first << 4 | second };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_libc_has_them() {
        let place = std::mem::offset_of!(libc::tcp_info, tcpi_snd_cwnd);
        let bytes = bytes(104, |name| (name == "tcpi_snd_cwnd").then_some(0x0102_0304));
        assert_eq!(bytes[place..place + 4], 0x0102_0304_u32.to_ne_bytes());
        let last = std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans);
        assert_eq!(FIELDS.iter().find(|f| f.name == "tcpi_total_retrans").map(|f| f.offset), Some(last));
    }

    #[test]
    fn both_window_scales_share_a_byte() {
        let bytes = bytes(16, |name| match name {
            "tcpi_snd_wscale" => Some(7),
            "tcpi_rcv_wscale" => Some(2),
            _ => None,
        });
        assert_eq!(bytes[SCALES], if cfg!(target_endian = "little") { 0x27 } else { 0x72 });
    }

    #[test]
    fn an_answer_is_as_long_as_was_asked_and_a_field_beyond_it_is_left_out() {
        assert_eq!(bytes(300, |_| Some(-1)).len(), 300);
        assert_eq!(bytes(10, |_| Some(1)).len(), 10);
    }
}
