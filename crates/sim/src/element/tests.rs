//! Tests that hold for every kind of element.

use super::*;
use crate::engine::Sim;
use crate::reordering::Order as Measured;
use crate::results::Results;
use crate::scenario::*;
use crate::topology::dumbbell::{flow, pipe};
use crate::watch::{Dropped, Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Rate;

/// Two hosts on the links A–B, B–C and C–D; the element under test is on the middle link. Only that link feeds the last one, at
/// the same rate, so the last queue can only fill if packets are bunched.
fn path(e: &ElementSpec, flows: u32, last: QueueLimit) -> Scenario {
    let link = |from, rate, elements, limit| {
        let queue = QueueSpec { limit, limit_counts_service: true };
        let forward = DirectionSpec { elements, queue, ..pipe(Some(Rate(rate)), Nanos::from_millis(3)) };
        LinkSpec { from, to: from + 1, forward, back: pipe(Some(Rate(rate)), Nanos::from_millis(3)) }
    };
    let one = |i| {
        let mut f = flow();
        (f.name, f.to, f.window) = (format!("flow-{i}"), 3, 120 * u64::from(f.mss));
        // Data and ACKs go the same way.
        if i % 2 == 1 {
            (f.from, f.to) = (f.to, f.from);
        }
        f
    };
    Scenario {
        name: String::new(),
        duration: Nanos::from_secs(6),
        nodes: ["A", "B", "C", "D"].map(str::to_owned).into(),
        links: vec![
            link(0, 10_000_000, Vec::new(), QueueLimit::Unlimited),
            link(1, 3_000_000, vec![e.clone()], QueueLimit::Packets(25)),
            link(2, 3_000_000, Vec::new(), last),
        ],
        flows: (0..flows).map(one).collect(),
        background: Vec::new(),
    }
}

/// The events at the hosts and the drops, in order; and the amounts of reordering and duplication.
#[derive(Default)]
struct Seen {
    log: Vec<String>,
    order: Measured,
    doubled: u64,
    /// The origin of each drop: a link (its queue was full) or an element.
    dropped_by: Vec<u32>,
}

impl Watch for Seen {
    // So that fewer links are fused than without a listener.
    const HEARS_QUEUES: bool = true;
    fn sent(&mut self, at: Time, flow: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        self.log.push(format!("{at} sent {flow} {from:?} {} {} {sends}", seg.seq, seg.ack));
    }
    fn dropped(&mut self, Dropped { at, flow, to, element, why, seg, .. }: Dropped<'_>) {
        self.log.push(format!("{at} dropped {flow} {to:?} {why:?} {}", seg.seq));
        self.dropped_by.push(element);
    }
    fn delivered(&mut self, at: Time, flow: u32, to: Side, seg: &Segment, _: u32, _: u8) {
        self.log.push(format!("{at} delivered {flow} {to:?} {} {}", seg.seq, seg.ack));
    }
    fn arrived(&mut self, at: Time, flow: u32, to: Side, number: u32, seg: &Segment) {
        self.order.arrived(at, flow, to, number, seg);
    }
    fn doubled(&mut self, _: Time, _: u32, _: Side, _: &Segment, _: u8) {
        self.doubled += 1;
    }
}

fn run(s: &Scenario) -> (Results, Seen) {
    let stack = Stack::named("sack-ff96").expect("a named stack");
    let mut sim = Sim::new(s, &[stack], 1, Seen::default()).expect("a scenario that can be run");
    let results = sim.run();
    (results, sim.into_watch())
}

/// The first difference, if there is one.
fn same(ours: &Seen, theirs: &Seen, of: &dyn fmt::Debug) {
    let first = ours.log.iter().zip(&theirs.log).find(|(a, b)| a != b);
    assert_eq!((first, ours.log.len()), (None, theirs.log.len()), "{of:?}");
}

fn unwatched(s: &Scenario) -> Results {
    let stack = Stack::named("sack-ff96").expect("a named stack");
    Sim::new(s, &[stack], 1, ()).expect("a scenario that can be run").run()
}

/// Every element with one flow, and with two in opposite directions.
fn all() -> impl Iterator<Item = (ElementSpec, u32)> {
    examples().into_iter().flat_map(|e| [(e.clone(), 1), (e, 2)])
}

#[test]
fn each_kind_has_examples_of_itself() {
    let kinds: Vec<&str> = examples().iter().map(ElementSpec::kind).collect();
    assert!(ElementSpec::KINDS.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}

#[test]
fn computed_and_explicit_queues_give_the_same_events_with_every_element() {
    for (e, flows) in all() {
        let s = path(&e, flows, QueueLimit::Packets(40));
        let (results, seen) = run(&s);
        assert!(seen.log.len() > 500, "{e:?}");
        // Here more links are fused.
        let alone = unwatched(&s);
        assert_eq!((&alone.flows, &alone.links), (&results.flows, &results.links), "{e:?}");
        for which in [[true; 6], [false, false, true, true, false, false], [true, true, false, false, true, true]] {
            let mut queued = s.clone();
            for (i, l) in queued.links.iter_mut().enumerate() {
                let form = |explicit| if explicit { LinkForm::Queued } else { LinkForm::Auto };
                (l.forward.form, l.back.form) = (form(which[2 * i]), form(which[2 * i + 1]));
            }
            let (other, saw) = run(&queued);
            same(&saw, &seen, &(&e, which));
            assert_eq!(other.flows, results.flows, "{e:?} {which:?}");
            assert_eq!(unwatched(&queued).flows, results.flows, "{e:?} {which:?}");
        }
    }
}

#[test]
fn counted_and_uncounted_queues_give_the_same_events_behind_every_element() {
    let mut overflows = 0;
    for (e, flows) in all() {
        // The shortest limit that still counts as a queue that never fills.
        let plain = path(&e, flows, QueueLimit::Packets(41));
        // Whatever is on a link, its queue is counted.
        let mut counted = plain.clone();
        let never = ScriptRule { nth: u64::MAX, action: ScriptAction::Drop };
        let nothing = ScriptSpec { at: Place::Entry, only: Only::All, flow: None, rules: vec![never] };
        counted.links[2].forward.elements.push(ElementSpec::Script(nothing));
        let ((results, seen), (other, saw)) = (run(&plain), run(&counted));
        same(&saw, &seen, &e);
        let drops = |r: &Results| r.links.iter().map(|l| l.drops).collect::<Vec<_>>();
        assert_eq!(drops(&other), drops(&results), "{e:?}");
        assert_eq!(drops(&unwatched(&plain)), drops(&results), "{e:?}");
        assert!(e.properties().bunches || results.links[4].drops.queue == 0, "{e:?}");
        overflows += results.links[4].drops.queue;
    }
    assert!(overflows > 20, "{overflows}");
}

#[test]
fn reordering_loss_and_doubles_never_exceed_what_an_element_declares() {
    let mut found = [0; 3];
    for (e, flows) in all() {
        let is = e.properties();
        let s = path(&e, flows, QueueLimit::Unlimited);
        let (_, seen) = run(&s);
        let ends = (0..flows).flat_map(|flow| [(flow, Side::Sender), (flow, Side::Receiver)]);
        let late: u64 = ends.filter_map(|(flow, side)| seen.order.at(flow, side)).map(|r| r.late().packets).sum();
        // Elements are numbered after all links and paths.
        let links = (2 * s.links.len() + s.links[1].forward.split().map_or(0, |s| s.paths.len())) as u32;
        let lost = seen.dropped_by.iter().filter(|by| **by >= links).count() as u64;
        assert!(is.reorders || late == 0, "{late} late: {e:?}");
        assert!(is.loses || lost == 0, "{lost} lost: {e:?}");
        assert!(is.duplicates || seen.doubled == 0, "{} doubled: {e:?}", seen.doubled);
        if is.only == Only::Acks && flows == 1 {
            // This direction carries only data.
            assert_eq!((late, lost, seen.doubled), (0, 0, 0), "{e:?}");
        }
        found = [found[0] + late, found[1] + lost, found[2] + seen.doubled];
    }
    assert!(found.iter().all(|n| *n > 20), "elements do what they declare: {found:?}");
}

#[test]
fn an_element_is_read_as_it_is_written() {
    for e in examples().into_iter().filter(|e| !matches!(e, ElementSpec::Custom(_))) {
        let written = serde_json::to_value(&e).expect("an element that can be written");
        assert_eq!(serde_json::from_value::<ElementSpec>(written.clone()).expect("what was written"), e);
        let mut keys = written.as_object().expect("a table").clone();
        let kind = keys.remove("kind").expect("a kind");
        let kind = kind.as_str().expect("a word");
        assert_eq!(kind, e.kind());
        let read = |keys: &serde_json::Map<String, serde_json::Value>| {
            ElementSpec::read(kind, serde_json::Value::from(keys.clone())).expect("a known kind")
        };
        assert_eq!(read(&keys).expect("what was written"), e);
        keys.insert("nonsense".to_owned(), 1.into());
        assert!(read(&keys).expect_err("an unknown key").to_string().contains("nonsense"));
    }
}
