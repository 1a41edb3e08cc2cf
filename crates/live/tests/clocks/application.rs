//! The application at one end: the same under each clock, over whatever sockets that clock has.

use ackclock_tcp::time::{Nanos, Time};
use std::collections::VecDeque;

/// Something that an application does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Act {
    /// How long after the connection opened.
    pub(crate) after: Nanos,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// Writes this many bytes, as room permits.
    Write(u64),
    /// Reads at most this many bytes of what has arrived.
    Read(u64),
    /// Says that nothing more will be written, once everything is.
    Shutdown,
    /// Lets the connection go.
    Close,
    /// Resets it.
    Abort,
}

/// One connection, as an application has it.
pub(crate) trait Socket {
    /// Whether the handshake is over.
    fn is_open(&self) -> bool;
    /// Writes up to `bytes`, returns how many were taken.
    fn write(&mut self, bytes: u64) -> u64;
    /// Reads up to `bytes`.
    fn read(&mut self, bytes: u64);
    fn shutdown(&mut self);
    fn close(&mut self, now: Time);
    fn abort(&mut self, now: Time);
}

pub(crate) struct Application {
    acts: VecDeque<Act>,
    eager: bool,
    opened: Option<Time>,
    to_write: u64,
    shut: bool,
    /// It has let its connection go.
    gone: bool,
}

impl Application {
    pub(crate) fn new(acts: &[Act], eager: bool) -> Self {
        let acts = acts.iter().copied().collect();
        Application { acts, eager, opened: None, to_write: 0, shut: false, gone: false }
    }

    /// When it acts next.
    pub(crate) fn next(&self) -> Option<Time> {
        let opened = self.opened.filter(|_| !self.gone)?;
        self.acts.front().map(|act| opened + act.after)
    }

    /// Something happened, or the time of [`Application::next`] has come.
    pub(crate) fn turn(&mut self, now: Time, socket: &mut impl Socket) {
        if self.opened.is_none() && socket.is_open() {
            self.opened = Some(now);
        }
        if self.opened.is_none() || self.gone {
            return;
        }
        while self.next().is_some_and(|at| at <= now) {
            match self.acts.pop_front().unwrap().what {
                What::Write(bytes) => self.to_write += bytes,
                What::Read(bytes) => socket.read(bytes),
                What::Shutdown => self.shut = true,
                What::Close => {
                    self.gone = true;
                    return socket.close(now);
                }
                What::Abort => {
                    self.gone = true;
                    return socket.abort(now);
                }
            }
        }
        if self.eager {
            socket.read(u64::MAX);
        }
        if self.to_write > 0 {
            self.to_write -= socket.write(self.to_write);
        }
        if self.shut && self.to_write == 0 {
            self.shut = false;
            socket.shutdown();
        }
    }
}
