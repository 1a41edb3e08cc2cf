//! Pauses of a sender: the longest intervals between two ACKs of new data, with data outstanding.

use crate::flow::Course;
use crate::tables::Fate;
use std::collections::HashSet;

/// Shortest pause that is reported, in the flow's shortest round-trip times.
const LONG: f64 = 2.0;

/// From one ACK of new data to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pause {
    /// Time of the ACK before it, seconds; if none came since the flow began or was idle, of the first transmission then.
    pub from: f64,
    /// Whether that is the time of an ACK.
    pub after_ack: bool,
    /// Time of the ACK that ends it, or of the end of the run.
    pub to: f64,
    /// When the ACK before it was sent: arrivals at the receiver from then on explain the pause.
    pub since: f64,
    /// The first unacknowledged offset during the pause.
    pub una: f64,
    /// Row in `acks` of the ACK that ends it; `None` at the end of the run.
    pub ended: Option<usize>,
}

impl Pause {
    /// Its length, seconds.
    pub fn length(&self) -> f64 {
        self.to - self.from
    }
}

/// The shortest one-way times of a flow's packets, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transit {
    /// Of data to the receiver.
    pub(super) data: f64,
    /// Of ACKs back.
    pub(super) ack: f64,
}

impl Transit {
    /// The shortest ones of a flow.
    pub(super) fn of(Course { sends, acks, .. }: &Course) -> Self {
        let arrived = |fate: u8| fate == Fate::Delivered as u8;
        let data =
            (0..sends.time.len()).filter(|i| arrived(sends.fate[*i])).map(|i| sends.fate_time[i] - sends.time[i]);
        let ack = (0..acks.time.len()).filter(|i| acks.dropped[*i] == 0).map(|i| acks.time[i] - acks.sent[i]);
        Transit { data: data.fold(f64::INFINITY, f64::min), ack: ack.fold(f64::INFINITY, f64::min) }
    }
}

/// The pauses of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pauses {
    /// The longest, however short, seconds; 0 if there is none.
    pub longest_s: f64,
    /// Those of more than two of its shortest round-trip times, the longest first.
    pub long: Vec<Pause>,
}

/// The pauses of a flow in a run of this duration, at most `most` of the long ones. If every segment was sent again, no round
/// trip is known, and the shortest one-way times stand for it.
pub fn pauses(course: &Course, duration_s: f64, most: usize) -> Pauses {
    let mut longest = Longest { found: Vec::new(), bar: 0.0, most: most.max(1) };
    let transit = Transit::of(course);
    let known = [search(course, duration_s, &mut longest), transit.data + transit.ack];
    let shortest = known.into_iter().find(|time| time.is_finite()).unwrap_or(0.0);
    let mut long = longest.found;
    let longest_s = long.first().map_or(0.0, Pause::length);
    long.truncate(most);
    long.retain(|p| p.length() > LONG * shortest);
    Pauses { longest_s, long }
}

/// Adds the pauses to `long`; returns the shortest round-trip time, seconds.
fn search(Course { sends, acks, .. }: &Course, duration_s: f64, long: &mut Longest) -> f64 {
    let end = |row: usize| sends.seq[row] + f64::from(sends.len[row]);
    // The ends of what was sent again up to `row`: their round trips are not known.
    let mut again = HashSet::new();
    let (mut row, mut first, mut shortest, mut highest) = (0, 0, f64::INFINITY, 1.0);
    let Some(began) = sends.time.first() else { return shortest };
    let (mut from, mut after_ack, mut since, mut una) = (*began, false, 0.0, 1.0);
    for i in 0..=acks.time.len() {
        let over = i == acks.time.len();
        if !over && (acks.dropped[i] == 1 || acks.ack[i] <= una) {
            continue;
        }
        let to = if over { duration_s } else { acks.time[i] };
        // The transmissions until then, and the time at which the last of them ended an idle time of the flow.
        while row < sends.time.len() && sends.time[row] <= to {
            if una >= highest {
                (from, after_ack) = (sends.time[row], false);
            }
            highest = f64::max(highest, end(row));
            if sends.sends[row] != 1 {
                again.insert(end(row).to_bits());
            }
            row += 1;
        }
        if to - from > long.bar && (!over || una < highest) {
            long.add(Pause { from, after_ack, to, since, una, ended: (!over).then_some(i) });
        }
        if over {
            break;
        }
        (from, after_ack, since, una) = (to, true, acks.sent[i], acks.ack[i]);
        // The first transmission that ends at this ACK: both ascend, so each row is read once.
        while first < row && !(end(first) >= una && sends.sends[first] == 1) {
            first += 1;
        }
        if first < row && end(first) == una && to - sends.time[first] < shortest && !again.contains(&una.to_bits()) {
            shortest = to - sends.time[first];
        }
    }
    shortest
}

/// The longest pauses so far. Of two that are equally long, the earlier is first.
struct Longest {
    found: Vec<Pause>,
    /// Only a longer one is among them.
    bar: f64,
    most: usize,
}

impl Longest {
    fn add(&mut self, pause: Pause) {
        let place = self.found.iter().rposition(|p| p.length() >= pause.length()).map_or(0, |i| i + 1);
        self.found.insert(place, pause);
        self.found.truncate(self.most);
        if self.found.len() == self.most {
            self.bar = self.found[self.most - 1].length();
        }
    }
}
