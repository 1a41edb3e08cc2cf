//! Two hosts that exchange frames in memory, with numbers that wrap again and again.

use ackclock_live::bench::Direction;
use ackclock_live::clock::{thread_time, Clock};
use ackclock_live::payload::Pattern;
use ackclock_live::LiveError;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::offload::{self, VnetHeader, LEN};
use ackclock_wire::{Buffers, Host, HostConfig, Id, Initial, Secret, Writing};
use serde_json::{json, Value};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use xxhash_rust::xxh3::Xxh3;

const ISN: u32 = 0xffff_0000;
const BUFFERS: Buffers = Buffers { send: 1 << 20, receive: 1 << 20 };

fn address(last: u8) -> IpAddr {
    Ipv4Addr::new(10, 77, 0, last).into()
}

fn host(last: u8) -> Host {
    let mut config = HostConfig::new([address(last)], 1500);
    config.initial = Some(Initial { isn: SeqNum(ISN), timestamp_offset: 7, label: 1 });
    Host::new(config, Secret::new([last; 16]))
}

/// Carries the frames of `from` to `to`; returns whether there were any.
fn carry(now: Time, from: &mut Host, to: &mut Host, frame: &mut [u8]) -> Result<bool, LiveError> {
    let failed = |e: &dyn std::fmt::Display| LiveError::Failed(format!("on the virtual wire: {e}"));
    let mut any = false;
    while let Some(written) =
        from.poll_transmit(now, Writing::Offload, &mut frame[LEN..], &mut ()).map_err(|e| failed(&e))?
    {
        frame[..LEN].copy_from_slice(&VnetHeader::of(&written).to_bytes());
        let packet = offload::parse(&frame[..LEN + written.len]).map_err(|e| failed(&e))?;
        to.on_packet(now, &packet, &mut ());
        any = true;
    }
    Ok(any)
}

/// A host and its connection, once there is one.
type End<'a> = (&'a mut Host, Option<Id>);

/// Sends from the connecting or from the listening host.
pub(crate) fn measured(direction: Direction, bytes: u64) -> Result<Value, LiveError> {
    let mut stack = Stack::named("linux-2025").ok_or_else(|| LiveError::Failed("no stack linux-2025".into()))?;
    stack.limits.max_train = 44;
    let failed = |e: String| LiveError::Failed(e);
    let (mut a, mut b, at) = (host(1), host(2), SocketAddr::new(address(2), 5001));
    b.listen(at, &stack, BUFFERS, 1).map_err(|e| failed(e.to_string()))?;
    let mut now = Clock::START;
    let id = a.connect(now, SocketAddr::new(address(1), 0), at, &stack, BUFFERS).map_err(|e| failed(e.to_string()))?;
    let (mut pattern, mut hash, mut got, mut other) = (Pattern::new(bytes), Xxh3::new(), 0, None);
    let (clock, mut frame) = (Clock::start(), vec![0; 70_000]);
    let (began, used) = (clock.now(), thread_time());
    while got < bytes {
        now += Nanos::from_micros(20);
        for host in [&mut a, &mut b] {
            if host.next_timer().is_some_and(|due| due <= now) {
                host.on_timer(now, &mut ());
            }
        }
        other = other.or_else(|| b.accept(at));
        let (sender, receiver): (End<'_>, End<'_>) = match direction {
            Direction::Send => ((&mut a, Some(id)), (&mut b, other)),
            Direction::Receive => ((&mut b, other), (&mut a, Some(id))),
        };
        if let Some(end) = sender.1.and_then(|id| sender.0.endpoint_mut(id)) {
            while end.room() >= 1 << 16 && pattern.left() > 0 {
                let taken = end.write(pattern.next(1 << 16));
                pattern.advance(taken);
            }
        }
        if let Some(end) = receiver.1.and_then(|id| receiver.0.endpoint_mut(id)) {
            let (x, y) = end.readable();
            hash.update(x);
            hash.update(y);
            let n = x.len() + y.len();
            end.consume(n);
            got += n as u64;
        }
        carry(now, &mut a, &mut b, &mut frame)?;
        carry(now, &mut b, &mut a, &mut frame)?;
    }
    let time = clock.now().since(began).as_secs_f64();
    Ok(json!({
        "direction": match direction { Direction::Send => "send", Direction::Receive => "receive" },
        "offload": true, "family": "IPv4", "stack": stack.name, "bytes": got, "seconds": time,
        "gbps": got as f64 * 8e-9 / time, "hashes_equal": hash.digest() == pattern.hash() && got == bytes,
        "wraps": (u64::from(ISN) + 1 + bytes) >> 32, "engine_processor": (thread_time() - used).as_secs_f64() / time,
        "kernel_processor": 0.0, "priority": "no device",
    }))
}
