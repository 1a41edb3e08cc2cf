//! Linux's delivery rates (`tcp_rate.c`), worked out once more from what the sender sends and hears.

use ackclock_tcp::event::{Event, Why};
use ackclock_tcp::facts::rate::RateSample;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::timeout::TimeoutSpec;

/// A segment with the state in which it was last sent. Times in nanoseconds.
#[derive(Clone, Copy)]
struct Note {
    start: u64,
    end: u64,
    at: u64,
    first_tx: u64,
    delivered_at: u64,
    delivered: u64,
    app_limited: bool,
    arrived: bool,
}

/// What an ACK newly delivers.
#[derive(Clone, Copy, Default)]
struct News {
    segments: u32,
    newest: Option<(u64, u64)>,
    note: Option<Note>,
    acked: u64,
}

/// The sender's records, kept outside of it.
pub(crate) struct Rates {
    late_sack: bool,
    /// All data is written at the start; else only the sender knows when the application limits it.
    bulk: bool,
    /// Samples say nothing about the path until this much is delivered.
    app_limited: Option<u64>,
    /// A timeout makes the sender forget what was SACKed.
    forgets: bool,
    notes: Vec<Note>,
    una: u64,
    max: u64,
    /// Segments delivered, the SYN included; when the last came; when the newest of them was sent.
    pub(super) delivered: u64,
    pub(super) delivered_at: u64,
    first_tx: u64,
    news: News,
    losses: u32,
    /// The first difference from the sender's own samples.
    pub(crate) wrong: Option<String>,
}

impl Rates {
    pub(crate) fn new(stack: &Stack, bulk: bool) -> Rates {
        let (news, late_sack) = (News::default(), stack.options.late_sack);
        let forgets = match &stack.timeout {
            TimeoutSpec::GoBackN(s) => !s.keep_sacks,
            TimeoutSpec::Sack(s) => s.clear_sacks,
            TimeoutSpec::Frto(s) => s.clear_sacks,
            TimeoutSpec::Custom(_) => false,
        };
        Rates {
            late_sack,
            bulk,
            // tcp_rate_check_app_limited: nothing waits when the application writes, and the window is free.
            app_limited: Some(1),
            forgets,
            notes: vec![],
            una: 1,
            max: 1,
            delivered: 1,
            delivered_at: 0,
            first_tx: 0,
            news,
            losses: 0,
            wrong: None,
        }
    }

    /// An ACK reaches the sender.
    pub(crate) fn hear(&mut self, seg: &Segment) {
        self.news = News::default();
        let ack = seg.ack.0;
        if !seg.has(Segment::ACK) || ack > self.max || (ack < self.una && !self.late_sack) {
            return;
        }
        let blocks: Vec<(u64, u64)> = seg.sack_blocks().map(|(l, r)| (l.0, r.0)).collect();
        // RFC 2883 §4.
        let twice = match (blocks.first(), blocks.get(1)) {
            (Some(first), _) if first.0 < first.1 && first.1 <= ack => true,
            (Some(first), Some(next)) => first.0 < first.1 && next.0 <= first.0 && first.1 <= next.1,
            _ => false,
        };
        self.news.acked = ack.saturating_sub(self.una);
        self.una = u64::max(self.una, ack);
        for n in self.notes.iter_mut().filter(|n| !n.arrived) {
            let is_reported = |b: &(u64, u64)| b.1 > self.una && b.0 <= n.start && n.end <= b.1;
            if n.end > self.una && !blocks[usize::from(twice)..].iter().any(is_reported) {
                continue;
            }
            n.arrived = true;
            self.news.segments += 1;
            if self.news.newest.is_none_or(|newest| newest < (n.at, n.end)) {
                (self.news.newest, self.news.note) = (Some((n.at, n.end)), Some(*n));
            }
        }
        self.notes.retain(|n| n.end > self.una);
        for n in self.notes.iter_mut().filter(|n| n.start < self.una) {
            n.start = self.una;
        }
    }

    /// Segments that the detector declares lost on the ACK just heard.
    pub(super) fn lose(&mut self, segments: u64) {
        self.losses = segments as u32;
    }

    /// The sender itself limits what it sends, with this many segments in flight.
    pub(super) fn limit(&mut self, in_flight: u32) {
        self.app_limited = Some(u64::max(self.delivered + u64::from(in_flight), 1));
    }

    /// The sender reports something.
    pub(crate) fn note(&mut self, at: Time, e: &Event) {
        if matches!(e, Event::Timeout { .. } | Event::Phase { why: Why::Restarted, .. }) && self.forgets {
            self.notes.iter_mut().for_each(|n| n.arrived = false);
        }
        let Event::Sent { start, len, .. } = *e else { return };
        let (now, start, end) = (at.0, start.0, start.0 + u64::from(len));
        let new = start == self.max;
        if new && self.una == self.max {
            (self.first_tx, self.delivered_at) = (now, now);
        }
        self.max = u64::max(self.max, end);
        let (first_tx, delivered_at, delivered) = (self.first_tx, self.delivered_at, self.delivered);
        let note = Note {
            start,
            end,
            at: now,
            first_tx,
            delivered_at,
            delivered,
            app_limited: self.app_limited.is_some(),
            arrived: false,
        };
        match self.notes.iter_mut().find(|n| n.end == end) {
            // Some stacks resend what is SACKed.
            Some(known) => *known = Note { arrived: known.arrived, ..note },
            None => self.notes.push(note),
        }
    }

    /// The sample of the ACK just heard, with what only the sender knows taken from its own.
    pub(super) fn sample(&mut self, own: &RateSample, now: Time, min_rtt: Option<Nanos>, mss: u32) -> RateSample {
        let News { segments, note, newest, acked } = std::mem::take(&mut self.news);
        self.delivered += u64::from(segments);
        if segments > 0 {
            self.delivered_at = now.0;
        }
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        let losses = std::mem::take(&mut self.losses);
        let mut rs = RateSample { acked_sacked: segments, losses, ..*own };
        (rs.delivered, rs.interval_us, rs.prior_delivered, rs.is_ack_delayed) = (None, None, 0, false);
        if let (Some(note), Some((sent, _))) = (note, newest) {
            self.first_tx = sent;
            let us = |t: u64| t / 1000;
            let send_us = us(sent).saturating_sub(us(note.first_tx));
            let ack_us = us(now.0).saturating_sub(us(note.delivered_at));
            rs.delivered = Some(self.delivered - note.delivered);
            rs.prior_delivered = note.delivered;
            if self.bulk {
                rs.is_app_limited = note.app_limited;
            }
            rs.interval_us = min_rtt.map(|rtt| us(rtt.0)).and_then(|least| {
                let interval = u64::max(send_us, ack_us);
                if interval < least {
                    None
                } else {
                    Some(interval)
                }
            });
            let part = acked > 0 && acked < u64::from(mss);
            rs.is_ack_delayed = segments == 1 && part && self.delivered == note.delivered + 1;
        }
        if rs != *own && self.wrong.is_none() {
            self.wrong = Some(format!("a sample of {own:?}, and it should be {rs:?}"));
        }
        rs
    }
}
