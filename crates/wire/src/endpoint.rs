//! One end of a connection with its bytes: packets in, packets out.
//!
//! The four calls are those of [`Connection`], with packets instead of segments. The caller owns the clock and the device, and
//! chooses the endpoint that a packet belongs to.

mod settings;

use crate::border::Border;
use crate::icmp::Unreachable;
use crate::packet::{Header, Packet};
use crate::stores::{ReceiveStore, SendStore};
use crate::write::{WriteError, Writing, Written};
use ackclock_tcp::connection::{Connection, Outcome, State};
use ackclock_tcp::event::Observer;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_tcp::units::Bytes;

/// The sizes of an endpoint's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// Bytes that are written but not acknowledged.
    pub send: Bytes,
    /// Bytes that have arrived but are not read: the largest window.
    pub receive: Bytes,
}

/// A connection, its border and its payload.
pub struct Endpoint {
    connection: Connection,
    border: Border,
    send: SendStore,
    receive: ReceiveStore,
    /// Whether nothing more will be written.
    closed: bool,
    unreachable: Option<Unreachable>,
    /// The time when the path's smaller MTU expires.
    path_mtu_until: Option<Time>,
}

impl Endpoint {
    /// An active open: the first [`Endpoint::poll_transmit`] writes a SYN.
    pub fn connect(stack: &Stack, border: Border, buffers: Buffers) -> Self {
        Endpoint::around(Connection::connect(stack, border.mss(), buffers.receive), border, buffers)
    }

    /// A passive open: pass the SYN to it with [`Endpoint::on_packet`].
    pub fn listen(stack: &Stack, border: Border, buffers: Buffers) -> Self {
        Endpoint::around(Connection::listen(stack, border.mss(), buffers.receive), border, buffers)
    }

    fn around(mut connection: Connection, border: Border, buffers: Buffers) -> Self {
        connection.set_nagle(true);
        let receive = ReceiveStore::new(&mut connection, buffers.receive);
        Endpoint {
            connection,
            border,
            send: SendStore::new(buffers.send),
            receive,
            closed: false,
            unreachable: None,
            path_mtu_until: None,
        }
    }

    /// A packet of this connection has arrived.
    pub fn on_packet<O: Observer>(&mut self, now: Time, packet: &Packet<'_>, obs: &mut O) -> Outcome {
        let seg = self.border.read(packet);
        self.receive.on_segment(&mut self.connection, now, &seg, packet.payload, obs)
    }

    /// The time advances to `now`.
    pub fn on_timer<O: Observer>(&mut self, now: Time, obs: &mut O) {
        self.connection.on_timer(now, obs);
        if self.path_mtu_until.is_some_and(|t| t <= now) {
            self.forget_path_mtu();
        }
    }

    /// The latest time for the caller's next call; as with [`Connection::next_timer`], this may be immediately.
    pub fn next_timer(&self) -> Option<Time> {
        self.connection.next_timer().into_iter().chain(self.path_mtu_until).min()
    }

    /// Writes the next packet into the front of `buf`; returns `None` if there is nothing to send now.
    ///
    /// # Errors
    /// Those of [`Header::write`](crate::packet::Header::write). The packet then counts as sent and lost.
    pub fn poll_transmit<O: Observer>(
        &mut self,
        now: Time,
        writing: Writing,
        buf: &mut [u8],
        obs: &mut O,
    ) -> Result<Option<Written>, WriteError> {
        let mut seg = Segment::EMPTY;
        if !self.connection.poll_transmit(now, &mut seg, obs) {
            return Ok(None);
        }
        let send = &self.send;
        let fill = |payload: &mut [u8]| {
            if !payload.is_empty() {
                send.copy(seg.seq, payload);
            }
        };
        self.border.write(&seg, writing, buf, fill).map(Some)
    }

    /// The headers of the next packet, without its payload.
    pub(crate) fn poll_header(&mut self, now: Time) -> Option<Header> {
        let mut seg = Segment::EMPTY;
        self.connection.poll_transmit(now, &mut seg, &mut ()).then(|| self.border.compose(&seg))
    }

    /// The headers of an ACK with this connection's current numbers, at time 0.
    pub(crate) fn last_ack(&self) -> Header {
        let mut seg = Segment { flags: Segment::ACK, ..Segment::EMPTY };
        if let Some(tx) = self.connection.sender() {
            seg.seq = tx.positions().2;
        }
        if let Some(rx) = self.connection.receiver() {
            (seg.ack, seg.wnd) = (rx.rcv_nxt(), (rx.right_edge() - rx.rcv_nxt()) as u32);
            if let Some(recent) = rx.ts_recent() {
                (seg.tsecr, seg.opts) = (recent, Segment::TIMESTAMPS);
            }
        }
        self.border.header(&seg)
    }

    /// The number of bytes that [`Endpoint::write`] would take.
    pub fn room(&self) -> usize {
        if self.closed {
            return 0;
        }
        self.send.room(&self.connection)
    }

    /// Takes bytes for transmission; returns their number. After [`Endpoint::close`] it takes none.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        if self.closed {
            return 0;
        }
        self.send.write(&mut self.connection, bytes, false)
    }

    /// As [`Endpoint::write`], with another write to follow at once: until then, the tail of these bytes waits for a full segment
    /// (Linux's `MSG_MORE`).
    pub fn write_more(&mut self, bytes: &[u8]) -> usize {
        if self.closed {
            return 0;
        }
        self.send.write(&mut self.connection, bytes, true)
    }

    /// The number of bytes that are written but not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.send.kept(&self.connection)
    }

    /// The data that has arrived but is not read, in two pieces; [`Endpoint::consume`] removes the data that was read.
    pub fn readable(&self) -> (&[u8], &[u8]) {
        self.receive.readable()
    }

    /// The first `bytes` of [`Endpoint::readable`] have been read.
    pub fn consume(&mut self, bytes: usize) {
        self.receive.consume(&mut self.connection, bytes);
    }

    /// Reads into `out`; returns the number of bytes.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        self.receive.read(&mut self.connection, out)
    }

    /// Whether the peer has closed and all data before that has been read.
    pub fn is_at_end(&self) -> bool {
        self.receive.readable().0.is_empty() && self.connection.receiver().is_some_and(|r| r.fin_received())
    }

    /// Nothing more will be written: a FIN follows the data. In SYN-SENT and LISTEN this ends the connection and discards the
    /// data (RFC 9293 §3.10.4): call it only once [`Endpoint::state`] is past these states.
    pub fn close(&mut self) {
        self.closed = true;
        self.connection.close();
    }

    /// Aborts the connection: a RST is sent and all data is discarded.
    pub fn abort(&mut self) {
        self.connection.abort();
    }

    /// The connection's state.
    pub fn state(&self) -> State {
        self.connection.state()
    }

    /// The engine's connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Its border.
    pub fn border(&self) -> &Border {
        &self.border
    }
}
