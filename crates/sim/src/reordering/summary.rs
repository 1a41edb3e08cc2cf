//! A path's effect on the order of packets, in numbers.

use super::density::{Density, THRESHOLD};
use super::Reordering;
use ackclock_table::row;
use std::collections::BTreeMap;

row! {
    /// RFC 4737's metrics of one direction of a flow, and RFC 5236's densities. Each transmission is a packet of its own.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ReorderingSummary pub of r: &Reordering {
        /// Packets that arrived. A packet duplicated by the network counts once.
        packets: u64 [shown("packets")] = r.packets();
        /// Second arrivals of duplicated packets.
        duplicates: u64 = r.duplicates();
        /// Packets that arrived after one that was sent later (§3).
        reordered: u64 [shown("reordered")] = r.late().packets;
        /// `reordered` over `packets` (§4.1).
        reordered_ratio: f64 [shown("share"), scaled("%", 1e2, 3)] = r.ratio();
        /// Count of packets by extent: arrivals since the first packet that was sent later (§4.2).
        extents: BTreeMap<u64, u64> = r.late().extents.clone();
        /// Count of packets by the largest n for which they are n-reordered (§5): where it is 3 or more, a TCP with a threshold
        /// of 3 retransmits needlessly.
        n_reordered: BTreeMap<u64, u64> = r.late().n.clone();
        /// Sum of the late times (§4.3).
        late_time_s: f64 [unit("s")] = r.late().time.as_secs_f64();
        /// The longest late time.
        max_late_time_s: f64 [unit("s"), shown("late max"), scaled("ms", 1e3, 1)] = r.late().longest.as_secs_f64();
        /// Sum of the byte offsets: payload to be stored until the late packet arrived (§4.4).
        byte_offset_bytes: u64 [unit("bytes")] = r.late().bytes;
        /// The largest byte offset.
        max_byte_offset_bytes: u64 [unit("bytes"), shown("offset max")] = r.late().most_bytes;
        /// Reordering discontinuities (§4.5).
        discontinuities: u64 [shown("discont.")] = r.discontinuities();
        /// Runs of packets in order that a reordered one ended (§4.6).
        free_runs: u64 = r.runs().runs;
        /// Packets in them.
        free_run_packets: u64 = r.runs().packets;
        /// The displacement and the buffer occupancy above which a packet counts as lost for the densities (DT and BT of RFC
        /// 5236 §3.4 and §3.9): Linux's `tcp_max_reordering`. Missing without densities.
        density_threshold: Option<u64> [unit("packets"), sparse] = r.density().map(|_| THRESHOLD);
        /// Reorder density (RFC 5236 §3.6): the share of packets by their displacement in places, positive if late, negative if
        /// early.
        reorder_density: BTreeMap<i64, f64> [sparse] = r.density().map(Density::reorder_density).unwrap_or_default();
        /// Reorder buffer-occupancy density (§3.11): the share of arrivals by the packets that a receiver then holds to restore
        /// the order.
        buffer_occupancy_density: BTreeMap<u64, f64> [sparse] =
            r.density().map(Density::buffer_occupancy_density).unwrap_or_default();
    }
}
