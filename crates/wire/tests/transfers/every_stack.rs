//! Every named stack, sending and receiving, over IPv4 and IPv6, on a clean wire and on wires that lose, reorder and
//! duplicate. Sequence numbers begin just below 2³² on both sides, so every run wraps.

use crate::net::{Harm, Net, Setting};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_wire::Writing;

const BYTES: u64 = 200_000;
const WIRES: [(&str, Harm); 4] = [
    ("clean", Harm { lost: 0, late: 0, doubled: 0 }),
    ("loss", Harm { lost: 2, late: 0, doubled: 0 }),
    ("reordering", Harm { lost: 0, late: 5, doubled: 0 }),
    ("duplication", Harm { lost: 0, late: 0, doubled: 5 }),
];
const SETTING: Setting = Setting {
    ipv6: false,
    bytes: [BYTES, 0],
    below: 60_000,
    buffer: 100_000,
    delay: Nanos::from_millis(20),
    harm: WIRES[0].1,
    writing: Writing::Whole,
    seed: 1,
};

fn run(stack: &Stack, setting: Setting, what: &str) -> Net {
    let mut net = Net::new(stack, setting);
    net.run();
    net.assert_equal(what);
    net
}

#[test]
fn every_stack_moves_the_same_bytes_in_both_directions_over_ipv4_and_ipv6_whatever_the_wire_does() {
    let mut runs = 0;
    for (i, name) in Stack::names().enumerate() {
        let stack = Stack::named(name).unwrap();
        for ipv6 in [false, true] {
            for (sender, bytes) in [[BYTES, 0], [0, BYTES]].into_iter().enumerate() {
                for (wire, harm) in WIRES {
                    let what = format!("{name}, end {sender} sends, IPv6 {ipv6}, {wire}");
                    let net = run(&stack, Setting { ipv6, bytes, harm, seed: 1 + i as u64, ..SETTING }, &what);
                    assert_eq!(net.wraps[sender], 1, "{what}: {:?}", net.wraps);
                    runs += 1;
                }
            }
        }
    }
    assert_eq!(runs, 16 * Stack::names().count());
}

#[test]
fn with_data_both_ways_and_every_harm_at_once_no_packet_is_larger_than_the_mtu() {
    let harm = Harm { lost: 3, late: 5, doubled: 3 };
    for (i, name) in Stack::names().enumerate() {
        let mut stack = Stack::named(name).unwrap();
        stack.options.timestamps = i % 2 == 0;
        let setting = Setting { bytes: [BYTES, BYTES / 2], ipv6: i % 4 > 1, harm, seed: 77 + i as u64, ..SETTING };
        let net = run(&stack, setting, name);
        assert_eq!(net.wraps, [1, 1], "{name}");
    }
}

#[test]
fn trains_of_a_device_with_offload_carry_the_same_bytes_as_segments() {
    for name in ["linux-2025", "rfc-today", "sack-ff96"] {
        let mut stack = Stack::named(name).unwrap();
        stack.limits.max_train = 44;
        for harm in [WIRES[0].1, Harm { lost: 1, late: 1, doubled: 1 }] {
            let bytes = [2_000_000, 2_000_000];
            let setting = Setting { bytes, writing: Writing::Offload, buffer: 1 << 20, harm, ..SETTING };
            let net = run(&stack, setting, name);
            assert!(net.trains.iter().all(|n| *n > 20), "{name}: {:?} trains", net.trains);
        }
    }
}

#[test]
#[ignore = "moves 8.6 GB"]
fn sequence_numbers_wrap_twice_either_way() {
    let mut stack = Stack::named("linux-2025").unwrap();
    stack.limits.max_train = 44;
    for (sender, bytes) in [[(1 << 32) + 1_000_000, 0], [0, (1 << 32) + 1_000_000]].into_iter().enumerate() {
        let setting =
            Setting { bytes, writing: Writing::Offload, buffer: 1 << 22, delay: Nanos::from_micros(50), ..SETTING };
        let net = run(&stack, setting, "twice");
        assert_eq!(net.wraps[sender], 2);
    }
}
