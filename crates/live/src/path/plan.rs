//! What a scenario means live: which TCPs stand at its ends, and what of it is set by the nearest means or does not count.

use crate::error::LiveError;
use ackclock_lab::scenario::Plan;
use ackclock_sim::scenario::{BackgroundKind, FlowSpec, WireSpec};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use std::collections::BTreeSet;

/// A TCP at an end of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Tcp {
    /// The kernel's, with this congestion control; a receiver has none.
    Kernel(String),
    /// The engine.
    Engine(Box<Stack>),
}

impl Tcp {
    /// As options name it: `kernel:cubic`, `kernel`, or the name of a stack.
    ///
    /// # Errors
    /// [`LiveError::Input`] for a name that means nothing.
    pub fn named(option: &str, name: &str) -> Result<Tcp, LiveError> {
        if let Some(congestion) = name.strip_prefix("kernel:").filter(|c| !c.is_empty()) {
            return Ok(Tcp::Kernel(congestion.to_owned()));
        }
        if name == "kernel" {
            return Ok(Tcp::Kernel(String::new()));
        }
        Stack::named(name).map(|s| Tcp::Engine(Box::new(s))).ok_or_else(|| {
            LiveError::Input(format!(
                "command line: key `{option}`: found \"{name}\", allowed: kernel:cubic, kernel:reno, kernel:bbr, or a stack that `ackclock stacks` lists"
            ))
        })
    }

    /// Whether it is the kernel's.
    pub fn is_kernel(&self) -> bool {
        matches!(self, Tcp::Kernel(_))
    }

    fn name(&self) -> String {
        match self {
            Tcp::Kernel(congestion) => format!("kernel:{congestion}"),
            Tcp::Engine(stack) => stack.name.clone(),
        }
    }
}

/// What the user chose.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Senders, `TCP` for all flows or `FLOW=TCP` for one. Default: kernel:cubic.
    pub senders: Vec<String>,
    /// The receivers. Default: kernel.
    pub receiver: Option<String>,
    /// How long it runs. Default: as long as the scenario says.
    pub duration: Option<Nanos>,
}

/// A scenario that can run live.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The scenario; each flow's stack has the name of its sender.
    pub plan: Plan,
    /// The TCPs of each flow, the sender first.
    pub ends: Vec<[Tcp; 2]>,
    /// What is not as the scenario says, a line each.
    pub notes: Vec<String>,
}

/// Most flows: each has a port.
const MOST_FLOWS: usize = 1000;
/// What `TCP_MAXSEG` takes (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`).
const KERNEL_MSS: std::ops::RangeInclusive<u32> = 88..=32_767;

/// Says what `plan` means live.
///
/// # Errors
/// [`LiveError::Input`] for what cannot be done.
pub fn prepare(mut plan: Plan, choice: &Choice) -> Result<Prepared, LiveError> {
    if plan.is_from_outside() {
        return Err(refuse(
            &plan,
            "an algorithm or element in Python",
            "built-in ones: Python is too slow for real time",
        ));
    }
    let flows = plan.scenario.flows.len();
    if flows > MOST_FLOWS {
        return Err(refuse(&plan, &format!("{flows} flows"), &format!("at most {MOST_FLOWS}")));
    }
    if let Some(duration) = choice.duration {
        plan.scenario.duration = duration;
    }
    let senders = senders(&plan, &choice.senders)?;
    let receiver = choice.receiver.as_deref().unwrap_or("kernel");
    let receiver = Tcp::named("--receiver", receiver)?;
    let mut ends = Vec::with_capacity(flows);
    for (i, sender) in senders.into_iter().enumerate() {
        let flow = &plan.scenario.flows[i];
        let at = match &receiver {
            Tcp::Kernel(_) => Tcp::Kernel(String::new()),
            Tcp::Engine(stack) => Tcp::Engine(Box::new(Stack { ack: flow.ack.clone(), ..(**stack).clone() })),
        };
        let mut stack = match &sender {
            Tcp::Kernel(_) => plan.stacks[flow.stack as usize].clone(),
            Tcp::Engine(stack) => (**stack).clone(),
        };
        stack.name = sender.name();
        let place = plan.stacks.iter().position(|s| *s == stack).unwrap_or_else(|| {
            plan.stacks.push(stack);
            plan.outside.push(Default::default());
            plan.stacks.len() - 1
        });
        plan.scenario.flows[i].stack = place as u32;
        ends.push([sender, at]);
    }
    let notes = notes(&plan, &ends)?;
    Ok(Prepared { plan, ends, notes })
}

impl Prepared {
    /// The same scenario for the simulator, `seeds` of it from `seed` on: with the engine's stack that is nearest to each
    /// kernel's.
    pub fn simulated(&self, seed: u64, seeds: u64) -> Plan {
        let mut plan = self.plan.clone();
        plan.seeds = (seed..seed.saturating_add(seeds)).collect();
        for (f, [sender, _]) in plan.scenario.flows.iter_mut().zip(&self.ends) {
            let near = match sender {
                Tcp::Engine(_) => continue,
                Tcp::Kernel(congestion) if congestion == "reno" => "linux-reno-2025",
                Tcp::Kernel(_) => "linux-2025",
            };
            let Some(stack) = Stack::named(near) else { continue };
            f.stack = plan.stacks.iter().position(|s| *s == stack).unwrap_or_else(|| {
                plan.stacks.push(stack);
                plan.outside.push(Default::default());
                plan.stacks.len() - 1
            }) as u32;
        }
        plan
    }
}

fn refuse(plan: &Plan, found: &str, allowed: &str) -> LiveError {
    LiveError::Input(format!("{}: found {found}, allowed: {allowed}", plan.file))
}

/// The sender of each flow.
fn senders(plan: &Plan, chosen: &[String]) -> Result<Vec<Tcp>, LiveError> {
    let mut senders = vec![Tcp::Kernel("cubic".to_owned()); plan.scenario.flows.len()];
    for option in chosen {
        let (flow, name) = match option.split_once('=') {
            Some((flow, name)) => (Some(flow), name),
            None => (None, option.as_str()),
        };
        let mut tcp = Tcp::named("--sender", name)?;
        if tcp == Tcp::Kernel(String::new()) {
            tcp = Tcp::Kernel("cubic".to_owned());
        }
        match flow {
            None => senders.fill(tcp),
            Some(flow) => {
                let names = || plan.scenario.flows.iter().map(|f| f.name.as_str());
                let place = names().position(|n| n == flow).ok_or_else(|| {
                    let all = names().collect::<Vec<_>>().join(", ");
                    LiveError::Input(format!("command line: key `--sender`: found the flow \"{flow}\", allowed: {all}"))
                })?;
                senders[place] = tcp;
            }
        }
    }
    Ok(senders)
}

/// What is not as the scenario says.
fn notes(plan: &Plan, ends: &[[Tcp; 2]]) -> Result<Vec<String>, LiveError> {
    let mut notes = BTreeSet::new();
    for (f, [sender, receiver]) in plan.scenario.flows.iter().zip(ends) {
        flow_notes(plan, f, sender, receiver, &mut notes)?;
    }
    for b in &plan.scenario.background {
        if let BackgroundKind::Transfers(_) = b.kind {
            notes.insert(
                "background transfers: simulated on the path, with the stack that the scenario names".to_owned(),
            );
        }
    }
    Ok(notes.into_iter().collect())
}

fn flow_notes(
    plan: &Plan,
    f: &FlowSpec,
    sender: &Tcp,
    receiver: &Tcp,
    notes: &mut BTreeSet<String>,
) -> Result<(), LiveError> {
    if !KERNEL_MSS.contains(&f.mss) {
        let (least, most) = (KERNEL_MSS.start(), KERNEL_MSS.end());
        return Err(refuse(
            plan,
            &format!("segments of {} B", f.mss),
            &format!("{least} B to {most} B, as the kernel takes them"),
        ));
    }
    let means = if sender.is_kernel() || receiver.is_kernel() { "MSS (TCP_MAXSEG)" } else { "MSS" };
    notes.insert(format!("segment {} B: {means} {}, of which timestamps take 12 B", f.mss, f.mss));
    if !f.handshake {
        notes.insert("handshake = false: live has one".to_owned());
    }
    match f.wire {
        WireSpec::Ipv4 => {}
        WireSpec::Ns2 { .. } => drop(notes.insert("wire = ns2: packets have the size of their headers".to_owned())),
    }
    if receiver.is_kernel() {
        notes.insert(format!(
            "window {} B: TCP_WINDOW_CLAMP of the receiver, which opens its window step by step",
            f.window
        ));
        notes.insert(format!("ack = {}: the kernel's own delayed ACKs", ack_name(&f.ack)));
    }
    if let Tcp::Kernel(congestion) = sender {
        notes.insert(format!("stack: the kernel's TCP with {congestion}"));
    }
    Ok(())
}

fn ack_name(ack: &AckSpec) -> &'static str {
    match ack {
        AckSpec::Every => "every segment",
        AckSpec::Delayed { .. } => "delayed",
        AckSpec::DelayedReordered { .. } => "delayed, reordered segments too",
        AckSpec::Heartbeat { .. } => "heartbeat",
        AckSpec::WindowUpdate { .. } => "with window updates",
        AckSpec::Quick(_) => "quick",
        AckSpec::Custom(_) => "custom",
    }
}
