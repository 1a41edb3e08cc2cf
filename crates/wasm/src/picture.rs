//! The course of a run's flows as columns, as described in `web/src/engine/trace.ts`.

use crate::border::{table, Border, Column};
use ackclock_course::flow::Course;
use ackclock_course::places::Places;
use ackclock_course::record::Courses;
use ackclock_course::stall::{stalls, Sentence, Stall, Stalls};
use serde_json::{json, Map, Value};

/// The number of stalls of a flow that the page explains.
const EXPLAINED: usize = 5;

/// The flows, each with its stalls, and the queues with arrivals.
pub(crate) fn columns(
    courses: Courses,
    places: &Places,
    duration_s: f64,
    border: &mut dyn Border,
) -> (Vec<Value>, Value) {
    let found: Vec<Stalls> =
        (0..courses.flows.len()).map(|flow| stalls(&courses, flow, places, duration_s, EXPLAINED)).collect();
    let Courses { flows, queues } = courses;
    let flows = flows.into_iter().zip(found).map(|(course, stalls)| {
        let mut flow = self::course(course, border);
        flow.insert("longestPauseS".to_owned(), stalls.longest_pause_s.into());
        flow.insert("stalls".to_owned(), stalls.stalls.into_iter().map(stall).collect());
        Value::Object(flow)
    });
    let flows: Vec<Value> = flows.collect();
    let used = queues.into_iter().enumerate().filter(|(_, q)| !q.time.is_empty());
    let queues = used.map(|(link, q)| {
        let longest = q.packets.iter().max();
        let mut queue = Map::from_iter([("link".to_owned(), json!(link)), ("longest".to_owned(), json!(longest))]);
        queue.extend(table(q.columns(), border));
        Value::Object(queue)
    });
    (flows, queues.collect())
}

fn course(course: Course, border: &mut dyn Border) -> Map<String, Value> {
    let Course { sends, acks, sack_left, sack_right, windows, dupthresh, rto, inflation, phases, marks } = course;
    let tables = [
        ("sends", sends.columns()),
        ("acks", acks.columns()),
        ("windows", windows.columns()),
        ("dupthresh", dupthresh.columns()),
        ("rto", rto.columns()),
        ("inflation", inflation.columns()),
        ("phases", phases.columns()),
        ("marks", marks.columns()),
    ];
    let mut flow = Map::new();
    for (name, columns) in tables {
        flow.insert(name.to_owned(), Value::Object(table(columns, border)));
    }
    for (name, edges) in [("sackLeft", sack_left), ("sackRight", sack_right)] {
        flow.insert(name.to_owned(), border.column(Column::F64(edges.into_pieces())));
    }
    flow
}

/// A stall as `Stall` in `web/src/engine/trace.ts` has it.
pub(crate) fn stall(stall: Stall) -> Value {
    let Stall { from, to, cause: _, title, sentences } = stall;
    let sentence = |Sentence { at, text, rows }| json!({ "time": at, "text": text, "rows": rows });
    json!({ "from": from, "to": to, "title": title, "sentences": sentences.into_iter().map(sentence).collect::<Vec<_>>() })
}
