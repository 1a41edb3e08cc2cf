//! What an application asks of its connection, and what the network says about the path.

use super::Endpoint;
use crate::icmp::{Heard, Icmp, News, Unreachable};
use ackclock_tcp::connection::{Info, KeepAlive, TooBig};
use ackclock_tcp::seq::{Offset, SeqNum};
use ackclock_tcp::time::{Nanos, Time};

/// How long a smaller path MTU is believed (RFC 8201 §4 and RFC 1191 §6.3: ten minutes; Linux's `ip_rt_mtu_expires`).
const PATH_MTU_AGE: Nanos = Nanos::from_secs(600);
/// What the timestamps take of each segment (RFC 7323 §3.2, with two bytes of padding).
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

    /// As [`ackclock_tcp::connection::Connection::orphan`]: the application has gone, nobody writes or reads any more.
    pub fn orphan(&mut self, now: Time) {
        self.closed = true;
        self.connection.orphan(now);
    }

    /// As [`ackclock_tcp::connection::Connection::find_black_holes`].
    pub fn find_black_holes(&mut self, find: bool) {
        self.connection.find_black_holes(find);
    }

    /// Whether small segments leave at once, whatever is outstanding (`TCP_NODELAY`). Default: no; RFC 9293 §3.7.4 asks for Nagle's algorithm,
    /// and that it can be turned off.
    pub fn set_nodelay(&mut self, on: bool) {
        self.connection.set_nagle(!on);
    }

    /// As [`ackclock_tcp::connection::Connection::set_cork`].
    pub fn set_cork(&mut self, on: bool) {
        self.connection.set_cork(on);
    }

    /// A router says that a packet of this connection was too big for the next hop, which takes `mtu` bytes (ICMP "fragmentation needed",
    /// RFC 1191 §4; ICMPv6 "packet too big", RFC 8201 §4); `seq` is the sequence number in the packet that the message quotes. An `mtu`
    /// of 0, as of routers before RFC 1191, counts as the smallest that is believed: 552 bytes (IPv4) or 1280 (IPv6).
    ///
    /// After ten minutes it is forgotten, and full segments are as large as the handshake agreed until the next message (decision 0116).
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

    /// The path may have changed: the next full segment finds out.
    #[cold]
    pub(super) fn forget_path_mtu(&mut self) {
        self.path_mtu_until = None;
        self.border.forget_path_mtu();
        self.connection.set_mss(u32::MAX);
    }

    /// The network has said something about a packet of this connection. A connection that is not yet open is given up if nobody
    /// can be reached; an open one goes on, whatever is said (RFC 5927 §5.2).
    pub fn on_icmp(&mut self, now: Time, icmp: &Icmp) -> Heard {
        let Some(seq) = self.border.sent(icmp.seq) else { return Heard::Ignored };
        // RFC 5927 §4.1: anybody can write a message; the number must be under way.
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

    /// Why a packet could not be delivered, as the network said last. The peer may have been heard since.
    pub fn unreachable(&self) -> Option<Unreachable> {
        self.unreachable
    }

    /// What the connection knows about itself.
    pub fn info(&self) -> Info {
        self.connection.info()
    }
}
