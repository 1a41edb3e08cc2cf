//! `libackclock_packetdrill.so`: the engine behind an unmodified packetdrill, for its option `--so_filename`.
//!
//! packetdrill reads the script, creates the packets and judges the answers. This library answers its socket calls and carries
//! its packets with [`ackclock_conform::engine`], the same sockets that the project's own runner drives. So a script on which
//! both agree was judged twice, by programs that share no code for the language. Guide: `docs/packetdrill.md`.
//!
//! | module | content |
//! | --- | --- |
//! | `flags` | `--so_flags`: the system, the address, the MTU, a file for commands |
//! | `desk` | the engine on a thread of its own, with virtual time |
//! | `orders` | settings that scripts change with `sysctl` and other commands, and states that `sockstat` shows |
//! | `plugin` | descriptors and calls, without C types |
//! | `names`, `info` | Linux's numbers of options, and the layout of `struct tcp_info` |
//! | `end` | exits with a message |
//! | `abi` | the C signatures: the only unsafe code |

#![cfg(target_os = "linux")]

mod abi;
mod desk;
mod end;
mod flags;
mod info;
mod names;
mod orders;
mod plugin;
