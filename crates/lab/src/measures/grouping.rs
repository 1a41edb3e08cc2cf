//! What is measured together: flows, and the paths of a link.

use super::{GroupMeasures, Spread};
use crate::results::FlowSummary;
use ackclock_sim::element::properties::RateUse;
use ackclock_sim::histogram::Histogram;
use ackclock_sim::measures::{FlowMeter, LinkMeter};
use ackclock_sim::scenario::{DirectionSpec, Scenario};
use ackclock_tcp::units::Bytes;
use std::ops::Range;

/// A kind of groups, and the common property of a group's flows.
type Kind = (&'static str, fn(&FlowSummary) -> &str);

/// All flows, those of each stack, and those of each name, in the order of their first occurrence.
pub(crate) fn groups(duration_s: f64, flows: &[(&FlowSummary, &FlowMeter)]) -> Vec<GroupMeasures> {
    let all_acked_bytes = flows.iter().map(|(f, _)| f.acked_bytes).sum();
    let mut groups = Vec::new();
    let kinds: [Kind; 3] = [("all", |_| ""), ("stack", |f| &f.stack), ("name", |f| without_number(&f.name))];
    for (by, name_of) in kinds {
        let mut named: Vec<(&str, Vec<(&FlowSummary, &FlowMeter)>)> = Vec::new();
        for flow in flows {
            let name = name_of(flow.0);
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, flows)) => flows.push(*flow),
                None => named.push((name, vec![*flow])),
            }
        }
        let group = |(name, flows)| GroupMeasures::of(&Group { by, name, flows, all_acked_bytes, duration_s });
        groups.extend(named.into_iter().map(group));
    }
    groups
}

/// A name without the number at its end and the separator: `upload-2` and `upload.10` are both `upload`.
fn without_number(name: &str) -> &str {
    let text = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let bare = text.trim_end_matches(['-', '_', '.', ' ']);
    if text.len() == name.len() || bare.is_empty() {
        name
    } else {
        bare
    }
}

/// Several flows of a run.
pub(crate) struct Group<'a> {
    pub(crate) by: &'static str,
    pub(crate) name: &'a str,
    pub(crate) flows: Vec<(&'a FlowSummary, &'a FlowMeter)>,
    /// The payload of all flows of the run that was acknowledged.
    pub(crate) all_acked_bytes: Bytes,
    /// The run's.
    pub(crate) duration_s: f64,
}

impl Group<'_> {
    pub(crate) fn acked_bytes(&self) -> Bytes {
        self.flows.iter().map(|(f, _)| f.acked_bytes).sum()
    }

    /// The flows whose applications began during the run.
    pub(crate) fn begun(&self) -> impl Iterator<Item = &FlowSummary> {
        self.flows.iter().map(|(f, _)| *f).filter(|f| f.start_s < self.duration_s)
    }

    /// The time from the first start to the last finish, or else to the end of the run; `None` if there is none.
    pub(crate) fn length_s(&self) -> Option<f64> {
        let start_s = self.begun().map(|f| f.start_s).fold(f64::INFINITY, f64::min);
        let end_s = self.flows.iter().map(|(f, _)| f.finish_s.unwrap_or(self.duration_s)).fold(0.0, f64::max);
        (end_s > start_s).then_some(end_s - start_s)
    }

    /// The values of all flows together.
    pub(crate) fn spread(&self, of: fn(&FlowMeter) -> &Histogram) -> Spread {
        let mut all = Histogram::default();
        self.flows.iter().for_each(|(_, meter)| all.merge(of(meter)));
        Spread::of(&all)
    }
}

/// A direction of a link, or a path of its split.
pub(crate) struct Directed<'a> {
    pub(crate) link: usize,
    pub(crate) path: Option<usize>,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    /// For a link with a split: the positions of its paths among the meters. Otherwise its own position.
    meters: Range<usize>,
    /// Bits per second, if that is fixed.
    rate: Option<u64>,
}

/// Every direction of the links; a direction with a split is followed by its paths.
pub(crate) fn directed(s: &Scenario) -> Vec<Directed<'_>> {
    let mut next_path = 2 * s.links.len();
    let mut all = Vec::new();
    for (i, l) in s.links.iter().enumerate() {
        for (link, from, to, d) in [(2 * i, l.from, l.to, &l.forward), (2 * i + 1, l.to, l.from, &l.back)] {
            let (from, to) = (s.nodes[from as usize].as_str(), s.nodes[to as usize].as_str());
            let Some(split) = d.split() else {
                all.push(Directed { link, path: None, from, to, meters: link..link + 1, rate: fixed_rate(d) });
                continue;
            };
            let meters = next_path..next_path + split.paths.len();
            next_path = meters.end;
            let rates = split.paths.iter().map(|p| fixed_rate(&p.way));
            let rate = rates.clone().sum::<Option<u64>>();
            all.push(Directed { link, path: None, from, to, meters: meters.clone(), rate });
            all.extend(meters.zip(rates).enumerate().map(|(path, (link, rate))| Directed {
                link,
                path: Some(path),
                from,
                to,
                meters: link..link + 1,
                rate,
            }));
        }
    }
    all
}

/// The rate of a direction, unless an element transmits in its place.
fn fixed_rate(d: &DirectionSpec) -> Option<u64> {
    d.rate.filter(|_| !d.elements.iter().any(|e| e.properties().rate == RateUse::Sets)).map(|r| r.0)
}

impl Directed<'_> {
    /// Its counts.
    pub(crate) fn meter(&self, links: &[LinkMeter]) -> LinkMeter {
        let mut sum = LinkMeter::default();
        links[self.meters.clone()].iter().for_each(|meter| sum.add(meter));
        sum
    }

    /// The bytes as a share of the bytes that the rate allows.
    pub(crate) fn utilisation(&self, bytes: Bytes, length_s: f64) -> Option<f64> {
        self.rate.map(|rate| 8.0 * bytes as f64 / (rate as f64 * length_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_loses_its_number_and_the_separator_before_it() {
        let names = ["flow-1", "upload 12", "web.3", "S1", "7", "2-1", "plain", "rfc-6675"];
        let bare = ["flow", "upload", "web", "S", "7", "2", "plain", "rfc"];
        assert_eq!(names.map(without_number), bare);
    }
}
