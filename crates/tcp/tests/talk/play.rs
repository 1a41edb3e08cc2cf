//! Plays a conversation: inputs at their times, timers in between, and every answer recorded.

use crate::script::{show, Act, Open, Script};
use ackclock_tcp::connection::{Connection, Sides, State};
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use std::collections::VecDeque;
use std::fmt::Write as _;

/// One-way delay to the receiver that is simulated if `lose` is given; segments are one millisecond
/// apart.
const DELAY: Nanos = Nanos::from_millis(50);
const SPACING: Nanos = Nanos::from_millis(1);

/// The peer of a conversation with `lose`.
struct Peer {
    conn: Connection,
    /// Segments in flight to the peer and back, with their arrival times.
    there: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment)>,
    lose: Vec<u64>,
}

struct Play<'a> {
    script: &'a Script,
    conn: Connection,
    peer: Option<Peer>,
    state: State,
    heard: Vec<(Time, Event)>,
    text: String,
}

pub(crate) fn play(script: &Script) -> String {
    let (stack, mss, rwnd) = (&script.stack, script.mss, script.rwnd);
    let mut conn = match script.open {
        Open::Connect => Connection::connect(stack, mss, rwnd),
        Open::Listen => Connection::listen(stack, mss, rwnd),
        Open::Established => Connection::established(stack, Sides::Both, mss, rwnd),
    };
    if script.by_hand {
        conn.read_by_hand();
    }
    let peer = (!script.lose.is_empty()).then(|| Peer {
        conn: Connection::established(stack, Sides::Both, mss, rwnd),
        there: VecDeque::new(),
        back: VecDeque::new(),
        lose: script.lose.clone(),
    });
    let state = conn.state();
    let mut play = Play { script, conn, peer, state, heard: vec![], text: String::new() };
    play.speak(Time::ZERO);
    for (at, words, act) in &script.lines {
        play.pass(*at);
        play.note(*at, words);
        play.act(*at, *act);
        play.after(*at);
    }
    play.text
}

impl Play<'_> {
    fn note(&mut self, at: Time, what: &str) {
        let _ = writeln!(self.text, "{:9.4}  {what}", at.as_secs_f64());
    }

    /// Records the effects of an input: answers, a change of state, the window.
    fn after(&mut self, at: Time) {
        self.speak(at);
        let state = self.conn.state();
        if state != self.state {
            let why = self.conn.close_reason().map_or(String::new(), |r| format!(" ({r:?})"));
            let _ = writeln!(self.text, "{:11}* {:?} -> {state:?}{why}", "", self.state);
            self.state = state;
        }
        self.report_window();
    }

    fn report_window(&mut self) {
        let Some(s) = self.conn.sender().filter(|_| self.script.show) else { return };
        let (w, mss) = (s.window(), f64::from(self.script.mss));
        let inflation = self.heard.iter().rev().find_map(|(_, e)| match e {
            Event::Inflation { bytes, .. } => Some(*bytes),
            _ => None,
        });
        let _ = write!(self.text, "{:11}| {:?} cwnd {:.3}", "", s.phase(), w.cwnd / mss);
        if let Some(bytes) = inflation.filter(|b| *b > 0.0) {
            let _ = write!(self.text, " +{:.3}", bytes / mss);
        }
        let pipe = s.board().pipe() as f64 / mss;
        let _ = writeln!(self.text, " ssthresh {:.3} pipe {pipe:.3}  {}", w.ssthresh / mss, s.board());
    }

    fn act(&mut self, at: Time, act: Act) {
        match act {
            Act::Hear(seg) => _ = self.conn.on_segment(at, &seg, &mut self.heard),
            Act::Write(n) => self.conn.write(n),
            Act::Read(n) => self.conn.consume(n),
            Act::Close => self.conn.close(),
            Act::Abort => self.conn.abort(),
            Act::End => {
                let (acked, received) = (self.conn.acked(), self.conn.received());
                let _ = writeln!(self.text, "{:11}* {acked} bytes acknowledged, {received} received", "");
            }
        }
    }

    fn speak(&mut self, at: Time) {
        let mut out = Segment::EMPTY;
        while self.conn.poll_transmit(at, &mut out, &mut self.heard) {
            let again = if self.conn.last_sends() > 1 { "  (again)" } else { "" };
            let mut fate = "";
            if let Some(p) = &mut self.peer {
                if let Some(i) = p.lose.iter().position(|l| *l == out.seq.0) {
                    p.lose.swap_remove(i);
                    fate = "  (lost)";
                } else {
                    let free = p.there.back().map_or(Time::ZERO, |b| b.0 + SPACING);
                    p.there.push_back(((at + DELAY).max(free), out));
                }
            }
            let _ = writeln!(self.text, "{:11}> {}{again}{fate}", "", show(&out));
        }
    }

    /// Lets time pass: timers fire, and a peer that receives data answers.
    fn pass(&mut self, until: Time) {
        while let Some(at) = self.next().filter(|t| *t <= until) {
            if self.conn.next_timer().is_some_and(|t| t <= at) {
                self.heard.clear();
                self.conn.on_timer(at, &mut self.heard);
                let what = self.heard.iter().find_map(|(_, e)| match e {
                    Event::Timeout { backoff, .. } => {
                        Some(format!("retransmission timeout, backed off {backoff} times"))
                    }
                    Event::Persist { .. } => Some("the window is probed".to_owned()),
                    _ => None,
                });
                self.note(at, &what.unwrap_or_else(|| "a timer".into()));
                self.after(at);
                continue;
            }
            let Some(p) = &mut self.peer else { return };
            if p.there.front().is_some_and(|f| f.0 <= at) {
                let (_, seg) = p.there.pop_front().expect("looked at");
                p.conn.on_segment(at, &seg, &mut ());
            } else if p.conn.next_timer().is_some_and(|t| t <= at) {
                p.conn.on_timer(at, &mut ());
            } else if let Some((_, seg)) = p.back.pop_front() {
                self.note(at, &format!("< {}", show(&seg)));
                self.conn.on_segment(at, &seg, &mut self.heard);
                self.after(at);
                continue;
            }
            let Some(p) = &mut self.peer else { return };
            let mut out = Segment::EMPTY;
            while p.conn.poll_transmit(at, &mut out, &mut ()) {
                p.back.push_back((at + DELAY, out));
            }
        }
    }

    fn next(&self) -> Option<Time> {
        let peer = self.peer.iter().flat_map(|p| {
            let queues = [p.there.front(), p.back.front()];
            queues.into_iter().flatten().map(|f| f.0).chain(p.conn.next_timer())
        });
        peer.chain(self.conn.next_timer()).min()
    }
}
