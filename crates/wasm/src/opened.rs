//! A trace in CSV as the run that wrote it: its records are played to the listener that draws a run.

use crate::border::{Border, Pieces};
use crate::picture;
use ackclock_course::places::Places;
use ackclock_course::record::Recording;
use ackclock_sim::watch::{Dropped, Side, Watch};
use ackclock_tcp::event::Event;
use ackclock_tcp::seq::Offset;
use ackclock_trace::read::read_csv;
use ackclock_trace::{Row, What};
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;

/// The highest number of a flow.
const LAST_FLOW: u32 = 65_535;
/// The highest number of a link. Each flow of a dumbbell has two at each end, and the paths of splits have numbers, too.
const LAST_LINK: u32 = 524_287;

/// The file that comes with a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Opened {
    /// Its size in bytes.
    size: f64,
}

impl Opened {
    /// The flows that the trace has, each with its number, and the queues. A trace names no links and has no timers.
    pub(crate) fn run(&self, border: &mut dyn Border) -> Result<String, String> {
        let (mut recording, mut positions, mut last) = (Recording::new(0), HashMap::new(), 0.0);
        let text = Pieces::of(border, self.size);
        let read = read_csv(text, |mut row| {
            last = row.at.as_secs_f64();
            if let What::Queue { link, .. } = row.what {
                bounded("link", link, LAST_LINK)?;
            }
            if let Some((flow, _)) = &mut row.end {
                bounded("flow", *flow, LAST_FLOW)?;
                // A file may hold a part of a run's flows.
                let next = positions.len() as u32;
                *flow = *positions.entry(*flow).or_insert(next);
                recording.widen_flows(positions.len());
            }
            play(&row, &mut recording);
            Ok(())
        });
        read.map_err(|e| e.to_string())?;
        let (flows, queues) = picture::columns(recording.finish(), &Places::default(), last, border);
        let mut numbers: Vec<(u32, u32)> = positions.into_iter().map(|(number, position)| (position, number)).collect();
        numbers.sort_unstable();
        let numbers: Vec<u32> = numbers.into_iter().map(|(_, number)| number).collect();
        Ok(json!({ "durationS": last, "numbers": numbers, "flows": flows, "queues": queues }).to_string())
    }
}

/// Refuses a number that a run does not have: a place is kept for each smaller one.
fn bounded(column: &str, number: u32, last: u32) -> Result<(), String> {
    if number > last {
        Err(format!("{column} is \"{number}\", allowed: 0 to {last}"))
    } else {
        Ok(())
    }
}

/// Passes a record to the listener.
fn play(row: &Row, to: &mut Recording) {
    let Row { at, end, packet, what } = row;
    if let What::Queue { link, packets, bytes } = what {
        return to.queue(*at, *link, *packets, *bytes);
    }
    let Some((flow, side)) = *end else { return };
    match what {
        What::Sent { seg, wire, sends, verdict, by } => {
            if let Some((by, episode)) = *by {
                let (start, len) = (seg.seq, seg.seq_len() as u32);
                to.tcp(*at, flow, side, Event::Sent { start, len, episode, sends: *sends, by });
            }
            to.sent(*at, flow, side, seg, *wire, *sends);
            if side == Side::Sender && seg.len > 0 && *sends > 1 {
                to.judged(flow, *verdict);
            }
        }
        What::Delivered { seg, wire } => {
            if let Some(number) = packet {
                to.arrived(*at, flow, side, *number, seg);
            }
            to.delivered(*at, flow, side, seg, *wire, 0);
        }
        What::Dropped { seg, element, nth, why } => {
            if let Some(number) = packet {
                to.lost(flow, side, *number);
                let (at, element, nth, why) = (*at, *element, *nth, *why);
                to.dropped(Dropped { at, flow, to: side, element, nth, why, seg, sends: 0 });
            }
        }
        What::Refused { seg, sends, why, missing } => {
            // Where the missing bytes are decides only verdicts, which a trace has.
            let part = [(seg.seq, seg.seq + u64::from(*missing))];
            let missing: &[(Offset, Offset)] = if *missing > 0 && seg.len > 0 { &part } else { &[] };
            to.refused(*at, flow, side, *why, seg, *sends, missing);
        }
        What::Tcp(e) => to.tcp(*at, flow, side, *e),
        What::Queue { .. } => {}
    }
}
