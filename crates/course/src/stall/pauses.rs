//! Pauses of a sender: the longest intervals between two ACKs of new data, with data outstanding.

use crate::flow::Course;
use std::collections::HashSet;

/// Shortest pause that is reported, in the flow's shortest round-trip times.
const LONG: f64 = 2.0;

/// From one ACK of new data to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pause {
    /// Time of the ACK before it, or of the first transmission if there was none, seconds.
    pub from: f64,
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

/// The pauses of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pauses {
    /// The longest, however short, seconds; 0 if there is none.
    pub longest_s: f64,
    /// Those of more than two of its shortest round-trip times, the longest first.
    pub long: Vec<Pause>,
}

/// The pauses of a flow in a run of this duration, at most `most` of the long ones.
pub fn pauses(course: &Course, duration_s: f64, most: usize) -> Pauses {
    let mut longest = Longest { found: Vec::new(), bar: 0.0, most: most.max(1) };
    let shortest = search(course, duration_s, &mut longest);
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
    let (mut from, mut since, mut una) = (*began, 0.0, 1.0);
    for i in 0..=acks.time.len() {
        let over = i == acks.time.len();
        if !over && (acks.dropped[i] == 1 || acks.ack[i] <= una) {
            continue;
        }
        let to = if over { duration_s } else { acks.time[i] };
        // The transmissions until then, and the time at which the last of them ended an idle time of the flow.
        while row < sends.time.len() && sends.time[row] <= to {
            if una >= highest {
                from = sends.time[row];
            }
            highest = f64::max(highest, end(row));
            if sends.sends[row] != 1 {
                again.insert(end(row).to_bits());
            }
            row += 1;
        }
        if to - from > long.bar && (!over || una < highest) {
            long.add(Pause { from, to, since, una, ended: (!over).then_some(i) });
        }
        if over {
            break;
        }
        (from, since, una) = (to, acks.sent[i], acks.ack[i]);
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
