//! Runs one script against one TCP.
//!
//! Source: packetdrill's `syntax.md` and the behaviour of its runner, so that both agree on every script that both
//! understand.
//!
//! | part | content |
//! | --- | --- |
//! | `config` | the script's options |
//! | `world` | virtual time: the TCP, its packets, a call that blocks |
//! | `numbers` | sequence numbers, timestamps and addresses: the script's and the TCP's |
//! | `inject`, `expect` | packets in, packets out |
//! | `calls`, `results` | socket calls and their results |
//! | `commands` | `sysctl`, `sockstat` and others |
//! | `asserts` | `%{ … }%` |

mod asserts;
mod calls;
mod commands;
mod config;
mod expect;
mod inject;
mod names;
mod numbers;
mod results;
mod segment;
mod sockets;
mod world;

use crate::code::Scope;
use crate::script::syntax::{Action, Direction, Event, Script, When};
use crate::tcp::Tcp;
use crate::verdict::{Fault, Reason, Verdict};
use ackclock_tcp::time::{Nanos, Time};
pub use config::{Config, Layout};
use numbers::Numbers;
use sockets::Sockets;
pub use world::World;

/// A line of the conversation: an event of the script, or one that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it happened.
    pub at: Time,
    /// The line of the script, from 1.
    pub line: u32,
    /// The event, in the script's language.
    pub text: String,
}

/// The result of a script, with the conversation up to there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its verdict.
    pub verdict: Verdict,
    /// The conversation, in order.
    pub talk: Vec<Message>,
}

/// Runs `script` against a fresh TCP. `files` returns the text of a file that the script names, such as `defaults.sh`.
pub fn run(script: &Script, config: &Config, tcp: &mut dyn Tcp, files: &dyn Fn(&str) -> Option<String>) -> Report {
    let mut runner = Runner {
        config,
        files,
        world: World::new(tcp),
        sockets: Sockets::default(),
        numbers: Numbers::default(),
        last: None,
        late: Nanos::ZERO,
        scope: Scope::default(),
        talk: Vec::new(),
    };
    let verdict = match runner.script(script) {
        Ok(()) => Verdict::Pass,
        Err(fault) => fault.verdict(),
    };
    Report { verdict, talk: runner.talk }
}

/// A script that is being run.
struct Runner<'a> {
    config: &'a Config,
    files: &'a dyn Fn(&str) -> Option<String>,
    world: World<'a>,
    sockets: Sockets,
    numbers: Numbers,
    last: Option<Last>,
    /// The total time by which packets with a range of times were sent after the beginning of their ranges.
    late: Nanos,
    scope: Scope,
    talk: Vec<Message>,
}

/// The event before this one.
#[derive(Clone, Copy)]
struct Last {
    /// Its time according to the script.
    at: Time,
    /// Whether it was a packet sent by the script: the next time counts from its scripted time, not from the clock.
    injected: bool,
}

/// The time of an event, with the script's tolerance.
#[derive(Clone, Copy)]
struct Due {
    from: Time,
    to: Time,
    any: bool,
    /// The time to which a relative time is added.
    base: Time,
    /// Whether the script writes it as relative.
    relative: bool,
}

impl Runner<'_> {
    fn script(&mut self, script: &Script) -> Result<(), Fault> {
        if let Some(command) = &script.init {
            self.command(command)?;
        }
        for event in &script.events {
            self.event(event)?;
        }
        self.finish_call()?;
        if let Some(command) = &script.cleanup {
            self.command(command)?;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Fault> {
        let injected = matches!(&event.action, Action::Packet(p) if p.direction == Direction::In);
        let due = self.due(event.at, injected);
        let latest = self.world.latest();
        if due.to > latest {
            let text = format!(
                "this is more than {} s after the start, the latest time of an event",
                latest.0 / 1_000_000_000
            );
            return Err(Fault::new(event.line, Reason::Unknown, text));
        }
        match &event.action {
            Action::Packet(packet) => match packet.direction {
                Direction::In => {
                    self.wait(event, due)?;
                    self.inject(event.line, packet)?;
                }
                Direction::Out => self.expect(event.line, packet, due)?,
            },
            Action::Call(call) => {
                self.wait(event, due)?;
                self.call(event.line, call, due)?;
            }
            Action::Command(command) => {
                self.wait(event, due)?;
                self.command(command)?;
            }
            Action::Code(code) => {
                self.wait(event, due)?;
                self.assert(code)?;
            }
        }
        self.last = Some(Last { at: if due.any { self.world.now() } else { due.from }, injected });
        self.check_call()
    }

    /// When an event is due.
    fn due(&self, at: When, injected: bool) -> Due {
        let base = match self.last {
            Some(last) if last.injected && injected => last.at,
            Some(_) | None => self.world.now(),
        };
        let relative = matches!(at, When::Relative(_) | When::RelativeRange(..));
        let plain = |from, to| Due { from, to, any: false, base, relative };
        match at {
            When::Absolute(t) => plain(Time(t.0), Time(t.0)),
            When::Relative(t) => plain(after(base, t), after(base, t)),
            When::AbsoluteRange(from, to) => plain(Time(from.0), Time(to.0)),
            When::RelativeRange(from, to) => plain(after(base, from), after(base, to)),
            When::Any => Due { from: base, to: base, any: true, base, relative },
        }
    }

    /// Lets time pass until an event is due.
    fn wait(&mut self, event: &Event, due: Due) -> Result<(), Fault> {
        self.world.advance(due.from).map_err(|text| Fault::new(event.line, Reason::Broken, text))?;
        self.check_call()?;
        self.check_time(event.line, "this event", self.world.now(), due)
    }

    /// packetdrill's rule: the tolerance is a time, or a share of the time since the previous event, whichever is longer.
    fn check_time(&self, line: u32, what: &str, actual: Time, due: Due) -> Result<(), Fault> {
        if due.any {
            return Ok(());
        }
        let since = due.from.since(self.last.map_or(Time::ZERO, |last| last.at));
        let share = Nanos((since.0 as f64 * self.config.tolerance_percent / 100.0) as u64);
        let tolerance = if self.last.is_some() { self.config.tolerance.max(share) } else { self.config.tolerance };
        if actual + tolerance >= due.from && actual <= due.to + tolerance {
            return Ok(());
        }
        let expected = match due.from == due.to {
            true => format!("at {}", seconds(due.from)),
            false => format!("between {} and {}", seconds(due.from), seconds(due.to)),
        };
        let text = format!(
            "{what} was expected {expected} and happened at {}; the tolerance is {} s",
            seconds(actual),
            tolerance.0 as f64 / 1e9
        );
        Err(Fault::new(line, Reason::Time, text))
    }

    fn say(&mut self, at: Time, line: u32, text: String) {
        self.talk.push(Message { at, line, text });
    }
}

fn after(base: Time, t: Nanos) -> Time {
    Time(base.0.saturating_add(t.0))
}

/// A time as scripts write it.
fn seconds(at: Time) -> String {
    format!("{:.6} s", at.0 as f64 / 1e9)
}
