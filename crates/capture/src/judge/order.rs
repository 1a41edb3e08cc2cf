//! What the order of arrivals excludes.
//!
//! Idea: how far copies were overtaken shows in the acknowledgments (`stream/order.rs`). What would have had to be overtaken by
//! much more did not happen: then the copy was lost. That is how senders find losses, too (RFC 8985 §3.1, the reordering window), but
//! they have to guess before the evidence is in.

use super::Facts;
use crate::place::Side;
use crate::stream::cases::{Bare, By, Copy, Cover};
use crate::stream::place::{Distance, Place};

/// What overtakes by this many times the farthest seen is out of reach.
const MARGIN: i64 = 2;

/// How far behind a copy another can have been sent that overtook it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    most: Distance,
    /// The same for one whose timestamp the receiver may hold against it. Without SACK it is a round trip at least, which bounds the
    /// reordering window of senders, too (RFC 8985 §6.2).
    refusing: Distance,
    /// The identifications of packets tell how many were sent.
    counted: bool,
}

impl Reach {
    /// `None` where it is not known, or not needed: a receiver that reports duplicates says more. Without timestamps it is not known: which
    /// copy was late shows only where none was sent again.
    pub(super) fn new(facts: &Facts<'_>, smallest: i64) -> Option<Reach> {
        let stream = facts.stream;
        let known = stream.names_copies() && facts.ack_ids.count_in_any_order() && facts.side == Side::Sender;
        // Without SACK the order is counted from acknowledgments, and none may be missing.
        let uncounted = !stream.facts.sack_seen && facts.ack_ids.many_missing();
        if !known || uncounted || stream.facts.dsacks > 0 {
            return None;
        }
        let Distance { time, packets } = stream.farthest();
        let most = Distance { time: time.saturating_mul(MARGIN), packets: packets.saturating_mul(MARGIN as u64) };
        // Without SACK nobody sees what was overtaken above a hole.
        let unseen = if stream.facts.sack_seen { 0 } else { smallest };
        let refusing = Distance { time: most.time.max(unseen), ..most };
        Some(Reach { most, refusing, counted: facts.ids.tell_order() })
    }

    fn beyond(&self, later: Place, earlier: Place, most: Distance) -> bool {
        let distance = later.behind(earlier);
        distance.time > most.time && (!self.counted || distance.packets > most.packets)
    }

    /// Whether `earlier` came before `later` did, or never.
    pub(super) fn keeps(&self, earlier: Place, later: Place) -> bool {
        self.beyond(later, earlier, self.most)
    }

    /// Whether a copy can have been the first to arrive, if `cover` is the first acknowledgment.
    pub(super) fn first(&self, facts: &Facts<'_>, copy: &Copy, cover: &Cover) -> bool {
        let place = copy.sent.place();
        // Without SACK what was overtaken may be held above a hole.
        let told = facts.stream.facts.sack_seen || cover.by == By::Head;
        let overtaken = told
            && cover.newest.is_some_and(|newest| self.keeps(place, newest))
            && !facts.stream.unreported(place, |a, b| self.keeps(a, b));
        let overtook = cover.by == By::Behind && cover.trigger.is_some_and(|trigger| self.keeps(trigger, place));
        !overtaken && !overtook
    }

    /// Whether a copy can have arrived right before the receiver sent `bare`.
    pub(super) fn caused(&self, copy: &Copy, bare: &Bare) -> bool {
        !bare.newest.is_some_and(|newest| self.keeps(copy.sent.place(), newest))
    }

    /// Whether the receiver can have held a younger timestamp against a copy before its bytes were there.
    pub(super) fn refusable(&self, facts: &Facts<'_>, copy: &Copy) -> bool {
        let place = copy.sent.place();
        facts.stream.refusable(&copy.sent, |f| self.beyond(f, place, self.refusing))
    }
}
