//! The course of a transfer: the rows that its time-sequence graph draws, and why it stood still.
//!
//! | module | content |
//! | --- | --- |
//! | [`record`] | listens to a run and keeps the course of each flow |
//! | [`tables`] | the rows: segments, ACKs, changes of the window and of the phase |
//! | [`stall`] | why a transfer stood still: facts, cause, words |
//! | [`places`] | the links and elements of a scenario by their numbers in a trace |
//! | [`columns`], [`pieces`] | tables of numbers, column by column |
//!
//! # Example
//!
//! ```
//! use ackclock_course::stall::cause::{Cause, CAUSES};
//!
//! // The words of a cause are the same for runs and captures.
//! assert!(CAUSES.contains(&Cause::LossProbe));
//! assert_eq!(Cause::LossProbe.name(), "loss probe");
//! ```

pub mod columns;
pub mod flow;
pub mod pieces;
pub mod places;
pub mod record;
pub mod stall;
pub mod tables;
