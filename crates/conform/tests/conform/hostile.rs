//! Scripts that nobody would write: damaged ones, which must end with a verdict. `ACKCLOCK_FUZZ` sets their number (default
//! 3,000).

#![expect(clippy::unwrap_used, reason = "a test may stop")]

#[path = "../../../../tests/fuzz/mod.rs"]
mod fuzz;
#[path = "../../../../tests/fuzz/rng.rs"]
mod rng;

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_text, scripts, Setup};
use ackclock_tcp::stack::Stack;
use fuzz::Target;
use rng::Rng;
use std::path::Path;

/// Texts that replace a word.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "4",
    "65535",
    "4294967295",
    "18446744073709551615",
    "1000000000",
    "...",
    "*",
    "+",
    "<",
    ">",
    "S",
    "F.",
    "R",
    ".",
    "ack",
    "win",
    "1:1(0)",
    "1:65536(65535)",
    "4294967295:4294967295(0)",
    "<sack 1:2 3:4 5:6 7:8 9:10>",
    "sysctl",
    "net.ipv4.tcp_rmem=1 99999999999999999999 4",
    "SO_RCVBUF",
    "MSG_PEEK",
    "EAGAIN",
    "[9223372036854775807]",
    "socket",
    "write",
];

fn setup(system: System) -> Setup {
    Setup { system, stack: None, stack_of: Stack::named }
}

fn own() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let files = scripts(&folder).unwrap();
    assert!(files.len() > 100);
    files.iter().step_by(7).map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// A script with up to five words replaced.
fn damaged(scripts: &[String], rng: &mut Rng) -> String {
    let text = &scripts[rng.below(scripts.len())];
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ',']).collect();
    for _ in 0..1 + rng.below(5) {
        let at = rng.below(words.len());
        words[at] = WORDS[rng.below(WORDS.len())];
    }
    words.join(" ")
}

#[test]
fn a_damaged_script_ends_with_a_verdict() {
    let scripts = own();
    let target = Target::new("scripts", 32_000_000);
    target.each(fuzz::cases(3_000), |number, seed| {
        let mut rng = Rng(seed);
        let (text, freebsd) = (damaged(&scripts, &mut rng), rng.below(2) == 0);
        let setup = setup(if freebsd { System::FreeBsd } else { System::Linux });
        target.run(number, &(&text, freebsd), || {
            let report = run_text("damaged.pkt", &text, &setup, &|_| None);
            assert!(report.talk.len() < 100_000);
        });
    });
}
