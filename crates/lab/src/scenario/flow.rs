//! The meaning of one `[[flow]]`: sender, stack, receiver, and the receiver's ACK policy.

use super::graph::{Flows, Graph, Row};
use super::overrides::{self, Overrides};
use super::{gap, within};
use crate::error::ScenarioError;
use crate::file::amount::Amount;
use crate::file::flow::{App, Connection, Connections, Flow, FlowKeys, Wire};
use crate::file::receiver::Receiver;
use crate::reader::Node;
use ackclock_sim::scenario::{AppSpec, FlowSpec, Next, PeerSpec, PiecesSpec, WireSpec};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Bytes, Size};
use std::ops::RangeInclusive;

/// The largest payload in an IPv4 packet with 20 bytes of IP and 20 of TCP header.
const LARGEST_SEGMENT: u64 = 65_495;
/// RFC 7323 §2.3: the largest window that can be announced.
const LARGEST_WINDOW: Bytes = 1 << 30;
/// The fixed header of ns-2's data packets.
const NS2_HEADER: u32 = 40;

/// Reads one `[[flow]]`.
pub(super) fn add(node: &Node<'_>, flow: Flow, graph: &mut Graph, overrides: &Overrides) -> Result<(), ScenarioError> {
    let Flow { from, to, what } = flow;
    let flows = read(node, what, graph, overrides)?;
    let (from, to) = graph.ends(node, &from, &to)?;
    graph.add(flows, |_, _| (from, to))
}

/// Reads everything except the nodes.
pub(super) fn read<'a>(
    node: &Node<'a>,
    keys: FlowKeys,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<Flows<'a>, ScenarioError> {
    let FlowKeys { connection, name, count, spread, app } = keys;
    let mut spec = self::connection(node, connection, graph, overrides)?;
    let mut row = None;
    if let Some(app) = app {
        (spec.app, row) =
            application(&node.get("app").unwrap_or_else(|| node.clone()), &app, spec.mss, graph.duration)?;
    }
    let (count, spread) = (count.unwrap_or(1), spread.unwrap_or_default());
    if node.get("spread").is_some() {
        spreads(node, count, spread, spec.app.start + spec.app.jitter, graph.duration)?;
    }
    Ok(Flows { node: node.clone(), name, count, spread, spec, row })
}

/// The properties of a connection that sends from the start of the run without pause.
pub(super) fn connection(
    node: &Node<'_>,
    keys: Connection,
    graph: &mut Graph,
    overrides: &Overrides,
) -> Result<FlowSpec, ScenarioError> {
    // Parameters in `set` are read one by one, with the place of each.
    let Connection { stack, set: _, segment, window, receiver, handshake, wire, header } = keys;
    let mss = segment.map_or(Ok(1460), |n| size(node, "segment", n, 1..=LARGEST_SEGMENT))?;
    let window = self::window(node, window, mss)?;
    let wire = sizes(node, wire, header)?;
    let made = overrides::stack(node, &stack, overrides)?;
    let Receiver { ack, peer } = receiver.unwrap_or(Receiver { ack: None, peer: PeerSpec::default() });
    let ack = match ack {
        Some(policy) => answers(&node.get("receiver").unwrap_or_else(|| node.clone()), policy)?,
        None => made.stack.ack.clone(),
    };
    if peer.dsack == Some(true) && !peer.of(made.stack.options).sack {
        let receiver = node.get("receiver").unwrap_or_else(|| node.clone());
        return Err(receiver.refuse_key("dsack", "true without SACK", "false, or a receiver with SACK"));
    }
    let handshake = handshake.unwrap_or(false);
    if !handshake && made.stack.receive_window != ReceiveWindowSpec::Fixed {
        let allowed = "also `handshake = true`, since without a handshake both ends know the window from the start";
        return Err(node.refuse_key("stack", "a receive window that grows", allowed));
    }
    let stack = graph.stack(made);
    let app = AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, bytes: None, pieces: None };
    Ok(FlowSpec {
        name: String::new(),
        from: 0,
        to: 0,
        stack,
        mss,
        window,
        ack,
        peer,
        handshake,
        wire,
        app,
        after: None,
    })
}

/// A size in a range.
pub(super) fn size(node: &Node<'_>, key: &str, n: Size, range: RangeInclusive<u64>) -> Result<u32, ScenarioError> {
    let fits = u32::try_from(n.0).ok().filter(|_| range.contains(&n.0));
    fits.ok_or_else(|| node.refuse_in(key, format!("{} B to {} B", range.start(), range.end())))
}

/// The receiver's window. Default: 64 KiB less one, the largest without window scaling.
fn window(node: &Node<'_>, window: Option<Amount>, mss: u32) -> Result<Bytes, ScenarioError> {
    let Some(window) = window else { return Ok(Bytes::max(65_535, mss.into())) };
    match window.bytes(mss) {
        small if small < Bytes::from(mss) => Err(node.refuse_in("window", format!("at least one segment ({mss} B)"))),
        large if large > LARGEST_WINDOW => Err(node.refuse_in("window", "at most 1073741824 B (RFC 7323 §2.3)")),
        window => Ok(window),
    }
}

/// The application's data and its start.
fn application(node: &Node<'_>, app: &App, mss: u32, duration: Nanos) -> Result<(AppSpec, Option<Row>), ScenarioError> {
    let (mut pieces, mut row) = (None, None);
    let (start, jitter, bytes) = match *app {
        App::Bulk { start, jitter } => (start, jitter, None),
        App::Fixed { size, start, jitter } => (start, jitter, Some(size.bytes(mss))),
        App::Transfers { size, count, think, connections, start, jitter } => {
            think.map_or(Ok(()), |think| gap(node, "think", think))?;
            let each = piece(node, size, mss)?;
            match connections {
                Connections::New => {
                    row = Some(Row { count, think });
                    (start, jitter, Some(each))
                }
                Connections::One => {
                    pieces = Some(PiecesSpec { size: each, next: Next::Acked(think) });
                    (start, jitter, Some(each * Bytes::from(count)))
                }
            }
        }
        App::Writes { size, gap: every, count, start, jitter } => {
            gap(node, "gap", every)?;
            let each = piece(node, size, mss)?;
            pieces = Some(PiecesSpec { size: each, next: Next::Every(every) });
            (start, jitter, count.map(|count| each * Bytes::from(count)))
        }
    };
    within(node, "start", start, duration)?;
    if jitter > Nanos::ZERO && start + jitter >= duration {
        return Err(node.refuse_in("jitter", "starts before the end of the run"));
    }
    Ok((AppSpec { start, jitter, bytes, pieces }, row))
}

/// The largest piece of data that is written at once; 2^30 of them are far below the largest offset.
const LARGEST_PIECE: Bytes = 1 << 29;

/// The size of a piece, in bytes.
fn piece(node: &Node<'_>, size: Amount, mss: u32) -> Result<Bytes, ScenarioError> {
    let bytes = size.bytes(mss);
    let fits = (1..=LARGEST_PIECE).contains(&bytes);
    fits.then_some(bytes).ok_or_else(|| node.refuse_in("size", format!("1 B to {LARGEST_PIECE} B")))
}

/// Refuses a spread over which `count` flows cannot start.
fn spreads(node: &Node<'_>, count: u32, spread: Nanos, start: Nanos, duration: Nanos) -> Result<(), ScenarioError> {
    if count == 1 {
        return Err(node.refuse_key("spread", "a spread for one flow", "also a `count` above 1"));
    }
    within(node, "spread", spread, duration)?;
    if start + spread >= duration {
        return Err(node.refuse_in("spread", "starts before the end of the run"));
    }
    Ok(())
}

/// Real headers, or ns-2's fixed one, which `header` gives.
fn sizes(node: &Node<'_>, wire: Option<Wire>, header: Option<Size>) -> Result<WireSpec, ScenarioError> {
    let header = header.map(|n| size(node, "header", n, 0..=65_535)).transpose()?;
    match (wire, header) {
        (Some(Wire::Ipv4), Some(_)) => {
            Err(node.refuse_key("header", "a header together with wire \"ipv4\"", "no header, or wire \"ns2\""))
        }
        (Some(Wire::Ns2) | None, Some(header)) => Ok(WireSpec::Ns2 { header }),
        (Some(Wire::Ns2), None) => Ok(WireSpec::Ns2 { header: NS2_HEADER }),
        (Some(Wire::Ipv4) | None, None) => Ok(WireSpec::Ipv4),
    }
}

/// Returns a receiver's policy, after checking its values.
fn answers(node: &Node<'_>, policy: AckSpec) -> Result<AckSpec, ScenarioError> {
    let delay = match &policy {
        AckSpec::Delayed { delay } | AckSpec::DelayedReordered { delay } => Some(*delay),
        AckSpec::Linux(spec) => Some(spec.delay),
        AckSpec::Every | AckSpec::Heartbeat { .. } | AckSpec::WindowUpdate { .. } | AckSpec::Custom(_) => None,
    };
    if delay == Some(Nanos::ZERO) {
        return Err(node.refuse_in("delay", "a time above zero, as in \"200 ms\""));
    }
    match policy.validate() {
        Ok(()) => Ok(policy),
        Err(e) => Err(node.refuse_in(e.key.strip_prefix("ack.").unwrap_or(e.key), e.allowed)),
    }
}
