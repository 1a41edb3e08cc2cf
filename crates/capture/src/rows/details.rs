//! The rows of a captured flow's retransmissions, stalls and reordering.

use super::{FlowRow, S};
use crate::stalls::Stall;
use crate::verdict::Retransmission;
use ackclock_sim::reordering::summary::ReorderingSummary;
use ackclock_sim::reordering::Reordering;
use ackclock_table::{row, Flat};

row! {
    /// A captured retransmission: a packet whose data had been sent before.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedRetransmission pub of (f, r): (&FlowRow<'_>, &Retransmission) {
        /// Its frame.
        frame: u64 [shown("frame")] = r.frame;
        /// When it was captured, since the file's first packet.
        time_s: f64 [unit("s"), shown("time"), scaled("s", 1.0, 6)] = f.file.seconds(r.at);
        /// The place of its first byte in the stream; missing without a SYN.
        offset_bytes: Option<u64> [unit("bytes"), shown("offset")] = f.offset(r.seq);
        /// Its length; a FIN counts one.
        len_bytes: u32 [unit("bytes"), shown("bytes")] = r.len;
        /// Earlier copies of its bytes in the capture.
        copies_before: u32 [shown("sent before")] = r.copies;
        /// `needed`, `needless`, `refused` or `undecided`.
        verdict: &'static str [shown("verdict")] = r.judged.verdict.name();
        /// Whether the verdict is a guess: the most probable explanation of the capture, but not the only one.
        likely: bool [shown("likely")] = r.judged.likely;
        /// Whether nothing proves that its data had been sent before.
        suspected: bool = r.suspected;
        /// The reason for the verdict, in words.
        evidence: String [shown("evidence")] = r.judged.evidence.words(r.judged.earlier, r.judged.proof);
        /// The frame of the earlier copy to which the evidence refers.
        earlier_frame: Option<u64> = r.judged.earlier;
        /// The frame of the packet that proves the verdict.
        proof_frame: Option<u64> = r.judged.proof;
    }
}

row! {
    /// A stall of a captured flow: a time without a data packet.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedStall pub of (f, s): (&FlowRow<'_>, &Stall) {
        /// When it began, since the file's first packet.
        start_s: f64 [unit("s"), shown("time"), scaled("s", 1.0, 6)] = f.file.seconds(s.facts.from);
        /// How long it lasted.
        duration_s: f64 [unit("s"), shown("took"), scaled("s", 1.0, 3)] = s.facts.length() as f64 / S;
        /// Whether no data followed it: it lasts to the connection's last packet.
        at_end: bool = s.facts.at_end;
        /// Its cause.
        cause: &'static str [shown("cause")] = s.cause.name();
        /// The evidence of the cause, in words.
        evidence: String [shown("evidence")] = s.words();
        /// The frame of the data packet before it.
        frame_before: u64 [shown("from frame")] = s.facts.before;
        /// The frame of the data packet that ended it; at the end, of the connection's last packet.
        frame_after: u64 [shown("to frame")] = s.facts.after;
    }
}

row! {
    /// The part of a captured flow's time that was spent waiting for one cause, or sending.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TimeOfCause pub of (name, seconds, of_it): (&'static str, f64, f64) {
        /// The cause, or `sending`.
        cause: &'static str = name;
        /// The time.
        time_s: f64 [unit("s")] = seconds;
        /// Its share of the flow's `duration_s`.
        share: f64 = of_it;
    }
}

row! {
    /// The stalls of one cause.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StallsOfCause pub of (count, nanos): (u64, i64) {
        /// Their number.
        stalls: u64 = count;
        /// Their total length.
        total_s: f64 [unit("s")] = nanos as f64 / S;
    }
}

row! {
    /// The reordering of a captured flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedReordering pub of (source, order): (&'static str, &Reordering) {
        /// Where the order of sending comes from.
        order_source: &'static str [shown("order by")] = source;
        /// The metrics.
        metrics: Flat<ReorderingSummary> = Flat(ReorderingSummary::of(order));
        /// The median of the extents (RFC 4737 §4.2).
        median_extent: Option<u64> [unit("packets"), shown("extent")] = order.late().median_extent();
        /// The largest extent.
        max_extent: Option<u64> [unit("packets"), shown("max")] = order.late().extents.keys().next_back().copied();
        /// Packets that arrived too late to be classified.
        forgotten: u64 = order.forgotten();
    }
}

row! {
    /// The share of packets with one value of one of RFC 5236's densities.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DensityShare pub of (of, value, packets): (&'static str, i64, f64) {
        /// `reorder` or `buffer_occupancy`.
        density: &'static str = of;
        /// The displacement in packets, positive if late; or the packets that a receiver holds.
        packets: i64 [unit("packets")] = value;
        /// The share of packets with this value.
        share: f64 = packets;
    }
}

impl FlowRow<'_> {
    /// Each of its retransmissions, if that was requested.
    pub fn each_retransmission(&self) -> Vec<CapturedRetransmission> {
        self.retransmissions().map(|r| CapturedRetransmission::of((self, r))).collect()
    }

    /// Each of its stalls that is kept.
    pub fn each_stall(&self) -> Vec<CapturedStall> {
        self.course().stalls.kept.iter().map(|s| CapturedStall::of((self, s))).collect()
    }

    /// The metrics of its reordering, if the capture shows the order of sending.
    pub fn reordering(&self) -> Option<CapturedReordering> {
        let known = self.course().reordering.as_ref()?;
        Some(CapturedReordering::of((known.source.words(), &known.order)))
    }

    /// RFC 5236's densities, value by value; none unless they were requested and each packet has a number.
    pub(super) fn densities(&self) -> Vec<DensityShare> {
        let Some(of) = self.course().reordering.as_ref().and_then(|r| r.order.density()) else { return Vec::new() };
        let places = of.reorder_density().into_iter().map(|(places, share)| ("reorder", places, share));
        let held = of.buffer_occupancy_density().into_iter();
        let held = held.map(|(n, share)| ("buffer_occupancy", i64::try_from(n).unwrap_or(i64::MAX), share));
        places.chain(held).map(DensityShare::of).collect()
    }
}
