//! The output of `ackclock run --json`.

use crate::error::ScenarioError;
use crate::run::{run, RunError};
use crate::scenario::{Overrides, Plan};
use crate::summary::{means, FlowMeans, Summary};
use crate::RESULTS_REVISION;
use serde::Serialize;
use std::ops::ControlFlow;

#[derive(Serialize)]
struct Report<'a> {
    ackclock: &'static str,
    results_revision: u32,
    scenario: &'a str,
    flows: Vec<FlowMeans>,
    runs: &'a [Summary],
}

/// The runs of a plan, or of several that differ only in their stacks, one after another; and the means of each plan's
/// flows; as JSON.
pub fn json(plan: &Plan, runs: &[Summary]) -> String {
    let report = Report {
        ackclock: env!("CARGO_PKG_VERSION"),
        results_revision: RESULTS_REVISION,
        scenario: &plan.scenario.name,
        flows: runs.chunks(plan.seeds.len().max(1)).flat_map(means).collect(),
        runs,
    };
    serde_json::to_string_pretty(&report).unwrap_or_default()
}

/// Runs the text of a scenario once, without threads or files: the whole laboratory for WebAssembly.
///
/// # Errors
/// The fault in the scenario or the stack's name.
pub fn run_text(toml: &str, stack: Option<&str>, seed: u64) -> Result<String, ScenarioError> {
    let overrides = Overrides { stack: stack.map(str::to_owned), seed: Some(seed), ..Overrides::default() };
    let plan = Plan::parse("scenario.toml", toml, &overrides)?;
    match run(&plan, seed, None, &mut |_| ControlFlow::Continue(())) {
        Ok(summary) => Ok(json(&plan, &[summary])),
        Err(RunError::Scenario(e)) => Err(*e),
        Err(e @ (RunError::Trace(_) | RunError::Stopped)) => Err(ScenarioError::option("run", e.to_string(), "a run")),
    }
}
