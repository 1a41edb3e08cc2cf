//! The script's descriptors, and the TCP's sockets behind them.

use std::collections::BTreeMap;

/// Sockets by the descriptors of the script.
#[derive(Default)]
pub(super) struct Sockets {
    open: BTreeMap<i64, Descriptor>,
    /// The descriptor that `tcp_info` is read from: the last one that got a connection.
    pub(super) under_test: Option<u32>,
    /// A call that blocks, with the rest of its event.
    pub(super) waiting: Option<super::calls::Waiting>,
}

/// An open descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    pub(super) socket: u32,
    pub(super) non_blocking: bool,
}

impl Sockets {
    pub(super) fn insert(&mut self, fd: i64, socket: u32) {
        self.open.insert(fd, Descriptor { socket, non_blocking: false });
        self.under_test = Some(socket);
    }

    pub(super) fn get(&self, fd: i64) -> Option<Descriptor> {
        self.open.get(&fd).copied()
    }

    pub(super) fn get_mut(&mut self, fd: i64) -> Option<&mut Descriptor> {
        self.open.get_mut(&fd)
    }

    pub(super) fn remove(&mut self, fd: i64) {
        self.open.remove(&fd);
    }
}
