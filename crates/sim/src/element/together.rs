//! Checks that everything on one direction of a link fits together.

use super::direction::{DirectionSpec, QueueLimit};
use super::properties::RateUse;
use super::split::SplitSpec;
use super::ElementSpec;
use crate::error::Fault;
use ackclock_tcp::units::Rate;

impl DirectionSpec {
    /// The split that replaces this direction's queue and transmitter.
    pub fn split(&self) -> Option<&SplitSpec> {
        self.elements.iter().find_map(|e| if let ElementSpec::Split(split) = e { Some(split) } else { None })
    }

    /// Whether packets wait here because they are transmitted at a rate.
    pub fn waits(&self) -> bool {
        self.rate.is_some() || self.elements.iter().any(|e| e.properties().rate == RateUse::Sets)
    }

    /// The first value out of range: rate, delay, queue, and in the elements.
    pub fn fault(&self) -> Option<Fault> {
        let queue = match self.queue.limit {
            QueueLimit::Packets(0) if self.queue.limit_counts_service => {
                let allowed = "at least 1 packet where the limit counts the packet in transmission";
                Some(Fault::of("queue.limit", "0 packets", allowed))
            }
            QueueLimit::Bytes(0) => Some(Fault::of("queue.limit", "0 B", "at least 1 B")),
            QueueLimit::Unlimited | QueueLimit::Packets(_) | QueueLimit::Bytes(_) => None,
        };
        (self.rate == Some(Rate(0)))
            .then(|| Fault::of("rate", "0 bps", "at least 1 bps"))
            .or_else(|| Fault::time("delay", self.delay))
            .or(queue)
            .or_else(|| {
                let of =
                    |(i, e): (usize, &ElementSpec)| self.element_fault(e).map(|f| f.within(format!("elements[{i}]")));
                self.elements.iter().enumerate().find_map(of)
            })
    }

    /// The fault of one of the elements, on this link and beside the others.
    fn element_fault(&self, e: &ElementSpec) -> Option<Fault> {
        let (kind, is) = (e.kind(), e.properties());
        let rate = match is.rate {
            RateUse::None | RateUse::Sets => true,
            RateUse::Waits => self.waits(),
            RateUse::Needs => self.rate.is_some(),
        };
        if !rate {
            let found = format!("a {kind} on a link of unlimited rate");
            return Some(Fault::of("", found, "a limited rate, since no packet waits at an unlimited one"));
        }
        if let Some(what) = is.only_one {
            let n = self.elements.iter().filter(|o| o.properties().only_one == Some(what)).count();
            if n > 1 {
                let found = format!("a {kind} where {n} elements decide on {what}");
                return Some(Fault::of("", found, "one in each direction of a link"));
            }
        }
        if !is.beside_split && self.split().is_some() {
            let found = format!("a {kind} beside a split, where it would act after the queue");
            return Some(Fault::of(
                "",
                found,
                "elements that act before the queue; put others on the paths of the split",
            ));
        }
        e.fault(self)
    }
}
