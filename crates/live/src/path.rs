//! A scenario with real TCPs at its ends: the kernel's, or the engine with bytes, over the path in real time.

mod acks;
mod bench;
mod captures;
mod engine;
pub(crate) mod hosts;
mod notes;
mod plan;
mod sampler;
mod setup;

pub use plan::{Choice, Prepared, Tcp};

use crate::clock::Lateness;
use crate::error::LiveError;
use crate::kernel::Counters;
use crate::realtime::Priority;
use ackclock_lab::run::Tally;
use ackclock_lab::scenario::Plan;
use ackclock_sim::results::Results;
use ackclock_sim::watch::Watch;
use ackclock_tcp::time::Nanos;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether to request real-time priority.
    pub realtime: bool,
    /// Folder for the captures of both ends, and for the verdicts on their retransmissions.
    pub pcap: Option<PathBuf>,
    /// Bytes kept of each packet. Default: all.
    pub snap: Option<u32>,
}

/// The results of a live run.
#[derive(Debug)]
pub struct Ran {
    /// The path's counts.
    pub results: Results,
    /// The path's listener.
    pub tally: Tally,
    /// The kernel's counters at the senders and at the receivers, for ends that are the kernel's.
    pub counters: [Option<Counters>; 2],
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// The outcome of the request for real-time priority.
    pub priority: Priority,
    /// Packets that the kernel dropped before a device, because they were not read in time.
    pub device_drops: [u64; 2],
    /// Packets from the devices that belong to no flow.
    pub strays: u64,
    /// Flows whose receiver read a wrong byte, and its offset. There should be none.
    pub damaged: Vec<(u32, u64)>,
}

/// The place of a run, for its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Of the senders and of the receivers: the namespace's name in the kernel, if that end is the kernel's.
    pub namespaces: [Option<String>; 2],
    /// The devices' name.
    pub device: &'static str,
    /// Their MTU, bytes.
    pub mtu: u32,
    /// The congestion control of each flow, or its stack.
    pub senders: Vec<String>,
    /// Whether real-time priority was requested.
    pub realtime: bool,
}

impl fmt::Display for Place {
    /// The first line of a run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { namespaces, device, mtu, senders, realtime } = self;
        let side = |name: &Option<String>| match name {
            Some(name) => format!("kernel at {device} in {name}"),
            None => "the engine in this process".to_owned(),
        };
        let [from, to] = namespaces;
        let mut used: Vec<&str> = Vec::new();
        senders.iter().for_each(|s| {
            if !used.contains(&s.as_str()) {
                used.push(s)
            }
        });
        let priority = if *realtime { "real-time priority requested" } else { "ordinary priority" };
        let (from, to, used) = (side(from), side(to), used.join(" + "));
        write!(f, "senders: {used}, {from}; receivers: {to}; MTU {mtu}, offload off, {priority}")
    }
}

/// Determines the live form of `plan`. `with` is the same scenario with each of [`Choice::stacks`], by their names; these
/// stacks contain the settings of the file and the command line.
///
/// # Errors
/// [`LiveError::Input`] for choices that cannot be met.
pub fn prepare(plan: Plan, with: &BTreeMap<String, Plan>, choice: &Choice) -> Result<Prepared, LiveError> {
    let mut prepared = plan::prepare(plan, with, choice)?;
    prepared.notes = notes::notes(&prepared);
    Ok(prepared)
}

/// Runs `prepared` in real time. `placed` receives the place before it begins; `progress` is as in `ackclock_lab::run`.
///
/// # Errors
/// [`LiveError::Unavailable`] without the permissions, [`LiveError::Interrupted`] if `progress` requested it, and errors of the
/// kernel.
pub fn run<W: Watch + Send>(
    prepared: &Prepared,
    seed: u64,
    options: &Options,
    watch: W,
    placed: &mut dyn FnMut(&Place),
    progress: &mut dyn FnMut(Nanos) -> ControlFlow<()>,
) -> Result<(Ran, W), LiveError> {
    bench::run(prepared, seed, options, watch, placed, progress)
}
