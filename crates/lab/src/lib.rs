//! Scenario files to runs to tables.
//!
//! [`scenario`] reads a file into a checked [`scenario::Plan`].
//!
//! # Example
//!
//! ```
//! use ackclock_lab::run::run;
//! use ackclock_lab::scenario::{Overrides, Plan};
//! use std::ops::ControlFlow;
//!
//! let text = r#"
//! [run]
//! duration = "10 s"
//!
//! [[link]]
//! from = "S"
//! to = "D"
//! rate = "5 Mbps"
//! delay = "20 ms"
//! queue = "50 packets"
//! elements = [{ kind = "swap", mode = "slots", count = 12, gap = { exponential = "1 s" } }]
//! back = { elements = [] }
//!
//! [[flow]]
//! from = "S"
//! to = "D"
//! stack = "newreno"
//! "#;
//! let overrides = Overrides { stack: Some("dsack-avg".to_owned()), ..Overrides::default() };
//! let plan = Plan::parse("swaps.toml", text, &overrides).expect("a scenario without mistakes");
//! let summary = run(&plan, 1, None, &mut |_| ControlFlow::Continue(())).expect("a run");
//! assert_eq!(summary.flows[0].stack, "dsack-avg");
//! assert!(summary.flows[0].goodput_bytes_per_s > 500e3);
//!
//! let wrong = Plan::parse("swaps.toml", &text.replace("5 Mbps", "fast"), &Overrides::default());
//! assert!(wrong.unwrap_err().to_string().starts_with("swaps.toml:8: key `link[0].rate`: found \"fast\""));
//! ```

#![expect(
    clippy::result_large_err,
    reason = "a refusal is rare and follows a user's mistake; boxing it would only add noise"
)]

mod bounded;
pub mod capturing;
mod chains;
mod ended;
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
mod results;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod stacks;
pub mod stalls;
pub mod stats;
pub mod summary;
mod tally;
mod transfers;
mod written;

/// Part of every run's identity: raised whenever a snapshot of results, or the form of the trace hash, changes.
pub const RESULTS_REVISION: u32 = 14;
