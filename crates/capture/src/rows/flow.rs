//! The row of a captured flow.

use super::answers::main_cause;
use super::details::{CapturedReordering, CapturedRetransmission, CapturedStall, StallsOfCause, TimeOfCause};
use super::{FlowRow, S};
use crate::place::Why;
use crate::seen::Way;
use ackclock_course::stall::cause::CAUSES;
use ackclock_table::row;
use std::collections::BTreeMap;

row! {
    /// A captured flow: one direction of a connection, if it carries data.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedFlow pub of (f, details): (&FlowRow<'_>, bool) {
        /// The capture, as named on the command line; if both ends were captured, that of the sender's side.
        file: String = f.file.name.clone();
        /// The capture of the receiver's side, if both ends were captured.
        receiver_file: Option<String> = f.receiver_file.map(str::to_owned);
        /// The interface at which the sender's packets were captured, counted from 0, if the file holds both ends.
        interface: Option<u32> = f.file.part.map(|part| part.interface);
        /// The connection's number in the file.
        connection: u64 = f.connection.number;
        /// The direction of the data, as `A:p > B:p`.
        flow: String [shown("flow"), brief] = f.name();
        /// The VLANs of the connection's first packet, the outer one first (`10`, `10.20`); missing without a tag.
        vlan: Option<String> [shown("VLAN"), brief, seldom] = f.connection.vlans();
        /// Whether this is the direction with more data.
        main: bool = f.is_main();
        /// The frame of the connection's first packet.
        first_frame: u64 = f.connection.record.first_frame;
        /// When the connection's first packet was captured, since 1970.
        start_s: f64 [unit("s")] = f.connection.record.start as f64 / S;
        /// From the first packet with data to the last acknowledgment of new data.
        duration_s: f64 [unit("s")] = f.record().duration as f64 / S;
        /// Captured packets in this direction.
        packets: u64 = f.record().packets;
        /// Captured packets with data.
        data_packets: u64 = f.record().segments;
        /// Payload that was captured, each byte counted once.
        bytes: u64 [unit("bytes"), shown("bytes"), brief] = f.record().bytes;
        /// Payload of all captured packets, retransmissions included.
        carried_bytes: u64 [unit("bytes")] = f.record().carried_bytes;
        /// Payload from the first captured byte to the highest acknowledgment.
        acknowledged_bytes: u64 [unit("bytes")] = f.record().acknowledged_bytes;
        /// Payload that was acknowledged but never captured.
        unseen_bytes: u64 [unit("bytes")] = f.record().unseen_bytes;
        /// `bytes` over `duration_s`.
        goodput_bytes_per_s: Option<f64> [unit("bytes/s"), shown(""), brief, scaled("kB/s", 1e-3, 1), more_is_better] =
            f.record().goodput().map(|bits| bits / 8.0);
        /// The smallest round-trip time.
        rtt_min_s: Option<f64> [unit("s"), shown("RTT min"), scaled("ms", 1e3, 1)] = seconds(f.record().rtt.min);
        /// The median round-trip time.
        rtt_p50_s: Option<f64> [unit("s"), shown("RTT"), brief, scaled("ms", 1e3, 1)] = seconds(f.record().rtt.median);
        /// The 95th percentile of the round-trip times.
        rtt_p95_s: Option<f64> [unit("s"), shown("RTT p95"), scaled("ms", 1e3, 1)] = seconds(f.record().rtt.p95);
        /// Packets whose data had been sent before, as the capture proves: the sum of the next five counts.
        retransmissions: u64 [shown("resent"), brief] = f.record().retransmissions.total;
        /// Retransmissions of which the receiver lacked at least one byte.
        needed_retransmissions: u64 [shown("needed"), brief] = f.record().retransmissions.needed;
        /// Retransmissions of which the receiver had taken all bytes from earlier copies.
        needless_retransmissions: u64 [shown("needless"), brief] = f.record().retransmissions.needless;
        /// Retransmissions whose bytes had all arrived in earlier copies, some of which the receiver discarded (PAWS, RFC 7323
        /// §5.3).
        refused_retransmissions: u64 [shown("refused"), brief, seldom] = f.record().retransmissions.refused;
        /// Retransmissions of which the capture does not show whether they were needed.
        undecided_retransmissions: u64 [shown("undecided"), brief, seldom] = f.record().retransmissions.undecided;
        /// Retransmissions whose verdict is likely, not certain. They count in none of the four verdicts.
        likely_retransmissions: u64 [shown("likely"), seldom] = f.record().retransmissions.likely;
        /// Packets that may have been sent before, though nothing proves it: they filled a hole a round trip or more after later
        /// data. They are not retransmissions in the counts above.
        suspected_retransmissions: u64 [shown("suspected"), seldom] = f.record().retransmissions.suspected;
        /// Packets with data, all of which had been captured before.
        repeats: u64 = f.record().repeats;
        /// Packets with data below the highest byte captured, some of which had not been captured before.
        fills: u64 = f.record().fills;
        /// Probes of the receiver's closed window (RFC 9293 §3.8.6.1); they are not retransmissions.
        window_probes: u64 = f.record().window_probes;
        /// Probes of a silent receiver (RFC 9293 §3.8.4); they are not retransmissions.
        keep_alives: u64 = f.record().keep_alives;
        /// The receiver's packets that announce a window of zero.
        zero_windows: u64 = f.record().zero_windows;
        /// SYNs of the sender.
        syns: u64 = f.record().syns;
        /// FINs of the sender.
        fins: u64 = f.record().fins;
        /// RSTs of the sender.
        resets: u64 = f.record().resets;
        /// The share of packets that arrived after a packet sent later (RFC 4737 §4.1).
        reordered_ratio: Option<f64> [shown("reordered"), brief, scaled("%", 1e2, 2)] =
            f.course().reordering.as_ref().map(|r| r.order.ratio());
        /// The median of the extents of reordering (RFC 4737 §4.2).
        median_extent: Option<u64> [unit("packets")] =
            f.course().reordering.as_ref().and_then(|r| r.order.late().median_extent());
        /// The number of stalls.
        stalls: u64 = f.course().stalls.count();
        /// The parts of `duration_s` that were spent waiting for each cause, and `sending`, the rest. They add up to it.
        time_by_cause_s: BTreeMap<&'static str, f64> [unit("s")] = f.time_by_cause();
        /// What most of its time went into, waits after its last ACK included: a cause, or `sending`. The causes that follow
        /// retransmissions are one, `loss recovery`; or `reordering`, if most of them were needless and followed duplicate ACKs.
        /// Missing without time.
        main_cause: Option<&'static str> [shown("mostly")] = main_cause(f).map(|(cause, _)| cause);
        /// Its share of that time.
        main_cause_share: Option<f64> = main_cause(f).map(|(_, share)| share);
        /// A longer time without a data packet is a stall.
        stall_threshold_s: f64 [unit("s")] = f.course().stalls.threshold as f64 / S;
        /// The length of the longest stall.
        longest_stall_s: Option<f64> [unit("s"), shown("longest stall"), brief, scaled("s", 1.0, 3)] =
            f.course().stalls.longest().map(|s| s.facts.length() as f64 / S);
        /// The cause of the longest stall.
        longest_stall_cause: Option<&'static str> [shown("cause"), brief] =
            f.course().stalls.longest().map(|s| s.cause.name());
        /// Whether SACK is in use.
        sack: Option<bool> = f.sack();
        /// ACKs with SACK blocks more than 64 MB from all data, as where a device on the path changes sequence numbers and not the
        /// blocks.
        sacks_outside: u64 [shown("SACKs outside"), seldom] = f.record().sacks_outside;
        /// Whether the receiver reported a duplicate (DSACK, RFC 2883).
        dsack_seen: bool = f.record().dsacks > 0;
        /// Whether the packets carry timestamps.
        timestamps: bool = f.record().timestamps;
        /// The scale of the receiver's windows; missing without both SYNs, or if scales are not in use.
        window_scale: Option<u32> = f.window_scale();
        /// The sender's MSS option; missing without its SYN.
        mss: Option<u16> [unit("bytes")] = f.record().syn.and_then(|s| s.mss);
        /// Whether ECN was negotiated; missing without both SYNs.
        ecn: Option<bool> = f.ecn();
        /// The options in use, in words.
        options: String [shown("options")] = f.options();
        /// What most of its time went into, in sentences; missing without a duration.
        answer: Option<String> = f.answer();
        /// Where it was captured: `at the sender`, `at the receiver`, `at both ends`, `on the way` or `unknown`.
        captured: &'static str [shown("captured"), brief] = f.connection.record.place.words(f.way);
        /// Why the analysis assumes that place.
        captured_why: String = f.captured_why();
        /// RFC 4737's and RFC 5236's metrics; missing if the capture does not show the order of sending.
        reordering: Option<CapturedReordering> = f.reordering();
        /// The stalls by their cause.
        stalls_by_cause: BTreeMap<&'static str, StallsOfCause> = f.stalls_by_cause();
        /// Each retransmission, if requested.
        each_retransmission: Option<Vec<CapturedRetransmission>> [sparse] =
            details.then(|| f.each_retransmission());
        /// Each stall that is kept, if requested: the longest.
        each_stall: Option<Vec<CapturedStall>> [sparse] =
            details.then(|| f.each_stall());
    }
}

row! {
    /// The flow to which a row belongs.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowOf pub of f: &FlowRow<'_> {
        /// The capture, as named on the command line.
        file: String = f.file.name.clone();
        /// The connection's number in the file.
        connection: u64 = f.connection.number;
        /// The direction of the data, as `A:p > B:p`.
        flow: String = f.name();
    }
}

fn seconds(nanos: Option<i64>) -> Option<f64> {
    nanos.map(|t| t as f64 / S)
}

impl FlowRow<'_> {
    fn captured_why(&self) -> String {
        match (self.connection.record.why, self.file.part) {
            (Why::TwoFiles, Some(_)) => {
                "the same packets are at two interfaces of the file, one at each end".to_owned()
            }
            (why, _) => why.words(),
        }
    }

    /// Seconds of its duration by cause; `sending` is the rest.
    fn time_by_cause(&self) -> BTreeMap<&'static str, f64> {
        let found = &self.course().stalls;
        let waits = CAUSES.iter().zip(found.waits).map(|(cause, nanos)| (cause.name(), nanos));
        let parts = waits.chain([("sending", found.sending)]);
        parts.filter(|(_, nanos)| *nanos > 0).map(|(name, nanos)| (name, nanos as f64 / S)).collect()
    }

    /// Its time by cause.
    pub(super) fn times(&self) -> Vec<TimeOfCause> {
        let parts = self.time_by_cause();
        let all: f64 = parts.values().sum();
        parts.into_iter().map(|(cause, seconds)| TimeOfCause::of((cause, seconds, seconds / all))).collect()
    }

    fn stalls_by_cause(&self) -> BTreeMap<&'static str, StallsOfCause> {
        let by = CAUSES.iter().zip(self.course().stalls.by_cause).filter(|(_, n)| n.0 > 0);
        by.map(|(cause, stalls)| (cause.name(), StallsOfCause::of(stalls))).collect()
    }

    /// The offset of a byte in the stream; `None` if its SYN was not captured.
    pub fn offset(&self, seq: u64) -> Option<u64> {
        let syn = self.connection.syns[self.way as usize]?;
        seq.checked_sub(syn.seq.wrapping_add(1))
    }

    /// Whether SACK is in use; `None` if unknown.
    fn sack(&self) -> Option<bool> {
        let [one, other] = self.connection.syns;
        match (one, other) {
            (Some(one), Some(other)) => Some(one.options.sack_permitted && other.options.sack_permitted),
            (Some(_), None) | (None, Some(_)) | (None, None) => self.record().sack_seen.then_some(true),
        }
    }

    /// The scale of the receiver's windows; `None` if it is unknown or not in use.
    fn window_scale(&self) -> Option<u32> {
        let [one, other] = self.connection.syns;
        let (one, other) = (one?, other?);
        let receiver = if self.way == Way::Out { other } else { one };
        let both = one.options.window_scale.and(other.options.window_scale);
        both.and(receiver.options.window_scale).map(u32::from)
    }

    fn ecn(&self) -> Option<bool> {
        let [one, other] = self.connection.syns;
        Some(one?.ecn && other?.ecn)
    }

    fn options(&self) -> String {
        let used = [
            (self.sack() == Some(true), "SACK"),
            (self.record().dsacks > 0, "DSACK"),
            (self.record().timestamps, "timestamps"),
            (self.ecn() == Some(true), "ECN"),
        ];
        let names = used.into_iter().filter(|(used, _)| *used).map(|(_, name)| name.to_owned());
        let all: Vec<_> = names.chain(self.window_scale().map(|scale| format!("scale {scale}"))).collect();
        if all.is_empty() {
            "none seen".to_owned()
        } else {
            all.join(", ")
        }
    }
}
