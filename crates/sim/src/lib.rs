//! A deterministic, packet-level network around [`ackclock_tcp`].
//!
//! [`scenario`] describes a simulation, [`engine`] runs it, [`watch`] observes it, and [`results`] holds its counts, with
//! [`measures`] on request.

mod app;
mod background;
pub mod element;
pub mod engine;
pub mod error;
pub mod fate;
pub mod histogram;
pub mod host;
pub mod measures;
mod next_event;
pub mod reordering;
pub mod results;
mod rng;
pub mod scenario;
mod shared_transit;
mod slab;
pub mod topology;
mod transit;
pub mod watch;
