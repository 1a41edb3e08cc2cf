//! Stacks chosen for every flow instead of the file's own, with their own parameters.

use ackclock_lab::run::run;
use ackclock_lab::scenario::{Overrides, Plan};
use std::ops::ControlFlow;

const PATH: &str = r#"
[run]
duration = "2 s"
[[link]]
from = "A"
to = "B"
rate = "5 Mbps"
delay = "20 ms"
elements = [{ kind = "bernoulli", p = 0.01 }]
[[flow]]
from = "A"
to = "B"
stack = "dsack-avg"
set = { "detect.threshold.count_filling_ack" = false, "rto.min" = "300 ms" }
"#;

fn plan(text: &str, stack: &str, set: &[(&str, &str)]) -> Result<Plan, String> {
    let set = set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let overrides = Overrides { stack: Some(stack.to_owned()), set, ..Overrides::default() };
    Plan::parse("x.toml", text, &overrides).map_err(|e| e.to_string())
}

fn min_rto(plan: &Plan) -> String {
    serde_json::to_value(&plan.stacks[0]).expect("a stack is JSON")["rto"]["min"].to_string()
}

#[test]
fn own_parameters_of_a_stack_count_after_those_of_the_file_and_of_all_stacks() {
    let set = [("rto.min", "400 ms")];
    assert_eq!(min_rto(&plan(PATH, "dsack-avg", &[]).unwrap()), "\"300 ms\"");
    assert_eq!(min_rto(&plan(PATH, "dsack-avg", &set).unwrap()), "\"400 ms\"");
    assert_eq!(min_rto(&plan(PATH, "dsack-avg,rto.min=500 ms", &set).unwrap()), "\"500 ms\"");
}

#[test]
fn a_stack_with_own_parameters_is_called_as_it_was_written_or_by_the_name_among_them() {
    assert_eq!(plan(PATH, "rfc-6675,rto.min=1 s", &[]).unwrap().stacks[0].name, "rfc-6675,rto.min=1 s");
    assert_eq!(plan(PATH, "rfc-6675,name=patient,rto.min=1 s", &[]).unwrap().stacks[0].name, "patient");
    assert_eq!(plan(PATH, "rfc-6675", &[]).unwrap().stacks[0].name, "rfc-6675");
}

#[test]
fn parameters_of_a_file_that_the_chosen_stack_lacks_are_reported_and_the_others_count() {
    let plan = plan(PATH, "linux-2025", &[]).unwrap();
    assert_eq!(plan.unused, ["detect.threshold.count_filling_ack"]);
    assert_eq!(min_rto(&plan), "\"300 ms\"");
    let summary = run(&plan, 1, None, &mut |_| ControlFlow::Continue(())).unwrap();
    let json = serde_json::to_value(&summary).unwrap();
    assert_eq!(json["unused_parameters"], serde_json::json!(["detect.threshold.count_filling_ack"]));
}

#[test]
fn what_a_person_sets_and_a_stack_lacks_is_refused() {
    for (stack, set, key) in [
        (
            "linux-2025",
            &[("detect.threshold.count_filling_ack", "true")][..],
            "--set detect.threshold.count_filling_ack",
        ),
        ("linux-2025,detect.threshold.count_filling_ack=true", &[][..], "--stack"),
    ] {
        let message = plan(PATH, stack, set).unwrap_err();
        assert!(message.starts_with(&format!("command line: key `{key}`: found ")), "{message}");
    }
}

#[test]
fn what_no_stack_of_the_file_has_is_refused_with_its_line_also_beside_a_chosen_stack() {
    let message = plan(&PATH.replace("threshold.count_filling_ack", "threshold.count_filing_ack"), "linux-2025", &[])
        .unwrap_err();
    assert!(message.starts_with("x.toml:14: key `flow[0].set.\"detect.threshold.count_filing_ack\"`: "), "{message}");
}
