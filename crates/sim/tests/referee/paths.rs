//! Random scenarios: one transfer over a path that loses, reorders, duplicates, stops and marks, drawn by a number.

use ackclock_sim::element::token_bucket::{Excess, TokenBucketSpec};
use ackclock_sim::scenario::*;
use ackclock_sim::topology::dumbbell::{flow, pipe};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::StartupSpec;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::{Packets, Rate};

/// A small generator written here: which scenario a number means must not depend on another crate.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x7265_6665_7265_6521);
        rng.below(2);
        rng
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn ms(&mut self, from: u64, to: u64) -> Nanos {
        Nanos(1_000_000 * (from + self.below(to - from + 1)) + self.below(1000))
    }
}

/// A scenario and how its stack differs from the named one.
pub(crate) struct Drawn {
    pub(crate) scenario: Scenario,
    pub(crate) ecn: bool,
    pub(crate) initial_window_segs: Option<u32>,
}

impl Drawn {
    /// The stack as it runs in this scenario.
    pub(crate) fn stack(&self, named: &Stack) -> Stack {
        let mut stack = named.clone();
        stack.options.ecn |= self.ecn;
        if let (Some(n), StartupSpec::Fixed(f)) = (self.initial_window_segs, &mut stack.startup) {
            f.initial_window_segs = n;
        }
        stack
    }
}

impl Drawn {
    /// The same path behind a policer, and a longer transfer: rates are measured over many round trips.
    pub(crate) fn police(&mut self, rng: &mut Rng) {
        let link = &mut self.scenario.links[0].forward;
        let splits = link.elements.iter().any(|e| e.kind() == "split");
        let rate = link.rate.unwrap_or(Rate(2_000_000));
        let spec = TokenBucketSpec {
            rate: Rate(rate.0 / rng.of(&[2, 3, 5])),
            burst: rng.of(&[6_000, 15_000, 40_000]),
            excess: Excess::Drop,
            limit: Packets(1000),
            at: if splits { Place::Entry } else { Place::Exit },
            only: Only::All,
        };
        link.elements.insert(0, ElementSpec::TokenBucket(spec));
        let app = &mut self.scenario.flows[0].app;
        app.bytes = app.bytes.map(|bytes| bytes * rng.of(&[2, 6]));
    }

    /// The same with round times and, mostly, links without a rate: much happens at one instant, and comparisons meet equal values.
    pub(crate) fn round(&mut self, rng: &mut Rng) {
        let coin = rng.one_in(3);
        for link in &mut self.scenario.links {
            for way in [&mut link.forward, &mut link.back] {
                way.delay = Nanos::from_millis(way.delay.0 / 1_000_000 / 5 * 5 + 5);
                let needs_rate = way.elements.iter().any(|e| ["red", "split", "swap"].contains(&e.kind()));
                if !coin && !needs_rate {
                    (way.rate, way.queue) = (None, pipe(None, way.delay).queue);
                }
            }
        }
    }
}

fn loss(rng: &mut Rng, at: Place) -> Option<ElementSpec> {
    let only = Only::All;
    match rng.below(4) {
        0 => None,
        1 | 2 => {
            let p = rng.of(&[0.002, 0.01, 0.03, 0.08]);
            Some(ElementSpec::Bernoulli(BernoulliSpec { p, per: Per::Packet, at, only }))
        }
        _ => {
            let chain = Chain::Packets { p: rng.of(&[0.005, 0.02]), r: rng.of(&[0.2, 0.5]) };
            let spec = GilbertElliottSpec { chain, good_loss: 0.0, bad_loss: rng.of(&[1.0, 0.6]), at, only };
            Some(ElementSpec::GilbertElliott(spec))
        }
    }
}

fn script(rng: &mut Rng, segments: u64, at: Place) -> ElementSpec {
    let mut rules: Vec<ScriptRule> = Vec::new();
    let mut nth = rng.below(segments / 2);
    for _ in 0..1 + rng.below(12) {
        let action = match rng.below(5) {
            0..=1 => ScriptAction::Drop,
            2 => ScriptAction::Duplicate,
            _ => ScriptAction::Delay(rng.ms(1, 400)),
        };
        rules.push(ScriptRule { nth, action });
        nth += 1 + rng.of(&[0, 0, 1, 2, 5, 20]);
    }
    ElementSpec::Script(ScriptSpec { at, only: Only::All, flow: None, rules })
}

fn reordering(rng: &mut Rng, rate: Rate) -> Option<ElementSpec> {
    match rng.below(5) {
        0 => {
            let gap = Gap::Exponential(rng.ms(50, 800));
            Some(ElementSpec::Swap(SwapSpec { mode: SwapMode::Literal, count: 1 + rng.below(12) as u32, gap }))
        }
        1 => Some(ElementSpec::RedrawnDelay(RedrawnDelaySpec {
            mean: rng.ms(5, 40),
            deviation: rng.ms(1, 15),
            every: rng.ms(10, 100),
            below_zero: BelowZero::Again,
            overtaking: true,
            draws: Draws::Own,
        })),
        2 => {
            let way = |delay| DirectionSpec { rate: Some(rate), ..pipe(None, delay) };
            let paths = [rng.ms(5, 20), rng.ms(10, 60)].map(|d| SplitPath { weight: 1, way: way(d) }).into();
            Some(ElementSpec::Split(SplitSpec { paths, choice: SplitChoice::Turns, off: None }))
        }
        _ => None,
    }
}

/// The path stops for a while, with or without losing what arrives.
fn stop(rng: &mut Rng, at: Place) -> ElementSpec {
    let when = When::Times(vec![rng.ms(50, 3000)]);
    let spec = InterruptionSpec { when, length: rng.ms(200, 3500), at, only: Only::All };
    if rng.one_in(2) {
        ElementSpec::Outage(OutageSpec(spec))
    } else {
        ElementSpec::DelaySpike(DelaySpikeSpec(spec))
    }
}

/// The scenario of this number.
#[expect(clippy::too_many_lines, reason = "a table of paths")]
pub(crate) fn draw(number: u64) -> Drawn {
    let mut rng = Rng::new(number);
    let rate = Rate(rng.of(&[500_000, 2_000_000, 5_000_000, 20_000_000]));
    let segments = 20 + rng.below(180);
    let ecn = rng.one_in(6);
    let delay = rng.ms(1, 120);
    let mut forward = pipe(Some(rate), delay);
    let mut back = pipe(Some(rate), delay);
    if rng.one_in(2) {
        let limit = QueueLimit::Packets(rng.of(&[4, 8, 20, 50]));
        forward.queue = QueueSpec { limit, limit_counts_service: true };
    }
    if ecn {
        let thresholds = Thresholds::Packets { min: 2, max: 12 };
        forward.elements.push(ElementSpec::Red(RedSpec {
            ecn: true,
            max_p: 0.2,
            weight: 0.05,
            ..RedSpec::new(thresholds)
        }));
    }
    // Other elements act before the queue of a split link.
    let reorders = reordering(&mut rng, rate).filter(|_| !ecn);
    let splits = matches!(reorders, Some(ElementSpec::Split(_)));
    let at = if splits { Place::Entry } else { Place::Exit };
    if rng.one_in(2) {
        forward.elements.push(script(&mut rng, segments, at));
    }
    forward.elements.extend(loss(&mut rng, at));
    if rng.one_in(3) {
        back.elements.extend(loss(&mut rng, at));
    }
    if rng.one_in(4) {
        let direction = if rng.one_in(3) { &mut back } else { &mut forward };
        direction.elements.push(stop(&mut rng, at));
    }
    if let Some(e) = reorders {
        let direction = if rng.one_in(5) { &mut back } else { &mut forward };
        direction.elements.push(e);
    }
    let plain = flow();
    let mss = rng.of(&[1460, 1460, 536, 1000]);
    let window = u64::from(mss) * rng.of(&[4, 12, 40, 500, 500]);
    let bytes = segments * u64::from(mss) - if rng.one_in(2) { rng.below(u64::from(mss)) } else { 0 };
    let pieces = rng.one_in(6).then(|| PiecesSpec {
        size: bytes / (1 + rng.below(40)) + 1,
        next: if rng.one_in(2) {
            Next::Acked(Some(Gap::Exponential(rng.ms(10, 2000))))
        } else {
            Next::Every(Gap::Exponential(rng.ms(5, 300)))
        },
    });
    let ack = match rng.below(4) {
        0 => AckSpec::Delayed { delay: Nanos::from_millis(200) },
        1 => AckSpec::Linux(Default::default()),
        _ => AckSpec::Every,
    };
    let app = AppSpec { start: Nanos::ZERO, jitter: Nanos::ZERO, bytes: Some(bytes), pieces };
    let scenario = Scenario {
        name: format!("number {number}"),
        duration: Nanos::from_secs(40_000),
        nodes: ["S", "D"].map(String::from).into(),
        links: vec![LinkSpec { from: 0, to: 1, forward, back }],
        flows: vec![FlowSpec { mss, window, ack, app, ..plain }],
        background: Vec::new(),
    };
    let initial_window_segs = rng.one_in(2).then(|| 1 + rng.below(12) as u32);
    Drawn { scenario, ecn, initial_window_segs }
}
