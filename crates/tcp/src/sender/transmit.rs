//! Sending: the owner of the phase chooses, the choice is recorded, and every component concerned is told.

use super::{Disorder, Recovery, Rto, Sender, Timekeeper, Timeout};
use crate::congestion::Congestion;
use crate::detect::Learner;
use crate::event::{Event, Observer, Phase, Slot};
use crate::facts::answer::{Rearm, Xmit};
use crate::facts::ctx::Ctx;
use crate::facts::gate::{self, Gate};
use crate::facts::scoreboard::{Marks, Sent};
use crate::segment::Segment;
use crate::seq::Offset;
use crate::spurious::Spurious;
use crate::startup::Startup;
use crate::time::{Nanos, Time};
use crate::units::Bytes;

impl Sender {
    /// Writes the next segment into `out` if one may be sent now. The connection fills in `ack`, `wnd` and options.
    #[inline(always)]
    pub fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        // Rule 24. Fast path: no data is missing, so three numbers decide.
        if self.phase == Phase::Open && !self.urgent && self.snd_nxt == self.snd_max && self.board.lost_to_send() == 0 {
            return if self.watched { self.poll_watched(now, out, obs) } else { self.poll_open(now, out, obs) };
        }
        self.poll_slow(now, out, obs)
    }

    #[inline(always)]
    fn poll_open<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        let sent = self.send_in_open(now, out, obs);
        if self.max_train > 1 && sent.is_some_and(|s| s.len == self.mss) {
            self.lengthen(now, out, obs);
        }
        sent.is_some()
    }

    /// The same with a watching detector, which may hold it back.
    #[inline(never)]
    fn poll_watched<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        if self.pause_due {
            self.after_pause(now, obs);
            return self.poll_transmit(now, out, obs);
        }
        // Rule 21.
        if self.slots.detect.hold_until().is_some_and(|t| now < t) || self.burst_left == 0 {
            return false;
        }
        if self.paced && self.new_data_wait(now) {
            return false;
        }
        let Some(sent) = self.send_in_open(now, out, obs) else { return false };
        if self.paced {
            self.pace_sent(now, &sent, obs);
        }
        self.tell(now, Xmit::New, &sent, now, Slot::Sequencer);
        self.check();
        true
    }

    #[inline(always)]
    fn send_in_open<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> Option<Sent> {
        let len = self.next_len();
        if len == 0 {
            self.cwnd_limited = false;
            self.wait_for_window(now);
            return None;
        }
        if !self.open_admits(len) || self.burst_left == 0 {
            self.cwnd_limited = true;
            return None;
        }
        let sent = self.send_new(now, len, false, Slot::Sequencer, obs);
        self.fill(out, sent.start, u64::from(len));
        Some(sent)
    }

    /// Extends the segment in `out` to a train of equal segments, as long as the window allows the next one.
    fn lengthen<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) {
        let fin_is_next = |s: &Self| s.closed && s.snd_max + u64::from(s.mss) == s.stream_end;
        while out.train < self.max_train
            && self.next_len() == self.mss
            && !fin_is_next(self)
            && self.open_admits(self.mss)
            && self.burst_left > 0
        {
            self.send_new(now, self.mss, false, Slot::Sequencer, obs);
            out.train += 1;
            out.len += self.mss;
        }
        out.flags |= if self.snd_max == self.stream_end { Segment::PSH } else { 0 };
    }

    #[inline]
    pub(super) fn open_admits(&self, len: u32) -> bool {
        match self.open_gate {
            Gate::Window => {
                gate::covers(self.w.cwnd, (self.snd_max - self.snd_una) + gate::payload(len, self.mss), self.mss)
            }
            Gate::Pipe => self.w.cwnd - gate::real(self.board.pipe()) >= f64::from(self.mss),
        }
    }

    #[inline(never)]
    fn poll_slow<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        // Rule 21.
        if self.slots.detect.hold_until().is_some_and(|t| now < t) || self.burst_left == 0 {
            return false;
        }
        let cx = self.context(now);
        let Some((x, by)) = self.choose(&cx) else {
            self.cwnd_limited = cx.next_len > 0;
            // Nothing was sent since the last ACK arrived.
            if self.phase == Phase::Disorder && self.cwnd_limited && self.burst_left == self.maxburst {
                self.cold.reorder.stall(now);
            }
            self.nothing_waits();
            self.wait_for_window(now);
            return false;
        };
        if self.paced && self.pace_holds(now) {
            self.cwnd_limited = false;
            return false;
        }
        let urgent = std::mem::take(&mut self.urgent);
        self.probed = urgent;
        let probes = urgent && !self.persist.is_running();
        let before = self.last_sent_at(x, now);
        let sent = match x {
            Xmit::New if self.snd_nxt == self.snd_max => {
                debug_assert!(urgent || cx.room > 0, "new data without room");
                let len = if cx.next_len > 0 { cx.next_len } else { self.waited_for() };
                Some(self.send_new(now, len, cx.room == 0, by, obs))
            }
            Xmit::New => {
                let sent = self.send_again(now, self.snd_nxt, by, obs);
                if let Some(s) = &sent {
                    self.snd_nxt = s.end();
                    self.pass_sacked();
                }
                sent
            }
            Xmit::Again(at) => self.send_again(now, at, by, obs),
        };
        let Some(sent) = sent else { return false };
        if O::ENABLED && probes {
            obs.event(now, Event::Probe { at: sent.start });
        }
        self.fill(out, sent.start, u64::from(sent.len));
        if self.paced {
            self.pace_sent(now, &sent, obs);
        }
        self.tell(now, x, &sent, before, by);
        self.check();
        true
    }

    /// When the segment about to be sent was last sent; `now`, if it is new.
    #[inline]
    fn last_sent_at(&self, x: Xmit, now: Time) -> Time {
        let at = match x {
            Xmit::New if self.snd_nxt == self.snd_max => return now,
            Xmit::New => self.snd_nxt,
            Xmit::Again(at) => at,
        };
        self.board.get(at).map_or(now, |s| s.at)
    }

    /// Asks the component that decides in this phase.
    #[inline]
    fn choose(&self, cx: &Ctx) -> Option<(Xmit, Slot)> {
        if self.urgent {
            return Some((self.urgent_segment(cx)?, Slot::Sequencer));
        }
        match self.phase {
            Phase::Open => Some((self.next_in_open(cx)?, Slot::Sequencer)),
            Phase::Disorder => Some((self.slots.disorder.next(&self.w, &self.board, cx)?, Slot::Disorder)),
            Phase::Recovery => Some((self.slots.recovery.next(&self.w, &self.board, cx)?, Slot::Recovery)),
            Phase::Loss => Some((self.slots.timeout.next(&self.w, &self.board, cx)?, Slot::Timeout)),
        }
    }

    /// Rule 28. Segments marked lost are sent first, under `pipe`; then new data.
    fn next_in_open(&self, cx: &Ctx) -> Option<Xmit> {
        if let Some(at) = self.board.first_lost() {
            return gate::pipe(&self.w, &self.board, cx).then_some(Xmit::Again(at));
        }
        let admits = if cx.snd_nxt < cx.snd_max { gate::window(&self.w, 0, cx) } else { self.open_admits(cx.next_len) };
        (cx.next_len > 0 && admits).then_some(Xmit::New)
    }

    /// A probe: of a closed window (resent, if one is outstanding), or of the tail (new data, else the last segment).
    fn urgent_segment(&self, cx: &Ctx) -> Option<Xmit> {
        if self.persist.is_running() {
            return Some(if self.board.is_empty() { Xmit::New } else { Xmit::Again(self.snd_una) });
        }
        let last = || self.board.iter().next_back().map(|s| Xmit::Again(s.start));
        (cx.next_len > 0).then_some(Xmit::New).or_else(last)
    }

    /// Records and reports a new segment.
    #[inline(always)]
    fn send_new<O: Observer>(&mut self, now: Time, len: u32, beyond_window: bool, by: Slot, obs: &mut O) -> Sent {
        if beyond_window {
            self.persist.probe_sent();
        }
        let sent = self.board.push(self.snd_max, len, now, self.w.cwnd, beyond_window);
        self.snd_max = sent.end();
        self.snd_nxt = self.snd_max;
        self.sent(now, &sent, by, obs);
        sent
    }

    /// Records and reports a retransmission.
    fn send_again<O: Observer>(&mut self, now: Time, at: Offset, by: Slot, obs: &mut O) -> Option<Sent> {
        let sent = *self.board.resend(at, now, self.w.cwnd)?;
        (self.cold.retransmits, self.cold.resent_at) = (self.cold.retransmits.saturating_add(1), now);
        self.sent(now, &sent, by, obs);
        Some(sent)
    }

    #[inline(always)]
    fn sent<O: Observer>(&mut self, now: Time, sent: &Sent, by: Slot, obs: &mut O) {
        self.last_sends = sent.sends;
        self.burst_left -= 1;
        self.slots.rto.on_sent(sent);
        // RFC 6298 §5.1: the timer starts with data if it is not running.
        if self.timers.rto.is_none() && !self.persist.is_probing() && !self.slots.detect.owns_rto() {
            self.timers.rto = Some(self.slots.rto.deadline(now));
        }
        if O::HEARS.sent {
            let episode = self.cold.ledger.count();
            obs.event(now, Event::Sent { start: sent.start, len: sent.len, episode, sends: sent.sends, by });
        }
    }

    /// Rule 23. After the record, tells the phase's owner, the detector if it watches, and the judge of mistakes.
    fn tell(&mut self, now: Time, x: Xmit, sent: &Sent, before: Time, by: Slot) {
        let cx = self.context(now);
        match by {
            Slot::Disorder => self.slots.disorder.on_sent(x, sent, &self.w, &cx),
            Slot::Recovery => {
                self.slots.recovery.on_sent(x, sent, &cx);
                if sent.start == self.snd_una && self.slots.recovery.restarts_timer() {
                    self.rearm(now, Rearm::Restart, false);
                }
            }
            Slot::Timeout => self.slots.timeout.on_sent(x, sent, &cx),
            Slot::Sequencer | Slot::Startup | Slot::Congestion | Slot::Undo => {}
        }
        if self.watched || sent.sends > 1 {
            self.slots.detect.on_sent(x, sent, &cx);
            if self.clocked {
                self.watched = self.watches_sends();
            }
        }
        if by == Slot::Disorder {
            self.end_stall(now);
        }
        if sent.sends > 1 && !sent.marks.any(Marks::PROBE) {
            // Segments marked in Recovery and repaired in Open belong to that episode, too: a real loss there is
            // evidence against undo.
            if let Some(ep) = self.cold.ledger.get(self.cold.ledger.count()) {
                ep.retransmits += 1;
                self.slots.spurious.on_retransmit(sent, before, ep, &cx);
            }
        }
    }

    /// Rule 22. Bytes that a new segment at `snd_max` may use: the least of data, the peer's window and the cap.
    #[inline]
    pub(super) fn room(&self) -> Bytes {
        self.limit.0.saturating_sub(self.snd_max.0)
    }

    /// How far new data may go; computed when one of the three has changed, and stored.
    #[inline]
    pub(super) fn find_limit(&self) -> Offset {
        self.stream_end.min(self.edge).min(Offset(self.snd_una.0.saturating_add(self.cap)))
    }

    /// Sequence space of the next segment at `snd_nxt`; 0 if there is none to send.
    ///
    /// A full segment, or all the data there is, or (RFC 1122 §4.2.3.4) at least half the largest window that the peer
    /// has offered: anything less would be a silly window.
    #[inline]
    pub(super) fn next_len(&self) -> u32 {
        self.next_len_in(self.room())
    }

    /// The same, with `room` already known.
    #[inline]
    pub(super) fn next_len_in(&self, room: Bytes) -> u32 {
        let mss = u64::from(self.mss);
        if self.snd_nxt < self.snd_max {
            return self.board.get(self.snd_nxt).map_or(0, |s| s.len);
        }
        if room > mss + 1 {
            return self.mss;
        }
        let all = self.snd_max + room == self.stream_end;
        if room > mss {
            // A FIN rides on the last full segment.
            return self.mss + u32::from(self.closed && all);
        }
        let silly = room < mss && !all && self.avoid_silly_window && room * 2 < u64::from(self.peer.max_wnd);
        let held = self.hold.any() && room < mss && all && self.held_back();
        if silly || held {
            0
        } else {
            room as u32
        }
    }

    #[inline]
    fn fill(&self, out: &mut Segment, start: Offset, seq_len: u64) {
        let last = start + seq_len == self.stream_end;
        let fin = self.closed && last;
        out.seq = start;
        out.len = (seq_len - u64::from(fin)) as u32;
        out.train = 1;
        let push = last && out.len > 0;
        out.flags = Segment::ACK | if fin { Segment::FIN } else { 0 } | if push { Segment::PSH } else { 0 };
        (out.blocks, out.opts, out.mss, out.wscale) = (0, 0, 0, Segment::NO_SCALE);
    }
}

impl Sender {
    /// Adds `bytes` to send; the driver keeps the payload. Ignored after [`Sender::close`].
    pub fn write(&mut self, bytes: Bytes) {
        // A write that takes nothing is no write: it must not look like the end of a pause.
        if !self.closed && bytes > 0 {
            if self.rated {
                self.rate_write();
            }
            if self.hold.any() {
                self.note_small();
            }
            self.stream_end = Offset(self.stream_end.0.saturating_add(bytes).min(1 << 62));
            self.limit = self.find_limit();
            self.may_have_paused();
            self.go_on();
        }
    }

    /// Closes the stream: a FIN follows the last byte.
    pub fn close(&mut self) {
        if !self.closed {
            self.closed = true;
            self.stream_end += 1;
            self.limit = self.find_limit();
            self.go_on();
        }
    }

    /// Payload bytes acknowledged cumulatively.
    #[inline]
    pub fn acked(&self) -> Bytes {
        let past_fin = self.closed && self.snd_una == self.stream_end;
        self.snd_una - Offset::DATA - u64::from(past_fin)
    }

    /// Whether all data written, and the FIN if there is one, has been acknowledged.
    pub fn all_acked(&self) -> bool {
        self.snd_una == self.stream_end
    }

    /// The handshake measured an RTT.
    pub(crate) fn on_handshake(&mut self, rtt: Nanos, now: Time) {
        self.slots.rto.on_sample(rtt);
        self.slots.detect.on_handshake(rtt, now);
        self.slots.startup.on_handshake(rtt);
        self.slots.congestion.on_handshake(rtt, &self.w);
    }

    /// Whether [`Sender::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether a FIN was written and is acknowledged.
    pub fn fin_acked(&self) -> bool {
        self.closed && self.all_acked()
    }

    /// Payload bytes of a full segment.
    #[inline]
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// How often the data of the segment just polled has been sent; 1 for a first transmission.
    #[inline]
    pub fn last_sends(&self) -> u8 {
        self.last_sends
    }

    /// The sequence number of an ACK without data. RFC 9293 §3.10.7.4: the peer accepts it only inside its window, and a
    /// probe (or a shrunk window) may have left `snd_max` beyond that.
    #[inline]
    pub(crate) fn ack_seq(&self) -> Offset {
        self.snd_max.min(self.edge).max(self.snd_una)
    }
}
