//! External algorithms: their creation, their slots, and the errors if they cannot be created.

use ackclock_lab::identity::identity;
use ackclock_lab::run::run;
use ackclock_lab::scenario::outside::{Custom, Refused, Workshop};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_tcp::detect::threshold::DupThresh;
use ackclock_tcp::detect::Learner;
use ackclock_tcp::event::Window;
use ackclock_tcp::facts::ctx::Ctx;
use ackclock_tcp::Factory;
use serde_json::{Map, Value};
use std::ops::ControlFlow;
use std::sync::Arc;

const TEXT: &str = "[run]\nduration = \"20 s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"5 Mbps\"\ndelay = \"30 ms\"\nelements = [{ kind = \"bernoulli\", p = 0.01 }]\n[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"reno\"\n";

/// Makes thresholds that are always the same.
#[derive(Debug)]
struct Shop;

struct Always(u32);

impl DupThresh for Always {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.0
    }
}

impl Learner for Always {}

impl Workshop for Shop {
    fn make(&self, slot: &str, table: &Map<String, Value>) -> Result<Custom, Refused> {
        assert_eq!(slot, "detect.threshold");
        let Some(n) = table.get("n").and_then(Value::as_u64) else {
            let (found, allowed) = ("nothing".to_owned(), "a number".to_owned());
            return Err(Refused { key: Some("n".to_owned()), found, allowed, hint: None });
        };
        let make = Arc::new(move |_| Box::new(Always(n as u32)) as Box<dyn DupThresh>);
        Ok(Custom::Threshold(Factory { name: table["source"].to_string(), identity: n, make }))
    }
}

fn plan(more: &str, set: &[(&str, &str)], workshop: bool) -> Result<Plan, String> {
    let set = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let workshop = workshop.then(|| Arc::new(Shop) as Arc<dyn Workshop>);
    let overrides = Overrides { set, workshop, ..Overrides::default() };
    Plan::parse("x.toml", &format!("{TEXT}{more}"), &overrides).map_err(|e| e.to_string())
}

fn hash(plan: &Plan) -> String {
    run(plan, 1, None, &mut |_| ControlFlow::Continue(())).expect("nothing stops it").trace_hash
}

const TABLE: &str = "[flow.set.detect.threshold]\nkind = \"python\"\nsource = \"a.py:A\"\nn = 5\n";

#[test]
fn what_a_workshop_makes_runs_in_its_slot() {
    let made = plan(TABLE, &[], true).unwrap();
    let five = plan("", &[("detect.threshold", "{ kind = \"fixed\", segments = 5 }")], true).unwrap();
    assert_eq!(hash(&made), hash(&five));
    assert_ne!(hash(&made), hash(&plan("", &[], true).unwrap()));
    assert!(made.outside[0].contains_key("detect.threshold") && five.outside[0].is_empty());
}

#[test]
fn what_is_set_later_counts() {
    let six = plan(TABLE, &[("detect.threshold.n", "6")], true).unwrap();
    assert_eq!(six.outside[0]["detect.threshold"]["n"], 6);
    assert_ne!(identity(&six, 1), identity(&plan(TABLE, &[], true).unwrap(), 1));
    for (path, text) in [("detect.threshold", "fixed"), ("detect.threshold.kind", "fixed"), ("detect", "dup-ack")] {
        let built_in = plan(TABLE, &[(path, text)], true).unwrap();
        assert!(built_in.outside[0].is_empty(), "{path}");
        assert_eq!(identity(&built_in, 1), identity(&plan("", &[], true).unwrap(), 1), "{path}");
    }
}

#[test]
fn a_plan_writes_its_tables_down_and_reads_them_again() {
    let made = plan(TABLE, &[("detect.guard", "off")], true).unwrap();
    let overrides = Overrides { workshop: Some(Arc::new(Shop)), ..Overrides::default() };
    let again = Plan::parse("x.toml", &made.to_toml(), &overrides).unwrap();
    assert_eq!(again, made);
    assert_eq!(identity(&again, 1), identity(&made, 1));
}

#[test]
fn a_refusal_names_the_place_of_the_key() {
    let refuse = |more: &str, set: &[(&str, &str)], workshop| plan(more, set, workshop).unwrap_err();
    assert_eq!(
        refuse(&TABLE.replace("n = 5", "n = \"x\""), &[], true),
        "x.toml:16: key `flow[0].set.detect.threshold.n`: found nothing, allowed: a number"
    );
    assert_eq!(
        refuse(TABLE, &[("detect.threshold.n", "x")], true),
        "command line: key `--set detect.threshold.n`: found nothing, allowed: a number"
    );
    assert_eq!(
        refuse(TABLE, &[], false),
        "x.toml:13: key `flow[0].set.detect.threshold`: found kind \"python\", allowed: a built-in kind, since Python classes run only under Python"
    );
    let rack =
        "[flow.set]\ndetect = \"vegas\"\n\"detect.threshold\" = { kind = \"python\", source = \"a.py:A\", n = 5 }\n";
    assert_eq!(
        refuse(rack, &[], true),
        "x.toml:15: key `flow[0].set[\"detect.threshold\"]`: found a threshold rule for a detector without a threshold, allowed: also detect = \"dup-ack\" or detect = \"sack\""
            .replace("[\"detect.threshold\"]", ".\"detect.threshold\"")
    );
}

#[test]
fn without_python_a_path_element_in_python_is_refused_with_its_place() {
    let text = r#"
[run]
duration = "1 s"
[[link]]
from = "A"
to = "B"
rate = "5 Mbps"
delay = "30 ms"
elements = [{ kind = "python", source = "model.py:Model", at = "exit" }]
[[flow]]
from = "A"
to = "B"
stack = "reno"
"#;
    let error = Plan::parse("x.toml", text, &Overrides::default()).expect_err("there is no Python here");
    assert_eq!(
        error.to_string(),
        "x.toml:9: key `link[0].elements[0]`: found kind \"python\", allowed: a built-in kind, since Python classes run only under Python"
    );
}
