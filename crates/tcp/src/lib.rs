//! A sans-I/O TCP in which every part of loss recovery can be exchanged.
//!
//! A folder is a question; a file is one published answer.

pub mod ack;
pub mod event;
pub mod receiver;
pub mod segment;
pub mod seq;
pub mod time;
pub mod units;
