//! Quantities with units, choices and numbers in ranges, read from one value of the document.

use crate::error::{listed, nearest, ScenarioError};
use crate::reader::Node;
use ackclock_sim::scenario::QueueLimit;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{parse_bytes, parse_nanos, parse_rate, Bytes, Rate};
use std::ops::RangeInclusive;
use toml::de::DeValue;

/// The longest time that a run can count: the simulator packs a time into 47 bits (39 hours).
pub(crate) const LONGEST: Nanos = Nanos((1 << 47) - 1);

const TIME: (&str, &[&str]) =
    ("a time: a number and one of ns, us, ms, s, min, as in \"200 ms\"", &["ns", "us", "ms", "s", "min"]);
const RATE: (&str, &[&str]) = (
    "a rate: a number and one of bps, kbps, Mbps, Gbps, B/s, as in \"5 Mbps\", or \"unlimited\"",
    &["bps", "kbps", "Mbps", "Gbps", "B/s", "unlimited"],
);
const SIZE: (&str, &[&str]) =
    ("a size: a number and one of B, kB, KiB, MB, MiB, GB, as in \"1460 B\"", &["B", "kB", "KiB", "MB", "MiB", "GB"]);
const LIMIT: (&str, &[&str]) = (
    "\"65 packets\", a size in bytes as in \"64 KiB\", or \"unlimited\"",
    &["packets", "B", "kB", "KiB", "MB", "MiB", "GB", "unlimited"],
);
const AMOUNT: (&str, &[&str]) = (
    "a number of segments as in \"500 packets\", or a size in bytes as in \"1 MB\"",
    &["packets", "B", "kB", "KiB", "MB", "MiB", "GB"],
);

/// Units as people also write them, and ours.
const HABITS: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("usec", "us"),
    ("minutes", "min"),
    ("kbit/s", "kbps"),
    ("Mbit/s", "Mbps"),
    ("Mb/s", "Mbps"),
    ("Gbit/s", "Gbps"),
    ("Gb/s", "Gbps"),
    ("bytes", "B"),
    ("byte", "B"),
    ("segments", "packets"),
];

impl Node<'_> {
    /// A time of at most 39 hours.
    pub(crate) fn nanos(&self) -> Result<Nanos, ScenarioError> {
        let n = self.quantity(TIME, parse_nanos)?;
        if n > LONGEST {
            return Err(self.refuse("a time of at most 39 hours (2^47 ns)"));
        }
        Ok(n)
    }

    /// A time above zero.
    pub(crate) fn nanos_above_zero(&self) -> Result<Nanos, ScenarioError> {
        match self.nanos()? {
            Nanos::ZERO => Err(self.refuse("a time above zero, as in \"200 ms\"")),
            n => Ok(n),
        }
    }

    /// A rate above zero; `None` for `"unlimited"`.
    pub(crate) fn rate(&self) -> Result<Option<Rate>, ScenarioError> {
        if self.value.as_str() == Some("unlimited") {
            return Ok(None);
        }
        self.quantity(RATE, parse_rate).map(Some)
    }

    /// A size in bytes, in a range.
    pub(crate) fn bytes(&self, range: RangeInclusive<u64>) -> Result<Bytes, ScenarioError> {
        let n = self.quantity(SIZE, parse_bytes)?;
        if !range.contains(&n) {
            return Err(self.refuse(format!("{} B to {} B", range.start(), range.end())));
        }
        Ok(n)
    }

    /// A queue's limit, in packets or in bytes.
    pub(crate) fn limit(&self) -> Result<QueueLimit, ScenarioError> {
        let limit = self.quantity(LIMIT, |t| match (t, packets(t)) {
            ("unlimited", _) => Ok(QueueLimit::Unlimited),
            (_, Some(n)) => u32::try_from(n).map(QueueLimit::Packets).map_err(|_| "too large".to_owned()),
            _ => parse_bytes(t).map(QueueLimit::Bytes),
        })?;
        match limit {
            QueueLimit::Packets(0) | QueueLimit::Bytes(0) => Err(self.refuse(format!("{}, above zero", LIMIT.0))),
            limit => Ok(limit),
        }
    }

    /// An amount of data above zero, in segments of `mss` bytes or in bytes.
    pub(crate) fn amount(&self, mss: u32) -> Result<Bytes, ScenarioError> {
        let n = self.quantity(AMOUNT, |t| match packets(t) {
            Some(n) => n.checked_mul(u64::from(mss)).filter(|n| *n < 1 << 62).ok_or_else(|| "too large".to_owned()),
            None => parse_bytes(t),
        })?;
        if n == 0 {
            return Err(self.refuse(format!("{}, above zero", AMOUNT.0)));
        }
        Ok(n)
    }

    /// A whole number in a range.
    pub(crate) fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, ScenarioError> {
        let n = match self.value {
            DeValue::Integer(i) => u64::from_str_radix(i.as_str(), i.radix()).ok(),
            _ => None,
        };
        n.filter(|n| range.contains(n))
            .ok_or_else(|| self.refuse(format!("a whole number from {} to {}", range.start(), range.end())))
    }

    /// A probability.
    pub(crate) fn probability(&self) -> Result<f64, ScenarioError> {
        let p: Option<f64> = match self.value {
            DeValue::Float(f) => f.as_str().parse().ok(),
            DeValue::Integer(i) => i.as_str().parse().ok(),
            _ => None,
        };
        p.filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| self.refuse("a probability from 0 to 1, as in 0.01"))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self) -> Result<bool, ScenarioError> {
        self.value.as_bool().ok_or_else(|| self.refuse("true or false"))
    }

    /// One word of a list.
    pub(crate) fn choice<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, ScenarioError> {
        let names: Vec<&str> = words.iter().map(|w| w.0).collect();
        let allowed = format!("one of {}", listed(&names));
        let word = self.str(&allowed)?;
        words.iter().find(|w| w.0 == word).map(|w| w.1).ok_or_else(|| {
            let hint = nearest(word, names.iter().copied()).map(|n| format!("\"{n}\""));
            self.refuse(allowed).with_hint(hint)
        })
    }

    /// A string that `read` understands. What it says is wrong goes with what was found.
    fn quantity<T>(
        &self,
        (allowed, units): (&str, &[&str]),
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, ScenarioError> {
        let text = self.str(allowed)?;
        read(text).map_err(|sentence| {
            let said = sentence.strip_prefix(&format!("found \"{text}\": ")).unwrap_or(&sentence);
            let negative = text.trim_start().starts_with('-');
            let why = if negative { "negative" } else { said.split("; ").next().unwrap_or(said) };
            let cut = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
            let (number, unit) = (text[..cut].trim(), text[cut..].trim());
            let meant = HABITS.iter().find(|h| h.0 == unit).map(|h| h.1).filter(|u| units.contains(u));
            let meant = meant.or_else(|| nearest(unit, units.iter().copied()));
            let hint = meant.map(|u| format!("{number} {u}"));
            let hint = hint.filter(|h| h != text && read(h.trim()).is_ok()).map(|h| format!("\"{}\"", h.trim()));
            self.refuse_as(format!("{} ({why})", self.written()), allowed).with_hint(hint)
        })
    }
}

/// The number in `"65 packets"`.
fn packets(text: &str) -> Option<u64> {
    let number = text.trim().strip_suffix("packets").or_else(|| text.trim().strip_suffix("packet"))?;
    number.trim().replace('_', "").parse().ok()
}
