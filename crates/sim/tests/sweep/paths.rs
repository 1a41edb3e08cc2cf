//! The paths. To add a path, add a row to [`PATHS`] and the function that it names.
//!
//! All start from [`plain`]: S, R1, R2, D with 10 Mb/s and 1 ms outside and 5 Mb/s and 50 ms between the routers. There
//! 44 packets of 1500 bytes fill the pipe, and no queue ever overflows. It has one flow, an ACK for each segment, and
//! slow start up to 40 segments. So every event on a path is caused by its row, and by nothing else.

use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{flow, pipe};
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// One path.
pub(crate) struct Path {
    /// Its name in notes.
    pub(crate) name: &'static str,
    /// A description of its events.
    pub(crate) about: &'static str,
    /// Segments to transfer.
    pub(crate) segments: u64,
    /// Changes [`plain`] into this path.
    pub(crate) change: fn(&mut Scenario),
    /// The first retransmission is lost too.
    pub(crate) lose_the_first_repair: bool,
}

const fn path(name: &'static str, segments: u64, change: fn(&mut Scenario), about: &'static str) -> Path {
    Path { name, about, segments, change, lose_the_first_repair: false }
}

pub(crate) const PATHS: &[Path] = &[
    path("clean", 400, |_| {}, "nothing is lost or reordered"),
    path("1 drop", 400, |s| drop(s, &[200]), "segment 200 is lost, in a window of about 42"),
    path("3 drops", 400, |s| drop(s, &[200, 206, 212]), "segments 200, 206 and 212 of one window are lost"),
    path(
        "6 drops",
        400,
        |s| drop(s, &[200, 203, 206, 209, 212, 215]),
        "every third segment from 200 to 215 is lost, in one window",
    ),
    path("burst", 400, |s| drop(s, &Vec::from_iter(200..212)), "segments 200 to 211 are lost, twelve in a row"),
    path("tail", 400, |s| drop(s, &[397, 398, 399]), "the last three segments of the transfer are lost"),
    Path {
        lose_the_first_repair: true,
        ..path("lost repair", 400, |s| drop(s, &[200]), "segment 200 is lost, and its first retransmission too")
    },
    path("ACK loss", 2000, ack_loss, "each ACK is lost with probability 0.1"),
    path(
        "swaps",
        25_000,
        swaps,
        "Blanton & Allman's queue swaps, 12 of slots each second on average; a window of 100 segments",
    ),
    path("random loss", 2000, random_loss, "each segment is lost with probability 0.01"),
    path("loss in bursts", 2000, burst_loss, "segments are lost four in a row on average, 2 % of them"),
    path(
        "spike",
        400,
        spike,
        "what arrives from 1 s to 3 s waits until 3 s and keeps its order: longer than the timeout, nothing is lost",
    ),
    path(
        "redrawn delay",
        2000,
        redrawn_delay,
        "Leung & Ma's: every 50 ms another delay, normal around 50 ms, deviation 50 / 3 ms; a window of 100 segments",
    ),
    path(
        "two paths",
        2000,
        two_paths,
        "every second segment takes a path that is 20 ms longer; a window of 100 segments",
    ),
    path(
        "mover",
        2000,
        mover,
        "the head of a queue of more than 8 goes back by 8, again and again (Fukuda, Nobayashi & Ikenaga); a window of 100 segments",
    ),
];

/// The path without its row's change.
pub(crate) fn plain(p: &Path) -> Scenario {
    let access = pipe(Some(Rate(10_000_000)), Nanos::from_millis(1));
    let bottleneck = pipe(Some(Rate(5_000_000)), Nanos::from_millis(50));
    let link = |from, to, d: &_| LinkSpec { from, to, forward: Clone::clone(d), back: Clone::clone(d) };
    let sent = flow();
    let app = AppSpec {
        start: Nanos::ZERO,
        jitter: Nanos::ZERO,
        bytes: Some(p.segments * u64::from(sent.mss)),
        pieces: None,
    };
    Scenario {
        name: p.name.into(),
        duration: Nanos::from_secs(300),
        nodes: ["S", "R1", "R2", "D"].map(String::from).into(),
        links: vec![link(0, 1, &access), link(BOTTLENECK as u32, 2, &bottleneck), link(2, 3, &access)],
        flows: vec![FlowSpec { from: 0, to: 3, app, ..sent }],
        background: Vec::new(),
    }
}

/// The position of the link between the routers.
const BOTTLENECK: usize = 1;

/// Losses after transmission of the given arrivals at the bottleneck, counted from 0.
pub(crate) fn drop(s: &mut Scenario, arrivals: &[u64]) {
    script(s, arrivals.iter().map(|&nth| ScriptRule { nth, action: ScriptAction::Drop }).collect());
}

fn script(s: &mut Scenario, mut more: Vec<ScriptRule>) {
    let elements = &mut s.links[BOTTLENECK].forward.elements;
    match elements.first_mut() {
        Some(ElementSpec::Script(ScriptSpec { rules, .. })) => rules.append(&mut more),
        _ => {
            elements.push(ElementSpec::Script(ScriptSpec { at: Place::Exit, only: Only::All, flow: None, rules: more }))
        }
    }
}

fn ack_loss(s: &mut Scenario) {
    s.links[BOTTLENECK].back.elements.push(loss(0.1));
}

fn random_loss(s: &mut Scenario) {
    s.links[BOTTLENECK].forward.elements.push(loss(0.01));
}

fn loss(p: f64) -> ElementSpec {
    ElementSpec::Bernoulli(BernoulliSpec { p, per: Per::Packet, at: Place::Exit, only: Only::All })
}

fn swaps(s: &mut Scenario) {
    let d = large_window(s);
    d.queue = QueueSpec { limit: QueueLimit::Packets(65), limit_counts_service: true };
    d.elements.push(ElementSpec::Swap(SwapSpec {
        mode: SwapMode::Slots,
        count: 12,
        gap: Gap::Exponential(Nanos::from_secs(1)),
    }));
}

fn burst_loss(s: &mut Scenario) {
    let chain = Chain::Packets { p: 0.005, r: 0.25 };
    let channel = GilbertElliottSpec { chain, good_loss: 0.0, bad_loss: 1.0, at: Place::Exit, only: Only::All };
    s.links[BOTTLENECK].forward.elements.push(ElementSpec::GilbertElliott(channel));
}

fn spike(s: &mut Scenario) {
    let when = When::Times(vec![Nanos::from_secs(1)]);
    let spec = DelaySpikeSpec(InterruptionSpec { when, length: Nanos::from_secs(2), at: Place::Exit, only: Only::All });
    s.links[BOTTLENECK].forward.elements.push(ElementSpec::DelaySpike(spec));
}

/// A window that fits into the path and its queue.
fn large_window(s: &mut Scenario) -> &mut DirectionSpec {
    s.flows[0].window = 100 * u64::from(s.flows[0].mss);
    &mut s.links[BOTTLENECK].forward
}

fn redrawn_delay(s: &mut Scenario) {
    let d = large_window(s);
    let (mean, every) = (d.delay, Nanos::from_millis(50));
    d.delay = Nanos::ZERO;
    d.elements.push(ElementSpec::RedrawnDelay(RedrawnDelaySpec {
        mean,
        deviation: Nanos(mean.0 / 3),
        every,
        below_zero: BelowZero::Again,
        overtaking: true,
        draws: Draws::Own,
    }));
}

fn two_paths(s: &mut Scenario) {
    let d = large_window(s);
    let longer = DirectionSpec { delay: d.delay + Nanos::from_millis(20), ..d.clone() };
    let paths = [d.clone(), longer].map(|way| SplitPath { weight: 1, way }).into();
    d.elements.push(ElementSpec::Split(SplitSpec { paths, choice: SplitChoice::Turns, off: None }));
}

fn mover(s: &mut Scenario) {
    large_window(s).elements.push(ElementSpec::Demote(DemoteSpec { interval: 8, device: None }));
}
