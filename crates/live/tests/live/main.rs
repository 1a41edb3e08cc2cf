//! Transfers against this machine's kernel, in separate namespaces, if a device may be created. The first line of the
//! output shows it.

#![cfg_attr(target_os = "linux", expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer"))]

#[cfg(target_os = "linux")]
#[path = "../../../wire/examples/attacks/attack.rs"]
mod attack;
#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod captures;
#[cfg(target_os = "linux")]
mod conform;
#[cfg(target_os = "linux")]
mod harm;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/fuzz/heap.rs"]
mod heap;
#[cfg(target_os = "linux")]
#[path = "../../examples/live_attacks/victim.rs"]
mod live_victim;
#[cfg(target_os = "linux")]
mod matrix;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod shell;
#[cfg(target_os = "linux")]
mod standstill;
#[cfg(target_os = "linux")]
mod untouched;

#[cfg(not(target_os = "linux"))]
fn main() {
    let why = ackclock_live::supported();
    println!("live: skipped, because {}", why.map_or_else(|e| e.to_string(), |()| "of nothing".into()));
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use ackclock_live::{namespace::Namespace, tun::Tun};
    if untouched::is_child() {
        return untouched::child();
    }
    if let Some(code) = programs::play() {
        return code;
    }
    let before = untouched::first_namespace();
    let possible = Namespace::new().and_then(|namespace| Tun::new(&namespace, "tun0", false));
    if let Err(why) = possible {
        println!("live: skipped, because {why}");
        return std::process::ExitCode::SUCCESS;
    }
    println!("live: running");
    let trials = [
        namespaces::trials(),
        attacks::trials(),
        matrix::trials(),
        captures::trials(),
        shell::trials(),
        conform::trials(),
        standstill::trials(),
        untouched::trials(),
    ];
    let conclusion = libtest_mimic::run(&libtest_mimic::Arguments::from_args(), trials.into_iter().flatten().collect());
    let after = untouched::first_namespace();
    assert_eq!(untouched::difference(&before, &after), "", "the tests changed something of the first namespace");
    conclusion.exit_code()
}

/// A test whose name is the sentence that it proves.
#[cfg(target_os = "linux")]
fn trial(name: impl Into<String>, proof: impl FnOnce() + Send + 'static) -> libtest_mimic::Trial {
    libtest_mimic::Trial::test(name, move || {
        proof();
        Ok(())
    })
}
