//! The listener: keeps the notebook and asks each rule about each happening.

use crate::book::{Ack, Book, Sent};
use crate::rules::{self, Rule};
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::event::{Event, Phase};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};

/// What a rule says about a happening: nothing, or why it was wrong.
pub(crate) type Verdict = Result<(), String>;

/// A sender under examination.
pub(crate) struct Judge {
    pub(crate) book: Book,
    pub(crate) rules: Vec<Box<dyn Rule>>,
    /// The ACK that is being processed.
    pub(crate) ack: Option<Ack>,
    /// The first violation.
    pub(crate) wrong: Option<String>,
    /// How often each rule was asked about something that it judges.
    pub(crate) asked: u64,
    /// Repairs that ended, and whether a recovery began from another phase, and nobody has asked since.
    pub(crate) repaired: u32,
    pub(crate) entered: bool,
}

impl Judge {
    pub(crate) fn new(stack: &Stack, mss: u32, window: u64, bytes: u64) -> Judge {
        Judge { rules: rules::for_stack(stack), ..Judge::silent(stack, mss, window, bytes) }
    }

    /// Only the notebook.
    pub(crate) fn silent(stack: &Stack, mss: u32, window: u64, bytes: u64) -> Judge {
        let (book, rules) = (Book::new(stack, mss, window, bytes), Vec::new());
        Judge { book, rules, ack: None, wrong: None, asked: 0, repaired: 0, entered: false }
    }

    fn ask(&mut self, at: Time, question: impl Fn(&mut dyn Rule, &Book) -> Verdict) {
        self.book.now = at;
        for rule in &mut self.rules {
            self.asked += 1;
            if let (Err(why), None) = (question(rule.as_mut(), &self.book), &self.wrong) {
                let (name, source) = (rule.name(), rule.source());
                self.wrong = Some(format!("{:.9} s: {name}: {why} ({source})", at.as_secs_f64()));
            }
        }
    }

    /// The run is over.
    pub(crate) fn end(&mut self, finished: bool) {
        let at = self.book.now;
        self.ask(at, |rule, book| rule.over(book, finished));
    }

    /// The ACK being processed is done with: its consequences are known.
    fn settle(&mut self, at: Time) {
        if let Some(ack) = self.ack.take() {
            self.ask(at, |rule, book| rule.after(book, &ack));
            self.book.acked(&ack);
        }
    }
}

impl Watch for Judge {
    const HEARS_RTO: bool = true;

    fn delivered(&mut self, at: Time, _: u32, to: Side, seg: &Segment, _: u32, _: u8) {
        if to == Side::Receiver {
            return;
        }
        self.settle(at);
        self.book.now = at;
        if let Some(ack) = self.book.ack(at, seg) {
            self.ask(at, |rule, book| rule.ack(book, &ack));
            self.ack = Some(ack);
        }
    }

    fn tcp(&mut self, at: Time, _: u32, side: Side, e: Event) {
        if side == Side::Receiver {
            return;
        }
        self.book.now = at;
        if let Event::Sent { start, len, sends, by, episode } = e {
            self.settle(at);
            let s = Sent { start: start.0, end: start.0 + u64::from(len), sends, episode, by };
            self.ask(at, |rule, book| rule.sent(book, &s));
            self.book.sent(&s);
            return;
        }
        let ack = self.ack.take();
        if matches!(e, Event::Timeout { .. } | Event::Persist { .. }) {
            self.book.heard_at = None;
        }
        self.ask(at, |rule, book| rule.event(book, &e, ack.as_ref()));
        if let Event::Phase { from, to, .. } = e {
            self.repaired += u32::from(to == Phase::Open && from.repairs());
            self.entered = to == Phase::Recovery;
        }
        self.book.event(&e);
        self.ack = ack;
        if let Event::Acked { .. } = e {
            self.settle(at);
        }
    }

    fn rto(&mut self, at: Time, _: u32, side: Side, rto: Nanos) {
        if side == Side::Sender {
            let ack = self.ack.take();
            self.ask(at, |rule, book| rule.rto(book, rto, ack.as_ref()));
            self.ack = ack;
        }
    }

    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        if from == Side::Sender && seg.seq_len() > 0 {
            self.ask(at, |rule, book| rule.packet(book, seg, sends));
        }
    }

    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}
