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
//!
//! # Example
//!
//! Two connections over a wire in memory that loses the tenth segment. The driver brings the clock and carries segments;
//! payload, which it would carry too, is left out.
//!
//! ```
//! use ackclock_tcp::connection::Connection;
//! use ackclock_tcp::segment::Segment;
//! use ackclock_tcp::stack::Stack;
//! use ackclock_tcp::time::{Nanos, Time};
//!
//! let stack = Stack::named("rack-tlp").expect("a named stack");
//! let (mss, window, bytes) = (1460, 1 << 20, 200_000);
//! let mut ends = [Connection::connect(&stack, mss, window), Connection::listen(&stack, mss, window)];
//! ends[0].write(bytes);
//! let (mut now, mut sent) = (Time::ZERO, 0);
//! while ends[1].received() < bytes {
//!     for from in [0, 1] {
//!         let mut segment = Segment::EMPTY;
//!         while ends[from].poll_transmit(now, &mut segment, &mut ()) {
//!             sent += 1;
//!             if sent != 10 {
//!                 let outcome = ends[1 - from].on_segment(now, &segment, &mut ());
//!                 assert!(outcome.refused.is_none());
//!             }
//!         }
//!     }
//!     now += Nanos::from_millis(10);
//!     for end in &mut ends {
//!         if end.next_timer().is_some_and(|due| due <= now) {
//!             end.on_timer(now, &mut ());
//!         }
//!     }
//! }
//! assert!(now < Time::ZERO + Nanos::from_secs(1), "the loss was repaired without a timeout");
//! ```
//!
//! A connection built from another stack (see [`stack::Stack::named`]), or from a stack with another answer in one of its slots, is driven in the
//! same way. An algorithm from outside this crate fills a slot as a [`Factory`].

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
