//! Any program behind a scenario's path: its packets, of any kind, cross the links in real time.
//!
//! The program runs in a network namespace at one end of the path, and its peer in another one at the other end. They have the
//! host's files and users as usual, but can reach nothing else. All packets belong to one flow, whose ends are the two
//! namespaces: for the nth packet of a direction, elements have the same random numbers as in a simulated run with the same
//! seed.

mod bridge;
mod ledger;
mod programs;

pub use ledger::Way;

use crate::clock::Lateness;
use crate::error::LiveError;
use crate::path::hosts::{address, Host, DEVICE, SIDES};
use crate::realtime::Priority;
use crate::session::check_mtu;
use crate::supervise::Answer;
use ackclock_lab::scenario::Plan;
use ackclock_sim::scenario::{AppSpec, FlowSpec, PeerSpec, WireSpec};
use ackclock_sim::watch::Side;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::time::Nanos;
use bridge::{Bridge, Counted, Signals};
use programs::{listens, Program, LOOK};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// The programs and the path.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The path.
    pub plan: Plan,
    /// The nodes of the program and of its peer. Default: those of the first flow.
    pub nodes: [Option<String>; 2],
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The program at the other end, for `sh -c`. It is started first, and has no standard input.
    pub peer: Option<String>,
    /// The seed of the path's random numbers.
    pub seed: u64,
    /// MTU of the devices, bytes.
    pub mtu: u32,
    /// Whether to request real-time priority.
    pub realtime: bool,
    /// Whether the programs' standard output is redirected to standard error.
    pub quiet: bool,
}

/// The end of a run, and its counts.
#[derive(Debug)]
pub struct Ended {
    /// The program's exit code, or 128 plus the number of the signal that ended it; `None` if the run was stopped.
    pub code: Option<i32>,
    /// The peer's, if it ended on its own.
    pub peer: Option<i32>,
    /// From the program to its peer, and back.
    pub ways: [Way; 2],
    /// Packets that the kernel dropped before the program's device and its peer's, because they were not read in time.
    pub device_drops: [u64; 2],
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// The outcome of the request for real-time priority.
    pub priority: Priority,
    /// The duration of the run.
    pub lasted: Nanos,
}

/// The longest run, shorter than the range of the simulator's clock.
pub const LONGEST: Nanos = Nanos::from_secs(24 * 3600);
/// The time that the peer has to open a socket before the program starts.
const OPENS: Duration = Duration::from_secs(2);
/// After the program has ended, its kernel may still have data to send. The peer is stopped after this time without any data.
const QUIET: Duration = Duration::from_secs(1);
/// The peer is stopped at the latest after this time.
const CLEARS: Duration = Duration::from_secs(60);
/// The largest window that the kernel's end may announce, bytes.
const WINDOW: u32 = 1 << 20;

impl Shell {
    /// Runs the program; `say` receives the place of the run before it begins. It ends when the program does, or when `progress`
    /// says so.
    ///
    /// # Errors
    /// [`LiveError::Unavailable`] without the permissions, [`LiveError::Input`] for a missing program and for nodes that the
    /// scenario does not have, and errors of the kernel.
    pub fn run(&self, say: &mut dyn FnMut(&str), progress: &mut dyn FnMut() -> Answer) -> Result<Ended, LiveError> {
        let plan = self.one_flow()?;
        let hosts = [self.host(Side::Sender)?, self.host(Side::Receiver)?];
        let between = Signals::default();
        thread::scope(|scope| {
            let (says_ready, ready) = channel();
            let (plan, hosts, between) = (&plan, &hosts, &between);
            let path = scope.spawn(move || {
                let bridge = Bridge::new(plan, self.seed, hosts, self.realtime)?;
                let _ = says_ready.send(bridge.priority);
                bridge.run(between)
            });
            let ran = ready.recv().map_or(Ok(None), |priority| {
                say(&self.first_line(hosts, priority)?);
                let codes = self.programs(hosts, between, progress, &|| path.is_finished())?;
                Ok(Some((priority, codes)))
            });
            between.stop.store(true, Relaxed);
            let path = path.join().map_err(|_| LiveError::Failed("the path's thread panicked".into()))?;
            let Counted { ways, lateness, lasted } = path?;
            let Some((priority, [code, peer])) = ran? else {
                return Err(LiveError::Failed("the path's thread ended too soon".into()));
            };
            let device_drops = [hosts[0].device_drops()?, hosts[1].device_drops()?];
            Ok(Ended { code, peer, ways, device_drops, lateness, priority, lasted })
        })
    }

    /// The names of the nodes of the program and of its peer.
    ///
    /// # Errors
    /// [`LiveError::Input`] for a node that the scenario does not have.
    pub fn ends(&self) -> Result<[String; 2], LiveError> {
        let nodes = &self.plan.scenario.nodes;
        Ok(self.places()?.map(|n| nodes[n as usize].clone()))
    }

    fn places(&self) -> Result<[u32; 2], LiveError> {
        let s = &self.plan.scenario;
        let first = s.flows.first().map(|f| [f.from, f.to]);
        let place = |i: usize, option: &str| {
            let all = || format!("one of {}", s.nodes.join(", "));
            let (found, place) = match &self.nodes[i] {
                Some(name) => (format!("\"{name}\""), s.nodes.iter().position(|n| n == name).map(|n| n as u32)),
                None => ("nothing, since the scenario has no flow".to_owned(), first.map(|f| f[i])),
            };
            place.ok_or_else(|| {
                LiveError::Input(format!("command line: key `{option}`: found {found}, allowed: {}", all()))
            })
        };
        Ok([place(0, "--from")?, place(1, "--to")?])
    }

    /// The plan with one flow, between the nodes.
    fn one_flow(&self) -> Result<Plan, LiveError> {
        let file = &self.plan.file;
        if self.plan.is_from_outside() {
            return Err(LiveError::Input(format!("{file}: found an element in Python, allowed: built-in ones")));
        }
        check_mtu(self.mtu, false)?;
        let [from, to] = self.places()?;
        let mut plan = self.plan.clone();
        plan.scenario.duration = LONGEST;
        plan.scenario.flows = vec![FlowSpec {
            name: "shell".to_owned(),
            from,
            to,
            stack: 0,
            mss: 1460,
            window: u64::from(WINDOW),
            ack: AckSpec::Every,
            peer: PeerSpec::default(),
            handshake: true,
            wire: WireSpec::Ipv4,
            app: AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, bytes: None, pieces: None },
            after: None,
        }];
        ackclock_lab::run::check(&plan).map_err(|e| LiveError::Input(e.to_string()))?;
        Ok(plan)
    }

    fn host(&self, side: Side) -> Result<Host, LiveError> {
        Host::new(side, self.mtu, WINDOW, &[])
    }

    /// The first line of a run: namespaces, devices, MTU, offload, congestion control, priority.
    fn first_line(&self, hosts: &[Host; 2], priority: Priority) -> Result<String, LiveError> {
        let [a, b] = [hosts[0].name()?, hosts[1].name()?];
        let [local, remote] = SIDES.map(address);
        let control = hosts[0].namespace.sysctl("net.ipv4.tcp_congestion_control")?;
        let (mtu, priority) = (self.mtu, priority.words());
        Ok(format!(
            "namespaces: {a} ({local}, the program) and {b} ({remote}, its peer), device: {DEVICE} (TUN) in each, MTU {mtu}, \
             offload off, the kernel's {control}, {priority}"
        ))
    }

    /// Runs both programs; returns their exit codes.
    fn programs(
        &self,
        hosts: &[Host; 2],
        between: &Signals,
        progress: &mut dyn FnMut() -> Answer,
        over: &dyn Fn() -> bool,
    ) -> Result<[Option<i32>; 2], LiveError> {
        thread::scope(|scope| {
            let mut stopped = || over() || progress() == Answer::Stop;
            let mut peer = Peer::default();
            if let Some(line) = &self.peer {
                peer.program = Some(Program::start(scope, &hosts[1], Side::Receiver, self.peer_command(line)?)?);
                let mut left = OPENS;
                while left > Duration::ZERO && peer.runs() && !listens(&hosts[1])? {
                    if stopped() {
                        return Ok([None, peer.code]);
                    }
                    peer.check()?;
                    left = left.saturating_sub(LOOK);
                }
            }
            let program = Program::start(scope, &hosts[0], Side::Sender, self.command()?)?;
            let code = loop {
                if stopped() {
                    return Ok([None, peer.code]);
                }
                peer.check()?;
                if let Some(code) = program.ended()? {
                    break code;
                }
            };
            let (mut quiet, mut clears, mut sent) = (QUIET, CLEARS, 0);
            while peer.runs() && quiet.min(clears) > Duration::ZERO && !stopped() {
                peer.check()?;
                let before = std::mem::replace(&mut sent, between.sent.load(Relaxed));
                quiet = if sent == before { quiet.saturating_sub(LOOK) } else { QUIET };
                clears = clears.saturating_sub(LOOK);
            }
            Ok([Some(code), peer.code])
        })
    }

    fn command(&self) -> Result<Command, LiveError> {
        let Some((name, arguments)) = self.command.split_first() else {
            return Err(LiveError::Input("command line: found no command, allowed: -- COMMAND".into()));
        };
        let mut command = Command::new(name);
        command.args(arguments);
        self.hush(&mut command)?;
        Ok(command)
    }

    /// The peer has its own process group: Ctrl-C is for the program.
    fn peer_command(&self, line: &str) -> Result<Command, LiveError> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdin(Stdio::null()).process_group(0);
        self.hush(&mut command)?;
        Ok(command)
    }

    fn hush(&self, command: &mut Command) -> Result<(), LiveError> {
        if self.quiet {
            let to = io::stderr().as_fd().try_clone_to_owned();
            command.stdout(to.map_err(LiveError::system("standard error"))?);
        }
        Ok(())
    }
}

/// The program at the other end, if there is one.
#[derive(Default)]
struct Peer {
    program: Option<Program>,
    code: Option<i32>,
}

impl Peer {
    fn runs(&self) -> bool {
        self.program.is_some() && self.code.is_none()
    }

    /// Waits a moment.
    fn check(&mut self) -> Result<(), LiveError> {
        thread::sleep(LOOK);
        let ended = self.program.as_ref().map_or(Ok(None), Program::ended)?;
        self.code = self.code.or(ended);
        Ok(())
    }
}
