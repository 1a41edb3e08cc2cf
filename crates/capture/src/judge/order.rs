//! Conclusions from the order of arrivals.
//!
//! Idea: the acknowledgments show how far copies were overtaken (`stream/order.rs`). A copy that would have had to be overtaken
//! by much more was lost instead. Senders detect losses in the same way (RFC 8985 §3.1, the reordering window), but have to guess
//! before all evidence is available.

use super::Facts;
use crate::place::Side;
use crate::stream::copies::{Bare, By, Copy, Cover};
use crate::stream::place::{Distance, Place};

/// A distance of more than this multiple of the largest overtaking seen is out of reach.
const MARGIN: i64 = 2;

/// How much later than a copy another copy that overtook it can have been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    most: Distance,
    /// The same for a copy whose timestamp may make the receiver refuse it. Without SACK it is at least a round trip, which also
    /// bounds the reordering window of senders (RFC 8985 §6.2).
    refusing: Distance,
    /// Whether the identifications of packets show how many packets were sent.
    counted: bool,
}

impl Reach {
    /// `None` if it is unknown or not needed: a receiver that reports duplicates provides more evidence. Without timestamps it is
    /// unknown, since only segments that were not retransmitted show which copy was late.
    pub(super) fn new(facts: &Facts<'_>, smallest: i64) -> Option<Reach> {
        let stream = facts.stream;
        let known = stream.names_copies() && facts.ack_ids.count_in_any_order() && facts.side == Side::Sender;
        // Without SACK the order is counted from acknowledgments, so none may be missing.
        let uncounted = !stream.facts.sack_seen && facts.ack_ids.many_missing();
        if !known || uncounted || stream.facts.dsacks > 0 {
            return None;
        }
        let Distance { time, packets } = stream.farthest();
        let most = Distance { time: time.saturating_mul(MARGIN), packets: packets.saturating_mul(MARGIN as u64) };
        // Without SACK, overtaking above a hole is invisible.
        let unseen = if stream.facts.sack_seen { 0 } else { smallest };
        let refusing = Distance { time: most.time.max(unseen), ..most };
        Some(Reach { most, refusing, counted: facts.ids.tell_order() })
    }

    fn beyond(&self, later: Place, earlier: Place, most: Distance) -> bool {
        let distance = later.behind(earlier);
        distance.time > most.time && (!self.counted || distance.packets > most.packets)
    }

    /// Whether `earlier` arrived before `later`, or never.
    pub(super) fn keeps(&self, earlier: Place, later: Place) -> bool {
        self.beyond(later, earlier, self.most)
    }

    /// Whether a copy can have been the first to arrive, if `cover` is the first acknowledgment.
    pub(super) fn first(&self, facts: &Facts<'_>, copy: &Copy, cover: &Cover) -> bool {
        let place = copy.sent.place();
        // Without SACK, overtaking copies may be held above a hole.
        let is_reported = facts.stream.facts.sack_seen || cover.by == By::Head;
        let overtaken = is_reported
            && cover.newest.is_some_and(|newest| self.keeps(place, newest))
            && !facts.stream.unreported(place, |a, b| self.keeps(a, b));
        let overtook = cover.by == By::Behind && cover.trigger.is_some_and(|trigger| self.keeps(trigger, place));
        !overtaken && !overtook
    }

    /// Whether a copy may have arrived directly before the receiver sent `bare`.
    pub(super) fn caused(&self, copy: &Copy, bare: &Bare) -> bool {
        !bare.newest.is_some_and(|newest| self.keeps(copy.sent.place(), newest))
    }

    /// Whether the receiver may have refused a copy for a younger timestamp before its bytes were there.
    pub(super) fn refusable(&self, facts: &Facts<'_>, copy: &Copy) -> bool {
        let place = copy.sent.place();
        facts.stream.refusable(&copy.sent, |f| self.beyond(f, place, self.refusing))
    }
}
