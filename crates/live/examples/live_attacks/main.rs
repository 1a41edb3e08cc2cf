//! Attacks on a host behind a device, each in a process of its own: a table of its work and memory, and of an honest client's
//! transfers meanwhile. Exit code 1 if one is beyond its bounds. `cargo run --example live_attacks -- COUNT [ATTACK …]`.

#[cfg(target_os = "linux")]
#[path = "../../../wire/examples/attacks/attack.rs"]
mod attack;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/fuzz/heap.rs"]
mod heap;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod victim;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    table::all(&std::env::args().skip(1).collect::<Vec<_>>())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("live attacks: {:?}", ackclock_live::supported());
}
