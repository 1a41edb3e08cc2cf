//! Converts the engine's counts to [`Measures`].

use crate::chains::chains;
use crate::measures::{
    jain, BackgroundMeasures, BinMeasures, FlowBin, FlowMeasures, GroupMeasures, LinkBin, LinkMeasures, Measures,
    PacketMeasures, Spread,
};
use crate::scenario::Plan;
use crate::summary::{FlowSummary, Summary};
use ackclock_sim::element::properties::RateUse;
use ackclock_sim::engine::Sim;
use ackclock_sim::histogram::Histogram;
use ackclock_sim::measures::{FlowMeter, LinkMeter, Metering, Meters};
use ackclock_sim::scenario::{DirectionSpec, Scenario};
use ackclock_sim::watch::Watch;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Bytes;
use std::ops::Range;

/// A bin that has ended.
pub(crate) struct Bin {
    start: Time,
    end: Time,
    meters: Meters,
    /// The data that each flow's sender knew to be delivered at its end.
    acked: Vec<Bytes>,
}

/// The measurements of a run: its bins, or one bin for the whole run.
pub(crate) struct Measured {
    bins: Vec<Bin>,
    /// The length of a bin.
    length: Nanos,
    end: Time,
}

impl Measured {
    /// Returns empty measurements for a run of `plan`; `None` if the run is not measured.
    pub(crate) fn begin(plan: &Plan) -> Option<Self> {
        let asked = plan.measures?;
        let whole = plan.scenario.duration;
        let (length, end) = (asked.bins.unwrap_or(whole).min(whole), Time::ZERO + whole);
        Some(Measured { bins: Vec::new(), length, end })
    }

    /// The end of the current bin.
    pub(crate) fn next(&self) -> Time {
        let begun = self.bins.last().map_or(Time::ZERO, |bin| bin.end);
        (begun + self.length).min(self.end)
    }

    /// Ends the bin: the run has advanced to [`Measured::next`].
    pub(crate) fn turn<W: Watch, M: Metering>(&mut self, sim: &mut Sim<W, M>, flows: usize) {
        let acked = (0..flows as u32).map(|flow| sim.acked(flow)).collect();
        let (start, end) = (self.bins.last().map_or(Time::ZERO, |bin| bin.end), self.next());
        let Some(meters) = sim.measured((end + self.length).min(self.end)) else { return };
        self.bins.push(Bin { start, end, meters, acked });
    }

    /// The measures of the run with this summary.
    pub(crate) fn of(&self, plan: &Plan, summary: &Summary) -> Measures {
        let mut whole = Meters::default();
        self.bins.iter().for_each(|bin| whole.add(&bin.meters));
        let s = &plan.scenario;
        let rows = chains(&s.flows);
        let flows: Vec<FlowMeter> = rows.iter().map(|row| row_of(&whole.flows, row)).collect();
        let directed = directed(s);
        let bins = plan.measures.and_then(|asked| asked.bins);
        let background = summary.background.iter().zip(&whole.transfers).enumerate();
        Measures {
            groups: groups(summary, &flows),
            flows: summary.flows.iter().zip(&flows).map(|(f, meter)| flow(summary, f, meter)).collect(),
            background: background
                .map(|(i, (b, took))| BackgroundMeasures {
                    background: i,
                    throughput_bytes_per_s: b.delivered_bytes as f64 / summary.duration_s,
                    completion: Spread::of(took),
                })
                .collect(),
            links: directed.iter().map(|d| d.measures(&whole.links, summary.duration_s)).collect(),
            bin_s: bins.map(Nanos::as_secs_f64),
            bins: bins.map_or_else(Vec::new, |_| self.each(&rows, &directed)),
        }
    }

    fn each(&self, rows: &[Range<usize>], directed: &[Directed<'_>]) -> Vec<BinMeasures> {
        let mut before = vec![0; self.bins.first().map_or(0, |bin| bin.acked.len())];
        let mut bins = Vec::with_capacity(self.bins.len());
        for Bin { start, end, meters, acked } in &self.bins {
            let length_s = end.since(*start).as_secs_f64();
            let flow = |row: &Range<usize>| {
                let meter = row_of(&meters.flows, row);
                let more: Bytes = row.clone().map(|i| acked[i] - before[i]).sum();
                FlowBin {
                    goodput_bytes_per_s: more as f64 / length_s,
                    rtt: Spread::of(&meter.rtt),
                    delay: Spread::of(&meter.delay),
                }
            };
            let flows = rows.iter().map(flow).collect();
            let links = directed.iter().map(|d| d.bin(&meters.links, length_s)).collect();
            bins.push(BinMeasures { start_s: start.as_secs_f64(), end_s: end.as_secs_f64(), flows, links });
            before.clone_from(acked);
        }
        bins
    }
}

/// The flows of a row as one flow.
fn row_of(flows: &[FlowMeter], row: &Range<usize>) -> FlowMeter {
    let mut sum = FlowMeter::default();
    flows[row.clone()].iter().for_each(|meter| sum.add(meter));
    sum
}

fn ratio(of: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| of as f64 / all as f64)
}

/// The durations of a flow's transfers: those of its row, or its only one.
fn took(f: &FlowSummary) -> Vec<f64> {
    match f.transfers {
        Some(_) => f.transfer_times_s.clone(),
        None => f.finish_s.map(|finish_s| finish_s - f.start_s).into_iter().collect(),
    }
}

fn flow(summary: &Summary, f: &FlowSummary, meter: &FlowMeter) -> FlowMeasures {
    FlowMeasures {
        name: f.name.clone(),
        stack: f.stack.clone(),
        share: ratio(f.acked_bytes, all_acked(summary)),
        packets: packets([(f, meter)].into_iter()),
        completion: Spread::exact(took(f)),
        rtt: Spread::of(&meter.rtt),
        delay: Spread::of(&meter.delay),
    }
}

fn all_acked(summary: &Summary) -> Bytes {
    summary.flows.iter().map(|f| f.acked_bytes).sum()
}

fn packets<'a>(flows: impl Iterator<Item = (&'a FlowSummary, &'a FlowMeter)>) -> PacketMeasures {
    let (mut sent, mut dropped, mut needless, mut arrived, mut reordered) = (0, 0, 0, 0, 0);
    for (f, meter) in flows {
        sent += f.data_packets_sent;
        dropped += f.data_drops;
        needless += f.needless_retransmissions;
        arrived += meter.arrived();
        reordered += meter.reordered;
    }
    PacketMeasures {
        data_packets_sent: sent,
        data_packets_arrived: arrived,
        loss_ratio: ratio(dropped, sent),
        reordered_ratio: ratio(reordered, arrived),
        needless_ratio: ratio(needless, sent),
    }
}

/// A kind of groups, and the common property of a group's flows.
type Kind = (&'static str, fn(&FlowSummary) -> &str);

/// All flows, those of each stack, and those of each name, in the order of their first occurrence.
fn groups(summary: &Summary, meters: &[FlowMeter]) -> Vec<GroupMeasures> {
    let mut groups = Vec::new();
    let kinds: [Kind; 3] = [("all", |_| ""), ("stack", |f| &f.stack), ("name", |f| without_number(&f.name))];
    for (by, name_of) in kinds {
        let mut named: Vec<(&str, Vec<(&FlowSummary, &FlowMeter)>)> = Vec::new();
        for flow in summary.flows.iter().zip(meters) {
            let name = name_of(flow.0);
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, flows)) => flows.push(flow),
                None => named.push((name, vec![flow])),
            }
        }
        groups.extend(named.iter().map(|(name, flows)| group(summary, by, name, flows)));
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

fn group(summary: &Summary, by: &'static str, name: &str, flows: &[(&FlowSummary, &FlowMeter)]) -> GroupMeasures {
    let acked_bytes: Bytes = flows.iter().map(|(f, _)| f.acked_bytes).sum();
    let begun = || flows.iter().map(|(f, _)| *f).filter(|f| f.start_s < summary.duration_s);
    let start_s = begun().map(|f| f.start_s).fold(f64::INFINITY, f64::min);
    let end_s = flows.iter().map(|(f, _)| f.finish_s.unwrap_or(summary.duration_s)).fold(0.0, f64::max);
    let (mut rtt, mut delay) = (Histogram::default(), Histogram::default());
    for (_, meter) in flows {
        rtt.merge(&meter.rtt);
        delay.merge(&meter.delay);
    }
    GroupMeasures {
        by,
        group: name.to_owned(),
        flows: flows.len(),
        acked_bytes,
        throughput_bytes_per_s: acked_bytes as f64 / summary.duration_s,
        goodput_bytes_per_s: (end_s > start_s).then(|| acked_bytes as f64 / (end_s - start_s)),
        share: ratio(acked_bytes, all_acked(summary)),
        jain: jain(begun().map(|f| f.goodput_bytes_per_s)),
        packets: packets(flows.iter().copied()),
        completion: Spread::exact(flows.iter().flat_map(|(f, _)| took(f)).collect()),
        rtt: Spread::of(&rtt),
        delay: Spread::of(&delay),
    }
}

/// A direction of a link, or a path of its split.
struct Directed<'a> {
    link: usize,
    path: Option<usize>,
    from: &'a str,
    to: &'a str,
    /// For a link with a split: the positions of its paths among the meters. Otherwise its own position.
    meters: Range<usize>,
    /// Bits per second, if that is fixed.
    rate: Option<u64>,
}

/// Every direction of the links; a direction with a split is followed by its paths.
fn directed(s: &Scenario) -> Vec<Directed<'_>> {
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
    fn meter(&self, links: &[LinkMeter]) -> LinkMeter {
        let mut sum = LinkMeter::default();
        links[self.meters.clone()].iter().for_each(|meter| sum.add(meter));
        sum
    }

    fn utilisation(&self, bytes: Bytes, length_s: f64) -> Option<f64> {
        self.rate.map(|rate| 8.0 * bytes as f64 / (rate as f64 * length_s))
    }

    fn measures(&self, links: &[LinkMeter], duration_s: f64) -> LinkMeasures {
        let LinkMeter { packets, bytes, wait, .. } = self.meter(links);
        LinkMeasures {
            link: self.link,
            path: self.path,
            from: self.from.to_owned(),
            to: self.to.to_owned(),
            packets,
            bytes,
            utilisation: self.utilisation(bytes, duration_s),
            queue_delay: Spread::of(&wait),
        }
    }

    fn bin(&self, links: &[LinkMeter], length_s: f64) -> LinkBin {
        let LinkMeter { bytes, wait, .. } = self.meter(links);
        LinkBin { bytes, utilisation: self.utilisation(bytes, length_s), queue_delay: Spread::of(&wait) }
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
