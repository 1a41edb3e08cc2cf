//! The referee's own notebook of one sender: what it sent, what the ACKs that reached it say, and what the sender reported.
//! Everything is kept in the plainest way; nothing is shared with the engine.

use ackclock_tcp::event::{Event, Phase, Slot, Why, Window};
use ackclock_tcp::facts::ack::DupRule;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::timeout::TimeoutSpec;

/// Outstanding data that was sent as one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// When it was sent first and last, and how often.
    pub(crate) first: Time,
    pub(crate) last: Time,
    pub(crate) sends: u32,
    /// The episode in which it was last sent.
    pub(crate) episode: u32,
    /// When a SACK block first covered it.
    pub(crate) sacked: Option<Time>,
}

impl Piece {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether it was resent in this episode. Times do not tell: one recovery may resend it at the moment another begins.
    pub(crate) fn resent_in(&self, episode: u32) -> bool {
        self.sends > 1 && self.episode == episode
    }

    /// The order of sending; the end decides between segments of one instant (RFC 8985 §6.2).
    pub(crate) fn order(&self) -> (Time, u64) {
        (self.last, self.end)
    }
}

/// An ACK that reached the sender, and what is new in it.
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    pub(crate) ack: u64,
    /// Bytes that it acknowledges cumulatively.
    pub(crate) acked: u64,
    /// Bytes newly delivered, cumulatively or by SACK.
    pub(crate) delivered: u64,
    /// The newly delivered pieces as they were before.
    pub(crate) news: Vec<Piece>,
    pub(crate) dup: bool,
    pub(crate) ece: bool,
    /// A late ACK that counts as a duplicate.
    pub(crate) late_dup: bool,
    /// SACK blocks above what is acknowledged, the DSACK, the echoed timestamp.
    pub(crate) has_sack: bool,
    pub(crate) dsack: Option<(u64, u64)>,
    pub(crate) tsecr: Option<u32>,
    /// The notebook's pieces before it.
    pub(crate) before: Vec<Piece>,
}

/// A segment of data that the sender passed to the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) sends: u8,
    pub(crate) episode: u32,
    pub(crate) by: Slot,
}

impl Sent {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn is_new(&self, book: &Book) -> bool {
        self.start == book.max
    }
}

/// The notebook.
pub(crate) struct Book {
    pub(crate) stack: Stack,
    pub(crate) mss: u64,
    pub(crate) now: Time,
    /// The oldest byte that is not acknowledged, and the end of everything sent.
    pub(crate) una: u64,
    pub(crate) max: u64,
    /// How far the peer's window reaches.
    pub(crate) edge: u64,
    /// The widest window that the peer has offered.
    pub(crate) widest: u64,
    /// The end of what the application writes.
    written: u64,
    wnd: u32,
    pub(crate) out: Vec<Piece>,
    /// As the sender last reported it; unknown before its first change.
    pub(crate) w: Option<Window>,
    pub(crate) inflation: f64,
    pub(crate) phase: Phase,
    /// Duplicates in a row, and how many there were at the last timeout.
    pub(crate) dups: u32,
    pub(crate) dups_at_timeout: u32,
    /// When the segment that was sent last had been sent before.
    pub(crate) sent_before: Time,
    /// The newest episode, and `max` when it was first heard about.
    pub(crate) episode: u32,
    pub(crate) recover: u64,
    /// When the newest episode was first heard about.
    pub(crate) began: Time,
    pub(crate) timeouts: u32,
    pub(crate) timeout_at: Option<Time>,
    /// The time of the last ACK, and of the last that advanced.
    pub(crate) heard_at: Option<Time>,
    /// The time of the last ACK that delivered something.
    pub(crate) news_at: Option<Time>,
    pub(crate) advanced_at: Option<Time>,
    /// A zero window is being probed.
    pub(crate) probing: bool,
    /// The newest of the delivered pieces in the order of sending.
    pub(crate) newest: Option<(Time, u64)>,
    /// The shortest time between the last sending of a segment and its delivery, of segments sent once.
    pub(crate) min_rtt: Option<Nanos>,
    /// The same, of segments sent any number of times: what a timestamp or a packet number could show.
    pub(crate) min_wait: Option<Nanos>,
    /// The threshold that the sender last reported.
    pub(crate) threshold: Option<u32>,
}

impl Book {
    pub(crate) fn new(stack: &Stack, mss: u32, window: u64, bytes: u64) -> Book {
        Book {
            stack: stack.clone(),
            mss: u64::from(mss),
            now: Time::ZERO,
            una: 1,
            max: 1,
            edge: 1 + window,
            widest: window,
            written: 1 + bytes,
            wnd: window as u32,
            out: Vec::new(),
            w: None,
            inflation: 0.0,
            phase: Phase::Open,
            dups: 0,
            dups_at_timeout: 0,
            sent_before: Time::ZERO,
            episode: 0,
            recover: 0,
            began: Time::ZERO,
            timeouts: 0,
            timeout_at: None,
            heard_at: None,
            news_at: None,
            advanced_at: None,
            probing: false,
            newest: None,
            min_rtt: None,
            min_wait: None,
            threshold: None,
        }
    }

    pub(crate) fn flight(&self) -> u64 {
        self.max - self.una
    }

    pub(crate) fn sacked(&self) -> u64 {
        self.out.iter().filter(|p| p.sacked.is_some()).map(Piece::len).sum()
    }

    /// Whether an ACK is being processed now.
    pub(crate) fn answers(&self) -> bool {
        self.heard_at == Some(self.now)
    }

    /// Whether a probe of the tail may be due now: no ACK is being processed, or one that delivers nothing, a round trip or more after
    /// the last segment was sent. Such an ACK leaves the probe's timer alone (RFC 8985 §7.2, RFC 9002 §6.2.1), which may fire at
    /// the same instant.
    pub(crate) fn may_probe(&self) -> bool {
        let waited = || self.out.iter().map(|p| p.last).max().map(|last| self.now.since(last));
        !self.answers() || (self.news_at != Some(self.now) && waited() >= self.min_rtt)
    }

    /// The window in the last acceptable ACK.
    pub(crate) fn wnd(&self) -> u32 {
        self.wnd
    }

    /// The end of what is written, if all of it is written at the start.
    pub(crate) fn written_at_start(&self) -> Option<u64> {
        (self.written > 1).then_some(self.written)
    }

    /// Whether there may be nothing new to send: everything written is sent, or the peer's window is full.
    pub(crate) fn idle(&self) -> bool {
        self.max + self.mss > self.edge || self.max >= self.written
    }

    /// `cwnd` in whole segments, as bytes.
    pub(crate) fn whole(&self, cwnd: f64) -> u64 {
        (cwnd / self.mss as f64) as u64 * self.mss
    }

    /// RFC 6675 §4, IsLost: three runs of SACKed data, or more than two segments of it, lie above the piece.
    pub(crate) fn is_lost(out: &[Piece], piece: &Piece, mss: u64) -> bool {
        let (mut runs, mut bytes, mut end) = (0, 0, None);
        for p in out.iter().filter(|p| p.start >= piece.end && p.sacked.is_some()) {
            runs += u32::from(end != Some(p.start));
            (bytes, end) = (bytes + p.len(), Some(p.end));
        }
        runs >= 3 || bytes > 2 * mss
    }

    /// Takes an ACK, and returns the news; `None` if it is not acceptable (RFC 9293 §3.10.7.4, RFC 5961 §5).
    pub(crate) fn ack(&mut self, at: Time, seg: &Segment) -> Option<Ack> {
        self.now = at;
        let (ack, prior) = (seg.ack.0, self.una);
        if !seg.has(Segment::ACK) || ack > self.max || ack + self.widest < self.una {
            return None;
        }
        let late = ack < self.una;
        if late && !(self.stack.options.late_sack && seg.blocks > 0) {
            return None;
        }
        let before = self.out.clone();
        let (mut news, blocks) = (Vec::new(), Self::blocks(seg));
        let dsack = Self::dsack(ack, &blocks);
        if !late {
            self.advance(ack, &mut news);
        }
        for &(left, right) in &blocks[usize::from(dsack.is_some())..] {
            if left < right && right > self.una {
                self.sack(at, left, right, &mut news);
            }
        }
        let (same_window, before_wnd) = (seg.wnd == self.wnd, self.wnd);
        if !late {
            self.wnd = seg.wnd;
            self.widest = self.widest.max(seg.wnd.into());
            self.edge = self.edge.max(ack + u64::from(seg.wnd));
        }
        let by_sack = news.iter().any(|p| p.start >= ack.max(prior));
        let dup = !late
            && ack == prior
            && self.max > ack
            && !self.probing
            && match self.stack.dup_rule {
                DupRule::Rfc5681 => seg.seq_len() == 0 && same_window,
                DupRule::NewSackInfo => by_sack,
                DupRule::Ns2 => true,
                DupRule::EmulatedSack => seg.seq_len() == 0 && 0 < seg.wnd && seg.wnd <= before_wnd,
                DupRule::Netstack => by_sack && seg.seq_len() == 0 && same_window,
            };
        let late_dup = late && by_sack && self.stack.dup_rule == DupRule::NewSackInfo;
        self.dups += u32::from(dup || late_dup);
        let delivered = news.iter().map(Piece::len).sum();
        for p in &news {
            let rtt = at.since(p.last);
            self.min_wait = Some(self.min_wait.map_or(rtt, |m| m.min(rtt)));
            if p.sends == 1 {
                self.min_rtt = Some(self.min_rtt.map_or(rtt, |m| m.min(rtt)));
            }
            self.newest = self.newest.max(Some(p.order()));
        }
        self.heard_at = Some(at);
        if delivered > 0 {
            self.news_at = Some(at);
        }
        let acked = if late { 0 } else { ack - prior };
        let ece = self.stack.options.ecn && seg.has(Segment::ECE) && !late;
        let has_sack = blocks[usize::from(dsack.is_some())..].iter().any(|b| b.0 < b.1 && b.1 > self.una);
        let tsecr = (seg.opts & Segment::TIMESTAMPS != 0).then_some(seg.tsecr);
        Some(Ack { ack, acked, delivered, news, dup, ece, late_dup, has_sack, dsack, tsecr, before })
    }

    fn advance(&mut self, ack: u64, news: &mut Vec<Piece>) {
        while let Some(p) = self.out.first().copied().filter(|p| p.start < ack) {
            let end = p.end.min(ack);
            if p.sacked.is_none() {
                news.push(Piece { end, ..p });
            }
            if end == p.end {
                self.out.remove(0);
            } else {
                self.out[0].start = end;
            }
        }
        self.una = self.una.max(ack);
    }

    fn sack(&mut self, at: Time, left: u64, right: u64, news: &mut Vec<Piece>) {
        for cut in [left, right] {
            if let Some(i) = self.out.iter().position(|p| p.start < cut && cut < p.end) {
                let p = self.out[i];
                self.out[i].end = cut;
                self.out.insert(i + 1, Piece { start: cut, ..p });
            }
        }
        for p in self.out.iter_mut().filter(|p| left <= p.start && p.end <= right && p.sacked.is_none()) {
            news.push(*p);
            p.sacked = Some(at);
        }
    }

    fn blocks(seg: &Segment) -> Vec<(u64, u64)> {
        seg.sack_blocks().map(|(l, r)| (l.0, r.0)).collect()
    }

    /// RFC 2883 §4: the first block is a DSACK if it lies below the ACK or inside the second block.
    fn dsack(ack: u64, blocks: &[(u64, u64)]) -> Option<(u64, u64)> {
        let first = blocks.first().filter(|b| b.0 < b.1)?;
        let inside = blocks.get(1).is_some_and(|b| b.0 <= first.0 && first.1 <= b.1);
        (first.1 <= ack || inside).then_some(*first)
    }

    /// Writes down a segment of data.
    pub(crate) fn sent(&mut self, s: &Sent) {
        if s.is_new(self) {
            let (start, end, first, last, episode) = (s.start, s.end, self.now, self.now, s.episode);
            self.out.push(Piece { start, end, first, last, sends: 1, episode, sacked: None });
            self.max = s.end;
            return;
        }
        let first = self.out.iter().find(|p| s.start <= p.start && p.end <= s.end);
        self.sent_before = first.map_or(self.now, |p| p.last);
        for p in self.out.iter_mut().filter(|p| s.start <= p.start && p.end <= s.end) {
            (p.last, p.sends, p.episode) = (self.now, p.sends + 1, s.episode);
        }
    }

    /// Writes down a report of the sender, after the rules have seen it.
    pub(crate) fn event(&mut self, e: &Event) {
        match *e {
            Event::Phase { to, why, episode, .. } => {
                self.meet(episode);
                // Tahoe goes on as after a timeout.
                if why == Why::Restarted {
                    self.forget();
                }
                self.phase = to;
            }
            Event::Window { to, episode, .. } => {
                self.meet(episode);
                self.w = Some(to);
            }
            Event::Inflation { episode, bytes } => {
                self.meet(episode);
                self.inflation = bytes;
            }
            Event::Timeout { episode, .. } => {
                self.meet(episode);
                self.forget();
                self.dups_at_timeout = std::mem::take(&mut self.dups);
                (self.timeouts, self.timeout_at) = (self.timeouts + 1, Some(self.now));
            }
            Event::Threshold { dupthresh, .. } => self.threshold = Some(dupthresh),
            Event::Persist { .. } => self.probing = true,
            Event::Acked { .. }
            | Event::Sent { .. }
            | Event::Rtt { .. }
            | Event::Probe { .. }
            | Event::Mistake { .. } => {}
        }
    }

    /// RFC 2018 §8: after a timeout the SACK information is dropped, where the stack does so or the receiver must have reneged.
    fn forget(&mut self) {
        let drops = match &self.stack.timeout {
            TimeoutSpec::GoBackN(s) => !s.keep_sacks,
            TimeoutSpec::Sack(s) => s.clear_sacks,
            TimeoutSpec::Frto(s) => s.clear_sacks,
            TimeoutSpec::Custom(_) => false,
        };
        if drops || self.out.first().is_some_and(|p| p.sacked.is_some()) {
            self.out.iter_mut().for_each(|p| p.sacked = None);
        }
    }

    fn meet(&mut self, episode: u32) {
        if episode > self.episode {
            (self.episode, self.recover, self.began) = (episode, self.max, self.now);
        }
    }

    /// The ACK has been processed.
    pub(crate) fn acked(&mut self, ack: &Ack) {
        if ack.acked > 0 {
            (self.dups, self.advanced_at, self.probing) = (0, Some(self.now), false);
        }
        self.probing &= self.max > self.una;
    }
}
