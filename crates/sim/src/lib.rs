//! A deterministic, packet-level network around [`ackclock_tcp`].
//!
//! [`scenario`] describes a simulation, [`engine`] runs it, [`watch`] observes it, and [`results`] holds its counts, with
//! [`measures`] on request.
//!
//! # Example
//!
//! One flow over a link of 5 Mb/s, with two senders. The same seed gives the same run, to the byte.
//!
//! ```
//! use ackclock_sim::engine::Network;
//! use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
//! use ackclock_tcp::stack::Stack;
//! use ackclock_tcp::time::Nanos;
//! use ackclock_tcp::units::Rate;
//!
//! let rate = Some(Rate(5_000_000));
//! let scenario = dumbbell(1, &pipe(None, Nanos::from_millis(1)), &pipe(rate, Nanos::from_millis(20)), &flow());
//! for name in ["newreno", "rack-tlp"] {
//!     let stacks = [Stack::named(name).expect("a named stack")];
//!     let mut network = Network::new(&scenario, &stacks, 1, ()).expect("a scenario that can be run");
//!     let results = network.run();
//!     let flow = results.flows[0];
//!     assert_eq!(flow.retransmitted, flow.needed + flow.refused + flow.needless);
//!     assert!(flow.acked > 30_000_000, "{name} fills the link for 60 s");
//! }
//! ```

mod app;
mod background;
pub mod element;
pub mod engine;
pub mod error;
pub mod fate;
pub mod fetch;
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
