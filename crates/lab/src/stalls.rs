//! The stalls of a run's flows, if they are requested: a listener keeps the course of each flow for them.

use crate::chains::{chains, name};
use crate::scenario::Plan;
use ackclock_course::places::Places;
use ackclock_course::record::Recording;
use ackclock_course::stall::{stalls, Sentence, Stall};
use ackclock_table::row;

/// The number of stalls of a flow that are explained: the longest.
const KEPT: usize = 256;

row! {
    /// A stall of a flow: no ACK of new data arrived for more than two of its shortest round-trip times, though data was outstanding.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StallSummary {
        /// The stack's name.
        stack: String;
        /// The flow's name.
        flow: String;
        /// When the last ACK of new data arrived, or when data was sent after an idle time.
        start_s: f64 [unit("s")];
        /// The time until the next one, or until the end of the run.
        duration_s: f64 [unit("s")];
        /// The cause, as a stall of a capture has it.
        cause: &'static str;
        /// Length and cause in a line.
        title: String;
        /// What happened, in sentences.
        evidence: String;
        /// Each sentence with its time.
        sentences: Vec<StallSentence>;
    }
}

row! {
    /// A sentence about a stall.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StallSentence {
        /// The time of its event.
        time_s: f64 [unit("s")];
        /// The sentence.
        text: String;
    }
}

/// The stalls of all flows of a recorded run, the longest first.
pub fn explain(plan: &Plan, recording: Recording) -> Vec<StallSummary> {
    let courses = recording.finish();
    let (places, duration_s) = (Places::of(&plan.scenario), plan.scenario.duration.as_secs_f64());
    let mut all = Vec::new();
    for chain in chains(&plan.scenario.flows) {
        // Transfers on connections of their own are one flow.
        let first = &plan.scenario.flows[chain.start];
        let flow = if chain.len() > 1 { name(&first.name) } else { &first.name };
        let stack = &plan.stacks[first.stack as usize].name;
        let found = chain.flat_map(|flow| stalls(&courses, flow, &places, duration_s, KEPT).stalls);
        all.extend(found.map(|stall| row(flow, stack, stall)));
    }
    all.sort_by(|a, b| b.duration_s.total_cmp(&a.duration_s));
    all
}

fn row(flow: &str, stack: &str, stall: Stall) -> StallSummary {
    let Stall { from, to, cause, title, sentences } = stall;
    let sentence = |Sentence { at, text, rows: _ }| StallSentence { time_s: at, text };
    let sentences: Vec<StallSentence> = sentences.into_iter().map(sentence).collect();
    let texts: Vec<&str> = sentences.iter().map(|s| s.text.as_str()).collect();
    StallSummary {
        stack: stack.to_owned(),
        flow: flow.to_owned(),
        start_s: from,
        duration_s: to - from,
        cause: cause.name(),
        title,
        evidence: texts.join(" "),
        sentences,
    }
}
