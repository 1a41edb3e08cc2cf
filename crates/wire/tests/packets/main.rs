//! Single packets: a written packet is read back the same, by us and by others, and no arriving packet does
//! harm.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

#[path = "../../examples/attacks/attack.rs"]
mod attack;
mod attacks;
mod border;
#[path = "../../../../tests/fuzz/mod.rs"]
mod fuzz;
mod hostile;
mod hostile_host;
mod outside;
mod packet;
mod reset;
#[path = "../../../../tests/fuzz/rng.rs"]
mod rng;
mod some;
#[path = "../../examples/attacks/victim.rs"]
mod victim;
