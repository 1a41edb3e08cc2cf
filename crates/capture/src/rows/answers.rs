//! The answer first: what a capture says about its largest transfers and its failed connections, in sentences.

use super::connection::{connections, ConnectionRow};
use super::file::{counted, grouped};
use super::parts::whole;
use super::{flows, FlowRow, OneFile, S};
use crate::connection::opening::Opened;
use crate::place::Side;
use crate::seen::Way;
use ackclock_course::stall::cause::Cause;
use ackclock_course::stall::words::span;
use std::collections::{BTreeMap, BTreeSet};

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
    told(files, connections(files), largest.iter())
}

/// The sentences about chosen connections, given by their file and number, and chosen transfers in their order.
pub fn answers_about(files: &[OneFile], chosen: &[(String, u64)], transfers: &[(String, u64)]) -> Vec<String> {
    let chosen: BTreeSet<_> = chosen.iter().map(|(file, number)| (file.as_str(), *number)).collect();
    let main: BTreeMap<_, _> =
        flows(files).filter(FlowRow::is_main).map(|f| ((&*f.file.name, f.connection.number), f)).collect();
    let kept = connections(files).filter(|c| chosen.contains(&(&*c.file.name, c.connection.number)));
    told(files, kept, transfers.iter().filter_map(|(file, number)| main.get(&(file.as_str(), *number))))
}

/// The sentences; of several files, each transfer begins with the name of its file.
fn told<'a>(
    files: &[OneFile],
    connections: impl Iterator<Item = ConnectionRow<'a>>,
    transfers: impl Iterator<Item = &'a FlowRow<'a>>,
) -> Vec<String> {
    let about = |f: &FlowRow<'_>| {
        let answer = f.answer()?;
        Some(if whole(files).count() == 1 { answer } else { format!("{}: {answer}", f.file.short_name()) })
    };
    failures(connections).into_iter().chain(transfers.filter_map(about).take(TRANSFERS)).collect()
}

impl FlowRow<'_> {
    /// Its size, its duration, and what most of its time went into; `None` without a duration.
    pub fn answer(&self) -> Option<String> {
        (self.record().duration > 0).then(|| transfer(self))
    }
}

/// Connections that were never opened.
fn failures<'a>(connections: impl Iterator<Item = ConnectionRow<'a>>) -> Option<String> {
    let all: Vec<_> = connections.map(|c| c.opened()).collect();
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

/// Causes that have one answer.
struct Group {
    /// Its name in tables.
    name: &'static str,
    causes: &'static [Cause],
    /// The sentence about it.
    words: &'static str,
}

const LOSS: &[Cause] =
    &[Cause::Timeout, Cause::TailLoss, Cause::FastRetransmit, Cause::LossProbe, Cause::Recovery, Cause::ReducedWindow];

/// Those of them without a timer.
const FAST: &[Cause] = &[Cause::FastRetransmit, Cause::Recovery, Cause::ReducedWindow];

const GROUPS: [Group; 13] = {
    const fn group(name: &'static str, causes: &'static [Cause], words: &'static str) -> Group {
        Group { name, causes, words }
    }
    [
        group("loss recovery", LOSS, "retransmissions, and the smaller window that followed them"),
        group("policer", &[Cause::Policer], "losses of a policer, which drops what exceeds its rate"),
        group("outage", &[Cause::Outage], "silence of the network, in which nothing came back"),
        group("receiver window", &[Cause::ReceiverWindow], "waiting for room in the receiver's window"),
        group("application idle", &[Cause::ApplicationIdle], "waiting for an application"),
        group("Nagle", &[Cause::Nagle], "small segments that waited for ACKs (Nagle)"),
        group("MTU hole", &[Cause::MtuHole], "full segments that never arrived: the path seems to drop large packets"),
        group("peer gone", &[Cause::PeerGone], "waiting for a peer that sent nothing more"),
        group("sender host", &[Cause::SenderHost], "waiting for the sending host"),
        group("congestion window", &[Cause::CongestionWindow], WINDOW),
        group("network", &[Cause::Network], WINDOW),
        group("capture loss", &[Cause::CaptureLoss], "waits in which the capture missed segments"),
        group("unknown", &[Cause::Unknown], "waits that the capture does not explain"),
    ]
};
const WINDOW: &str = "waiting for ACKs: the window grew, or filled the path";

/// The group with the most time, and that time in nanoseconds.
fn largest(time: impl Fn(Cause) -> i64) -> (i64, &'static Group) {
    let all = GROUPS.iter().map(|group| (group.causes.iter().map(|c| time(*c)).sum::<i64>(), group));
    all.max_by_key(|(time, _)| *time).unwrap_or((0, &GROUPS[0]))
}

/// What most of a flow's time went into, waits after its last ACK included, and its share; `None` without time.
pub(super) fn main_cause(f: &FlowRow<'_>) -> Option<(&'static str, f64)> {
    let found = &f.course().stalls;
    let (time, group) = largest(|c| found.waits[c as usize] + found.after[c as usize]);
    let all = f.record().duration + found.after.iter().sum::<i64>();
    let name = match group.causes {
        _ if found.sending >= time => "sending",
        causes if causes == LOSS && is_reordered(f) => "reordering",
        _ => group.name,
    };
    let most = time.max(found.sending);
    (all > 0).then(|| (name, most as f64 / all as f64))
}

/// Whether most retransmissions of a flow were needless, and followed duplicate ACKs: packets were overtaken, not lost.
fn is_reordered(f: &FlowRow<'_>) -> bool {
    let (counts, waits) = (f.record().retransmissions, f.course().stalls.waits);
    let of = |causes: &[Cause]| causes.iter().map(|c| waits[*c as usize]).sum::<i64>();
    (counts.needless + counts.refused) * 2 > counts.total && of(FAST) * 2 > of(LOSS)
}

fn reason(f: &FlowRow<'_>, duration: f64) -> String {
    let waits = f.course().stalls.waits;
    let (time, Group { causes, words, .. }) = largest(|c| waits[c as usize]);
    let time = time as f64 / S;
    if time < MUCH * duration {
        return repairs(f).unwrap_or_else(|| "No wait stands out.".to_owned());
    }
    let of_it = format!("{} of them went into", span(time));
    match causes[0] {
        Cause::Timeout => {
            let about = repairs(f).map_or_else(String::new, |repairs| format!(" {repairs}"));
            format!("{of_it} {words}.{about}")
        }
        Cause::ApplicationIdle => idle(f, &of_it),
        Cause::Policer => match f.course().stalls.policer {
            Some(p) => format!("{of_it} {words}: {:.0} kB/s, after {}.", p.rate / 1e3, bytes(p.burst)),
            None => format!("{of_it} {words}."),
        },
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
        return format!("{of_it} waiting for the {who}.");
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
