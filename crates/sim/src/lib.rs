//! A deterministic, packet-level network around [`ackclock_tcp`].

pub mod scenario;
pub mod watch;
