//! The kernel's own TCP at an end of a path: its sockets, what it tells about them, and what its counters say.

mod apps;
mod counters;
mod info;
mod receiver;

pub use apps::{Apps, Sink, Source};
pub use counters::{Counters, TOLD};
pub use info::TcpInfo;
pub use receiver::Receiver;
