//! The kernel's own TCP at an end of a path: its sockets, what it tells about them, and what its counters say.

mod apps;
mod counters;
mod info;
mod ranges;
mod receiver;

pub use apps::{Apps, Sink, Source};
pub use counters::{Counters, TOLD};
pub use info::TcpInfo;
pub(crate) use ranges::Ranges;
pub use receiver::Receiver;
