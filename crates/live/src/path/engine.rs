//! The engine at one end of a flow: a connection with its bytes, and the application that writes or reads them.

use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::connection::{Info, Refusal, State};
use ackclock_tcp::event::{Event, Frequent, Observer, Resend};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::sender::Sender;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_wire::{Border, BorderError, Buffers, Dialect, Endpoint, Packet, Secret, Writing};
use std::net::SocketAddr;

/// The size of the send buffer: twice the peer's window, within these bounds. The buffer is filled in one go, which must not
/// delay the packets in the loop.
const SEND_BUFFER: std::ops::RangeInclusive<u64> = 1 << 16..=16 << 20;
/// The pattern's period, as on the kernel's sockets.
const PERIOD: u64 = 251;

/// One end of a flow.
pub(crate) struct Engine {
    pub(crate) flow: u32,
    pub(crate) side: Side,
    endpoint: Option<Endpoint>,
    border: Border,
    stack: Stack,
    window: u64,
    /// When it opens, once known.
    start: Option<Time>,
    /// Bytes that it may have written.
    allowed: u64,
    /// Bytes still to write; `None`: it never stops.
    left: Option<u64>,
    written: u64,
    read: u64,
    pub(crate) damaged: Option<u64>,
}

/// Passes a connection's events on to the run's listener.
struct Tap<'a, W> {
    watch: &'a mut W,
    flow: u32,
    side: Side,
}

impl<W: Watch> Observer for Tap<'_, W> {
    const ENABLED: bool = W::ENABLED;
    const HEARS: Frequent = W::HEARS;
    const HEARS_RTO: bool = W::HEARS_RTO;

    fn event(&mut self, at: Time, e: Event) {
        self.watch.tcp(at, self.flow, self.side, e);
    }

    fn rto(&mut self, at: Time, rto: Nanos) {
        self.watch.rto(at, self.flow, self.side, rto);
    }
}

/// The configuration of an end of a flow.
pub(crate) struct Wanted {
    pub(crate) flow: u32,
    pub(crate) side: Side,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) stack: Stack,
    pub(crate) mss: u32,
    pub(crate) window: u64,
    pub(crate) start: Option<Time>,
    /// Whether [`Engine::go`] sets how much it may write.
    pub(crate) is_driven: bool,
    pub(crate) bytes: Option<u64>,
    pub(crate) seed: u64,
}

impl Engine {
    pub(crate) fn new(wanted: Wanted) -> Result<Engine, BorderError> {
        let Wanted { flow, side, local, remote, mut stack, mss, window, start, is_driven, bytes, seed } = wanted;
        // The emulator's packets are single segments.
        stack.limits.max_train = 1;
        let mut key = [0; 16];
        key[..8].copy_from_slice(&seed.to_ne_bytes());
        let initial = Secret::new(key).choose(local, remote, Time::ZERO);
        let border = Border::new(local, remote, mss + 40, initial, Dialect::Linux)?;
        let left = match side {
            Side::Sender => bytes,
            Side::Receiver => Some(0),
        };
        let (endpoint, written, read) = (None, 0, 0);
        let (allowed, damaged) = (if is_driven { 0 } else { u64::MAX }, None);
        Ok(Engine { flow, side, endpoint, border, stack, window, start, allowed, left, written, read, damaged })
    }

    /// It opens at `start`, and writes up to `allowed` bytes in all.
    pub(crate) fn go(&mut self, start: Time, allowed: u64) {
        (self.start, self.allowed) = (Some(start), allowed);
    }

    /// The time of its next wake-up.
    pub(crate) fn next_timer(&self) -> Option<Time> {
        match &self.endpoint {
            None if self.side == Side::Sender => self.start,
            None => None,
            Some(e) => e.next_timer(),
        }
    }

    /// Its connection's `tcp_info`, once there is a connection.
    pub(crate) fn info(&self) -> Option<Info> {
        self.endpoint.as_ref().map(|e| e.connection().info())
    }

    /// A packet has arrived, which the path saw as `seg`. Returns the parts that were thrown away, and why.
    pub(crate) fn on_packet<W: Watch>(
        &mut self,
        now: Time,
        packet: &Packet<'_>,
        seg: &Segment,
        watch: &mut W,
    ) -> Option<(Refusal, Vec<(Offset, Offset)>)> {
        let (flow, side) = (self.flow, self.side);
        let endpoint = self.opened();
        let outcome = endpoint.on_packet(now, packet, &mut Tap { watch, flow, side });
        let refused = (outcome.refused.is_some() || outcome.bytes != seg.len).then(|| {
            let missing = endpoint.connection().receiver().map(|rx| rx.missing(seg.seq, seg.end()));
            (outcome.refused.unwrap_or(Refusal::Window), missing.unwrap_or_default())
        });
        self.read();
        // An old duplicate is outside the window as well.
        refused.filter(|(why, missing)| !missing.is_empty() || *why != Refusal::Window)
    }

    fn opened(&mut self) -> &mut Endpoint {
        let send = (2 * self.window).clamp(*SEND_BUFFER.start(), *SEND_BUFFER.end());
        let buffers = Buffers { send, receive: self.window };
        self.endpoint.get_or_insert_with(|| match self.side {
            Side::Sender => Endpoint::connect(&self.stack, self.border.clone(), buffers),
            Side::Receiver => Endpoint::listen(&self.stack, self.border.clone(), buffers),
        })
    }

    /// Does the work that is due, and writes the application's data.
    pub(crate) fn work<W: Watch>(&mut self, now: Time, watch: &mut W) {
        if self.side == Side::Sender && self.endpoint.is_none() && self.start.is_some_and(|start| now >= start) {
            self.opened();
        }
        let (flow, side) = (self.flow, self.side);
        if let Some(e) = &mut self.endpoint
            && e.next_timer().is_some_and(|t| t <= now)
        {
            e.on_timer(now, &mut Tap { watch, flow, side });
        }
        self.write();
    }

    /// Writes the next packet into `buf`; returns its length, and the rule by which a retransmission is sent.
    pub(crate) fn poll<W: Watch>(
        &mut self,
        now: Time,
        buf: &mut [u8],
        watch: &mut W,
    ) -> Option<(usize, Option<Resend>)> {
        let (flow, side) = (self.flow, self.side);
        let e = self.endpoint.as_mut()?;
        let written = e.poll_transmit(now, Writing::Whole, buf, &mut Tap { watch, flow, side }).ok()??;
        Some((written.len, e.connection().sender().map(Sender::resend)))
    }

    fn write(&mut self) {
        let Some(e) = &mut self.endpoint else { return };
        let mut chunk = [0; 4096];
        while e.room() > 0 && self.left != Some(0) && self.allowed > self.written {
            let len = chunk
                .len()
                .min(e.room())
                .min(usize::try_from(self.allowed - self.written).unwrap_or(usize::MAX))
                .min(self.left.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)));
            let from = self.written;
            chunk[..len].iter_mut().zip(from..).for_each(|(b, at)| *b = (at % PERIOD) as u8);
            let taken = e.write(&chunk[..len]) as u64;
            self.written += taken;
            if let Some(left) = &mut self.left {
                *left -= taken;
            }
            if taken == 0 {
                break;
            }
        }
        // Before the end of the handshake, a close would end the connection.
        if self.side == Side::Sender && self.left == Some(0) && e.state() != State::SynSent {
            e.close();
        }
    }

    fn read(&mut self) {
        let Some(e) = &mut self.endpoint else { return };
        let mut buf = [0; 4096];
        loop {
            let n = e.read(&mut buf);
            if n == 0 {
                break;
            }
            let damaged = buf[..n].iter().zip(self.read..).find(|(b, at)| **b != (at % PERIOD) as u8);
            self.damaged = self.damaged.or(damaged.map(|(_, at)| at));
            self.read += n as u64;
        }
        if self.side == Side::Receiver && e.is_at_end() {
            e.close();
        }
    }
}
