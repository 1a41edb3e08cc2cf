//! What a host is told, what it refuses, and what it counts.

use crate::border::BorderError;
use crate::dialect::Dialect;
use crate::initial::Initial;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

/// What a host is told when it is made.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its addresses. Packets for others are ignored.
    pub addresses: Vec<IpAddr>,
    /// The device's MTU, bytes: at least 68 for IPv4, 1280 for IPv6.
    pub mtu: u32,
    /// In which order options are written.
    /// Default: [`Dialect::Linux`].
    pub dialect: Dialect,
    /// Local ports for connections that name none.
    /// Default: 1024 to 65535 (RFC 6056 §3.2).
    pub ports: RangeInclusive<u16>,
    /// Most connections at a time.
    /// Default: 65,536.
    pub max_connections: usize,
    /// Most connections at a time that are over and wait in TIME-WAIT. One more sends the oldest away.
    /// Default: 65,536.
    pub max_time_wait: usize,
    /// Most RSTs a second that answer segments of no connection, and most ACKs of connections in TIME-WAIT.
    /// Default: 200, as in FreeBSD (`net.inet.icmp.icmplim`).
    pub replies_per_second: u32,
    /// The numbers that every connection begins with, for measurements that are to wrap.
    /// Default: `None`, numbers that nobody can guess (RFC 6528).
    pub initial: Option<Initial>,
}

/// What happened to packets of no connection. Most names are those of Linux's `TcpExt` counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets for addresses that are not the host's.
    pub not_ours: u64,
    /// RSTs that answered segments for no connection.
    pub resets_sent: u64,
    /// Connections that began to wait in TIME-WAIT.
    pub time_waited: u64,
    /// Waits that a new connection between the same ends cut short (RFC 6191).
    pub time_wait_recycled: u64,
    /// Waits that were cut short because there were too many.
    pub time_wait_overflows: u64,
    /// SYNs that were dropped because too many connections wait to be accepted.
    pub listen_overflows: u64,
    /// SYNs that were dropped, for this or another reason.
    pub listen_drops: u64,
    /// SYNs that were answered with a cookie.
    pub syncookies_sent: u64,
    /// Cookies that came back: connections.
    pub syncookies_recv: u64,
    /// ACKs that should have brought a cookie and brought none.
    pub syncookies_failed: u64,
}

/// Why nobody can listen there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenError {
    /// The address is not one of [`HostConfig::addresses`].
    NotOurs(IpAddr),
    /// Somebody listens there already.
    InUse(SocketAddr),
}

/// Why there can be no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The local address is not one of [`HostConfig::addresses`].
    NotOurs(IpAddr),
    /// There is a connection between these two ends.
    InUse,
    /// Every local port has a connection to there.
    NoFreePort,
    /// There are [`HostConfig::max_connections`].
    TooMany,
    /// Addresses of two families, or too small an MTU.
    Border(BorderError),
}

impl HostConfig {
    /// For a host with these addresses behind a device with this MTU; the rest as the fields say.
    pub fn new(addresses: impl Into<Vec<IpAddr>>, mtu: u32) -> Self {
        HostConfig {
            addresses: addresses.into(),
            mtu,
            dialect: Dialect::Linux,
            ports: 1024..=65535,
            max_connections: 65_536,
            max_time_wait: 65_536,
            replies_per_second: 200,
            initial: None,
        }
    }
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenError::NotOurs(address) => write!(f, "{address} is not an address of this host"),
            ListenError::InUse(local) => write!(f, "somebody listens at {local} already"),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::NotOurs(address) => write!(f, "{address} is not an address of this host"),
            ConnectError::InUse => write!(f, "there is a connection between these two ends already"),
            ConnectError::NoFreePort => write!(f, "every local port has a connection to there"),
            ConnectError::TooMany => write!(f, "there are as many connections as this host may have"),
            ConnectError::Border(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for ListenError {}
impl std::error::Error for ConnectError {}
