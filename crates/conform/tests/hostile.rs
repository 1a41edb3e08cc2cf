//! Scripts that nobody would write: damaged ones, which must end with a verdict.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

use ackclock_conform::engine::System;
use ackclock_conform::suite::{run_text, scripts, Setup};
use ackclock_tcp::stack::Stack;
use proptest::prelude::*;
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

/// `ACKCLOCK_FUZZ` scripts; default 3,000.
fn cases() -> u32 {
    std::env::var("ACKCLOCK_FUZZ").map_or(3_000, |n| n.parse().expect("ACKCLOCK_FUZZ is a number"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_damaged_script_ends_with_a_verdict(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..WORDS.len()), 1..6),
        freebsd in any::<bool>(),
    ) {
        thread_local!(static OWN: Vec<String> = own());
        let text = OWN.with(|own| own[which.index(own.len())].clone());
        let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '(', ',']).collect();
        for (at, with) in &damage {
            let at = at.index(words.len());
            words[at] = WORDS[*with];
        }
        let system = if freebsd { System::FreeBsd } else { System::Linux };
        let report = run_text("damaged.pkt", &words.join(" "), &setup(system), &|_| None);
        prop_assert!(report.talk.len() < 100_000);
    }
}
