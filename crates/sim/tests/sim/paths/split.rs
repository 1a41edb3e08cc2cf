//! Two paths side by side.

use super::*;

fn path(weight: u32, way: DirectionSpec) -> SplitPath {
    SplitPath { weight, way }
}

fn over(paths: Vec<SplitPath>, choice: SplitChoice) -> Scenario {
    let split = ElementSpec::Split(SplitSpec { paths, choice, off: None });
    line(with(split, pipe(None, Nanos::ZERO)), 200)
}

/// 10 Mb/s each, 20 and 50 ms.
pub(super) fn bundle(weights: [u32; 2]) -> Scenario {
    let way = |ms| pipe(Some(Rate(10_000_000)), Nanos::from_millis(ms));
    over(vec![path(weights[0], way(20)), path(weights[1], way(50))], SplitChoice::Turns)
}

#[test]
fn a_path_alone_keeps_the_order_and_is_the_link_that_it_describes() {
    let (split, order) = run(&bundle([0, 1]), 1);
    assert_eq!((order.late().packets, split.links.len()), (0, 6));
    let (link, _) = run(&line(pipe(Some(Rate(10_000_000)), Nanos::from_millis(50)), 200), 1);
    assert_eq!(split.flows, link.flows);
}

#[test]
fn paths_of_equal_delay_and_rate_keep_the_order() {
    let way = pipe(Some(Rate(10_000_000)), Nanos::from_millis(20));
    let (_, order) = run(&over(vec![path(1, way.clone()), path(1, way)], SplitChoice::Turns), 1);
    assert!(order.packets() > 10_000);
    assert_eq!(order.late().packets, 0);
}

#[test]
fn all_packets_of_the_slower_of_two_paths_are_late_by_the_difference_of_their_delays() {
    let mut s = bundle([1, 1]);
    // Packets 1.2 ms apart throughout.
    s.links[0].forward.rate = Some(Rate(10_000_000));
    if let ElementSpec::Split(split) = &mut s.links[1].forward.elements[0] {
        split.paths[1].way.delay = Nanos::from_micros(49_500);
    }
    let (r, order) = run(&s, 1);
    let late = order.late();
    assert!((0.48..0.5).contains(&order.ratio()), "{}", order.ratio());
    // The next packet, sent 1.2 ms later on the faster path, arrives 29.5 - 1.2 ms before it. In this time 12 packets
    // arrive from the faster path and 11 from the slower, one each every 2.4 ms. (Some also meet another packet at the last
    // link and wait 0.12 ms for it.)
    assert!((28_300_000..=28_420_000).contains(&late.longest.0), "{:?}", late.longest);
    assert!(*late.extents.get(&23).unwrap_or(&0) as f64 > 0.95 * late.packets as f64, "{:?}", late.extents);
    assert_eq!(r.links[2].drops.total(), 0);
}

#[test]
fn drops_and_queues_of_the_paths_are_counted_with_their_link() {
    let queue = QueueSpec { limit: QueueLimit::Packets(5), limit_counts_service: true };
    let loss = ElementSpec::Bernoulli(BernoulliSpec { p: 0.01, per: Per::Packet, at: Place::Exit, only: Only::All });
    let way = DirectionSpec { queue, ..pipe(Some(Rate(5_000_000)), Nanos::from_millis(20)) };
    let paths = vec![path(1, way.clone()), path(2, with(loss, way))];
    let r = tcp(&over(paths, SplitChoice::Random));
    let link = r.links[2];
    assert!(link.drops.queue > 0 && link.drops.loss > 0, "{link:?}");
    assert_eq!((link.max_queue, link.drops.script), (Some(5), 0));
}

#[test]
fn what_red_drops_and_marks_on_the_paths_is_counted_with_their_link() {
    let red = |ecn| {
        let spec = RedSpec { mean_packet: 1500, ecn, ..RedSpec::new(Thresholds::Packets { min: 2, max: 60 }) };
        let slow = pipe(Some(Rate(2_000_000)), Nanos::from_millis(20));
        let s = over(vec![path(1, with(ElementSpec::Red(spec), slow))], SplitChoice::Turns);
        let mut stack = Stack::named("rfc-6675").expect("a named stack");
        stack.options.ecn = true;
        Sim::new(&s, &[stack], 1, ()).expect("a scenario that can be run").run().links[2]
    };
    let (dropping, marking) = (red(false), red(true));
    assert!(dropping.drops.early > 0 && dropping.marks == 0, "{dropping:?}");
    assert!(marking.drops.early == 0 && marking.marks > 0, "{marking:?}");
}

#[test]
fn a_split_without_weight_within_a_split_or_beside_what_acts_later_is_refused() {
    assert!(refused(&bundle([0, 0])).contains("no path with a weight above 0"));
    assert!(refused(&bundle([1, 1_000_001])).contains("weight: found 1000001"));
    let mut s = bundle([1, 1]);
    s.links[1].forward.elements.push(ElementSpec::Bernoulli(BernoulliSpec {
        p: 0.1,
        per: Per::Packet,
        at: Place::Exit,
        only: Only::All,
    }));
    assert!(refused(&s).contains("act after the queue"), "{}", refused(&s));
    let inner = bundle([1, 1]).links[1].forward.clone();
    assert!(refused(&over(vec![path(1, inner)], SplitChoice::Turns)).contains("paths[0].elements: found a split"));
    let slow = pipe(Some(Rate(0)), Nanos::ZERO);
    assert!(refused(&over(vec![path(1, slow)], SplitChoice::Turns)).contains("paths[0].rate: found 0 bps"));
}
