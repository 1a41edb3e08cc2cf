//! A sans-I/O TCP in which every part of loss recovery is replaceable.
//!
//! Each folder is a question, and each file in it is one published answer; the file's first line names it.
//!
//! | folder | question |
//! | --- | --- |
//! | [`rto`] | how long is too long? |
//! | [`detect`] | is it lost? |
//! | [`disorder`] | and while we are not sure? |
//! | [`recovery`] | what may be sent to repair? |
//! | [`timeout`] | and after a timeout? |
//! | [`congestion`] | how big may the window be? |
//! | [`startup`] | where does slow start begin and end? |
//! | [`idle`] | and after a pause? |
//! | [`pacing`] | and how fast? |
//! | [`spurious`] | was it a mistake? |
//! | [`undo`] | and then? |
//! | [`ack`] | when does the receiver answer? |
//! | [`receive_window`] | how large may the receive buffer become? |
//!
//! Algorithms see [`facts`] and not each other. [`sender`] is the sequencer, the only module that knows the order of steps.
//! [`stack::Stack`] names one answer to each question; [`connection::Connection`] is a TCP built from a stack and driven from
//! outside: it does no I/O, has no clock, draws no random numbers and never sees payload.

#![forbid(unsafe_code)]

pub mod ack;
pub mod congestion;
pub mod connection;
pub mod detect;
pub mod disorder;
pub mod error;
pub mod event;
pub mod facts;
pub mod idle;
mod needs;
mod outcome;
pub mod pacing;
pub mod percentiles;
pub mod receive_window;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod segment;
pub mod sender;
pub mod seq;
mod slot;
pub mod spurious;
pub mod stack;
pub mod startup;
#[cfg(test)]
mod testing;
pub mod time;
pub mod timeout;
pub mod undo;
pub mod units;

pub use slot::{Factory, Make};
