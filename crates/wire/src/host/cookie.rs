//! SYN cookies: the initial sequence number carries the state that a flood leaves no room to store.
//!
//! Source: RFC 4987 §3.6 and appendix A. The form is FreeBSD's (`sys/netinet/tcp_syncache.c`, `syncookie_generate`): 24 bits of
//! a keyed hash, and 8 bits for the SYN's options.
//! Idea: an end that acknowledges an unguessable number has received it, so its address is not forged. The SYN's options are
//! rounded down to values that 8 bits can encode; the acknowledgment shows whether it had timestamps.

use super::table::Pair;
use crate::border::DEFAULT_MSS_IPV6;
use crate::initial::{four_tuple, Secret};
use crate::options::Options;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::time::{Nanos, Time};

/// Segment sizes that a cookie can encode: the smallest allowed, the defaults of IPv4 and IPv6, and Ethernet with tunnels and
/// options.
const MSS: [u16; 8] = [216, 536, 1220, 1360, 1400, 1440, 1452, 1460];
/// Window scales that a cookie can encode; the first is "none".
const SCALES: [u8; 8] = [0, 0, 1, 2, 4, 6, 7, 8];
/// RFC 9293 §3.7.1: the segment size of a peer without an MSS option over IPv4.
const DEFAULT_MSS: u16 = 536;
/// A cookie is valid during the span of its creation and the next one.
const SPAN: Nanos = Nanos::from_secs(64);
/// The time after the last cookie in which it may still be returned.
pub(super) const LIFETIME: Nanos = Nanos(2 * SPAN.0);

/// The cookie for a SYN with these options and sequence number.
pub(super) fn make(secret: &Secret, pair: Pair, peer_isn: SeqNum, options: &Options, now: Time) -> SeqNum {
    let span = now.0 / SPAN.0;
    let default = if pair.local.is_ipv6() { DEFAULT_MSS_IPV6 } else { DEFAULT_MSS };
    let mss = options.mss.unwrap_or(default);
    let mss_at = MSS.iter().rposition(|m| *m <= mss).unwrap_or(0) as u8;
    let scale_at = options.window_scale.map_or(0, |s| SCALES.iter().rposition(|c| *c <= s).unwrap_or(0) as u8);
    let encoded = (span as u8 & 1) << 7 | u8::from(options.sack_permitted) << 6 | scale_at << 3 | mss_at;
    let hash = hash(secret, pair, peer_isn, span, encoded);
    SeqNum(hash << 8 | u32::from(encoded ^ (hash >> 16) as u8))
}

/// The SYN's options, if `cookie` was created for it recently.
pub(super) fn check(secret: &Secret, pair: Pair, peer_isn: SeqNum, cookie: SeqNum, now: Time) -> Option<Options> {
    let encoded = cookie.0 as u8 ^ (cookie.0 >> 24) as u8;
    let span = now.0 / SPAN.0;
    // The parity identifies one of the two spans.
    let span = if span as u8 & 1 == encoded >> 7 { span } else { span.checked_sub(1)? };
    if hash(secret, pair, peer_isn, span, encoded) != cookie.0 >> 8 {
        return None;
    }
    let scale_at = usize::from(encoded >> 3 & 7);
    Some(Options {
        mss: Some(MSS[usize::from(encoded & 7)]),
        window_scale: (scale_at > 0).then_some(SCALES[scale_at]),
        sack_permitted: encoded & 0x40 != 0,
        ..Options::default()
    })
}

/// 24 bits of a keyed hash over all inputs of a cookie.
fn hash(secret: &Secret, pair: Pair, peer_isn: SeqNum, span: u64, encoded: u8) -> u32 {
    let mut what = [0; 51];
    what[..37].copy_from_slice(&four_tuple(pair.local, pair.remote));
    what[37] = 3;
    what[38..42].copy_from_slice(&peer_isn.0.to_be_bytes());
    what[42..50].copy_from_slice(&span.to_be_bytes());
    what[50] = encoded;
    secret.hash(&what) as u32 >> 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair() -> Pair {
        Pair::new("10.0.0.1:80".parse().unwrap(), "10.0.0.2:5000".parse().unwrap())
    }

    fn offer(mss: Option<u16>, window_scale: Option<u8>, sack_permitted: bool) -> Options {
        Options { mss, window_scale, sack_permitted, ..Options::default() }
    }

    proptest! {
        #[test]
        fn a_cookie_says_at_most_what_the_syn_offered(
            (mss, scale, sack) in (prop::option::of(216u16..), prop::option::of(0u8..15), any::<bool>()),
            (isn, at, later) in (any::<u32>(), 0u64..1 << 50, 0u64..64_000_000_000),
        ) {
            let (secret, isn) = (Secret::new([1; 16]), SeqNum(isn));
            let cookie = make(&secret, pair(), isn, &offer(mss, scale, sack), Time(at));
            let encoded = check(&secret, pair(), isn, cookie, Time(at + later)).unwrap();
            prop_assert!(encoded.mss.unwrap() <= mss.unwrap_or(DEFAULT_MSS));
            prop_assert_eq!(encoded.window_scale.is_some(), scale.is_some());
            prop_assert!(encoded.window_scale <= scale);
            prop_assert_eq!(encoded.sack_permitted, sack);
        }
    }

    #[test]
    fn a_common_syn_loses_nothing() {
        let secret = Secret::new([1; 16]);
        for offered in
            [offer(Some(1460), Some(7), true), offer(Some(1440), Some(8), true), offer(Some(536), None, false)]
        {
            let cookie = make(&secret, pair(), SeqNum(9), &offered, Time(5));
            assert_eq!(check(&secret, pair(), SeqNum(9), cookie, Time(5)), Some(offered));
        }
    }

    #[test]
    fn a_peer_that_says_no_size_is_assumed_to_take_536_bytes_over_ipv4_and_1220_over_ipv6() {
        let secret = Secret::new([1; 16]);
        let over_ipv6 = Pair::new("[fd00::1]:80".parse().unwrap(), "[fd00::2]:5000".parse().unwrap());
        for (pair, assumed) in [(pair(), 536), (over_ipv6, 1220)] {
            let cookie = make(&secret, pair, SeqNum(9), &offer(None, None, false), Time(5));
            assert_eq!(check(&secret, pair, SeqNum(9), cookie, Time(5)).unwrap().mss, Some(assumed));
        }
    }

    #[test]
    fn a_cookie_of_another_connection_key_or_time_is_none_and_few_guesses_are_right() {
        let (secret, isn, now) = (Secret::new([1; 16]), SeqNum(9), Time(200_000_000_000));
        let cookie = make(&secret, pair(), isn, &offer(Some(1460), Some(7), true), now);
        let other = Pair::new(pair().local, "10.0.0.2:5001".parse().unwrap());
        assert_eq!(check(&secret, other, isn, cookie, now), None);
        assert_eq!(check(&secret, pair(), SeqNum(10), cookie, now), None);
        assert_eq!(check(&Secret::new([2; 16]), pair(), isn, cookie, now), None);
        assert_eq!(check(&secret, pair(), isn, cookie, now + LIFETIME), None);
        let right = (0..1u32 << 20)
            .filter(|i| check(&secret, pair(), isn, SeqNum(i.wrapping_mul(0x9e37_79b9)), now).is_some())
            .count();
        assert!(right <= 3, "{right} of a million guesses");
    }
}
