//! What algorithms in Python see of a sender: copies that they may keep, and views that are lent for one call.

mod ack;
mod board;
mod context;
mod window;

pub(crate) use ack::{Ack, Newest, Sample};
pub(crate) use board::{Board, Segment};
pub(crate) use context::{Context, Phase};
pub(crate) use window::Window;
