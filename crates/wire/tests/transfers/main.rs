//! Complete transfers between endpoints over a virtual wire: the bytes read are the bytes written, whatever the wire does.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

mod every_stack;
mod flood;
mod hosts;
mod icmp;
mod lan;
mod memory;
mod net;
mod path_mtu;
mod reports;
mod smoltcp_peer;
mod stores;
mod time_wait;
