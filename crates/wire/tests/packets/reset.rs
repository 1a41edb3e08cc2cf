//! The answer to a segment without a connection: RFC 9293 §3.10.7.1.

use crate::packet::plain;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_wire::reset::reset;
use ackclock_wire::{parse, Checksums, Header, Packet, Writing};

fn answer(header: Header, payload: &[u8]) -> Option<Header> {
    let mut buf = [0; 100];
    let asked = Packet { header, option_bytes: &[], payload, train: 1 };
    let w = reset(&asked, Writing::Whole, &mut buf).unwrap()?;
    Some(parse(&buf[..w.len], Checksums::Verify).unwrap().header)
}

#[test]
fn an_ack_without_a_connection_is_reset_where_it_acknowledges() {
    for ipv6 in [false, true] {
        let asked = Header { flags: Segment::ACK | Segment::FIN, ack: SeqNum(0xffff_fff0), ..plain(ipv6) };
        let got = answer(asked, b"data").unwrap();
        assert_eq!((got.src, got.dst), (asked.dst, asked.src));
        assert_eq!((got.flags, got.seq, got.ack, got.window), (Segment::RST, SeqNum(0xffff_fff0), SeqNum(0), 0));
    }
}

#[test]
fn without_an_ack_everything_that_came_is_acknowledged_and_the_number_is_0() {
    for (flags, payload, ack) in [
        (Segment::SYN, &b""[..], 0),
        (Segment::SYN, b"1234", 4),
        (Segment::FIN, b"1234", 4),
        (0, b"1234", 3),
        (Segment::SYN | Segment::FIN, b"", 1),
    ] {
        // An acknowledgment number is meaningless without its flag.
        let asked = Header { flags, seq: SeqNum(u32::MAX), ack: SeqNum(12345), ..plain(false) };
        let got = answer(asked, payload).unwrap();
        assert_eq!((got.flags, got.seq, got.ack), (Segment::RST | Segment::ACK, SeqNum(0), SeqNum(ack)), "{flags}");
    }
}

#[test]
fn nothing_answers_a_reset_or_what_has_a_groups_address() {
    assert_eq!(answer(Header { flags: Segment::RST, ..plain(false) }, b""), None);
    assert_eq!(answer(Header { flags: Segment::RST | Segment::ACK, ..plain(true) }, b""), None);
    for group in ["224.0.0.1:1", "255.255.255.255:1", "0.0.0.0:1"] {
        let group = group.parse().unwrap();
        assert_eq!(answer(Header { src: group, ..plain(false) }, b""), None);
        assert_eq!(answer(Header { dst: group, ..plain(false) }, b""), None);
    }
    for group in ["[ff02::1]:1", "[::]:1"] {
        assert_eq!(answer(Header { src: group.parse().unwrap(), ..plain(true) }, b""), None);
    }
}
