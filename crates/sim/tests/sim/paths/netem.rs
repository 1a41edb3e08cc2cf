//! Linux's emulator in front of a link.

use super::*;

fn emulated(spec: NetemSpec) -> Scenario {
    line(with(ElementSpec::Netem(spec), pipe(Some(Rate(10_000_000)), Nanos::from_millis(5))), 60)
}

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

#[test]
fn a_delay_alone_is_that_of_a_longer_link() {
    let (netem, order) = run(&emulated(NetemSpec { delay: ms(40), ..NetemSpec::default() }), 1);
    let (link, _) = run(&line(pipe(Some(Rate(10_000_000)), ms(45)), 60), 1);
    assert_eq!(order.late().packets, 0);
    assert_eq!(netem.flows[0].retransmitted, 0);
    assert!(netem.flows[0].delivered.abs_diff(link.flows[0].delivered) < 60 * 1460);
}

#[test]
fn every_gapth_packet_overtakes_those_that_the_delay_holds() {
    let (_, order) = run(&emulated(NetemSpec { delay: ms(40), reorder: 1.0, gap: 10, ..NetemSpec::default() }), 1);
    // One in ten goes first; at most nine in ten of the packets before it are late because of it.
    assert!(order.ratio() > 0.3 && order.ratio() < 0.9, "{}", order.ratio());
}

#[test]
fn jitter_reorders_and_without_it_nothing_is_reordered() {
    let jitter = |jitter| run(&emulated(NetemSpec { delay: ms(40), jitter, ..NetemSpec::default() }), 1).1;
    assert_eq!(jitter(Nanos::ZERO).late().packets, 0);
    let some = jitter(ms(10));
    assert!(some.ratio() > 0.2, "{}", some.ratio());
    // Two packets can change places at most within twice the jitter, and the link then takes 1.2 ms for
    // each.
    assert!(some.late().longest <= ms(20) + Nanos(60 * 1_200_000));
}

#[test]
fn reordering_without_a_delay_or_beyond_certainty_is_refused() {
    let refused = |spec| refused(&emulated(spec));
    let d = NetemSpec::default;
    assert!(refused(NetemSpec { gap: 3, reorder: 1.0, ..d() }).contains("gap: found reordering without a delay"));
    assert!(refused(NetemSpec { reorder: 1.5, ..d() })
        .contains("elements[0].reorder: found 1.5; allowed: a probability from 0 to 1"));
    assert!(refused(NetemSpec { jitter_correlation: -1.0, ..d() }).contains("jitter_correlation"));
    assert!(refused(NetemSpec { jitter: ms(3000), ..d() }).contains("at most 2147483647 ns"));
    assert!(refused(NetemSpec { rate: Some(Rate(0)), ..d() }).contains("at least 1 bps"));
    assert!(refused(NetemSpec { limit: Packets(0), ..d() }).contains("at least 1 packet"));
}
