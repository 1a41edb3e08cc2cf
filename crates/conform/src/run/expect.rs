//! Packets that the TCP under test is expected to send.

use super::segment::{flags_text, option_text, text, Real};
use super::{seconds, Due, Layout, Runner};
use crate::script::syntax::{Body, Flags, IpFields, Packet, Segment, TcpOption, Tos};
use crate::verdict::{Fault, Reason};
use ackclock_tcp::time::{Nanos, Time};

/// How long to wait for a packet beyond its expected time, in order to report when it was sent.
const PATIENCE: Nanos = Nanos::from_secs(2);
/// How long to wait for a packet that may be sent at any time.
const LONGEST: Nanos = Nanos::from_secs(3600);

impl Runner<'_> {
    pub(super) fn expect(&mut self, line: u32, packet: &Packet, due: Due) -> Result<(), Fault> {
        let expected = match &packet.body {
            Body::Tcp(segment) => segment,
            Body::Icmp(_) => {
                return Err(Fault::new(line, Reason::Unknown, "an expected ICMP message is not understood"))
            }
            Body::Other(name) => return Err(Fault::new(line, Reason::Unknown, format!("{name} is not understood"))),
        };
        if let Some(flow) = &mut self.numbers.flow {
            flow.expects(expected);
        }
        let patience = if due.any { LONGEST } else { PATIENCE };
        let until = (due.to + patience).min(self.world.latest() + PATIENCE);
        let missing = |when: Time| {
            let text = format!("expected > {}, and nothing was sent until {}", text(expected), seconds(when));
            Fault::new(line, Reason::Missing, text)
        };
        let (mut at, mut real) = self.next_of_flow(line, expected, until)?.ok_or_else(|| missing(until))?;
        // The script may show several packets as one, as a device that segments would receive them.
        while real.segment.len < expected.len && real.segment.len > 0 && !self.config.strict_segments {
            let (when, next) = self.next_of_flow(line, expected, until)?.ok_or_else(|| missing(until))?;
            join(&mut real, &next, expected).map_err(|why| {
                let text = format!("expected > {}: {why}, found > {}", text(expected), text(&next.segment));
                Fault::new(line, Reason::Packet, text)
            })?;
            at = when;
        }
        self.say(at, line, format!("> {}", text(&real.segment)));
        if due.from < due.to {
            self.late = self.late + at.since(due.from);
        }
        self.compare(line, packet.ip, expected, &mut real, at)?;
        self.check_time(line, "this packet", at, due)
    }

    /// The next packet of the connection under test, in the script's numbers. Others are dropped.
    fn next_of_flow(&mut self, line: u32, expected: &Segment, until: Time) -> Result<Option<(Time, Real)>, Fault> {
        let broken = |text: String| Fault::new(line, Reason::Broken, text);
        while let Some((at, bytes)) = self.world.next_packet(until).map_err(broken)? {
            // Packets that are not TCP, such as router solicitations, do not belong to the connection.
            let mut real = match Real::read(&bytes) {
                Ok(real) => real,
                Err(why) => return Err(broken(format!("it sent a packet that cannot be read: {why}"))),
            };
            let Some(flow) = &mut self.numbers.flow else { continue };
            if flow.takes(real.src, real.dst, &real.segment, expected) {
                flow.to_script(&mut real.segment);
                return Ok(Some((at, real)));
            }
        }
        Ok(None)
    }

    fn compare(&mut self, line: u32, ip: IpFields, expected: &Segment, real: &mut Real, at: Time) -> Result<(), Fault> {
        let ticks = self.note_timestamps(expected, &mut real.segment);
        let mut differences = Vec::new();
        fields(expected, &real.segment, &mut differences);
        ip_fields(ip, real, &mut differences);
        if let (Some(wanted), Some(found)) = (&expected.options, &real.segment.options) {
            options(wanted, found, self.config.layout, &mut differences);
        }
        if let (Some((wanted, found)), Some(tick)) = (ticks, self.config.timestamp_tick) {
            // The script relies on the beginning of each range of times.
            let due = wanted.val.wrapping_add((self.late.0 / tick.0) as u32);
            let ticks = u64::from(found.val.wrapping_sub(due).cast_signed().unsigned_abs());
            let off = Nanos(ticks.saturating_mul(tick.0));
            let share = Nanos((at.0 as f64 * self.config.tolerance_percent / 100.0) as u64);
            if off > self.config.tolerance.max(share) {
                differences.push(format!("TS val {due}, found {}", found.val));
            }
            if wanted.ecr != found.ecr {
                differences.push(format!("TS ecr {}, found {}", wanted.ecr, found.ecr));
            }
        }
        if !real.zeros {
            differences.push("a payload of zeros, found other bytes".to_owned());
        }
        if differences.is_empty() {
            return Ok(());
        }
        let found = text(&real.segment);
        let text =
            format!("expected > {}\n    found > {found}\n    expected {}", text(expected), differences.join("; "));
        Err(Fault::new(line, Reason::Packet, text))
    }

    /// Records the timestamps, and replaces the TCP's clock by the script's.
    fn note_timestamps(&mut self, expected: &Segment, real: &mut Segment) -> Option<(Stamps, Stamps)> {
        let wanted = stamps(expected)?;
        let (val, ecr) = match real.options.iter_mut().flatten().find_map(as_stamps) {
            Some((val, ecr)) => (val, *ecr),
            None => return None,
        };
        let flow = self.numbers.flow.as_mut()?;
        *val = flow.note_timestamp(wanted.val, *val);
        Some((wanted, Stamps { val: *val, ecr }))
    }
}

/// Timestamps of a segment.
#[derive(Clone, Copy)]
struct Stamps {
    val: u32,
    ecr: u32,
}

fn as_stamps(option: &mut TcpOption) -> Option<(&mut u32, &mut u32)> {
    match option {
        TcpOption::Timestamps { val, ecr } => Some((val, ecr)),
        TcpOption::Eol
        | TcpOption::Nop
        | TcpOption::Mss(_)
        | TcpOption::WindowScale(_)
        | TcpOption::SackOk
        | TcpOption::Sack(_)
        | TcpOption::Other(_) => None,
    }
}

fn stamps(segment: &Segment) -> Option<Stamps> {
    let mut options = segment.options.clone()?;
    let (val, ecr) = options.iter_mut().find_map(as_stamps)?;
    Some(Stamps { val: *val, ecr: *ecr })
}

/// Adds the next of several packets that the script shows as one.
///
/// # Errors
/// The difference from a single packet.
fn join(real: &mut Real, next: &Real, expected: &Segment) -> Result<(), String> {
    let (a, b) = (&real.segment, &next.segment);
    let plain = |flags: Flags| Flags { fin: false, psh: false, cwr: false, ..flags };
    if plain(a.flags) != plain(b.flags) || a.ack != b.ack || a.win != b.win {
        return Err("several packets that together are as long, with the same flags, ack and win".to_owned());
    }
    if a.seq.map(|seq| seq.wrapping_add(a.len)) != b.seq {
        return Err(format!("the next packet to follow at once ({} of {} bytes so far)", a.len, expected.len));
    }
    if a.len + b.len > expected.len {
        return Err(format!("{} bytes in all", expected.len));
    }
    let (seq, len, cwr) = (a.seq, a.len + b.len, a.flags.cwr);
    real.segment = Segment { seq, len, flags: Flags { cwr, ..b.flags }, ..b.clone() };
    real.zeros &= next.zeros;
    Ok(())
}

/// Compares the fields of the TCP header.
fn fields(expected: &Segment, real: &Segment, differences: &mut Vec<String>) {
    let wanted = Flags { ace: None, ..expected.flags };
    let found = real.flags;
    let ace = u8::from(found.ae) << 2 | u8::from(found.cwr) << 1 | u8::from(found.ece);
    let same = match expected.flags.ace {
        Some(wanted_ace) => {
            let without = |f: Flags| Flags { ae: false, cwr: false, ece: false, ace: None, ..f };
            without(wanted) == without(found) && wanted_ace == ace
        }
        None => wanted == found,
    };
    if !same {
        differences.push(format!("flags {}, found {}", flags_text(expected.flags), flags_text(found)));
    }
    let mut number = |name: &str, wanted: Option<u32>, found: Option<u32>| {
        if let Some(wanted) = wanted.filter(|w| Some(*w) != found) {
            differences.push(format!("{name} {wanted}, found {}", found.unwrap_or(0)));
        }
    };
    number("seq", expected.seq, real.seq);
    number("a length of", Some(expected.len), Some(real.len));
    number("ack", Some(expected.ack.unwrap_or(0)), real.ack);
    number("win", expected.win.map(u32::from), real.win.map(u32::from));
    number("urg", Some(u32::from(expected.urg.unwrap_or(0))), real.urg.map(u32::from));
}

fn ip_fields(wanted: IpFields, real: &Real, differences: &mut Vec<String>) {
    let IpFields { tos, ttl, flow_label: _ } = wanted;
    let ecn = real.traffic_class & 3;
    let fault = match tos {
        None => None,
        Some(Tos::Ecn(bits)) => (bits != ecn).then(|| format!("ECN bits {bits:02b}, found {ecn:02b}")),
        Some(Tos::EitherEct) => (!matches!(ecn, 1 | 2)).then(|| format!("ECN bits 01 or 10, found {ecn:02b}")),
        Some(Tos::Byte(byte)) => {
            let found = real.traffic_class;
            (byte != found).then(|| format!("a type of service of {byte:#x}, found {found:#x}"))
        }
    };
    differences.extend(fault);
    if let Some(ttl) = ttl.filter(|ttl| *ttl != real.hop_limit) {
        differences.push(format!("ttl {ttl}, found {}", real.hop_limit));
    }
}

/// Compares the options. Timestamps are compared elsewhere.
fn options(wanted: &[TcpOption], found: &[TcpOption], layout: Layout, differences: &mut Vec<String>) {
    let list = |options: &[TcpOption]| options.iter().map(option_text).collect::<Vec<_>>().join(",");
    let blank = |list: &[TcpOption]| -> Vec<TcpOption> {
        let mut list = list.to_vec();
        for (val, ecr) in list.iter_mut().filter_map(as_stamps) {
            (*val, *ecr) = (0, 0);
        }
        match layout {
            Layout::Exact => list,
            Layout::Free => {
                list.retain(|option| !matches!(option, TcpOption::Nop | TcpOption::Eol));
                list.sort_by_key(option_text);
                list
            }
        }
    };
    if blank(wanted) != blank(found) {
        differences.push(format!("options <{}>, found <{}>", list(wanted), list(found)));
    }
}
