//! One path, all stacks: a table.

use crate::notes::Note;
use crate::paths::{self, Path};
use crate::watch::Counts;
use ackclock_sim::engine::Sim;
use ackclock_sim::results::FlowResult;
use ackclock_sim::scenario::Scenario;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::startup::StartupSpec;

/// Titles of the columns behind the stack's name.
pub(crate) const COLUMNS: [&str; 7] = ["kB/s", "needed", "needless", "timeouts", "fast rec.", "undone", "stall ms"];

/// The results of all stacks on one path.
pub(crate) struct Table {
    pub(crate) path: &'static Path,
    /// Each stack's cells.
    pub(crate) rows: Vec<(&'static str, [String; COLUMNS.len()])>,
}

/// Slow start ends here if the stack has such a setting.
const SSTHRESH_SEGS: u32 = 40;

fn run(s: &Scenario, stack: &Stack) -> (FlowResult, Counts) {
    let mut sim = Sim::new(s, std::slice::from_ref(stack), 1, Counts::default()).expect("a possible scenario");
    let flow = sim.run().flows[0];
    (flow, sim.into_watch())
}

fn row(p: &Path, name: &str) -> [String; COLUMNS.len()] {
    let mut stack = Stack::named(name).expect("a named stack");
    if let StartupSpec::Fixed(f) = &mut stack.startup {
        f.ssthresh_segs = Some(SSTHRESH_SEGS);
    }
    let mut s = paths::plain(p);
    (p.change)(&mut s);
    let (mut flow, mut counts) = run(&s, &stack);
    if p.lose_the_first_repair {
        // Up to that packet the second run equals the first, so the packet has the same number
        // there.
        paths::drop(&mut s, &[counts.first_repair.expect("a retransmission")]);
        (flow, counts) = run(&s, &stack);
    }
    let finished = flow.finished.unwrap_or_else(|| panic!("{name} on \"{}\" does not finish: {flow:?}", p.name));
    assert_eq!(flow.refused, 0, "{name} on \"{}\": what its receiver refuses needs a column", p.name);
    let kb_per_s = flow.acked as f64 / 1000.0 / finished.as_secs_f64();
    [
        format!("{kb_per_s:.1}"),
        flow.needed.to_string(),
        flow.needless.to_string(),
        counts.timeouts.to_string(),
        counts.fast_recoveries.to_string(),
        counts.undone.to_string(),
        format!("{:.0}", counts.stall.as_secs_f64() * 1000.0),
    ]
}

/// Runs all named stacks on `path`.
pub(crate) fn measure(path: &'static Path) -> Table {
    Table { path, rows: Stack::names().map(|name| (name, row(path, name))).collect() }
}

/// The table as text, followed by its notes.
pub(crate) fn show(t: &Table, notes: &[Note]) -> String {
    let mut out = format!("{}: {}\n{} segments\n\n{:<24}", t.path.name, t.path.about, t.path.segments, "stack");
    COLUMNS.iter().for_each(|c| out += &format!("{c:>11}"));
    out.push('\n');
    for (name, cells) in &t.rows {
        out += &format!("{name:<24}");
        cells.iter().for_each(|c| out += &format!("{c:>11}"));
        out.push('\n');
    }
    for n in notes.iter().filter(|n| n.path == t.path.name) {
        out += &format!("  {}, {} {}: {}\n", n.stacks.join(", "), n.column, n.value, n.why);
    }
    out
}
