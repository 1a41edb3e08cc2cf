//! Elements that reorder packets or change a path with time: their form in files.

use ackclock_lab::identity::identity;
use ackclock_lab::run::run;
use ackclock_lab::scenario::{Overrides, Plan};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A scenario with these elements on its one link.
fn text(elements: &str) -> String {
    format!(
        r#"[run]
duration = "3 s"
[[link]]
from = "A"
to = "B"
rate = "10 Mbps"
delay = "20 ms"
queue = "50 packets"
elements = [
{elements}
]
back = {{ elements = [] }}
[[flow]]
from = "A"
to = "B"
stack = "rfc-6675"
"#
    )
}

fn parse(elements: &str) -> Result<Plan, String> {
    Plan::parse("bad.toml", &text(elements), &Overrides::default()).map_err(|e| e.to_string())
}

const EACH: [&str; 12] = [
    r#"{ kind = "redrawn-delay", mean = "200 ms", deviation = "66.667 ms", every = "50 ms" }"#,
    r#"{ kind = "redrawn-delay", mean = "2 ms", deviation = "0 s", every = "1 s", below_zero = "zero", overtaking = false, draws = "link" }"#,
    r#"{ kind = "split", paths = [{ weight = 1 }, { weight = 3, rate = "1 Mbps", delay = "250 ms", queue = "9 packets", elements = [{ kind = "bernoulli", p = 0.01 }] }] }"#,
    r#"{ kind = "split", choice = "random", paths = [{ weight = 0 }, { weight = 7, form = "queued" }] }"#,
    r#"{ kind = "demote", interval = 8 }"#,
    r#"{ kind = "demote", interval = 80, device = "100 packets" }"#,
    r#"{ kind = "netem", delay = "10 ms", jitter = "3 ms", jitter_correlation = 0.25, distribution = "normal" }"#,
    r#"{ kind = "netem", delay = "10 ms", reorder = 0.25, reorder_correlation = 0.5, gap = 5, rate = "8 Mbps", limit = "70 packets" }"#,
    r#"{ kind = "netem", delay = "10 ms", reorder = 0.25 }"#,
    r#"{ kind = "netem", delay = "10 ms", gap = 5 }"#,
    "{ kind = \"path-trace\", data = \"\"\"\ntime_s,delay_ms,loss,rate_mbps\n0,10,0,5\n1.5,20.25,0.1,0.7\n\"\"\", repeat = \"2 s\", at = \"entry\" }",
    "{ kind = \"deliveries\", data = \"1\\n1\\n2\\n\", bytes = \"1504 B\" }",
];

#[test]
fn each_element_is_read_written_down_as_the_same_runs_and_run() {
    let mut identities = Vec::new();
    let traces = Folder::new("each", &[]);
    for element in EACH {
        let plan = parse(element).unwrap();
        let written = plan.to_toml();
        let again =
            Plan::parse("bad.toml", &written, &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again.scenario.links, plan.scenario.links, "{written}");
        assert_eq!((again.to_toml(), identity(&again, 1)), (written, identity(&plan, 1)));
        identities.push(identity(&plan, 1));
        let summary = run(&plan, 1, None, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(summary.flows[0].acked_bytes > 50_000, "{element}: {}", summary.flows[0].acked_bytes);
        let trace = traces.0.join("trace.csv");
        let traced = run(&plan, 1, Some(&trace), &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(traced, summary, "{element}");
    }
    identities.sort();
    identities.dedup();
    assert_eq!(identities.len(), EACH.len());
}

#[test]
fn a_run_reports_reordering_on_request() {
    let text =
        text(EACH[4]).replace("\"50 packets\"", "\"unlimited\"").replace("duration", "reordering = true\nduration");
    let plan = Plan::parse("x", &text, &Overrides::default()).unwrap();
    assert!(plan.to_toml().contains("\nreordering = true\n"));
    let of = |plan: &Plan| run(plan, 1, None, &mut |_| ControlFlow::Continue(())).unwrap();
    let asked = of(&plan);
    let data = asked.flows[0].reordering.clone().unwrap();
    assert_eq!((data.extents.get(&8), data.n_reordered.get(&8)), (Some(&data.reordered), Some(&data.reordered)));
    assert!(data.reordered > 10 && data.packets > 8 * data.reordered && data.duplicates == 0);
    assert_eq!(asked.flows[0].ack_reordering.as_ref().map(|acks| acks.reordered), Some(0));
    let mut silent = of(&Plan { reordering: false, ..plan });
    assert!(silent.flows[0].reordering.is_none() && silent.flows[0].ack_reordering.is_none());
    (silent.flows[0].reordering, silent.flows[0].ack_reordering) =
        (asked.flows[0].reordering.clone(), asked.flows[0].ack_reordering.clone());
    assert_eq!(silent, asked);
}

#[test]
fn all_of_them_in_a_row_run_and_deliver() {
    let plan = Plan::parse("paths.toml", include_str!("../scenarios/paths.toml"), &Overrides::default()).unwrap();
    let again = Plan::parse("paths.toml", &plan.to_toml(), &Overrides::default()).unwrap();
    assert_eq!(Plan { file: plan.file.clone(), ..again }, plan);
    let f = &run(&plan, 3, None, &mut |_| ControlFlow::Continue(())).unwrap().flows[0];
    let order = f.reordering.as_ref().unwrap();
    assert!(f.acked_bytes > 100_000 && order.reordered > 10, "{} {order:?}", f.acked_bytes);
}

#[test]
fn each_mistake_is_one_line_with_line_key_found_and_allowed() {
    let cases = [
        (
            r#"{ kind = "redrawn-delay", mean = "0 s", deviation = "1 ms", every = "1 s" }"#,
            "elements[0].mean`: found \"0 s\", allowed: a time above zero",
        ),
        (r#"{ kind = "redrawn-delay", mean = "1 s", every = "1 s" }"#, "elements[0].deviation`: found nothing"),
        (
            r#"{ kind = "redrawn-delay", mean = "1 s", deviation = "1 s", every = "1 s", below_zero = "agin" }"#,
            "did you mean \"again\"?",
        ),
        (
            r#"{ kind = "split", paths = [{ weight = 0 }] }"#,
            "paths`: found no path with a weight above 0, allowed: at least one",
        ),
        (r#"{ kind = "split", paths = [{ weight = 1, wieght = 2 }] }"#, "paths[0].wieght`: found an unknown key"),
        (
            r#"{ kind = "split", paths = [{ weight = 1, rate = "unlimited" }] }, { kind = "demote", interval = 4 }"#,
            "a demote beside a split, where it would act after the queue",
        ),
        (r#"{ kind = "demote", interval = 0 }"#, "interval`: found 0, allowed: a whole number from 1"),
        (
            r#"{ kind = "demote", interval = 4, device = "64 KiB" }"#,
            "device`: found \"64 KiB\" (unknown unit), allowed: a number of packets, as in",
        ),
        (r#"{ kind = "netem", reorder = 0.25 }"#, "delay`: found only `reorder`, allowed: a time"),
        (
            r#"{ kind = "netem", delay = "1 s", jitter = "3 s" }"#,
            "jitter`: found \"3 s\", allowed: at most 2147483647 ns",
        ),
        (r#"{ kind = "netem", delay = "1 s", reorder = 25 }"#, "reorder`: found 25, allowed: a number from 0 to 1"),
        (r#"{ kind = "path-trace" }"#, "found neither `file` nor `data`, allowed: file or data"),
        (
            "{ kind = \"path-trace\", data = \"time_s,loss\\n0,2\\n\" }",
            "data`: found 2 in its line 2, loss, allowed: a probability",
        ),
        (
            "{ kind = \"path-trace\", data = \"time_s,loss\\n0,1\\n9,0\\n\", repeat = \"9 s\" }",
            "repeat`: found \"9 s\", allowed: a time after",
        ),
        ("{ kind = \"deliveries\", data = \"5\\n4\\n\" }", "data`: found 4 in its line 2, allowed: a time not before"),
        (r#"{ kind = "deliveries", file = "no-such-file" }"#, "file`: found \"no-such-file\" (no readable file"),
    ];
    for (element, words) in cases {
        let message = match parse(element) {
            Err(message) => message,
            // Faults that only the simulator can detect.
            Ok(plan) => run(&plan, 1, None, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string(),
        };
        assert!(message.contains(words), "{element}: {message}");
        assert!(message.starts_with("bad.toml") && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn a_demote_where_nothing_can_wait_is_refused() {
    let unlimited = text(EACH[4]).replace("10 Mbps", "unlimited").replace("queue = \"50 packets\"\n", "");
    let message = Plan::parse("bad.toml", &unlimited, &Overrides::default()).unwrap_err().to_string();
    assert!(message.contains("found a demote on a link of unlimited rate"), "{message}");
    // Deliveries make packets wait.
    let both = text(&format!("{}, {}", EACH[11], EACH[4])).replace("10 Mbps", "unlimited");
    Plan::parse("bad.toml", &both, &Overrides::default()).unwrap();
}

/// A folder with these files, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("ackclock-paths-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("traces")).expect("a folder for the test");
        for (name, text) in files {
            std::fs::write(path.join(name), text).expect("a file for the test");
        }
        Folder(path)
    }

    fn load(&self, scenario: &str) -> Result<Plan, String> {
        Plan::load(&self.0.join(scenario), &Overrides::default()).map_err(|e| e.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_table_is_read_beside_the_scenario_and_its_content_is_part_of_the_identity() {
    let scenario = text(r#"{ kind = "path-trace", file = "traces/a.csv" }"#);
    let of = |name, csv| {
        let folder = Folder::new(name, &[("s.toml", &scenario), ("traces/a.csv", csv)]);
        folder.load("s.toml").map(|plan| identity(&plan, 1))
    };
    let one = of("one", "time_s,loss\n0,0.1\n").unwrap();
    assert_ne!(of("two", "time_s,loss\n0,0.2\n").unwrap(), one);
    assert_eq!(of("same", "# the same\ntime_s,loss\n0.0,0.10\n").unwrap(), one);
    let inline = text("{ kind = \"path-trace\", data = \"time_s,loss\\n0,0.1\\n\" }");
    assert_eq!(identity(&Plan::parse("x", &inline, &Overrides::default()).unwrap(), 1), one);
}

#[test]
fn a_mistake_in_a_table_is_reported_with_its_file_and_line_and_the_file_is_not_quoted() {
    let scenario = text(r#"{ kind = "path-trace", file = "traces/a.csv" }"#);
    let folder = Folder::new("bad", &[("s.toml", &scenario), ("traces/a.csv", "time_s,loss\n0,0\n1,x\n")]);
    let message = folder.load("s.toml").unwrap_err();
    let file = folder.0.join(Path::new("traces/a.csv"));
    let found = "something else (files that a scenario names are not quoted)";
    let want = format!("{}:3: key `loss`: found {found}, allowed: a probability from 0 to 1", file.display());
    assert_eq!(message, want);
}
