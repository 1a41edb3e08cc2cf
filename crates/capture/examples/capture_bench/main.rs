//! Measures how fast captures are analysed: generates files and times the analysis.
//!
//! ```text
//! capture_bench make FILE --flows N --packets N [--snap BYTES]     a pcap file of TCP transfers under loss and reordering
//! capture_bench headers FILE                                       reading and finding connections alone
//! capture_bench analyse FILE                                       the whole analysis for the table of connections
//! ```
//! The last two print a line of JSON. `tools/measures/capture_bench.py` runs them, next to other programs.

mod make;
mod run;
mod transfer;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = args.iter().position(|a| a == name)?;
        args.get(at + 1)?.parse::<usize>().ok()
    };
    let done = match (args.first().map(String::as_str), args.get(1).map(Path::new)) {
        (Some("make"), Some(file)) => match (number("--flows"), number("--packets")) {
            (Some(flows), Some(packets)) => make::make(file, flows, packets, number("--snap").unwrap_or(usize::MAX)),
            _ => Err("--flows and --packets are needed".into()),
        },
        (Some("headers"), Some(file)) => run::headers(file),
        (Some("analyse"), Some(file)) => run::analyse(file),
        _ => Err("make FILE, headers FILE or analyse FILE".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("capture_bench: {why}");
            ExitCode::from(2)
        }
    }
}
