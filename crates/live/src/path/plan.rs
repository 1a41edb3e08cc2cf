//! A scenario's live form: the TCPs at its ends, and the parts that are approximated or ignored.

use crate::error::LiveError;
use ackclock_lab::scenario::Plan;
use ackclock_sim::scenario::PeerSpec;
use ackclock_tcp::detect::Timekeeper;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use std::collections::BTreeMap;

/// A TCP at an end of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Tcp {
    /// The kernel's, with this congestion control; a receiver has none.
    Kernel(String),
    /// The engine.
    Engine(Box<Stack>),
}

/// The congestion control of the kernel's senders by default.
const CONGESTION: &str = "cubic";

impl Tcp {
    /// Whether it is the kernel's.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Tcp::Kernel(_))
    }

    /// Its name as an option.
    fn name(&self) -> String {
        match self {
            Tcp::Kernel(congestion) => format!("kernel:{congestion}"),
            Tcp::Engine(stack) => stack.name.clone(),
        }
    }

    /// A receiver: `kernel` or the name of a stack.
    fn receiver(name: &str) -> Result<Tcp, LiveError> {
        if name == "kernel" {
            return Ok(Tcp::Kernel(String::new()));
        }
        let stack = Stack::named(name).ok_or_else(|| {
            let allowed = "kernel, or a stack that `ackclock stacks` lists";
            LiveError::Input(format!("command line: key `--receiver`: found \"{name}\", allowed: {allowed}"))
        })?;
        Ok(Tcp::Engine(Box::new(stack)))
    }
}

/// The user's choices.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Senders, `TCP` for all flows or `FLOW=TCP` for one, where `TCP` is `kernel:cubic` and the like, or a stack's name.
    /// Default: kernel:cubic.
    pub senders: Vec<String>,
    /// The receivers. Default: kernel.
    pub receiver: Option<String>,
    /// The duration of the run. Default: the scenario's duration.
    pub duration: Option<Nanos>,
    /// Sysctls of both namespaces, as in `net.ipv4.tcp_sack`.
    pub sysctls: Vec<(String, String)>,
}

/// One chosen sender.
struct Chosen<'a> {
    /// The name of its flow; `None` for all flows.
    flow: Option<&'a str>,
    tcp: Named<'a>,
}

#[derive(Clone, Copy)]
enum Named<'a> {
    Kernel(&'a str),
    Stack(&'a str),
}

impl Choice {
    fn chosen(&self) -> impl Iterator<Item = Result<Chosen<'_>, LiveError>> {
        self.senders.iter().map(|option| {
            let (flow, name) = match option.split_once('=') {
                Some((flow, name)) => (Some(flow), name),
                None => (None, option.as_str()),
            };
            let tcp = match name.strip_prefix("kernel:") {
                Some(congestion) if !congestion.is_empty() => Named::Kernel(congestion),
                None if name == "kernel" => Named::Kernel(CONGESTION),
                None if Stack::named(name).is_some() => Named::Stack(name),
                _ => {
                    let allowed = "kernel:cubic, kernel:reno, kernel:bbr, or a stack that `ackclock stacks` lists";
                    let found = format!("found \"{name}\", allowed: {allowed}");
                    return Err(LiveError::Input(format!("command line: key `--sender`: {found}")));
                }
            };
            Ok(Chosen { flow, tcp })
        })
    }

    /// The engine's stacks among the senders, each once. `prepare` needs the scenario with each of them.
    ///
    /// # Errors
    /// [`LiveError::Input`] for an unknown name.
    pub fn stacks(&self) -> Result<Vec<String>, LiveError> {
        let mut stacks = Vec::new();
        for chosen in self.chosen() {
            match chosen?.tcp {
                Named::Stack(name) if !stacks.iter().any(|s| s == name) => stacks.push(name.to_owned()),
                Named::Stack(_) | Named::Kernel(_) => {}
            }
        }
        Ok(stacks)
    }

    /// The sender of each flow.
    fn ends(&self, plan: &Plan, with: &BTreeMap<String, Plan>) -> Result<Vec<Tcp>, LiveError> {
        let flows = &plan.scenario.flows;
        let mut senders = vec![Tcp::Kernel(CONGESTION.to_owned()); flows.len()];
        for chosen in self.chosen() {
            let Chosen { flow, tcp } = chosen?;
            let rows = plan.rows();
            let range = match flow {
                None => 0..flows.len(),
                Some(flow) => {
                    rows.iter().find(|(name, _)| *name == flow).map(|row| row.1.clone()).ok_or_else(|| {
                        let all = rows.iter().map(|row| row.0).collect::<Vec<_>>().join(", ");
                        LiveError::Input(format!(
                            "command line: key `--sender`: found the flow \"{flow}\", allowed: {all}"
                        ))
                    })?
                }
            };
            for (i, sender) in senders.iter_mut().enumerate().take(range.end).skip(range.start) {
                *sender = match tcp {
                    Named::Kernel(congestion) => Tcp::Kernel(congestion.to_owned()),
                    Named::Stack(name) => {
                        let of = with.get(name).ok_or_else(|| LiveError::Failed(format!("no plan with {name}")))?;
                        Tcp::Engine(Box::new(of.stacks[of.scenario.flows[i].stack as usize].clone()))
                    }
                };
            }
        }
        Ok(senders)
    }
}

/// A scenario that can run live.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The scenario; each flow's stack has the name of its sender.
    pub plan: Plan,
    /// The TCPs of each flow, the sender first.
    pub ends: Vec<[Tcp; 2]>,
    /// The MSS of each flow, bytes, chosen such that segments have the scenario's size.
    pub mss: Vec<u32>,
    /// Sysctls of both namespaces.
    pub sysctls: Vec<(String, String)>,
    /// Sysctls of the receivers' namespace alone: the options that the flows' peers lack.
    pub of_receivers: Vec<(String, String)>,
    /// The differences from the scenario, one line each.
    pub notes: Vec<String>,
}

/// The maximum number of flows: each has a port.
const MOST_FLOWS: usize = 1000;
/// The range of `TCP_MAXSEG` (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`).
const KERNEL_MSS: std::ops::RangeInclusive<u32> = 88..=32_767;
/// The bytes of the timestamps option in each segment (RFC 7323 appendix A).
const STAMPS: u32 = 12;
const SACK: &str = "net.ipv4.tcp_sack";
const DSACK: &str = "net.ipv4.tcp_dsack";
const TIMESTAMPS: &str = "net.ipv4.tcp_timestamps";
const ECN: &str = "net.ipv4.tcp_ecn";

/// Whether the detector must be told about drops on the path.
fn hears_drops(stack: &Stack) -> bool {
    stack.detect.build(*KERNEL_MSS.start()).hears_drops()
}

/// The live form of `plan`, as [`super::prepare`] describes it, without notes.
pub(super) fn prepare(mut plan: Plan, with: &BTreeMap<String, Plan>, choice: &Choice) -> Result<Prepared, LiveError> {
    if plan.is_from_outside() || with.values().any(Plan::is_from_outside) {
        let allowed = "built-in ones, since Python is too slow for real time";
        return Err(refuse(&plan, "an algorithm or element in Python", allowed));
    }
    if std::iter::once(&plan).chain(with.values()).any(|p| p.stacks.iter().any(hears_drops)) {
        let allowed = "a detector that learns from ACKs, since no path tells a live sender about drops";
        return Err(refuse(&plan, "detect = \"oracle\"", allowed));
    }
    let flows = plan.scenario.flows.len();
    if flows > MOST_FLOWS {
        return Err(refuse(&plan, &format!("{flows} flows"), &format!("at most {MOST_FLOWS}")));
    }
    if let Some(duration) = choice.duration {
        plan.scenario.duration = duration;
    }
    let receiver = Tcp::receiver(choice.receiver.as_deref().unwrap_or("kernel"))?;
    let (mut ends, mut mss, mut asks_for_ecn) = (Vec::with_capacity(flows), Vec::with_capacity(flows), false);
    for (i, sender) in choice.ends(&plan, with)?.into_iter().enumerate() {
        let flow = &plan.scenario.flows[i];
        let at = match &receiver {
            Tcp::Kernel(_) => receiver.clone(),
            Tcp::Engine(stack) => {
                let options = flow.peer.of(stack.options);
                Tcp::Engine(Box::new(Stack { ack: flow.ack.clone(), options, ..(**stack).clone() }))
            }
        };
        let mut stack = plan.stacks[flow.stack as usize].clone();
        match &sender {
            Tcp::Kernel(_) => asks_for_ecn |= stack.options.ecn,
            Tcp::Engine(own) => stack.clone_from(own),
        }
        stack.name = sender.name();
        plan.scenario.flows[i].stack = place_of(&mut plan, stack);
        let both = [sender, at];
        mss.push(wanted_mss(&plan, i, &both, choice)?);
        ends.push(both);
    }
    let mut sysctls = choice.sysctls.clone();
    if asks_for_ecn && setting(&sysctls, ECN).is_none() {
        sysctls.push((ECN.to_owned(), "1".to_owned()));
    }
    let of_receivers = if receiver.is_kernel() { peers(&plan, choice)? } else { Vec::new() };
    Ok(Prepared { plan, ends, mss, sysctls, of_receivers, notes: Vec::new() })
}

/// The options of the kernel's receivers to enable or disable, as sysctls of their namespace. Settings on the command line
/// take precedence.
fn peers(plan: &Plan, choice: &Choice) -> Result<Vec<(String, String)>, LiveError> {
    type Choice = fn(&PeerSpec) -> Option<bool>;
    let options: [(&str, &str, Choice); 3] =
        [("sack", SACK, |p| p.sack), ("dsack", DSACK, |p| p.dsack), ("timestamps", TIMESTAMPS, |p| p.timestamps)];
    let mut all = Vec::new();
    for (name, key, of) in options {
        let mut choices = plan.scenario.flows.iter().map(|f| of(&f.peer));
        let first = choices.next().flatten();
        if choices.any(|other| other != first) {
            let allowed = "the same value in each flow, since the receivers share the kernel's settings";
            return Err(refuse(plan, &format!("receivers that differ in `{name}`"), allowed));
        }
        if let (Some(on), None) = (first, setting(&choice.sysctls, key)) {
            all.push((key.to_owned(), u8::from(on).to_string()));
        }
    }
    Ok(all)
}

/// The value of a sysctl, written with dots or slashes.
fn setting<'a>(sysctls: &'a [(String, String)], key: &str) -> Option<&'a str> {
    sysctls.iter().rfind(|(name, _)| name.replace('/', ".") == key).map(|(_, value)| value.trim())
}

/// The MSS with which a flow's segments have the scenario's size. An established connection of the simulator has the payload
/// given in its file; one with a handshake subtracts the timestamps, as the kernel does (RFC 6691).
fn wanted_mss(plan: &Plan, flow: usize, ends: &[Tcp; 2], choice: &Choice) -> Result<u32, LiveError> {
    let stamps = |tcp: &Tcp| match tcp {
        Tcp::Kernel(_) => setting(&choice.sysctls, TIMESTAMPS) != Some("0"),
        Tcp::Engine(stack) => stack.options.timestamps,
    };
    let f = &plan.scenario.flows[flow];
    let at_kernel = ends[1].is_kernel() && setting(&choice.sysctls, TIMESTAMPS).is_none();
    let known = !at_kernel || f.peer.timestamps.unwrap_or(true);
    let more = if !f.handshake && known && ends.iter().all(stamps) { STAMPS } else { 0 };
    let mss = f.mss.saturating_add(more);
    if KERNEL_MSS.contains(&mss) {
        return Ok(mss);
    }
    let (least, most) = (KERNEL_MSS.start(), KERNEL_MSS.end() - more);
    Err(refuse(
        plan,
        &format!("segments of {} B", f.mss),
        &format!("{least} B to {most} B, the range that the kernel accepts"),
    ))
}

fn place_of(plan: &mut Plan, stack: Stack) -> u32 {
    let place = plan.stacks.iter().position(|s| *s == stack).unwrap_or_else(|| {
        plan.stacks.push(stack);
        plan.outside.push(Default::default());
        plan.stacks.len() - 1
    });
    place as u32
}

impl Prepared {
    /// The same scenario for the simulator, with `seeds` seeds from `seed` on: each kernel is replaced by the engine's
    /// nearest stack.
    pub fn simulated(&self, seed: u64, seeds: u64) -> Plan {
        let mut plan = self.plan.clone();
        plan.seeds = (seed..seed.saturating_add(seeds)).collect();
        for (i, [sender, _]) in self.ends.iter().enumerate() {
            let Tcp::Kernel(congestion) = sender else { continue };
            if let Some(mut stack) = Stack::named(model(congestion).unwrap_or(NEAREST)) {
                stack.options.ecn = self.plan.stacks[self.plan.scenario.flows[i].stack as usize].options.ecn;
                plan.scenario.flows[i].stack = place_of(&mut plan, stack);
            }
        }
        plan
    }
}

/// The engine's stack for the kernel's congestion control; `None` if it has none.
pub(super) fn model(congestion: &str) -> Option<&'static str> {
    match congestion {
        "cubic" => Some("linux-2025"),
        "reno" => Some("linux-reno-2025"),
        "bbr" => Some("linux-bbr-2025"),
        _ => None,
    }
}

/// The stack that is simulated for a congestion control without a [`model`].
pub(super) const NEAREST: &str = "linux-2025";

fn refuse(plan: &Plan, found: &str, allowed: &str) -> LiveError {
    LiveError::Input(format!("{}: found {found}, allowed: {allowed}", plan.file))
}
