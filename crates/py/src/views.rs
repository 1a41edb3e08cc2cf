//! The view of a sender or a packet that classes in Python get: copies that they may keep, and views that are lent for
//! one call.

mod ack;
mod answers;
mod board;
mod context;
mod episode;
mod give_back;
mod packet;
mod window;

pub(crate) use ack::{Ack, Newest, Sample};
pub(crate) use answers::{Advice, Cause, Cut, Flow, Gate, Prior, Rearm, Repair, Verdict, Xmit};
pub(crate) use board::{Board, Segment};
pub(crate) use context::{Context, Phase};
pub(crate) use episode::{finite, Episode, Ledger, Loss, Mistake};
pub(crate) use give_back::GiveBack;
pub(crate) use packet::{Fate, Packet};
pub(crate) use window::{fits, Window};
