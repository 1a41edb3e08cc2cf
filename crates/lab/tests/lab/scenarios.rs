//! Scenario files: the meaning of valid ones and the messages for invalid ones.

use ackclock_lab::identity::identity;
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_sim::scenario::{FlowSpec, PeerSpec};
use ackclock_tcp::ack::AckSpec;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::idle::IdleRule;
use ackclock_tcp::pacing::PacingRule;
use ackclock_tcp::stack::{Options, Stack};
use proptest::prelude::*;
use std::fmt::Write;

const GOOD: &str = include_str!("../scenarios/good.toml");
const ELEMENTS: &str = include_str!("../scenarios/elements.toml");
const DUMBBELL: &str = include_str!("../scenarios/dumbbell.toml");

fn parse(text: &str) -> Result<Plan, String> {
    Plan::parse("bad.toml", text, &Overrides::default()).map_err(|e| e.to_string())
}

#[test]
fn a_good_file_becomes_the_scenario_it_describes() {
    insta::assert_debug_snapshot!(parse(GOOD).unwrap().scenario);
}

#[test]
fn each_element_of_a_link_is_read_as_it_is_written() {
    let plan = parse(ELEMENTS).unwrap();
    insta::assert_debug_snapshot!(plan.scenario.links[0].forward.elements);
    insta::assert_debug_snapshot!(plan.scenario.background);
    // Options on the command line apply to the flows.
    let overrides = Overrides { stack: Some("tahoe".to_owned()), ..Overrides::default() };
    let other = Plan::parse("x.toml", ELEMENTS, &overrides).unwrap();
    assert_eq!(other.stacks.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["tahoe", "newreno"]);
    assert_eq!(Plan::parse("x.toml", &plan.to_toml(), &Overrides::default()).unwrap().scenario, plan.scenario);
}

#[test]
fn a_receiver_without_a_policy_answers_as_the_stack_says_and_knows_what_it_is_said_to_know() {
    let with = |receiver: &str| {
        let text = ELEMENTS.replace("stack = \"reno\"\n", &format!("stack = \"linux-2025\"\n{receiver}\n"));
        let plan = parse(&text).unwrap();
        assert_eq!(Plan::parse("x.toml", &plan.to_toml(), &Overrides::default()).unwrap().scenario, plan.scenario);
        plan.scenario.flows[0].clone()
    };
    let plain = with("");
    assert_eq!(with("receiver = {}"), plain);
    let no = Some(false);
    let old = with("receiver = { sack = false, dsack = false, timestamps = false }");
    let peer = PeerSpec { sack: no, dsack: no, timestamps: no };
    assert_eq!(old, FlowSpec { peer, ..plain.clone() });
    let ack = AckSpec::Every;
    let both = with("receiver = { ack = \"every\", timestamps = false }");
    assert_eq!(both, FlowSpec { ack, peer: PeerSpec { timestamps: no, ..PeerSpec::default() }, ..plain });
}

/// A flow with this application.
fn with_app(keys: &str) -> Plan {
    parse(&format!("[run]\nduration = \"20 s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"12 Mbps\"\ndelay = \"20 ms\"\n[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"newreno\"\n{keys}\n[[flow]]\nfrom = \"B\"\nto = \"A\"\nstack = \"reno\"\napp = {{ kind = \"fixed\", size = \"1 kB\" }}\n")).expect("a good scenario")
}

#[test]
fn transfers_on_new_connections_are_flows_that_wait_for_one_another_and_show_writes_them_as_one() {
    let plan = with_app(
        "name = \"web\"\ncount = 2\napp = { kind = \"transfers\", size = \"3 packets\", count = 3, think = { uniform = [\"1 ms\", \"9 ms\"] }, start = \"50 ms\" }",
    );
    let flows = &plan.scenario.flows;
    let found: Vec<_> = flows.iter().map(|f| (f.name.as_str(), f.after.map(|a| a.flow), f.app.start.0)).collect();
    let ms50 = 50_000_000;
    let expected = [
        ("web-1.1", None, ms50),
        ("web-1.2", Some(0), 0),
        ("web-1.3", Some(1), 0),
        ("web-2.1", None, ms50),
        ("web-2.2", Some(3), 0),
        ("web-2.3", Some(4), 0),
        ("flow-3", None, 0),
    ];
    assert_eq!(found, expected);
    assert!(flows[..6].iter().all(|f| f.app.bytes == Some(3 * 1460)));
    assert_eq!(plan.rows(), [("web-1", 0..3), ("web-2", 3..6), ("flow-3", 6..7)]);
    let shown = plan.to_toml();
    assert_eq!(shown.matches("[[flow]]").count(), 3, "{shown}");
    assert_eq!(Plan::parse("x.toml", &shown, &Overrides::default()).unwrap().scenario, plan.scenario);
}

#[test]
fn every_application_is_shown_as_it_is_read() {
    for app in [
        r#"{ kind = "transfers", size = "14 kB", count = 1 }"#,
        r#"{ kind = "transfers", size = "14 kB", count = 7, connections = "one", think = { constant = "1 s" } }"#,
        r#"{ kind = "transfers", size = "14 kB", count = 7, connections = "one" }"#,
        r#"{ kind = "writes", size = "14 kB", count = 7, gap = { exponential = "1 s" }, start = "1 s", jitter = "2 s" }"#,
        r#"{ kind = "writes", size = "2 packets", gap = { constant = "1 s" } }"#,
    ] {
        let plan = with_app(&format!("app = {app}"));
        let again = Plan::parse("x.toml", &plan.to_toml(), &Overrides::default()).unwrap();
        assert_eq!(again.scenario, plan.scenario, "{app}");
    }
}

#[test]
fn a_dumbbell_is_routers_and_two_access_links_for_each_flow() {
    let plan = parse(DUMBBELL).unwrap();
    assert_eq!(plan.seeds, [7]);
    let nodes: Vec<&str> = plan.scenario.nodes.iter().map(String::as_str).collect();
    assert_eq!(nodes, ["R1", "R2", "S1", "D1", "S2", "D2", "S3", "D3"]);
    let name = |n: u32| nodes[n as usize];
    let links: Vec<_> = plan.scenario.links.iter().map(|l| (name(l.from), name(l.to))).collect();
    let access = [("S1", "R1"), ("R2", "D1"), ("S2", "R1"), ("R2", "D2"), ("S3", "R1"), ("R2", "D3")];
    assert_eq!(links[0], ("R1", "R2"));
    assert_eq!(links[1..], access);
    let flows: Vec<_> =
        plan.scenario.flows.iter().map(|f| (name(f.from), name(f.to), f.app.start.0, f.stack)).collect();
    assert_eq!(flows, [("S1", "D1", 0, 0), ("S2", "D2", 500_000_000, 0), ("S3", "D3", 0, 1)]);
}

#[test]
fn one_message_with_file_line_key_found_and_allowed_for_each_bad_scenario() {
    let mut out = String::new();
    for case in include_str!("../scenarios/bad.txt").split("== ").skip(1) {
        let (title, text) = case.split_once('\n').unwrap();
        let message = parse(text).expect_err(title);
        assert_eq!(message.lines().count(), 1, "{message}");
        writeln!(out, "{title}\n    {message}").unwrap();
    }
    insta::assert_snapshot!(without_lists(&out));
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let load = |path: &std::path::Path| Plan::load(path, &Overrides::default()).unwrap_err();
    let dir = std::env::temp_dir();
    let latin1 = dir.join(format!("ackclock-latin1-{}.toml", std::process::id()));
    std::fs::write(&latin1, b"[run]\nduration = \"10 s\"\nname = \"caf\xe9\"\n").unwrap();
    let e = load(&latin1);
    std::fs::remove_file(&latin1).unwrap();
    assert_eq!((e.line, e.found.as_str(), e.allowed.as_str()), (Some(3), "the byte 0xe9", "text in UTF-8"));
    for path in [dir.as_path(), &dir.join("ackclock-no-such-file.toml")] {
        let e = load(path);
        assert_eq!((e.line, e.file.as_str()), (None, path.to_str().unwrap()));
        assert!(e.found.starts_with("no readable file ("), "{e}");
    }
}

#[test]
fn the_command_line_overrides_stack_parameters_and_seed() {
    let set = vec![("rto.tick".to_owned(), "250 ms".to_owned()), ("recovery".to_owned(), "tahoe".to_owned())];
    let overrides = Overrides { stack: Some("reno".to_owned()), set, seed: Some(9), ..Overrides::default() };
    let plan = Plan::parse("good.toml", GOOD, &overrides).unwrap();
    assert_eq!(plan.seeds, [9]);
    let stack = serde_json::to_value(&plan.stacks[0]).unwrap();
    assert_eq!(stack["rto"]["tick"], "250 ms");
    assert_eq!(stack["recovery"]["kind"], "tahoe");
    let set = vec![("limits.maxburst_segs".to_owned(), "4".to_owned())];
    let plan = Plan::parse("d.toml", DUMBBELL, &Overrides { set, ..Overrides::default() }).unwrap();
    assert_eq!(plan.stacks[1].limits.maxburst_segs, Some(4));
}

#[test]
fn a_default_that_is_not_the_profiles_can_be_set_for_every_stack_and_is_written_down() {
    let with = |stack: &str, path: &str, value: &str| {
        let set = vec![(path.to_owned(), value.to_owned())];
        let overrides = Overrides { stack: Some(stack.to_owned()), set, ..Overrides::default() };
        Plan::parse("good.toml", GOOD, &overrides).map_err(|e| e.to_string())
    };
    for stack in Stack::names() {
        let idle = with(stack, "idle", "keep").unwrap();
        assert_eq!(idle.stacks[0].idle, IdleRule::Keep, "{stack}");
        let pacing = match with(stack, "pacing", "off") {
            Ok(plan) => plan,
            Err(e) => {
                assert!(e.contains("only with pacing"), "{stack}: {e}");
                continue;
            }
        };
        assert_eq!(pacing.stacks[0].pacing, PacingRule::Off, "{stack}");
        for plan in [idle, pacing] {
            let again = Plan::parse("good.toml", &plan.to_toml(), &Overrides::default()).unwrap();
            assert_eq!(again.stacks, plan.stacks, "{stack}");
        }
    }
}

/// Everything that `[[link]]` and `[[flow]]` can contain, with no default values.
const RICH: &str = r#"
name = "quotes \" and \u007f"
[run]
duration = "20.5 s"
seeds = [3, 1, 9223372036854775807]
[[link]]
from = "A b"
to = "R"
rate = "unlimited"
delay = "1234567 ns"
form = "queued"
elements = [{ kind = "script", at = "exit", drop = [14, 26], duplicate = [3], delay = [{ nth = 5, by = "30 ms" }] }]
back = { rate = "204800 B/s", queue = "64 KiB", elements = [{ kind = "bernoulli", p = 1e-7, at = "exit" }] }
[[link]]
from = "R"
to = "D"
rate = "5 Mbps"
delay = "50 ms"
queue = { limit = "65 packets", limit_counts_service = true }
elements = [{ kind = "swap", mode = "literal", count = 2, gap = { constant = "1 s" } }]
back = { elements = [{ kind = "swap", mode = "slots", gap = { exponential = "0.3 s" } }] }
[[flow]]
name = "many"
from = "A b"
to = "D"
count = 3
spread = "1 s"
stack = "dsack-ewma"
segment = "1000 B"
window = "1.5 MB"
header = "20 B"
app = { kind = "fixed", size = "7 packets", start = "3 ms" }
receiver = { ack = "heartbeat", interval = "100 ms", phase = "7 ms" }
set = { "rto.tick" = "500 ms", "limits.maxburst_segs" = 4, "detect.threshold.alpha" = 0.3, name = "mine" }
[[flow]]
from = "D"
to = "A b"
stack = "rfc-6675"
handshake = true
receiver = { ack = "delayed", delay = "40 ms" }
"#;

#[test]
fn a_plan_written_down_reads_as_the_same_runs() {
    // Only some timers have the tick that one flow sets.
    let plain = GOOD.replace("\"rto.tick\" = \"500 ms\"", "");
    let each_stack = Stack::names().map(|s| (plain.as_str(), Some(s.to_owned())));
    for (text, stack) in [(GOOD, None), (DUMBBELL, None), (RICH, None)].into_iter().chain(each_stack) {
        let overrides = Overrides { stack, ..Overrides::default() };
        let plan = Plan::parse("x.toml", text, &overrides).unwrap();
        let written = plan.to_toml();
        let again = Plan::parse("x.toml", &written, &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again, plan, "{written}");
        assert_eq!(identity(&again, plan.seeds[0]), identity(&plan, plan.seeds[0]));
        assert_eq!(again.to_toml(), written);
    }
}

/// The lists of all stacks and of all kinds grow with every algorithm, so the snapshot only keeps that there is a list.
fn without_lists(messages: &str) -> String {
    let stacks: Vec<&str> = Stack::names().collect();
    let short = messages.replace(&stacks.join(", "), "(all stacks)");
    let recoveries = "one of tahoe, reno, newreno, ";
    let lines = short.lines().map(|line| match line.split_once(recoveries) {
        Some((head, list)) => format!("{head}{recoveries}...{}\n", &list[list.find(';').unwrap_or(list.len())..]),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn a_bad_option_is_refused_with_its_name() {
    let refuse = |stack: Option<&str>, set: &[(&str, &str)]| {
        let set = set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let overrides = Overrides { stack: stack.map(str::to_owned), set, ..Overrides::default() };
        Plan::parse("d.toml", DUMBBELL, &overrides).unwrap_err().to_string()
    };
    let mut out = String::new();
    for message in [
        refuse(Some("rneo"), &[]),
        refuse(None, &[("rto.tik", "500 ms")]),
        refuse(None, &[("rto.tick", "500")]),
        refuse(None, &[("rto.tick", "5 h")]),
        refuse(None, &[("", "5")]),
        refuse(Some("reno"), &[("rto.min", "90 s"), ("recovery.inflate_segs", "1")]),
        refuse(Some("reno"), &[("options.sack", "maybe")]),
    ] {
        writeln!(out, "{message}").unwrap();
    }
    insta::assert_snapshot!(without_lists(&out));
}

#[test]
fn sack_can_be_switched_off_in_every_stack_and_what_does_not_survive_is_refused_by_name() {
    let plan = |stack: &str, set: &[(&str, &str)]| {
        let set = set.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let overrides = Overrides { stack: Some(stack.to_owned()), set, ..Overrides::default() };
        Plan::parse("d.toml", DUMBBELL, &overrides).map_err(|e| e.to_string())
    };
    let off = ("options.sack", "false");
    for name in Stack::names() {
        let (plan, named) = (plan(name, &[off]).unwrap(), Stack::named(name).unwrap());
        let options = Options { sack: false, ..named.options };
        let as_it_is = Stack { options, ..named.clone() };
        let want = if as_it_is.validate().is_ok() { as_it_is } else { named.without_sack() };
        assert_eq!(plan.stacks[0], want, "{name}");
        let written = plan.to_toml();
        let again = Plan::parse("x.toml", &written, &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again.stacks, plan.stacks, "{written}");
    }
    let bounded = plan("linux-2025", &[off, ("detect.max_reordering", "3")]).unwrap();
    assert!(matches!(&bounded.stacks[0].detect, DetectSpec::LinuxNoSack(s) if s.max_reordering == 3));
    for set in [("recovery", "prr"), ("options.dsack", "true"), ("detect.persist", "3")] {
        let refused = plan(if set.0 == "recovery" { "rfc-6675" } else { "linux-2025" }, &[off, set]).unwrap_err();
        assert!(refused.contains(set.0) && refused.contains("only together with options.sack = true"), "{refused}");
    }
    assert!(plan("reno", &[off, ("recovery", "prr")]).unwrap_err().contains("options.sack = true"));
}

proptest! {
    #[test]
    fn a_mutated_file_is_read_or_refused_but_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, ".{0,6}"), 1..6),
    ) {
        for good in [GOOD, DUMBBELL] {
            let mut text: Vec<char> = good.chars().collect();
            for (at, cut, insert) in &edits {
                let at = at.index(text.len() + 1);
                let end = (at + cut).min(text.len());
                text.splice(at..end, insert.chars());
            }
            let text: String = text.into_iter().collect();
            if let Err(message) = parse(&text) {
                prop_assert!(message.starts_with("bad.toml:"), "{}", message);
                prop_assert_eq!(message.lines().count(), 1, "{}", message);
            }
        }
    }

    #[test]
    fn a_value_exchanged_for_another_is_read_or_refused_but_never_panics(
        line in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![
            "0", "-1", "1e300", "nan", "inf", "true", "\"\"", "\"0 s\"", "\"9e9 s\"", "[]", "{}", "[[]]", "{ kind = 1 }", "1979-05-27",
            "\"99999999999 packets\"", "\"140000 s\"", "0x7fffffffffffffff", "99999999999999999999", "\"µ\"", "\"5 µs\"", "'''\n'''",
        ]),
    ) {
        for good in [GOOD, DUMBBELL] {
            let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
            let n = line.index(lines.len());
            if let Some((key, _)) = lines[n].clone().split_once('=') {
                lines[n] = format!("{key} = {value}");
            }
            let _ = parse(&lines.join("\n"));
        }
    }
}
