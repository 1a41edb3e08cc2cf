//! Prints `docs/results.md` (argument `page`) or `web/src/engine/results.ts` (argument `types`).

use ackclock_course::tables::{FATES, MARKS, VERDICTS};
use ackclock_lab::summary::described;
use ackclock_table::{markdown, typescript, Described};
use ackclock_trace::schema::{PHASES, SLOTS, WHYS};

const HEAD: &str = "\
<!-- Generated: tools/dev generate docs/results.md -->
# Results

This page lists every number of a run: its name, which is the same in JSON, in tables, in sweeps and on the lab page, its unit and
its meaning. `ackclock run --json` has a list of rows of each kind; in Python, `result.to_dict()` has the same, and the frames of
[`Result`](api/result.md) have a column for each number. Means of several runs have the name of the number, and `…_ci95` is half
the width of their 95 % confidence interval.
";

/// The words behind numbers in columns, in the order of the numbers.
const WORDS: [(&str, &str, &[&str]); 6] = [
    ("SLOTS", "The slot that requested a segment or wrote the window.", SLOTS),
    ("PHASES", "The sender's phases.", PHASES),
    ("WHYS", "The reason for the start or the end of a phase.", WHYS),
    ("KINDS", "An instant that gets a sign.", MARKS),
    ("VERDICTS", "The verdict on a transmission, from the fate of every copy.", VERDICTS),
    ("FATES", "The fate of a transmission.", FATES),
];

/// The heading of a kind of row, and where it is found.
fn heading(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "flow" => ("Flows", "JSON: `runs[].flows[]`, means of several seeds in `flows[]`. Frames: `frame`, `summary`; there `name` is `flow`."),
        "reordering" => {
            ("Reordering", "JSON: `reordering` and `ack_reordering` of a flow. Frames: `reordering`, `densities`.")
        }
        "background" => ("Background traffic", "JSON: `runs[].background[]`. Frame: `background`."),
        "link" => ("Links", "JSON: `runs[].links[]`. Frame: `links`."),
        "stall" => ("Stalls", "JSON: `runs[].stalls[]`, with `--stalls`. Frame: `stalls`, with `stalls=True`."),
        "stall_sentence" => ("Sentences about a stall", "JSON: `sentences[]` of a stall."),
        "measured_group" => ("Several flows together", "JSON: `runs[].measures.groups[]`. Frame: `measures.groups`."),
        "measured_flow" => ("Measures of a flow", "JSON: `runs[].measures.flows[]`. Frame: `measures.flows`."),
        "measured_background" => {
            ("Measures of background traffic", "JSON: `runs[].measures.background[]`. Frame: `measures.background`.")
        }
        "measured_link" => ("Measures of a link", "JSON: `runs[].measures.links[]`. Frame: `measures.links`."),
        "flow_bin" => ("A flow over time", "JSON: `runs[].measures.bins[].flows[]`. Frame: `measures.flow_bins`."),
        "link_bin" => ("A link over time", "JSON: `runs[].measures.bins[].links[]`. Frame: `measures.link_bins`."),
        other => panic!("a row of kind {other} has no heading"),
    }
}

fn main() {
    let rows = described();
    if std::env::args().nth(1).as_deref() == Some("types") {
        let rows: Vec<Described> = rows.into_iter().map(|(_, row)| row).collect();
        print!("// Generated: tools/dev generate web/src/engine/results.ts\n{}", typescript(&rows));
        for (name, meaning, words) in WORDS {
            println!("\n/** {meaning} Columns have positions in it. */\nexport const {name} = {words:?} as const;");
        }
        return;
    }
    print!("{HEAD}");
    for (kind, row) in rows {
        let (title, place) = heading(kind);
        print!("\n## {title}\n\n{place}\n\n{}", markdown(&row));
    }
}
