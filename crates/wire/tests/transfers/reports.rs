//! A receiver's reports reach the wire, whatever it sends meanwhile.

use crate::net::{addresses, MTU};
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::{parse, Border, Buffers, Checksums, Dialect, Endpoint, Initial, Writing};

/// All packets that an end has to send.
fn speak(end: &mut Endpoint, now: Time) -> Vec<Vec<u8>> {
    let mut buf = vec![0; 1 << 16];
    let mut packets = vec![];
    while let Some(written) = end.poll_transmit(now, Writing::Whole, &mut buf, &mut ()).unwrap() {
        packets.push(buf[..written.len].to_vec());
    }
    packets
}

fn hear(end: &mut Endpoint, now: Time, packets: &[Vec<u8>]) {
    for bytes in packets {
        end.on_packet(now, &parse(bytes, Checksums::Verify).unwrap(), &mut ());
    }
}

#[test]
fn a_duplicate_is_reported_although_every_segment_is_full() {
    for timestamps in [false, true] {
        let mut stack = Stack::named("rfc-6675").unwrap();
        (stack.options.timestamps, stack.options.dsack) = (timestamps, true);
        let [a, b] = addresses(false);
        let initial = Initial { isn: SeqNum(7), timestamp_offset: 0, label: 0 };
        let border = |from, to| Border::new(from, to, MTU, initial, Dialect::Linux).unwrap();
        let buffers = Buffers { send: 1 << 20, receive: 1 << 20 };
        let mut ends =
            [Endpoint::connect(&stack, border(a, b), buffers), Endpoint::listen(&stack, border(b, a), buffers)];
        let now = Time(1_000_000_000);
        for _ in 0..2 {
            for (from, to) in [(0, 1), (1, 0)] {
                let packets = speak(&mut ends[from], now);
                hear(&mut ends[to], now, &packets);
            }
        }
        let [ours, peer] = &mut ends;
        peer.write(&[1; 600]);
        let data = speak(peer, now);
        hear(ours, now, &data);
        let answer = speak(ours, now);
        hear(peer, now, &answer);
        ours.write(&[2; 20_000]);
        hear(ours, now, &data);
        let packets = speak(ours, now);
        let (left, right) = (SeqNum(8), SeqNum(608));
        let mut reports = 0;
        for bytes in &packets {
            assert!(bytes.len() <= MTU as usize);
            let packet = parse(bytes, Checksums::Verify).unwrap();
            reports += usize::from(packet.header.options.sack.as_slice().first() == Some(&(left, right)));
        }
        assert!(packets.len() > 1 && packets[0].len() == MTU as usize, "a full segment: {:?}", packets[0].len());
        assert_eq!(reports, 1, "of {} packets", packets.len());
    }
}
