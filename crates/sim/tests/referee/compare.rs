//! Two runs of one scenario: what the engine's sender does is written down, and compared with what the second one does.

use crate::second::witness::Notebook;
use crate::second::Notes;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::event::{Event, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};

/// More actions than any sender does in two seconds.
const NO_END: usize = 400_000;

/// What a sender did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    Event(Event),
    Rto(Nanos),
    /// A packet: sequence number, length, flags, options.
    Packet(u64, u32, u8, u8),
}

/// Writes down what the engine's sender does.
#[derive(Default)]
pub(crate) struct Transcript(pub(crate) Vec<(Time, Action)>);

impl Transcript {
    fn write(&mut self, at: Time, action: Action) {
        assert!(self.0.len() < NO_END, "a sender that never comes to rest: {action:?}");
        self.0.push((at, action));
    }

    /// How often a SYN was sent.
    pub(crate) fn syns(&self) -> usize {
        let syn = |action: &Action| matches!(action, Action::Packet(_, _, flags, _) if flags & Segment::SYN != 0);
        self.0.iter().take(16).filter(|m| syn(&m.1)).count()
    }
}

/// Compares what another sender does.
pub(crate) struct Reader<'a> {
    transcript: &'a [(Time, Action)],
    next: usize,
    notes: Notes,
    pub(crate) wrong: Option<String>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(transcript: &'a [(Time, Action)], notes: Notes) -> Reader<'a> {
        Reader { transcript, next: 0, notes, wrong: None }
    }

    fn write(&self, write: impl FnOnce(&mut Notebook)) {
        if let Some(Ok(mut notebook)) =
            self.notes.as_ref().map(|n| n.lock()).filter(|n| n.as_ref().is_ok_and(|n| !n.greets))
        {
            write(&mut notebook);
        }
    }

    fn does(&mut self, at: Time, action: Action) {
        let before = self.transcript.get(self.next);
        self.next += 1;
        if self.wrong.is_some() || before.is_some_and(|b| b.0 == at && same(&b.1, &action)) {
            return;
        }
        let second = format!("{:.9} s {action:?}", at.as_secs_f64());
        let first = before.map_or("nothing".into(), |(at, action)| format!("{:.9} s {action:?}", at.as_secs_f64()));
        self.wrong = Some(format!("the engine does {first}; the second implementation does {second}"));
    }

    /// The run is over; returns how many actions were compared.
    pub(crate) fn end(&mut self) -> u64 {
        if let Some(Ok(mut n)) = self.notes.as_ref().map(|n| n.lock())
            && n.greets
            && n.everybody
        {
            n.check_greetings();
        }
        let seen =
            self.notes.as_ref().and_then(|n| n.lock().ok()).and_then(|n| n.rates.wrong.clone().or(n.wrong.clone()));
        self.wrong = seen.or(self.wrong.take());
        if self.next < self.transcript.len() && self.wrong.is_none() {
            let (at, action) = self.transcript[self.next];
            self.wrong = Some(format!("the engine does {:.9} s {action:?}; the second one stops", at.as_secs_f64()));
        }
        self.next as u64
    }
}

/// Real numbers may differ by rounding.
fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * f64::max(a.abs(), b.abs())
}

fn same_window(a: &Window, b: &Window) -> bool {
    near(a.cwnd, b.cwnd) && near(a.ssthresh, b.ssthresh)
}

fn same(a: &Action, b: &Action) -> bool {
    if a == b {
        return true;
    }
    match (a, b) {
        (
            Action::Event(Event::Window { by, episode, from, to }),
            Action::Event(Event::Window { by: by_2, episode: episode_2, from: from_2, to: to_2 }),
        ) => by == by_2 && episode == episode_2 && same_window(from, from_2) && same_window(to, to_2),
        (
            Action::Event(Event::Inflation { episode, bytes }),
            Action::Event(Event::Inflation { episode: episode_2, bytes: bytes_2 }),
        ) => episode == episode_2 && near(*bytes, *bytes_2),
        (
            Action::Event(Event::Threshold { dupthresh, mss, cwnd }),
            Action::Event(Event::Threshold { dupthresh: dupthresh_2, mss: mss_2, cwnd: cwnd_2 }),
        ) => dupthresh == dupthresh_2 && mss == mss_2 && near(*cwnd, *cwnd_2),
        _ => false,
    }
}

fn packet(seg: &Segment) -> Action {
    Action::Packet(seg.seq.0, seg.len, seg.flags, seg.opts)
}

impl Watch for Transcript {
    const HEARS_RTO: bool = true;
    fn tcp(&mut self, at: Time, _: u32, side: Side, e: Event) {
        if side == Side::Sender {
            self.write(at, Action::Event(e));
        }
    }
    fn rto(&mut self, at: Time, _: u32, side: Side, rto: Nanos) {
        if side == Side::Sender {
            self.write(at, Action::Rto(rto));
        }
    }
    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, _: u8) {
        if from == Side::Sender {
            self.write(at, packet(seg));
        }
    }
}

impl Watch for Reader<'_> {
    const HEARS_RTO: bool = true;
    fn tcp(&mut self, at: Time, flow: u32, side: Side, e: Event) {
        self.write(|n| {
            let new = matches!(e, Event::Sent { start, .. } if start.0 == n.judge.book.max);
            let next = n.room_for_next();
            n.judge.tcp(at, flow, side, e);
            if side == Side::Sender {
                n.rates.note(at, &e);
                n.follow(at, &e, new, next);
                if let Event::Acked { .. } = e {
                    n.settle();
                }
            }
        });
        if side == Side::Sender {
            self.does(at, Action::Event(e));
        }
    }
    fn rto(&mut self, at: Time, _: u32, side: Side, rto: Nanos) {
        if side == Side::Sender {
            self.write(|n| n.rto_reported(at));
            self.does(at, Action::Rto(rto));
        }
    }
    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, _: u8) {
        if from == Side::Sender {
            self.does(at, packet(seg));
        }
    }
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, wire: u32, sends: u8) {
        self.write(|n| {
            if to == Side::Sender {
                n.before_ack();
            }
            n.judge.delivered(at, flow, to, seg, wire, sends);
            if to == Side::Sender {
                n.rates.hear(seg);
                n.ack_taken();
            }
        });
    }
}
