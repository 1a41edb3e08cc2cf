//! The information for a driver about a packet, and about the senders' decisions.

use super::Id;
use ackclock_tcp::connection::Outcome;
use ackclock_tcp::event::Observer;

/// The result of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It belonged to this connection; the outcome says how much was taken, or why nothing was.
    Of(Id, Outcome),
    /// The host itself answers it.
    Answered,
    /// Nothing was done: it was for another host, or needs no answer.
    Ignored,
}

/// Listens to the senders of a host's connections. `()` listens to none, and costs nothing.
pub trait Watch {
    /// The listener of one connection.
    type Of: Observer;
    /// The listener of this connection.
    fn of(&mut self, id: Id) -> &mut Self::Of;
}

impl Watch for () {
    type Of = ();
    fn of(&mut self, _: Id) -> &mut () {
        self
    }
}
