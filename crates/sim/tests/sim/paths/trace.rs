//! Paths from traces.

use super::*;

fn traced(text: &str, repeat: Option<Nanos>) -> DirectionSpec {
    let rows = PathRow::parse(text).expect("a good table");
    let spec = PathTraceSpec { rows, repeat, at: Place::Exit };
    with(ElementSpec::PathTrace(spec), pipe(Some(Rate(50_000_000)), Nanos::from_millis(5)))
}

#[test]
fn a_trace_of_one_row_is_a_link_of_that_rate_and_delay() {
    let (trace, order) = run(&line(traced("time_s,delay_ms,rate_mbps\n0,15,10\n", None), 100), 1);
    let (link, _) = run(&line(pipe(Some(Rate(10_000_000)), Nanos::from_millis(20)), 100), 1);
    assert_eq!((trace.flows, order.late().packets), (link.flows, 0));
}

#[test]
fn the_bytes_that_arrive_are_those_that_the_rates_allow() {
    // Half of the time 10 Mb/s, half 2 Mb/s: 6 on average, of which 1460 / 1500 is payload.
    let d = traced("time_s,rate_mbps\n0,10\n0.5,2\n", Some(Nanos::from_secs(1)));
    let (r, _) = run(&line(d, 300), 1);
    let rate = r.flows[0].delivered as f64 * 8.0 / 20.0 / (1460.0 / 1500.0);
    assert!((rate - 6e6).abs() < 0.3e6, "{rate}");
}

#[test]
fn a_delay_that_falls_lets_packets_overtake_and_one_that_rises_does_not() {
    let late = |text| run(&line(traced(text, None), 100), 1).1.late().packets;
    assert_eq!(late("time_s,delay_ms,rate_mbps\n0,20,10\n5,60,10\n"), 0);
    // The delay falls by 40 ms: packets that left within 40 ms before, 33 packets at 1.2 ms, are
    // overtaken.
    let overtaken = late("time_s,delay_ms,rate_mbps\n0,60,10\n5,20,10\n");
    assert!((30..=34).contains(&overtaken), "{overtaken}");
}

#[test]
fn a_trace_loses_what_it_says() {
    let r = tcp(&line(traced("time_s,loss\n0,0\n5,0.01\n15,0\n", None), 50));
    let lost = r.links[2].drops.loss as f64;
    assert!(lost > 20.0 && lost < 0.02 * r.flows[0].data_sent as f64, "{lost}");
}

#[test]
fn deliveries_limit_the_bytes_that_arrive() {
    // An opportunity every millisecond: 12 Mb/s.
    let times = DeliveriesSpec::parse("1\n").expect("good times");
    let spec = DeliveriesSpec { times, bytes: 1500 };
    let d = with(ElementSpec::Deliveries(spec.clone()), pipe(None, Nanos::from_millis(20)));
    let (r, order) = run(&line(d, 200), 1);
    let rate = r.flows[0].delivered as f64 * 8.0 / 20.0 / (1460.0 / 1500.0);
    assert!((rate - 12e6).abs() < 0.2e6 && order.late().packets == 0, "{rate}");
    let mut both = line(traced("time_s,rate_mbps\n0,1\n", None), 50);
    both.links[1].forward.elements.push(ElementSpec::Deliveries(spec));
    assert!(refused(&both).contains("one in each direction"), "{}", refused(&both));
    let ends = line(traced("time_s,loss\n0,0\n2,0\n", Some(Nanos::from_secs(2))), 50);
    assert!(refused(&ends).contains("repeat: found 2 s"), "{}", refused(&ends));
}
