//! Converts the engine's counts to [`Measures`].

use crate::chains::chains;
use crate::measures::grouping::{directed, groups, Directed};
use crate::measures::{BackgroundMeasures, BinMeasures, FlowBin, FlowMeasures, LinkBin, LinkMeasures, Measures};
use crate::scenario::Plan;
use crate::summary::Summary;
use ackclock_sim::engine::Sim;
use ackclock_sim::measures::{FlowMeter, Metering, Meters};
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
        let pairs: Vec<_> = summary.flows.iter().zip(&flows).collect();
        let acked_bytes = summary.flows.iter().map(|f| f.acked_bytes).sum();
        Measures {
            groups: groups(summary.duration_s, &pairs),
            flows: pairs.iter().map(|(f, meter)| FlowMeasures::of((f, meter, acked_bytes))).collect(),
            background: background
                .map(|(i, (b, took))| BackgroundMeasures::of((i, b, took, summary.duration_s)))
                .collect(),
            links: (directed.iter())
                .map(|d| LinkMeasures::of((d, &d.meter(&whole.links), summary.duration_s)))
                .collect(),
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
                FlowBin::of((more, &meter, length_s))
            };
            let flows = rows.iter().map(flow).collect();
            let links = directed.iter().map(|d| LinkBin::of((d, &d.meter(&meters.links), length_s))).collect();
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
