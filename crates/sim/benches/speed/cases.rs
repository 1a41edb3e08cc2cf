//! The cases: one flow (Blanton & Allman's network, with and without queue swaps), 20, 100 and 10,000 flows, and a million on one
//! link.

use crate::bare::Bare;
use ackclock_sim::engine::{Network, Sim};
use ackclock_sim::results::Results;
use ackclock_sim::scenario::{
    AppSpec, DirectionSpec, ElementSpec, FlowSpec, Gap, QueueLimit, QueueSpec, Scenario, SwapMode, SwapSpec,
};
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_sim::watch::Side;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// Payload bytes of a segment.
pub(crate) const MSS: u32 = 1460;

const STACK: &str = "sack-ff96";
/// One stack of each kind.
const MIXED: &[&str] = &["newreno", "sack-ff96", "rfc-6675", "dsack-avg", "rack-tlp", "linux-2025", "cubic", "rr-tcp"];

/// The TCP that runs on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tcp {
    /// The yardstick.
    Bare,
    /// The engine, with these stacks in turn.
    Engine(&'static [&'static str]),
}

/// Plain SACK.
const SACK: Tcp = Tcp::Engine(&[STACK]);

impl Tcp {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tcp::Bare => "bare",
            Tcp::Engine([one]) => one,
            Tcp::Engine(_) => "mixed",
        }
    }
}

/// One case.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) tcp: Tcp,
    scenario: fn() -> Scenario,
    /// `ns2/speed.tcl` and `ns3/speed.cc` also have this case, under the same name. ns-3, which is slow, simulates
    /// this many seconds of it.
    pub(crate) ns3_s: Option<u32>,
}

impl Case {
    /// How long it lasts, seconds of simulated time.
    pub(crate) fn seconds(&self) -> f64 {
        (self.scenario)().duration.as_secs_f64()
    }
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "1", tcp: SACK, scenario: one, ns3_s: Some(120) },
    Case { name: "1-swaps", tcp: Tcp::Engine(&["dsack-avg"]), scenario: swaps, ns3_s: None },
    Case { name: "20", tcp: SACK, scenario: twenty, ns3_s: Some(60) },
    Case { name: "100", tcp: SACK, scenario: hundred, ns3_s: Some(20) },
    Case { name: "10000", tcp: SACK, scenario: ten_thousand, ns3_s: None },
    Case { name: "10000-mixed", tcp: Tcp::Engine(MIXED), scenario: ten_thousand, ns3_s: None },
    Case { name: "1000000", tcp: SACK, scenario: million, ns3_s: None },
    Case { name: "bare-1", tcp: Tcp::Bare, scenario: one, ns3_s: None },
    Case { name: "bare-20", tcp: Tcp::Bare, scenario: twenty, ns3_s: None },
    Case { name: "bare-100", tcp: Tcp::Bare, scenario: hundred, ns3_s: None },
    Case { name: "bare-10000", tcp: Tcp::Bare, scenario: ten_thousand, ns3_s: None },
];

/// A case, laid out.
pub(crate) enum Run {
    Bare(Network<(), Bare>),
    Engine(Sim<()>),
}

impl Run {
    /// Prepares a run of the case, with `stack` for every flow if given.
    pub(crate) fn new(case: &Case, stack: Option<&str>) -> Result<Run, String> {
        let mut s = (case.scenario)();
        let laid_out = match case.tcp {
            Tcp::Bare => Network::with_endpoints(&s, 1, (), |f, side| match side {
                Side::Sender => Bare::sender(f.mss, f.window),
                Side::Receiver => Bare::receiver(2),
            })
            .map(Run::Bare),
            Tcp::Engine(names) => {
                let names = stack.as_ref().map_or(names, std::slice::from_ref);
                let stacks = names.iter().map(|n| Stack::named(n).ok_or(format!("no stack is called {n}")));
                let stacks = stacks.collect::<Result<Vec<_>, _>>()?;
                for (f, stack) in s.flows.iter_mut().zip((0..stacks.len() as u32).cycle()) {
                    f.stack = stack;
                }
                Sim::new(&s, &stacks, 1, ()).map(Run::Engine)
            }
        };
        laid_out.map_err(|e| e.to_string())
    }

    pub(crate) fn run(&mut self) -> Results {
        match self {
            Run::Bare(n) => n.run(),
            Run::Engine(n) => n.run(),
        }
    }
}

fn link(mbps: u64, delay_ms: u64, queue: Option<u32>) -> DirectionSpec {
    let limit = queue.map_or(QueueLimit::Unlimited, QueueLimit::Packets);
    let queue = QueueSpec { limit, limit_counts_service: true };
    DirectionSpec { queue, ..pipe(Some(Rate(mbps * 1_000_000)), Nanos::from_millis(delay_ms)) }
}

fn scenario(flows: u32, seconds: u64, access: DirectionSpec, shared: DirectionSpec, apart: Nanos) -> Scenario {
    let mut s = dumbbell(flows, &access, &shared, &flow());
    s.duration = Nanos::from_secs(seconds);
    for (f, n) in s.flows.iter_mut().zip(0..) {
        f.app.start = apart.times(n);
        f.ack = ackclock_tcp::ack::AckSpec::Delayed { delay: Nanos::from_millis(200) };
    }
    s
}

/// Blanton & Allman's network without swaps.
fn one() -> Scenario {
    scenario(1, 600, link(10, 0, None), link(5, 50, Some(65)), Nanos::ZERO)
}

/// The same with twelve swaps every second, on average: two of the queue's places each.
fn swaps() -> Scenario {
    let mut s = one();
    let gap = Gap::Exponential(Nanos::from_secs(1));
    s.links[0].forward.elements.push(ElementSpec::Swap(SwapSpec { mode: SwapMode::Slots, count: 12, gap }));
    s
}

fn twenty() -> Scenario {
    scenario(20, 600, link(100, 5, None), link(10, 20, Some(100)), Nanos::from_millis(13))
}

fn hundred() -> Scenario {
    scenario(100, 60, link(100, 5, None), link(100, 20, Some(500)), Nanos::from_millis(13))
}

fn ten_thousand() -> Scenario {
    scenario(10_000, 10, link(100, 5, None), link(10_000, 20, Some(20_000)), Nanos::from_micros(100))
}

/// All flows have the ends of one link.
fn million() -> Scenario {
    let mut s = scenario(1, 4, link(100, 5, None), link(100_000, 20, Some(200_000)), Nanos::ZERO);
    let ends = FlowSpec { from: 0, to: 1, ..s.flows[0].clone() };
    let start = |n| AppSpec { start: Nanos::from_micros(1).times(n), ..ends.app };
    s.flows = (0..1_000_000).map(|n| FlowSpec { app: start(n), ..ends.clone() }).collect();
    s.links.truncate(1);
    s
}
