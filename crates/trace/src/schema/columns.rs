//! The columns themselves.

use super::words::{CAUSES, DROPS, EVENTS, PHASES, REFUSALS, SIDES, SLOTS, WHYS};
use super::{Column, Kind};

/// A column, by its position in [`COLUMNS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "COLUMNS explains each")]
pub enum Id {
    Time,
    Flow,
    Side,
    Event,
    Seq,
    Len,
    Flags,
    Ack,
    Sack,
    Rwnd,
    Tsval,
    Tsecr,
    Wire,
    Packet,
    Sends,
    Needless,
    Refused,
    Missing,
    Element,
    Nth,
    Why,
    By,
    Episode,
    Cwnd,
    Ssthresh,
    CwndFrom,
    SsthreshFrom,
    Inflation,
    PhaseFrom,
    PhaseTo,
    NewlyDelivered,
    DupRun,
    Pipe,
    Undone,
    Backoff,
    Link,
    QueuePackets,
    QueueBytes,
    Dupthresh,
    Srtt,
    Rttvar,
    Rto,
}

/// Every column, in the order of the files.
pub const COLUMNS: &[Column] = &[
    always(
        Id::Time,
        "time_ns",
        "ns",
        Kind::Int,
        "Time since the start of the run. Never goes back from one record to the next.",
    ),
    some(
        Id::Flow,
        "flow",
        "",
        Kind::Small,
        "The flow's position in the scenario, from 0. Empty for `queue`.",
    ),
    some(
        Id::Side,
        "side",
        "",
        Kind::Word(&[SIDES]),
        "The flow's end at which it happened; for `dropped` the packet's destination. A packet with \
         data is `sent` at `sender` and `delivered` at `receiver`, its ACK the other way round.",
    ),
    always(
        Id::Event,
        "event",
        "",
        Kind::Word(&[EVENTS]),
        "The event; see the list of events.",
    ),
    some(
        Id::Seq,
        "seq",
        "B",
        Kind::Int,
        "First offset that the packet covers: 0 is the SYN, data begins at 1. For `persist` and `probe`, the offset that the probe sends.",
    ),
    some(Id::Len, "len", "B", Kind::Int, "Payload; SYN and FIN are not counted. 0 for a pure ACK."),
    some(
        Id::Flags,
        "flags",
        "",
        Kind::Text,
        "The header flags, in this order: `S` SYN, `A` ACK, `F` FIN, `R` RST, `P` PSH, `E` ECE, `W` CWR; then `C` if \
         a queue has marked the packet (CE in the IP header, RFC 3168).",
    ),
    some(
        Id::Ack,
        "ack",
        "B",
        Kind::Int,
        "Cumulative acknowledgment: the next offset expected. Empty for a packet without the ACK flag.",
    ),
    some(
        Id::Sack,
        "sack",
        "B",
        Kind::Text,
        "SACK blocks in the order of the option, as `left-right left-right`, right edge exclusive. A block below \
         `ack` is a DSACK (RFC 2883). Empty if there are none.",
    ),
    some(
        Id::Rwnd,
        "rwnd",
        "B",
        Kind::Int,
        "Receive window that the packet announces, scale applied.",
    ),
    some(
        Id::Tsval,
        "tsval",
        "",
        Kind::Int,
        "Timestamp value (RFC 7323), if the packet has the option.",
    ),
    some(Id::Tsecr, "tsecr", "", Kind::Int, "Timestamp echo reply, if the packet has the option."),
    some(Id::Wire, "wire", "B", Kind::Small, "Size on the wire with all headers, for `sent` and `delivered`."),
    some(
        Id::Packet,
        "packet",
        "",
        Kind::Small,
        "For `sent`, `delivered` and `dropped`: the packet's number. Each end of a flow counts all packets that it sends, from 0. A \
         packet that the network duplicated has two fates.",
    ),
    some(
        Id::Sends,
        "sends",
        "",
        Kind::Small,
        "For `sent` with sequence space: how often this data has been sent; 1 is the first transmission, more a \
         retransmission. For `refused`: which of these copies it is.",
    ),
    some(
        Id::Needless,
        "needless",
        "",
        Kind::Bool,
        "For retransmissions (`sends` > 1): true if the receiver took an earlier copy of all its bytes, or would have \
         when the run ended. Decided by the fate of every copy, not by DSACKs.",
    ),
    some(
        Id::Refused,
        "refused",
        "",
        Kind::Bool,
        "For retransmissions: true if earlier copies of all its bytes arrived, but the receiver discarded some. \
         If both `needless` and `refused` are false, it was needed.",
    ),
    some(
        Id::Missing,
        "missing",
        "B",
        Kind::Small,
        "For `refused`: how much of the packet's sequence space its host does not have; 0 for a packet without new data.",
    ),
    some(
        Id::Element,
        "element",
        "",
        Kind::Small,
        "For `dropped`: the element that dropped it, numbered in the scenario's order.",
    ),
    some(
        Id::Nth,
        "nth",
        "",
        Kind::Int,
        "For `dropped`: the packet was this arrival at the element, counted from 0.",
    ),
    some(
        Id::Why,
        "why",
        "",
        Kind::Word(&[DROPS, WHYS, CAUSES, REFUSALS]),
        "The reason. For `dropped`: `queue` (it was full), `loss` (a loss model), `early` (RED), `script`. For \
         `phase`: `suspected`, `lost`, `timeout`, `resolved` (it was reordering), `repaired`, `restarted`, `mistaken`. For `mistake`: the \
         cause of the episode, `fast` (a detector) or `rto`. For `refused`: `paws` (an old timestamp), `window` (outside the \
         receive window, or no room), `ack` (of data that was never sent), `flags`, `closed` (no such connection).",
    ),
    some(
        Id::By,
        "by",
        "",
        Kind::Word(&[SLOTS]),
        "For `sent` and `window`: the part of the stack that requested the segment or wrote the window.",
    ),
    some(
        Id::Episode,
        "episode",
        "",
        Kind::Int,
        "The newest congestion episode's number, from 1; 0 before the first. For `inflation`, `mistake` and `timeout`: the episode that it belongs to.",
    ),
    some(
        Id::Cwnd,
        "cwnd",
        "B",
        Kind::Real,
        "For `window`: the congestion window after the change. Real-valued; senders round it down to decide whether they may send.",
    ),
    some(
        Id::Ssthresh,
        "ssthresh",
        "B",
        Kind::Real,
        "For `window`: the slow start threshold after the change. `inf` in CSV if there is none yet.",
    ),
    some(
        Id::CwndFrom,
        "cwnd_from",
        "B",
        Kind::Real,
        "For `window`: the congestion window before the change.",
    ),
    some(
        Id::SsthreshFrom,
        "ssthresh_from",
        "B",
        Kind::Real,
        "For `window`: the slow start threshold before the change.",
    ),
    some(
        Id::Inflation,
        "inflation",
        "B",
        Kind::Real,
        "For `inflation`: the amount that a Reno-style recovery now adds to `cwnd` when it sends. Not part of `cwnd`.",
    ),
    some(Id::PhaseFrom, "phase_from", "", Kind::Word(&[PHASES]), "For `phase`: the phase left."),
    some(Id::PhaseTo, "phase_to", "", Kind::Word(&[PHASES]), "For `phase`: the phase entered."),
    some(
        Id::NewlyDelivered,
        "newly_delivered",
        "B",
        Kind::Int,
        "For `acked`: bytes that the ACK newly reports as delivered, cumulatively or by SACK.",
    ),
    some(
        Id::DupRun,
        "dup_run",
        "",
        Kind::Small,
        "For `acked`: duplicate ACKs in a row, this one included; on an advancing ACK, the length of the run that it ended.",
    ),
    some(
        Id::Pipe,
        "pipe",
        "B",
        Kind::Int,
        "For `acked`: bytes in the network after the ACK, by the sender's estimate (RFC 6675's `pipe`).",
    ),
    some(Id::Undone, "undone", "", Kind::Bool, "For `mistake`: whether the `undo` slot restored anything."),
    some(Id::Backoff, "backoff", "", Kind::Small, "For `timeout`: the number of earlier back-offs."),
    some(
        Id::Link,
        "link",
        "",
        Kind::Small,
        "For `queue`: the directed link: twice the link's position in the scenario, plus one for the back direction; paths of splits follow after these.",
    ),
    some(
        Id::QueuePackets,
        "queue_packets",
        "packets",
        Kind::Small,
        "For `queue`: packets waiting and in service there, the arriving one included.",
    ),
    some(Id::QueueBytes, "queue_bytes", "B", Kind::Int, "For `queue`: their bytes on the wire."),
    some(
        Id::Dupthresh,
        "dupthresh",
        "segments",
        Kind::Small,
        "For `threshold`: the number of duplicate ACKs, or SACKed segments, that means a loss from now on.",
    ),
    some(Id::Srtt, "srtt_ns", "ns", Kind::Int, "For `rtt`: smoothed round-trip time (RFC 6298)."),
    some(Id::Rttvar, "rttvar_ns", "ns", Kind::Int, "For `rtt`: round-trip time variation."),
    some(Id::Rto, "rto_ns", "ns", Kind::Int, "For `rtt`: retransmission timeout, back-off included."),
];

const _: () = {
    let mut i = 0;
    while i < COLUMNS.len() {
        assert!(COLUMNS[i].id as usize == i, "ids are in the order of the columns");
        i += 1;
    }
};

const fn always(id: Id, name: &'static str, unit: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { id, name, unit, nullable: false, meaning, kind }
}

const fn some(id: Id, name: &'static str, unit: &'static str, kind: Kind, meaning: &'static str) -> Column {
    Column { id, name, unit, nullable: true, meaning, kind }
}
