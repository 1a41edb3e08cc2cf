//! The time at which the driver takes a frame.

use crate::driver::{Device, Frames, ManualClock};
use crate::sockets::{ends, Log};
use ackclock_live::driver::{Application, Driver, Going, Turn};
use ackclock_live::error::LiveError;
use ackclock_tcp::event::Event;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{Buffers, Host, HostConfig, Id, Secret};
use std::net::SocketAddr;

const BUFFERS: Buffers = Buffers { send: 1 << 20, receive: 1 << 20 };

fn stack() -> Stack {
    Stack::named("linux-2025").unwrap()
}

/// Connects and writes, if it has something to say.
struct Talk {
    says: Vec<u8>,
    connection: Option<Id>,
}

impl Application for Talk {
    fn turn(&mut self, now: Time, host: &mut Host) -> Result<Going, LiveError> {
        if self.says.is_empty() {
            return Ok(Going::On);
        }
        let id = *self.connection.get_or_insert_with(|| {
            let local = SocketAddr::new(ends::address(0), 0);
            host.connect(now, local, ends::callee(), &stack(), BUFFERS).unwrap()
        });
        let written = host.endpoint_mut(id).map_or(0, |endpoint| endpoint.write(&self.says));
        self.says.drain(..written);
        Ok(Going::On)
    }
}

struct End {
    driver: Driver<Device, Log, ManualClock>,
    frames: Frames,
    talk: Talk,
}

impl End {
    /// It takes `cost` to read a frame.
    fn new(number: usize, says: Vec<u8>, clock: &ManualClock, cost: Nanos) -> Self {
        let frames = Frames::default();
        let mut host = Host::new(HostConfig::new([ends::address(number)], 1500), Secret::new([7; 16]));
        if says.is_empty() {
            host.listen(ends::callee(), &stack(), BUFFERS, 1).unwrap();
        }
        let device = Device::new(frames.clone(), clock.clone(), cost);
        let talk = Talk { says, connection: None };
        End { driver: Driver::new(device, host, Log::default(), clock.clone()), frames, talk }
    }

    /// These frames arrive at once; returns what was sent.
    fn take(&mut self, arrived: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.frames.0.borrow_mut()[0].extend(arrived);
        while self.driver.turn(&mut self.talk).unwrap() == Turn::Busy {}
        self.frames.0.borrow_mut()[1].drain(..).collect()
    }
}

#[test]
fn each_frame_of_a_batch_has_the_time_at_which_it_was_read() {
    let (clock, cost) = (ManualClock::default(), Nanos::from_millis(1));
    let mut caller = End::new(0, vec![0; 20_000], &clock, cost);
    let mut callee = End::new(1, Vec::new(), &clock, Nanos(0));
    let mut frames = caller.take(Vec::new());
    for _ in 0..3 {
        // One after the other, so that the callee acknowledges them separately.
        let answers: Vec<_> = frames.into_iter().flat_map(|frame| callee.take(vec![frame])).collect();
        frames = caller.take(answers);
    }
    let acked = |(at, event): &(Time, Event)| matches!(event, Event::Acked { .. }).then_some(*at);
    let times: Vec<Time> = caller.driver.watch.0.iter().filter_map(acked).collect();
    assert!(times.len() > 5, "{times:?}");
    assert!(times.windows(2).all(|pair| pair[1] >= pair[0] + cost), "{times:?}");
}
