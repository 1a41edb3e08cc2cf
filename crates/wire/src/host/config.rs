//! A host's configuration, its errors, and its counters.

use crate::border::BorderError;
use crate::dialect::Dialect;
use crate::initial::Initial;
use ackclock_tcp::connection::{Insecure, SynRules};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

/// The configuration of a host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its addresses. Packets for others are ignored.
    pub addresses: Vec<IpAddr>,
    /// The device's MTU, bytes: at least 68 for IPv4, 1280 for IPv6.
    pub mtu: u32,
    /// The order in which options are written.
    /// Default: [`Dialect::Linux`].
    pub dialect: Dialect,
    /// Local ports for connections without a given port.
    /// Default: 1024 to 65535 (RFC 6056 §3.2).
    pub ports: RangeInclusive<u16>,
    /// The maximum number of connections.
    /// Default: 65,536.
    pub max_connections: usize,
    /// The maximum number of connections in TIME-WAIT. A further connection removes the oldest. Default: 65,536.
    pub max_time_wait: usize,
    /// The maximum number of RSTs per second in answer to segments without a connection, and of ACKs in
    /// TIME-WAIT.
    /// Default: 200, as in FreeBSD (`net.inet.icmp.icmplim`).
    pub replies_per_second: u32,
    /// The initial numbers of every connection, for measurements in which they must wrap.
    /// Default: `None`, numbers that cannot be guessed (RFC 6528).
    pub initial: Option<Initial>,
    /// The rules of RFC 793 that apply in place of RFC 5961's. Default: none.
    pub insecure: Insecure,
    /// How often SYNs are repeated, and when.
    /// Default: RFC 9293's and RFC 6298's rules.
    pub syn: SynRules,
    /// Whether a RST does not end TIME-WAIT (RFC 1337 §3; Linux's `net.ipv4.tcp_rfc1337`; FreeBSD always).
    /// Default: no.
    pub rfc1337: bool,
}

/// Counters of packets without a connection. Most names are those of Linux's `TcpExt` counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets to addresses that are not the host's.
    pub not_ours: u64,
    /// RSTs sent in answer to segments without a connection.
    pub resets_sent: u64,
    /// Connections that entered TIME-WAIT.
    pub time_waited: u64,
    /// TIME-WAITs ended early by a new connection between the same ends (RFC 6191).
    pub time_wait_recycled: u64,
    /// TIME-WAITs ended early because there were too many.
    pub time_wait_overflows: u64,
    /// SYNs dropped because too many connections wait to be accepted.
    pub listen_overflows: u64,
    /// SYNs dropped, for this or another reason.
    pub listen_drops: u64,
    /// SYNs answered with a cookie.
    pub syncookies_sent: u64,
    /// Valid cookies received, each of which became a connection.
    pub syncookies_recv: u64,
    /// ACKs without a valid cookie where one was expected.
    pub syncookies_failed: u64,
}

/// Why a host cannot listen at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenError {
    /// The address is not one of [`HostConfig::addresses`].
    NotOurs(IpAddr),
    /// A listener already exists there.
    InUse(SocketAddr),
}

/// Why a connection cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The local address is not one of [`HostConfig::addresses`].
    NotOurs(IpAddr),
    /// A connection between these two ends already exists.
    InUse,
    /// Every local port is in use for a connection to that address.
    NoFreePort,
    /// The host already has [`HostConfig::max_connections`].
    TooMany,
    /// Addresses of two families, or too small an MTU.
    Border(BorderError),
}

impl HostConfig {
    /// For a host with these addresses behind a device with this MTU; all other fields have their defaults.
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
            insecure: Insecure::default(),
            syn: SynRules::default(),
            rfc1337: false,
        }
    }
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenError::NotOurs(address) => write!(f, "{address} is not an address of this host"),
            ListenError::InUse(local) => write!(f, "another listener is already at {local}"),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::NotOurs(address) => write!(f, "{address} is not an address of this host"),
            ConnectError::InUse => write!(f, "a connection between these two ends already exists"),
            ConnectError::NoFreePort => write!(f, "every local port already has a connection to that address"),
            ConnectError::TooMany => write!(f, "this host already has its maximum number of connections"),
            ConnectError::Border(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for ListenError {}
impl std::error::Error for ConnectError {}
