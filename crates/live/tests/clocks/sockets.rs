//! The conformance runner's clock: sockets on virtual time.

use crate::application::{self, Application};
use crate::conversation::{converse, Conversation, End, Machine};
use crate::schedule::{EndOf, Schedule};
use ackclock_conform::engine::{Engine, Settings, System};
use ackclock_conform::run::World;
use ackclock_conform::tcp::{Answer, Call, OptionValue, ReadFlags, SocketOption, WriteFlags};
use ackclock_tcp::event::Event;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::host::Watch;
use ackclock_wire::Id;
use ends::address;
use std::collections::VecDeque;

/// The ends' addresses.
pub(crate) mod ends {
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    const PORT: u16 = 80;

    /// Of the caller (0) and the callee (1).
    pub(crate) fn address(end: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + end as u8))
    }

    pub(crate) fn callee() -> SocketAddr {
        SocketAddr::new(address(1), PORT)
    }
}

pub(crate) fn run(schedule: &Schedule) -> Conversation {
    let mut engines = [0, 1].map(|end| {
        let of = &schedule.ends[end];
        let settings = Settings::new(System::Linux, &[address(end)], Some(of.stack.clone()), |_| None);
        Engine::watched(&[address(end)], schedule.mtu, settings, Log::default())
    });
    let packets = {
        let [caller, callee] = &mut engines;
        let start = Time::ZERO + schedule.start;
        let mut caller = Sockets::new(World::new(caller), &schedule.ends[0], Some(start));
        let mut callee = Sockets::new(World::new(callee), &schedule.ends[1], None);
        converse(schedule, [&mut caller, &mut callee])
    };
    let events = engines.map(|engine| engine.into_watch().0);
    let both = events.into_iter().zip(packets).map(|(events, packets)| End { events, packets });
    let ends: Vec<End> = both.collect();
    let ends = ends.try_into().unwrap_or_else(|_| unreachable!("there are two ends"));
    Conversation { ends, until: Time(u64::MAX) }
}

/// Listens to the only connection of a host.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<(Time, Event)>);

impl Watch for Log {
    type Of = Vec<(Time, Event)>;
    fn of(&mut self, _: Id) -> &mut Self::Of {
        &mut self.0
    }
}

/// A host with its sockets.
struct Sockets<'a> {
    world: World<'a>,
    application: Application,
    /// When it connects.
    start: Option<Time>,
    listener: Option<u32>,
    connection: Option<u32>,
    sent: VecDeque<Vec<u8>>,
}

impl<'a> Sockets<'a> {
    fn new(mut world: World<'a>, end: &EndOf, start: Option<Time>) -> Self {
        let of = &end.buffers;
        // Linux's buffer grows up to the largest of `tcp_rmem`; `SO_RCVBUF` sets it once and for all.
        let wmem = format!("4096 16384 {}", of.send);
        assert!(world.tcp().set("net.ipv4.tcp_wmem", &wmem));
        let socket = done(&world.call(&Call::Socket { v6: false }).unwrap()) as u32;
        let mut set = |option, number| {
            let value = OptionValue::Integer(number);
            let answer = world.call(&Call::SetOption { socket, option, value }).unwrap();
            assert_eq!(answer, Answer::Done(0));
        };
        set(SocketOption::NoDelay, i64::from(end.no_delay));
        match &end.stack.receive_window {
            ReceiveWindowSpec::Fixed => set(SocketOption::ReceiveBuffer, of.receive as i64),
            ReceiveWindowSpec::Linux(_) | ReceiveWindowSpec::Drs(_) | ReceiveWindowSpec::Custom(_) => {
                let rmem = format!("4096 {} {}", first_window(&end.stack), of.receive);
                assert!(world.tcp().set("net.ipv4.tcp_rmem", &rmem));
            }
        }
        world.call(&Call::SetNonBlocking { socket, on: true }).unwrap();
        let mut sockets = Sockets {
            world,
            application: Application::new(&end.acts, end.eager),
            start,
            listener: None,
            connection: None,
            sent: VecDeque::new(),
        };
        match start {
            Some(_) => sockets.connection = Some(socket),
            None => sockets.listen(socket),
        }
        sockets
    }

    fn listen(&mut self, socket: u32) {
        self.listener = Some(socket);
        for call in [Call::Bind { socket, local: ends::callee() }, Call::Listen { socket, backlog: 1 }] {
            assert_eq!(self.world.call(&call).unwrap(), Answer::Done(0));
        }
    }

    /// The application's turn, then the packets that may leave.
    fn go(&mut self, now: Time) {
        if let (Some(socket), None) = (self.listener, self.connection)
            && let Answer::Done(fd) = self.world.tcp().call(now, &Call::Accept { socket })
        {
            self.connection = Some(fd as u32);
            self.world.tcp().call(now, &Call::Close { socket });
        }
        if let Some(socket) = self.connection {
            self.application.turn(now, &mut Calls { world: &mut self.world, socket, now });
        }
        while let Some((at, packet)) = self.world.next_packet(now).unwrap() {
            assert_eq!(at, now);
            self.sent.push_back(packet);
        }
    }
}

/// The first window of a buffer that grows, doubled as `tcp_rmem` has it.
pub(crate) fn first_window(stack: &Stack) -> u64 {
    match &stack.receive_window {
        ReceiveWindowSpec::Linux(spec) => 2 * spec.initial,
        ReceiveWindowSpec::Fixed | ReceiveWindowSpec::Drs(_) | ReceiveWindowSpec::Custom(_) => 131_072,
    }
}

fn done(answer: &Answer) -> i64 {
    match answer {
        Answer::Done(n) => *n,
        other => panic!("{other:?}"),
    }
}

impl Machine for Sockets<'_> {
    fn arrive(&mut self, now: Time, packet: &[u8]) {
        self.world.approach(now).unwrap();
        self.world.tcp().on_packet(now, packet);
        self.go(now);
    }

    fn next(&self) -> Option<Time> {
        let start = self.start;
        self.world.next_timer().into_iter().chain(self.application.next()).chain(start).min()
    }

    fn wake(&mut self, now: Time) {
        self.world.advance(now).unwrap();
        if self.start.take_if(|start| *start <= now).is_some() {
            let socket = self.connection.unwrap();
            let answer = self.world.call(&Call::Connect { socket, remote: ends::callee() }).unwrap();
            assert!(matches!(answer, Answer::Failed(_)), "it is in progress: {answer:?}");
        }
        self.go(now);
    }

    fn sent(&mut self) -> Option<Vec<u8>> {
        self.sent.pop_front()
    }
}

struct Calls<'a, 'b> {
    world: &'a mut World<'b>,
    socket: u32,
    now: Time,
}

impl Calls<'_, '_> {
    fn call(&mut self, call: &Call) -> Answer {
        self.world.tcp().call(self.now, call)
    }
}

impl application::Socket for Calls<'_, '_> {
    fn is_open(&self) -> bool {
        // The numbers of `include/net/tcp_states.h`: neither SYN-SENT, SYN-RECEIVED, CLOSED nor LISTEN.
        let state = self.world.info(self.now, self.socket, "tcpi_state");
        state.is_some_and(|state| ![2, 3, 7, 10].contains(&state))
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let flags = WriteFlags { dont_wait: true, ..WriteFlags::default() };
        match self.call(&Call::Write { socket: self.socket, len: bytes as usize, flags }) {
            Answer::Done(taken) => taken as u64,
            Answer::Failed(_) => 0,
            other => panic!("{other:?}"),
        }
    }

    fn read(&mut self, bytes: u64) {
        let flags = ReadFlags { dont_wait: true, ..ReadFlags::default() };
        let answer = self.call(&Call::Read { socket: self.socket, len: bytes as usize, flags });
        assert!(matches!(answer, Answer::Done(_) | Answer::Failed(_)), "{answer:?}");
    }

    fn shutdown(&mut self) {
        self.call(&Call::Shutdown { socket: self.socket, read: false, write: true });
    }

    fn close(&mut self, _: Time) {
        assert_eq!(self.call(&Call::Close { socket: self.socket }), Answer::Done(0));
    }

    fn abort(&mut self, _: Time) {
        let value = OptionValue::Linger { on: true, seconds: 0 };
        let option = SocketOption::Linger;
        assert_eq!(self.call(&Call::SetOption { socket: self.socket, option, value }), Answer::Done(0));
        assert_eq!(self.call(&Call::Close { socket: self.socket }), Answer::Done(0));
    }
}
