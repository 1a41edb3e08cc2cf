//! Rule 2. The content of an ACK, before any component judges it.

use super::Sender;
use crate::detect::Learner;
use crate::event::{Observer, Phase};
use crate::facts::ack::{AckEvent, DupRule, Newest};
use crate::facts::ctx::Ctx;
use crate::facts::scoreboard::Delivered;
use crate::segment::Segment;
use crate::seq::Offset;
use crate::time::{Nanos, Time};
use std::num::NonZeroU64;

/// The smallest round-trip time measured by an ACK.
///
/// Stored as its complement, so that zero can mean none and eight bytes are enough. The view would load both halves of an
/// `Option<Nanos>` as one right after the second half was stored (decision 0073).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MinRtt(Option<NonZeroU64>);

/// The peer's window as last advertised (RFC 9293 §3.3.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerWindow {
    pub(super) wnd: u32,
    pub(super) max_wnd: u32,
    pub(super) wl1: Offset,
    pub(super) wl2: Offset,
}

impl MinRtt {
    #[inline]
    pub(super) fn get(self) -> Option<Nanos> {
        self.0.map(|rest| Nanos(!rest.get()))
    }

    /// Takes a sample from an ACK. The smaller the RTT, the larger its complement; `None` is less than any.
    #[inline]
    fn take(&mut self, rtt: Nanos) {
        self.0 = self.0.max(NonZeroU64::new(!rtt.0));
    }
}

impl Sender {
    /// Rule 2, as a fast path for the usual ACK: in Open it acknowledges whole segments sent once and carries no other news.
    /// Removes them from the board and returns when the last of them was sent; any other ACK changes nothing.
    #[inline(always)]
    pub(super) fn take_plain(&mut self, seg: &Segment) -> Option<Time> {
        let tells = seg.blocks > 0 || seg.flags & self.ece_flag != 0 || seg.ack == self.snd_una;
        if self.phase != Phase::Open || tells || self.snd_nxt != self.snd_max {
            return None;
        }
        self.board.acknowledge_plain(seg.ack)
    }

    /// Builds the event of such an ACK; the last of its segments was sent at `at`.
    #[inline(always)]
    pub(super) fn read_plain(&mut self, now: Time, seg: &Segment, at: Time) -> AckEvent {
        let prior_una = std::mem::replace(&mut self.snd_una, seg.ack);
        self.update_peer_window(seg);
        let rtt = now.since(at);
        self.min_rtt.take(rtt);
        AckEvent {
            ack: seg.ack,
            prior_una,
            sacked: 0,
            delivered: seg.ack - prior_una,
            dup_run: self.dup_run,
            is_dup: false,
            has_sack: false,
            ece: false,
            covers_retransmit: false,
            dsack: None,
            rtt: Some(rtt),
            tsecr: (seg.opts & Segment::TIMESTAMPS != 0).then_some(seg.tsecr),
            newest: Some(Newest { at, end: seg.ack, retransmitted: false }),
        }
    }

    /// Rule 2. Applies an ACK to the scoreboard and returns its content.
    pub(super) fn read_ack(&mut self, now: Time, seg: &Segment) -> AckEvent {
        let (prior_una, prior_wnd) = (self.snd_una, self.peer.wnd);
        let mut d = Delivered::default();
        self.board.begin_ack();
        let outstanding_before = self.board.len();
        self.board.acknowledge(seg.ack, &mut d);
        self.snd_una = seg.ack;
        self.snd_nxt = self.snd_nxt.max(seg.ack);
        let (mut dsack, mut has_sack) = (None, false);
        if seg.blocks > 0 {
            (dsack, has_sack) = self.read_blocks(seg, &mut d);
        }
        self.pass_sacked();
        let same_window = self.update_peer_window(seg);
        let advances = seg.ack > prior_una;
        let outstanding = self.snd_max > self.snd_una && !self.persist.is_probing();
        let is_dup = !advances
            && outstanding
            && match self.dup_rule {
                DupRule::Rfc5681 => seg.seq_len() == 0 && same_window,
                DupRule::NewSackInfo => d.sacked > 0,
                DupRule::Ns2 => true,
                DupRule::EmulatedSack => seg.seq_len() == 0 && 0 < seg.wnd && seg.wnd <= prior_wnd,
                DupRule::Netstack => d.sacked > 0 && seg.seq_len() == 0 && same_window,
            };
        self.dup_run += u32::from(is_dup);
        if self.dup_rule == DupRule::EmulatedSack {
            self.emulate_sack(outstanding_before - self.board.len(), is_dup, &mut d);
        }
        if let Some(r) = d.rtt(now) {
            self.min_rtt.take(r);
        }
        AckEvent {
            dup_run: self.dup_run,
            is_dup,
            has_sack,
            ece: seg.flags & self.ece_flag != 0,
            dsack,
            tsecr: (seg.opts & Segment::TIMESTAMPS != 0).then_some(seg.tsecr),
            ..d.ack_event(prior_una, seg.ack, now)
        }
    }

    #[inline(never)]
    pub(super) fn on_unusual_ack<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) {
        if seg.wnd == 0 {
            // RFC 9293 §3.8.6.1: a peer that answers may keep the window closed, even with data outstanding.
            self.cold.patience.answered();
        }
        let ack = self.read_ack(now, seg);
        self.weigh(now, &ack, obs);
    }

    /// From an ACK below `snd_una`, some stacks read the SACK blocks and nothing else.
    #[cold]
    #[inline(never)]
    pub(super) fn on_late_ack<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) {
        if self.cold.late_sack
            && seg.blocks > 0
            && seg.ack < self.snd_una
            && self.is_acceptable_ack(seg.ack)
            && let Some(ack) = self.read_late(now, seg)
        {
            self.weigh(now, &ack, obs);
        }
    }

    /// Returns the news in the SACK blocks of an ACK below `snd_una`, if any, as Linux reads it (`tcp_ack`, `old_ack`). Its
    /// window, its echo and its RTT are ignored.
    fn read_late(&mut self, now: Time, seg: &Segment) -> Option<AckEvent> {
        let mut d = Delivered::default();
        self.board.begin_ack();
        let (dsack, has_sack) = self.read_blocks(seg, &mut d);
        if d.sacked == 0 && dsack.is_none() {
            return None;
        }
        self.pass_sacked();
        let is_dup = self.dup_rule == DupRule::NewSackInfo && d.sacked > 0;
        self.dup_run += u32::from(is_dup);
        let plain = d.ack_event(self.snd_una, self.snd_una, now);
        Some(AckEvent { dup_run: self.dup_run, is_dup, has_sack, dsack, rtt: None, ..plain })
    }

    /// Rule 4. A hole that filled without a retransmission shows how far packets are reordered.
    pub(super) fn hole_filled_itself(&mut self, now: Time, ack: &AckEvent, cx: &Ctx) {
        if let Some(sample) = self.cold.reorder.on_advance(now, ack.dup_run) {
            self.slots.detect.on_reorder(&sample, &self.w, cx);
        }
    }

    /// Splits off the DSACK and applies the other blocks.
    fn read_blocks(&mut self, seg: &Segment, d: &mut Delivered) -> (Option<(Offset, Offset)>, bool) {
        let (dsack, mut has_sack) = (dsack_of(seg), false);
        for (left, right) in seg.sack_blocks().skip(usize::from(dsack.is_some())) {
            if right > self.snd_una && left < right {
                has_sack = true;
                self.board.apply_sack((left, self.past_fin(right)), d);
            }
        }
        (dsack, has_sack)
    }

    /// Some receivers leave the FIN out of the block that reports the data before it (RFC 2018 §3 speaks of data). The FIN
    /// arrived with that data if it was sent with it.
    fn past_fin(&self, right: Offset) -> Offset {
        let with_data = || self.board.iter().next_back().is_some_and(|s| s.len > 1 && s.end() == self.stream_end);
        if self.closed && right + 1 == self.stream_end && with_data() {
            self.stream_end
        } else {
            right
        }
    }

    /// RFC 9293 §3.10.7.4: takes the window if the segment is no older than the last one that updated it.
    #[inline]
    fn update_peer_window(&mut self, seg: &Segment) -> bool {
        let same = seg.wnd == self.peer.wnd;
        if (seg.seq, seg.ack) >= (self.peer.wl1, self.peer.wl2) {
            self.peer.wnd = seg.wnd;
            (self.peer.wl1, self.peer.wl2) = (seg.seq, seg.ack);
            self.peer.max_wnd = self.peer.max_wnd.max(seg.wnd);
            self.edge = seg.ack + u64::from(seg.wnd);
        }
        self.limit = self.find_limit();
        same
    }

    /// RFC 9293 §3.10.7.4 fifth, with RFC 5961 §5's lower bound: `SND.UNA - MAX.SND.WND ≤ SEG.ACK ≤ SND.NXT`. (After going back,
    /// `snd_nxt` is below the end of the data sent, all of which may be acknowledged.)
    #[inline]
    pub(crate) fn is_acceptable_ack(&self, ack: Offset) -> bool {
        ack <= self.snd_max && self.snd_una <= Offset(ack.0.saturating_add(u64::from(self.peer.max_wnd)))
    }

    /// After going back, `snd_nxt` skips data that the receiver holds (RFC 6675 §5.1).
    pub(super) fn pass_sacked(&mut self) {
        if self.snd_nxt < self.snd_max && self.skip_sacked {
            self.snd_nxt = self.board.skip_sacked(self.snd_nxt);
        }
    }
}

/// The first block if it is a DSACK: it is below the ACK of the same segment, or inside the second block (RFC 2883 §4).
#[inline]
fn dsack_of(seg: &Segment) -> Option<(Offset, Offset)> {
    let mut blocks = seg.sack_blocks();
    let (left, right) = blocks.next()?;
    let mut inside_next = || blocks.next().is_some_and(|next| next.0 <= left && right <= next.1);
    (left < right && (right <= seg.ack || inside_next())).then_some((left, right))
}
