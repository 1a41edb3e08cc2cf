//! The live driver's loop, with a clock that stands still and a device in memory. The loop also wakes up for nothing, as it does
//! every 50 ms to notice a request to stop.

use crate::application::{self, Application};
use crate::conversation::{converse, Conversation, End, Machine};
use crate::schedule::{EndOf, Schedule};
use crate::sockets::{ends, Log};
use ackclock_live::clock::Now;
use ackclock_live::driver::{self, Driver, Going, Turn};
use ackclock_live::error::LiveError;
use ackclock_live::wire::Wire;
use ackclock_tcp::connection::State;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{Host, HostConfig, Id, Secret};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

/// How often the loop wakes up for nothing.
const NAP: Nanos = Nanos::from_millis(50);

pub(crate) fn run(schedule: &Schedule) -> Conversation {
    let start = Time::ZERO + schedule.start;
    let mut caller = Machined::new(schedule, 0, Some(start));
    let mut callee = Machined::new(schedule, 1, None);
    let [a, b] = converse(schedule, [&mut caller, &mut callee]);
    let end = |machine: Machined, packets| End { events: machine.driver.watch.0, packets };
    Conversation { ends: [end(caller, a), end(callee, b)], until: Time(u64::MAX) }
}

/// A clock that is told the time.
#[derive(Clone, Default)]
pub(crate) struct ManualClock(pub(crate) Rc<Cell<Time>>);

impl Now for ManualClock {
    fn now(&self) -> Time {
        self.0.get()
    }
}

/// Arrived frames, and sent frames.
#[derive(Clone, Default)]
pub(crate) struct Frames(pub(crate) Rc<RefCell<[VecDeque<Vec<u8>>; 2]>>);

pub(crate) struct Device {
    frames: Frames,
    clock: ManualClock,
    /// The time that it takes to read a frame.
    cost: Nanos,
    /// Nobody waits for it.
    file: File,
}

impl Device {
    pub(crate) fn new(frames: Frames, clock: ManualClock, cost: Nanos) -> Self {
        Device { frames, clock, cost, file: File::open("/dev/null").unwrap() }
    }
}

impl Wire for Device {
    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Option<usize>> {
        let frame = self.frames.0.borrow_mut()[0].pop_front();
        Ok(frame.map(|frame| {
            self.clock.0.set(self.clock.now() + self.cost);
            buf[..frame.len()].copy_from_slice(&frame);
            frame.len()
        }))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.frames.0.borrow_mut()[1].push_back(frame.to_vec());
        Ok(())
    }

    fn offload(&self) -> bool {
        false
    }

    fn readable(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A host behind the loop.
struct Machined {
    driver: Driver<Device, Log, ManualClock>,
    user: User,
    clock: ManualClock,
    frames: Frames,
}

/// The user of the loop's host.
struct User {
    end: EndOf,
    end_number: usize,
    application: Application,
    start: Option<Time>,
    connection: Option<Id>,
    /// When the loop wakes up for nothing.
    nap: Time,
}

impl Machined {
    fn new(schedule: &Schedule, number: usize, start: Option<Time>) -> Self {
        let end = schedule.ends[number].clone();
        let (clock, frames) = (ManualClock::default(), Frames::default());
        let mut host = Host::new(HostConfig::new([ends::address(number)], schedule.mtu), Secret::new([7; 16]));
        if start.is_none() {
            host.listen(ends::callee(), &end.stack, end.buffers, 1).unwrap();
        }
        let device = Device::new(frames.clone(), clock.clone(), Nanos(0));
        let driver = Driver::new(device, host, Log::default(), clock.clone());
        let application = Application::new(&end.acts, end.eager);
        let user = User { end, end_number: number, application, start, connection: None, nap: Time::ZERO };
        Machined { driver, user, clock, frames }
    }

    /// The loop runs until it would sleep.
    fn turn(&mut self, now: Time) {
        self.clock.0.set(now);
        while self.driver.turn(&mut self.user).unwrap() == Turn::Busy {}
        self.user.nap = now + NAP;
    }
}

impl driver::Application for User {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        if self.start.take_if(|start| *start <= now).is_some() {
            let local = std::net::SocketAddr::new(ends::address(self.end_number), 0);
            let EndOf { stack, buffers, .. } = &self.end;
            self.connection = Some(host.connect(now, local, ends::callee(), stack, *buffers).unwrap());
        }
        if let (None, None, true) = (self.start, self.connection, self.end_number == 1) {
            self.connection = host.accept(ends::callee());
            if self.connection.is_some() {
                host.unlisten(ends::callee());
            }
        }
        let Some(id) = self.connection else { return Ok(Going::On) };
        if let Some(endpoint) = host.endpoint_mut(id) {
            endpoint.set_nodelay(self.end.no_delay);
        }
        self.application.turn(now, &mut Calls { host, id });
        Ok(Going::On)
    }
}

impl Machine for Machined {
    fn arrive(&mut self, now: Time, packet: &[u8]) {
        self.frames.0.borrow_mut()[0].push_back(packet.to_vec());
        self.turn(now);
    }

    fn next(&self) -> Option<Time> {
        let User { start, nap, application, .. } = &self.user;
        let due = self.driver.host.next_timer().into_iter().chain(application.next());
        due.chain(*start).chain([*nap]).min()
    }

    fn wake(&mut self, now: Time) {
        self.turn(now);
    }

    fn sent(&mut self) -> Option<Vec<u8>> {
        self.frames.0.borrow_mut()[1].pop_front()
    }
}

struct Calls<'a> {
    host: &'a mut Host,
    id: Id,
}

impl application::Socket for Calls<'_> {
    fn is_open(&self) -> bool {
        self.host.endpoint(self.id).is_some_and(|endpoint| match endpoint.state() {
            State::Closed | State::Listen | State::SynSent | State::SynReceived => false,
            State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait
            | State::Closing
            | State::LastAck
            | State::TimeWait => true,
        })
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let Some(endpoint) = self.host.endpoint_mut(self.id) else { return 0 };
        endpoint.write(&vec![0; bytes as usize]) as u64
    }

    fn read(&mut self, bytes: u64) {
        let Some(endpoint) = self.host.endpoint_mut(self.id) else { return };
        let (first, rest) = endpoint.readable();
        let available = (first.len() + rest.len()) as u64;
        endpoint.consume(available.min(bytes) as usize);
    }

    fn shutdown(&mut self) {
        if let Some(endpoint) = self.host.endpoint_mut(self.id) {
            endpoint.close();
        }
    }

    fn close(&mut self, now: Time) {
        self.host.remove(now, self.id);
    }

    fn abort(&mut self, _: Time) {
        self.host.abort(self.id);
    }
}
