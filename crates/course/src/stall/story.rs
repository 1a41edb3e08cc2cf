//! The facts of a pause in words.

use super::facts::{Copy, Facts, Timeout};
use super::words::{at, count, duplicates, probed, segments, span, timer_fired, NOTHING_AFTER, NOTHING_NEW};
use super::{Cause, Sentence};
use crate::tables::Fate;
use ackclock_tcp::event::{Phase, Slot};

/// One line for a list.
pub(super) fn title(f: &Facts) -> String {
    format!("{} without an ACK of new data: {}", span(f.pause.length()), short(f))
}

fn short(f: &Facts) -> String {
    let segment = format!("segment {}", f.segment);
    match f.cause() {
        Cause::LostRetransmission => format!("{segment} and its retransmission were lost"),
        Cause::Timeout | Cause::TailLoss => format!("{segment} was lost, and the timer had to send it again"),
        Cause::LossProbe if repairs(f) => format!("{segment} was lost, and a tail loss probe sent it again"),
        Cause::LossProbe => format!("{segment} was lost, and a tail loss probe had to reveal that"),
        Cause::Loss if f.copies.len() > 1 => format!("{segment} was lost and sent again"),
        Cause::Loss => format!("{segment} was lost"),
        Cause::Refusal => format!("{segment} arrived, and the receiver refused it"),
        Cause::LostAcks => format!("{segment} arrived, but its ACKs were lost"),
        Cause::NeedlessTimeout => format!("{segment} was late, not lost: a needless timeout"),
        // A run shows the others only as one of these: in a pause, data is outstanding.
        Cause::Delay
        | Cause::ReceiverWindow
        | Cause::CongestionWindow
        | Cause::ApplicationIdle
        | Cause::SenderHost
        | Cause::Nagle
        | Cause::FastRetransmit
        | Cause::Recovery
        | Cause::ReducedWindow
        | Cause::Policer
        | Cause::Outage
        | Cause::Network
        | Cause::PeerGone
        | Cause::MtuHole
        | Cause::Unknown
        | Cause::CaptureLoss => format!("{segment} was late, not lost"),
    }
}

/// Whether a probe was a copy of the awaited segment.
fn repairs(f: &Facts) -> bool {
    f.probes.iter().any(|p| f.copies.iter().any(|c| c.row == p.row))
}

/// The sentences in the order of events.
pub(super) fn story(f: &Facts) -> Vec<Sentence> {
    let parts = [what_happened, how_it_began, why_no_fast_retransmit, probes, recovery, timeouts, ending];
    let mut all: Vec<Sentence> = parts.iter().flat_map(|part| part(f)).collect();
    all.sort_by(|a, b| a.at.total_cmp(&b.at));
    all
}

fn say(at: f64, text: String, copies: &[&Copy]) -> Sentence {
    Sentence { at, text, rows: copies.iter().map(|c| c.row).collect() }
}

fn what_happened(f: &Facts) -> Vec<Sentence> {
    let Some(first) = f.copies.first() else { return Vec::new() };
    let segment = format!("Segment {}", f.segment);
    if first.is(Fate::Dropped) {
        let others = match f.lost {
            0 | 1 => String::new(),
            lost => format!(
                " It was one of {lost} lost among the {} segments outstanding when the pause began.",
                f.outstanding
            ),
        };
        return vec![say(first.fate_time, format!("{segment} was dropped by {}.{others}", first.place), &[first])];
    }
    if first.is(Fate::UnderWay) {
        let text = format!("{segment} was sent; it was still on its way when the run ended.");
        return vec![say(first.time, text, &[first])];
    }
    let mut all = vec![say(first.time, format!("{segment} was sent. {}", journey(f, first)), &[first])];
    all.extend(way_back(f, first));
    all
}

/// The fate of a segment that was not lost.
fn journey(f: &Facts, first: &Copy) -> String {
    let took = first.fate_time - first.time;
    let before = match f.overtaken {
        0 => String::new(),
        n => format!("; {} sent later arrived before it", count(n, "packet")),
    };
    let usual = match f.transit.data {
        usual if took > 1.5 * usual => {
            format!(", while the shortest one-way time of a packet is {}", span(usual))
        }
        _ => String::new(),
    };
    let end = if first.is(Fate::Refused) { ". The receiver did not have it, and threw it away" } else { "" };
    format!("It was not lost: it arrived after {}{usual}{before}{end}.", span(took))
}

/// The reason why its ACK did not reach the sender.
fn way_back(f: &Facts, first: &Copy) -> Vec<Sentence> {
    let mut all = Vec::new();
    if f.lost_acks > 0 {
        let were = if f.lost_acks == 1 { "was" } else { "were" };
        let text = format!("{} that would have said so {were} dropped.", count(f.lost_acks, "ACK"));
        all.push(say(first.fate_time, text, &[]));
    }
    // An ACK caused by another copy is no evidence for this copy.
    let Some(acked) = f.acked.filter(|acked| *acked >= first.fate_time) else { return all };
    if f.copies[1..].iter().any(|c| c.fate_time == acked) {
        return all;
    }
    let (waited, back) = (acked - first.fate_time, f.pause.to - acked);
    let part = f.pause.length() / 5.0;
    if waited > part && f.lost_acks == 0 {
        all.push(say(acked, format!("The receiver acknowledged it only after {}.", span(waited)), &[]));
    }
    if back > part && back > 1.5 * f.transit.ack {
        let usual = span(f.transit.ack);
        let text = format!("Its ACK was sent, and took {}, while the shortest way back takes {usual}.", span(back));
        all.push(say(acked, text, &[]));
    }
    all
}

/// The sender's phase at the start of the pause, if it explains something.
fn how_it_began(f: &Facts) -> Vec<Sentence> {
    let from = f.pause.from;
    let resent: Vec<&Copy> = f.copies.iter().filter(|c| c.sends > 1 && c.time <= from).collect();
    let lost = f.copies.first().is_some_and(|c| c.is(Fate::Dropped));
    let again = resent.iter().filter(|c| c.is(Fate::Dropped)).map(|c| {
        let text = format!("Its retransmission of {} was dropped by {}.", at(c.time), c.place);
        say(c.fate_time, text, &[c])
    });
    let mut all: Vec<Sentence> = again.collect();
    if f.phase_before == Phase::Recovery && f.phase == Phase::Open && f.lost > 0 {
        let missing = match f.lost {
            1 => "a segment sent earlier was".to_owned(),
            lost => format!("{lost} segments sent earlier were"),
        };
        all.push(say(from, format!("An ACK ended fast recovery, though {missing} still missing."), &[]));
    } else if f.phase == Phase::Recovery && resent.is_empty() && lost {
        let text = format!("Fast recovery was under way, and segment {} had not been sent again yet.", f.segment);
        all.push(say(from, text, &[]));
    } else if f.phase == Phase::Loss && lost && resent.is_empty() {
        all.push(say(from, "The sender was still repairing the losses of an earlier timeout.".to_owned(), &[]));
    }
    all
}

/// The duplicates that arrived, and why they did not trigger a fast retransmit.
fn why_no_fast_retransmit(f: &Facts) -> Vec<Sentence> {
    let (None, Some(timeout)) = (f.recovery, f.timeouts.first()) else { return Vec::new() };
    let was_there = |c: &Copy| c.is(Fate::Delivered) && c.fate_time < timeout.time;
    if f.duplicates == 0 && f.copies.first().is_some_and(was_there) {
        return Vec::new();
    }
    let Some(threshold) = f.dupthresh else {
        let text = "This sender judges by time: it does not count duplicate ACKs.".to_owned();
        return vec![say(f.pause.from, text, &[])];
    };
    let arrived = duplicates(f.duplicates);
    if f.duplicates as f64 >= threshold {
        let why = match f.phase {
            Phase::Recovery => "the sender was already in recovery",
            Phase::Loss => "the sender was already in loss",
            Phase::Open | Phase::Disorder => {
                "data sent before an earlier recovery or timeout starts no further fast retransmit"
            }
        };
        return vec![say(f.last_duplicate, format!("{arrived}, with a threshold of {threshold}; but {why}."), &[])];
    }
    let text = format!("{arrived}, but a fast retransmit needs {threshold}: {}.", scarcity(f));
    vec![say(f.last_duplicate, text, &[])]
}

/// Why there were so few.
fn scarcity(f: &Facts) -> String {
    let arrived = match f.behind {
        0 => NOTHING_AFTER.to_owned(),
        n => format!("only {} sent after it arrived", count(n, "packet")),
    };
    if f.fresh == 0 {
        return format!("{arrived}, and {}", gate(f));
    }
    let were = if f.fresh == 1 { "was" } else { "were" };
    let limited = match f.limited {
        0 => String::new(),
        n => format!(", {n} of them by limited transmit"),
    };
    format!("{arrived}, and {} {were} sent{limited}", count(f.fresh, "new segment"))
}

/// The reason why no new data was sent.
fn gate(f: &Facts) -> String {
    let usable = f.cwnd.map(|cwnd| cwnd + f.inflation);
    if let Some(rwnd) = f.rwnd.filter(|rwnd| f.flight + 1.0 > *rwnd && usable.is_none_or(|usable| *rwnd <= usable)) {
        return format!("the receiver's window of {} was used up", segments(rwnd));
    }
    if let Some(usable) = usable.filter(|usable| f.flight + 1.0 > *usable) {
        let inflated = if f.inflation > 0.0 { ", inflation included," } else { "" };
        let (window, flight) = (segments(usable), segments(f.flight));
        return format!("the window of {window}{inflated} allowed no new data with {flight} outstanding");
    }
    match (f.cwnd, f.pipe) {
        (Some(cwnd), Some(pipe)) if pipe + 1.0 > cwnd => {
            let (pipe, cwnd) = (segments(pipe), segments(cwnd));
            format!("the sender assumed {pipe} to be in the network, with a window of {cwnd}")
        }
        _ => NOTHING_NEW.to_owned(),
    }
}

/// The event at the beginning of the pause.
fn began(f: &Facts) -> &'static str {
    if f.pause.after_ack {
        "the last ACK of new data"
    } else {
        "the first transmission of outstanding data"
    }
}

fn probes(f: &Facts) -> Vec<Sentence> {
    let one = |(i, p): (usize, &super::facts::Probe)| {
        let (since, what) = match i {
            0 => (f.pause.from, began(f)),
            _ => (f.probes[i - 1].time, "the one before"),
        };
        let copy = f.copies.iter().find(|c| c.row == p.row);
        let content = match p.segment {
            Some(segment) => format!("segment {segment} was sent again{}", copy.map_or(String::new(), ends)),
            None => "it carried new data".to_owned(),
        };
        // What its ACK revealed is told by the recovery that follows, or by the end.
        let reveals = match f.recovery {
            Some(at) if at > p.time && f.probes.len() == i + 1 && copy.is_none() => ", and its ACK revealed the loss",
            _ => "",
        };
        let text = format!("{}{reveals}.", probed(p.time - since, what, &content));
        Sentence { at: p.time, text, rows: vec![p.row] }
    };
    f.probes.iter().enumerate().map(one).collect()
}

fn recovery(f: &Facts) -> Vec<Sentence> {
    let Some(entered) = f.recovery else { return Vec::new() };
    let why = match f.dupthresh {
        None => "Fast recovery began, by time and not by duplicate ACKs".to_owned(),
        Some(threshold) => {
            let arrived = count(f.duplicates, "duplicate ACK");
            if f.duplicates as f64 >= threshold {
                format!("{arrived} began fast recovery (threshold {threshold})")
            } else {
                // SACK blocks or the time of sending revealed the loss (RFC 6675 §4, RFC 8985 §6.2).
                format!("Fast recovery began after {arrived}, below the threshold of {threshold}")
            }
        }
    };
    let copy = f.copies.iter().find(|c| c.sends > 1 && c.time >= entered && c.by != Slot::Timeout as u8);
    let resent = copy.map_or(String::new(), |c| format!(": {}", sent_again(f, c, entered)));
    vec![say(entered, format!("{why}{resent}."), copy.as_slice())]
}

/// That a copy was sent, and its fate; `since` is the moment that the sentence names.
fn sent_again(f: &Facts, copy: &Copy, since: f64) -> String {
    let when = if copy.time > since { format!(" at {}", at(copy.time)) } else { String::new() };
    format!("segment {} was sent again{when}{}", f.segment, ends(copy))
}

/// The fate of a retransmission.
fn ends(copy: &Copy) -> String {
    if copy.is(Fate::Dropped) {
        format!(" and dropped by {}", copy.place)
    } else if copy.is(Fate::Refused) {
        format!(", arrived at {}, and was refused by the receiver", at(copy.fate_time))
    } else if copy.is(Fate::Delivered) {
        format!(", and arrived at {}{}", at(copy.fate_time), if copy.needless { ", needlessly" } else { "" })
    } else {
        String::new()
    }
}

fn timeouts(f: &Facts) -> Vec<Sentence> {
    let one = |(i, t): (usize, &Timeout)| {
        let (since, what) = match i {
            0 => (f.pause.from, began(f)),
            _ => (f.timeouts[i - 1].time, "the one before"),
        };
        let backed = match t.backoff {
            1.0 => ", backed off once".to_owned(),
            n if n > 1.0 => format!(", backed off {n} times"),
            _ => String::new(),
        };
        let set = t.rto.map_or(String::new(), |rto| format!(" (RTO {}{backed}{})", span(rto), origin(t, rto, since)));
        let next = f.timeouts.get(i + 1).map_or(f.pause.to, |t| t.time);
        let copy = f.copies.iter().find(|c| c.time >= t.time && c.time < next && c.sends > 1);
        let resent = copy.map_or(String::new(), |c| format!(" {}.", capital(&sent_again(f, c, t.time))));
        say(t.time, format!("{}{set}.{resent}", timer_fired(t.time - since, what)), copy.as_slice())
    };
    f.timeouts.iter().enumerate().map(one).collect()
}

/// The start of the timer, if it is not the obvious start.
fn origin(t: &Timeout, rto: f64, since: f64) -> String {
    if (t.time - since - rto).abs() < 1e-6 {
        return String::new();
    }
    // A timer fires at a time other than the one set only if its clock has ticks.
    t.set_by.map_or(", in ticks of a coarse clock".to_owned(), |set| format!(", set at {}", at(set)))
}

fn ending(f: &Facts) -> Vec<Sentence> {
    let wasted = if f.needless > 0 { format!(", {} of them needlessly", f.needless) } else { String::new() };
    let again = match f.again {
        0 | 1 => String::new(),
        n => format!(" Meanwhile {n} packets had been sent again{wasted}."),
    };
    let end = match f.pause.ended {
        None => "The run ended before an ACK of new data arrived.".to_owned(),
        Some(_) => {
            let more = if f.covered >= 2.0 { ": the data sent after it had already arrived" } else { "" };
            format!("An ACK covered {}{more}.", segments(f.covered))
        }
    };
    let mut all = vec![say(f.pause.to, format!("{end}{again}"), &[])];
    if let Some((time, undone)) = f.mistake {
        let undone = if undone { "and the window was restored" } else { "but nothing was restored" };
        all.push(say(time, format!("The sender found that this was a mistake, {undone}."), &[]));
    }
    all
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
