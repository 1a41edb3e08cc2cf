//! A deterministic, packet-level network around [`ackclock_tcp`].
//!
//! [`scenario`] says what is simulated, [`engine`] runs it, [`watch`] looks on, [`results`] are left.

mod app;
mod background;
pub mod element;
pub mod engine;
pub mod error;
pub mod fate;
pub mod host;
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
