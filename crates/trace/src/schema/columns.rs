//! The columns themselves.

use super::words::{self, CAUSES, DROPS, EVENTS, PHASES, SIDES, SLOTS, WHYS};
use super::{Column, Get};
use crate::row::{Row, What};
use ackclock_tcp::event::{Event, Window};
use ackclock_tcp::segment::Segment;
use std::fmt::Write;

/// Every column, in the order in which files hold them.
pub const COLUMNS: &[Column] = &[
    always(
        "time_ns",
        "ns",
        Get::Int(|r| int(r.at.0)),
        "Time since the start of the run. Never goes back from one record to the next.",
    ),
    some(
        "flow",
        "",
        Get::Small(|r| r.end.and_then(|e| small(e.0))),
        "The flow's position in the scenario, from 0. Empty for `queue`.",
    ),
    some(
        "side",
        "",
        Get::Word(&[SIDES], |r| r.end.map(|e| words::side(&e.1))),
        "The flow's end at which it happened; for `dropped` the end for which the packet was meant. A packet with \
         data is `sent` at `sender` and `delivered` at `receiver`, its ACK the other way round.",
    ),
    always(
        "event",
        "",
        Get::Word(&[EVENTS], |r| Some(words::event(&r.what))),
        "What happened; see the list of events.",
    ),
    some(
        "seq",
        "B",
        Get::Int(seq),
        "First offset that the packet covers: 0 is the SYN, data begin at 1. For `persist` the offset that the probe \
         asks about.",
    ),
    some("len", "B", Get::Int(|r| int(r.seg()?.len.into())), "Payload; SYN and FIN are not counted. 0 for a pure ACK."),
    some(
        "flags",
        "",
        Get::Text(flags),
        "Header flags that are set, of `S` SYN, `A` ACK, `F` FIN, `R` RST, `P` PSH, `E` ECE, `W` CWR, in this order; \
         behind them `C` if a queue has marked the packet (CE in the IP header, RFC 3168).",
    ),
    some(
        "ack",
        "B",
        Get::Int(ack),
        "Cumulative acknowledgment: the next offset expected. Empty for a packet without the ACK flag.",
    ),
    some(
        "sack",
        "B",
        Get::Text(sack),
        "SACK blocks in the order of the option, as `left-right left-right`, right edge exclusive. A block below \
         `ack` is a DSACK (RFC 2883). Empty if there are none.",
    ),
    some(
        "rwnd",
        "B",
        Get::Int(|r| int(r.seg()?.wnd.into())),
        "Receive window that the packet announces, scale applied.",
    ),
    some(
        "tsval",
        "",
        Get::Int(|r| stamp(r.seg()?, |s| s.tsval)),
        "Timestamp value (RFC 7323), where the option is carried.",
    ),
    some("tsecr", "", Get::Int(|r| stamp(r.seg()?, |s| s.tsecr)), "Timestamp echo reply, likewise."),
    some("wire", "B", Get::Small(wire), "Size on the wire with all headers, for `sent` and `delivered`."),
    some(
        "sends",
        "",
        Get::Small(sends),
        "For `sent` with sequence space: how often these data have now been sent; 1 is the first transmission, more a \
         retransmission.",
    ),
    some(
        "needless",
        "",
        Get::Bool(needless),
        "For retransmissions (`sends` > 1): true if an earlier copy of all its bytes was not lost, so that it arrived \
         or still will; false if it was needed. Decided by the fate of every copy, not by DSACKs.",
    ),
    some(
        "element",
        "",
        Get::Small(|r| dropped(r).and_then(|d| small(d.0))),
        "For `dropped`: the element that dropped it, numbered in the scenario's order.",
    ),
    some(
        "nth",
        "",
        Get::Int(|r| dropped(r).and_then(|d| int(d.1))),
        "For `dropped`: the packet was this arrival at the element, counted from 0.",
    ),
    some(
        "why",
        "",
        Get::Word(&[DROPS, WHYS, CAUSES], why),
        "The reason. For `dropped`: `queue` (it was full), `loss` (a loss model), `early` (RED), `script`. For \
         `phase`: `suspected`, `lost`, `timeout`, `resolved` (it was reordering), `repaired`, `restarted`, `mistaken`. For `mistake`: what \
         had begun the episode, `fast` (a detector) or `rto`.",
    ),
    some(
        "by",
        "",
        Get::Word(&[SLOTS], by),
        "For `sent` and `window`: the part of the stack that asked for the segment or wrote the window.",
    ),
    some(
        "episode",
        "",
        Get::Int(episode),
        "The newest congestion episode's number, from 1; 0 before the first. For `inflation`, `mistake` and `timeout` \
         the episode that it belongs to.",
    ),
    some(
        "cwnd",
        "B",
        Get::Real(|r| window(r).map(|w| w.1.cwnd)),
        "For `window`: the congestion window after the change. Real-valued; senders floor it where it gates.",
    ),
    some(
        "ssthresh",
        "B",
        Get::Real(|r| window(r).map(|w| w.1.ssthresh)),
        "For `window`: the slow start threshold after the change. `inf` in CSV if there is none yet.",
    ),
    some(
        "cwnd_from",
        "B",
        Get::Real(|r| window(r).map(|w| w.0.cwnd)),
        "For `window`: the congestion window before it.",
    ),
    some(
        "ssthresh_from",
        "B",
        Get::Real(|r| window(r).map(|w| w.0.ssthresh)),
        "For `window`: the slow start threshold before it.",
    ),
    some(
        "inflation",
        "B",
        Get::Real(inflation),
        "For `inflation`: what a Reno-style recovery now adds to `cwnd` when it sends. Not part of `cwnd`.",
    ),
    some("phase_from", "", Get::Word(&[PHASES], |r| phases(r).map(|p| p.0)), "For `phase`: the phase left."),
    some("phase_to", "", Get::Word(&[PHASES], |r| phases(r).map(|p| p.1)), "For `phase`: the phase entered."),
    some(
        "newly_delivered",
        "B",
        Get::Int(|r| acked(r).and_then(|a| int(a.0))),
        "For `acked`: bytes that the ACK newly reports as delivered, cumulatively or by SACK.",
    ),
    some(
        "dup_run",
        "",
        Get::Small(|r| acked(r).and_then(|a| small(a.1))),
        "For `acked`: duplicate ACKs in a row, this one included; on an advancing ACK the length of the run that it \
         ended.",
    ),
    some(
        "pipe",
        "B",
        Get::Int(|r| acked(r).and_then(|a| int(a.2))),
        "For `acked`: bytes that the sender holds to be in the network after it (RFC 6675's `pipe`).",
    ),
    some("undone", "", Get::Bool(undone), "For `mistake`: whether the `undo` slot gave something back."),
    some("backoff", "", Get::Small(backoff), "For `timeout`: how often the timer had backed off before."),
    some(
        "link",
        "",
        Get::Small(|r| queue(r).and_then(|q| small(q.0))),
        "For `queue`: the directed link, twice the link's position in the scenario, and one more for the way back; after these the paths of splits.",
    ),
    some(
        "queue_packets",
        "packets",
        Get::Small(|r| queue(r).and_then(|q| small(q.1))),
        "For `queue`: packets then waiting and in service there, the newcomer included.",
    ),
    some("queue_bytes", "B", Get::Int(|r| queue(r).and_then(|q| int(q.2))), "For `queue`: their bytes on the wire."),
    some(
        "dupthresh",
        "segments",
        Get::Small(dupthresh),
        "For `threshold`: the duplicate ACKs, or SACKed segments, that from here on mean a loss.",
    ),
];

const fn always(name: &'static str, unit: &'static str, get: Get, meaning: &'static str) -> Column {
    Column { name, unit, nullable: false, meaning, get }
}

const fn some(name: &'static str, unit: &'static str, get: Get, meaning: &'static str) -> Column {
    Column { name, unit, nullable: true, meaning, get }
}

/// Times and offsets lie below 2⁶³; what does not is no number of a run.
fn int(v: u64) -> Option<i64> {
    i64::try_from(v).ok()
}

fn small(v: u32) -> Option<i32> {
    i32::try_from(v).ok()
}

fn seq(r: &Row) -> Option<i64> {
    match &r.what {
        What::Tcp(Event::Persist { at }) => int(at.0),
        _ => int(r.seg()?.seq.0),
    }
}

fn flags(r: &Row) -> Option<String> {
    const LETTERS: [(u8, char); 7] = [
        (Segment::SYN, 'S'),
        (Segment::ACK, 'A'),
        (Segment::FIN, 'F'),
        (Segment::RST, 'R'),
        (Segment::PSH, 'P'),
        (Segment::ECE, 'E'),
        (Segment::CWR, 'W'),
    ];
    let seg = r.seg()?;
    let marked = (seg.opts & Segment::CE != 0).then_some('C');
    let text: String = LETTERS.iter().filter(|l| seg.has(l.0)).map(|l| l.1).chain(marked).collect();
    (!text.is_empty()).then_some(text)
}

fn ack(r: &Row) -> Option<i64> {
    match &r.what {
        What::Tcp(Event::Acked { ack, .. }) => int(ack.0),
        _ => r.seg().filter(|s| s.has(Segment::ACK)).and_then(|s| int(s.ack.0)),
    }
}

fn sack(r: &Row) -> Option<String> {
    let seg = r.seg().filter(|s| s.blocks > 0)?;
    let mut text = String::new();
    for (left, right) in seg.sack_blocks() {
        let gap = if text.is_empty() { "" } else { " " };
        write!(text, "{gap}{left}-{right}").ok()?;
    }
    Some(text)
}

fn stamp(seg: &Segment, get: fn(&Segment) -> u32) -> Option<i64> {
    (seg.opts & Segment::TIMESTAMPS != 0).then(|| get(seg).into())
}

fn wire(r: &Row) -> Option<i32> {
    match r.what {
        What::Sent { wire, .. } | What::Delivered { wire, .. } => small(wire),
        What::Dropped { .. } | What::Queue { .. } | What::Tcp(_) => None,
    }
}

fn sends(r: &Row) -> Option<i32> {
    match r.what {
        What::Sent { sends, .. } if sends > 0 => Some(sends.into()),
        _ => None,
    }
}

fn needless(r: &Row) -> Option<bool> {
    match r.what {
        What::Sent { needless, .. } => needless,
        _ => None,
    }
}

fn dropped(r: &Row) -> Option<(u32, u64)> {
    match r.what {
        What::Dropped { element, nth, .. } => Some((element, nth)),
        _ => None,
    }
}

fn why(r: &Row) -> Option<&'static str> {
    match &r.what {
        What::Dropped { why, .. } => Some(words::drop(why)),
        What::Tcp(Event::Phase { why, .. }) => Some(words::why(why)),
        What::Tcp(Event::Mistake { cause, .. }) => Some(words::cause(cause)),
        _ => None,
    }
}

fn by(r: &Row) -> Option<&'static str> {
    match &r.what {
        What::Sent { by, .. } => by.as_ref().map(|b| words::slot(&b.0)),
        What::Tcp(Event::Window { by, .. }) => Some(words::slot(by)),
        _ => None,
    }
}

fn episode(r: &Row) -> Option<i64> {
    let n = match r.what {
        What::Sent { by, .. } => by?.1,
        What::Tcp(
            Event::Phase { episode, .. }
            | Event::Window { episode, .. }
            | Event::Inflation { episode, .. }
            | Event::Sent { episode, .. }
            | Event::Mistake { episode, .. }
            | Event::Timeout { episode, .. },
        ) => episode,
        _ => return None,
    };
    Some(n.into())
}

fn window(r: &Row) -> Option<(Window, Window)> {
    match r.what {
        What::Tcp(Event::Window { from, to, .. }) => Some((from, to)),
        _ => None,
    }
}

fn dupthresh(r: &Row) -> Option<i32> {
    match r.what {
        What::Tcp(Event::Threshold { dupthresh, .. }) => small(dupthresh),
        _ => None,
    }
}

fn inflation(r: &Row) -> Option<f64> {
    match r.what {
        What::Tcp(Event::Inflation { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

fn phases(r: &Row) -> Option<(&'static str, &'static str)> {
    match &r.what {
        What::Tcp(Event::Phase { from, to, .. }) => Some((words::phase(from), words::phase(to))),
        _ => None,
    }
}

fn acked(r: &Row) -> Option<(u64, u32, u64)> {
    match r.what {
        What::Tcp(Event::Acked { delivered, dup_run, pipe, .. }) => Some((delivered, dup_run, pipe)),
        _ => None,
    }
}

fn undone(r: &Row) -> Option<bool> {
    match r.what {
        What::Tcp(Event::Mistake { undone, .. }) => Some(undone),
        _ => None,
    }
}

fn backoff(r: &Row) -> Option<i32> {
    match r.what {
        What::Tcp(Event::Timeout { backoff, .. }) => small(backoff),
        _ => None,
    }
}

fn queue(r: &Row) -> Option<(u32, u32, u64)> {
    match r.what {
        What::Queue { link, packets, bytes } => Some((link, packets, bytes)),
        _ => None,
    }
}
