//! The path carries smaller packets than the ends assume, reports it or not, and changes its MTU.

use crate::net::{Harm, Net, Setting};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_wire::Writing;

const SETTING: Setting = Setting {
    ipv6: false,
    bytes: [200_000, 100_000],
    below: 60_000,
    buffer: 100_000,
    delay: Nanos::from_millis(20),
    harm: Harm { lost: 0, late: 0, doubled: 0 },
    writing: Writing::Whole,
    seed: 1,
};

#[test]
fn whatever_the_path_takes_and_whenever_it_changes_every_stack_moves_the_same_bytes() {
    for (i, name) in Stack::names().enumerate() {
        let stack = Stack::named(name).unwrap();
        for ipv6 in [false, true] {
            for harm in [SETTING.harm, Harm { lost: 2, late: 4, doubled: 2 }] {
                let setting = Setting { ipv6, harm, seed: 300 + i as u64, ..SETTING };
                let mut net = Net::new(&stack, setting);
                // Nothing is too big at first; then some packets are; then more.
                net.path = vec![(Nanos::ZERO, 1500), (Nanos::from_millis(150), 1400), (Nanos::from_millis(400), 1280)];
                net.run();
                net.assert_equal(&format!("{name}, IPv6 {ipv6}, {harm:?}"));
                assert!(net.too_big > 0, "{name}: nothing was too big");
            }
        }
    }
}

#[test]
fn a_path_that_reports_nothing_is_detected_by_timeouts() {
    for name in ["newreno", "rfc-6675", "linux-2025", "rfc-today"] {
        let mut net = Net::new(&Stack::named(name).unwrap(), SETTING);
        net.path = vec![(Nanos::ZERO, 1500), (Nanos::from_millis(150), 800)];
        net.silent = true;
        net.ends.iter_mut().for_each(|e| e.find_black_holes(true));
        net.run();
        net.assert_equal(name);
        assert!(net.too_big > 0, "{name}: nothing was too big");
    }
}
