//! The engine on a network interface: a TCP that communicates with real kernels, in network namespaces created and
//! removed here.
//!
//! | module | content |
//! | --- | --- |
//! | [`namespace`] | network namespaces of this process, which end with it |
//! | [`netlink`] | links, addresses and routes in them |
//! | [`wire`] | devices that read and write frames |
//! | [`emulator`] | the links of a scenario in real time |
//! | [`kernel`] | the kernel's TCP at an end: sockets, `tcp_info`, counters |
//! | [`tun`] | a TUN device, with or without offload |
//! | [`veth`] | a packet socket, where no TUN device opens |
//! | [`driver`] | the loop between a wire and a host's TCP |
//! | [`bench`](mod@bench) | transfers to and from this machine's kernel, with their speed and hashes |
//! | [`transfer`] | a file sent or received, over a device of the user too |
//! | [`stream`] | the files that a transfer reads and writes |
//! | [`report`] | the results, as JSON |
//! | [`peer`], [`payload`] | the kernel's end of a transfer; the bytes |
//! | [`supervise`](mod@supervise) | work on a thread of its own, with progress and cancellation |
//! | [`path`] | a scenario with real TCPs at its ends |
//! | [`shell`] | any program behind a scenario's path |
//! | `conform` | conformance scripts against a TCP in another process |
//! | [`pcapng`] | a capture of the frames on a wire |
//! | [`clock`], [`realtime`] | time, lateness, and the priority that limits it |
//!
//! Linux only. Elsewhere the crate compiles, and [`supported`] explains in one sentence that it cannot run. Nothing
//! outside the namespaces created here is changed, except a device that the user names.

#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod bench;
#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod conform;
#[cfg(target_os = "linux")]
pub mod driver;
pub mod emulator;
pub mod error;
#[cfg(target_os = "linux")]
pub mod kernel;
#[cfg(target_os = "linux")]
pub mod link;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod netlink;
#[cfg(target_os = "linux")]
pub mod path;
#[cfg(target_os = "linux")]
pub mod payload;
#[cfg(target_os = "linux")]
pub mod pcapng;
#[cfg(target_os = "linux")]
pub mod peer;
#[cfg(target_os = "linux")]
pub mod realtime;
#[cfg(target_os = "linux")]
pub mod report;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
pub mod shell;
#[cfg(target_os = "linux")]
pub mod stream;
#[cfg(target_os = "linux")]
pub mod supervise;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
pub mod transfer;
#[cfg(target_os = "linux")]
pub mod tun;
#[cfg(target_os = "linux")]
pub mod veth;
#[cfg(target_os = "linux")]
pub mod wire;

pub use error::LiveError;

/// Whether this system has everything that live runs need; the user's permissions are checked separately.
///
/// # Errors
/// [`LiveError::Unavailable`] on every system but Linux.
pub fn supported() -> Result<(), LiveError> {
    if cfg!(target_os = "linux") {
        Ok(())
    } else {
        Err(LiveError::Unavailable("live runs need Linux with network namespaces and TUN devices".into()))
    }
}
