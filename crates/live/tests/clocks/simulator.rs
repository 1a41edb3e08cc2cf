//! The simulator's clock.

use crate::application::{Application, Socket};
use crate::conversation::{plain, Conversation};
use crate::schedule::{EndOf, Schedule};
use ackclock_sim::engine::Network;
use ackclock_sim::host::Endpoint;
use ackclock_sim::scenario::WireSpec;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::connection::{reset_for, Connection, Outcome, State};
use ackclock_tcp::event::{Event, Observer, Resend};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::sender::Sender;
use ackclock_tcp::time::Time;
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

pub(crate) fn run(schedule: &Schedule) -> Conversation {
    let mut scenario = schedule.plan.scenario.clone();
    scenario.flows[0].app.start = schedule.start;
    let (ends, mss) = (schedule.ends.clone(), schedule.mtu - 40);
    let waits = Rc::new(Cell::new(None));
    let shared = waits.clone();
    let make =
        move |_: &_, side: Side| Host::new(&ends[usize::from(side == Side::Receiver)], side, mss, shared.clone());
    let mut network = Network::with_endpoints(&scenario, schedule.seed, Log::default(), make).unwrap();
    network.run();
    let mut conversation = network.into_watch().0;
    conversation.until = waits.get().unwrap_or(Time(u64::MAX));
    conversation
}

/// One end: a connection and its application. As every host, it answers with a RST once the connection is gone.
struct Host {
    connection: Connection,
    application: Application,
    socket: Sockets,
    answers: VecDeque<Segment>,
    answered: bool,
    /// When the first end entered TIME-WAIT, or had an arrival at the instant of something else.
    waits: Rc<Cell<Option<Time>>>,
    /// The last event, and whether it was an arrival.
    last: Option<(Time, bool)>,
}

/// The part of a socket that is not the connection.
struct Sockets {
    /// Bytes of the send buffer.
    send: u64,
    written: u64,
    shut: bool,
}

struct Calls<'a>(&'a mut Connection, &'a mut Sockets);

impl Host {
    fn new(end: &EndOf, side: Side, mss: u32, waits: Rc<Cell<Option<Time>>>) -> Self {
        let receive = end.buffers.receive;
        let mut connection = match side {
            Side::Sender => Connection::connect(&end.stack, mss, receive),
            Side::Receiver => Connection::listen(&end.stack, mss, receive),
        };
        connection.read_by_hand();
        connection.set_nagle(!end.no_delay);
        Host {
            connection,
            application: Application::new(&end.acts, end.eager),
            socket: Sockets { send: end.buffers.send.next_power_of_two(), written: 0, shut: false },
            answers: VecDeque::new(),
            answered: false,
            waits,
            last: None,
        }
    }

    /// The order of two events at one instant is the driver's own: a simulated host sends between them, a loop after them.
    fn note(&mut self, now: Time, arrival: bool) {
        let tied = self.last.is_some_and(|(at, before)| at == now && (before || arrival));
        let before = Time(now.0 - 1);
        if tied && self.waits.get().is_none_or(|until| until > before) {
            self.waits.set(Some(before));
        }
        self.last = Some((now, arrival));
    }

    fn turn(&mut self, now: Time) {
        self.application.turn(now, &mut Calls(&mut self.connection, &mut self.socket));
    }
}

impl Socket for Calls<'_> {
    fn is_open(&self) -> bool {
        match self.0.state() {
            State::Closed | State::Listen | State::SynSent | State::SynReceived => false,
            State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait
            | State::Closing
            | State::LastAck
            | State::TimeWait => true,
        }
    }

    fn write(&mut self, bytes: u64) -> u64 {
        let Calls(connection, socket) = self;
        if socket.shut || !matches!(connection.state(), State::Established | State::CloseWait) {
            return 0;
        }
        let taken = bytes.min(socket.send - (socket.written - connection.acked()));
        connection.write(taken);
        socket.written += taken;
        taken
    }

    fn read(&mut self, bytes: u64) {
        let unread = self.0.receiver().map_or(0, |rx| rx.unread());
        self.0.consume(unread.min(bytes));
    }

    fn shutdown(&mut self) {
        self.1.shut = true;
        self.0.close();
    }

    fn close(&mut self, now: Time) {
        self.0.orphan(now);
    }

    fn abort(&mut self, _: Time) {
        self.0.abort();
    }
}

impl Endpoint for Host {
    fn on_unexpected<O: Observer>(&mut self, now: Time, seg: &Segment, obs: &mut O) -> Outcome {
        self.note(now, true);
        let outcome = match self.connection.state() {
            State::Closed => {
                self.answers.extend(reset_for(seg));
                Outcome::NOTHING
            }
            State::Listen
            | State::SynSent
            | State::SynReceived
            | State::Established
            | State::FinWait1
            | State::FinWait2
            | State::CloseWait
            | State::Closing
            | State::LastAck
            | State::TimeWait => self.connection.on_segment(now, seg, obs),
        };
        self.turn(now);
        outcome
    }

    fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        self.note(now, false);
        if self.connection.next_timer().is_some_and(|at| at <= now) {
            self.connection.on_timer(now, obs);
        }
        self.turn(now);
    }

    fn next_timer(&self) -> Option<Time> {
        self.connection.next_timer().into_iter().chain(self.application.next()).min()
    }

    fn poll_transmit<O: Observer>(&mut self, now: Time, out: &mut Segment, obs: &mut O) -> bool {
        if let Some(answer) = self.answers.pop_front() {
            (*out, self.answered) = (answer, true);
            return true;
        }
        self.answered = false;
        if self.connection.state() == State::TimeWait && self.waits.get().is_none() {
            self.waits.set(Some(now));
        }
        self.connection.poll_transmit(now, out, obs)
    }

    fn last_sends(&self) -> u8 {
        if self.answered {
            return 0;
        }
        self.connection.last_sends()
    }

    fn resend(&self) -> Option<Resend> {
        self.connection.sender().map(Sender::resend)
    }

    /// As written on the wire, where options are aligned.
    fn size(&self, _: WireSpec, seg: &Segment) -> u32 {
        let if_ = |there: bool, bytes: u32| if there { bytes } else { 0 };
        let (syn, stamped) = (seg.has(Segment::SYN), seg.opts & Segment::TIMESTAMPS != 0);
        let sack_permitted = syn && seg.opts & Segment::SACK_PERMITTED != 0;
        let options = if_(syn && seg.mss != 0, 4)
            + if_(syn && seg.wscale != Segment::NO_SCALE, 4)
            + if_(stamped, 12)
            + if_(sack_permitted && !stamped, 4)
            + if_(seg.blocks > 0, 4 + 8 * u32::from(seg.blocks));
        40 + seg.len + options
    }

    /// The simulator's own application has no part in this.
    fn write(&mut self, _: u64) {}

    fn close(&mut self) {}

    fn acked(&self) -> u64 {
        self.connection.acked()
    }

    fn received(&self) -> u64 {
        self.connection.received()
    }
}

#[derive(Default)]
struct Log(Conversation);

impl Watch for Log {
    fn tcp(&mut self, at: Time, _: u32, side: Side, e: Event) {
        self.0.ends[usize::from(side == Side::Receiver)].events.push((at, e));
    }
    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, _: u8) {
        self.0.ends[usize::from(from == Side::Receiver)].packets.push((at, plain(*seg)));
    }
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}
}
