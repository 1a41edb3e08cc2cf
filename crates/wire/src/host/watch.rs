//! What a driver hears of a packet, and of the senders' decisions.

use super::Id;
use ackclock_tcp::connection::Outcome;
use ackclock_tcp::event::Observer;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It was this connection's; what was taken of it, or why nothing.
    Of(Id, Outcome),
    /// The host answers it itself.
    Answered,
    /// Nothing: it was for another host, or there is no answer to it.
    Ignored,
}

/// Who listens to the senders of a host's connections. `()` listens to none, and costs nothing.
pub trait Watch {
    /// What listens to one connection.
    type Of: Observer;
    /// Whoever listens to this one.
    fn of(&mut self, id: Id) -> &mut Self::Of;
}

impl Watch for () {
    type Of = ();
    #[inline]
    fn of(&mut self, _: Id) -> &mut () {
        self
    }
}
