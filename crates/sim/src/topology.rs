//! The graph: finds the links of each flow's path.
//!
//! The path of a flow in each direction is the shortest by number of links. Among several, it takes at each node the link that
//! comes first in the scenario.

use crate::error::Impossible;
use crate::scenario::Scenario;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub mod dumbbell;

/// An entry in the flat list of paths: the packet is at its host.
pub(crate) const HOST: u32 = u32::MAX >> 1;
/// In the flat list of paths: a packet enters this link together with the previous one (see `element::link`).
pub(crate) const FUSED: u32 = 1 << 31;

/// All paths in one list: for each flow, and then for all background traffic, the links towards its receiver, [`HOST`], the links
/// back, [`HOST`]. A path between two nodes is there once. A packet carries its position in the list and needs nothing else to find
/// its way.
#[derive(Debug, PartialEq)]
pub(crate) struct Paths {
    /// Directed links: link · 2, and 1 more in the direction `back`.
    pub(crate) hops: Vec<u32>,
    /// Where each host's path begins: position flow · 2 for the sender's, flow · 2 + 1 for the receiver's.
    pub(crate) first: Vec<u32>,
}

/// The links at each node, in the order of their numbers.
struct Graph {
    begin: Vec<u32>,
    /// (directed link that leaves the node, node at its other end)
    out: Vec<(u32, u32)>,
}

impl Graph {
    fn new(s: &Scenario) -> Self {
        let mut begin = vec![0u32; s.nodes.len() + 1];
        for l in &s.links {
            begin[l.from as usize + 1] += 1;
            begin[l.to as usize + 1] += 1;
        }
        for i in 1..begin.len() {
            begin[i] += begin[i - 1];
        }
        let mut at = begin.clone();
        let mut out = vec![(0, 0); 2 * s.links.len()];
        for (i, l) in s.links.iter().enumerate() {
            for (node, link, other) in [(l.from, 2 * i, l.to), (l.to, 2 * i + 1, l.from)] {
                out[at[node as usize] as usize] = (link as u32, other);
                at[node as usize] += 1;
            }
        }
        Graph { begin, out }
    }

    fn out(&self, node: u32) -> &[(u32, u32)] {
        &self.out[self.begin[node as usize] as usize..self.begin[node as usize + 1] as usize]
    }

    /// No path passes through a node with one link, so the search need not visit it: a dumbbell of 10,000 flows is then a graph
    /// of two nodes. Returns the only link of such a leaf and the node at its other end.
    fn leaf(&self, node: u32) -> Option<(u32, u32)> {
        match self.out(node) {
            &[(link, other)] if self.out(other).len() > 1 => Some((link, other)),
            _ => None,
        }
    }

    /// Links between each node and `to`, leaves left out; `u32::MAX` if there is no path.
    fn distances(&self, to: u32) -> Vec<u32> {
        let mut far = vec![u32::MAX; self.begin.len() - 1];
        far[to as usize] = 0;
        let mut queue = VecDeque::from([to]);
        while let Some(n) = queue.pop_front() {
            for &(_, m) in self.out(n) {
                if far[m as usize] == u32::MAX && self.leaf(m).is_none() {
                    far[m as usize] = far[n as usize] + 1;
                    queue.push_back(m);
                }
            }
        }
        far
    }

    /// Appends the path from `at` to the node from which `far` counts. `None` if there is none.
    fn walk(&self, mut at: u32, far: &[u32], hops: &mut Vec<u32>) -> Option<()> {
        let mut left = far[at as usize];
        if left == u32::MAX {
            return None;
        }
        while left > 0 {
            left -= 1;
            let &(link, next) = self.out(at).iter().find(|&&(_, n)| far[n as usize] == left)?;
            hops.push(link);
            at = next;
        }
        Some(())
    }
}

/// One direction of a flow, without its leaves.
struct Trip {
    host: u32,
    first: Option<u32>,
    from: u32,
    to: u32,
    last: Option<u32>,
}

/// The links between two nodes, and their position in the list of paths, if they are in it already.
struct Way {
    begin: usize,
    end: usize,
    listed: Option<u32>,
}

/// The paths of all flows. The scenario's node numbers must be valid.
pub(crate) fn paths(s: &Scenario) -> Result<Paths, Impossible> {
    let g = Graph::new(s);
    let pairs = s.flows.len() + s.background.len();
    let mut trips: Vec<Trip> = (0..2 * pairs as u32).map(|host| trip(&g, s, host)).collect();
    // One search for each destination, not for each flow.
    trips.sort_by_key(|t| (t.to, t.host));
    let (mut ways, mut way_of): (Vec<Way>, _) = (Vec::new(), vec![0; trips.len()]);
    let mut pool = Vec::new();
    let mut known: Option<(u32, Vec<u32>)> = None;
    let mut between = BTreeMap::new();
    for t in &trips {
        if known.as_ref().is_none_or(|k| k.0 != t.to) {
            known = Some((t.to, g.distances(t.to)));
            between.clear();
        }
        way_of[t.host as usize] = match between.entry((t.from, t.first, t.last)) {
            Entry::Occupied(way) => *way.get(),
            Entry::Vacant(way) => {
                let begin = pool.len();
                pool.extend(t.first);
                let found = known.as_ref().and_then(|k| g.walk(t.from, &k.1, &mut pool));
                found.ok_or_else(|| no_route(s, t.host))?;
                pool.extend(t.last);
                ways.push(Way { begin, end: pool.len(), listed: None });
                *way.insert(ways.len() - 1)
            }
        };
    }
    let mut p = Paths { hops: Vec::with_capacity(pool.len() + ways.len()), first: Vec::with_capacity(way_of.len()) };
    for way in way_of {
        let Way { begin, end, listed } = &mut ways[way];
        p.first.push(*listed.get_or_insert_with(|| {
            let at = p.hops.len() as u32;
            p.hops.extend_from_slice(&pool[*begin..*end]);
            p.hops.push(HOST);
            at
        }));
    }
    Ok(p)
}

/// The nodes at which packets of flows pass from one link to the next, ascending;
/// [`Watch::passed`](crate::watch::Watch::passed) reports these passages. The scenario must be valid for a run.
///
/// # Errors
/// A flow whose ends are not connected.
pub fn nodes_between(s: &Scenario) -> Result<Vec<u32>, Impossible> {
    let p = paths(s)?;
    let of_flows: BTreeSet<u32> = p.first[..2 * s.flows.len()].iter().copied().collect();
    let later = |first: u32| p.hops[first as usize..].iter().take_while(|hop| **hop != HOST).skip(1);
    let nodes: BTreeSet<u32> = of_flows.into_iter().flat_map(later).map(|hop| s.leaves(*hop)).collect();
    Ok(nodes.into_iter().collect())
}

/// The ends of a host's path: of flow host / 2, from its sender or (odd) from its receiver.
fn ends(s: &Scenario, host: u32) -> (u32, u32) {
    let pair = host as usize / 2;
    let (from, to) = s.flows.get(pair).map_or_else(
        || {
            let b = &s.background[pair - s.flows.len()];
            (b.from, b.to)
        },
        |f| (f.from, f.to),
    );
    if host % 2 == 1 {
        (to, from)
    } else {
        (from, to)
    }
}

fn trip(g: &Graph, s: &Scenario, host: u32) -> Trip {
    let (from, to) = ends(s, host);
    let mut t = Trip { host, first: None, from, to, last: None };
    if let Some((link, node)) = g.leaf(from) {
        (t.first, t.from) = (Some(link), node);
    }
    if let Some((link, node)) = g.leaf(to) {
        (t.last, t.to) = (Some(link ^ 1), node);
    }
    t
}

fn no_route(s: &Scenario, host: u32) -> Impossible {
    // Links have two directions: if there is no path there, there is none back.
    let (from, to) = ends(s, host & !1);
    let name = |n: u32| s.nodes[n as usize].clone();
    let pair = host as usize / 2;
    let flow = s.flows.get(pair).map_or_else(|| format!("background {}", pair - s.flows.len() + 1), |f| f.name.clone());
    Impossible::NoRoute { flow, from: name(from), to: name(to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{BackgroundKind, BackgroundSpec, SourceSpec};
    use crate::topology::dumbbell::{dumbbell, flow, pipe};
    use ackclock_tcp::time::Nanos;
    use ackclock_tcp::units::Rate;

    fn graph(nodes: u32, links: &[(u32, u32)], flows: &[(u32, u32)]) -> Scenario {
        let mut s = dumbbell(0, &pipe(None, Nanos(0)), &pipe(None, Nanos(0)), &flow());
        s.nodes = (0..nodes).map(|n| n.to_string()).collect();
        let one = s.links[0].clone();
        s.links = links.iter().map(|&(from, to)| crate::scenario::LinkSpec { from, to, ..one.clone() }).collect();
        s.flows = flows.iter().map(|&(from, to)| crate::scenario::FlowSpec { from, to, ..flow() }).collect();
        s
    }

    #[test]
    fn a_path_has_the_fewest_links_and_then_the_first_link() {
        // A square 0-1-3, 0-2-3 with a long way round 0-4-5-3; the two short paths tie, and link 0 (to node 1) comes first.
        let s = graph(6, &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 4), (4, 5), (5, 3)], &[(0, 3), (5, 2)]);
        let p = paths(&s).unwrap();
        assert_eq!(p.hops, [0, 4, HOST, 5, 1, HOST, 12, 7, HOST, 6, 13, HOST].map(|h| h));
        assert_eq!(p.first, [0, 3, 6, 9]);
    }

    #[test]
    fn a_leaf_is_reached_over_its_only_link() {
        let s = graph(4, &[(0, 1), (2, 1), (2, 3)], &[(0, 3), (0, 1), (1, 0)]);
        let p = paths(&s).unwrap();
        assert_eq!(p.hops, [0, 3, 4, HOST, 5, 2, 1, HOST, 0, HOST, 1, HOST]);
        // Two nodes and nothing else.
        let s = graph(2, &[(0, 1)], &[(0, 1)]);
        assert_eq!(paths(&s).unwrap().hops, [0, HOST, 1, HOST]);
    }

    #[test]
    fn flows_between_the_same_nodes_share_their_paths() {
        let s = graph(4, &[(0, 1), (2, 1), (2, 3)], &[(0, 3), (1, 2), (0, 3), (2, 1), (3, 0)]);
        let p = paths(&s).unwrap();
        assert_eq!(p.hops, [0, 3, 4, HOST, 5, 2, 1, HOST, 3, HOST, 2, HOST]);
        assert_eq!(p.first, [0, 4, 8, 10, 0, 4, 10, 8, 4, 0]);
    }

    #[test]
    fn nodes_between_are_those_at_which_a_flow_changes_links() {
        let between = |s: &Scenario| nodes_between(s).unwrap();
        assert_eq!(between(&graph(4, &[(0, 1), (2, 1), (2, 3)], &[(0, 2), (1, 0)])), [1]);
        assert_eq!(between(&graph(4, &[(0, 1), (2, 1), (2, 3)], &[(0, 3)])), [1, 2]);
        assert!(between(&graph(2, &[(0, 1)], &[(0, 1)])).is_empty());
        // Background traffic does not count.
        let mut s = graph(4, &[(0, 1), (2, 1), (2, 3)], &[(0, 1)]);
        let source = SourceSpec { rate: Rate(1000), packet: 100, on_off: None };
        let kind = BackgroundKind::Source(source);
        s.background = vec![BackgroundSpec { from: 0, to: 3, start: Nanos(0), stop: None, kind }];
        assert!(between(&s).is_empty());
    }

    #[test]
    fn a_flow_without_a_path_is_named() {
        let e = paths(&graph(4, &[(0, 1), (2, 3)], &[(0, 3)])).unwrap_err();
        assert_eq!(e.to_string(), "flow \"flow\": no path of links leads from node \"0\" to node \"3\"");
    }

    #[test]
    fn ten_thousand_flows_share_two_searches() {
        let n = 10_000;
        let p = paths(&dumbbell(n, &pipe(None, Nanos(0)), &pipe(None, Nanos(0)), &flow())).unwrap();
        assert_eq!(p.hops.len(), 8 * n as usize);
        assert_eq!(p.first.len(), 2 * n as usize);
    }
}
