//! The loop of a live run: one thread moves packets between the path and the TCPs at its ends.

use super::acks::Acks;
use super::captures::Captures;
use super::engine::Engine;
use super::hosts::{self, Host, SIDES};
use super::sampler::Sampler;
use super::setup::{apps, engine, is_driven, kernels, place};
use super::{Options, Place, Prepared, Ran};
use crate::clock::{self, Clock, Lateness};
use crate::emulator::{Emulator, Leaving, Reading};
use crate::error::LiveError;
use crate::kernel::{Apps, Receiver};
use crate::pcapng::Direction;
use crate::realtime::{self, Priority};
use crate::wire::MAX_FRAME;
use ackclock_lab::run::Tally;
use ackclock_lab::scenario::Plan;
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::event::Resend;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_trace::{Both, Truth};
use ackclock_wire::write::mark_congestion;
use ackclock_wire::{parse, Checksums};
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::time::{TimeSpec, TimeValLike};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The longest interval between two samples of a sender's `tcp_info`.
const SAMPLE: Nanos = Nanos::from_millis(10);
/// How often the caller is told the progress of the run.
const TELL: Duration = Duration::from_millis(50);
/// The time between the end of the preparations and the first packet.
const LEAD: Nanos = Nanos::from_millis(20);
/// The path's time zero.
const ZERO: Time = Time(Clock::START.0 + LEAD.0);
/// Packets read from a device before the path is serviced.
const BATCH: usize = 32;

pub(super) fn run<W: Watch + Send>(
    prepared: &Prepared,
    seed: u64,
    options: &Options,
    watch: W,
    placed: &mut dyn FnMut(&Place),
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(Ran, W), LiveError> {
    let plan = &prepared.plan;
    let impossible = |e| LiveError::Input(format!("{}: {e}", plan.file));
    let planned = Emulator::new(plan, seed, Tally::new(plan)).map_err(impossible)?.results();
    let starts: Vec<Option<Time>> = planned.flows.iter().map(|f| f.started).collect();
    let hosts = kernels(prepared)?;
    let apps = apps(prepared, &hosts, &starts)?;
    placed(&place(prepared, options, &hosts)?);
    let (clock, stop, done) = (Clock::start(), AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let ends = Ends(&stop);
        let threads: Vec<_> = apps.iter().flatten().map(|apps| scope.spawn(|| apps.run(clock, ZERO, &stop))).collect();
        // A separate thread, the only one with the priority.
        let bench = scope.spawn(|| {
            let truth = Truth::new(plan.scenario.flows.len() as u32);
            let emulator = Emulator::new(plan, seed, Both(Both(Tally::new(plan), truth), watch)).map_err(impossible)?;
            let mut bench = Bench::new(prepared, seed, options, emulator, &hosts, &apps, &starts, clock)?;
            bench.run(&stop, &done)?;
            bench.finish(plan)
        });
        let mut before = 0;
        while !bench.is_finished() {
            thread::sleep(TELL);
            let now = done.load(Ordering::Relaxed);
            if progress(Nanos(now - before)).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            before = now;
        }
        let ran = bench.join().map_err(|_| LiveError::Failed("the path's thread panicked".into()))?;
        drop(ends);
        for t in threads {
            let ended = t.join().map_err(|_| LiveError::Failed("an application's thread panicked".into()))?;
            ended.map_err(LiveError::system("sending or receiving on a socket"))?;
        }
        ran
    })
}

/// Stops the applications, however the loop ends.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The state of a flow at its ends.
struct Flow {
    reading: Reading,
    /// The numbers of its sender's and receiver's applications, if those are the kernel's.
    source: Option<usize>,
    sink: Option<usize>,
    acks: Acks,
    sampler: Sampler,
    sampled: Time,
    receiver: Receiver,
    /// The last limit given to its application, if the path controls when it continues.
    allowed: Option<u64>,
}

struct Bench<'a, W: Watch> {
    emulator: Emulator<Both<Both<Tally, Truth>, W>>,
    hosts: &'a [Option<Host>; 2],
    apps: &'a [Option<Apps>; 2],
    flows: Vec<Flow>,
    /// By end: 2 · flow, and 1 more for the receiver.
    engines: Vec<Option<Engine>>,
    captures: Captures,
    clock: Clock,
    /// In virtual time: the clock at the beginning of the turn. Work takes no time there, but reading the clock does, and each
    /// reading is a system call.
    seen: Option<Cell<Time>>,
    end: Time,
    lateness: Lateness,
    priority: Priority,
    strays: u64,
    buf: Vec<u8>,
}

impl<'a, W: Watch> Bench<'a, W> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one run, created where failures can be reported")]
    fn new(
        prepared: &Prepared,
        seed: u64,
        options: &Options,
        emulator: Emulator<Both<Both<Tally, Truth>, W>>,
        hosts: &'a [Option<Host>; 2],
        apps: &'a [Option<Apps>; 2],
        starts: &[Option<Time>],
        clock: Clock,
    ) -> Result<Self, LiveError> {
        let (mut flows, mut engines) = (Vec::new(), Vec::new());
        let mut kernels = [0, 0];
        for (i, ends) in prepared.ends.iter().enumerate() {
            let mut app = |side: usize| {
                kernels[side] += 1;
                kernels[side] - 1
            };
            flows.push(Flow {
                reading: Reading::default(),
                source: ends[0].is_kernel().then(|| app(0)),
                sink: ends[1].is_kernel().then(|| app(1)),
                acks: Acks::default(),
                sampler: Sampler::default(),
                sampled: Time::ZERO,
                receiver: Receiver::default(),
                allowed: is_driven(&prepared.plan.scenario.flows[i]).then_some(0),
            });
            for side in SIDES {
                engines.push(engine(prepared, i as u32, side, starts[i], seed)?);
            }
        }
        let captures = Captures::new(options, clock)?;
        // By default the kernel may wake us 50 µs late.
        let _ = nix::sys::prctl::set_timerslack(1);
        let priority = realtime::request(options.realtime);
        let (end, buf) = (Time::ZERO + prepared.plan.scenario.duration, vec![0; MAX_FRAME]);
        let (lateness, strays) = (Lateness::default(), 0);
        let seen = clock::is_virtual().then(Cell::default);
        Ok(Bench { emulator, hosts, apps, flows, engines, captures, clock, seen, end, lateness, priority, strays, buf })
    }

    fn now(&self) -> Time {
        self.seen.as_ref().map_or_else(|| self.look(), Cell::get)
    }

    /// Reads the clock.
    fn look(&self) -> Time {
        let now = Time(self.clock.now().0.saturating_sub(ZERO.0));
        if let Some(seen) = &self.seen {
            seen.set(now);
        }
        now
    }

    fn run(&mut self, stop: &AtomicBool, done: &AtomicU64) -> Result<(), LiveError> {
        loop {
            let began = self.look().min(self.end);
            self.deliver(began)?;
            self.direct();
            let mut idle = self.read_devices()?;
            let now = self.now().min(self.end);
            self.deliver(now)?;
            idle &= self.work(now)?;
            self.sample(now)?;
            done.store(now.0, Ordering::Relaxed);
            if stop.load(Ordering::Relaxed) {
                return Err(LiveError::Interrupted);
            }
            // The kernels' answers to the last packets have been read.
            if began == self.end {
                return Ok(());
            }
            if idle {
                self.wait(now)?;
            }
        }
    }

    /// Tells waiting applications when to continue, and how far.
    fn direct(&mut self) {
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let Some(before) = flow.allowed else { continue };
            let (Some(start), allowed) = self.emulator.application(i as u32) else { continue };
            if allowed == before {
                continue;
            }
            flow.allowed = Some(allowed);
            if let (Some(source), Some(apps)) = (flow.source, &self.apps[0]) {
                apps.go(source, Nanos(start.0), allowed);
            } else if let Some(engine) = &mut self.engines[2 * i] {
                engine.go(start, allowed);
            }
        }
    }

    /// Sleeps until a packet arrives or an event is due.
    fn wait(&self, now: Time) -> Result<(), LiveError> {
        let timers = self.engines.iter().flatten().filter_map(Engine::next_timer);
        let due = timers.chain(self.emulator.next_event()).chain([self.end, now + SAMPLE]);
        let due = due.min().unwrap_or(now);
        let left = due.0.saturating_sub(self.now().0);
        if left == 0 {
            return Ok(());
        }
        let tuns = self.hosts.iter().flatten().map(|h| h.tun.as_fd());
        let mut fds: Vec<PollFd<'_>> = tuns.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match ppoll(&mut fds, Some(TimeSpec::nanoseconds(left as i64)), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(e) => Err(LiveError::system("waiting for packets")(e)),
        }
    }

    /// Puts the packets sent by the kernels into the path. Returns whether there were none. The clock is read after each packet:
    /// with an earlier time it would be on the path before it was sent, and the path would be shorter than it says.
    fn read_devices(&mut self) -> Result<bool, LiveError> {
        let (hosts, mut idle) = (self.hosts, true);
        for (host, side) in hosts.iter().zip(SIDES) {
            let Some(host) = host else { continue };
            for _ in 0..BATCH {
                let got = host.tun.recv(&mut self.buf).map_err(LiveError::system("reading the device"))?;
                let Some(len) = got else { break };
                idle = false;
                let now = self.now().min(self.end);
                self.deliver(now)?;
                self.enter(now, side, None, len, None)?;
            }
        }
        Ok(idle)
    }

    /// Delivers the packets that have left the path up to `now`.
    fn deliver(&mut self, now: Time) -> Result<(), LiveError> {
        while let Some(packet) = self.emulator.next(now) {
            self.hand_over(now, packet)?;
        }
        Ok(())
    }

    /// Puts the packet at the front of the buffer into the path.
    fn enter(
        &mut self,
        now: Time,
        from: Side,
        flow: Option<u32>,
        len: usize,
        resend: Option<Resend>,
    ) -> Result<(), LiveError> {
        let Ok(packet) = parse(&self.buf[..len], Checksums::Trust) else {
            self.strays += 1;
            return Ok(());
        };
        let (source, destination) = (packet.header.src.port(), packet.header.dst.port());
        let flow = flow.or_else(|| hosts::flow_of(from, source, destination));
        let Some((flow, f)) = flow.and_then(|flow| Some((flow, self.flows.get_mut(flow as usize)?))) else {
            self.strays += 1;
            return Ok(());
        };
        self.captures.packet(now + Nanos(ZERO.0), from, Direction::Out, &self.buf[..len])?;
        let mut entering = f.reading.sent(from, &packet, len as u32);
        entering.resend = resend;
        if from == Side::Receiver {
            f.receiver.sent(&entering.seg);
        }
        self.emulator.put(now, flow, from, entering, &self.buf[..len]);
        Ok(())
    }

    /// Delivers a packet that has left the path to its TCP.
    fn hand_over(&mut self, now: Time, mut packet: Leaving) -> Result<(), LiveError> {
        if packet.seg.opts & Segment::CE != 0 {
            mark_congestion(&mut packet.bytes);
        }
        self.captures.packet(now + Nanos(ZERO.0), packet.to, Direction::In, &packet.bytes)?;
        let side = usize::from(packet.to == Side::Receiver);
        let place = 2 * packet.flow as usize + side;
        if let Some(engine) = &mut self.engines[place] {
            if let Ok(parsed) = parse(&packet.bytes, Checksums::Trust) {
                // The packet gets the time at which it left, however late this call is: the loop's own delay is not a part of
                // the path.
                let refused = engine.on_packet(packet.at, &parsed, &packet.seg, self.emulator.watch());
                if let Some((why, missing)) = refused {
                    self.emulator.refused(&packet, why, &missing);
                }
            }
        } else if let Some(host) = &self.hosts[side] {
            match host.tun.send(&packet.bytes) {
                Ok(()) => {}
                Err(e) => return Err(LiveError::system("writing to the device")(e)),
            }
            let flow = &mut self.flows[packet.flow as usize];
            match packet.to {
                Side::Receiver => {
                    if let Some(why) = flow.receiver.arrived(&packet.seg) {
                        let missing = flow.receiver.missing(packet.seg.seq, packet.seg.end());
                        self.emulator.refused(&packet, why, &missing);
                    }
                }
                Side::Sender => self.acked(&packet)?,
            }
        }
        self.lateness.record(packet.at, self.now());
        self.emulator.give_back(packet.bytes);
        Ok(())
    }

    /// The engine's ends do their due work. Returns whether they sent nothing.
    fn work(&mut self, now: Time) -> Result<bool, LiveError> {
        let mut idle = true;
        for place in 0..self.engines.len() {
            let Some(mut engine) = self.engines[place].take() else { continue };
            engine.work(now, self.emulator.watch());
            while let Some((len, resend)) = engine.poll(now, &mut self.buf, self.emulator.watch()) {
                idle = false;
                self.enter(now, engine.side, Some(engine.flow), len, resend)?;
            }
            self.engines[place] = Some(engine);
        }
        Ok(idle)
    }

    /// An ACK has arrived at a kernel's sender, which has processed it once the device has taken it.
    fn acked(&mut self, packet: &Leaving) -> Result<(), LiveError> {
        let flow = &mut self.flows[packet.flow as usize];
        let content = flow.acks.arrived(&packet.seg, flow.sampler.outstanding());
        let (Some(content), Some(source), Some(apps)) = (content, flow.source, &self.apps[0]) else { return Ok(()) };
        let info = apps.info(source).map_err(LiveError::system("asking for TCP_INFO"))?;
        let watch = self.emulator.watch();
        flow.sampled = packet.at;
        flow.sampler.acked(content, &info, |event| watch.tcp(packet.at, packet.flow, Side::Sender, event));
        Ok(())
    }

    /// Samples the senders' `tcp_info`.
    fn sample(&mut self, now: Time) -> Result<(), LiveError> {
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let waits = flow.allowed.is_some() && !self.emulator.is_busy(i as u32);
            if now < flow.sampled + SAMPLE || waits {
                continue;
            }
            flow.sampled = now;
            let watch = self.emulator.watch();
            let tell = |event| watch.tcp(now, i as u32, Side::Sender, event);
            if let (Some(source), Some(apps)) = (flow.source, &self.apps[0]) {
                let info = apps.info(source).map_err(LiveError::system("asking for TCP_INFO"))?;
                flow.sampler.take(&info, tell);
            } else if let Some(info) = self.engines[2 * i].as_ref().and_then(Engine::info) {
                flow.sampler.engine(&info, tell);
            }
        }
        Ok(())
    }

    fn finish(self, plan: &Plan) -> Result<(Ran, W), LiveError> {
        let [a, b] = self.hosts;
        let counters = |host: &Option<Host>| host.as_ref().map(Host::counters).transpose();
        let drops = |host: &Option<Host>| host.as_ref().map_or(Ok(0), Host::device_drops);
        let mut damaged: Vec<(u32, u64)> =
            self.engines.iter().flatten().filter_map(|e| Some((e.flow, e.damaged?))).collect();
        if let Some(apps) = &self.apps[1] {
            let sinks = self.flows.iter().zip(0..).filter_map(|(f, i)| Some((i, apps.damaged(f.sink?)?)));
            damaged.extend(sinks);
        }
        let results = self.emulator.results();
        let Both(Both(tally, truth), watch) = self.emulator.into_watch();
        self.captures.finish(plan, truth)?;
        let ran = Ran {
            results,
            tally,
            counters: [counters(a)?, counters(b)?],
            lateness: self.lateness,
            priority: self.priority,
            device_drops: [drops(a)?, drops(b)?],
            strays: self.strays,
            damaged,
        };
        Ok((ran, watch))
    }
}
