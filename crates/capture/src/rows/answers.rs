//! The answer first: what a capture says about its largest transfers and its failed connections, in sentences.

use super::connection::{connections, ConnectionRow};
use super::file::{counted, grouped};
use super::{flows, FlowRow, OneFile, S};
use crate::connection::opening::Opened;
use crate::place::Side;
use crate::seen::Way;
use ackclock_course::stall::cause::Cause;
use ackclock_course::stall::words::span;

/// The number of transfers with a sentence of their own.
const TRANSFERS: usize = 3;
/// From this number of ACKs on it is no accident.
const DEVICE: u64 = 3;
/// From this share of the duration on, a cause is the answer.
const MUCH: f64 = 0.2;

/// The sentences, the most important first.
pub fn answers(files: &[OneFile]) -> Vec<String> {
    let mut largest: Vec<_> = flows(files).filter(FlowRow::is_main).collect();
    largest.sort_by_key(|f| std::cmp::Reverse(f.record().bytes));
    let transfers = largest.iter().filter(|f| f.record().duration > 0).take(TRANSFERS).map(transfer);
    failures(files).into_iter().chain(transfers).collect()
}

/// Connections that were never opened.
fn failures(files: &[OneFile]) -> Option<String> {
    let all: Vec<_> = connections(files).map(|c| c.opened()).collect();
    let of = |opened: Opened| all.iter().filter(|one| **one == opened).count() as u64;
    let failed = [
        (of(Opened::Refused), "refused"),
        (of(Opened::Unanswered), "not answered"),
        (of(Opened::Answered), "answered but never opened"),
    ];
    let was = |n: u64| if n == 1 { "was" } else { "were" };
    let parts = failed.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {} {what}", grouped(*n), was(*n)));
    let list = parts.collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| format!("Of {}, {list}.", counted(all.len() as u64, "connection")))
}

/// One transfer: its size, its duration, and what most of its time went into.
fn transfer(f: &FlowRow<'_>) -> String {
    let duration = f.record().duration as f64 / S;
    let begin = format!("{}: {} in {}.", f.name(), bytes(f.record().bytes), span(duration));
    [Some(begin), Some(reason(f, duration)), outside(f), answered(f, duration), ending(f)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// SACK blocks that a device on the path made useless.
fn outside(f: &FlowRow<'_>) -> Option<String> {
    let outside = f.record().sacks_outside;
    (outside >= DEVICE).then(|| {
        let acks = counted(outside, "ACK");
        format!(
            "{acks} have SACK blocks far from all of its data, as where a device on the path changes sequence numbers and not the \
             blocks: its sender cannot use them."
        )
    })
}

/// How long its requests waited, if that is longer than the answers took.
fn answered(f: &FlowRow<'_>, duration: f64) -> Option<String> {
    let connection = ConnectionRow { file: f.file, connection: f.connection };
    let exchanges = connection.exchanges();
    let waited = exchanges.first_byte as f64 / S;
    if f.way == Way::Out || waited < duration || exchanges.client as f64 / S > waited {
        return None;
    }
    let parts = connection.server().map_or_else(String::new, |server| {
        let server = server as f64 / S;
        format!(": {} for the network, {} for the server", span(waited - server), span(server))
    });
    Some(format!("Its {} waited {} for the first byte{parts}.", counted(exchanges.count, "request"), span(waited)))
}

/// The stall at its end, if there is one.
fn ending(f: &FlowRow<'_>) -> Option<String> {
    let last = f.course().stalls.kept.iter().find(|s| s.facts.at_end)?;
    Some(format!("Then nothing followed for {}. {}", span(last.facts.length() as f64 / S), last.words()))
}

fn bytes(n: u64) -> String {
    match n {
        0..10_000 => format!("{} bytes", grouped(n)),
        10_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

/// The causes that have one answer, with the sentence about them.
const GROUPS: [(&[Cause], &str); 9] = [
    (&[Cause::Timeout, Cause::TailLoss, Cause::FastRetransmit, Cause::LossProbe], "retransmissions"),
    (&[Cause::ReceiverWindow], "waiting for room in the receiver's window"),
    (&[Cause::ApplicationIdle], "waiting for an application"),
    (&[Cause::Nagle], "small segments that waited for ACKs (Nagle)"),
    (&[Cause::MtuHole], "full segments that never arrived: the path seems to drop large packets"),
    (&[Cause::PeerGone], "waiting for a peer that sent nothing more"),
    (&[Cause::SenderHost], "waiting for the sending host"),
    (&[Cause::CongestionWindow, Cause::Network], "waiting for ACKs: the window grew, or filled the path"),
    (&[Cause::Unknown, Cause::CaptureLoss], "waits that the capture does not explain"),
];

fn reason(f: &FlowRow<'_>, duration: f64) -> String {
    let waits = f.course().stalls.waits;
    let of = |causes: &[Cause]| causes.iter().map(|c| waits[*c as usize]).sum::<i64>() as f64 / S;
    let largest = GROUPS.iter().map(|(causes, words)| (of(causes), *causes, *words));
    let Some((time, causes, words)) = largest.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|l| l.0 >= MUCH * duration)
    else {
        return repairs(f).unwrap_or_else(|| "No wait stands out.".to_owned());
    };
    let of_it = format!("{} of them went into", span(time));
    match causes[0] {
        Cause::Timeout => {
            let about = repairs(f).map_or_else(String::new, |repairs| format!(" {repairs}"));
            format!("{of_it} {words}.{about}")
        }
        Cause::ApplicationIdle => idle(f, &of_it),
        _ => format!("{of_it} {words}."),
    }
}

/// Whose application it was, if the capture shows it.
fn idle(f: &FlowRow<'_>, of_it: &str) -> String {
    let connection = ConnectionRow { file: f.file, connection: f.connection };
    let exchanges = connection.exchanges();
    let (server, client) = (connection.server().unwrap_or(0), exchanges.client);
    let (who, time) = if server > client { ("server", server) } else { ("client", client) };
    if time * 2 >= f.course().stalls.waits[Cause::ApplicationIdle as usize] {
        let times = counted(exchanges.count, "exchange");
        return format!("{of_it} waiting for applications, {} for the {who} in {times}.", span(time as f64 / S));
    }
    let end = if f.way == Way::Out { "client" } else { "server" };
    match f.connection.record.place.side(f.way) {
        Side::Sender | Side::Middle => format!("{of_it} waiting for the application of the {end}."),
        Side::Receiver => format!("{of_it} waiting for the {end}, from which nothing arrived."),
    }
}

/// What the retransmissions were for; `None` without any.
fn repairs(f: &FlowRow<'_>) -> Option<String> {
    let counts = f.record().retransmissions;
    let wasted = counts.needless + counts.refused;
    let order = f.course().reordering.as_ref().filter(|r| r.order.ratio() > 0.0);
    let all = grouped(counts.total);
    let of_all = |n: u64| match (n, counts.total) {
        (1, 1) => "Its one retransmission".to_owned(),
        (n, total) if n == total => format!("All its {all} retransmissions"),
        (n, _) => format!("{} of its {all} retransmissions", grouped(n)),
    };
    Some(match (counts.total, order) {
        (0, _) => return None,
        (total, Some(r)) if wasted * 2 > total => {
            let places = r.order.late().extents.keys().next_back().copied().unwrap_or(1);
            format!(
                "{} repaired no loss: packets overtake each other ({:.1} %, up to {}), and the sender takes them for lost.",
                of_all(wasted),
                r.order.ratio() * 1e2,
                counted(places, "place")
            )
        }
        (total, _) if wasted * 2 > total => format!("{} repaired no loss.", of_all(wasted)),
        (total, _) if counts.needed * 2 >= total => {
            let of = f.record().segments.max(1) as f64;
            let share = counts.needed as f64 / of * 1e2;
            format!("{} repaired a loss ({share:.2} % of its segments).", of_all(counts.needed))
        }
        (1, _) => "The capture does not show whether its one retransmission was needed.".to_owned(),
        _ => format!("The capture does not show whether its {all} retransmissions were needed."),
    })
}
