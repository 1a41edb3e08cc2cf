//! Random headers and payloads.

use ackclock_tcp::seq::SeqNum;
use ackclock_wire::options::{SackBlocks, Timestamps};
use ackclock_wire::{Dialect, Header, Options};
use proptest::prelude::*;
use std::net::SocketAddr;

/// `PROPTEST_CASES` cases; default 2,000.
pub(crate) fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return usual;
    }
    ProptestConfig { cases: 2_000, ..usual }
}

/// Two addresses of the same family.
pub(crate) fn addresses() -> impl Strategy<Value = (SocketAddr, SocketAddr)> {
    prop_oneof![
        any::<([u8; 4], u16, [u8; 4], u16)>().prop_map(|(a, p, b, q)| ((a, p).into(), (b, q).into())),
        any::<([u8; 16], u16, [u8; 16], u16)>().prop_map(|(a, p, b, q)| ((a, p).into(), (b, q).into())),
    ]
}

pub(crate) fn timestamps() -> impl Strategy<Value = Option<Timestamps>> {
    prop::option::of(any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo }))
}

/// Options that fit into a header: a SYN's, or SACK blocks.
pub(crate) fn options() -> impl Strategy<Value = Options> {
    let syn = (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), timestamps()).prop_map(
        |(mss, window_scale, sack_permitted, timestamps)| Options {
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ..Options::default()
        },
    );
    let ack = (timestamps(), prop::collection::vec(any::<(u32, u32)>(), 0..=4)).prop_map(|(timestamps, blocks)| {
        let mut sack = SackBlocks::default();
        let room = if timestamps.is_some() { 3 } else { 4 };
        blocks.iter().take(room).for_each(|(l, r)| sack.push(SeqNum(*l), SeqNum(*r)));
        Options { timestamps, sack, ..Options::default() }
    });
    prop_oneof![syn, ack]
}

prop_compose! {
    pub(crate) fn header()(
        (src, dst) in addresses(),
        (seq, ack, window, urgent) in any::<(u32, u32, u16, u16)>(),
        (flags, reserved) in (any::<u8>(), 0u8..16),
        options in options(),
        (traffic_class, hop_limit, label) in any::<(u8, u8, u32)>(),
    ) -> Header {
        let label = label & if src.is_ipv4() { 0xffff } else { 0xf_ffff };
        Header { src, dst, seq: SeqNum(seq), ack: SeqNum(ack), flags, reserved, window, urgent, options, traffic_class, hop_limit, label }
    }
}

pub(crate) fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..100)
}

pub(crate) fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Linux), Just(Dialect::FreeBsd)]
}
