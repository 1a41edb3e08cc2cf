//! Scenario files to runs to tables.
//!
//! [`scenario`] reads a file into a checked [`scenario::Plan`].

#![expect(
    clippy::result_large_err,
    reason = "a refusal is made once, by a person's slip; boxing it would only add noise"
)]

mod bounded;
pub mod capturing;
pub mod error;
mod file;
mod form;
pub mod identity;
#[cfg(not(target_family = "wasm"))]
pub mod many;
pub mod measures;
mod measuring;
pub mod places;
mod reader;
pub mod report;
mod rows;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod stacks;
pub mod stats;
pub mod summary;
mod tally;
mod transfers;
mod written;

/// Part of every run's identity: raised whenever a snapshot of results changes.
pub const RESULTS_REVISION: u32 = 6;
