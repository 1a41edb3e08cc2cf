//! A listener with more SYNs than room: it answers, and stores nothing.
//!
//! Source: RFC 4987 §3.6 (SYN cookies). Decision 0125 explains why they are not always used, and why nothing else is.
//!
//! This is not a second implementation of the handshake. The SYN is reconstructed from its cookie, and a listening endpoint
//! processes it as if it had arrived: once to write the answer, and once more when the answer is acknowledged.

use super::table::Pair;
use super::{cookie, Arrival, Host, Owner, Watch};
use crate::endpoint::Endpoint;
use crate::initial::Initial;
use crate::options::{Options, Timestamps};
use crate::packet::{Header, Packet};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::time::Time;
use std::net::SocketAddr;

impl Host {
    /// Replies to a SYN for the listener `at` with a cookie.
    pub(super) fn send_cookie(&mut self, now: Time, pair: Pair, packet: &Packet<'_>, at: SocketAddr) -> Arrival {
        let header = &packet.header;
        let isn = cookie::make(&self.secret, pair, header.seq, &header.options, now);
        let Some(options) = cookie::check(&self.secret, pair, header.seq, isn, now) else { return Arrival::Ignored };
        let syn = Header { options: Options { timestamps: header.options.timestamps, ..options }, ..*header };
        let Some(mut endpoint) = self.endpoint_of(pair, at, isn, now) else { return Arrival::Ignored };
        let Some(answer) = replay(&mut endpoint, &syn, now) else { return Arrival::Ignored };
        if let Some(listener) = self.listeners.get_mut(at) {
            listener.cookies_until = now + cookie::LIFETIME;
        }
        self.counters.syncookies_sent += 1;
        self.reply(answer)
    }

    /// A segment with an ACK for the listener `at`, which has sent cookies: if it returns a valid one, a connection is
    /// created. If not, it is dropped without a reset, since it may be data that has overtaken the ACK with the cookie.
    pub(super) fn on_cookie<W: Watch>(
        &mut self,
        now: Time,
        pair: Pair,
        packet: &Packet<'_>,
        at: SocketAddr,
        watch: &mut W,
    ) -> Arrival {
        let header = &packet.header;
        let before = |n: SeqNum| SeqNum(n.0.wrapping_sub(1));
        let (peer_isn, isn) = (before(header.seq), before(header.ack));
        let Some(options) = cookie::check(&self.secret, pair, peer_isn, isn, now) else {
            self.counters.syncookies_failed += 1;
            return Arrival::Ignored;
        };
        if self.is_full(at) {
            return Arrival::Ignored;
        }
        let Some(mut endpoint) = self.endpoint_of(pair, at, isn, now) else { return Arrival::Ignored };
        let timestamps = header.options.timestamps.map(|t| Timestamps { echo: 0, ..t });
        let syn = Header {
            seq: peer_isn,
            ack: SeqNum(0),
            flags: Segment::SYN,
            options: Options { timestamps, ..options },
            ..*header
        };
        match header.options.timestamps.and_then(|t| self.sent_at(pair, t.echo, now)) {
            Some(sent_at) => _ = replay(&mut endpoint, &syn, sent_at),
            // The transmission time of the answer is unknown. As after a lost SYN, there is no round-trip sample.
            None => (0..2).for_each(|_| _ = replay(&mut endpoint, &syn, now)),
        }
        self.counters.syncookies_recv += 1;
        if let Some(listener) = self.listeners.get_mut(at) {
            listener.half_open += 1;
        }
        let id = self.add(endpoint, pair, Owner::HalfOpen(at));
        let arrival = self.hand_over(now, id, packet, watch);
        // A valid cookie leads to a connection now, or to none.
        if self.slots.get(id).is_some_and(|slot| slot.owner == Owner::HalfOpen(at)) {
            self.forget(id);
            return Arrival::Ignored;
        }
        arrival
    }

    /// The transmission time of an echoed timestamp, to the millisecond; `None` if no cookie is that old.
    fn sent_at(&self, pair: Pair, echo: u32, now: Time) -> Option<Time> {
        let offset = self.initial(pair, now).timestamp_offset;
        let age = ((now.0 / 1_000_000) as u32).wrapping_sub(echo.wrapping_sub(offset));
        let age = u64::from(age) * 1_000_000;
        (age <= cookie::LIFETIME.0).then(|| Time(now.0.saturating_sub(age)))
    }

    fn endpoint_of(&self, pair: Pair, at: SocketAddr, isn: SeqNum, now: Time) -> Option<Endpoint> {
        let listener = self.listeners.get(at)?;
        let initial = Initial { isn, ..self.initial(pair, now) };
        let border = self.border(pair, initial).ok()?;
        Some(Endpoint::listen(&listener.stack, border, listener.buffers))
    }
}

/// The answer of a listening endpoint to this SYN.
fn replay(endpoint: &mut Endpoint, syn: &Header, now: Time) -> Option<Header> {
    // A cookie does not store ECN (RFC 3168).
    let header = Header { flags: Segment::SYN, ..*syn };
    endpoint.on_packet(now, &Packet { header, option_bytes: &[], payload: &[], train: 1 }, &mut ());
    endpoint.poll_header(now)
}
