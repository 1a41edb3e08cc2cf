//! This project's own TCP behind [`Tcp`]: sockets over [`ackclock_wire::Host`], on virtual time.
//!
//! Source: POSIX.1-2024 (the calls and their errors), Linux's tcp(7) and socket(7) where POSIX leaves a choice.
//!
//! | part | content |
//! | --- | --- |
//! | `settings` | `sysctl` names: which stack, which buffers |
//! | `socket` | one socket: its options and its state |
//! | `opening`, `transfer`, `options` | the calls |
//! | `offload` | several segments as one packet, as Linux sends them |
//! | `info` | the fields of `tcp_info` |

mod info;
mod offload;
mod opening;
mod options;
mod settings;
mod socket;
mod transfer;

use crate::errno::Errno;
use crate::tcp::{Answer, Call, Tcp};
use ackclock_tcp::connection::State;
use ackclock_tcp::time::Time;
use ackclock_wire::host::Watch;
use ackclock_wire::{parse, Checksums, Dialect, Host, HostConfig, Secret, Writing};
use offload::Offload;
pub use settings::{page, Setting, Settings, StackOf, Values, SETTINGS};
use socket::Socket;
use std::net::IpAddr;

/// The engine with its sockets, and a listener to the decisions of its connections.
pub struct Engine<W = ()> {
    host: Host,
    watch: W,
    settings: Settings,
    sockets: Vec<Option<Socket>>,
    offload: Offload,
}

impl Engine {
    /// A host with these addresses behind a device with an MTU of `mtu` bytes.
    pub fn new(addresses: &[IpAddr], mtu: u32, settings: Settings) -> Self {
        Engine::watched(addresses, mtu, settings, ())
    }
}

impl<W: Watch> Engine<W> {
    /// The same with a listener to its senders' decisions.
    pub fn watched(addresses: &[IpAddr], mtu: u32, settings: Settings, watch: W) -> Self {
        let dialect = settings.system.dialect();
        let (rfc1337, syn) = (settings.rfc1337(), settings.syn_rules());
        let config = HostConfig { dialect, rfc1337, syn, ..HostConfig::new(addresses, mtu) };
        // Scripts count from 0 on each side, so the key does not matter.
        Engine {
            host: Host::new(config, Secret::new([0; 16])),
            watch,
            settings,
            sockets: Vec::new(),
            offload: Offload::default(),
        }
    }

    /// The listener.
    pub fn into_watch(self) -> W {
        self.watch
    }

    fn socket(&mut self, socket: u32) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(socket as usize).and_then(Option::as_mut).ok_or(Errno::EBADF)
    }

    /// The next packet of the host.
    fn next_packet(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let written = self.host.poll_transmit(now, Writing::Whole, buf, &mut self.watch).ok().flatten();
        if written.is_none() {
            self.notice();
        }
        written.map(|w| w.len)
    }

    /// How many segments may leave with this packet.
    fn most_segments(&self, packet: &[u8]) -> usize {
        let Ok(packet) = parse(packet, Checksums::Trust) else { return 1 };
        let endpoints = self.sockets.iter().flatten().filter_map(|s| s.id()).filter_map(|id| self.host.endpoint(id));
        let (src, dst) = (packet.header.src, packet.header.dst);
        let mut ours = endpoints.filter(|e| (e.border().local(), e.border().remote()) == (src, dst));
        ours.next().map_or(2, |endpoint| offload::segments(&endpoint.info()))
    }

    fn insert(&mut self, socket: Socket) -> i64 {
        self.sockets.push(Some(socket));
        self.sockets.len() as i64 - 1
    }

    fn answer(&mut self, now: Time, call: &Call) -> Result<Answer, Errno> {
        match *call {
            Call::Socket { v6 } => Ok(Answer::Done(self.insert(Socket::new(v6)))),
            Call::Bind { socket, local } => self.bind(socket, local),
            Call::Listen { socket, backlog } => self.listen(socket, backlog),
            Call::Accept { socket } => self.accept(now, socket),
            Call::Connect { socket, remote } => self.connect(now, socket, remote),
            Call::Read { socket, len, flags } => self.read(socket, len, flags),
            Call::Write { socket, len, flags } => self.write(socket, len, flags),
            Call::Shutdown { socket, read, write } => self.shutdown(socket, read, write),
            Call::Close { socket } => self.close(now, socket),
            Call::SetOption { socket, option, ref value } => self.set_option(now, socket, option, value),
            Call::GetOption { socket, option } => self.get_option(socket, option),
            Call::SetNonBlocking { socket, on } => {
                self.socket(socket)?.non_blocking = on;
                Ok(Answer::Done(0))
            }
            Call::QueueLength { socket, queue } => self.queue_length(socket, queue),
            Call::Poll { socket } => self.poll(socket),
        }
    }
}

impl<W: Watch> Tcp for Engine<W> {
    fn set(&mut self, name: &str, value: &str) -> bool {
        let known = self.settings.set(name, value);
        let settings = &self.settings;
        let (insecure, rfc1337, syn) = (settings.insecure(), settings.rfc1337(), settings.syn_rules());
        let config = self.host.config_mut();
        (config.insecure, config.rfc1337, config.syn) = (insecure, rfc1337, syn);
        known
    }

    fn on_packet(&mut self, now: Time, packet: &[u8]) {
        match parse(packet, Checksums::Verify) {
            Ok(packet) if self.settings.drop_synfin() && packet.header.flags & 3 == 3 => {}
            Ok(packet) => {
                self.host.on_packet(now, &packet, &mut self.watch);
            }
            // A script may send anything: a packet that is not TCP may be ICMP; any other is dropped, as on a real host.
            Err(_) => {
                let _ = self.host.on_icmp(now, packet, Checksums::Verify);
            }
        }
        self.notice();
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if !self.settings.offloads() {
            return self.next_packet(now, buf);
        }
        let mut whole =
            self.offload.take_held().or_else(|| self.next_packet(now, buf).map(|len| buf[..len].to_vec()))?;
        let (unit, mut segments) = (offload::payload(&whole), 1);
        let most = self.most_segments(&whole);
        while let Some(len) = self.next_packet(now, buf) {
            if !self.offload.join(&mut whole, unit, &buf[..len], most) {
                self.offload.hold(buf[..len].to_vec());
                break;
            }
            segments += 1;
        }
        self.offload.leave(&mut whole, segments);
        buf.get_mut(..whole.len())?.copy_from_slice(&whole);
        Some(whole.len())
    }

    fn next_timer(&self) -> Option<Time> {
        self.host.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        self.host.on_timer(now, &mut self.watch);
        self.notice();
    }

    fn call(&mut self, now: Time, call: &Call) -> Answer {
        self.answer(now, call).unwrap_or_else(Answer::Failed)
    }

    fn info(&self, _now: Time, socket: u32, field: &str) -> Option<i64> {
        info::field(self, socket, field)
    }

    fn states(&self) -> Option<Vec<&'static str>> {
        Some(self.host.states().map(name_of).collect())
    }

    fn drop_time_waits(&mut self) -> bool {
        self.host.end_time_waits();
        true
    }
}

/// The name of a state in system tools.
fn name_of(state: State) -> &'static str {
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

/// The system whose settings and option order a script expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// Linux.
    #[default]
    Linux,
    /// FreeBSD.
    FreeBsd,
}

impl System {
    fn dialect(self) -> Dialect {
        match self {
            System::Linux => Dialect::Linux,
            System::FreeBsd => Dialect::FreeBsd,
        }
    }
}
