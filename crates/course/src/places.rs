//! The links and elements of a scenario, with the numbers that a trace uses for them.

use ackclock_sim::scenario::{DirectionSpec, LinkSpec, Scenario, SplitPath};

/// A directed link, or a path of a split one.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a> {
    /// The node at its entry.
    pub from: u32,
    /// The node at its exit.
    pub to: u32,
    /// The number of a split's path, from 1.
    pub path: Option<usize>,
    /// Its properties.
    pub way: &'a DirectionSpec,
}

/// The lanes in the order of their numbers: two for each link of the scenario, forward and back, then the paths of splits.
pub fn lanes(s: &Scenario) -> Vec<Lane<'_>> {
    let both = |link: &'_ LinkSpec| (link.from, link.to);
    let ends = s.links.iter().flat_map(|link| {
        let (from, to) = both(link);
        [(from, to, &link.forward), (to, from, &link.back)]
    });
    let mut lanes: Vec<Lane<'_>> = ends.map(|(from, to, way)| Lane { from, to, path: None, way }).collect();
    for link in 0..lanes.len() {
        let Lane { from, to, path: _, way } = lanes[link];
        let paths = way.split().into_iter().flat_map(|split| &split.paths);
        let ways = paths.map(|SplitPath { weight: _, way }| way);
        lanes.extend(ways.enumerate().map(|(i, way)| Lane { from, to, path: Some(i + 1), way }));
    }
    lanes
}

/// An element of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its number.
    pub number: usize,
    /// The number of its lane.
    pub link: usize,
    /// Its name in scenario files.
    pub kind: &'static str,
}

/// The elements of these lanes; their numbers follow those of the lanes.
pub fn elements(lanes: &[Lane<'_>]) -> Vec<Element> {
    let of = lanes.iter().enumerate().flat_map(|(link, lane)| lane.way.elements.iter().map(move |e| (link, e.kind())));
    of.enumerate().map(|(i, (link, kind))| Element { number: lanes.len() + i, link, kind }).collect()
}

/// The names of a scenario's links and elements.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Of each lane, as in `A → B`.
    links: Vec<String>,
    elements: Vec<Element>,
}

impl Places {
    /// Those of a scenario. The default has none, as in a trace, which does not name them.
    pub fn of(s: &Scenario) -> Self {
        let lanes = lanes(s);
        let name = |node: u32| &s.nodes[node as usize];
        let links = lanes.iter().map(|lane| format!("{} → {}", name(lane.from), name(lane.to)));
        Places { links: links.collect(), elements: elements(&lanes) }
    }

    /// What dropped a packet, in words: `the full queue R1 → R2 (10 packets)`, `random loss on A → B`. `packets` is the length
    /// of the queue, if a queue has this number.
    pub fn words(&self, number: i32, packets: impl FnOnce(usize) -> Option<u32>) -> String {
        let Ok(number) = usize::try_from(number) else { return "the path".to_owned() };
        let Some(element) = self.elements.iter().find(|e| e.number == number) else {
            let packets = packets(number).map_or(String::new(), |n| format!(" ({n} packets)"));
            return match self.links.get(number) {
                Some(link) => format!("the full queue {link}{packets}"),
                None => format!("element {number}{packets}"),
            };
        };
        let kind = match element.kind {
            "bernoulli" => "random loss",
            "gilbert-elliott" => "burst loss",
            "outage" => "an outage",
            "red" => "RED",
            "script" => "the script",
            other => other,
        };
        format!("{kind} on {}", self.links[element.link])
    }
}
