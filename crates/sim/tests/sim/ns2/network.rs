//! The network of the packet logs, and the comparison of two senders on it.

use super::log::{Case, Send};
use ackclock_sim::engine::Sim;
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{flow, pipe};
use ackclock_sim::watch::{Side, Watch};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_tcp::units::Rate;

/// Payload of a packet of 1000 bytes on the wire.
const MSS: u32 = 960;
/// Largest difference in time, seconds.
const TOLERANCE_S: f64 = 10e-6;

/// Every data packet that left the sender.
#[derive(Default)]
struct Sends(Vec<Send>);

impl Watch for Sends {
    fn sent(&mut self, at: Time, _: u32, from: Side, seg: &Segment, _: u32, sends: u8) {
        if from == Side::Sender {
            let number = (seg.seq.0 - 1) / u64::from(MSS);
            self.0.push(Send { time_s: at.as_secs_f64(), number, retransmit: sends > 1 });
        }
    }
}

/// S, R1, R2, D: 8 Mb/s and 0.1 ms outside, 0.8 Mb/s and 100 ms between the routers, no queue that ever fills.
fn scenario(case: &Case, duration: Nanos) -> Scenario {
    let access = pipe(Some(Rate(8_000_000)), Nanos::from_micros(100));
    let bottleneck = pipe(Some(Rate(800_000)), Nanos::from_millis(100));
    let link = |from, to, d: &DirectionSpec| LinkSpec { from, to, forward: d.clone(), back: d.clone() };
    let mut links = vec![link(0, 1, &access), link(1, 2, &bottleneck), link(2, 3, &access)];
    if !case.drop_arrivals.is_empty() {
        // A dropped packet uses up its transmission slot, so the script acts at the exit.
        let rules = case.drop_arrivals.iter().map(|&nth| ScriptRule { nth, action: ScriptAction::Drop }).collect();
        links[1].forward.elements.push(ElementSpec::Script(ScriptSpec {
            at: Place::Exit,
            only: Only::All,
            flow: None,
            rules,
        }));
    }
    let app = AppSpec {
        start: Nanos::ZERO,
        jitter: Nanos::ZERO,
        bytes: case.packets.map(|n| n * u64::from(MSS)),
        pieces: None,
    };
    let window = case.window * u64::from(MSS);
    Scenario {
        name: case.name.clone(),
        duration,
        nodes: ["S", "R1", "R2", "D"].map(String::from).into(),
        links,
        flows: vec![FlowSpec { from: 0, to: 3, mss: MSS, window, app, handshake: false, ..flow() }],
        background: Vec::new(),
    }
}

/// The first difference between two sequences of sends, in words.
pub(crate) fn difference(want: &[Send], got: &[Send]) -> Option<String> {
    let same = |w: &Send, g: &Send| {
        w.number == g.number && w.retransmit == g.retransmit && (w.time_s - g.time_s).abs() <= TOLERANCE_S
    };
    let at = (0..want.len().max(got.len()))
        .find(|&i| !matches!((want.get(i), got.get(i)), (Some(w), Some(g)) if same(w, g)))?;
    let show = |s: Option<&Send>| s.map_or("nothing more".into(), |s| format!("{s:?}"));
    Some(format!("send {at}: ns-2 {}, ours {}", show(want.get(at)), show(got.get(at))))
}

/// Our sender's transmissions in that case.
pub(crate) fn ours(case: &Case, stack: Stack, duration: Nanos) -> Vec<Send> {
    let mut sim = Sim::new(&scenario(case, duration), &[stack], 1, Sends::default()).expect("a possible scenario");
    sim.run();
    sim.into_watch().0
}
