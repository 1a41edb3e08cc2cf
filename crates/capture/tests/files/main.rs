//! Files, link layers and connections, checked against other writers and readers.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

mod datagrams;
mod flows;
mod formats;
#[path = "../../../../tests/fuzz/mod.rs"]
mod fuzz;
mod hostile;
mod links;
mod make;
mod outside;
#[path = "../../../../tests/fuzz/rng.rs"]
mod rng;
mod spoiled;
mod streams;
mod writing;
