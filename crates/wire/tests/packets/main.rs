//! Single packets: what is written is what is read, by us and by others, and nothing that arrives does harm.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the answer")]

mod border;
mod hostile;
mod hostile_host;
mod outside;
mod packet;
mod reset;
mod some;
