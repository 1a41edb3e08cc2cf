//! Sets up both sides of a live run: namespaces, sockets, and the engine's ends.

use super::engine::{Engine, Wanted};
use super::hosts::{self, Host, DEVICE, SIDES};
use super::{Options, Place, Prepared, Tcp};
use crate::error::LiveError;
use crate::kernel::{Apps, Sink, Source};
use ackclock_sim::scenario::FlowSpec;
use ackclock_sim::watch::Side;
use ackclock_tcp::time::{Nanos, Time};
use std::net::SocketAddr;

/// The largest packet of the flows, but at least the minimum of every path.
fn mtu(prepared: &Prepared) -> u32 {
    let largest = prepared.mss.iter().map(|mss| mss + 40).max().unwrap_or(0);
    largest.max(1500)
}

/// The sides that need a kernel.
pub(super) fn kernels(prepared: &Prepared) -> Result<[Option<Host>; 2], LiveError> {
    let window = prepared.plan.scenario.flows.iter().map(|f| f.window).max().unwrap_or(0);
    // Includes room for the kernel's own bookkeeping. With dynamic right-sizing (`tcp_rcv_space_adjust`), the clamp of
    // a receiver's window would follow the buffer.
    let room = u32::try_from(2 * window).unwrap_or(u32::MAX);
    let mut sysctls = vec![("net.ipv4.tcp_moderate_rcvbuf".to_owned(), "0".to_owned())];
    sysctls.extend_from_slice(&prepared.sysctls);
    let mut hosts = [None, None];
    for (i, side) in SIDES.into_iter().enumerate() {
        if prepared.ends.iter().any(|ends| ends[i].is_kernel()) {
            if side == Side::Receiver {
                sysctls.extend_from_slice(&prepared.of_receivers);
            }
            hosts[i] = Some(Host::new(side, mtu(prepared), room, &sysctls)?);
        }
    }
    Ok(hosts)
}

/// Whether the path controls when its applications continue.
pub(super) fn is_driven(f: &FlowSpec) -> bool {
    f.after.is_some() || f.app.pieces.is_some()
}

pub(super) fn apps(
    prepared: &Prepared,
    hosts: &[Option<Host>; 2],
    starts: &[Option<Time>],
) -> Result<[Option<Apps>; 2], LiveError> {
    // A listener, and a socket at each end, and some more for the rest of the program.
    crate::sys::allow_files(4 * prepared.ends.len() as u64 + 256)
        .map_err(LiveError::system("allowing more sockets"))?;
    let (mut sources, mut sinks) = (Vec::new(), Vec::new());
    for (i, (f, ends)) in prepared.plan.scenario.flows.iter().zip(&prepared.ends).enumerate() {
        let flow = i as u32;
        let [from, to] = SIDES.map(|side| hosts::end(flow, side));
        if let Tcp::Kernel(congestion) = &ends[0] {
            sources.push(Source {
                from,
                to,
                start: starts[i].map(|at| Nanos(at.0)),
                is_driven: is_driven(f),
                bytes: f.app.bytes,
                congestion: congestion.clone(),
                mss: prepared.mss[i],
            });
        }
        if ends[1].is_kernel() {
            sinks.push(Sink { at: to, mss: prepared.mss[i], window: u32::try_from(f.window).unwrap_or(u32::MAX) });
        }
    }
    let [a, b] = hosts;
    let a = a.as_ref().map(|host| host.apps(&sources, &[])).transpose()?;
    let b = b.as_ref().map(|host| host.apps(&[], &sinks)).transpose()?;
    Ok([a, b])
}

pub(super) fn place(prepared: &Prepared, options: &Options, hosts: &[Option<Host>; 2]) -> Result<Place, LiveError> {
    let [a, b] = hosts;
    let name = |host: &Option<Host>| host.as_ref().map(Host::name).transpose();
    let flows = &prepared.plan.scenario.flows;
    let senders = flows.iter().map(|f| prepared.plan.stacks[f.stack as usize].name.clone()).collect();
    Ok(Place {
        namespaces: [name(a)?, name(b)?],
        device: DEVICE,
        mtu: mtu(prepared),
        senders,
        realtime: options.realtime,
    })
}

/// The engine at one end of a flow, if that end is the engine's.
pub(super) fn engine(
    prepared: &Prepared,
    flow: u32,
    side: Side,
    start: Option<Time>,
    seed: u64,
) -> Result<Option<Engine>, LiveError> {
    let (mine, peer) = match side {
        Side::Sender => (Side::Sender, Side::Receiver),
        Side::Receiver => (Side::Receiver, Side::Sender),
    };
    let (f, ends) = (&prepared.plan.scenario.flows[flow as usize], &prepared.ends[flow as usize]);
    let Tcp::Engine(stack) = &ends[usize::from(side == Side::Receiver)] else { return Ok(None) };
    let [local, remote] = [mine, peer].map(|side| SocketAddr::V4(hosts::end(flow, side)));
    let (stack, mss) = ((**stack).clone(), prepared.mss[flow as usize]);
    let (window, bytes) = (f.window, f.app.bytes);
    let is_driven = is_driven(f);
    Engine::new(Wanted { flow, side, local, remote, stack, mss, window, start, is_driven, bytes, seed })
        .map(Some)
        .map_err(|e| LiveError::Input(format!("flow \"{}\": {e}", f.name)))
}
