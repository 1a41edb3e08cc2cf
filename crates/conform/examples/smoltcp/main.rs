//! smoltcp against scripts: `cargo run --release --example smoltcp -- linux conformance`.
//!
//! Prints a line for each folder and a line for each kind of fault with its first script; `-v` prints a line for each script.

mod device;
mod sockets;
mod stack;
mod subject;
mod table;

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_files, scripts};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (system, folder, each) = match words[..] {
        ["linux", folder] => (System::Linux, folder, false),
        ["freebsd", folder] => (System::FreeBsd, folder, false),
        ["linux", folder, "-v"] => (System::Linux, folder, true),
        ["freebsd", folder, "-v"] => (System::FreeBsd, folder, true),
        _ => {
            eprintln!("found {words:?}, allowed: linux or freebsd, a folder of scripts, and -v");
            return ExitCode::from(2);
        }
    };
    let run = scripts(Path::new(folder)).map_err(|why| (folder.into(), why)).and_then(|files| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        run_files(&files, &subject::Smoltcp { system }, threads).map(|reports| (files, reports))
    });
    match run {
        Ok((files, reports)) => {
            table::print(&files, &reports, each);
            ExitCode::SUCCESS
        }
        Err((path, why)) => {
            eprintln!("{}: {why}", path.display());
            ExitCode::from(2)
        }
    }
}
