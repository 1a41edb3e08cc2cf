//! The end of a transfer: the wait after its last segment, a peer that stays silent, and full segments that never arrive.

use super::cause::cause;
use super::{threshold, Facts, Found, Policer, Stall, Stalls, Sums, SIDES};
use crate::place::Side;
use ackclock_course::stall::cause::{Cause, CAUSES};

/// The number of copies of a segment without any reply from which on a peer has gone, or a path drops segments of that size.
const COPIES: usize = 3;
/// Segments up to this size are sent without knowledge of the path, bytes (RFC 1122 §4.2.2.6): that they are lost shows no hole.
const DEFAULT_MSS: u32 = 536;
/// A transfer with this part of a policer's rate is as fast as the policer allows.
const NEAR: f64 = 0.8;
/// If this many segments and copies in a row have no effect, the path is down: by chance it is unlikely even with heavy loss.
const SILENT: u64 = 6;
/// An ACK is delayed by less than this, nanoseconds (RFC 1122 §4.2.3.2).
const LONGEST_DELAY: i64 = 500_000_000;

/// The segments of the largest size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Full {
    /// Their payload, bytes.
    pub(super) len: u32,
    /// The end of the first of them.
    end: u64,
    /// The number of copies of that one.
    copies: usize,
}

impl Full {
    /// A segment at least as large as all before it.
    #[inline]
    pub(super) fn sent(&mut self, len: u32, end: u64) {
        if len > self.len {
            *self = Full { len, end, copies: 1 };
        } else {
            self.copies += usize::from(end == self.end);
        }
    }
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    /// When its last packet was captured, and the frame.
    pub(crate) last: (i64, u64),
    /// The time that is divided among the causes: from the first data to the last acknowledgment of new data.
    pub(crate) during: (i64, i64),
    /// Whether acknowledgments of these data were captured.
    pub(crate) acks: bool,
    /// Whether no more than a tenth of the retransmissions were needless or refused.
    pub(crate) lossy: bool,
    /// The smallest round-trip time, nanoseconds.
    pub(crate) smallest: Option<i64>,
}

impl Stalls {
    /// The results at the end, for this side of the data and this round-trip time, nanoseconds.
    pub(crate) fn finish(mut self, side: Side, round_trip: Option<i64>, end: End) -> Found {
        let round_trip = round_trip.or(self.answer());
        let threshold = threshold(round_trip);
        let (from, to) = end.during;
        let mut found = Found { threshold, sending: (to - from).max(0), ..Found::default() };
        if !end.acks {
            // What a sender waited for cannot be known without the other direction.
            let waits: i64 = self.kept.iter().map(|f| clipped(f, to)).sum();
            found.waits[Cause::Unknown as usize] = waits.min(found.sending);
            found.sending -= found.waits[Cause::Unknown as usize];
            return found;
        }
        let open_end = self.open_end(end);
        let last_ack = to.saturating_sub(self.now.from);
        if self.now.begun && open_end.is_none() && last_ack > threshold.max(self.recent()).saturating_add(LONGEST_DELAY)
        {
            // It was late, or an earlier one was not captured.
            found.add(Cause::Unknown, last_ack);
        }
        self.kept.extend(open_end);
        self.mark_silence(side);
        if side != Side::Receiver {
            self.mark_outages();
        }
        found.policer = self.policer(side, round_trip, end);
        let is_policed = found.policer.is_some();
        for facts in &self.kept {
            let cause = as_policed(cause(facts, side, round_trip), is_policed);
            found.add(cause, clipped(facts, to));
            found.after[cause as usize] += facts.length() - clipped(facts, to);
            if facts.length() > threshold {
                let (count, length) = &mut found.by_cause[cause as usize];
                (*count, *length) = (*count + 1, *length + facts.length());
                found.kept.push(Stall { facts: *facts, cause });
            }
        }
        for (cause, short) in [Cause::Recovery, Cause::ReducedWindow].into_iter().zip(self.short) {
            found.add(as_policed(cause, is_policed), short);
        }
        if let Some(sums) = &self.shorter {
            found.add_shorter(&sums[SIDES.iter().position(|s| *s == side).unwrap_or(2)], is_policed);
        }
        let carried = self.una.saturating_sub(self.start) as f64 * 1e9;
        if found.policer.is_some_and(|p| carried >= NEAR * p.rate * (to - from) as f64) {
            found.add(Cause::Policer, found.sending);
        }
        found
    }

    /// The wait after the last segment, if data were outstanding or the window was closed.
    fn open_end(&mut self, end: End) -> Option<Facts> {
        let (to, after) = end.last;
        self.note();
        let flight = self.max.saturating_sub(self.una);
        let waits = self.now.begun && after != self.now.before && (flight > 0 || self.window == Some(0));
        let facts =
            Facts { to, after, at_end: true, flight, full: self.full_size(), heard: self.heard, ..self.now.facts() };
        waits.then_some(facts)
    }

    /// The policer, if its losses are one's. Where data arrive nothing shows that no queue grew.
    fn policer(&mut self, side: Side, round_trip: Option<i64>, end: End) -> Option<Policer> {
        let losses = self.losses.take().filter(|_| end.lossy && side != Side::Receiver)?;
        losses.policer(round_trip?, end.smallest.or(round_trip)?, self.full_size())
    }

    /// Twice the last round trip, nanoseconds: behind a long queue an ACK takes so long.
    fn recent(&self) -> i64 {
        self.last_answers[0].unwrap_or(0).saturating_mul(2)
    }

    /// Marks the waits in which nothing came back, although much was sent.
    fn mark_outages(&mut self) {
        let full = u64::from(self.full_size().max(1));
        let silent = |f: &Facts| f.flight > 0 && f.ending.is_none() && f.heard.is_some();
        for run in self.kept.chunk_by_mut(|a, b| silent(a) && silent(b) && a.heard == b.heard) {
            // Where a duplicate ACK came, some of the outstanding data had arrived.
            let unanswered = run.iter().all(|f| f.duplicates == 0);
            let segments = run.iter().map(|f| f.flight.div_ceil(full)).max().filter(|_| unanswered).unwrap_or(0);
            if run.len() >= COPIES || run.len() > 1 && segments + run.len() as u64 >= SILENT {
                run.iter_mut().for_each(|f| f.ending = Some(Cause::Outage));
            }
        }
    }

    /// Marks the waits of a sender whose last segments were never answered.
    fn mark_silence(&mut self, side: Side) {
        let unanswered = |f: &&mut Facts| (f.again || f.at_end) && f.flight > 0;
        let (full, una) = (self.full, self.una);
        let smaller_arrived = una > self.start;
        let never_full = full.len > DEFAULT_MSS && full.copies >= COPIES && una < full.end && smaller_arrived;
        let heard = self.heard.unwrap_or(i64::MIN);
        let mut waits: Vec<_> = self.kept.iter_mut().filter(unanswered).collect();
        if side == Side::Receiver || self.max <= una {
            return;
        }
        if never_full {
            let lost =
                waits.into_iter().filter(|f| f.at_end || f.len == full.len && f.seq + u64::from(f.len) == full.end);
            lost.for_each(|f| f.ending = Some(Cause::MtuHole));
            return;
        }
        waits.retain(|f| f.from >= heard);
        if waits.len() >= COPIES {
            waits.into_iter().for_each(|f| f.ending = Some(Cause::PeerGone));
        }
    }
}

/// The length of a wait up to this time.
fn clipped(f: &Facts, to: i64) -> i64 {
    f.to.min(to).saturating_sub(f.from).max(0)
}

impl Found {
    /// Divides time among the causes; never more than there is.
    fn add(&mut self, cause: Cause, length: i64) {
        let length = length.min(self.sending);
        self.waits[cause as usize] += length;
        self.sending -= length;
    }

    fn add_shorter(&mut self, sums: &Sums, is_policed: bool) {
        for (cause, (stalls, length, all)) in CAUSES.iter().zip(sums) {
            let by = &mut self.by_cause[as_policed(*cause, is_policed) as usize];
            *by = (by.0 + stalls, by.1 + length);
            self.add(as_policed(*cause, is_policed), *all);
        }
    }
}

/// The cause in a transfer with a policer, or without one.
fn as_policed(cause: Cause, is_policed: bool) -> Cause {
    match cause {
        Cause::Timeout
        | Cause::TailLoss
        | Cause::FastRetransmit
        | Cause::LossProbe
        | Cause::Recovery
        | Cause::ReducedWindow
            if is_policed =>
        {
            Cause::Policer
        }
        other => other,
    }
}
