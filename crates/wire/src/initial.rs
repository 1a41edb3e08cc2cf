//! The initial numbers of a connection.
//!
//! Source: RFC 6528 §3 (initial sequence numbers: a keyed hash of the four-tuple, and a clock), RFC 7323 §7.1 (a random offset
//! of the timestamps for each connection), RFC 6437 §3 (flow labels).
//! Idea: SipHash-2-4 (Aumasson & Bernstein 2012) with a secret key. The numbers of one connection reveal nothing about those of
//! another. Yet sequence numbers and timestamps of one four-tuple keep increasing, so that a new connection's are newer than
//! those of the last one (RFC 6191).

use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::time::Time;
use siphasher::sip::SipHasher24;
use std::net::{IpAddr, SocketAddr};

/// A key for [`Secret::choose`]: 16 random bytes, chosen by the caller once at every start.
#[derive(Clone)]
pub struct Secret([u8; 16]);

/// The initial numbers of a connection's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initial {
    /// Sequence number of the SYN.
    pub isn: SeqNum,
    /// Added to every timestamp.
    pub timestamp_offset: u32,
    /// IPv4: the first packet's identification. IPv6: the flow label.
    pub label: u32,
}

impl Secret {
    /// Keep `key` secret: with it, every connection's numbers can be guessed.
    pub fn new(key: [u8; 16]) -> Self {
        Secret(key)
    }

    /// The numbers of a connection that opens at `now`. After a restart, either time must continue or the key must be new.
    pub fn choose(&self, local: SocketAddr, remote: SocketAddr, now: Time) -> Initial {
        // Both ends, and the purpose of the hash.
        let mut tuple = [0; 38];
        tuple[..37].copy_from_slice(&four_tuple(local, remote));
        // RFC 6528 §3: a clock that ticks every 4 µs.
        let ticks = (now.0 / 4_000) as u32;
        let isn = self.hash(&tuple) as u32;
        tuple[37] = 1;
        let other = self.hash(&tuple);
        Initial {
            isn: SeqNum(isn.wrapping_add(ticks)),
            timestamp_offset: other as u32,
            label: (other >> 32) as u32 & 0xf_ffff,
        }
    }

    /// A hash that cannot be predicted without the key.
    pub(crate) fn hash(&self, bytes: &[u8]) -> u64 {
        use std::hash::Hasher;
        let mut hasher = self.hasher();
        hasher.write(bytes);
        hasher.finish()
    }

    pub(crate) fn hasher(&self) -> SipHasher24 {
        let half = |at: usize| (0..8).rev().fold(0, |key, i| key << 8 | u64::from(self.0[at + i]));
        SipHasher24::new_with_keys(half(0), half(8))
    }
}

/// The family and both ends of a connection, in bytes.
pub(crate) fn four_tuple(local: SocketAddr, remote: SocketAddr) -> [u8; 37] {
    let mut tuple = [0; 37];
    tuple[0] = if local.is_ipv4() { 4 } else { 6 };
    for (at, end) in [(1, local), (19, remote)] {
        match end.ip() {
            IpAddr::V4(ip) => tuple[at..at + 4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => tuple[at..at + 16].copy_from_slice(&ip.octets()),
        }
        tuple[at + 16..at + 18].copy_from_slice(&end.port().to_be_bytes());
    }
    tuple
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_hash_is_the_one_of_the_papers_appendix_a() {
        let secret = Secret::new(std::array::from_fn(|i| i as u8));
        let message: [u8; 15] = std::array::from_fn(|i| i as u8);
        assert_eq!(secret.hash(&message), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn numbers_of_one_four_tuple_follow_the_clock_and_all_others_are_apart() {
        let secret = Secret::new([7; 16]);
        let (a, b) = (address("10.0.0.1:80"), address("10.0.0.2:5000"));
        let at = |local, remote, now| secret.choose(local, remote, Time(now));
        let first = at(a, b, 0);
        assert_eq!(at(a, b, 4_000_000).isn.0.wrapping_sub(first.isn.0), 1_000);
        assert_eq!(at(a, b, 4_000_000).timestamp_offset, first.timestamp_offset);
        for other in [at(b, a, 0), at(a, address("10.0.0.2:5001"), 0), at(a, address("10.0.0.3:5000"), 0)] {
            assert_ne!(other.isn, first.isn);
            assert_ne!(other.timestamp_offset, first.timestamp_offset);
        }
        assert_ne!(Secret::new([8; 16]).choose(a, b, Time(0)).isn, first.isn);
    }

    #[test]
    fn an_ipv4_address_and_the_ipv6_address_with_its_bytes_are_two() {
        let secret = Secret::new([7; 16]);
        let v4 = secret.choose(address("1.2.3.4:1"), address("5.6.7.8:2"), Time(0));
        let v6 = secret.choose(address("[102:304::]:1"), address("[506:708::]:2"), Time(0));
        assert_ne!(v4.isn, v6.isn);
    }
}
