//! A random conversation: the path, the two TCPs, and the calls of their applications.

use crate::application::{Act, What};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_tcp::receive_window::ReceiveWindowSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_wire::Buffers;

/// What is the same under each clock.
pub(crate) struct Schedule {
    pub(crate) seed: u64,
    /// The path, and the stacks of both ends.
    pub(crate) plan: Plan,
    pub(crate) stack: String,
    /// The caller first.
    pub(crate) ends: [EndOf; 2],
    pub(crate) mtu: u32,
    /// When the caller connects.
    pub(crate) start: Nanos,
}

/// One end.
#[derive(Clone)]
pub(crate) struct EndOf {
    pub(crate) stack: Stack,
    pub(crate) buffers: Buffers,
    pub(crate) no_delay: bool,
    /// It reads whatever has arrived, at once.
    pub(crate) eager: bool,
    /// In the order of their times.
    pub(crate) acts: Vec<Act>,
}

/// SplitMix64 (Steele, Lea & Flood 2014).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Draw(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform from `least` to `most`, both included.
    pub(crate) fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// With equal probability for each power of two between them.
    fn scaled(&mut self, least: u64, most: u64) -> u64 {
        let top = self.from(u64::from(least.max(1).ilog2()), u64::from(most.ilog2()));
        self.from(1 << top, (2 << top) - 1).clamp(least, most)
    }

    /// True in one of `n` cases.
    fn one_in(&mut self, n: u64) -> bool {
        self.from(1, n) == 1
    }
}

impl Schedule {
    pub(crate) fn draw(seed: u64) -> Schedule {
        let mut draw = Draw::new(seed);
        let names: Vec<&str> = Stack::names().collect();
        let stack = names[draw.from(0, names.len() as u64 - 1) as usize];
        let text = path(&mut draw, stack);
        let mut plan = Plan::parse("schedule.toml", &text, &Overrides::default())
            .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        // Both ends use the flow's ACK policy, in a stack with ECN or without.
        let ack = plan.scenario.flows[0].ack.clone();
        let ecn = draw.one_in(4);
        for own in &mut plan.stacks {
            own.ack = ack.clone();
            own.options.ecn = ecn;
        }
        let own = plan.stacks[0].clone();
        let ends = [true, false].map(|calls| end(&mut draw, own.clone(), calls));
        let mtu = [576, 1280, 1500, 1500, 9000][draw.from(0, 4) as usize];
        Schedule { seed, plan, stack: stack.into(), ends, mtu, start: Nanos(draw.from(1, 1_000_000_000)) }
    }
}

/// A scenario with one flow. Every delay is drawn in nanoseconds, so that two events seldom happen at the same instant.
fn path(draw: &mut Draw, stack: &str) -> String {
    let seconds = draw.from(5, 90);
    let acks = [
        "",
        "receiver = { ack = \"every\" }\n",
        "receiver = { ack = \"delayed\" }\n",
        "receiver = { ack = \"linux\" }\n",
        "receiver = { ack = \"heartbeat\", interval = \"199999937 ns\" }\n",
        "receiver = { ack = \"delayed-reordered\" }\n",
    ][draw.from(0, 5) as usize];
    let forward = direction(draw);
    let back = direction(draw);
    format!(
        "[run]\nduration = \"{seconds} s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\n{}\nback = {{ {} }}\n\
         [[flow]]\nfrom = \"A\"\nto = \"B\"\nhandshake = true\nstack = \"{stack}\"\n{acks}",
        forward.join("\n"),
        back.join(", "),
    )
}

fn direction(draw: &mut Draw) -> Vec<String> {
    let rate = draw.scaled(200_000, 50_000_000);
    let delay = draw.scaled(100_000, 200_000_000);
    let queue = draw.scaled(4, 200);
    let mut elements = Vec::new();
    if draw.one_in(2) {
        elements.push(element(draw));
        if draw.one_in(3) {
            elements.push(element(draw));
        }
    }
    vec![
        format!("rate = \"{rate} bps\""),
        format!("delay = \"{delay} ns\""),
        format!("queue = \"{queue} packets\""),
        format!("elements = [{}]", elements.join(", ")),
    ]
}

fn element(draw: &mut Draw) -> String {
    let parts = |draw: &mut Draw, most: u64| draw.from(1, most) as f64 / 1000.0;
    let ns = |draw: &mut Draw, least: u64, most: u64| draw.scaled(least * 1_000_000, most * 1_000_000);
    match draw.from(0, 8) {
        0 => format!("{{ kind = \"bernoulli\", p = {} }}", parts(draw, 200)),
        1 => format!("{{ kind = \"bernoulli\", p = {}, at = \"exit\", only = \"data\" }}", parts(draw, 60)),
        2 => {
            let (p, r) = (parts(draw, 40), 0.05 + parts(draw, 500));
            format!("{{ kind = \"gilbert-elliott\", p = {p}, r = {r} }}")
        }
        3 => {
            let (delay, jitter) = (ns(draw, 1, 100), ns(draw, 1, 50));
            format!("{{ kind = \"netem\", delay = \"{delay} ns\", jitter = \"{jitter} ns\" }}")
        }
        4 => {
            let (delay, reorder) = (ns(draw, 1, 100), parts(draw, 300));
            format!("{{ kind = \"netem\", delay = \"{delay} ns\", jitter = \"1 ms\", reorder = {reorder} }}")
        }
        5 => {
            let (gap, length) = (ns(draw, 200, 5000), ns(draw, 10, 3000));
            format!("{{ kind = \"delay-spike\", gap = {{ exponential = \"{gap} ns\" }}, length = \"{length} ns\" }}")
        }
        6 => {
            let (gap, length) = (ns(draw, 500, 8000), ns(draw, 10, 8000));
            format!("{{ kind = \"outage\", gap = {{ exponential = \"{gap} ns\" }}, length = \"{length} ns\" }}")
        }
        7 => {
            let [drop, again, late] = [(0, 30), (31, 60), (61, 90)].map(|(least, most)| draw.from(least, most));
            let by = ns(draw, 1, 400);
            format!(
                "{{ kind = \"script\", drop = [{drop}], duplicate = [{again}], delay = [{{ nth = {late}, by = \"{by} ns\" }}] }}"
            )
        }
        _ => {
            let min = draw.from(2, 20);
            format!(
                "{{ kind = \"red\", min = \"{min} packets\", max = \"{} packets\", weight = 0.1, ecn = true }}",
                3 * min
            )
        }
    }
}

fn end(draw: &mut Draw, mut stack: Stack, calls: bool) -> EndOf {
    let (send, receive) = (draw.scaled(2_000, 400_000), draw.scaled(2_000, 1_000_000));
    let buffers = Buffers { send, receive };
    if draw.one_in(2) {
        stack.receive_window = ReceiveWindowSpec::Fixed;
    }
    if stack.receive_window != ReceiveWindowSpec::Fixed && stack.options.window_scale {
        // Linux's choice for the largest buffer (`tcp_select_initial_window`).
        stack.options.rcv_wscale = Some((receive.ilog2() as u8).saturating_sub(15).min(14));
    }
    // The caller writes more often than the other end.
    let writes = draw.from(0, if calls { 6 } else { 2 });
    let span = draw.scaled(1_000_000, 20_000_000_000);
    let mut acts: Vec<Act> = Vec::new();
    for _ in 0..writes {
        acts.push(Act { after: Nanos(draw.from(1, span)), what: What::Write(draw.scaled(1, 300_000)) });
    }
    let eager = draw.one_in(2);
    let mut at = 0;
    let gap = draw.scaled(100_000, 500_000_000);
    for _ in 0..if eager { 0 } else { draw.from(1, 200) } {
        at += draw.from(1, gap);
        acts.push(Act { after: Nanos(at), what: What::Read(draw.scaled(1, 100_000)) });
    }
    let last = match draw.from(0, 9) {
        0..=5 => Some(What::Shutdown),
        6..=7 => Some(What::Close),
        8 if draw.one_in(2) => Some(What::Abort),
        _ => None,
    };
    let after = Nanos(span + draw.from(1, 2_000_000_000));
    acts.extend(last.map(|what| Act { after, what }));
    acts.sort_by_key(|act| act.after);
    EndOf { stack, buffers, no_delay: draw.one_in(3), eager, acts }
}
