//! Statistics of the receiving half.

use super::Receiver;
use crate::units::Bytes;

/// The receiving half's part of [`crate::connection::Info`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiverInfo {
    pub(crate) sack: bool,
    pub(crate) wscale: u8,
    pub(crate) mss: u32,
    pub(crate) wnd: Bytes,
}

impl Receiver {
    pub(crate) fn info(&self) -> ReceiverInfo {
        ReceiverInfo { sack: self.sack, wscale: self.wscale, mss: self.mss, wnd: self.right_edge - self.rcv_nxt }
    }
}
