//! Every segment other than one with in-order data while nothing is held: refused, answered, held or reassembled.
//!
//! Source: RFC 9293 §3.10.7.4 (which segments are acceptable), RFC 5961 §4.2 (a SYN is answered, not accepted), RFC 2883 §4
//! (duplicates are reported).
//!
//! Departures: an empty segment exactly at the right edge is acceptable (a sender that has filled the window still sends
//! ACKs; Linux and BSD do the same), and so is one that covers the whole window and more.

use super::timestamps::Age;
use super::{Accept, Receiver};
use crate::ack::{AckPolicy, Arrival};
use crate::outcome::{Outcome, Refusal};
use crate::segment::Segment;
use crate::seq::Offset;
use crate::stack::WindowEdge;
use crate::time::Time;

impl Receiver {
    /// Processes a segment without data, SYN, FIN and RST at the next offset, of which only the acknowledgment is left to examine;
    /// for any other segment it returns `false` and does nothing.
    #[inline]
    pub(crate) fn on_bare_ack(&mut self, now: Time, seg: &Segment) -> bool {
        let bare = seg.len == 0 && seg.flags & (Segment::SYN | Segment::FIN | Segment::RST) == 0;
        if !bare || seg.seq != self.rcv_nxt || self.timestamps && self.ts.age(now, seg) != Age::Fresh {
            return false;
        }
        if self.timestamps {
            self.ts.take(now, seg);
            self.hear_echo(now, seg);
        }
        true
    }

    /// Processes every segment that [`Receiver::on_expected`] does not.
    #[inline(never)]
    pub(crate) fn on_unexpected(&mut self, now: Time, seg: &Segment) -> (Accept, Outcome) {
        if self.timestamps && seg.flags & (Segment::SYN | Segment::RST) == 0 {
            let age = self.ts.age(now, seg);
            if age != Age::Fresh {
                return self.on_bad_timestamp(now, age, seg);
            }
        }
        if !self.acceptable(seg) {
            return self.on_unacceptable(now, seg);
        }
        if seg.has(Segment::RST) {
            return (Accept::Same, Outcome::NOTHING);
        }
        if seg.has(Segment::SYN) {
            self.challenge(now); // RFC 5961 §4.2
            return (Accept::No, Outcome::refused(Refusal::Flags));
        }
        if self.timestamps {
            self.ts.take(now, seg);
            self.hear_echo(now, seg);
        }
        if seg.seq_len() == 0 {
            return (Accept::Same, Outcome::NOTHING);
        }
        self.take(now, seg)
    }

    /// Makes the first test of RFC 9293 §3.10.7.4, and RFC 7323 §5.3's before it, without accepting anything. Returns `None` if
    /// the rest of the segment, at least its acknowledgment, is to be examined. A refused segment has been answered.
    #[inline(never)]
    pub(crate) fn refuse(&mut self, now: Time, seg: &Segment) -> Option<Outcome> {
        if self.timestamps && seg.flags & (Segment::SYN | Segment::RST) == 0 {
            let age = self.ts.age(now, seg);
            if age != Age::Fresh {
                return Some(self.on_bad_timestamp(now, age, seg).1);
            }
        }
        if self.acceptable(seg) {
            return None;
        }
        let (accept, refused) = self.on_unacceptable(now, seg);
        (accept == Accept::No).then_some(refused)
    }

    /// RFC 9293 §3.10.7.4: an ACK in reply, unless it was a RST; with the window closed, a valid ACK still counts.
    fn on_unacceptable(&mut self, now: Time, seg: &Segment) -> (Accept, Outcome) {
        self.answer_refused(now, seg);
        if seg.flags & (Segment::RST | Segment::SYN) == 0 && self.note_duplicate(seg).is_some() {
            self.ack.on_repetition(now);
        }
        let ack_counts = seg.seq == self.rcv_nxt || self.knows_all_but_a_probe(seg);
        let accept = if ack_counts && !seg.has(Segment::SYN) { Accept::Same } else { Accept::No };
        // Only the acknowledgment of an empty segment could be refused.
        let counts = accept == Accept::Same && seg.seq_len() == 0;
        (accept, if counts { Outcome::NOTHING } else { Outcome::refused(Refusal::Window) })
    }

    /// Whether the segment begins one byte below `rcv_nxt`: its sender does not know that we accepted the byte of its probe,
    /// and its bare ACKs leave out that byte. If its ACKs were refused, two ends that probe each other would never see each
    /// other's ACKs again (BSD processes the ACK of any segment left of the window).
    fn knows_all_but_a_probe(&self, seg: &Segment) -> bool {
        seg.seq.0.checked_add(1) == Some(self.rcv_nxt.0) && !seg.has(Segment::RST)
    }

    /// RFC 9293 §3.10.7.4's first test, with the departures above.
    fn acceptable(&self, seg: &Segment) -> bool {
        match seg.seq.0.checked_add(seg.seq_len()).map(Offset) {
            None => false,
            Some(_) if seg.flags & (Segment::RST | Segment::SYN) != 0 => {
                self.rcv_nxt == seg.seq || self.rcv_nxt < seg.seq && seg.seq < self.edge_for_control()
            }
            Some(end) if end == seg.seq => self.rcv_nxt <= end && end <= self.right_edge,
            Some(end) => seg.seq < self.right_edge && self.rcv_nxt < end,
        }
    }

    /// The edge by which a RST or a SYN is judged. BSD takes the buffer's, of which the header may not carry all
    /// (`sys/netinet/tcp_input.c`, `tcp_do_segment`: `rcv_wnd`).
    fn edge_for_control(&self) -> Offset {
        match self.edge {
            WindowEdge::Segment => self.right_edge,
            WindowEdge::Exact => {
                let room = u64::from(self.capacity.saturating_sub(self.unread));
                self.right_edge.max(Offset(self.rcv_nxt.0.saturating_add(room)))
            }
        }
    }

    /// Accepts data or a FIN of an acceptable segment.
    fn take(&mut self, now: Time, seg: &Segment) -> (Accept, Outcome) {
        let before = self.rcv_nxt;
        let data_end = seg.seq + u64::from(seg.len);
        let repeated = self.note_duplicate(seg);
        let waiting = self.holds();
        let last = if self.fin { before } else { self.held.as_ref().and_then(|h| h.fin).unwrap_or(self.right_edge) };
        let (left, right) = (seg.seq.max(before), data_end.min(self.right_edge).min(last));
        let (mut outcome, mut apart) = (Outcome::NOTHING, false);
        let window = (self.right_edge - before) as u32;
        if left < right {
            outcome = if repeated.is_none() { Outcome::took(left, right) } else { self.lacking(left, right) };
            if left == before {
                self.rcv_nxt = self.held.as_mut().map_or(right, |h| h.data.advance(right));
                if self.by_hand {
                    self.unread += (self.rcv_nxt - before) as u32;
                }
            } else {
                apart = self.ack.asks() && self.held().data.lies_apart(left, right);
                if !self.held().data.insert(left, right) {
                    outcome = Outcome::refused(Refusal::Window);
                }
            }
        }
        let fin = seg.has(Segment::FIN) || self.held.as_ref().is_some_and(|h| h.fin.is_some());
        let cut = seg.has(Segment::FIN) && self.cuts_fin(data_end);
        let finished = fin && self.take_fin(seg, data_end);
        self.settle();
        if cut {
            outcome.refused = Some(Refusal::Window);
        }
        if data_end + u64::from(seg.has(Segment::FIN)) > self.right_edge {
            self.due = true; // something was cut off: the peer should be told
        }
        let a = Arrival {
            now,
            len: seg.len,
            in_order: seg.seq == before,
            fills_hole: waiting && left == before && left < right,
            duplicate: repeated == Some((seg.seq, data_end)),
            fin: seg.has(Segment::FIN),
            push: seg.has(Segment::PSH),
            advanced: (self.rcv_nxt - before) as u32,
            window,
            held: self.holds(),
            apart,
            read: !self.by_hand,
        };
        self.tell_policy(&a, seg.train);
        let accept = match (finished, self.rcv_nxt > before) {
            (true, _) => Accept::Finished,
            (false, true) => Accept::Advanced,
            (false, false) => Accept::Same,
        };
        (accept, outcome)
    }

    /// Whether data is held out of order.
    pub(super) fn holds(&self) -> bool {
        self.held.as_ref().is_some_and(|h| !h.data.is_empty())
    }

    /// The part of `left..right`, all of it above `rcv_nxt`, that is not held.
    #[cold]
    fn lacking(&self, left: Offset, right: Offset) -> Outcome {
        let held = self.held.as_ref();
        held.map_or(Outcome::took(left, right), |h| h.data.lacking(left, right))
    }

    /// Passes the FIN if it is next, else remembers it; returns whether it was passed. The first FIN counts; one outside the
    /// window, or with data after it, does not.
    #[inline(never)]
    fn take_fin(&mut self, seg: &Segment, data_end: Offset) -> bool {
        let held = self.held.as_ref();
        let known = held.and_then(|h| h.fin);
        let fits = !self.fin && !self.cuts_fin(data_end);
        let last = held.is_none_or(|h| h.data.end().is_none_or(|end| end <= data_end));
        let at = known.or((seg.has(Segment::FIN) && fits && last).then_some(data_end));
        let next = at == Some(self.rcv_nxt);
        if next {
            self.rcv_nxt += 1;
            self.fin = true;
        }
        if !next && at != known {
            self.held().fin = at;
        }
        next
    }

    /// Whether a FIN at `at` is outside the window and not known: RFC 9293 §3.10.7.4 trims a segment to the window.
    fn cuts_fin(&self, at: Offset) -> bool {
        at >= self.right_edge && !self.fin && self.held.as_ref().is_none_or(|h| h.fin.is_none())
    }

    /// Finds the first part of a segment that has arrived before, and keeps it for the next ACK (RFC 2883 §4).
    pub(super) fn note_duplicate(&mut self, seg: &Segment) -> Option<(Offset, Offset)> {
        let left = seg.seq.max(self.start);
        let right = Offset(seg.seq.0.saturating_add(u64::from(seg.len)));
        let in_order_end = Offset(self.rcv_nxt.0 - u64::from(self.fin));
        let found = if left < right.min(in_order_end) {
            Some((left, right.min(in_order_end)))
        } else {
            self.held.as_ref().and_then(|h| h.data.first_overlap(left, right))
        };
        if let (true, Some(range)) = (self.dsack, found) {
            self.held().dsack = Some(range);
            self.plain = false;
        }
        found
    }
}
