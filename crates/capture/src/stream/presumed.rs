//! First copies that were never captured here: packets are missing in the order of transmission, and later packets repeat them.
//!
//! Idea (decision 0170): data lost before the place of the capture leaves a hole in the sequence numbers, unless nothing after
//! it arrived. Then only the order of transmission ([`crate::ids`]) shows that something is missing, and its content has to be
//! presumed.

use super::copies::{Copy, Piece, Reports};
use super::{sent, Sent, Stream};
use crate::seen::Seen;

/// The smallest retransmission timeout in use, nanoseconds.
/// Source: Linux 6.18, `include/net/tcp.h`, `TCP_RTO_MIN`.
const LEAST_TIMEOUT: i64 = 200_000_000;

/// Data packets missing in the order of transmission, directly before the packet that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missed {
    pub(crate) packets: u64,
    /// The smallest round-trip time between the hosts, nanoseconds.
    pub(crate) round_trip: Option<i64>,
}

/// Data from `from` to `to` that arrives for the first time has been sent before. From `sure` on this is a guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Presumed {
    from: u64,
    sure: u64,
    pub(super) to: u64,
    /// This holds only if the data arrives after a silence of more than this, nanoseconds.
    after: Option<i64>,
}

impl Stream {
    /// The number of missing packets that may themselves have repeated older data, and the silence that must follow before the
    /// others are assumed to be the next data, nanoseconds. `None` if nothing can be concluded.
    ///
    /// If a silence of a round trip follows, the missing packets were the next data, except for lost retransmissions: those of
    /// the holes, and one for each timeout. If this segment does not begin the first hole, all data from that hole on may have
    /// been among the missing packets. Without a silence this is a guess. If the first hole has been open for a round trip, the
    /// sender may know of it; then the segment that fills it was not sent twice within that time. Otherwise a silence may still
    /// follow, and the packets after it may repeat the missing ones.
    fn may_repeat(&self, s: &Seen, missed: Missed, silence: i64, newest: bool) -> Option<(u64, Option<i64>)> {
        let round_trip = missed.round_trip.filter(|_| s.seq <= self.hi && s.len > 0)?;
        let segments = |bytes: u64| bytes.div_ceil(u64::from(s.len));
        let lacks = self.holes.iter().next().map_or(self.hi, |(left, _)| left);
        let known = || self.facts.acked_at.is_some_and(|at| s.at - at >= round_trip);
        match (silence > round_trip, lacks == s.seq) {
            (true, true) if newest => Some((repeats(silence) + segments(self.holes.total()), None)),
            (true, true) => Some((missed.packets, None)),
            (true, false) => {
                let again = repeats(silence) + segments(self.hi - lacks.min(s.seq));
                (again < missed.packets).then_some((again, None))
            }
            (false, true) if newest && s.seq < self.hi && known() => Some((missed.packets, None)),
            (false, _) => (newest && s.seq < self.hi).then_some((missed.packets, Some(round_trip))),
        }
    }

    /// Packets are missing directly before this one: records the data that they are presumed to have carried.
    pub(super) fn missing(&mut self, s: &Seen, order: u64, missed: Missed, silence: i64) {
        let last = self.ring.len().checked_sub(1).and_then(|i| self.ring.get(i));
        let newest = last.is_some_and(|n| n.order + missed.packets + 1 == order);
        let Some((again, after)) = self.may_repeat(s, missed, silence, newest) else { return };
        let behind = |packets: u64| self.hi.saturating_add(packets.saturating_mul(u64::from(s.len)));
        // Packets missing now may have been missing before.
        let sure = behind(missed.packets.saturating_sub(again)).max(self.presumed.sure);
        let to = behind(missed.packets).max(self.presumed.to);
        self.presumed = Presumed { from: self.hi, sure, to, after };
        self.cases_mut().presume(order - missed.packets, order);
    }

    /// Whether data that arrives here for the first time has been sent before, as the missing packets suggest; if so, records
    /// this.
    pub(super) fn presume(&mut self, s: &Seen, order: u64, silence: i64) -> bool {
        let Presumed { from, sure, to, after } = self.presumed;
        if s.seq < from || s.seq >= to || s.len == 0 || self.has_arrived(s, order) {
            return false;
        }
        if after.is_some_and(|least| silence <= least) {
            self.presumed = Presumed::default();
            return false;
        }
        self.presumed.after = None;
        let end = s.end();
        let sent = Sent { len: (end - s.seq) as u32, ..sent(s, order, s.seq) };
        let guessed = end > sure;
        let cases = self.cases_mut();
        let copies = vec![cases.copies.len() as u32];
        cases.add(Copy { sent, fills: true, again: true, presumed: true, guessed, begin: s.seq, payload: s.len });
        cases.insert(s.seq, Piece { end, copies, cover: None, reports: Reports::default(), before: false });
        self.calm = false;
        true
    }

    /// Whether this packet was thought to be missing. The data presumed for it was not sent before.
    pub(super) fn has_arrived(&mut self, s: &Seen, order: u64) -> bool {
        let has_arrived = self.cases.as_deref_mut().is_some_and(|c| c.has_arrived(order));
        if has_arrived {
            let len = u64::from(s.len);
            self.presumed.sure = self.presumed.sure.saturating_sub(len);
            self.presumed.to = self.presumed.to.saturating_sub(len);
        }
        has_arrived
    }
}

/// The number of segments that may have been retransmitted and lost in a silence (nanoseconds): each timeout takes twice as long
/// as the previous one (RFC 6298 §5.5), and a probe may precede the first (RFC 8985 §7.2).
fn repeats(silence: i64) -> u64 {
    u64::from((silence / LEAST_TIMEOUT + 1).ilog2()) + 1
}
