//! The laboratory for pages and for Node: a request as JSON in, results out as JSON and columns.
//!
//! The exports of `abi` are plain functions over linear memory, and `ackclock.mjs` next to this crate is their
//! complete loader. A binding generator would add a program to install, with a version that must equal a library's,
//! only to pass one text.

#![expect(clippy::result_large_err, reason = "as in ackclock_lab: a refusal is rare and follows a user's mistake")]

#[cfg(target_family = "wasm")]
pub mod abi;
pub mod border;
mod capture;
mod layout;
mod opened;
mod picture;

use ackclock_course::places::Places;
use ackclock_course::record::Recording;
use ackclock_lab::error::ScenarioError;
use ackclock_lab::run::{check, meta, run_watched, RunError};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::stats::Interval;
use ackclock_lab::summary::Summary;
use ackclock_lab::{report, schema, stacks};
use ackclock_sim::watch::Watch;
use ackclock_trace::csv::{description, CsvSink};
use ackclock_trace::parquet::ParquetSink;
use ackclock_trace::{Recorder, Sink, TraceHash};
use border::{Border, Column};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{json, Value};
use std::ops::ControlFlow;
use std::path::Path;

/// The requests.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Request {
    /// The report of `ackclock run --json`.
    Run(What),
    /// The report, and the run as columns.
    Trace(What),
    /// The trace as `ackclock run --trace FILE.csv` writes it.
    Csv(What),
    /// The same as `FILE.parquet`.
    Parquet(What),
    /// The layout of the scenario, without running it.
    Check(What),
    /// The text that `ackclock show` prints.
    Show(What),
    /// Means of numbers over runs with their 95 % confidence intervals, as reports over several seeds have them.
    Means {
        /// The numbers of each mean.
        of: Vec<Vec<f64>>,
    },
    /// The list that `ackclock stacks --json` prints.
    Stacks,
    /// The JSON Schema of scenario files.
    Schema,
    /// The trace in CSV that comes with the request, as the columns of its run.
    Opened(opened::Opened),
    /// The flows of the capture that comes with the request.
    Capture(capture::Whole),
    /// One flow of the capture, to draw.
    CaptureFlow(capture::OneFlow),
    /// The path that explains one flow, as scenarios.
    CaptureFit(capture::Fitted),
}

/// A scenario, and the changes that a command line would make to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct What {
    /// TOML.
    scenario: String,
    /// The stack of every flow, instead of the file's.
    #[serde(default)]
    stack: Option<String>,
    /// As in `rto.tick=500 ms`.
    #[serde(default)]
    set: Vec<String>,
    /// As digits, since JavaScript's numbers are exact only up to 2⁵³. Default: the scenario's first.
    #[serde(default)]
    seed: Option<String>,
}

/// Handles a request: `{"ok": …}`, or `{"error": {…, "message": …}}` with the place of the mistake if there is one.
pub fn answer(request: &[u8], border: &mut dyn Border) -> String {
    let request: Request = match serde_json::from_slice(request) {
        Ok(request) => request,
        Err(e) => return json!({ "error": { "message": format!("no request: {e}") } }).to_string(),
    };
    let refused = |e: ScenarioError| e.to_json();
    let unreadable = |message: String| json!({ "message": message });
    let answer = match request {
        Request::Run(what) => what.run(border).map_err(refused),
        Request::Trace(what) => what.trace(border).map_err(refused),
        Request::Csv(what) => what.csv(border).map_err(refused),
        Request::Parquet(what) => what.parquet(border).map_err(refused),
        Request::Check(what) => what.check().map_err(refused),
        Request::Show(what) => what.plan().map(|(plan, _)| Value::from(plan.to_toml()).to_string()).map_err(refused),
        Request::Means { of } => {
            Ok(json!(of.iter().map(|values| Interval::of(values)).collect::<Vec<_>>()).to_string())
        }
        Request::Stacks => Ok(stacks::json()),
        Request::Schema => Ok(schema::json()),
        Request::Opened(trace) => trace.run(border).map_err(unreadable),
        Request::Capture(whole) => whole.flows(border).map_err(unreadable),
        Request::CaptureFlow(one) => one.drawn(border).map_err(unreadable),
        Request::CaptureFit(one) => one.fit(border).map_err(unreadable),
    };
    match answer {
        Ok(answer) => format!("{{\"ok\":{answer}}}"),
        Err(error) => json!({ "error": error }).to_string(),
    }
}

impl What {
    /// The plan to run, and the seed.
    fn plan(&self) -> Result<(Plan, u64), ScenarioError> {
        let refuse = |option: &str, found: &str, allowed| ScenarioError::option(option, found, allowed);
        let seed = self.seed.as_ref().map(|s| s.parse().map_err(|_| refuse("--seed", s, "a whole number from 0")));
        let set = self.set.iter().map(|s| {
            let (key, value) =
                s.split_once('=').ok_or_else(|| refuse("--set", s, "PATH=VALUE, as in rto.tick=500 ms"))?;
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        });
        let set = set.collect::<Result<_, ScenarioError>>()?;
        let overrides = Overrides { stack: self.stack.clone(), set, seed: seed.transpose()?, ..Overrides::default() };
        let plan = Plan::parse("scenario.toml", &self.scenario, &overrides)?;
        let seed = plan.seeds[0];
        Ok((plan, seed))
    }

    fn check(&self) -> Result<String, ScenarioError> {
        let (plan, _) = self.plan()?;
        check(&plan)?;
        Ok(layout::of(&plan).to_string())
    }

    fn run(&self, border: &mut dyn Border) -> Result<String, ScenarioError> {
        let (plan, seed) = self.plan()?;
        let (summary, ()) = watched(&plan, seed, (), border)?;
        Ok(report::json(&plan, &[summary]))
    }

    fn trace(&self, border: &mut dyn Border) -> Result<String, ScenarioError> {
        let (plan, seed) = self.plan()?;
        let (summary, recording) = watched(&plan, seed, Recording::new(plan.scenario.flows.len()), border)?;
        // The report has numbers in the command's form, so it is not parsed and written again.
        let report = RawValue::from_string(report::json(&plan, &[summary]));
        let report = report.map_err(|e| ScenarioError::option("run", e.to_string(), "a report"))?;
        let layout = layout::of(&plan);
        let (places, duration_s) = (Places::of(&plan.scenario), plan.scenario.duration.as_secs_f64());
        let (flows, queues) = picture::columns(recording.finish(), &places, duration_s, border);
        Ok(format!("{{\"layout\":{layout},\"flows\":{},\"queues\":{queues},\"report\":{report}}}", Value::from(flows)))
    }

    fn csv(&self, border: &mut dyn Border) -> Result<String, ScenarioError> {
        let (plan, seed) = self.plan()?;
        let (hash, csv) = recorded(&plan, seed, CsvSink::new(Vec::new()), border)?;
        let description = description(Path::new("trace.csv"), &meta(&plan, seed), hash);
        let file = border.column(Column::U8(vec![csv]));
        Ok(json!({ "file": file, "description": description, "trace_hash": hash.to_string() }).to_string())
    }

    fn parquet(&self, border: &mut dyn Border) -> Result<String, ScenarioError> {
        let (plan, seed) = self.plan()?;
        let (hash, parquet) = recorded(&plan, seed, ParquetSink::new(Vec::new(), &meta(&plan, seed)), border)?;
        let file = border.column(Column::U8(vec![parquet]));
        Ok(json!({ "file": file, "trace_hash": hash.to_string() }).to_string())
    }
}

/// The file of a run's records, and the trace hash.
fn recorded<S: Sink<Out = Vec<u8>>>(
    plan: &Plan,
    seed: u64,
    sink: std::io::Result<S>,
    border: &mut dyn Border,
) -> Result<(TraceHash, Vec<u8>), ScenarioError> {
    let recorder = Recorder::new(sink.map_err(failed)?, plan.scenario.flows.len() as u32);
    let (_, recorder) = watched(plan, seed, recorder, border)?;
    recorder.close().map_err(failed)
}

fn failed(e: std::io::Error) -> ScenarioError {
    ScenarioError::option("--trace", e.to_string(), "less to write")
}

fn watched<W: Watch>(plan: &Plan, seed: u64, watch: W, border: &mut dyn Border) -> Result<(Summary, W), ScenarioError> {
    let (mut done, all) = (0, plan.scenario.duration.0);
    let mut progress = |slice: ackclock_tcp::time::Nanos| {
        done += slice.0;
        border.progress(done as f64 / all as f64);
        ControlFlow::Continue(())
    };
    run_watched(plan, seed, watch, &mut progress).map_err(|e| match e {
        RunError::Scenario(e) => *e,
        e @ (RunError::Trace(_) | RunError::Stopped) => ScenarioError::option("run", e.to_string(), "a run"),
    })
}

#[cfg(test)]
mod tests;
