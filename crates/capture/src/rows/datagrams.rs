//! The row of UDP with sequence numbers.

use super::details::CapturedReordering;
use super::{OneFile, S};
use crate::datagrams::Numbered;
use ackclock_table::row;

row! {
    /// A captured flow of UDP with sequence numbers: RTP, or iperf3's.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DatagramFlow pub of (f, n): (&OneFile, &Numbered) {
        /// The capture, as named on the command line.
        file: String = f.name.clone();
        /// The direction of the data, as `A:p > B:p`.
        flow: String [shown("flow")] = n.name();
        /// `RTP` or `iperf3`.
        format: &'static str [shown("format")] = n.format.name();
        /// RTP's source.
        ssrc: Option<u32> [shown("SSRC")] = n.format.source();
        /// The frame of the first packet.
        first_frame: u64 = n.first_frame;
        /// When the first packet was captured, since 1970.
        start_s: f64 [unit("s")] = n.first as f64 / S;
        /// From the first packet to the last.
        duration_s: f64 [unit("s")] = (n.last - n.first) as f64 / S;
        /// Packets, each number once.
        packets: u64 [shown("packets")] = n.order.packets();
        /// Payload.
        bytes: u64 [unit("bytes"), shown("bytes")] = n.bytes;
        /// Numbers between the lowest and the highest that never arrived.
        lost: u64 [shown("lost")] = n.lost();
        /// Their share.
        lost_ratio: f64 [shown("share lost"), scaled("%", 1e2, 2)] = n.lost_ratio();
        /// Jumps after which the numbering continued elsewhere.
        restarts: u64 = n.restarts;
        /// Second arrivals.
        duplicates: u64 [shown("twice")] = n.order.duplicates();
        /// Packets that arrived after one that was sent later.
        reordered: u64 = n.order.late().packets;
        /// Their share (RFC 4737 §4.1).
        reordered_ratio: f64 [shown("reordered"), scaled("%", 1e2, 2)] = n.order.ratio();
        /// The median of the extents (RFC 4737 §4.2).
        median_extent: Option<u64> [unit("packets"), shown("extent")] = n.order.late().median_extent();
        /// The largest extent.
        max_extent: Option<u64> [unit("packets")] = n.order.late().extents.keys().next_back().copied();
        /// The longest late time.
        max_late_time_s: f64 [unit("s"), shown("late max"), scaled("ms", 1e3, 1)] =
            n.order.late().longest.as_secs_f64();
        /// All metrics.
        reordering: CapturedReordering = CapturedReordering::of((n.format.order_source(), &n.order));
    }
}
