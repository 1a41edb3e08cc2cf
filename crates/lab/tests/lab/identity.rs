//! A run's identity is a hash of canonical JSON.

use ackclock_lab::identity::{identity, Identities};
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::RESULTS_REVISION;
use serde_json::Value;

const TEXT: &str = "[run]\nduration = \"1 s\"\n[[link]]\nfrom = \"A\"\nto = \"B\"\nrate = \"5 Mbps\"\ndelay = \"1 ms\"\n[[flow]]\nfrom = \"A\"\nto = \"B\"\nstack = \"reno\"\n";

fn of(text: &str, seed: u64) -> String {
    identity(&Plan::parse("x", text, &Overrides::default()).expect("a scenario"), seed)
}

#[test]
fn scenario_stack_and_seed_make_the_identity_and_the_name_does_not() {
    let same = of(TEXT, 1);
    assert_eq!(same.len(), 41);
    assert_eq!(of(&format!("name = \"other\"\n{TEXT}"), 1), same);
    assert_eq!(of(&TEXT.replace("duration", "measures = true\nduration"), 1), same, "measuring changes no run");
    for other in [of(TEXT, 2), of(&TEXT.replace("1 ms", "2 ms"), 1), of(&TEXT.replace("reno", "tahoe"), 1)] {
        assert_ne!(other, same);
    }
}

#[test]
fn the_identity_is_the_hash_of_canonical_json() {
    let plan = Plan::parse("x", TEXT, &Overrides::default()).unwrap();
    let json = Identities::of(&plan).json(7);
    assert_eq!(identity(&plan, 7), format!("xxh3-128:{:032x}", xxhash_rust::xxh3::xxh3_128(json.as_bytes())));
    let mut value: Value = serde_json::from_str(&json).unwrap();
    value.sort_all_objects();
    assert_eq!(value.to_string(), json);
    assert_eq!((&value["revision"], &value["seed"]), (&RESULTS_REVISION.into(), &7.into()));
    assert_eq!((&value["scenario"]["flow"][0]["stack"], &value["stacks"][0]["name"]), (&"0".into(), &"reno".into()));
}

#[test]
fn the_order_of_keys_the_form_of_numbers_and_written_defaults_do_not_change_the_identity() {
    let same = of(TEXT, 1);
    assert_eq!(of(&TEXT.replace("from = \"A\"\nto = \"B\"\n", "to = \"B\"\nfrom = \"A\"\n"), 1), same);
    assert_eq!(of(&TEXT.replace("1 ms", "1000 us").replace("5 Mbps", "5000 kbps"), 1), same);
    let defaults = TEXT.replace("delay", "queue = \"unlimited\"\nform = \"auto\"\nelements = []\ndelay");
    assert_ne!(defaults, TEXT);
    assert_eq!(of(&defaults, 1), same);
    let all = Plan::parse("x", TEXT, &Overrides::default()).unwrap().to_toml();
    assert_eq!(of(&all, 1), same);
}

#[test]
fn two_files_have_the_same_identity_if_and_only_if_they_describe_the_same_run() {
    let parse = |text: &str| Plan::parse("x", text, &Overrides::default()).ok();
    let all = parse(TEXT).unwrap().to_toml();
    let plan = parse(&all).unwrap();
    let (mut same, mut others) = (0, 0);
    // Every digit of every number, one higher.
    for (at, digit) in all.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        let more = digit.to_digit(10).map_or(0, |d| (d + 1) % 10);
        let Some(other) = parse(&format!("{}{more}{}", &all[..at], &all[at + 1..])) else { continue };
        let is_same = other.scenario == plan.scenario && other.stacks == plan.stacks;
        assert_eq!(identity(&other, 1) == identity(&plan, 1), is_same, "{}", other.to_toml());
        same += u32::from(is_same);
        others += u32::from(!is_same);
    }
    assert!(same > 0 && others > 20, "{same} describe the same run, {others} another one");
}
