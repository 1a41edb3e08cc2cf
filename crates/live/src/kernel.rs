//! The kernel's own TCP at an end of a path: its sockets, their `tcp_info`, and its counters.

mod apps;
mod counters;
mod info;
mod ranges;
mod receiver;

pub use apps::{Apps, Sink, Source};
pub use counters::{Counters, SHOWN};
pub use info::TcpInfo;
pub(crate) use ranges::Ranges;
pub use receiver::Receiver;
