//! A path's effect on the order of packets, in numbers.

use super::density::{Density, THRESHOLD};
use super::Reordering;
use serde::Serialize;
use std::collections::BTreeMap;

/// RFC 4737's metrics of one direction of a flow, and RFC 5236's densities. Each transmission is a packet of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReorderingSummary {
    /// Packets that arrived. A packet duplicated by the network counts once.
    pub packets: u64,
    /// Second arrivals of duplicated packets.
    pub duplicates: u64,
    /// Packets that arrived after one that was sent later.
    pub reordered: u64,
    /// `reordered` over `packets` (§4.1).
    pub ratio: f64,
    /// Count of packets by extent: arrivals since the first packet that was sent later (§4.2).
    pub extents: BTreeMap<u64, u64>,
    /// Count of packets by the largest n for which they are n-reordered (§5): where it is 3 or more, a TCP with a threshold of 3
    /// retransmits needlessly.
    pub n_reordered: BTreeMap<u64, u64>,
    /// Sum of the late times, seconds (§4.3).
    pub late_time_s: f64,
    /// The longest late time, seconds.
    pub max_late_time_s: f64,
    /// Sum of the byte offsets: payload to be stored until the late packet arrived (§4.4).
    pub byte_offset_bytes: u64,
    /// The largest byte offset.
    pub max_byte_offset_bytes: u64,
    /// Reordering discontinuities (§4.5).
    pub discontinuities: u64,
    /// Runs of packets in order that a reordered one ended (§4.6).
    pub free_runs: u64,
    /// Packets in them.
    pub free_run_packets: u64,
    /// The displacement and the buffer occupancy above which a packet counts as lost for the densities (DT and BT of RFC 5236
    /// §3.4 and §3.9), in packets: Linux's `tcp_max_reordering`.
    pub density_threshold: u64,
    /// Reorder density (RFC 5236 §3.6): the share of packets by their displacement in places, positive if late, negative if early.
    pub reorder_density: BTreeMap<i64, f64>,
    /// Reorder buffer-occupancy density (§3.11): the share of arrivals by the packets that a receiver then holds to restore the
    /// order.
    pub buffer_occupancy_density: BTreeMap<u64, f64>,
}

impl ReorderingSummary {
    /// The summary of these arrivals.
    pub fn of(r: &Reordering) -> Self {
        let (late, runs) = (r.late(), r.runs());
        ReorderingSummary {
            packets: r.packets(),
            duplicates: r.duplicates(),
            reordered: late.packets,
            ratio: r.ratio(),
            extents: late.extents.clone(),
            n_reordered: late.n.clone(),
            late_time_s: late.time.as_secs_f64(),
            max_late_time_s: late.longest.as_secs_f64(),
            byte_offset_bytes: late.bytes,
            max_byte_offset_bytes: late.most_bytes,
            discontinuities: r.discontinuities(),
            free_runs: runs.runs,
            free_run_packets: runs.packets,
            density_threshold: THRESHOLD,
            reorder_density: r.density().map(Density::reorder_density).unwrap_or_default(),
            buffer_occupancy_density: r.density().map(Density::buffer_occupancy_density).unwrap_or_default(),
        }
    }
}
