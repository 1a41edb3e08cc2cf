//! The results for a connection, the same in every table and in the JSON of the command and of the lab page. Times are in
//! seconds.

use crate::connection::DirectionRecord;
use crate::datagrams::Numbered;
use crate::flows::Traffic;
use crate::link::Kind;
use crate::read::{Contents, Format};
use crate::seen::Way;
use crate::stalls::cause::CAUSES;
use crate::stalls::Stall;
use crate::survey::{Course, Everything, Surveyed};
use crate::verdict::Retransmission;
use ackclock_sim::reordering::summary::ReorderingSummary;
use ackclock_sim::reordering::Reordering;
use serde_json::{json, Map, Value};

const S: f64 = 1e9;

/// One file, surveyed.
#[derive(Clone, Debug)]
pub struct OneFile {
    /// Its name as given.
    pub name: String,
    /// Its properties, and the damage in it.
    pub contents: Contents,
    /// Its contents besides connections.
    pub traffic: Traffic,
    /// The results for its connections.
    pub found: Everything,
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug)]
pub struct FlowRow<'a> {
    /// The file that contains it.
    pub file: &'a OneFile,
    /// The connection.
    pub connection: &'a Surveyed,
    /// Its way.
    pub way: Way,
    /// The capture of the receiver's side, if that is another file.
    pub receiver_file: Option<&'a str>,
}

impl OneFile {
    /// Seconds since the first packet of the file.
    pub fn seconds(&self, at: i64) -> f64 {
        let first = self.traffic.span.map_or(at, |s| s.0);
        at.saturating_sub(first) as f64 / S
    }

    /// Packets and bytes of each kind that is not analysed.
    pub fn skipped(&self) -> impl Iterator<Item = (&'static str, u64, u64)> + '_ {
        let all = Kind::ALL.iter().zip(self.traffic.others);
        all.filter(|(_, n)| n.0 > 0).map(|(kind, (packets, bytes))| (kind.name(), packets, bytes))
    }
}

/// UDP with sequence numbers, file by file.
pub fn datagrams(files: &[OneFile]) -> impl Iterator<Item = (&OneFile, &Numbered)> {
    files.iter().flat_map(|file| file.traffic.numbered.iter().map(move |numbered| (file, numbered)))
}

/// Every direction with data, file by file.
pub fn flows(files: &[OneFile]) -> impl Iterator<Item = FlowRow<'_>> {
    files.iter().flat_map(move |file| {
        file.found.connections.iter().flat_map(move |c| {
            let receiver_file = c.beside.map(|other| files[other.file].name.as_str());
            c.ways_with_data().map(move |way| FlowRow { file, connection: c, way, receiver_file })
        })
    })
}

impl<'a> FlowRow<'a> {
    /// `A:p > B:p`, the direction of the data.
    pub fn name(&self) -> String {
        self.connection.name(self.way)
    }

    /// Its reordering and its stalls.
    pub fn course(&self) -> &'a Course {
        &self.connection.ways[self.way as usize]
    }

    /// Its counts.
    pub fn record(&self) -> &'a DirectionRecord {
        self.connection.record.way(self.way)
    }

    /// Its retransmissions, if each was requested.
    pub fn retransmissions(&self) -> impl Iterator<Item = &'a Retransmission> + '_ {
        self.connection.retransmissions.iter().filter(|r| r.way == self.way)
    }

    /// When the connection's first packet was captured, since 1970.
    pub fn start_s(&self) -> f64 {
        self.connection.record.start as f64 / S
    }

    /// From the first segment to the last acknowledgment of new data.
    pub fn duration_s(&self) -> f64 {
        self.record().duration as f64 / S
    }

    /// Bytes over the duration; `None` without a duration.
    pub fn goodput_bytes_per_s(&self) -> Option<f64> {
        self.record().goodput().map(|bits| bits / 8.0)
    }

    /// The smallest round-trip time, the median, and the 95th percentile.
    pub fn rtts_s(&self) -> [Option<f64>; 3] {
        let rtt = &self.record().rtt;
        [rtt.min, rtt.median, rtt.p95].map(|t| t.map(|t| t as f64 / S))
    }

    /// Where it was captured, in words.
    pub fn place(&self) -> &'static str {
        self.connection.record.place.words(self.way)
    }

    /// Why the analysis assumes that place.
    pub fn why(&self) -> String {
        self.connection.record.why.words()
    }

    /// The median of the extents of reordering (RFC 4737 §4.2).
    pub fn median_extent(&self) -> Option<u64> {
        self.course().reordering.as_ref()?.order.late().median_extent()
    }

    /// The offset of a byte in the stream; `None` if its SYN was not captured.
    pub fn offset(&self, seq: u64) -> Option<u64> {
        let syn = self.connection.syns[self.way as usize]?;
        seq.checked_sub(syn.seq.wrapping_add(1))
    }

    /// Whether SACK is in use; `None` if unknown.
    pub fn sack(&self) -> Option<bool> {
        let [one, other] = self.connection.syns;
        match (one, other) {
            (Some(one), Some(other)) => Some(one.options.sack_permitted && other.options.sack_permitted),
            (Some(_), None) | (None, Some(_)) | (None, None) => self.record().sack_seen.then_some(true),
        }
    }

    /// The scale of the receiver's windows; `None` if it is unknown or not in use.
    pub fn window_scale(&self) -> Option<u32> {
        let [one, other] = self.connection.syns;
        let (one, other) = (one?, other?);
        let receiver = if self.way == Way::Out { other } else { one };
        let both = one.options.window_scale.and(other.options.window_scale);
        both.and(receiver.options.window_scale).map(u32::from)
    }

    fn mss(&self) -> Option<u16> {
        self.record().syn.and_then(|s| s.mss)
    }

    fn ecn(&self) -> Option<bool> {
        let [one, other] = self.connection.syns;
        Some(one?.ecn && other?.ecn)
    }

    /// The complete entry of `flows[]` in `--json`; with `details`, each retransmission and each stall, too.
    pub fn json(&self, details: bool) -> Value {
        let r = self.record();
        let [rtt_min_s, rtt_median_s, rtt_p95_s] = self.rtts_s();
        let c = r.retransmissions;
        let mut flow = json!({
            "file": self.file.name,
            "receiver_file": self.receiver_file,
            "connection": self.connection.number,
            "flow": self.name(),
            "main": self.way == self.connection.record.main_way(),
            "first_frame": self.connection.record.first_frame,
            "start_s": self.start_s(),
            "duration_s": self.duration_s(),
            "packets": r.packets,
            "segments": r.segments,
            "bytes": r.bytes,
            "carried_bytes": r.carried,
            "unseen_bytes": r.unseen,
            "goodput_bytes_per_s": self.goodput_bytes_per_s(),
            "rtt_min_s": rtt_min_s,
            "rtt_median_s": rtt_median_s,
            "rtt_p95_s": rtt_p95_s,
            "retransmissions": {
                "total": c.total, "needed": c.needed, "needless": c.needless, "refused": c.refused,
                "undecided": c.undecided, "likely": c.likely,
            },
            "reordering": self.reordering(),
            "stalls": self.stalls(),
            "options": {
                "sack": self.sack(), "dsack_seen": r.dsacks > 0, "timestamps": r.timestamps,
                "window_scale": self.window_scale(), "mss": self.mss(), "ecn": self.ecn(),
            },
            "captured": { "at": self.place(), "why": self.why() },
        });
        if let (true, Some(flow)) = (details, flow.as_object_mut()) {
            flow.insert("each_retransmission".into(), self.retransmissions().map(|r| self.retransmission(r)).collect());
            let stalls = self.course().stalls.kept.iter().map(|s| self.stall(s)).collect();
            flow.insert("each_stall".into(), stalls);
        }
        flow
    }

    /// RFC 4737 and RFC 5236, as far as the capture allows.
    fn reordering(&self) -> Value {
        let Some(reordered) = &self.course().reordering else { return Value::Null };
        let mut all = metrics(&reordered.order);
        all.insert("told_by".into(), reordered.source.words().into());
        Value::Object(all)
    }

    fn stalls(&self) -> Value {
        let found = &self.course().stalls;
        let by = CAUSES.iter().zip(found.by_cause).filter(|(_, n)| n.0 > 0);
        let by =
            by.map(|(cause, (n, time))| (cause.name().to_owned(), json!({ "count": n, "total_s": time as f64 / S })));
        json!({
            "count": found.count(),
            "longer_than_s": found.threshold as f64 / S,
            "by_cause": by.collect::<Map<_, _>>(),
            "longest": found.longest().map(|s| self.stall(s)),
        })
    }

    /// One of its stalls.
    pub fn stall(&self, stall: &Stall) -> Value {
        json!({
            "start_s": self.file.seconds(stall.facts.from),
            "duration_s": stall.facts.length() as f64 / S,
            "cause": stall.cause.name(),
            "evidence": stall.words(),
            "frame_before": stall.facts.before,
            "frame_after": stall.facts.after,
        })
    }

    /// One of its retransmissions.
    pub fn retransmission(&self, r: &Retransmission) -> Value {
        json!({
            "frame": r.frame,
            "time_s": self.file.seconds(r.at),
            "offset_bytes": self.offset(r.seq),
            "len_bytes": r.len,
            "copies_before": r.copies,
            "verdict": r.judged.verdict.name(),
            "likely": r.judged.likely,
            "evidence": r.judged.evidence.words(r.judged.earlier, r.judged.proof),
            "earlier_frame": r.judged.earlier,
            "proof_frame": r.judged.proof,
        })
    }
}

/// RFC 4737 and RFC 5236.
fn metrics(order: &Reordering) -> Map<String, Value> {
    let mut all = match serde_json::to_value(ReorderingSummary::of(order)) {
        Ok(Value::Object(all)) => all,
        _ => Map::new(),
    };
    if order.density().is_none() {
        for key in ["density_threshold", "reorder_density", "buffer_occupancy_density"] {
            all.remove(key);
        }
    }
    all.insert("median_extent".into(), order.late().median_extent().into());
    all.insert("forgotten".into(), order.forgotten().into());
    all
}

/// The entry for UDP with sequence numbers.
fn numbered((file, n): (&OneFile, &Numbered)) -> Value {
    let mut order = metrics(&n.order);
    order.insert("told_by".into(), n.format.told_by().into());
    json!({
        "file": file.name,
        "flow": n.name(),
        "format": n.format.name(),
        "ssrc": n.format.source(),
        "first_frame": n.first_frame,
        "start_s": n.first as f64 / S,
        "duration_s": (n.last - n.first) as f64 / S,
        "packets": n.order.packets(),
        "bytes": n.bytes,
        "lost": n.lost(),
        "lost_ratio": n.lost_ratio(),
        "restarts": n.restarts,
        "reordering": order,
    })
}

/// The output of `ackclock capture --json`; with `details`, each retransmission and each stall, too. `remarks` are the
/// sentences of [`crate::pair::match_ends`] about several files.
pub fn json(files: &[OneFile], remarks: &[String], details: bool) -> Value {
    let about = |f: &OneFile| {
        let skipped =
            f.skipped().map(|(kind, packets, bytes)| (kind.to_owned(), json!({"packets": packets, "bytes": bytes})));
        json!({
            "file": f.name,
            "format": match f.contents.format {
                Format::Pcap => "pcap",
                Format::PcapNg => "pcapng",
            },
            "packets": f.traffic.packets,
            "bytes": f.traffic.bytes,
            "segments": f.traffic.segments,
            "connections": f.traffic.connections,
            "not_chosen": f.found.passed_over,
            "left_out": f.found.left_out,
            "cut_by_limit": f.traffic.cut_by_limit,
            "repeats": f.traffic.repeats,
            "times_back": f.traffic.times_back,
            "options_cut": f.traffic.options_cut,
            "mptcp_joins": f.traffic.mptcp_joins,
            "dropped_by_capture": f.contents.interfaces.iter().filter_map(|i| i.dropped).sum::<u64>(),
            "damage": { "count": f.contents.damages.count(), "first": f.contents.damages.first().map(ToString::to_string) },
            "skipped": skipped.collect::<Map<_, _>>(),
        })
    };
    json!({
        "ackclock": env!("CARGO_PKG_VERSION"),
        "remarks": remarks,
        "files": files.iter().map(about).collect::<Vec<_>>(),
        "flows": flows(files).map(|f| f.json(details)).collect::<Vec<_>>(),
        "datagrams": datagrams(files).map(numbered).collect::<Vec<_>>(),
    })
}
