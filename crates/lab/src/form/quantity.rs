//! Numbers with units: one way to read each dimension, and the messages for faults.

use crate::error::{joined, nearest, ScenarioError};
use crate::reader::Node;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{parse_bytes, parse_nanos, parse_packets, parse_rate};
use serde_json::Value;

/// The longest time in a run: the simulator packs a time into 47 bits (39 hours).
const LONGEST: Nanos = Nanos((1 << 47) - 1);

/// A dimension: the title of its schema, its units, its name in messages, and the function that reads a text in its
/// smallest unit.
struct Dimension {
    title: &'static str,
    units: &'static [&'static str],
    name: &'static str,
    read: fn(&str) -> Result<u64, String>,
}

const DIMENSIONS: [Dimension; 4] = [
    Dimension {
        title: "time",
        units: &["ns", "us", "ms", "s", "min"],
        name: "a time",
        read: |text| parse_nanos(text).map(|n| n.0),
    },
    Dimension {
        title: "rate",
        units: &["bps", "kbps", "Mbps", "Gbps", "B/s", "kB/s", "MB/s", "GB/s"],
        name: "a rate",
        read: |text| parse_rate(text).map(|r| r.0),
    },
    Dimension {
        title: "packets",
        units: &["packets"],
        name: "a number of packets",
        read: |text| parse_packets(text).map(|n| n.0.into()),
    },
    Dimension { title: "size", units: &["B", "kB", "KiB", "MB", "MiB", "GB"], name: "a size", read: parse_bytes },
];

/// Common spellings of units, and ours.
const HABITS: &[(&str, &str)] = &[
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("usec", "us"),
    ("minutes", "min"),
    ("bit/s", "bps"),
    ("kbit/s", "kbps"),
    ("kb/s", "kbps"),
    ("Mbit/s", "Mbps"),
    ("Mb/s", "Mbps"),
    ("Gbit/s", "Gbps"),
    ("Gb/s", "Gbps"),
    ("Bps", "B/s"),
    ("kBps", "kB/s"),
    ("KBps", "kB/s"),
    ("KB/s", "kB/s"),
    ("MBps", "MB/s"),
    ("GBps", "GB/s"),
    ("bytes", "B"),
    ("byte", "B"),
    ("segments", "packets"),
];

fn of(schema: &Value) -> Option<&'static Dimension> {
    DIMENSIONS.iter().find(|d| schema["title"] == d.title)
}

/// The allowed values for one of these dimensions or words, each separately.
pub(super) fn allowed(dimensions: &[&Value], words: &[&str]) -> Vec<String> {
    let example = |schema: &Value| schema["examples"][0].to_string();
    let one = |schema: &Value| {
        let d = of(schema)?;
        Some(match dimensions {
            [_] if d.units.len() == 1 => format!("{}, as in {}", d.name, example(schema)),
            [_] => format!("{}: a number and one of {}, as in {}", d.name, d.units.join(", "), example(schema)),
            _ => format!("{} as in {}", d.name, example(schema)),
        })
    };
    dimensions.iter().filter_map(|s| one(s)).chain(words.iter().map(|w| format!("\"{w}\""))).collect()
}

/// Whether the text is a quantity of one of these dimensions. A fault includes the text found.
pub(super) fn check(node: &Node<'_>, dimensions: &[&Value], words: &[&str]) -> Result<(), ScenarioError> {
    let allowed = joined(&allowed(dimensions, words), "or");
    let text = node.str(&allowed)?;
    let known: Vec<&Dimension> = dimensions.iter().filter_map(|s| of(s)).collect();
    let read = |text: &str| {
        let mut tried = known.iter().map(|d| ((d.read)(text), d.title));
        let first = tried.next().unwrap_or_else(|| (Err("unknown".to_owned()), ""));
        tried.fold(first, |had, next| if had.0.is_ok() { had } else { next })
    };
    match read(text) {
        (Ok(n), "time") if n > LONGEST.0 => Err(node.refuse("a time of at most 39 hours (2^47 ns)")),
        // If packets may be counted, zero would mean none at all.
        (Ok(0), _) if known.iter().any(|d| d.title == "packets") => Err(node.refuse(format!("{allowed}, above zero"))),
        (Ok(_), _) => Ok(()),
        (Err(sentence), _) => {
            let units: Vec<&str> = known.iter().flat_map(|d| d.units).copied().chain(words.iter().copied()).collect();
            Err(refused(node, text, &sentence, allowed, &units, |t| read(t).0.is_ok() || words.contains(&t)))
        }
    }
}

fn refused(
    node: &Node<'_>,
    text: &str,
    sentence: &str,
    allowed: String,
    units: &[&str],
    good: impl Fn(&str) -> bool,
) -> ScenarioError {
    let reason = sentence.strip_prefix(&format!("found \"{text}\": ")).unwrap_or(sentence);
    let negative = text.trim_start().starts_with('-');
    let why = if negative { "negative" } else { reason.split("; ").next().unwrap_or(reason) };
    let cut = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (number, unit) = (point(text[..cut].trim()), text[cut..].trim());
    let meant = HABITS.iter().find(|h| h.0 == unit).map(|h| h.1).filter(|u| units.contains(u));
    let meant = meant.or_else(|| nearest(unit, units.iter().copied()));
    let hint = meant.map(|u| format!("{number} {u}").trim().to_owned());
    let hint = hint.filter(|h| h != text && good(h)).map(|h| format!("\"{h}\""));
    node.refuse_as(format!("{} ({why})", node.written()), allowed).with_hint(hint)
}

/// A number with a decimal point for its decimal comma. "1,500" may be either number, so it stays.
pub(super) fn point(number: &str) -> String {
    match number.split_once(',') {
        Some((whole, decimals)) if decimals.len() != 3 && !decimals.contains([',', '.']) => {
            format!("{whole}.{decimals}")
        }
        _ => number.to_owned(),
    }
}
