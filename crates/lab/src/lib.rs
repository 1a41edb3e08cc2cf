//! Scenario files to runs to tables.
//!
//! [`scenario`] reads a file into a checked [`scenario::Plan`].

#![expect(
    clippy::result_large_err,
    reason = "a refusal is made once, by a person's slip; boxing it would only add noise"
)]

pub mod error;
mod quantity;
mod reader;
pub mod scenario;
mod stack;
