//! Real packets for [`ackclock_tcp`]: bytes to segments and back, without I/O.
//!
//! The engine knows offsets of 64 bits and no payload. Here are the 32-bit numbers, the headers and the bytes:
//!
//! | module | what |
//! | --- | --- |
//! | [`endpoint`] | one end of a connection with its bytes: packets in, packets out |
//! | [`host`] | many of them behind one device: which packet is whose, listeners, timers |
//! | [`border`] | the conversion of one connection: numbers, window scale, timestamps |
//! | [`stores`] | payload by offset: what was written and is not acknowledged, what arrived and is not read |
//! | [`packet`] | reading an IPv4 or IPv6 packet |
//! | [`write`](mod@write) | writing one |
//! | [`options`], [`dialect`] | the TCP options, and in which order a system writes them |
//! | [`checksum`] | the Internet checksum |
//! | [`pcapng`] | the blocks of a capture file |
//! | [`offload`] | the virtio-net header of a device that cuts and sums by itself |
//! | [`initial`] | where a connection's numbers begin |
//! | [`icmp`] | what the network says about packets |
//! | [`reset`] | the answer to a segment that is for nobody |
//!
//! Nothing here panics on what arrives, whatever it is, and no packet costs an allocation.
//! How to use it: `docs/embedding.md`, which is `examples/echo.rs` explained.

#![forbid(unsafe_code)]

pub mod border;
pub mod checksum;
pub mod dialect;
pub mod endpoint;
pub mod host;
pub mod icmp;
pub mod initial;
pub mod offload;
pub mod options;
pub mod packet;
pub mod pcapng;
pub mod reset;
pub mod stores;
pub mod write;

pub use border::{Border, BorderError};
pub use dialect::Dialect;
pub use endpoint::{Buffers, Endpoint};
pub use host::{Host, HostConfig, Id};
pub use initial::{Initial, Secret};
pub use options::Options;
pub use packet::{captured_ip, parse, Captured, Checksums, Header, Ip, Packet, Refused};
pub use stores::{ReceiveStore, SendStore};
pub use write::{WriteError, Writing, Written};
