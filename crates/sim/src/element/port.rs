//! The parts of a link's direction that only some directions have.

use super::drop_tail::{DropTail, Limit};
use super::flight::Flight;
use super::held::{Held, Late};
use super::packet::Place;
use super::queued_link::QueuedLink;
use super::split::Split;
use super::{Delays, Gate};
use crate::transit::Form;

/// The queue of a direction and its elements; many directions have none of these.
pub(crate) struct Port {
    pub(crate) limit: Limit,
    /// The queue of a computed link.
    pub(crate) tail: Option<DropTail>,
    /// The packets of a computed link whose elements hold packets back or add to its delay.
    pub(crate) overtaking: Option<Overtaking>,
    /// The queue of a queued link.
    pub(crate) queue: Option<QueuedLink>,
    pub(crate) entry: Vec<Gate>,
    pub(crate) exit: Vec<Gate>,
    /// After the entry, several links in place of this one.
    pub(crate) split: Option<Split>,
    /// Whether the queue's length is reported to the listener.
    pub(crate) reports: bool,
}

/// The packets of a computed link that are not in its transit.
#[derive(Default)]
pub(crate) struct Overtaking {
    /// Behind the transmitter.
    pub(crate) flight: Flight,
    /// In front of the queue.
    pub(crate) held: Held,
}

impl Overtaking {
    /// When the next packet arrives, or need no longer be held back.
    #[inline]
    pub(crate) fn next(&self) -> Option<u64> {
        let (lands, continues) = (self.flight.next(), self.held.next());
        lands.map_or(continues, |t| Some(continues.map_or(t, |c| c.min(t))))
    }

    /// All of them.
    pub(crate) fn count(&self) -> u32 {
        self.flight.count() + self.held.count()
    }
}

impl Port {
    /// The port of a link of this form, without elements. `reports`: its queue may fill, and is limited or watched.
    pub(crate) fn new(form: Form, limit: Limit, reports: bool, watched: bool) -> Self {
        let (limited, overtaking, queued) = match form {
            Form::Computed { limited, gated: _ } => (limited, false, false),
            Form::Overtaking { limited, gated: _ } => (limited, true, false),
            Form::Queued | Form::HandsOn => (false, false, true),
        };
        Port {
            limit,
            tail: limited.then(|| DropTail::new(limit, watched)),
            overtaking: overtaking.then(Overtaking::default),
            queue: queued.then(|| QueuedLink::new(limit)),
            entry: Vec::new(),
            exit: Vec::new(),
            split: None,
            reports,
        }
    }

    /// Whether a packet's arrival at the far end is known when the packet leaves the transmitter, and nothing acts on it before it
    /// enters the queue.
    pub(crate) fn knows_arrivals(&self) -> bool {
        let simple = self.entry.is_empty() && self.split.is_none();
        self.queue.as_ref().is_some_and(|q| simple && q.knows_arrivals())
    }

    /// The greatest length so far of a limited queue, in packets.
    pub(crate) fn longest(&self) -> Option<u32> {
        if self.limit == Limit::None {
            return None;
        }
        self.queue.as_ref().map(QueuedLink::longest).or(self.tail.as_ref().map(DropTail::longest))
    }

    /// From now on `more` adds to the link's delay. Called only while the link is laid out.
    pub(crate) fn lengthen(&mut self, more: Delays) {
        match (&mut self.queue, &mut self.overtaking) {
            (Some(queue), _) => queue.flight.lengthen(more),
            (None, Some(overtaking)) => overtaking.flight.lengthen(more),
            (None, None) => unreachable!("an element that adds to the delay declares it, and such a link has a flight"),
        }
    }

    /// Holds a packet back. The elements have declared that they may do so ([`HoldsBack`](super::properties::Acts::HoldsBack)).
    pub(crate) fn hold(&mut self, late: Late) {
        match (&mut self.queue, &mut self.overtaking) {
            (Some(queue), _) => queue.held.hold(late),
            (None, Some(overtaking)) => overtaking.held.hold(late),
            (None, None) => {
                unreachable!("an element that holds packets back declares it, and such a link can hold them")
            }
        }
    }

    pub(crate) fn gates(&mut self, place: Place) -> &mut Vec<Gate> {
        match place {
            Place::Entry => &mut self.entry,
            Place::Exit => &mut self.exit,
        }
    }
}
