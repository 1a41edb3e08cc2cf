//! smoltcp behind [`Tcp`]: POSIX sockets over its own, which have neither listeners with a queue nor errors of connections.
//!
//! A listener is several sockets of smoltcp: one listens, the others have met a peer. An error is read off the packet or the
//! timer that ended a connection. Settings, options and flags that smoltcp lacks are unknown, so that their scripts count
//! as not understood.

use crate::device::Queues;
use ackclock_conform::errno::Errno;
use ackclock_conform::tcp::{Answer, Call, Tcp};
use ackclock_tcp::time::Time;
use smoltcp::iface::{self, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{self, State};
use smoltcp::socket::AnySocket;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use std::cell::Cell;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// The receive buffer of a socket that asks for none, in bytes: Linux's largest (`tcp_rmem`), from which smoltcp's window scale
/// follows as Linux's does.
const BUFFER: usize = 6_291_456;
/// The first port of sockets that choose none.
const FIRST_PORT: u16 = 49_152;

thread_local! {
    /// The time for smoltcp's timestamps, in milliseconds: their generator is a function without arguments.
    static MILLIS: Cell<u32> = const { Cell::new(0) };
}

/// One host with smoltcp.
pub(crate) struct Stack {
    pub(crate) iface: Interface,
    device: Queues,
    pub(crate) set: SocketSet<'static>,
    pub(crate) sockets: Vec<Option<Socket>>,
    /// Sockets that the application has closed, which finish their connections.
    pub(crate) closed: Vec<SocketHandle>,
    timer: Option<Time>,
    now: Time,
    timestamps: bool,
    /// The receive buffer of sockets that set none, bytes.
    pub(crate) buffer: usize,
    ports: u16,
}

/// A socket of the application.
pub(crate) struct Socket {
    pub(crate) kind: Kind,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) non_blocking: bool,
    pub(crate) options: Options,
    /// An error that no call has reported yet.
    pub(crate) error: Option<Errno>,
    /// Its state when it was last looked at.
    pub(crate) state: State,
    pub(crate) was_open: bool,
    /// Bytes that a blocked `write` has handed over.
    pub(crate) written: usize,
}

/// What a socket is.
pub(crate) enum Kind {
    /// Neither connected nor listening.
    Fresh,
    /// A listener: the socket that listens, and connections that wait for `accept`.
    Listener { listening: SocketHandle, met: VecDeque<SocketHandle>, backlog: usize },
    /// One end of a connection.
    Connection(SocketHandle),
}

/// The options that the application set before it connected or listened.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) receive_buffer: Option<usize>,
    pub(crate) send_buffer: usize,
    pub(crate) no_delay: bool,
    pub(crate) timeout: Option<smoltcp::time::Duration>,
}

/// The reason for calling smoltcp.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// A packet with the flag RST.
    Reset,
    /// Another packet, or a call.
    Other,
    /// The time.
    Timer,
}

impl Stack {
    /// A host with this address behind a device with an MTU of `mtu` bytes.
    pub(crate) fn new(ip: IpAddr, mtu: u32) -> Result<Stack, String> {
        let mut device = Queues::new(mtu as usize);
        let mut config = iface::Config::new(HardwareAddress::Ip);
        config.random_seed = 1;
        let mut iface = Interface::new(config, &mut device, Instant::ZERO);
        let length = if ip.is_ipv4() { 24 } else { 64 };
        iface.update_ip_addrs(|list| _ = list.push(IpCidr::new(ip.into(), length)));
        // Without a route smoltcp does not answer a peer outside its network.
        let routed = match ip {
            IpAddr::V4(ip) => iface.routes_mut().add_default_ipv4_route(ip),
            IpAddr::V6(ip) => iface.routes_mut().add_default_ipv6_route(ip),
        };
        routed.map_err(|why| format!("smoltcp: {why:?}"))?;
        Ok(Stack {
            iface,
            device,
            set: SocketSet::new(Vec::new()),
            sockets: Vec::new(),
            closed: Vec::new(),
            timer: None,
            now: Time::ZERO,
            timestamps: true,
            buffer: BUFFER,
            ports: 0,
        })
    }

    /// A socket of smoltcp with these options.
    pub(crate) fn add(&mut self, options: &Options) -> SocketHandle {
        let receive = vec![0; options.receive_buffer.unwrap_or(self.buffer)];
        let mut socket =
            tcp::Socket::new(tcp::SocketBuffer::new(receive), tcp::SocketBuffer::new(vec![0; options.send_buffer]));
        socket.set_congestion_control(tcp::CongestionControl::Cubic);
        socket.set_nagle_enabled(!options.no_delay);
        socket.set_timeout(options.timeout);
        if self.timestamps {
            socket.set_tsval_generator(Some(|| MILLIS.get()));
        }
        self.set.add(socket)
    }

    pub(crate) fn port(&mut self) -> u16 {
        self.ports += 1;
        FIRST_PORT + self.ports
    }

    pub(crate) fn socket(&mut self, socket: u32) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(socket as usize).and_then(Option::as_mut).ok_or(Errno::EBADF)
    }

    pub(crate) fn tcp(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.set.get_mut(handle)
    }

    pub(crate) fn state(&self, handle: SocketHandle) -> State {
        self.set.get::<tcp::Socket<'_>>(handle).state()
    }

    /// Calls smoltcp and collects the changes.
    fn run(&mut self, now: Time, cause: Cause) {
        let instant = Instant::from_micros((now.0 / 1000) as i64);
        self.now = now;
        MILLIS.set((now.0 / 1_000_000) as u32);
        self.iface.poll(instant, &mut self.device, &mut self.set);
        self.notice(cause);
        // A listener may have got a new socket.
        let at = self.iface.poll_at(instant, &self.set);
        self.timer = at.map(|at| now.max(Time(at.total_micros().max(0) as u64 * 1000)));
    }

    fn notice(&mut self, cause: Cause) {
        for at in 0..self.sockets.len() {
            let Some(mut socket) = self.sockets[at].take() else { continue };
            match &mut socket.kind {
                Kind::Fresh => {}
                Kind::Connection(handle) => {
                    let state = self.state(*handle);
                    if state == State::Closed && socket.state != State::Closed {
                        socket.error = socket.error.or(error(socket.state, cause));
                    }
                    socket.was_open |= is_open(state);
                    socket.state = state;
                }
                Kind::Listener { listening, met, backlog } => {
                    // After a RST smoltcp listens again with the socket that had met the peer.
                    let gone: Vec<_> = met.iter().copied().filter(|h| !waits(self.state(*h))).collect();
                    met.retain(|handle| !gone.contains(handle));
                    gone.into_iter().for_each(|handle| _ = self.set.remove(handle));
                    // A closed one waits for room among the sockets in `met`.
                    if waits(self.state(*listening)) {
                        met.push_back(*listening);
                        *listening = self.add(&socket.options);
                    }
                    if met.len() < *backlog && self.state(*listening) == State::Closed {
                        let local = socket.local.map(endpoint);
                        local.into_iter().for_each(|local| _ = self.tcp(*listening).listen(local));
                    }
                }
            }
            self.sockets[at] = Some(socket);
        }
        let over: Vec<_> = self.closed.iter().copied().filter(|h| self.state(*h) == State::Closed).collect();
        self.closed.retain(|handle| !over.contains(handle));
        over.into_iter().for_each(|handle| _ = self.set.remove(handle));
    }
}

impl Tcp for Stack {
    fn set(&mut self, name: &str, value: &str) -> bool {
        match (name, value) {
            ("net.ipv4.tcp_timestamps", "0") => self.timestamps = false,
            ("net.ipv4.tcp_timestamps", "1") => self.timestamps = true,
            // As this example builds it: CUBIC; segments leave one by one, without ECN.
            ("net.ipv4.tcp_congestion_control", "cubic")
            | ("net.ipv4.tcp_min_tso_segs", "1")
            | ("net.ipv4.tcp_ecn", "0") => {}
            // FreeBSD's receive buffer, and settings that have no effect on smoltcp or ask for its only behaviour.
            ("net.inet.tcp.recvspace", bytes) => match bytes.parse() {
                Ok(bytes) if bytes <= 1 << 20 => self.buffer = bytes,
                Ok(_) | Err(_) => return false,
            },
            ("net.inet.tcp.sendspace" | "kern.ipc.maxsockbuf" | "net.inet.tcp.hostcache.purgenow", _)
            | ("net.inet.tcp.rfc1323" | "net.inet.tcp.sack.enable" | "net.inet.tcp.ecn.enable", _) => {}
            ("net.inet.tcp.blackhole" | "net.inet.tcp.drop_synfin", "0") => {}
            _ => return false,
        }
        true
    }

    fn on_packet(&mut self, now: Time, packet: &[u8]) {
        let reset =
            ackclock_wire::parse(packet, ackclock_wire::Checksums::Verify).is_ok_and(|p| p.header.flags & 4 != 0);
        self.device.arrived.push_back(packet.to_vec());
        self.run(now, if reset { Cause::Reset } else { Cause::Other });
    }

    fn poll_transmit(&mut self, _now: Time, buf: &mut [u8]) -> Option<usize> {
        let packet = self.device.sent.pop_front()?;
        buf.get_mut(..packet.len())?.copy_from_slice(&packet);
        Some(packet.len())
    }

    fn next_timer(&self) -> Option<Time> {
        self.timer
    }

    fn on_timer(&mut self, now: Time) {
        self.run(now, Cause::Timer);
    }

    fn call(&mut self, now: Time, call: &Call) -> Answer {
        let answer = self.answer(call).unwrap_or_else(Answer::Failed);
        self.run(now, Cause::Other);
        answer
    }

    fn info(&self, _now: Time, socket: u32, field: &str) -> Option<i64> {
        let Kind::Connection(handle) = &self.sockets.get(socket as usize)?.as_ref()?.kind else { return None };
        (field == "tcpi_state").then(|| number(self.state(*handle)))
    }

    fn states(&self) -> Option<Vec<&'static str>> {
        Some(self.set.iter().filter_map(|(_, socket)| tcp::Socket::downcast(socket)).map(|s| name(s.state())).collect())
    }

    fn drop_time_waits(&mut self) -> bool {
        let waiting: Vec<_> = self.closed.iter().copied().filter(|h| self.state(*h) == State::TimeWait).collect();
        self.closed.retain(|handle| !waiting.contains(handle));
        waiting.into_iter().for_each(|handle| _ = self.set.remove(handle));
        true
    }
}

/// The error that ends a connection in `state`.
fn error(state: State, cause: Cause) -> Option<Errno> {
    match (cause, state) {
        (Cause::Reset, State::SynSent) => Some(Errno::ECONNREFUSED),
        (Cause::Reset, _) => Some(Errno::ECONNRESET),
        (Cause::Timer, State::TimeWait) | (Cause::Other, _) => None,
        (Cause::Timer, _) => Some(Errno::ETIMEDOUT),
    }
}

/// Whether `accept` may return a connection in this state, now or later.
fn waits(state: State) -> bool {
    !matches!(state, State::Closed | State::Listen)
}

/// Past the handshake.
pub(crate) fn is_open(state: State) -> bool {
    !matches!(state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
}

/// An address for `listen`.
pub(crate) fn endpoint(local: SocketAddr) -> smoltcp::wire::IpListenEndpoint {
    let ip = Some(local.ip()).filter(|ip| !ip.is_unspecified());
    smoltcp::wire::IpListenEndpoint { addr: ip.map(Into::into), port: local.port() }
}

/// Linux's number of a state (`include/net/tcp_states.h`).
fn number(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

fn name(state: State) -> &'static str {
    match state {
        State::Closed => "CLOSED",
        State::Listen => "LISTEN",
        State::SynSent => "SYN_SENT",
        State::SynReceived => "SYN_RCVD",
        State::Established => "ESTABLISHED",
        State::FinWait1 => "FIN_WAIT_1",
        State::FinWait2 => "FIN_WAIT_2",
        State::CloseWait => "CLOSE_WAIT",
        State::Closing => "CLOSING",
        State::LastAck => "LAST_ACK",
        State::TimeWait => "TIME_WAIT",
    }
}
