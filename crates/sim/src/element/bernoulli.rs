//! Independent loss: each packet, or each of its bytes, with the same probability (Bernoulli).

use super::direction::DirectionSpec;
use super::packet::{Fate, Only, Per, Place, Seen};
use super::properties::{Acts, Properties, RateUse};
#[cfg(test)]
use super::ElementSpec;
use super::{Element, GateKind, Site};
use crate::error::Fault;
use crate::rng::Stream;
use crate::watch::DropWhy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drops each packet with the same probability, or with a probability that grows with its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Random loss", extend("examples" = [{ "p": 0.01 }]))]
pub struct BernoulliSpec {
    /// The probability of a loss.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p: f64,
    /// The unit to which the probability applies.
    #[serde(default)]
    pub per: Per,
    /// Where on the link.
    #[serde(default)]
    pub at: Place,
    /// The packets that the element acts on. Default: all packets.
    #[serde(default, skip_serializing_if = "Only::is_all")]
    pub only: Only,
}

impl Element for BernoulliSpec {
    fn properties(&self) -> Properties {
        Properties {
            acts: Acts::of(self.at == Place::Exit, false),
            bunches: false,
            rate: RateUse::None,
            beside_split: self.at == Place::Entry,
            only_one: None,
            reorders: false,
            loses: self.p > 0.0,
            duplicates: false,
            only: self.only,
            flow: None,
        }
    }

    fn fault(&self, _: &DirectionSpec) -> Option<Fault> {
        Fault::probability("p", self.p)
    }

    fn build<'a>(&'a self, site: &mut Site<'_, 'a>) {
        let n = site.nth("bernoulli");
        // A packet that cannot be lost needs no draw, and no other element draws from this stream.
        if self.p == 0.0 {
            return;
        }
        let rng = site.stream(format_args!("bernoulli.{n}"));
        site.gate(self.at, self.only, GateKind::Bernoulli(Bernoulli::new(self, rng)));
    }

    #[cfg(test)]
    fn examples() -> Vec<ElementSpec> {
        let spec = |p, per, at, only| ElementSpec::Bernoulli(BernoulliSpec { p, per, at, only });
        vec![
            spec(0.02, Per::Packet, Place::Entry, Only::All),
            spec(0.0, Per::Packet, Place::Exit, Only::All),
            spec(1e-5, Per::Byte, Place::Exit, Only::Data),
        ]
    }
}

pub(crate) struct Bernoulli {
    p: f64,
    per: Per,
    rng: Stream,
}

impl Bernoulli {
    pub(crate) fn new(spec: &BernoulliSpec, rng: Stream) -> Self {
        let BernoulliSpec { p, per, at: _, only: _ } = *spec;
        Bernoulli { p, per, rng }
    }

    /// One draw for each packet, whatever `p` is above 0: changing `p` leaves all other draws unchanged.
    #[inline]
    pub(crate) fn judge(&mut self, seen: &Seen) -> Fate {
        let p = match self.per {
            Per::Packet => self.p,
            // A packet survives if all of its bytes do: 1 − (1 − p)^bytes, which is 1 where p is 1.
            Per::Byte => -libm::expm1(libm::log1p(-self.p) * f64::from(seen.wire)),
        };
        if self.rng.unit() < p {
            Fate::Drop(DropWhy::Loss)
        } else {
            Fate::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(p: f64, per: Per, wire: u32) -> i64 {
        let spec = BernoulliSpec { p, per, at: Place::Entry, only: Only::All };
        let mut l = Bernoulli::new(&spec, Stream::new(1, "test"));
        let seen = Seen { wire, ..Seen::DATA };
        (0..100_000).filter(|_| l.judge(&seen) != Fate::Pass).count() as i64
    }

    #[test]
    fn each_packet_is_lost_with_the_given_probability() {
        assert_eq!((lost(0.0, Per::Packet, 1500), lost(1.0, Per::Packet, 1500)), (0, 100_000));
        assert!((lost(0.03, Per::Packet, 1500) - 3_000).abs() < 200);
    }

    #[test]
    fn a_packet_survives_if_each_of_its_bytes_does() {
        assert_eq!((lost(0.0, Per::Byte, 1500), lost(1.0, Per::Byte, 40)), (0, 100_000));
        // 1 − (1 − 0.0001)^1500 = 0.13930, ^40 = 0.00399.
        assert!((lost(1e-4, Per::Byte, 1500) - 13_930).abs() < 400);
        assert!((lost(1e-4, Per::Byte, 40) - 399).abs() < 80);
    }
}
