//! Runs a scenario file with one stack and one seed and prints what `ackclock run --json` would: the whole program is ours, so
//! that a profiler sees nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, stack] = words.as_slice() else {
        eprintln!("needed: a scenario file and a stack");
        return ExitCode::from(2);
    };
    let ran = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"));
    match ran.and_then(|text| ackclock_lab::report::run_text(&text, Some(stack), 1).map_err(|e| e.to_string())) {
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
