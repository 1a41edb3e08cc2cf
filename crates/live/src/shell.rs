//! Any program behind a scenario's path: its packets, whatever they are, go over the links in real time.
//!
//! The program runs in a namespace of its own at one end of the path; what it talks to, in another at the other end. All its
//! packets are those of one flow.

use crate::clock::{Clock, Lateness};
use crate::emulator::{mark_congestion, Emulator};
use crate::error::LiveError;
use crate::path::hosts::{address, Host, DEVICE};
use crate::realtime;
use crate::wire::MAX_FRAME;
use ackclock_lab::run::Tally;
use ackclock_lab::scenario::Plan;
use ackclock_sim::engine::outside::Entering;
use ackclock_sim::reordering::{Order, Reordering};
use ackclock_sim::scenario::{AppSpec, FlowSpec, WireSpec};
use ackclock_sim::watch::{DropWhy, Side, Watch};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::event::Event;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_trace::Both;
use ackclock_wire::{parse, Checksums};
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::time::{TimeSpec, TimeValLike};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What is to run.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The path.
    pub plan: Plan,
    /// The nodes at which the program and its peer are. Default: those of the first flow.
    pub nodes: [Option<String>; 2],
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What runs at the other end, for `sh -c`.
    pub peer: Option<String>,
    /// The path's luck.
    pub seed: u64,
    /// MTU of the devices, bytes.
    pub mtu: u32,
    /// Ask for real-time priority.
    pub realtime: bool,
}

/// What became of the packets that went one way.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Packets that went in.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that came out.
    pub arrived: u64,
    /// Dropped at a full queue, by a loss model or interruption, early (RED), by a script.
    pub dropped: [u64; 4],
    /// Packets of which the path made two.
    pub doubled: u64,
    /// Packets that were marked (ECN).
    pub marked: u64,
    /// The order in which packets came out (RFC 4737).
    pub order: Reordering,
}

/// What is left of it.
#[derive(Debug)]
pub struct Ended {
    /// The program's exit code; 128 and the signal's number if one ended it.
    pub code: i32,
    /// From the program to its peer, and back.
    pub ways: [Way; 2],
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// Packets that the kernel dropped before a device.
    pub device_drops: [u64; 2],
    /// How long it ran.
    pub lasted: Nanos,
}

/// The longest run: the simulator's clock ends later.
const LONGEST: Nanos = Nanos::from_secs(24 * 3600);
const LOOK: Duration = Duration::from_millis(20);
const SIDES: [Side; 2] = [Side::Sender, Side::Receiver];
const BATCH: usize = 32;

impl Shell {
    /// The plan with one flow, between the nodes.
    fn one_flow(&self) -> Result<Plan, LiveError> {
        let mut plan = self.plan.clone();
        let s = &mut plan.scenario;
        let ends = s.flows.first().map(|f| [f.from, f.to]);
        let mut nodes = [0; 2];
        for (i, option) in ["--from", "--to"].into_iter().enumerate() {
            nodes[i] = match (&self.nodes[i], ends) {
                (Some(name), _) => s.nodes.iter().position(|n| n == name).map(|n| n as u32).ok_or_else(|| {
                    let all = s.nodes.join(", ");
                    LiveError::Input(format!("command line: key `{option}`: found \"{name}\", allowed: {all}"))
                })?,
                (None, Some(ends)) => ends[i],
                (None, None) => {
                    let found = "a scenario without flows and no node";
                    return Err(LiveError::Input(format!(
                        "command line: key `{option}`: found {found}, allowed: a node"
                    )));
                }
            };
        }
        s.duration = LONGEST;
        s.flows = vec![FlowSpec {
            name: "shell".to_owned(),
            from: nodes[0],
            to: nodes[1],
            stack: 0,
            mss: 1460,
            window: 1 << 20,
            ack: AckSpec::Every,
            handshake: true,
            wire: WireSpec::Ipv4,
            app: AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, bytes: None },
        }];
        plan.reordering = false;
        Ok(plan)
    }

    /// Runs the program; `say` is told where before. It ends when the program does, or `go_on` says so.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] without the permissions, [`LiveError::Input`] for a program that is not there, and what the
    /// kernel answers.
    pub fn run(
        &self,
        say: &mut dyn FnMut(&str),
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Ended, LiveError> {
        if self.plan.is_from_outside() {
            let file = &self.plan.file;
            return Err(LiveError::Input(format!("{file}: found an element in Python, allowed: built-in ones")));
        }
        let plan = self.one_flow()?;
        let impossible = |e| LiveError::Input(format!("{}: {e}", plan.file));
        drop(Emulator::new(&plan, self.seed, Tally::new(&plan)).map_err(impossible)?);
        let hosts = [self.host(Side::Sender)?, self.host(Side::Receiver)?];
        let [a, b] = [hosts[0].name()?, hosts[1].name()?];
        let [local, remote] = SIDES.map(address);
        say(&format!(
            "live shell: program: {local} on {DEVICE} in {a}; peer: {remote} on {DEVICE} in {b}; MTU {}, offload off, {}",
            self.mtu,
            if self.realtime { "real-time priority asked for" } else { "ordinary priority" }
        ));
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let path = scope.spawn(|| {
                let emulator = Emulator::new(&plan, self.seed, Both(Order::default(), Ledger::default()));
                Loop::new(emulator.map_err(impossible)?, &hosts, self.realtime).run(&stop)
            });
            let code = self.programs(&hosts, go_on, &|| path.is_finished());
            stop.store(true, Ordering::Relaxed);
            let ended = path.join().map_err(|_| LiveError::Failed("the path's thread panicked".into()))?;
            let (mut ended, code) = (ended?, code?);
            ended.code = code;
            Ok(ended)
        })
    }

    fn host(&self, side: Side) -> Result<Host, LiveError> {
        Host::new(side, self.mtu, 1 << 20, &[])
    }

    /// Runs both programs; the exit code of the first.
    fn programs(
        &self,
        hosts: &[Host; 2],
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
        over: &dyn Fn() -> bool,
    ) -> Result<i32, LiveError> {
        let peer =
            self.peer.as_ref().map(|line| start(&hosts[1], Side::Receiver, &["sh".into(), "-c".into(), line.clone()]));
        let mut peer = Programme(peer.transpose()?);
        let mut program = Programme(Some(start(&hosts[0], Side::Sender, &self.command)?));
        loop {
            if let Some(code) = program.ended()? {
                return Ok(code);
            }
            // A peer that ends by itself is no reason to end.
            peer.ended()?;
            if over() {
                return Ok(1);
            }
            if go_on().is_break() {
                return Err(LiveError::Interrupted);
            }
            thread::sleep(LOOK);
        }
    }
}

/// Starts a program in a host's namespace. It knows both addresses.
fn start(host: &Host, side: Side, command: &[String]) -> Result<Child, LiveError> {
    let Some((name, arguments)) = command.split_first() else {
        return Err(LiveError::Input("command line: found no command, allowed: -- COMMAND".into()));
    };
    let (own, peer) = match side {
        Side::Sender => (Side::Sender, Side::Receiver),
        Side::Receiver => (Side::Receiver, Side::Sender),
    };
    let mut program = Command::new(name);
    program.args(arguments);
    program.env("ACKCLOCK_ADDRESS", address(own).to_string()).env("ACKCLOCK_PEER", address(peer).to_string());
    // A child has the namespace of the thread that starts it.
    let child = host.namespace.run(|| program.spawn())?;
    child.map_err(|e| {
        LiveError::Input(format!("found the command \"{name}\" ({e}), allowed: a program that can be run"))
    })
}

/// A program that does not outlive its run.
struct Programme(Option<Child>);

impl Programme {
    fn ended(&mut self) -> Result<Option<i32>, LiveError> {
        use std::os::unix::process::ExitStatusExt;
        let Some(child) = &mut self.0 else { return Ok(None) };
        let status = child.try_wait().map_err(LiveError::system("waiting for a program"))?;
        Ok(status.map(|s| s.code().unwrap_or_else(|| 128 + s.signal().unwrap_or(0))))
    }
}

impl Drop for Programme {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Counts what became of packets.
#[derive(Default)]
struct Ledger {
    ways: [Way; 2],
}

impl Ledger {
    /// The way of a packet to this end.
    fn to(&mut self, to: Side) -> &mut Way {
        &mut self.ways[usize::from(to == Side::Sender)]
    }
}

impl Watch for Ledger {
    fn tcp(&mut self, _: Time, _: u32, _: Side, _: Event) {}
    fn queue(&mut self, _: Time, _: u32, _: u32, _: u64) {}

    fn sent(&mut self, _: Time, _: u32, from: Side, _: &Segment, wire: u32, _: u8) {
        let way = &mut self.ways[usize::from(from == Side::Receiver)];
        way.sent += 1;
        way.bytes += u64::from(wire);
    }

    fn dropped(&mut self, _: Time, _: u32, to: Side, _: u32, _: u64, why: DropWhy, _: &Segment, _: u8) {
        let why = match why {
            DropWhy::Queue => 0,
            DropWhy::Loss => 1,
            DropWhy::Early => 2,
            DropWhy::Script => 3,
        };
        self.to(to).dropped[why] += 1;
    }

    fn delivered(&mut self, _: Time, _: u32, to: Side, seg: &Segment, _: u32, _: u8) {
        let way = self.to(to);
        way.arrived += 1;
        way.marked += u64::from(seg.opts & Segment::CE != 0);
    }

    fn doubled(&mut self, _: Time, _: u32, to: Side, _: &Segment, _: u8) {
        self.to(to).doubled += 1;
    }
}

/// Moves packets between the devices and the path.
struct Loop<'a> {
    emulator: Emulator<Both<Order, Ledger>>,
    hosts: &'a [Host; 2],
    clock: Clock,
    lateness: Lateness,
    /// What each side has sent, as if it were one stream.
    streams: [Offset; 2],
}

impl<'a> Loop<'a> {
    fn new(emulator: Emulator<Both<Order, Ledger>>, hosts: &'a [Host; 2], realtime: bool) -> Self {
        let _ = nix::sys::prctl::set_timerslack(1);
        realtime::request(realtime);
        let (clock, lateness, streams) = (Clock::start(), Lateness::default(), [Offset::DATA; 2]);
        Loop { emulator, hosts, clock, lateness, streams }
    }

    fn now(&self) -> Time {
        Time(self.clock.now().0 - Clock::START.0)
    }

    fn run(mut self, stop: &AtomicBool) -> Result<Ended, LiveError> {
        let mut buf = vec![0; MAX_FRAME];
        while !stop.load(Ordering::Relaxed) {
            let now = self.now();
            while let Some(mut packet) = self.emulator.next(now) {
                if packet.seg.opts & Segment::CE != 0 {
                    mark_congestion(&mut packet.bytes);
                }
                let host = &self.hosts[usize::from(packet.to == Side::Receiver)];
                host.tun.send(&packet.bytes).map_err(LiveError::system("writing to the device"))?;
                self.lateness.record(packet.at, self.now());
                self.emulator.give_back(packet.bytes);
            }
            let mut idle = true;
            for (i, side) in SIDES.into_iter().enumerate() {
                for _ in 0..BATCH {
                    let got = self.hosts[i].tun.recv(&mut buf).map_err(LiveError::system("reading the device"))?;
                    let Some(len) = got else { break };
                    idle = false;
                    let entering = self.entering(i, &buf[..len]);
                    self.emulator.put(now, 0, side, entering, &buf[..len]);
                }
            }
            if idle {
                self.wait(now)?;
            }
        }
        self.end()
    }

    fn entering(&mut self, from: usize, bytes: &[u8]) -> Entering {
        let (len, flags, opts) = match parse(bytes, Checksums::Trust) {
            Ok(packet) => {
                let opts = match packet.header.ecn() {
                    0 => 0,
                    3 => Segment::ECT | Segment::CE,
                    _ => Segment::ECT,
                };
                (packet.payload.len() as u32, packet.header.flags & (Segment::SYN | Segment::FIN), opts)
            }
            Err(_) => (bytes.len() as u32, 0, 0),
        };
        let seg = Segment { seq: self.streams[from], len, flags, opts, ..Segment::EMPTY };
        self.streams[from] = seg.end();
        Entering { seg, wire: bytes.len() as u32, sends: u8::from(seg.seq_len() > 0), recovery: None }
    }

    fn wait(&self, now: Time) -> Result<(), LiveError> {
        let due = self.emulator.next_event().map_or(u64::MAX, |t| t.0).min(now.0 + LOOK.as_nanos() as u64);
        let left = due.saturating_sub(self.now().0);
        let mut fds: Vec<PollFd<'_>> =
            self.hosts.iter().map(|h| PollFd::new(h.tun.as_fd(), PollFlags::POLLIN)).collect();
        match ppoll(&mut fds, Some(TimeSpec::nanoseconds(left as i64)), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(e) => Err(LiveError::system("waiting for packets")(e)),
        }
    }

    fn end(self) -> Result<Ended, LiveError> {
        let lasted = Nanos(self.now().0);
        let device_drops = [self.hosts[0].device_drops()?, self.hosts[1].device_drops()?];
        let lateness = self.lateness;
        let Both(order, Ledger { mut ways }) = self.emulator.into_watch();
        for (way, to) in ways.iter_mut().zip([Side::Receiver, Side::Sender]) {
            way.order = order.at(0, to).cloned().unwrap_or_default();
        }
        Ok(Ended { code: 0, ways, lateness, device_drops, lasted })
    }
}
