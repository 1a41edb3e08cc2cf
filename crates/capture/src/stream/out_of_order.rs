//! Segments that are not the next in order, and acknowledgments that do not just advance.

use super::copies::{Bare, Before, By, Cases, Copy, Cover, Piece, Reported, Reports, SentBefore, Suspect};
use super::{older, sent, Known, Sent, Stream, MOST};
use crate::seen::Seen;
use ackclock_tcp::segment::Segment;

/// The number of new parts of a SACK block that are distinguished.
const FRESH: usize = 8;
/// A round trip where none was measured: what senders wait at least for an answer (RFC 6298 §2.4; 200 ms in Linux), nanoseconds.
const UNKNOWN: i64 = 200_000_000;
/// Windows hardly reach farther, bytes.
const FAR: u64 = 1 << 26;
/// A number that jumps by more than this starts anew: the data in between cannot have been in flight.
const LEAP: u64 = 1 << 30;

impl Stream {
    #[cold]
    #[inline(never)]
    pub(super) fn odd(&mut self, s: &Seen, order: u64, known: Known) {
        if s.has(Segment::RST) {
            return;
        }
        self.bound_unsure(s.at);
        if s.has(Segment::SYN) {
            self.facts.syns_again += u64::from(self.started);
            self.facts.syn_at = s.at;
            if !self.started {
                self.start(s, s.seq.wrapping_add(1));
                self.facts.unsure = 0;
                self.una = s.seq;
                self.push(&Sent { len: 1, ..sent(s, order, s.seq) });
            } else if self.hi == s.seq.wrapping_add(1) {
                self.ring.clear();
                self.acked = 0;
            }
            return;
        }
        if !self.started || s.seq.abs_diff(self.hi) > LEAP {
            self.start(s, s.seq);
        }
        if self.probes(s, order) {
            return;
        }
        let end = s.end();
        if s.len > 0 {
            if self.facts.first_at.is_none() {
                self.facts.first_at = Some(s.at);
                self.facts.first_tsval = s.timestamps.map_or(0, |t| t.value);
            }
            self.facts.last_at = s.at;
        }
        if s.has(Segment::FIN) {
            self.facts.fin = Some(s.seq.wrapping_add(u64::from(s.len)));
        }
        if self.ring.len() >= MOST {
            self.forget_oldest();
        }
        if s.seq < self.facts.base {
            // Sent before the first segment captured, and late or sent again.
            self.holes.add(s.seq, self.facts.base, |_, _| {});
            self.facts.base = s.seq;
        }
        if s.seq < self.hi {
            self.seen_before(s, order, end.min(self.hi), known);
        }
        if end > self.hi {
            if s.seq > self.hi {
                self.holes.add(self.hi, s.seq, |_, _| {});
            }
            let from = s.seq.max(self.hi);
            self.note_timestamp(s);
            self.push(&Sent { len: (end - from) as u32, ..sent(s, order, from) });
            self.hi = end;
        }
    }

    /// Whether it is a probe, which is neither new data nor a retransmission. A probe of a closed window has the next byte (RFC
    /// 9293 §3.8.6.1), which the receiver need not take. A probe of a silent peer repeats the last byte, or none (§3.8.4); some
    /// hosts probe a window in that way, too.
    fn probes(&mut self, s: &Seen, order: u64) -> bool {
        if !self.is_probe(s) {
            return false;
        }
        let closed = self.is_closed();
        if s.seq == self.hi {
            self.probe = Some(Sent { len: 1, ..sent(s, order, s.seq) });
        }
        *(if closed { &mut self.facts.window_probes } else { &mut self.facts.keep_alives }) += 1;
        self.facts.probed_at = Some(s.at);
        true
    }

    /// The end of the highest byte captured; `hi` may be higher, after an acknowledgment of data that was never captured.
    fn captured_to(&self) -> u64 {
        self.holes.last().filter(|hole| hole.1 == self.hi).map_or(self.hi, |hole| hole.0)
    }

    /// See [`Stream::probes`].
    pub(crate) fn is_probe(&self, s: &Seen) -> bool {
        let next = || self.is_closed() && s.len == 1 && s.seq == self.hi;
        let last = || s.seq.wrapping_add(1) == self.hi && self.una >= self.hi;
        self.started && s.len <= 1 && s.flags & (Segment::SYN | Segment::FIN | Segment::RST) == 0 && (next() || last())
    }

    /// The receiver took the byte that probed its window.
    fn take_probe(&mut self, ack: u64) {
        if let Some(probe) = self.probe.take_if(|probe| probe.seq == self.hi && ack > self.hi) {
            self.facts.first_at = self.facts.first_at.or(Some(probe.at));
            self.facts.last_at = self.facts.last_at.max(probe.at);
            self.hi = probe.end();
            self.push(&probe);
        }
    }

    fn start(&mut self, s: &Seen, base: u64) {
        *self = Stream {
            started: true,
            timestamps: s.timestamps.is_some(),
            hi: base,
            una: base,
            onward: std::mem::take(&mut self.onward),
            cases: self.cases.take(),
            facts: super::Facts { base, unsure: u64::MAX, ..self.facts },
            ..Stream::default()
        };
    }

    /// What was sent before the capture began arrives within a round trip, or is sent again. A sender that goes back sends more of it
    /// later; then an acknowledgment passes what was captured.
    fn bound_unsure(&mut self, at: i64) {
        let begun = self.facts.first_at.is_some_and(|first| at - first > super::LATE);
        if begun && self.facts.unsure == u64::MAX {
            self.facts.unsure = self.hi;
        }
    }

    fn forget_oldest(&mut self) {
        self.ring.forget(MOST / 2);
        self.acked = self.acked.saturating_sub(MOST / 2);
    }

    /// PAWS (RFC 7323 §5.3) and the timestamp to be echoed next (§4.3).
    fn note_timestamp(&mut self, s: &Seen) {
        let Some(t) = s.timestamps else { return };
        if self.recent.is_some_and(|r| older(t.value, r)) {
            self.suspect(s);
        } else if s.seq <= self.una && s.end() > self.una {
            // A segment that ends below the window is rejected before (§5.3, R2).
            self.recent = Some(t.value);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn suspect(&mut self, s: &Seen) {
        let (Some(t), Some(recent)) = (s.timestamps, self.recent) else { return };
        let suspect = Suspect { frame: s.frame, seq: s.seq, end: s.end(), value: t.value, recent, next: None };
        self.cases_mut().suspect(suspect);
        self.calm = false;
    }

    pub(super) fn cases_mut(&mut self) -> &mut Cases {
        self.cases.get_or_insert_with(Box::default)
    }

    /// `s` has bytes below `hi`: it is a retransmission, or a first copy that others overtook.
    fn seen_before(&mut self, s: &Seen, order: u64, right: u64, known: Known) {
        let left = s.seq;
        if s.len == 0 {
            return;
        }
        let fills = self.holes.touches(left, right);
        let is_new = self.holes.covers(left, right);
        if !fills && s.seq + u64::from(s.len) <= right {
            self.facts.repeats += 1;
        } else if left < self.captured_to() {
            self.facts.fills += 1;
        }
        let again = if is_new { self.sent_before(s, order, right, known) } else { SentBefore::Yes };
        self.note_timestamp(s);
        if again == SentBefore::No {
            self.holes.remove(left, right);
            let at = self.ring.partition_point(|o| o.seq < left);
            if at >= self.acked && right > self.una {
                self.ring.insert(at, &Sent { len: (right - left) as u32, ..sent(s, order, left) });
            }
            return;
        }
        self.sent_again(sent(s, order, left));
        self.make_pieces(left, right);
        self.holes.remove(left, right);
        let cases = self.cases_mut();
        let number = cases.copies.len() as u32;
        let len = (right - left) as u32;
        cases.add(Copy { sent: Sent { len, ..sent(s, order, left) }, fills, again, begin: s.seq, payload: s.len });
        cases.cut(left);
        cases.cut(right);
        cases.pieces.range_mut(left..right).for_each(|(_, p)| p.copies.push(number));
        self.calm = false;
    }

    /// Whether the bytes of a segment, none of which was captured before, had been sent before.
    ///
    /// A sender sends new data in order. So a segment that fills a hole repeats data if it was sent after the data above the hole:
    /// by the order of transmission, else by the timestamps. Otherwise only time is left: the sender learns of a hole after half a
    /// round trip, and what it then sends again needs the other half. A later segment may still have been that late.
    fn sent_before(&self, s: &Seen, order: u64, right: u64, known: Known) -> SentBefore {
        let Some(above) = self.ring.get(self.ring.partition_point(|o| o.seq < right)) else { return SentBefore::No };
        let proved = |later: bool| if later { SentBefore::Yes } else { SentBefore::No };
        match s.timestamps {
            _ if known.ordered && order != 0 && above.order != 0 && order != above.order => proved(order > above.order),
            Some(t) if t.value != above.tsval => proved(older(above.tsval, t.value)),
            Some(_) | None if s.at - above.at < known.round_trip.unwrap_or(UNKNOWN) => SentBefore::No,
            Some(_) | None => SentBefore::Perhaps,
        }
    }

    /// Ensures that all of `left..right` is in pieces that know the first copies.
    fn make_pieces(&mut self, left: u64, right: u64) {
        let unknown = match &self.cases {
            Some(cases) => cases.unknown(left, right),
            None => vec![(left, right)],
        };
        for (from, to) in unknown {
            let mut cuts = vec![from, to];
            let i = self.ring.partition_point(|o| o.end() <= from);
            let of_ring = self.ring.from(i).take_while(|o| o.seq < to);
            cuts.extend(of_ring.flat_map(|o| [o.seq, o.end()]));
            cuts.extend(self.sacked.iter().chain(self.holes.iter()).flat_map(|(l, r)| [l, r]));
            cuts.push(self.una);
            cuts.retain(|c| from <= *c && *c <= to);
            cuts.sort_unstable();
            cuts.dedup();
            for pair in cuts.windows(2) {
                self.make_piece(pair[0], pair[1]);
            }
        }
    }

    fn make_piece(&mut self, from: u64, to: u64) {
        let first = self.ring.get(self.ring.partition_point(|o| o.end() <= from)).filter(|o| o.seq <= from);
        let known = self.una >= to && self.acked_once || self.sacked.covers(from, to);
        let cover = known.then(|| Box::new(Cover::LONG_AGO));
        let before = match self.holes.covers(from, to) {
            _ if first.is_some() => Before::No,
            true if from < self.facts.unsure => Before::Perhaps,
            true => Before::No,
            false => Before::Yes,
        };
        let cases = self.cases_mut();
        let mut copies = Vec::new();
        if let Some(first) = first {
            copies.push(cases.copies.len() as u32);
            cases.add(Copy { sent: first, fills: false, again: SentBefore::No, begin: first.seq, payload: first.len });
        }
        cases.insert(from, Piece { end: to, copies, cover, reports: Reports::default(), before });
    }

    /// Any acknowledgment that does not just advance.
    #[cold]
    #[inline(never)]
    pub(super) fn odd_ack(&mut self, s: &Seen, ack: u64, order: u64, skipped: u64) {
        if s.flags & (Segment::SYN | Segment::RST) != 0 && !s.has(Segment::SYN) || ack > self.hi.saturating_add(LEAP) {
            return;
        }
        if !self.started {
            // Only the acknowledgments were captured, or they arrived first.
            self.start(s, ack);
            self.timestamps = s.timestamps.is_some();
        }
        if !self.acked_once {
            self.acked_once = true;
            if ack < self.una {
                self.una = ack;
            }
        }
        self.take_probe(ack);
        self.bound_unsure(s.at);
        let captured = self.captured_to();
        if ack > self.hi {
            self.holes.add(self.hi, ack, |_, _| {});
            self.hi = ack;
            if self.facts.unsure > 0 {
                self.facts.unsure = self.facts.unsure.max(ack);
            }
        }
        let echo = s.timestamps.map(|t| t.echo);
        let overtaken = self.overtaken_ack(s, order);
        let before = self.una;
        let cover = Cover {
            at: s.at,
            frame: Some(s.frame),
            echo,
            echo_before: self.echoed,
            order,
            skipped: skipped > 0,
            last: self.facts.acked_at.unwrap_or(i64::MIN).max(self.facts.odd_ack_at),
            around: self.late.largest(),
            least: self.late.smallest(s.at),
            newest: self.heard(skipped).filter(|_| !overtaken),
            trigger: None,
            by: By::Head,
        };
        self.facts.odd_ack_at = s.at;
        let dsack = dsack(s, ack);
        let mut news = ack > before || s.window != self.window || s.len > 0 || s.has(Segment::FIN) || dsack.is_some();
        let mut blocks = s.blocks();
        if dsack.is_some() {
            blocks = &blocks[1..];
        }
        self.facts.sack_seen |= s.sacks > 0;
        self.facts.sacks_outside += u64::from(s.blocks().iter().any(|block| self.is_outside(*block)));
        news |= self.blocks(blocks, ack, &cover);
        self.advance(s, ack, captured, &cover);
        if let Some((left, right)) = dsack {
            self.duplicate(left, right, Reported { at: s.at, frame: s.frame, echo });
        }
        if !news && ack == before && !overtaken {
            self.bare(s);
        }
        self.window = s.window;
        self.after_ack(s, ack, echo);
    }

    /// Data whose acknowledgment number repeats the last one: no news for this stream.
    #[inline]
    pub(crate) fn beside_data(&mut self, s: &Seen) {
        self.window = s.window;
        self.note_echo(s.timestamps.map(|t| t.echo));
    }

    /// Whether a SACK block is so far from the data that it is hardly about them.
    fn is_outside(&self, (left, right): (u64, u64)) -> bool {
        right > self.hi.saturating_add(FAR) || left.saturating_add(FAR) < self.una
    }

    /// New SACK blocks; returns whether they have news.
    fn blocks(&mut self, blocks: &[(u64, u64)], ack: u64, cover: &Cover) -> bool {
        let mut news = false;
        for &(left, right) in blocks {
            let (left, right) = (left.max(ack).max(self.una), right.min(self.hi));
            if self.sacked.covers(left, right) {
                continue;
            }
            let mut fresh = [(0, 0); FRESH];
            let mut count = 0;
            self.sacked.add(left, right, |l, r| {
                // Further parts are joined to the last.
                let i = count.min(FRESH - 1);
                fresh[i] = if count < FRESH { (l, r) } else { (fresh[i].0, r) };
                count += 1;
            });
            news |= count > 0;
            for &(l, r) in &fresh[..count.min(FRESH)] {
                self.newly_sacked(l, r, cover);
            }
        }
        news
    }

    fn newly_sacked(&mut self, left: u64, right: u64, cover: &Cover) {
        let known =
            self.cases.as_deref_mut().is_some_and(|c| c.cover(left, right, 0, &Cover { by: By::Sack, ..*cover }));
        if !known {
            let Some(first) = self.ring.reaching(left + 1) else { return };
            let last = if first.end() < right { self.ring.reaching(right) } else { Some(first) };
            if let Some(last) = last {
                if last.seq < self.facts.unsure && self.timestamps {
                    return;
                }
                self.sample(cover.at, cover.at - last.at);
                self.arrived(first, last);
            }
        }
    }

    /// The cumulative acknowledgment.
    fn advance(&mut self, s: &Seen, ack: u64, captured: u64, cover: &Cover) {
        if ack <= self.una {
            return;
        }
        if self.facts.acked_at.is_none() && self.facts.syns_again > 0 {
            self.facts.handshake = Some(s.at - self.facts.syn_at);
        }
        let before = self.una;
        self.note_news(s.at, ack, captured);
        let trigger = self.filled(cover);
        let waited = !self.sacked.is_empty();
        let quiet = !waited && !self.in_episode();
        let alone = !cover.skipped && (waited || self.passes(ack) > u64::from(self.most.max(2)));
        let cover = Cover { trigger: trigger.filter(|_| alone), ..*cover };
        let ambiguous = self.cases.as_deref_mut().is_some_and(|c| c.cover(before, ack, before, &cover));
        self.una = ack;
        self.sacked.forget_below(ack);
        let last = self.pass(ack, quiet && !ambiguous && !cover.skipped, 1);
        if let Some(episodes) = &mut self.episodes {
            episodes.advanced(self.passed);
        }
        if let Some(at) = last.filter(|_| !ambiguous && !waited && self.is_first_copy(s)) {
            self.sample(s.at, s.at - at);
        }
    }

    /// Whether the last copy passed by an acknowledgment is surely what it answers. What was captured first may be a retransmission of
    /// data that passed before the capture began: then the timestamp tells.
    fn is_first_copy(&self, s: &Seen) -> bool {
        let last = self.acked.checked_sub(1).and_then(|last| self.ring.get(last)).filter(|_| self.timestamps);
        let echo = s.timestamps.map_or(0, |t| t.echo);
        last.is_none_or(|last| last.seq >= self.facts.unsure || !older(echo, last.tsval))
    }

    fn duplicate(&mut self, left: u64, right: u64, report: Reported) {
        self.facts.dsacks += 1;
        let known = self.cases_mut().report(left, right, report);
        self.facts.stray_dsacks += u64::from(!known);
    }

    /// An acknowledgment without news.
    fn bare(&mut self, s: &Seen) {
        // It may answer a probe. After everything is acknowledged and nothing was repeated, there is nothing to answer.
        let probed = self.facts.probed_at.take().is_some();
        if !probed {
            let echo = s.timestamps.map_or(0, |t| t.echo);
            let risen = s.timestamps.is_some() && self.echoed.is_none_or(|e| older(e, echo));
            let episode = if self.facts.sack_seen {
                0
            } else {
                let delays = (self.most > 1, self.single);
                self.episodes.get_or_insert_default().repeated(self.passed, delays)
            };
            let bare = Bare { at: s.at, frame: s.frame, echo, risen, episode, newest: self.newest() };
            self.cases_mut().bare(bare);
            self.repeated();
        }
    }

    fn after_ack(&mut self, s: &Seen, ack: u64, echo: Option<u32>) {
        let una = self.una;
        let sure = !self.timestamps || self.una >= self.facts.unsure;
        let mut calm = self.sacked.is_empty() && self.acked_once && !self.in_episode() && sure;
        let sacked = &self.sacked;
        if let Some(cases) = self.cases.as_deref_mut() {
            if cases.waiting < cases.suspects.len() {
                cases.settle_suspects(
                    s.frame,
                    echo,
                    |l, r| una >= r || ack >= r || sacked.covers(l.max(una), r),
                    &mut self.refused,
                );
            }
            calm &= cases.open == 0;
        }
        self.calm = calm;
        self.note_echo(echo);
    }

    #[inline]
    fn note_echo(&mut self, echo: Option<u32>) {
        let Some(e) = echo else { return };
        // Computed without a branch, because it is unpredictable whether it is younger.
        let younger = self.echoed.is_none_or(|r| older(r, e));
        self.echoed = if younger { echo } else { self.echoed };
        self.recent = if younger { echo } else { self.recent };
    }
}

/// The first block, if it reports a duplicate (RFC 2883 §4): it is below the acknowledgment, or within the second block.
fn dsack(s: &Seen, ack: u64) -> Option<(u64, u64)> {
    let blocks = s.blocks();
    let first = *blocks.first()?;
    let within = blocks.get(1).is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
    (first.0 < first.1 && (first.1 <= ack || within)).then_some(first)
}
