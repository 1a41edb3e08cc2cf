//! Local ports for connections without a given port.
//!
//! Source: RFC 6056 §3.3.3 (algorithm 3: a keyed hash of the two addresses and the remote port determines where the search
//! begins).
//! Idea: without the key a connection's port cannot be guessed, and connections to one destination use all ports before one
//! is reused.

use crate::initial::Secret;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

/// Where the search for a port begins.
#[derive(Debug, Default)]
pub(super) struct Ports {
    next: u32,
}

impl Ports {
    /// The first port in `range` that is `free`.
    pub(super) fn choose(
        &mut self,
        secret: &Secret,
        (from, to): (IpAddr, SocketAddr),
        range: &RangeInclusive<u16>,
        free: impl Fn(u16) -> bool,
    ) -> Option<u16> {
        let count = u32::from(*range.end()).checked_sub(u32::from(*range.start()))? + 1;
        let mut what = [0; 38];
        what[..37].copy_from_slice(&crate::initial::four_tuple(SocketAddr::new(from, 0), to));
        what[37] = 2;
        let offset = (secret.hash(&what) % u64::from(count)) as u32;
        for _ in 0..count {
            let port = *range.start() + (offset.wrapping_add(self.next) % count) as u16;
            self.next = (self.next + 1) % count;
            if free(port) {
                return Some(port);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_port_comes_once_before_one_comes_again_and_other_peers_begin_elsewhere() {
        let (secret, mut ports) = (Secret::new([3; 16]), Ports::default());
        let from = "10.0.0.1".parse().unwrap();
        let to = |n: u8| SocketAddr::new([10, 0, 1, n].into(), 80);
        let range = 1000..=1099;
        let all: BTreeSet<_> =
            (0..100).map(|_| ports.choose(&secret, (from, to(1)), &range, |_| true).unwrap()).collect();
        assert_eq!(all, range.clone().collect());
        let first = |n| Ports::default().choose(&secret, (from, to(n)), &range, |_| true).unwrap();
        assert!((1..20).map(first).collect::<BTreeSet<_>>().len() > 10);
        assert_eq!(ports.choose(&secret, (from, to(1)), &range, |p| p == 1042), Some(1042));
        assert_eq!(ports.choose(&secret, (from, to(1)), &range, |_| false), None);
    }
}
