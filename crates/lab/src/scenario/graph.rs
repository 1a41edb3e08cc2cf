//! Nodes, links and flows while a file is read, and whether a flow's ends are connected.

use super::link;
use super::outside::Tables;
use super::overrides::{Made, Overrides};
use super::MOST_FLOWS;
use crate::chains;
use crate::error::{listed, nearest, ScenarioError};
use crate::file::Link;
use crate::reader::Node;
use ackclock_sim::scenario::{After, AppSpec, FlowSpec, Gap, LinkSpec};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// The parts read so far.
pub(super) struct Graph {
    pub(super) duration: Nanos,
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkSpec>,
    pub(super) flows: Vec<FlowSpec>,
    pub(super) stacks: Vec<Stack>,
    pub(super) outside: Vec<Tables>,
    pub(super) unused: BTreeSet<String>,
    numbers: BTreeMap<String, u32>,
    /// The pairs of nodes that have a link, the lower number first.
    joined: BTreeSet<(u32, u32)>,
    /// The flows; a row counts as one.
    groups: usize,
}

/// A table of flows, complete except for their nodes.
pub(super) struct Flows<'a> {
    pub(super) node: Node<'a>,
    pub(super) name: Option<String>,
    pub(super) count: u32,
    pub(super) spread: Nanos,
    pub(super) spec: FlowSpec,
    /// If set, each flow is a row of flows that wait for one another.
    pub(super) row: Option<Row>,
}

/// Flows that wait for one another.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) count: u32,
    /// Time from the end of one to the start of the next.
    pub(super) think: Option<Gap>,
}

impl Graph {
    pub(super) fn new(duration: Nanos) -> Self {
        let (nodes, links, flows) = (Vec::new(), Vec::new(), Vec::new());
        let (stacks, outside) = (Vec::new(), Vec::new());
        let (unused, joined) = (BTreeSet::new(), BTreeSet::new());
        let numbers = BTreeMap::new();
        Graph { duration, nodes, links, flows, stacks, outside, unused, numbers, joined, groups: 0 }
    }

    /// Returns the number of a node; an unknown name becomes a new node.
    pub(super) fn node(&mut self, name: &str) -> u32 {
        let next = self.nodes.len() as u32;
        *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.nodes.push(name.to_owned());
            next
        })
    }

    /// Returns the position of a stack; adds the stack if there is no equal one.
    pub(super) fn stack(&mut self, made: Made) -> u32 {
        let Made { stack, tables, unused } = made;
        self.unused.extend(unused);
        let at = self.stacks.iter().position(|s| *s == stack).unwrap_or_else(|| {
            self.stacks.push(stack);
            self.outside.push(tables);
            self.stacks.len() - 1
        });
        at as u32
    }

    /// Reads one `[[link]]`.
    pub(super) fn link(&mut self, node: &Node<'_>, link: Link, overrides: &Overrides) -> Result<(), ScenarioError> {
        let Link { from, to, forward, back } = link;
        if from == to {
            let found = format!("a link from \"{from}\" to itself");
            return Err(node.refuse_key("to", found, "another node"));
        }
        let (forward, back) = link::directions(node, forward, back, overrides.workshop.as_deref())?;
        let (from, to) = (self.node(&from), self.node(&to));
        if !self.joined.insert((from.min(to), from.max(to))) {
            let found = format!("another link between {} and {}", self.nodes[from as usize], self.nodes[to as usize]);
            return Err(node.refuse_as(found, "one link between two nodes, which carries both directions"));
        }
        self.links.push(LinkSpec { from, to, forward, back });
        Ok(())
    }

    /// The two nodes named by the keys `from` and `to` of a table; they must differ and be connected by links.
    pub(super) fn ends(&self, node: &Node<'_>, from: &str, to: &str) -> Result<(u32, u32), ScenarioError> {
        let end = |key: &str, name: &str| {
            self.numbers.get(name).copied().ok_or_else(|| {
                let hint = nearest(name, self.nodes.iter().map(String::as_str)).map(|n| format!("\"{n}\""));
                let allowed = format!("a node that a [[link]] names: {}", listed(&self.nodes));
                node.refuse_in(key, allowed).with_hint(hint)
            })
        };
        let (from, to) = (end("from", from)?, end("to", to)?);
        if from == to {
            return Err(node.refuse_key("to", "the same node at both ends", "another node"));
        }
        if !self.connected(from, to) {
            let (a, b) = (&self.nodes[from as usize], &self.nodes[to as usize]);
            return Err(node.refuse_key("to", format!("no path from \"{a}\" to \"{b}\""), "nodes that links connect"));
        }
        Ok((from, to))
    }

    /// Adds the flows of one table; `ends` returns the nodes of a flow, given its number among all flows.
    pub(super) fn add(
        &mut self,
        f: Flows<'_>,
        mut ends: impl FnMut(&mut Self, usize) -> (u32, u32),
    ) -> Result<(), ScenarioError> {
        let node = &f.node;
        let members = f.row.map_or(1, |row| row.count);
        let more = u64::from(f.count) * u64::from(members);
        if self.flows.len() as u64 + more > MOST_FLOWS {
            let found = format!("{} flows in all", self.flows.len() as u64 + more);
            return Err(node.refuse_as(found, format!("at most {MOST_FLOWS}")));
        }
        for k in 0..f.count {
            let number = self.groups;
            self.groups += 1;
            let name = match (&f.name, f.count) {
                (Some(name), 1) => name.clone(),
                (Some(name), _) => format!("{name}-{}", k + 1),
                (None, _) => format!("flow-{}", number + 1),
            };
            let (from, to) = ends(self, number);
            let later = (u128::from(f.spread.0) * u128::from(k) / u128::from(f.count)) as u64;
            let app = AppSpec { start: f.spec.app.start + Nanos(later), ..f.spec.app };
            match f.row {
                None => self.flows.push(FlowSpec { name, from, to, app, ..f.spec.clone() }),
                Some(row) => self.row(&name, row, FlowSpec { name: name.clone(), from, to, app, ..f.spec.clone() }),
            }
        }
        if let Some(name) = &f.name {
            let (old, new) = self.flows.split_at(self.flows.len() - more as usize);
            let names: std::collections::BTreeSet<&str> = old.iter().map(|f| f.name.as_str()).collect();
            if let Some(twice) = new.iter().find(|n| names.contains(n.name.as_str())) {
                let found = match node.get("name") {
                    Some(at) if twice.name == *name => at.written(),
                    _ => format!("\"{}\"", twice.name),
                };
                return Err(node.refuse_key("name", format!("{found} a second time"), "a name for each flow"));
            }
        }
        Ok(())
    }

    /// Adds the flows of a row, given the first.
    fn row(&mut self, name: &str, row: Row, first: FlowSpec) {
        let app = AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, ..first.app };
        for i in 0..row.count {
            let name = chains::member(name, i);
            let flow = self.flows.len() as u32;
            self.flows.push(match i {
                0 => FlowSpec { name, ..first.clone() },
                _ => FlowSpec { name, app, after: Some(After { flow: flow - 1, think: row.think }), ..first.clone() },
            });
        }
    }

    /// Whether links connect one node to another.
    fn connected(&self, from: u32, to: u32) -> bool {
        let mut reached = vec![false; self.nodes.len()];
        reached[from as usize] = true;
        let mut changed = true;
        while changed {
            changed = false;
            for l in &self.links {
                let (a, b) = (l.from as usize, l.to as usize);
                if reached[a] != reached[b] {
                    (reached[a], reached[b]) = (true, true);
                    changed = true;
                }
            }
        }
        reached[to as usize]
    }
}
