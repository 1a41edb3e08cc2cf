//! Runs a scenario file with one stack and one seed and prints the output of `ackclock run --json`. With a second file name it
//! also writes the trace. The whole program is ours, so that a profiler sees nothing else.

use ackclock_lab::report::json;
use ackclock_lab::run::run;
use ackclock_lab::scenario::{Overrides, Plan};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (file, stack, trace) = match words.as_slice() {
        [file, stack] => (file, stack, None),
        [file, stack, trace] => (file, stack, Some(Path::new(trace))),
        _ => {
            eprintln!("needed: a scenario file, a stack and perhaps a file for the trace");
            return ExitCode::from(2);
        }
    };
    let overrides = Overrides { stack: Some(stack.clone()), seed: Some(1), ..Overrides::default() };
    let plan = Plan::load(Path::new(file), &overrides).map_err(|e| e.to_string());
    let ran = plan.and_then(|plan| {
        let ran = run(&plan, 1, trace, &mut |_| ControlFlow::Continue(()));
        ran.map(|summary| json(&plan, &[summary])).map_err(|e| e.to_string())
    });
    match ran {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
