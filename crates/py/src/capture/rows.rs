//! What is said of a connection: one way of it, with all that the default table needs; and the JSON.

use super::OneFile;
use ackclock_capture::link::Kind;
use ackclock_capture::stalls::cause::CAUSES;
use ackclock_capture::stalls::Stall;
use ackclock_capture::survey::{Course, Surveyed};
use ackclock_capture::verdict::Retransmission;
use ackclock_capture::Way;
use ackclock_lab::summary::ReorderingSummary;
use serde_json::{json, Map, Value};

const S: f64 = 1e9;

/// One way of a connection.
pub(super) struct FlowRow<'a> {
    pub(super) file: &'a OneFile,
    pub(super) connection: &'a Surveyed,
    pub(super) way: Way,
}

impl OneFile {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Seconds since the first packet of the file.
    pub(super) fn seconds(&self, at: i64) -> f64 {
        let first = self.traffic.span.map_or(at, |s| s.0);
        at.saturating_sub(first) as f64 / S
    }

    pub(super) fn skipped(&self) -> impl Iterator<Item = (&'static str, u64, u64)> + '_ {
        let all = Kind::ALL.iter().zip(self.traffic.others);
        all.filter(|(_, n)| n.0 > 0).map(|(kind, (packets, bytes))| (kind.name(), packets, bytes))
    }
}

/// Every way with data, file by file.
pub(super) fn flows(files: &[OneFile]) -> impl Iterator<Item = FlowRow<'_>> {
    files.iter().flat_map(|file| {
        let connections = file.connections.iter();
        connections.flat_map(move |c| c.ways_with_data().map(move |way| FlowRow { file, connection: c, way }))
    })
}

impl<'a> FlowRow<'a> {
    pub(super) fn name(&self) -> String {
        self.connection.name(self.way)
    }

    pub(super) fn course(&self) -> &'a Course {
        &self.connection.ways[self.way as usize]
    }

    pub(super) fn record(&self) -> &'a ackclock_capture::connection::DirectionRecord {
        self.connection.record.way(self.way)
    }

    pub(super) fn retransmissions(&self) -> impl Iterator<Item = &'a Retransmission> + '_ {
        self.connection.retransmissions.iter().filter(|r| r.way == self.way)
    }

    pub(super) fn start_s(&self) -> f64 {
        self.connection.record.start as f64 / S
    }

    pub(super) fn duration_s(&self) -> f64 {
        self.record().duration as f64 / S
    }

    pub(super) fn goodput_bytes_per_s(&self) -> Option<f64> {
        self.record().goodput().map(|bits| bits / 8.0)
    }

    pub(super) fn rtts_s(&self) -> [Option<f64>; 3] {
        let rtt = &self.record().rtt;
        [rtt.min, rtt.median, rtt.p95].map(|t| t.map(|t| t as f64 / S))
    }

    pub(super) fn place(&self) -> &'static str {
        self.connection.record.place.words(self.way)
    }

    pub(super) fn why(&self) -> String {
        self.connection.record.why.words()
    }

    pub(super) fn median_extent(&self) -> Option<u64> {
        self.course().reordering.as_ref()?.order.late().median_extent()
    }

    /// The stream's offset of a byte; `None` if its SYN was not captured.
    pub(super) fn offset(&self, seq: u64) -> Option<u64> {
        let syn = self.connection.syns[self.way as usize]?;
        seq.checked_sub(syn.seq.wrapping_add(1))
    }

    /// Options in use, each with whether it is; `None` where nothing tells.
    pub(super) fn sack(&self) -> Option<bool> {
        let [one, other] = self.connection.syns;
        match (one, other) {
            (Some(one), Some(other)) => Some(one.options.sack_permitted && other.options.sack_permitted),
            (Some(_), None) | (None, Some(_)) | (None, None) => self.record().sack_seen.then_some(true),
        }
    }

    pub(super) fn window_scale(&self) -> Option<u32> {
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

    fn json(&self, details: bool) -> Value {
        let r = self.record();
        let [rtt_min_s, rtt_median_s, rtt_p95_s] = self.rtts_s();
        let c = r.retransmissions;
        let mut flow = json!({
            "file": self.file.name,
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
                "cannot_tell": c.cannot_tell, "likely": c.likely,
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

    /// RFC 4737 and RFC 5236, as far as the capture tells them.
    fn reordering(&self) -> Value {
        let Some(reordered) = &self.course().reordering else { return Value::Null };
        let summary = ReorderingSummary::of(&reordered.order);
        let mut all = match serde_json::to_value(&summary) {
            Ok(Value::Object(all)) => all,
            _ => Map::new(),
        };
        if !reordered.told.numbers_packets() {
            for key in ["density_threshold", "reorder_density", "buffer_occupancy_density"] {
                all.remove(key);
            }
        }
        all.insert("told_by".into(), reordered.told.words().into());
        all.insert("median_extent".into(), self.median_extent().into());
        all.insert("forgotten".into(), reordered.order.forgotten().into());
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

    fn stall(&self, stall: &Stall) -> Value {
        json!({
            "start_s": self.file.seconds(stall.facts.from),
            "duration_s": stall.facts.length() as f64 / S,
            "cause": stall.cause.name(),
            "evidence": stall.words(),
            "frame_before": stall.facts.before,
            "frame_after": stall.facts.after,
        })
    }

    fn retransmission(&self, r: &Retransmission) -> Value {
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

/// All files.
pub(super) fn json(files: &[OneFile], details: bool) -> Value {
    let about = |f: &OneFile| {
        let skipped =
            f.skipped().map(|(kind, packets, bytes)| (kind.to_owned(), json!({"packets": packets, "bytes": bytes})));
        json!({
            "file": f.name,
            "format": match f.contents.format {
                ackclock_capture::read::Format::Pcap => "pcap",
                ackclock_capture::read::Format::PcapNg => "pcapng",
            },
            "packets": f.traffic.packets,
            "bytes": f.traffic.bytes,
            "segments": f.traffic.segments,
            "connections": f.traffic.connections,
            "not_chosen": f.passed_over,
            "left_out": f.left_out,
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
        "files": files.iter().map(about).collect::<Vec<_>>(),
        "flows": flows(files).map(|f| f.json(details)).collect::<Vec<_>>(),
    })
}
