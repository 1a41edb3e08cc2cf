//! Runs scripts against this project's engine: `cargo run --example conform -- freebsd FOLDER`.

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_file, scripts, Setup};
use ackclock_conform::verdict::Verdict;
use ackclock_tcp::stack::Stack;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [system, folder] = arguments.as_slice() else { return Ok(()) };
    let system = if system == "freebsd" { System::FreeBsd } else { System::Linux };
    let setup = Setup { system, stack: None, stack_of: Stack::named };
    for path in scripts(Path::new(folder))? {
        let report = run_file(&path, &setup)?;
        match report.verdict {
            Verdict::Pass => println!("pass {}", path.display()),
            Verdict::Fail(fault) => println!("FAIL {} {} | {fault}", path.display(), fault.reason.name()),
            Verdict::NotUnderstood(fault) => println!("???? {} {} | {fault}", path.display(), fault.reason.name()),
        }
    }
    Ok(())
}
