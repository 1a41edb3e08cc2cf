//! Deliveries: the instants at which a link delivers, read from a trace.
//!
//! Source: the form is that of mahimahi (Netravali 2015).
//!
//! Idea: each instant is an opportunity for one full-sized packet.
//!
//! | source | here |
//! | --- | --- |
//! | delivery opportunity: one full-sized packet may go at this millisecond | `Deliveries`; small packets share one |
//! | an opportunity that finds no packet is lost | the same here |
//! | the trace begins again after its last line | the same here |
//!
//! Departures: mahimahi counts 1504 bytes for each opportunity, since its packets carry 4 bytes of a tunnel's header; the
//! default here is 1500.
//!
//! Unsaid in the source: nothing that matters here.

use super::direction::DirectionSpec;
use super::packet::Only;
use super::properties::{Acts, Properties, RateUse, RATE};
use super::table::{lines, text, BadRow, Rows};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, Service, Site};
use crate::error::Fault;
use crate::next_event::MAX_TIME;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// Replaces the rate by delivery opportunities in mahimahi's format (Netravali 2015): each line is a time in milliseconds. The trace starts again
/// after its last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(title = "Delivery trace", extend("examples" = [{ "data": "1\n2\n4\n7\n8\n" }]))]
pub struct DeliveriesSpec {
    /// Milliseconds, ascending; several may be equal.
    pub times: Rows<u32>,
    /// Bytes on the wire that one opportunity delivers.
    pub bytes: u32,
}

/// As it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["file"] }, { "required": ["data"] }]))]
struct Written {
    /// The trace's file, relative to the scenario file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The trace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    /// Bytes on the wire that each opportunity delivers, 1 B to 1 MiB.
    #[serde(default = "full_size", with = "ackclock_tcp::units::bytes")]
    #[schemars(schema_with = "ackclock_tcp::units::bytes_schema")]
    bytes: u32,
}

fn full_size() -> u32 {
    1500
}

impl TryFrom<Written> for DeliveriesSpec {
    type Error = Fault;

    fn try_from(w: Written) -> Result<Self, Fault> {
        let Written { file, data, bytes } = w;
        let times = DeliveriesSpec::parse(&text(file, data)?).map_err(|bad| bad.fault("data"))?;
        Ok(DeliveriesSpec { times, bytes })
    }
}

impl From<DeliveriesSpec> for Written {
    fn from(s: DeliveriesSpec) -> Self {
        let DeliveriesSpec { times, bytes } = s;
        Written { file: None, data: Some(times.to_string()), bytes }
    }
}

impl DeliveriesSpec {
    /// Reads mahimahi's format: each line has the millisecond of one opportunity.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn parse(text: &str) -> Result<Rows<u32>, BadRow> {
        let mut times: Vec<u32> = Vec::new();
        let mut last = 1;
        for (line, text) in lines(text) {
            let bad = |allowed| BadRow { line, column: None, found: text.to_owned(), allowed };
            let ms: u32 = text.parse().map_err(|_| bad("a whole number of milliseconds"))?;
            if times.last().is_some_and(|before| ms < *before) {
                return Err(bad("a time not before that of the previous line"));
            }
            times.push(ms);
            last = line;
        }
        if times.last().is_none_or(|t| *t == 0) {
            let allowed = "at least one time above 0";
            return Err(BadRow { line: last, column: None, found: "no time above 0".to_owned(), allowed });
        }
        Ok(Rows::new(times))
    }
}

impl Display for Rows<u32> {
    /// The table in the form that [`DeliveriesSpec::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|ms| writeln!(f, "{ms}"))
    }
}

impl Element for DeliveriesSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::Late,
            bunches: true,
            rate: RateUse::Sets,
            beside_split: false,
            only_one: Some(RATE),
            reorders: false,
            loses: false,
            duplicates: false,
            only: Only::All,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        Fault::bytes("bytes", self.bytes.into(), 1..=1 << 20)
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        site.queue(|q| q.service = Some(Service::Deliveries(Deliveries::new(self))));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let times = DeliveriesSpec::parse("1\n2\n2\n9\n").expect("a trace");
        vec![ElementSpec::Deliveries(DeliveriesSpec { times, bytes: 1500 })]
    }
}

/// Opportunities to deliver.
pub(crate) struct Deliveries {
    /// Milliseconds.
    times: Rows<u32>,
    bytes: u32,
    /// The next opportunity, and the offset added to its time.
    next: usize,
    base: u64,
    /// The current opportunity, and the bytes left in it.
    at: u64,
    room: u32,
}

impl Deliveries {
    pub(crate) fn new(spec: &DeliveriesSpec) -> Self {
        Deliveries { times: spec.times.clone(), bytes: spec.bytes, next: 0, base: 0, at: 0, room: 0 }
    }

    pub(super) fn send(&mut self, now: u64, wire: u32) -> u64 {
        if self.at < now {
            self.room = 0;
        }
        let mut left = wire;
        while left > self.room {
            left -= self.room;
            self.room = self.opportunity(now);
            if self.at >= MAX_TIME {
                return MAX_TIME;
            }
        }
        self.room -= left;
        self.at
    }

    /// Advances to the next opportunity that is not before `now`.
    fn opportunity(&mut self, now: u64) -> u32 {
        const NS_PER_MS: u64 = 1_000_000;
        loop {
            let at = self.base + u64::from(self.times[self.next]) * NS_PER_MS;
            self.next += 1;
            if self.next == self.times.len() {
                self.next = 0;
                self.base = at;
            }
            if at >= now {
                self.at = at;
                return self.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn packets_go_at_the_opportunities_and_small_ones_share_one() {
        let spec = DeliveriesSpec { times: DeliveriesSpec::parse("1\n1\n4\n10\n").unwrap(), bytes: 1500 };
        let mut d = Deliveries::new(&spec);
        assert_eq!([0, 0, 0].map(|_| d.send(0, 1500) / MS), [1, 1, 4]);
        // A large packet takes two opportunities; 40 bytes share the second. The trace begins again after 10 ms.
        assert_eq!([d.send(5 * MS, 2000), d.send(5 * MS, 40)].map(|t| t / MS), [11, 11]);
        // The unused opportunity at 14 ms is lost.
        assert_eq!(d.send(15 * MS, 1500) / MS, 20);
        assert_eq!(d.send(20 * MS, 40) / MS, 21);
        assert_eq!(d.send(21 * MS, 1460) / MS, 21);
        assert_eq!(d.send(21 * MS, 1) / MS, 21);
        assert_eq!(d.send(22 * MS, 1) / MS, 24);
    }

    #[test]
    fn a_trace_is_read_as_it_is_written_and_mistakes_are_reported_with_their_line() {
        let times = DeliveriesSpec::parse("0\n0\n17\n").unwrap();
        assert_eq!((&times[..], DeliveriesSpec::parse(&times.to_string()).unwrap()), (&[0, 0, 17][..], times.clone()));
        let times = |text: &str| DeliveriesSpec::parse(text).map(|_| ()).unwrap_err().line;
        assert_eq!([times("1\nx\n"), times("2\n1\n"), times("0\n0\n"), times("")], [2, 2, 2, 1]);
    }
}
