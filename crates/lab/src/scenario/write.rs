//! Writes a plan as a scenario file with every default spelled out, as `ackclock show` prints it.

use super::outside::{self, Tables};
use super::{Measuring, Plan};
use crate::chains::{self, chains};
use crate::file::amount::Amount;
use crate::file::background::{Background, Size as Sizes, When};
use crate::file::flow::{App, Connection, Connections, Flow, FlowKeys, Wire};
use crate::file::receiver::Receiver;
use crate::file::set::Set;
use crate::file::{self, Bins, Direction, Link, Measures, Run, SeedRange, Seeds};
use crate::written;
use ackclock_sim::scenario::{
    AppSpec, BackgroundKind, BackgroundSpec, DirectionSpec, FlowSpec, LinkSpec, Next, PiecesSpec, Scenario, Size,
    SourceSpec, TransfersSpec, WireSpec,
};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::units::{self, Bytes};
use serde::Serialize;
use serde_json::{Map, Value};

impl Plan {
    /// Returns this plan as a scenario file with every default, also of the stacks' parameters. The file
    /// describes the same scenario, stacks and seeds, so its runs have the same identities.
    pub fn to_toml(&self) -> String {
        let stacks = (0..self.stacks.len()).map(|n| self.stack(n)).collect();
        written::document(&object(Writer { scenario: &self.scenario, stacks }.file(self.run())))
    }

    /// What the results of a run depend on apart from its seed: the scenario as [`Plan::to_toml`] writes it, but without names for
    /// display and what is measured, and the stacks, to which its flows refer by number.
    pub(crate) fn inputs(&self) -> (Value, Value) {
        let mut scenario = self.scenario.clone();
        scenario.links.iter_mut().flat_map(|l| [&mut l.forward, &mut l.back]).for_each(outside::name_by_code);
        let stacks = (0..self.stacks.len()).map(|n| (n.to_string(), Set(Map::new()))).collect();
        let run = Run { duration: scenario.duration, seed: None, seeds: None, reordering: None, measures: None };
        let file = Writer { scenario: &scenario, stacks }.file(run);
        let stacks = self.stacks.iter().map(object).map(Value::Object).collect();
        (Value::Object(object(file::Scenario { name: None, ..file })), stacks)
    }

    fn run(&self) -> Run {
        let Plan { file: _, scenario, stacks: _, outside: _, seeds, reordering, measures, stalls: _, unused: _ } = self;
        let (seed, seeds) = self::seeds(seeds);
        Run {
            duration: scenario.duration,
            seed,
            seeds,
            reordering: reordering.then_some(true),
            measures: measures.map(|Measuring { bins }| match bins {
                None => Measures::Whole(true),
                Some(bins) => Measures::Binned(Bins { bins }),
            }),
        }
    }

    /// The name of a stack, and all of its parameters.
    fn stack(&self, number: usize) -> (String, Set) {
        let stack = &self.stacks[number];
        let none = Tables::new();
        let tables = self.outside.get(number).unwrap_or(&none);
        // A stack that `set` has renamed is written under its original name; all its parameters follow in any case.
        let profile = Stack::named(&stack.name).map_or_else(|| Stack::names().next().unwrap_or(""), |_| &stack.name);
        let mut set = outside::written(stack, tables).map(object).unwrap_or_default();
        if set.get("name").is_some_and(|name| name == profile) {
            set.shift_remove("name");
        }
        // These two are omitted at their default, which need not be the profile's value.
        let of_profile = Stack::named(profile);
        if of_profile.as_ref().is_some_and(|p| p.idle != stack.idle) {
            set.insert("idle".to_owned(), serde_json::to_value(stack.idle).unwrap_or_default());
        }
        if of_profile.as_ref().is_some_and(|p| p.pacing != stack.pacing) {
            set.insert("pacing".to_owned(), serde_json::to_value(stack.pacing).unwrap_or_default());
        }
        (profile.to_owned(), Set(set))
    }
}

/// Writes a scenario.
struct Writer<'a> {
    scenario: &'a Scenario,
    /// For each stack its name and the parameters that a flow with it sets.
    stacks: Vec<(String, Set)>,
}

impl Writer<'_> {
    fn file(&self, run: Run) -> file::Scenario {
        let Scenario { name, duration: _, nodes: _, links, flows, background } = self.scenario;
        file::Scenario {
            name: Some(name.clone()),
            run,
            link: Some(links.iter().map(|l| self.link(l)).collect()),
            flow: Some(chains(flows).into_iter().map(|row| self.flow(&flows[row])).collect()),
            background: background.iter().map(|b| self.background(b)).collect(),
            dumbbell: None,
        }
    }

    fn node(&self, number: u32) -> String {
        self.scenario.nodes.get(number as usize).cloned().unwrap_or_default()
    }

    fn link(&self, link: &LinkSpec) -> Link {
        let LinkSpec { from, to, forward, back } = link;
        Link { from: self.node(*from), to: self.node(*to), forward: direction(forward), back: Some(direction(back)) }
    }

    /// A row of flows that wait for one another, or a single flow.
    fn flow(&self, row: &[FlowSpec]) -> Flow {
        let flow = &row[0];
        let FlowSpec { name, from, to, app, .. } = flow;
        let AppSpec { start, jitter, bytes, pieces } = *app;
        let count = |size: Bytes| bytes.map(|bytes| (bytes / size) as u32);
        let app = match (row.get(1).and_then(|next| next.after), bytes, pieces) {
            (Some(after), ..) => App::Transfers {
                size: Amount::from(bytes.unwrap_or_default()),
                count: row.len() as u32,
                think: after.think,
                connections: Connections::New,
                start,
                jitter,
            },
            (None, _, Some(PiecesSpec { size, next: Next::Acked(think) })) => App::Transfers {
                size: Amount::from(size),
                count: count(size).unwrap_or(1),
                think,
                connections: Connections::One,
                start,
                jitter,
            },
            (None, _, Some(PiecesSpec { size, next: Next::Every(gap) })) => {
                App::Writes { size: Amount::from(size), gap, count: count(size), start, jitter }
            }
            (None, None, None) => App::Bulk { start, jitter },
            (None, Some(n), None) => App::Fixed { size: Amount::from(n), start, jitter },
        };
        let name = if row.len() > 1 { chains::name(name) } else { name };
        let (name, app) = (Some(name.to_owned()), Some(app));
        let what = FlowKeys { connection: self.connection(flow), name, count: None, spread: None, app };
        Flow { from: self.node(*from), to: self.node(*to), what }
    }

    /// The keys of a connection. [`Writer::flow`] writes its name, nodes and application.
    fn connection(&self, flow: &FlowSpec) -> Connection {
        let FlowSpec { stack, mss, window, ack, peer, handshake, wire, name: _, from: _, to: _, app: _, after: _ } =
            flow;
        let (stack, set) =
            self.stacks.get(*stack as usize).cloned().unwrap_or_else(|| (String::new(), Set(Map::new())));
        let (wire, header) = match *wire {
            WireSpec::Ipv4 => (Wire::Ipv4, None),
            WireSpec::Ns2 { header } => (Wire::Ns2, Some(units::Size(header.into()))),
        };
        Connection {
            stack,
            set: Some(set),
            segment: Some(units::Size((*mss).into())),
            window: Some(Amount::from(*window)),
            receiver: Some(Receiver { ack: Some(ack.clone()), peer: *peer }),
            handshake: Some(*handshake),
            wire: Some(wire),
            header,
        }
    }

    fn background(&self, background: &BackgroundSpec) -> Background {
        let BackgroundSpec { from, to, start, stop, kind } = background;
        let when = When { from: self.node(*from), to: self.node(*to), start: *start, stop: *stop };
        match kind {
            BackgroundKind::Source(SourceSpec { rate, packet, on_off }) => {
                let (on, off) = on_off.unzip();
                Background::Source { when, rate: *rate, packet: units::Size((*packet).into()), on, off }
            }
            BackgroundKind::Transfers(TransfersSpec { gap, size, most, flow }) => {
                let connection = Box::new(self.connection(flow));
                Background::Transfers { when, gap: *gap, size: sizes(*size), most: *most, connection }
            }
        }
    }
}

fn direction(direction: &DirectionSpec) -> Direction {
    Direction(object(direction))
}

fn seeds(seeds: &[u64]) -> (Option<u64>, Option<Seeds>) {
    let consecutive = seeds.windows(2).all(|w| w[0].checked_add(1) == Some(w[1]));
    match (seeds, consecutive) {
        ([seed], _) => (Some(*seed), None),
        ([first, ..], true) if *first <= super::LAST_FIRST_SEED => {
            let (first, count) = (Some(*first), seeds.len() as u64);
            (None, Some(Seeds::Range(SeedRange { first, count })))
        }
        _ => (None, Some(Seeds::List(seeds.to_vec()))),
    }
}

fn sizes(size: Size) -> Sizes {
    let of = |n| Some(Amount::from(n));
    match size {
        Size::Constant(n) => Sizes { constant: of(n), ..Sizes::default() },
        Size::Exponential(n) => Sizes { exponential: of(n), ..Sizes::default() },
        Size::Pareto { mean, shape } => Sizes { pareto: of(mean), shape: Some(shape), ..Sizes::default() },
    }
}

/// The members of a table; only descriptions made by code, which no file can name, have none.
pub(super) fn object(table: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(table) {
        Ok(Value::Object(map)) => map,
        Ok(_) | Err(_) => Map::new(),
    }
}
