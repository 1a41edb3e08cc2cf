//! The application's settings of its connection, and the network's messages about the path.

use super::Endpoint;
use crate::icmp::{Heard, Icmp, News, Unreachable};
use ackclock_tcp::connection::{Info, Insecure, KeepAlive, SynRules, TooBig};
use ackclock_tcp::seq::{Offset, SeqNum};
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Bytes;

/// The lifetime of a smaller path MTU (RFC 8201 §4 and RFC 1191 §6.3: ten minutes; Linux's `ip_rt_mtu_expires`).
const PATH_MTU_AGE: Nanos = Nanos::from_secs(600);
/// The bytes of timestamps in each segment (RFC 7323 §3.2, with two bytes of padding).
const TIMESTAMPS: u32 = 12;

impl Endpoint {
    /// As [`ackclock_tcp::connection::Connection::set_user_timeout`].
    pub fn set_user_timeout(&mut self, limit: Option<Nanos>) {
        self.connection.set_user_timeout(limit);
    }

    /// As [`ackclock_tcp::connection::Connection::set_keep_alive`].
    pub fn set_keep_alive(&mut self, now: Time, keep_alive: Option<KeepAlive>) {
        self.connection.set_keep_alive(now, keep_alive);
    }

    /// As [`ackclock_tcp::connection::Connection::orphan`]: the application has closed its handle, and nothing more is written or
    /// read.
    pub fn orphan(&mut self, now: Time) {
        self.closed = true;
        self.connection.orphan(now);
    }

    /// As [`ackclock_tcp::connection::Connection::find_black_holes`].
    pub fn find_black_holes(&mut self, find: bool) {
        self.connection.find_black_holes(find);
    }

    /// Whether small segments are sent immediately, regardless of outstanding data (`TCP_NODELAY`). Default: no. RFC 9293 §3.7.4
    /// asks for Nagle's algorithm, and for a way to disable it.
    pub fn set_nodelay(&mut self, on: bool) {
        self.connection.set_nagle(!on);
    }

    /// As [`ackclock_tcp::connection::Connection::limit_mss`].
    pub fn limit_mss(&mut self, mss: u32) {
        self.connection.limit_mss(mss);
    }

    /// As [`ackclock_tcp::connection::Connection::set_insecure`].
    pub fn set_insecure(&mut self, insecure: Insecure) {
        self.connection.set_insecure(insecure);
    }

    /// As [`ackclock_tcp::connection::Connection::set_syn_rules`].
    pub fn set_syn_rules(&mut self, rules: SynRules) {
        self.connection.set_syn_rules(rules);
    }

    /// As [`ackclock_tcp::connection::Connection::set_quick_ack`].
    pub fn set_quick_ack(&mut self, quick: bool) {
        self.connection.set_quick_ack(quick);
    }

    /// As [`ackclock_tcp::connection::Connection::clamp_window`].
    pub fn clamp_window(&mut self, most: Bytes) {
        self.connection.clamp_window(most);
    }

    /// As [`ackclock_tcp::connection::Connection::defer_accept`].
    pub fn defer_accept(&mut self, repetitions: u32) {
        self.connection.defer_accept(repetitions);
    }

    /// As [`ackclock_tcp::connection::Connection::set_cork`].
    pub fn set_cork(&mut self, on: bool) {
        self.connection.set_cork(on);
    }

    /// A router reports that a packet of this connection was too big for the next hop, whose MTU is `mtu` bytes (ICMP
    /// "fragmentation needed", RFC 1191 §4; ICMPv6 "packet too big", RFC 8201 §4). `seq` is the sequence number in the packet
    /// that the message quotes. An `mtu` of 0, as sent by routers before RFC 1191, counts as the smallest that is accepted: 552
    /// bytes (IPv4) or 1280 (IPv6).
    ///
    /// The value expires after ten minutes; until the next message, full segments then have the size agreed in the handshake
    /// (decision 0119).
    pub fn on_too_big(&mut self, now: Time, seq: SeqNum, mtu: u32) -> TooBig {
        let believed = self.border.clone();
        let (at, room) = self.border.on_too_big(seq, mtu);
        let options = if self.connection.info().options.timestamps { TIMESTAMPS } else { 0 };
        let taken = self.connection.on_too_big(now, at, room - options);
        match taken {
            TooBig::Taken => self.path_mtu_until = Some(now + PATH_MTU_AGE),
            TooBig::Ignored => self.border = believed,
        }
        taken
    }

    /// The path may have changed: the next full segment tests it.
    #[cold]
    pub(super) fn forget_path_mtu(&mut self) {
        self.path_mtu_until = None;
        self.border.forget_path_mtu();
        self.connection.set_mss(u32::MAX);
    }

    /// An ICMP message about a packet of this connection. A connection that is not yet open is aborted if the peer is
    /// unreachable; an open one continues, regardless of the message (RFC 5927 §5.2).
    pub fn on_icmp(&mut self, now: Time, icmp: &Icmp) -> Heard {
        let Some(seq) = self.border.sent(icmp.seq) else { return Heard::Ignored };
        // RFC 5927 §4.1: anyone can write a message, so its number must be in flight.
        let (una, max) = self.connection.sender().map_or((Offset::SYN, Offset::DATA), |tx| {
            let (una, _, max) = tx.positions();
            (una, max)
        });
        if seq < una || seq >= max {
            return Heard::Ignored;
        }
        match icmp.news {
            News::TooBig { mtu } => match self.on_too_big(now, icmp.seq, mtu) {
                TooBig::Taken => Heard::Believed,
                TooBig::Ignored => Heard::Ignored,
            },
            News::Unreachable(why) => {
                self.unreachable = Some(why);
                if why.is_hard() {
                    self.connection.on_unreachable();
                }
                Heard::Believed
            }
        }
    }

    /// The reason in the network's last message why a packet could not be delivered. The peer may have answered since then.
    pub fn unreachable(&self) -> Option<Unreachable> {
        self.unreachable
    }

    /// The connection's state in the form of `tcp_info`.
    pub fn info(&self) -> Info {
        self.connection.info()
    }
}
