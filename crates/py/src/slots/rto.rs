//! `rto`: how long is too long?

use super::algorithm::{whole, whole_or_none, Algorithm, Hook, LATEST, LONGEST};
use crate::views::{Ack, Segment};
use ackclock_tcp::facts::ack::AckEvent;
use ackclock_tcp::facts::scoreboard::Sent;
use ackclock_tcp::rto::Rto;
use ackclock_tcp::time::{Nanos, Time};
use pyo3::prelude::*;

/// The shortest timeout, ns: a shorter one would fire for every segment.
const SHORTEST: u64 = 1_000;

/// A running instance of a subclass of `ackclock.Rto`. Its attributes are read after each method that may
/// change them.
pub(super) struct Timer {
    algorithm: Algorithm,
    answers: Answers,
    on_sent: Hook,
    on_ack: Hook,
    on_sample: Hook,
    on_spurious_timeout: Hook,
    back_off: Hook,
    deadline: Hook,
}

/// The attributes of the object.
#[derive(Clone, Copy)]
struct Answers {
    srtt: Option<Nanos>,
    base: Nanos,
    backed_off: Nanos,
    backoff_count: u32,
}

impl Timer {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        let second = Nanos::from_secs(1);
        let mut timer = Timer {
            answers: Answers { srtt: None, base: second, backed_off: second, backoff_count: 0 },
            on_sent: algorithm.hook("on_sent"),
            on_ack: algorithm.hook("on_ack"),
            on_sample: algorithm.hook("on_sample"),
            on_spurious_timeout: algorithm.hook("on_spurious_timeout"),
            back_off: algorithm.method("back_off"),
            deadline: algorithm.hook("deadline"),
            algorithm,
        };
        timer.read();
        timer
    }

    fn read(&mut self) {
        let (a, was) = (&self.algorithm, self.answers);
        let span = |v: &Bound<'_, PyAny>| whole(v, SHORTEST, LONGEST).map(Nanos);
        self.answers =
            Answers {
                srtt: a.attribute("srtt", was.srtt, |v| Ok(whole_or_none(v, 0, LONGEST)?.map(Nanos))),
                base: a.attribute("base", was.base, span),
                backed_off: a.attribute("backed_off", was.backed_off, span),
                backoff_count: a
                    .attribute("backoff_count", was.backoff_count, |v| Ok(whole(v, 0, u32::MAX.into())? as u32)),
            };
    }
}

impl Rto for Timer {
    fn on_sent(&mut self, sent: &Sent) {
        if self.on_sent.is_there() {
            self.algorithm.tell(&self.on_sent, Some(sent.at), || (Segment(*sent),));
            self.read();
        }
    }
    fn on_ack(&mut self, ack: &AckEvent, now: Time) {
        if self.on_ack.is_there() {
            self.algorithm.tell(&self.on_ack, Some(now), || (Ack(*ack), now.0));
            self.read();
        }
    }
    fn on_sample(&mut self, rtt: Nanos) {
        if self.on_sample.is_there() {
            self.algorithm.tell(&self.on_sample, None, || (rtt.0,));
            self.read();
        }
    }
    fn on_spurious_timeout(&mut self, fired: Time) {
        if self.on_spurious_timeout.is_there() {
            self.algorithm.tell(&self.on_spurious_timeout, None, || (fired.0,));
            self.read();
        }
    }
    fn srtt(&self) -> Option<Nanos> {
        self.answers.srtt
    }
    fn base(&self) -> Nanos {
        self.answers.base
    }
    fn backed_off(&self) -> Nanos {
        self.answers.backed_off
    }
    fn back_off(&mut self) {
        self.algorithm.ask(&self.back_off, None, (), |f| f.call0().map(drop));
        self.read();
    }
    fn backoff_count(&self) -> u32 {
        self.answers.backoff_count
    }
    fn deadline(&self, set: Time) -> Time {
        let usual = set + self.answers.backed_off;
        self.algorithm
            .ask(&self.deadline, Some(set), usual, |f| Ok(Time(whole(&f.call1((set.0,))?, set.0 + SHORTEST, LATEST)?)))
    }
}
