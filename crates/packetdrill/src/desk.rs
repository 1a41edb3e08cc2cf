//! The engine on a thread of its own, with virtual time.
//!
//! packetdrill calls from two threads: its own, and a second one for calls that block. An engine cannot move between threads,
//! so it stays on a third thread, and both send it their work.

use crate::end::{broken, not_understood, stuck};
use crate::flags::Flags;
use crate::orders::Orders;
use ackclock_conform::engine::{Engine, Settings};
use ackclock_conform::run::World;
use ackclock_conform::tcp::{Answer, Call};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use std::sync::mpsc::{channel, Sender};

/// How long nothing may happen before the plug-in gives up, as in the project's own runner.
pub(crate) const LONGEST: Nanos = Nanos::from_secs(3600);

/// Work for the engine's thread.
type Job = Box<dyn for<'a> FnOnce(&mut Desk<'a>) + Send>;

/// The channel to the engine's thread.
pub(crate) struct Office {
    jobs: Sender<Job>,
}

impl Office {
    /// Starts the engine.
    ///
    /// # Errors
    /// The file of commands cannot be opened.
    pub(crate) fn open(flags: Flags) -> Result<Self, String> {
        let mut orders = Orders::new(flags.orders.clone())?;
        let (jobs, inbox) = channel::<Job>();
        std::thread::spawn(move || {
            let addresses = [flags.address];
            let settings = Settings::new(flags.system, &addresses, None, Stack::named);
            let mut engine = Engine::new(&addresses, flags.mtu, settings);
            let mut desk = Desk { world: World::new(&mut engine), waiter: None };
            for job in inbox {
                orders.follow(desk.world.tcp());
                job(&mut desk);
                orders.show(desk.world.tcp());
            }
        });
        Ok(Office { jobs })
    }

    /// Does `work` on the engine's thread and waits for its result.
    pub(crate) fn with<R: Send + 'static>(&self, work: impl for<'a> FnOnce(&mut Desk<'a>) -> R + Send + 'static) -> R {
        let (answer, result) = channel();
        let job: Job = Box::new(move |desk| {
            let made = work(desk);
            desk.answer_waiter();
            // Both ends of the channel exist until the answer has arrived.
            let _ = answer.send(made);
        });
        if self.jobs.send(job).is_err() {
            broken("the engine's thread has ended");
        }
        result.recv().unwrap_or_else(|_| broken("the engine's thread has ended"))
    }
}

/// The engine with its clock.
pub(crate) struct Desk<'a> {
    pub(crate) world: World<'a>,
    /// The second thread, which waits for the end of a call.
    waiter: Option<Sender<Answer>>,
}

/// The result of one step towards a packet.
pub(crate) enum Step {
    /// A packet was sent, at this time.
    Packet(Time, Vec<u8>),
    /// Time has moved.
    Moved,
    /// There is no further event.
    Nothing,
}

impl Desk<'_> {
    /// A call that may let time pass until its end, as a call in packetdrill's own thread does.
    pub(crate) fn call(&mut self, call: &Call) -> Answer {
        if self.waiter.is_some() {
            // A second call that waits would take the place of the first.
            let now = self.world.now();
            let answer = self.world.tcp().call(now, call);
            if answer == Answer::Wait {
                not_understood("two calls that block at once");
            }
            self.world.advance(now).unwrap_or_else(|why| broken(&why));
            return answer;
        }
        let answer = self.world.call(call).unwrap_or_else(|why| broken(&why));
        if answer != Answer::Wait {
            return answer;
        }
        let limit = self.world.now() + LONGEST;
        while self.world.is_blocked() && self.world.step(limit).unwrap_or_else(|why| broken(&why)) {}
        match self.world.take_finished() {
            Some((_, answer)) => answer,
            None => stuck("a call does not end within an hour"),
        }
    }

    /// A call of the second thread: its answer goes to `waiter`, now or later.
    pub(crate) fn call_beside(&mut self, call: &Call, waiter: Sender<Answer>) {
        match self.world.call(call).unwrap_or_else(|why| broken(&why)) {
            Answer::Wait => self.waiter = Some(waiter),
            // The thread waits for it.
            answer => drop(waiter.send(answer)),
        }
    }

    /// Gives the second thread its answer, if its call has ended.
    fn answer_waiter(&mut self) {
        if self.waiter.is_some()
            && let Some((_, answer)) = self.world.take_finished()
        {
            // The thread waits for it.
            let _ = self.waiter.take().map(|waiter| waiter.send(answer));
        }
    }

    /// Takes the next packet, or lets time pass to the next timer.
    pub(crate) fn towards_packet(&mut self, until: Time) -> Step {
        let now = self.world.now();
        match self.world.next_packet(now).unwrap_or_else(|why| broken(&why)) {
            Some((at, packet)) => Step::Packet(at, packet),
            None if self.step(until) => Step::Moved,
            None => Step::Nothing,
        }
    }

    /// Runs the next timer if it is due by `until`.
    pub(crate) fn step(&mut self, until: Time) -> bool {
        self.world.step(until).unwrap_or_else(|why| broken(&why))
    }
}
