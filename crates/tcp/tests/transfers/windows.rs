//! Receive buffers that grow, and quick first ACKs.

use crate::net::{Do, Net, Path};
use crate::{secs, MSS};
use ackclock_tcp::ack::linux::LinuxAckSpec;
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::connection::Connection;
use ackclock_tcp::receive_window::drs::DrsSpec;
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};

/// Sends `bytes` with an RTT of 100 ms and no disturbances; returns when all were received, and the buffer size by then.
fn transfer(stack: &Stack, bytes: u64, buffer: u64) -> (Time, u64) {
    let ends = [Connection::connect(stack, MSS, buffer), Connection::listen(stack, MSS, buffer)];
    let mut net = Net::new(ends, 0, Path::default(), 1);
    net.at(Time::ZERO, 0, Do::Write(bytes));
    while net.received[1] < bytes {
        assert!(net.now < secs(1000), "stands still");
        net.run(net.now + Nanos::from_millis(1));
        net.now += Nanos::from_millis(1);
    }
    (net.now, net.ends[1].receiver().expect("established").buffer())
}

#[test]
fn a_buffer_that_grows_ends_up_where_the_path_needs_it_and_with_an_application_that_reads() {
    const BYTES: u64 = 20_000_000;
    for timestamps in [false, true] {
        let mut stack = Stack::named("newreno").expect("listed");
        stack.options.timestamps = timestamps;
        let small = transfer(&stack, BYTES, 65_535);
        let large = transfer(&stack, BYTES, 8_000_000);
        // 64 KiB in 100 ms are 0.65 MB/s.
        assert!(small.0 > secs(28), "{small:?}");
        for rule in [ReceiveWindowSpec::Drs(DrsSpec { initial: 65_535 }), ReceiveWindowSpec::Linux(Default::default())]
        {
            stack.receive_window = rule;
            let grown = transfer(&stack, BYTES, 8_000_000);
            assert!(
                grown.0 < Time(large.0 .0 * 3 / 2) && grown.0 < secs(10),
                "{grown:?} {large:?} timestamps {timestamps} {stack:?}"
            );
            assert!(grown.1 > 2_000_000, "{grown:?}");
            let held_back = transfer(&stack, BYTES, 500_000);
            assert!((499_000..=500_000).contains(&held_back.1), "never beyond its largest: {held_back:?}");
        }
    }
}

#[test]
fn a_short_transfer_does_not_wait_for_delayed_acks_that_are_quick_at_first() {
    let mut stack = Stack::named("newreno").expect("listed");
    let delay = Nanos::from_millis(200);
    let mut took = |ack| {
        stack.ack = ack;
        transfer(&stack, 7 * u64::from(MSS), 65_535).0
    };
    let [every, quick, delayed] =
        [AckSpec::Every, AckSpec::Linux(LinuxAckSpec { delay, ..Default::default() }), AckSpec::Delayed { delay }]
            .map(&mut took);
    assert_eq!(quick, every);
    assert!(delayed >= every + delay, "the first segment is alone: {delayed:?} {every:?}");
}
