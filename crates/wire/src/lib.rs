//! Real packets for [`ackclock_tcp`]: bytes to segments and back, without I/O.
//!
//! The engine has offsets of 64 bits and no payload. This crate has the 32-bit numbers, the headers and the
//! bytes:
//!
//! | module | content |
//! | --- | --- |
//! | [`endpoint`] | one end of a connection with its bytes: packets in, packets out |
//! | [`host`] | many of them behind one device: assignment of packets, listeners, timers |
//! | [`border`] | the conversion of one connection: numbers, window scale, timestamps |
//! | [`stores`] | payload by offset: written and not acknowledged, arrived and not read |
//! | [`packet`] | reading an IPv4 or IPv6 packet |
//! | [`write`](mod@write) | writing one |
//! | [`options`], [`dialect`] | the TCP options, and the order in which a system writes them |
//! | [`checksum`] | the Internet checksum |
//! | [`pcapng`] | the blocks of a capture file |
//! | [`offload`] | the virtio-net header of a device that segments packets and computes checksums |
//! | [`initial`] | the initial numbers of a connection |
//! | [`icmp`] | ICMP messages about packets |
//! | [`reset`] | the answer to a segment without a connection |
//!
//! No arriving packet, however malformed, causes a panic, and no packet costs an allocation. For its use see
//! `docs/embedding.md`, which explains `examples/echo.rs`.
//!
//! # Example
//!
//! Two ends of a connection exchange IPv4 packets with checksums.
//!
//! ```
//! use ackclock_tcp::stack::Stack;
//! use ackclock_tcp::time::{Nanos, Time};
//! use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Secret, Writing};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, b) = ("10.0.0.1:40000".parse()?, "10.0.0.2:7".parse()?);
//! let stack = Stack::named("linux-2025").ok_or("no such stack")?;
//! let key = Secret::new(*b"16 random bytes!"); // draw it anew at every start
//! let border = |from, to| Border::new(from, to, 1500, key.choose(from, to, Time::ZERO), Dialect::Linux);
//! let buffers = Buffers { send: 1 << 16, receive: 1 << 16 };
//! let mut ends = [Endpoint::connect(&stack, border(a, b)?, buffers), Endpoint::listen(&stack, border(b, a)?, buffers)];
//! assert_eq!(ends[0].write(b"hello"), 5);
//! let (mut now, mut packet, mut heard) = (Time::ZERO, [0; 1500], [0; 16]);
//! let read = loop {
//!     for from in [0, 1] {
//!         while let Some(sent) = ends[from].poll_transmit(now, Writing::Whole, &mut packet, &mut ())? {
//!             ends[1 - from].on_packet(now, &parse(&packet[..sent.len], Checksums::Verify)?, &mut ());
//!         }
//!     }
//!     match ends[1].read(&mut heard) {
//!         0 => now += Nanos::from_millis(10),
//!         n => break n,
//!     }
//! };
//! assert_eq!(&heard[..read], b"hello");
//! # Ok(())
//! # }
//! ```

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
