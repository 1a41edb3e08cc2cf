//! Packets without a connection: a SYN for a listener, and all others.
//!
//! Source: RFC 9293 §3.10.7.1 (CLOSED) and §3.10.7.2 (LISTEN).

use super::table::Pair;
use super::{Arrival, Host, Watch, MAX_REPLIES};
use crate::packet::{Header, Packet};
use crate::reset::reset_header;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::time::Time;

impl Host {
    /// A packet of no connection (RFC 9293 §3.10.7.1 and §3.10.7.2).
    #[cold]
    pub(super) fn on_stranger<W: Watch>(
        &mut self,
        now: Time,
        pair: Pair,
        packet: &Packet<'_>,
        watch: &mut W,
    ) -> Arrival {
        if !self.config.addresses.contains(&pair.local.ip()) {
            self.counters.not_ours += 1;
            return Arrival::Ignored;
        }
        if let Some(at) = self.listeners.for_packet(pair.local) {
            match packet.header.flags & (Segment::SYN | Segment::ACK | Segment::RST) {
                Segment::SYN => return self.on_syn(now, pair, packet, at, watch),
                Segment::ACK if self.listeners.get(at).is_some_and(|l| now < l.cookies_until) => {
                    return self.on_cookie(now, pair, packet, at, watch);
                }
                // RFC 9293 §3.10.7.2, fourth: neither SYN nor ACK nor RST.
                0 => return Arrival::Ignored,
                _ => {}
            }
        }
        match reset_header(packet) {
            Some(header) if self.resets.take(now) => {
                self.counters.resets_sent += 1;
                self.reply(header)
            }
            Some(_) | None => Arrival::Ignored,
        }
    }

    pub(super) fn reply(&mut self, header: Header) -> Arrival {
        if self.replies.len() >= MAX_REPLIES {
            return Arrival::Ignored;
        }
        self.replies.push_back(header);
        Arrival::Answered
    }
}
