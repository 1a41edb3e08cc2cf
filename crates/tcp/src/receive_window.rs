//! How large may the receive buffer become? The driver sets the maximum; a rule says where it begins and how it grows.
//!
//! The receiver reports round trips and the data read by the application to the rule, and never takes back a window that it has
//! advertised (RFC 9293 §3.8.6). The window scale is chosen for the largest buffer (RFC 7323 §2.3). Without a handshake both
//! ends know the largest window from the start: nothing grows.

pub mod drs;
pub mod linux;
pub mod rtt;

use crate::error::StackError;
use crate::seq::Offset;
use crate::slot::{dispatch, Factory};
use crate::time::{Nanos, Time};
use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The receiver's state when an ACK is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time.
    pub now: Time,
    /// The next offset expected.
    pub rcv_nxt: Offset,
    /// The end of the window that the ACK advertises.
    pub right_edge: Offset,
    /// The application has read everything before this offset.
    pub read: Offset,
    /// The RTT, if known.
    pub rtt: Option<Nanos>,
}

/// A receive buffer that grows.
pub trait ReceiveWindow: Send {
    /// Its initial size, bytes.
    fn initial(&self) -> Bytes;
    /// An ACK is sent. Returns the size that the buffer should have from now on, in bytes; a smaller size than the current one
    /// has no effect.
    fn on_ack(&mut self, p: &Progress) -> Bytes;
}

/// How large the receive buffer may become.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReceiveWindowSpec {
    /// The full size from the start.
    #[default]
    #[serde(deserialize_with = "crate::slot::no_parameters")]
    Fixed,
    /// Grows with the data that arrives in a round trip (dynamic right-sizing; Fisk & Feng 2001).
    Drs(drs::DrsSpec),
    /// Follows the data read in a round trip, and opens by two segments for each one that arrives (Linux).
    Linux(linux::LinuxWindowSpec),
    /// An algorithm from outside the crate.
    #[serde(skip_deserializing)]
    #[schemars(skip)]
    Custom(Factory<dyn ReceiveWindow>),
}

/// The state of a rule by which a buffer grows.
pub enum AnyReceiveWindow {
    /// See [`drs`].
    Drs(drs::Drs),
    /// See [`linux`].
    Linux(linux::LinuxWindow),
    /// An algorithm from outside the crate.
    Custom(Box<dyn ReceiveWindow>),
}

impl ReceiveWindowSpec {
    /// Checks the description.
    pub(crate) fn validate(&self) -> Result<(), StackError> {
        match self {
            ReceiveWindowSpec::Fixed | ReceiveWindowSpec::Custom(_) => Ok(()),
            ReceiveWindowSpec::Drs(s) => s.validate(),
            ReceiveWindowSpec::Linux(s) => s.validate(),
        }
    }

    /// Builds the rule of one flow whose peer sends segments of up to `mss` bytes; `None` if its buffer does not grow.
    pub fn build(&self, mss: u32) -> Option<AnyReceiveWindow> {
        match self {
            ReceiveWindowSpec::Fixed => None,
            ReceiveWindowSpec::Drs(s) => Some(AnyReceiveWindow::Drs(drs::Drs::new(s))),
            ReceiveWindowSpec::Linux(s) => Some(AnyReceiveWindow::Linux(linux::LinuxWindow::new(s, mss))),
            ReceiveWindowSpec::Custom(f) => Some(AnyReceiveWindow::Custom((f.make)(mss))),
        }
    }

    /// The window that a SYN may advertise for a buffer that can grow to `largest` bytes.
    pub(crate) fn at_first(&self, mss: u32, largest: Bytes) -> Bytes {
        self.build(mss).map_or(largest, |rule| rule.initial().min(largest))
    }
}

macro_rules! each {
    ($self:expr, $x:ident => $call:expr) => { dispatch!($self, AnyReceiveWindow: Drs | Linux | Custom, $x => $call) };
}

impl ReceiveWindow for AnyReceiveWindow {
    fn initial(&self) -> Bytes {
        each!(self, x => x.initial())
    }
    fn on_ack(&mut self, p: &Progress) -> Bytes {
        each!(self, x => x.on_ack(p))
    }
}
