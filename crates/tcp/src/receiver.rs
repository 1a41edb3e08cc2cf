//! The half of a connection that receives: window test, reassembly, SACK, timestamps, and the contents of an ACK.
//!
//! Source: RFC 9293 §3.10.7.4, RFC 2018 and RFC 2883 (SACK, DSACK), RFC 7323 (timestamps, window scale). [`crate::ack`]
//! decides *when* an ACK is sent.
//!
//! | RFC 9293 | here |
//! | --- | --- |
//! | `RCV.NXT` | `rcv_nxt` |
//! | `RCV.NXT + RCV.WND` | `right_edge` |
//! | `RCV.BUFF`, `RCV.USER` | `capacity`, `unread` |
//! | the most that the header can advertise | `limit` |

mod challenge;
mod growth;
mod info;
mod missing;
mod reassembly;
mod sack_blocks;
mod timestamps;
mod unusual;
mod window;

use crate::ack::{AckDecision, AckPolicy, AckSpec, AnyAck, Arrival};
use crate::outcome::{Outcome, Refusal};
use crate::receive_window::ReceiveWindowSpec;
use crate::segment::Segment;
use crate::seq::Offset;
use crate::stack::WindowEdge;
use crate::time::Time;
use crate::units::Bytes;
pub(crate) use challenge::ChallengeLimit;
use growth::Growth;
use reassembly::Reassembly;
use timestamps::{Age, Timestamps};

/// How the receive buffer is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consume {
    /// The application reads everything at once; the window never shrinks.
    AtOnce,
    /// The application calls [`Receiver::consume`].
    ByHand,
}

/// Parameters of a receiver: the values that we advertise, and the results of the handshake.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The first offset expected: [`Offset::DATA`] after a handshake.
    pub rcv_nxt: Offset,
    /// The largest receive buffer, bytes; cut to a multiple of the scale. The window is no larger, and no larger than the
    /// header can carry.
    pub buffer: Bytes,
    /// The initial size of the buffer and how it grows.
    pub receive_window: ReceiveWindowSpec,
    /// When the right edge moves while data is unread.
    pub edge: WindowEdge,
    /// The largest segment we expect, payload bytes: the unit of silly window avoidance.
    pub mss: u32,
    /// The window scale that we advertised, 0 if none; above 14 counts as 14 (RFC 7323 §2.3).
    pub wscale: u8,
    /// Whether SACK was agreed on.
    pub sack: bool,
    /// Whether duplicates are reported (RFC 2883); has no effect without `sack`.
    pub dsack: bool,
    /// Most SACK blocks in an ACK, including a DSACK: up to 4, with timestamps 3 (RFC 2018 §3).
    pub sack_blocks: u8,
    /// Whether timestamps were agreed on.
    pub timestamps: bool,
    /// The timestamp of the peer's SYN; `None` without a handshake.
    pub ts_recent: Option<u32>,
    /// When to answer.
    pub ack: AckSpec,
    /// How the buffer is emptied.
    pub consume: Consume,
}

/// The meaning of a segment for the rest of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// Not acceptable: nothing in it counts, not even its acknowledgment. If it requires an answer, an ACK is now due.
    No,
    /// Acceptable; `rcv_nxt` has not moved. Its acknowledgment counts.
    Same,
    /// Acceptable, and `rcv_nxt` passed some data.
    Advanced,
    /// Acceptable, and `rcv_nxt` passed the FIN (and maybe data before it).
    Finished,
}

/// One direction's receiver. At most 136 bytes (pinned by a test), with the fields of the in-order path in the first 80.
#[repr(C)]
pub struct Receiver {
    rcv_nxt: Offset,
    /// The right window edge: anything ever advertised is accepted. Never moves left.
    right_edge: Offset,
    ack: AnyAck,
    timer: Option<Time>,
    held: Option<Box<Held>>,
    /// The most of the buffer that the header can advertise, bytes.
    limit: u32,
    unread: u32,
    /// An ACK is due now.
    due: bool,
    /// Nothing held, no duplicate to report, no FIN passed: an in-order segment takes the short path.
    plain: bool,
    fin: bool,
    sack: bool,
    dsack: bool,
    timestamps: bool,
    by_hand: bool,
    wscale: u8,
    // An in-order segment without timestamps does not touch the fields from here on.
    ts: Timestamps,
    start: Offset,
    /// A buffer that may grow.
    growth: Option<Box<Growth>>,
    /// The buffer, bytes.
    capacity: u32,
    mss: u32,
    max_blocks: u8,
    edge: WindowEdge,
}

/// State for unusual cases; created when first needed, then kept.
#[derive(Debug)]
struct Held {
    data: Reassembly,
    /// A duplicate that no ACK has reported yet.
    dsack: Option<(Offset, Offset)>,
    /// A FIN that waits for data before it.
    fin: Option<Offset>,
    challenged: ChallengeLimit,
}

impl Receiver {
    /// A receiver that has advertised the whole buffer, as far as the header can.
    pub fn new(cfg: &ReceiverConfig) -> Self {
        let wscale = cfg.wscale.min(14);
        let ack = cfg.ack.build(cfg.mss, cfg.sack);
        let growth = Growth::new(&cfg.receive_window, cfg.mss, cfg.buffer, ack.asks());
        let capacity = window::whole_units(growth.as_ref().map_or(cfg.buffer, |g| g.initial()), wscale);
        let limit = window::announceable(capacity, wscale);
        Self {
            rcv_nxt: cfg.rcv_nxt,
            right_edge: Offset(cfg.rcv_nxt.0.saturating_add(u64::from(limit))),
            ack,
            timer: None,
            held: None,
            limit,
            unread: 0,
            due: false,
            plain: true,
            fin: false,
            sack: cfg.sack,
            dsack: cfg.sack && cfg.dsack,
            timestamps: cfg.timestamps,
            // RFC 2018 §3: with timestamps there is room for only three.
            max_blocks: cfg.sack_blocks.clamp(1, if cfg.timestamps { 3 } else { 4 }),
            by_hand: cfg.consume == Consume::ByHand,
            wscale,
            ts: Timestamps::new(cfg.rcv_nxt, cfg.ts_recent),
            start: cfg.rcv_nxt,
            growth,
            capacity,
            mss: cfg.mss,
            edge: cfg.edge,
        }
    }

    /// The next offset expected.
    #[inline]
    pub fn rcv_nxt(&self) -> Offset {
        self.rcv_nxt
    }

    /// End of the window: nothing from here on is accepted.
    #[inline]
    pub fn right_edge(&self) -> Offset {
        self.right_edge
    }

    /// Payload bytes received in order, without SYN and FIN.
    #[inline]
    pub fn received(&self) -> Bytes {
        self.rcv_nxt - self.start - u64::from(self.fin)
    }

    /// The receive buffer, bytes. It may grow.
    #[inline]
    pub fn buffer(&self) -> Bytes {
        u64::from(self.capacity)
    }

    /// Payload bytes received in order that the application has not read.
    #[inline]
    pub fn unread(&self) -> Bytes {
        u64::from(self.unread)
    }

    /// Whether the FIN and everything before it have arrived.
    #[inline]
    pub fn fin_received(&self) -> bool {
        self.fin
    }

    /// The timestamp that the next ACK would echo (RFC 7323 §4.3, `TS.Recent`); `None` without timestamps.
    pub fn ts_recent(&self) -> Option<u32> {
        self.timestamps.then(|| self.ts.recent())
    }

    /// The ranges that have arrived above [`Receiver::rcv_nxt`], as (left, right) in sequence order.
    pub fn out_of_order(&self) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        self.out_of_order_from(Offset(0))
    }

    /// The same, beginning with the range that contains `at` or else the next one. Finding it takes time logarithmic in the
    /// number of ranges.
    pub fn out_of_order_from(&self, at: Offset) -> impl Iterator<Item = (Offset, Offset)> + '_ {
        self.held.iter().flat_map(move |h| h.data.from(at))
    }

    /// Processes a segment; returns whether it counts and which part of its payload is new. Afterwards check
    /// [`Receiver::ack_due`].
    ///
    /// A train counts as one segment of its whole length for everything but the ACK policy, which sees each of its segments;
    /// the answers are merged into one ACK. A driver that wants every ACK of a train passes in its segments one by one and
    /// checks after each.
    #[inline]
    pub fn on_segment(&mut self, now: Time, seg: &Segment) -> (Accept, Outcome) {
        if self.on_expected(now, seg) {
            (Accept::Advanced, Outcome::whole(seg))
        } else {
            self.on_unexpected(now, seg)
        }
    }

    /// Processes a segment with the next data while nothing is held; for any other segment it returns `false` and does
    /// nothing.
    #[inline(always)]
    pub(crate) fn on_expected(&mut self, now: Time, seg: &Segment) -> bool {
        let len = u64::from(seg.len);
        let simple = seg.flags & (Segment::SYN | Segment::FIN | Segment::RST) == 0 && len != 0;
        let left = self.right_edge - self.rcv_nxt;
        let next = self.plain && simple && seg.seq == self.rcv_nxt && len <= left;
        if !next || self.timestamps && self.ts.age(now, seg) != Age::Fresh {
            return false;
        }
        if self.timestamps {
            self.ts.take(now, seg);
            self.hear_echo(now, seg);
        }
        self.rcv_nxt += len;
        if self.by_hand {
            self.unread += seg.len;
        }
        let a = Arrival {
            now,
            len: seg.len,
            in_order: true,
            fills_hole: false,
            duplicate: false,
            fin: false,
            push: seg.has(Segment::PSH),
            advanced: seg.len,
            window: left as u32,
            held: false,
            apart: false,
            read: !self.by_hand,
        };
        self.tell_policy(&a, seg.train);
        true
    }

    /// Whether an ACK is due now; if data is sent instead, the ACK rides on it.
    #[inline]
    pub fn ack_due(&self) -> bool {
        self.due
    }

    /// Writes our acknowledgment into `out`: ACK flag, `ack`, `wnd`, SACK blocks, and with timestamps `tsecr` and the
    /// option's bit (the caller sets `tsval`). For pure ACKs and data segments alike; the ACK then counts as sent.
    ///
    /// Besides its payload, `out` has `room` bytes for SACK blocks. If none fits although there is news for the peer,
    /// another ACK is due, which is sent alone (decision 0124).
    #[inline(always)]
    pub fn fill_ack(&mut self, now: Time, out: &mut Segment, room: u32) {
        let wnd = self.window();
        self.right_edge = self.right_edge.max(Offset(self.rcv_nxt.0.saturating_add(u64::from(wnd))));
        out.flags |= Segment::ACK;
        out.ack = self.rcv_nxt;
        out.wnd = wnd;
        out.blocks = 0;
        let owed = !self.plain && self.fill_blocks(out, room);
        if self.timestamps {
            out.opts |= Segment::TIMESTAMPS;
            out.tsecr = self.ts.ack_sent(self.rcv_nxt);
        }
        self.due = owed;
        self.timer = self.ack.on_ack_sent(now, out.len > 0);
        if self.growth.is_some() {
            self.grow(now);
        }
    }

    /// Makes an ACK due now, whatever the policy says: the arriving segment is answered, not accepted.
    pub fn answer(&mut self) {
        self.due = true;
    }

    /// From now on the application reads by [`Receiver::consume`].
    pub fn read_by_hand(&mut self) {
        self.by_hand = true;
    }

    /// When [`Receiver::on_timer`] must be called next.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        self.timer
    }

    /// Runs the timer if it is due. Afterwards check [`Receiver::ack_due`].
    pub fn on_timer(&mut self, now: Time) {
        if self.timer.is_some_and(|t| t <= now) {
            self.timer = None;
            let d = self.ack.on_timer(now);
            self.obey(now, d);
        }
    }

    #[inline(always)]
    fn tell_policy(&mut self, a: &Arrival, train: u16) {
        if train > 1 {
            return self.tell_of_all(a, train);
        }
        let d = self.ack.on_arrival(a);
        self.obey(a.now, d);
    }

    #[inline(never)]
    fn tell_of_all(&mut self, a: &Arrival, train: u16) {
        let (len, advanced) = (a.len / u32::from(train), a.advanced / u32::from(train));
        let each = Arrival { len, advanced, ..*a };
        for _ in 0..train {
            let d = self.ack.on_arrival(&each);
            self.obey(a.now, d);
            if self.due {
                break;
            }
        }
    }

    #[inline]
    fn obey(&mut self, now: Time, d: AckDecision) {
        match d {
            AckDecision::Delay(t) if t > now => self.timer = Some(t),
            AckDecision::Now | AckDecision::Delay(_) => self.due = true,
            AckDecision::No => {}
        }
    }

    #[cold]
    fn on_bad_timestamp(&mut self, now: Time, age: Age, seg: &Segment) -> (Accept, Outcome) {
        // RFC 7323 §5.3 R1 requires an ACK for an old segment; §3.2 silently drops a segment without the option.
        if age == Age::Old {
            self.answer_refused(now, seg);
            if self.note_duplicate(seg).is_some() {
                self.ack.on_repetition(now);
            }
        }
        (Accept::No, Outcome::refused(Refusal::Paws))
    }

    /// Returns whether there is a new report for which there was no room.
    fn fill_blocks(&mut self, out: &mut Segment, room: u32) -> bool {
        if let (true, Some(h)) = (self.sack, self.held.as_mut()) {
            // Two bytes of kind and length, two of padding.
            let fit = (room.saturating_sub(4) / 8).min(u32::from(self.max_blocks)) as usize;
            if fit == 0 && (h.dsack.is_some() || !h.data.is_empty()) {
                return self.due || self.timer.is_some();
            }
            sack_blocks::fill(out, &mut h.data, h.dsack.take(), fit);
        }
        self.settle();
        false
    }

    fn settle(&mut self) {
        let idle = |h: &Held| h.dsack.is_none() && h.fin.is_none() && h.data.is_empty();
        self.plain = !self.fin && self.held.as_deref().is_none_or(idle);
    }

    fn held(&mut self) -> &mut Held {
        let window = self.growth.as_ref().map_or(u64::from(self.capacity), |g| g.largest());
        let new = || Held { data: Reassembly::new(window), dsack: None, fin: None, challenged: Default::default() };
        self.held.get_or_insert_with(|| Box::new(new()))
    }
}

#[cfg(test)]
mod tests;
