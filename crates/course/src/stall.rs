//! Why a transfer stood still: the pauses of a flow, the facts about each, their cause, and the cause in words.
//!
//! A run knows the fate of every packet, a capture only what passed by. Both name one of the same causes, and use the same
//! phrases for the same facts.
//!
//! | module | content |
//! | --- | --- |
//! | [`cause`] | the causes and their names |
//! | [`mod@pauses`] | the longest intervals between two ACKs of new data |
//! | `facts` | what the course of a run says about one pause |
//! | `story` | these facts in words |
//! | [`words`] | the phrases |

pub mod cause;
mod facts;
pub mod pauses;
mod story;
pub mod words;

use crate::flow::Course;
use crate::places::Places;
use crate::record::Courses;
use cause::Cause;
use facts::{full_segment, Facts};
use pauses::{pauses, Pause, Transit};

/// A sentence about a stall.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The time of its event, seconds.
    pub at: f64,
    /// It begins with a capital and ends with a full stop.
    pub text: String,
    /// The transmissions that it names: rows of the flow's `sends`.
    pub rows: Vec<usize>,
}

/// A pause of a flow, explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Stall {
    /// When it began and ended, seconds.
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// Its cause.
    pub cause: Cause,
    /// Its length and its cause in a line without a full stop.
    pub title: String,
    /// What happened, in the order of time.
    pub sentences: Vec<Sentence>,
}

/// The stalls of a flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stalls {
    /// Its longest time without an ACK of new data, while data was outstanding, seconds; 0 if it never sent.
    pub longest_pause_s: f64,
    /// The pauses of more than two of its shortest round-trip times, the longest first.
    pub stalls: Vec<Stall>,
}

/// The stalls of the flow at this position, at most `most` of them; the run lasted `duration_s`.
pub fn stalls(courses: &Courses, flow: usize, places: &Places, duration_s: f64, most: usize) -> Stalls {
    let Some(course) = courses.flows.get(flow) else { return Stalls::default() };
    let found = pauses(course, duration_s, most);
    let mut stalls = Vec::new();
    if !found.long.is_empty() {
        let (transit, full) = (Transit::of(course), full_segment(course));
        let facts =
            |pause: &Pause| Facts::of(course, transit, full, *pause, &|row| place(courses, course, places, row));
        stalls.extend(found.long.iter().map(|pause| explained(&facts(pause))));
    }
    Stalls { longest_pause_s: found.longest_s, stalls }
}

fn explained(facts: &Facts) -> Stall {
    let (Pause { from, to, .. }, cause) = (facts.pause, facts.cause());
    Stall { from, to, cause, title: story::title(facts), sentences: story::story(facts) }
}

/// What dropped the packet in this row.
fn place(courses: &Courses, course: &Course, places: &Places, row: usize) -> String {
    let at = course.sends.fate_time[row];
    places.words(course.sends.element[row], |link| {
        let queue = courses.queues.get(link)?;
        let arrivals = queue.time.count_until(at, false);
        arrivals.checked_sub(1).map(|i| queue.packets[i])
    })
}
