//! The kinds of content that are not analysed.

/// Content other than TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// UDP that is not classified further.
    Udp,
    /// QUIC: UDP with a long header of a known version, or at port 443.
    Quic,
    /// IPsec's ESP, also over UDP.
    Esp,
    /// WireGuard, at its usual port.
    WireGuard,
    /// ICMP and ICMPv6.
    Icmp,
    /// SCTP.
    Sctp,
    /// ARP.
    Arp,
    /// Fragments of IP packets.
    Fragment,
    /// IP with another protocol.
    Ip,
    /// Frames without IP.
    NotIp,
    /// Frames of a link type that is not read.
    Link,
    /// Encrypted frames of IEEE 802.11.
    Encrypted,
    /// Frames that were truncated before the end of their headers.
    Cut,
    /// Inconsistent headers.
    Broken,
}

impl Kind {
    /// All kinds, in the order of a report.
    pub const ALL: [Kind; 14] = [
        Kind::Udp,
        Kind::Quic,
        Kind::Esp,
        Kind::WireGuard,
        Kind::Icmp,
        Kind::Sctp,
        Kind::Arp,
        Kind::Fragment,
        Kind::Ip,
        Kind::NotIp,
        Kind::Link,
        Kind::Encrypted,
        Kind::Cut,
        Kind::Broken,
    ];

    /// Its name in a table and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Udp => "udp",
            Kind::Quic => "quic",
            Kind::Esp => "ipsec",
            Kind::WireGuard => "wireguard",
            Kind::Icmp => "icmp",
            Kind::Sctp => "sctp",
            Kind::Arp => "arp",
            Kind::Fragment => "fragment",
            Kind::Ip => "other_ip",
            Kind::NotIp => "not_ip",
            Kind::Link => "unknown_link",
            Kind::Encrypted => "encrypted_wifi",
            Kind::Cut => "headers_cut",
            Kind::Broken => "broken",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Udp => "UDP",
            Kind::Quic => "QUIC",
            Kind::Esp => "IPsec",
            Kind::WireGuard => "WireGuard",
            Kind::Icmp => "ICMP",
            Kind::Sctp => "SCTP",
            Kind::Arp => "ARP",
            Kind::Fragment => "fragments of IP packets",
            Kind::Ip => "other IP",
            Kind::NotIp => "frames without IP",
            Kind::Link => "frames of a link type that is not read",
            Kind::Encrypted => "encrypted 802.11",
            Kind::Cut => "frames cut within their headers",
            Kind::Broken => "frames with broken headers",
        }
    }
}
