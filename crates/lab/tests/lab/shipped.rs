//! The scenarios that ship as starting points, in `scenarios/`.

use ackclock_lab::run::run;
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::summary::Summary;
use ackclock_tcp::time::Nanos;
use std::ops::ControlFlow;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

/// The named scenario, which may be shortened.
fn plan(name: &str, longest: Nanos) -> Plan {
    let mut plan = Plan::load(&folder().join(name), &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    plan.scenario.duration = plan.scenario.duration.min(longest);
    plan
}

fn ran(plan: &Plan) -> Summary {
    run(plan, plan.seeds[0], None, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_shipped_scenario_runs_for_two_seconds_and_says_what_it_is() {
    let mut names: Vec<String> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".toml"));
    names.sort();
    assert_eq!(
        names,
        [
            "bundle.toml",
            "fukuda.toml",
            "handover.toml",
            "leung-ma.toml",
            "red-ecn.toml",
            "satellite.toml",
            "tailscale.toml",
            "textbook-newreno.toml",
            "two-paths.toml"
        ]
    );
    for name in names {
        let text = std::fs::read_to_string(folder().join(&name)).unwrap();
        assert!(text.starts_with("#:schema ../docs/scenario.schema.json\n# "), "{name} has no comment at its top");
        let summary = ran(&plan(&name, Nanos::from_secs(2)));
        assert_eq!(summary.duration_s, 2.0, "{name}");
        assert!(summary.flows.iter().all(|f| f.acked_bytes > 0), "{name}: {:?}", summary.flows);
    }
}

/// Within a minute, each scenario shows its purpose.
#[test]
fn every_shipped_scenario_shows_what_its_comment_promises() {
    let minute = |name| ran(&plan(name, Nanos::from_secs(60)));
    for name in ["bundle.toml", "fukuda.toml", "leung-ma.toml"] {
        let flow = &minute(name).flows[0];
        let reordered = flow.reordering.as_ref().unwrap().reordered;
        let back = flow.ack_reordering.as_ref().unwrap().reordered;
        assert!(reordered > 10 && back == 0, "{name}: {reordered} {back}");
        assert!(flow.data_drops == 0 && flow.needless_retransmissions > 0, "{name}: {flow:?}");
    }
    let textbook = &minute("textbook-newreno.toml").flows[0];
    assert!(textbook.dupthresh_max == Some(3) && textbook.needless_retransmissions > 100, "{textbook:?}");
    let handover = &minute("handover.toml").flows[0];
    assert!(handover.timeouts >= 2 && handover.data_drops == 0, "{handover:?}");
    assert_eq!(handover.retransmissions, handover.needless_retransmissions);
    let satellite = minute("satellite.toml");
    assert!(satellite.links[0].loss_drops > 0 && satellite.background[0].finished > 3, "{satellite:?}");
    let red = minute("red-ecn.toml");
    let bottleneck = &red.links[0];
    assert!(bottleneck.marks > 100 && bottleneck.early_drops + bottleneck.queue_drops == 0, "{bottleneck:?}");
    assert!(red.flows.iter().all(|f| f.retransmissions == 0), "{red:?}");
}

/// PAWS refuses late originals behind a retransmission with a younger timestamp. Without timestamps it refuses nothing.
#[test]
fn over_two_paths_with_timestamps_the_receiver_refuses_originals_and_without_them_none() {
    let flow = |timestamps: &str, seed| {
        let set = vec![("options.timestamps".to_owned(), timestamps.to_owned())];
        let overrides = Overrides { set, seed: Some(seed), ..Overrides::default() };
        let plan = Plan::load(&folder().join("two-paths.toml"), &overrides).unwrap_or_else(|e| panic!("{e}"));
        ran(&plan).flows[0].clone()
    };
    for seed in 1..=3 {
        let (with, without) = (flow("true", seed), flow("false", seed));
        for f in [&with, &without] {
            let kinds = f.needed_retransmissions + f.refused_retransmissions + f.needless_retransmissions;
            assert_eq!(kinds, f.retransmissions, "{f:?}");
            assert!(f.data_drops > 20 && f.needed_retransmissions <= f.data_drops, "{f:?}");
        }
        assert!(with.refused_retransmissions > 100, "seed {seed}: {with:?}");
        assert_eq!(without.refused_retransmissions, 0, "seed {seed}");
        assert!(without.goodput_bytes_per_s > with.goodput_bytes_per_s, "seed {seed}: {with:?} {without:?}");
    }
}
