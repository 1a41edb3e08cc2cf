//! Quantities as people write them: a number, a space, a unit. Parsing is exact (no floats), and printed values parse
//! back.

use crate::time::Nanos;
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Whole bytes: payload, flight, advertised windows. Only `cwnd` and `ssthresh` are real-valued.
pub type Bytes = u64;

/// A link's rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size in whole bytes, written with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub Bytes);

/// A number of packets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(pub u32);

/// The length of a queue, or its limit: packets, or bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Packets of any size.
    Packets(Packets),
    /// Bytes on the wire.
    Bytes(Bytes),
}

const TIME_UNITS: &[(&str, u64)] =
    &[("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("min", 60_000_000_000)];
const RATE_UNITS: &[(&str, u64)] = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("B/s", 8),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
    ("GB/s", 8_000_000_000),
];
const BYTE_UNITS: &[(&str, u64)] =
    &[("B", 1), ("kB", 1_000), ("KiB", 1_024), ("MB", 1_000_000), ("MiB", 1_048_576), ("GB", 1_000_000_000)];

/// Reads a span such as `"200 ms"`, `"1.5 s"`, `"10 us"`.
///
/// # Errors
/// One sentence that names the text found and the units allowed.
pub fn parse_nanos(text: &str) -> Result<Nanos, String> {
    parse(text, TIME_UNITS, "a time", "200 ms").map(Nanos)
}

/// Reads a rate such as `"5 Mbps"`, `"800 kbps"`, `"100 kB/s"`.
///
/// # Errors
/// One sentence that names the text found and the units allowed.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    match parse(text, RATE_UNITS, "a rate", "5 Mbps")? {
        0 => Err(format!("found \"{text}\": a rate must be above zero")),
        n => Ok(Rate(n)),
    }
}

/// Reads a size such as `"1460 B"`, `"64 KiB"`, `"10 MB"`.
///
/// # Errors
/// One sentence that names the text found and the units allowed.
pub fn parse_bytes(text: &str) -> Result<Bytes, String> {
    parse(text, BYTE_UNITS, "a size", "1460 B")
}

/// Reads a number of packets such as `"65 packets"`.
///
/// # Errors
/// One sentence that names the text found and the unit allowed.
pub fn parse_packets(text: &str) -> Result<Packets, String> {
    let n = parse(text, &[("packets", 1), ("packet", 1)], "a queue's length", "65 packets")?;
    u32::try_from(n).map(Packets).map_err(|_| format!("found \"{text}\": too large"))
}

/// Reads a queue's length such as `"65 packets"` or `"64 KiB"`.
///
/// # Errors
/// One sentence that names the text found and the units allowed.
pub fn parse_length(text: &str) -> Result<Length, String> {
    if text.trim_end().ends_with(['t', 's']) {
        parse_packets(text).map(Length::Packets)
    } else {
        parse_bytes(text).map(Length::Bytes)
    }
}

/// Number times unit, exactly: up to nine decimals, and the result must be whole in the base unit.
fn parse(text: &str, units: &[(&str, u64)], what: &str, example: &str) -> Result<u64, String> {
    let names = || units.iter().map(|u| u.0).filter(|u| u.is_ascii()).collect::<Vec<_>>().join(", ");
    let bad =
        |why: &str| format!("found \"{text}\": {why}; {what} is a number and one of {}, as in \"{example}\"", names());
    let t = text.trim();
    let cut = t.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(t.len());
    let (number, unit) = (t[..cut].replace('_', ""), t[cut..].trim());
    let scale = units.iter().find(|u| u.0 == unit).map(|u| u.1);
    let Some(scale) = scale else {
        return Err(bad(match unit {
            "" => "the unit is missing",
            _ if unit.starts_with(',') => "a comma: write decimals with a point, thousands without a separator",
            _ => "unknown unit",
        }));
    };
    let (whole, frac) = number.split_once('.').unwrap_or((number.as_str(), ""));
    if (whole.is_empty() && frac.is_empty()) || frac.len() > 9 || frac.contains('.') {
        return Err(bad("not a number"));
    }
    let digits = |s: &str| if s.is_empty() { Ok(0u128) } else { s.parse::<u128>().map_err(|_| bad("not a number")) };
    let ten = 10u128.pow(frac.len() as u32);
    let scaled = digits(whole)?
        .checked_mul(ten)
        .and_then(|w| w.checked_add(digits(frac).ok()?))
        .and_then(|v| v.checked_mul(u128::from(scale)))
        .ok_or_else(|| bad("too large"))?;
    if scaled % ten != 0 {
        return Err(bad("not a whole number of the smallest unit"));
    }
    u64::try_from(scaled / ten).ok().filter(|v| *v < 1 << 62).ok_or_else(|| bad("too large"))
}

/// The largest unit in which `n` has at most three decimals.
fn fmt_scaled(n: u64, units: &[(&str, u64)], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut best = units[0];
    for u in units.iter().filter(|u| u.0.is_ascii() && !u.0.ends_with("/s") && u.0 != "min") {
        if n >= u.1 && u.1 > best.1 && (u128::from(n) * 1000) % u128::from(u.1) == 0 {
            best = *u;
        }
    }
    let milli = (u128::from(n) * 1000 / u128::from(best.1)) as u64;
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    write!(f, "{} {}", text.trim_end_matches('0').trim_end_matches('.'), best.0)
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_scaled(self.0, TIME_UNITS, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt_scaled(self.0, RATE_UNITS, f)
    }
}

/// Bytes as people write them (`1460 B`, `64 KiB`); [`parse_bytes`] reads it back.
pub fn show_bytes(n: Bytes) -> String {
    struct Show(Bytes);
    impl fmt::Display for Show {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt_scaled(self.0, &BYTE_UNITS[..1], f)
        }
    }
    Show(n).to_string()
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets", self.0)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Length::Packets(n) => n.fmt(f),
            Length::Bytes(n) => f.write_str(&show_bytes(*n)),
        }
    }
}

/// The number alone.
impl fmt::Debug for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        bytes::serialize(&self.0, s)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        bytes::deserialize(d).map(Size)
    }
}

impl JsonSchema for Size {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "size".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        bytes_schema(generator)
    }
}

impl Serialize for Packets {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Packets {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        parse_packets(&text(d, "a number of packets in quotes, as in \"65 packets\"")?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Packets {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "packets".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = r"^\s*[0-9][0-9_]*\s*packets?\s*$";
        json_schema!({ "type": "string", "title": "packets", "pattern": pattern, "examples": ["65 packets"] })
    }
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let wanted = "\"5 packets\" or a size in bytes, as in \"5 kB\"";
        parse_length(&text(d, wanted)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Length {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "length".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [Packets::json_schema(generator), bytes_schema(generator)] })
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        parse_nanos(&text(d, "a time in quotes, as in \"200 ms\"")?).map_err(de::Error::custom)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        parse_rate(&text(d, "a rate in quotes, as in \"5 Mbps\"")?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Nanos {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        quantity("time", TIME_UNITS, "200 ms")
    }
}

impl JsonSchema for Rate {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "rate".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        quantity("rate", RATE_UNITS, "5 Mbps")
    }
}

/// A size such as `"1460 B"`, for descriptions of plain [`Bytes`].
pub fn bytes_schema(_: &mut SchemaGenerator) -> Schema {
    quantity("size", BYTE_UNITS, "1460 B")
}

/// For `#[serde(with = "…")]`: plain bytes, written with their unit.
pub mod bytes {
    use super::{de, parse_bytes, show_bytes, text, Deserializer, Serializer};

    /// Writes a size.
    ///
    /// # Errors
    /// The serializer's errors.
    pub fn serialize<S: Serializer, N: Copy + Into<u64>>(n: &N, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&show_bytes((*n).into()))
    }

    /// Reads a size.
    ///
    /// # Errors
    /// One sentence that names the text found and the units allowed.
    pub fn deserialize<'de, D: Deserializer<'de>, N: TryFrom<u64>>(d: D) -> Result<N, D::Error> {
        let found = text(d, "a size in quotes, as in \"1460 B\"")?;
        let n = parse_bytes(&found).map_err(de::Error::custom)?;
        N::try_from(n).map_err(|_| de::Error::custom(format!("found \"{found}\": too large")))
    }
}

/// For `#[serde(with = "…")]`: a rate, or `"unlimited"` for none.
pub mod rate_or_unlimited {
    use super::{
        de, json_schema, parse_rate, text, Deserializer, JsonSchema, Rate, Schema, SchemaGenerator, Serializer,
    };

    /// Writes a rate.
    ///
    /// # Errors
    /// The serializer's errors.
    pub fn serialize<S: Serializer>(rate: &Option<Rate>, s: S) -> Result<S::Ok, S::Error> {
        match rate {
            Some(rate) => s.collect_str(rate),
            None => s.serialize_str("unlimited"),
        }
    }

    /// Reads a rate.
    ///
    /// # Errors
    /// One sentence that names the text found and the units allowed.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Rate>, D::Error> {
        match text(d, "a rate in quotes, as in \"5 Mbps\", or \"unlimited\"")?.as_str() {
            "unlimited" => Ok(None),
            rate => parse_rate(rate).map(Some).map_err(de::Error::custom),
        }
    }

    /// Its schema.
    pub fn schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [Rate::json_schema(generator), { "const": "unlimited" }] })
    }
}

/// A number and a unit, as [`parse`] reads them.
fn quantity(what: &str, units: &[(&str, u64)], example: &str) -> Schema {
    let units: Vec<&str> = units.iter().map(|u| u.0).collect();
    let pattern = format!("^\\s*([0-9][0-9_]*\\.?[0-9_]*|\\.[0-9][0-9_]*)\\s*({})\\s*$", units.join("|"));
    json_schema!({ "type": "string", "title": what, "pattern": pattern, "examples": [example] })
}

/// A string, or an error that states the expected form (a bare number has no unit).
fn text<'de, D: Deserializer<'de>>(d: D, wanted: &'static str) -> Result<String, D::Error> {
    struct V(&'static str);
    impl de::Visitor<'_> for V {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: de::Error>(self, v: &str) -> Result<String, E> {
            Ok(v.to_owned())
        }
    }
    d.deserialize_str(V(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(parse_nanos("200 ms"), Ok(Nanos::from_millis(200)));
        assert_eq!(parse_nanos("1.5s"), Ok(Nanos::from_millis(1500)));
        assert_eq!(parse_nanos("0.000000001 s"), Ok(Nanos(1)));
        assert_eq!(parse_rate("0.8 Mbps"), Ok(Rate(800_000)));
        assert_eq!(parse_rate("204800 B/s"), Ok(Rate(1_638_400)));
        assert_eq!(parse_rate("204.8 kB/s"), Ok(Rate(1_638_400)));
        assert_eq!(parse_rate("2.5 MB/s"), Ok(Rate(20_000_000)));
        assert_eq!(parse_rate("1 GB/s"), Ok(Rate(8_000_000_000)));
        assert_eq!(parse_bytes("64 KiB"), Ok(65_536));
    }

    #[test]
    fn what_is_printed_is_read_back() {
        for n in [0, 1, 999, 1_000, 1_500_000, 2_400_000, 50_000_000, 600_000_000_000, 123_456_789] {
            assert_eq!(parse_nanos(&Nanos(n).to_string()), Ok(Nanos(n)), "{}", Nanos(n));
            assert_eq!(parse_rate(&Rate(n + 1).to_string()), Ok(Rate(n + 1)));
            assert_eq!(parse_bytes(&show_bytes(n)), Ok(n));
        }
    }

    #[test]
    fn a_comma_is_explained() {
        let e = parse_nanos("1,5 s").unwrap_err();
        assert!(
            e.starts_with("found \"1,5 s\": a comma: write decimals with a point, thousands without a separator;"),
            "{e}"
        );
    }

    #[test]
    fn a_bad_quantity_is_refused_with_the_allowed_units() {
        for bad in ["", "ms", "5", "5 parsecs", "1.2.3 s", "0.5 ns", "99999999999999999999 s", "-1 s", "."] {
            let e = parse_nanos(bad).unwrap_err();
            assert!(e.contains("ns, us, ms, s") && e.contains(bad), "{e}");
        }
    }
}
