//! Virtual time around a TCP: its timers, its packets, and a call that blocks.

use crate::tcp::{Answer, Call, Tcp};
use ackclock_tcp::time::Time;
use std::collections::VecDeque;

/// More timers at one instant than any TCP needs: time does not advance.
const MOST_TIMERS: u32 = 100_000;
/// More packets at one instant than any TCP sends.
const MOST_PACKETS: usize = 100_000;
/// The largest IP packet.
const LARGEST: usize = 65_535;

/// A TCP with its clock. The time is 0 at the start and passes only in [`World::advance`], [`World::step`] and
/// [`World::next_packet`].
pub struct World<'a> {
    tcp: &'a mut dyn Tcp,
    now: Time,
    sent: VecDeque<(Time, Vec<u8>)>,
    buf: Vec<u8>,
    blocked: Option<Call>,
    finished: Option<(Time, Answer)>,
}

impl<'a> World<'a> {
    /// The time is 0.
    pub fn new(tcp: &'a mut dyn Tcp) -> Self {
        World { tcp, now: Time::ZERO, sent: VecDeque::new(), buf: vec![0; LARGEST], blocked: None, finished: None }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the TCP's next timer is due.
    pub fn next_timer(&self) -> Option<Time> {
        self.tcp.next_timer()
    }

    /// The TCP itself. The effects of a call on it are noticed at the next call of a method here.
    pub fn tcp(&mut self) -> &mut dyn Tcp {
        self.tcp
    }

    /// The latest time that a script may use.
    pub fn latest(&self) -> Time {
        self.tcp.latest()
    }

    /// A setting; returns whether the TCP knows it.
    ///
    /// # Errors
    /// The TCP did something that no TCP may do.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let known = self.tcp.set(name, value);
        self.tcp.fault().map_or(Ok(known), Err)
    }

    /// A field of a socket's `tcp_info`.
    pub fn info(&self, now: Time, socket: u32, field: &str) -> Option<i64> {
        self.tcp.info(now, socket, field)
    }

    /// Lets time pass until `until`.
    ///
    /// # Errors
    /// The TCP never comes to rest.
    pub fn advance(&mut self, until: Time) -> Result<(), String> {
        while self.step(until)? {}
        self.now = self.now.max(until);
        Ok(())
    }

    /// Lets the time pass until `at`, without the timers that are due at that very time: what arrives then comes first.
    ///
    /// # Errors
    /// The TCP never comes to rest.
    pub fn approach(&mut self, at: Time) -> Result<(), String> {
        while self.step(Time(at.0.saturating_sub(1)))? {}
        self.now = self.now.max(at);
        Ok(())
    }

    /// The next packet that the TCP sends, up to `until`, with its time.
    ///
    /// # Errors
    /// The TCP never comes to rest.
    pub fn next_packet(&mut self, until: Time) -> Result<Option<(Time, Vec<u8>)>, String> {
        self.settle()?;
        while self.sent.is_empty() {
            if !self.step(until)? && self.sent.is_empty() {
                return Ok(None);
            }
        }
        Ok(self.sent.pop_front())
    }

    /// A packet arrives now.
    ///
    /// # Errors
    /// The TCP never comes to rest.
    pub fn inject(&mut self, packet: &[u8]) -> Result<(), String> {
        self.settle()?;
        self.tcp.on_packet(self.now, packet);
        self.settle()
    }

    /// Makes a call; if it blocks, it continues in the background.
    ///
    /// # Errors
    /// The TCP never comes to rest.
    pub fn call(&mut self, call: &Call) -> Result<Answer, String> {
        self.settle()?;
        let answer = self.tcp.call(self.now, call);
        if answer == Answer::Wait {
            self.blocked = Some(call.clone());
        }
        self.settle()?;
        Ok(answer)
    }

    /// Whether a call blocks.
    pub fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// The answer of a call that blocked, with the time of its end.
    pub fn take_finished(&mut self) -> Option<(Time, Answer)> {
        self.finished.take()
    }

    /// Runs the next timer if it is due by `until`; a TCP on a clock of its own is waited for. Returns whether there may be more
    /// to do until then.
    ///
    /// # Errors
    /// The TCP never comes to rest.
    pub fn step(&mut self, until: Time) -> Result<bool, String> {
        self.settle()?;
        if let Some(now) = self.tcp.wait(until) {
            self.now = self.now.max(now);
            self.settle()?;
            return Ok(self.now < until);
        }
        let Some(at) = self.tcp.next_timer().filter(|at| *at <= until) else { return Ok(false) };
        self.now = self.now.max(at);
        for _ in 0..MOST_TIMERS {
            self.tcp.on_timer(self.now);
            self.settle()?;
            if self.tcp.next_timer().is_none_or(|at| at > self.now) {
                return Ok(true);
            }
        }
        Err(format!("its timer stays at {} ns", self.now.0))
    }

    /// Takes the packets that the TCP has to send, and repeats a call that blocks.
    fn settle(&mut self) -> Result<(), String> {
        self.collect()?;
        let Some(call) = &self.blocked else { return Ok(()) };
        let answer = self.tcp.call(self.now, call);
        if answer != Answer::Wait {
            self.blocked = None;
            self.finished = Some((self.now, answer));
        }
        self.collect()
    }

    fn collect(&mut self) -> Result<(), String> {
        if let Some(fault) = self.tcp.fault() {
            return Err(fault);
        }
        for _ in 0..MOST_PACKETS {
            let Some(len) = self.tcp.poll_transmit(self.now, &mut self.buf) else { return Ok(()) };
            let packet = self.buf.get(..len).ok_or_else(|| format!("it wrote {len} bytes into {LARGEST}"))?;
            self.sent.push_back((self.now, packet.to_vec()));
        }
        Err(format!("it sends without end at {} ns", self.now.0))
    }
}
