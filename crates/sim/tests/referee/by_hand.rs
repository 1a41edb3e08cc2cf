//! A sender driven by hand: writes, corks, Nagle's rule, other segment sizes, a peer that opens and closes its window, and closing.
//! What it sends, and when its timer fires, is known without its code, since nothing is lost and its congestion window is wide.

use crate::paths::Rng;
use ackclock_tcp::connection::{Connection, Sides};
use ackclock_tcp::rto::{rfc6298, RtoSpec};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::{fixed, StartupSpec};
use ackclock_tcp::time::{Nanos, Time};
use std::collections::VecDeque;

const SECOND: Nanos = Nanos::from_secs(1);

/// What a sender must do.
struct Model {
    now: Time,
    mss: u64,
    una: u64,
    max: u64,
    /// The end of what is written, the FIN included.
    end: u64,
    edge: u64,
    wnd: u64,
    widest: u64,
    closed: bool,
    nagle: bool,
    cork: bool,
    more: bool,
    /// The end of the last small segment (Linux's `snd_sml`).
    small: u64,
    out: VecDeque<(u64, u64)>,
    rto: Option<Time>,
    /// When a closed window is next probed, and how often it was.
    persist: Option<(Time, u32)>,
    probing: bool,
}

impl Model {
    /// RFC 9293 §3.7.4 and Minshall's variant; a cork, and more that follows. A FIN releases everything.
    fn holds(&self) -> bool {
        !self.closed && (self.cork || self.more || (self.nagle && self.small > self.una))
    }

    fn room(&self) -> u64 {
        self.end.min(self.edge).saturating_sub(self.max)
    }

    /// The sequence space of the next segment. A FIN rides on a full one; a small one must be all, or half the widest window.
    fn next(&self) -> u64 {
        let (room, all) = (self.room(), self.max + self.room() == self.end);
        if room > self.mss {
            return self.mss + u64::from(room == self.mss + 1 && all && self.closed);
        }
        let silly = !all && 2 * room < self.widest;
        if room < self.mss && (silly || (all && self.holds())) {
            0
        } else {
            room
        }
    }

    fn send(&mut self, len: u64) -> (u64, u64) {
        self.out.push_back((self.max, self.max + len));
        self.max += len;
        if self.rto.is_none() && !self.probing {
            self.rto = Some(self.now + SECOND);
        }
        (self.max - len, len)
    }

    /// What is sent now.
    fn poll(&mut self) -> Vec<(u64, u64)> {
        let mut sent = vec![];
        while self.next() > 0 {
            sent.push(self.send(self.next()));
        }
        if self.out.is_empty() && self.end > self.max && self.persist.is_none() {
            self.persist = Some((self.now + SECOND, 0));
        }
        sent
    }

    fn write(&mut self, bytes: u64, more: bool) {
        if self.closed || bytes == 0 {
            return;
        }
        if self.nagle || self.cork || self.more {
            self.more = false;
            // The last segment of all that was written may have been a small one.
            if self.max == self.end && self.out.back().is_some_and(|s| s.1 - s.0 < self.mss) {
                self.small = self.max;
            }
        }
        self.end += bytes;
        self.go_on();
        self.more |= more;
    }

    /// Data that a rule held back may leave: nothing waits for the window.
    fn go_on(&mut self) {
        if self.persist.is_some() && !self.probing && self.next() > 0 {
            self.persist = None;
        }
    }

    fn ack(&mut self, ack: u64, wnd: u64) {
        let advances = ack > self.una;
        self.una = ack;
        while self.out.front().is_some_and(|s| s.1 <= ack) {
            self.out.pop_front();
        }
        if let Some(first) = self.out.front_mut() {
            first.0 = first.0.max(ack);
        }
        (self.edge, self.wnd, self.widest) = (ack + wnd, wnd, self.widest.max(wnd));
        self.probing &= !self.out.is_empty();
        if self.out.is_empty() || self.probing {
            self.rto = None;
        } else if advances {
            self.rto = Some(self.now + SECOND);
        }
        let waits = self.next() == 0 && self.end > self.max;
        if self.persist.is_some() && !self.probing && !(self.out.is_empty() && waits) {
            self.persist = None;
        }
    }

    /// The timer of a closed window: what the window allows, else a byte beyond it, again and again (RFC 9293 §3.8.6.1).
    fn probe(&mut self) -> Vec<(u64, u64)> {
        let (_, n) = self.persist.expect("it waits");
        self.persist = Some((self.now + Nanos(SECOND.0 << (n + 1)).min(Nanos::from_secs(60)), n + 1));
        if let Some(&(start, end)) = self.out.front() {
            return vec![(start, end - start)];
        }
        let len = match self.next() {
            0 => self.room().min(self.mss),
            next => next,
        };
        if self.room() > 0 {
            self.persist = None;
            let mut sent = vec![self.send(len)];
            sent.extend(self.poll());
            return sent;
        }
        self.probing = true;
        vec![self.send(1)]
    }

    fn timer(&self) -> Option<Time> {
        [self.rto, self.persist.map(|p| p.0)].into_iter().flatten().min()
    }
}

/// The connection sends, and the model says what.
fn compare(c: &mut Connection, m: &Model, expected: &[(u64, u64)], what: &str) -> Result<(), String> {
    let (mut got, mut seg) = (vec![], Segment::EMPTY);
    while c.poll_transmit(m.now, &mut seg, &mut ()) {
        let last = seg.seq.0 + seg.seq_len() == m.end;
        let (fin, push) = (seg.has(Segment::FIN), seg.has(Segment::PSH));
        if fin != (m.closed && last) || (push != (last && seg.len > 0) && seg.seq_len() > 0) {
            return Err(format!("{what}: {seg:?} of {}", m.end));
        }
        if seg.seq_len() > 0 {
            got.push((seg.seq.0, seg.seq_len()));
        }
    }
    if got != expected {
        return Err(format!("{what}: {got:?} was sent, and not {expected:?}"));
    }
    let info = c.info();
    let unsent = m.end - m.max - u64::from(m.closed && m.max < m.end);
    let seen = (info.unacked as usize, info.notsent_bytes, info.snd_wnd, info.probes, u64::from(info.snd_mss));
    let known = (m.out.len(), unsent, m.wnd, m.persist.map_or(0, |p| p.1), m.mss);
    if seen != known {
        return Err(format!("{what}: {seen:?}, and not {known:?}"));
    }
    let acked = m.una - 1 - u64::from(m.closed && m.una == m.end);
    if (c.acked(), c.next_timer()) != (acked, m.timer()) {
        return Err(format!("{what}: {} and {:?}, not {acked} and {:?}", c.acked(), c.next_timer(), m.timer()));
    }
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "an arm for each act of the program")]
fn drive(number: u64) -> Result<(), String> {
    let mut rng = Rng::new(number ^ 0x6861_6e64);
    let mss = rng.of(&[600, 1000, 1460]);
    let wnd = rng.of(&[500, 1500, 4000, 60_000]);
    let mut stack = Stack::named("newreno").expect("listed");
    stack.startup = StartupSpec::Fixed(fixed::FixedSpec { initial_window_segs: 500, ssthresh_segs: None });
    stack.limits.avoid_silly_window = true;
    stack.rto =
        RtoSpec::Rfc6298(rfc6298::Rfc6298Spec { initial: SECOND, min: SECOND, max: SECOND, ..Default::default() });
    let mut c = Connection::established(&stack, Sides::Both, mss, wnd);
    let mut m = Model {
        now: Time::ZERO,
        mss: mss.into(),
        una: 1,
        max: 1,
        end: 1,
        edge: 1 + wnd,
        wnd,
        widest: wnd,
        closed: false,
        nagle: false,
        cork: false,
        more: false,
        small: 1,
        out: VecDeque::new(),
        rto: None,
        persist: None,
        probing: false,
    };
    let hear = |c: &mut Connection, m: &mut Model, ack: u64, wnd: u64| {
        let flags = Segment::ACK;
        let seg = Segment { seq: Offset::DATA, ack: Offset(ack), wnd: wnd as u32, flags, ..Segment::EMPTY };
        c.on_segment(m.now, &seg, &mut ());
        m.ack(ack, wnd);
    };
    for step in 0..40 {
        m.now += Nanos::from_millis(rng.of(&[0, 1, 10]));
        let bytes = rng.of(&[1, 99, u64::from(mss) - 1, u64::from(mss), u64::from(mss) + 1, 2 * u64::from(mss) + 7]);
        let what = rng.below(14);
        match what {
            0..4 => {
                c.write(bytes);
                m.write(bytes, false);
            }
            4 => {
                c.write_more(bytes);
                m.write(bytes, true);
            }
            5 => {
                m.nagle = !m.nagle;
                c.set_nagle(m.nagle);
                m.go_on();
            }
            6 => {
                m.cork = !m.cork;
                c.set_cork(m.cork);
                m.go_on();
            }
            7 => {
                let mss = rng.of(&[500, 550, mss]);
                c.set_mss(mss);
                m.mss = mss.into();
                m.go_on();
            }
            8 if rng.one_in(4) && !m.closed => {
                c.close();
                (m.closed, m.end) = (true, m.end + 1);
                m.go_on();
            }
            _ => {
                // Never the same number and window twice: that would be a duplicate.
                let middle = m.una + rng.below(m.max - m.una + 1);
                let ack = if m.probing { rng.of(&[m.una, m.max]) } else { rng.of(&[middle, m.max, m.max]) };
                let wnd = rng.of(&[0, 0, 300, 1000, 2000, 60_000]);
                let wnd = if m.probing && ack == m.una { 0 } else { wnd };
                if ack != m.una || (wnd != m.wnd && !m.probing) {
                    hear(&mut c, &mut m, ack, wnd);
                }
            }
        }
        let sent = m.poll();
        compare(&mut c, &m, &sent, &format!("step {step}, {what}"))?;
        // Nothing is lost: all is acknowledged before the timer fires.
        if !m.probing && m.rto.is_some_and(|at| at.since(m.now) < Nanos::from_millis(30)) {
            let (ack, wnd) = (m.max, rng.of(&[0, 700, 60_000]));
            hear(&mut c, &mut m, ack, wnd);
            let sent = m.poll();
            compare(&mut c, &m, &sent, &format!("step {step}, all acknowledged"))?;
        }
        if let (Some((at, _)), None, true) = (m.persist, m.rto, rng.one_in(3)) {
            m.now = at;
            c.on_timer(at, &mut ());
            let sent = m.probe();
            compare(&mut c, &m, &sent, &format!("step {step}, a probe"))?;
        }
    }
    Ok(())
}

#[test]
fn a_sender_driven_by_hand_sends_what_its_rules_allow_and_probes_a_closed_window() {
    let (from, count) = (crate::number("ACKCLOCK_REFEREE_FROM", 0), crate::number("ACKCLOCK_REFEREE", 300));
    for number in from..from + count.max(300) {
        if let Err(why) = drive(number) {
            panic!("number {number}: {why}");
        }
    }
}
