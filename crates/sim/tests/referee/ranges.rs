//! Which settings a stack accepts: a table of what the settings' documentation allows, with both ends of each range and what lies
//! a step outside. And what a stack becomes if the peer has no SACK (decision 0015).

use crate::any;
use crate::paths::Rng;
use ackclock_tcp::congestion::CongestionSpec;
use ackclock_tcp::detect::rack_tlp::Rules;
use ackclock_tcp::detect::DetectSpec;
use ackclock_tcp::facts::ack::DupRule;
use ackclock_tcp::recovery::prr::Bound;
use ackclock_tcp::recovery::RecoverySpec;
use ackclock_tcp::spurious::linux::LinuxSpec;
use ackclock_tcp::spurious::SpuriousSpec;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::timeout::frto::Form;
use ackclock_tcp::timeout::TimeoutSpec;
use serde_json::Value;

/// A layer, a component of it, a setting (as a JSON pointer), values to accept, values to refuse.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const SEGMENTS: &str = "[1, 65535]";
const NO_SEGMENTS: &str = "[0, 65536, -1]";
const THOUSAND: &str = "[1, 1000]";
const OUTSIDE_THOUSAND: &str = "[0, 1001]";
const SHARE: &str = "[0.0, 1.0]";
const NO_SHARE: &str = "[-0.000001, 1.000001]";
const SHARE_ABOVE_0: &str = "[0.000001, 1.0]";
const NO_SHARE_ABOVE_0: &str = "[0.0, -0.5, 1.000001]";
const TIME: &str = r#"["1 ns"]"#;
const NO_TIME: &str = r#"["0 s"]"#;
const DUP_ACK: &str = r#"{"kind": "dup-ack", "threshold": {"kind": "THRESHOLD"}}"#;

const TABLE: &[Row] = &[
    ("startup", r#"{"kind": "fixed"}"#, "/initial_window_segs", SEGMENTS, NO_SEGMENTS),
    ("startup", r#"{"kind": "fixed"}"#, "/ssthresh_segs", "[2, 4294967295]", "[0, 1]"),
    ("startup", r#"{"kind": "hystart"}"#, "/initial_window_segs", SEGMENTS, NO_SEGMENTS),
    ("startup", r#"{"kind": "hystart-plus-plus"}"#, "/initial_window_segs", SEGMENTS, NO_SEGMENTS),
    ("startup", r#"{"kind": "hystart-plus-plus"}"#, "/css_growth_divisor", "[1, 4294967295]", "[0]"),
    ("startup", r#"{"kind": "hystart-plus-plus"}"#, "/css_rounds", "[1, 4294967295]", "[0]"),
    ("startup", r#"{"kind": "bdp"}"#, "/initial_window_segs", SEGMENTS, NO_SEGMENTS),
    ("startup", r#"{"kind": "bdp"}"#, "/ssthresh_segs", "[2]", "[1]"),
    ("startup", r#"{"kind": "bdp"}"#, "/gap_share", SHARE, NO_SHARE),
    ("startup", r#"{"kind": "smooth"}"#, "/initial_window_segs", SEGMENTS, NO_SEGMENTS),
    ("startup", r#"{"kind": "smooth"}"#, "/ssthresh_segs", "[2]", "[1]"),
    ("startup", r#"{"kind": "smooth"}"#, "/depth", "[1, 100]", "[0, 101]"),
    ("detect", r#"{"kind": "late"}"#, "/margin", "[1.0, 1000.0]", "[0.999999, 1000.000001]"),
    ("detect", r#"{"kind": "late"}"#, "/least_rtts", "[0.0, 1000.0]", "[-0.000001, 1000.000001]"),
    ("detect", r#"{"kind": "late"}"#, "/first_rtts", "[0.0, 1000.0]", "[-0.000001, 1000.000001]"),
    ("detect", r#"{"kind": "late"}"#, "/cap_srtts", "[0.000001, 1000.0]", "[0.0, 1000.000001]"),
    ("detect", r#"{"kind": "late"}"#, "/keep", SHARE, NO_SHARE),
    ("detect", r#"{"kind": "late"}"#, "/keep_after_losses", SHARE, NO_SHARE),
    ("detect", r#"{"kind": "late"}"#, "/dupthresh", "[0, 1000]", "[-1, 1001]"),
    ("rto", r#"{"kind": "rfc6298", "min": "2 s"}"#, "/max", r#"["2 s", "60 s"]"#, r#"["1999999999 ns"]"#),
    ("rto", r#"{"kind": "rfc6298"}"#, "/tick", TIME, NO_TIME),
    ("rto", r#"{"kind": "rfc6298", "min": "0 s", "initial": "0 s"}"#, "/initial", TIME, NO_TIME),
    ("rto", r#"{"kind": "rfc6298", "min": "0 s"}"#, "/max", TIME, NO_TIME),
    ("rto", r#"{"kind": "rfc6298"}"#, "/divide_gains", "[false]", "[true]"),
    ("rto", r#"{"kind": "rfc6298", "every_ack": true}"#, "/divide_gains", "[true]", "[1]"),
    ("rto", r#"{"kind": "rfc6298", "timestamps": true}"#, "/divide_gains", "[true]", "[1]"),
    ("rto", r#"{"kind": "linux"}"#, "/max", r#"["200 ms"]"#, r#"["199999999 ns"]"#),
    ("rto", r#"{"kind": "linux"}"#, "/min", TIME, NO_TIME),
    ("rto", r#"{"kind": "linux"}"#, "/initial", TIME, NO_TIME),
    ("rto", r#"{"kind": "linux"}"#, "/hz", THOUSAND, OUTSIDE_THOUSAND),
    ("rto", r#"{"kind": "net2-ticks"}"#, "/tick", TIME, NO_TIME),
    ("rto", r#"{"kind": "net2-ticks", "max_ticks": 9}"#, "/min_ticks", "[1, 9]", "[0, 10]"),
    ("rto", r#"{"kind": "net2-ticks"}"#, "/initial_ticks", "[1]", "[0]"),
    ("rto", r#"{"kind": "quic"}"#, "/initial_rtt", TIME, NO_TIME),
    ("rto", r#"{"kind": "quic"}"#, "/granularity", TIME, NO_TIME),
    ("rto", r#"{"kind": "quic"}"#, "/max", TIME, NO_TIME),
    ("detect", r#"{"kind": "delayed"}"#, "/arming_dups", THOUSAND, OUTSIDE_THOUSAND),
    (
        "detect",
        r#"{"kind": "delayed", "wait": {"kind": "round-trip"}}"#,
        "/wait/share",
        "[0.0, 10.0]",
        "[-0.000001, 10.000001]",
    ),
    ("detect", r#"{"kind": "fack"}"#, "/threshold_segs", THOUSAND, OUTSIDE_THOUSAND),
    ("detect", r#"{"kind": "linux-no-sack"}"#, "/dupthresh", THOUSAND, OUTSIDE_THOUSAND),
    ("detect", r#"{"kind": "linux-no-sack"}"#, "/max_reordering", "[1, 4294967295]", "[0]"),
    ("detect", r#"{"kind": "rack-tlp"}"#, "/dupthresh", THOUSAND, OUTSIDE_THOUSAND),
    ("detect", r#"{"kind": "rack-tlp"}"#, "/max_reordering", "[1, 4294967295]", "[0]"),
    ("detect", r#"{"kind": "rack-tlp"}"#, "/hz", THOUSAND, OUTSIDE_THOUSAND),
    ("detect", r#"{"kind": "tcp-pr"}"#, "/alpha", SHARE_ABOVE_0, NO_SHARE_ABOVE_0),
    ("detect", r#"{"kind": "tcp-pr"}"#, "/beta", "[1.0, 1000.0]", "[0.999999, 1000.000001]"),
    ("detect", r#"{"kind": "tcp-pr"}"#, "/initial", r#"["1 s"]"#, r#"["999999999 ns"]"#),
    ("detect", r#"{"kind": "tcp-pr"}"#, "/max", r#"["1 s"]"#, r#"["999999999 ns"]"#),
    ("detect", r#"{"kind": "quic"}"#, "/packet_threshold", THOUSAND, OUTSIDE_THOUSAND),
    ("detect", r#"{"kind": "quic"}"#, "/persistent", THOUSAND, OUTSIDE_THOUSAND),
    ("detect", r#"{"kind": "quic"}"#, "/time_threshold", "[1.0, 10.0]", "[0.999999, 10.000001]"),
    ("detect", r#"{"kind": "quic"}"#, "/granularity", TIME, NO_TIME),
    ("detect", r#"{"kind": "quic"}"#, "/max_pto", TIME, NO_TIME),
    ("fixed", DUP_ACK, "/threshold/segments", THOUSAND, OUTSIDE_THOUSAND),
    ("inc", DUP_ACK, "/threshold/step", THOUSAND, OUTSIDE_THOUSAND),
    ("inc", DUP_ACK, "/threshold/cap/floor_segs", THOUSAND, OUTSIDE_THOUSAND),
    ("avg", DUP_ACK, "/threshold/cap/floor_segs", THOUSAND, OUTSIDE_THOUSAND),
    ("ewma", DUP_ACK, "/threshold/cap/floor_segs", THOUSAND, OUTSIDE_THOUSAND),
    ("ewma", DUP_ACK, "/threshold/alpha", SHARE, NO_SHARE),
    ("ewma", DUP_ACK, "/threshold/x", SHARE, NO_SHARE),
    ("avg-dev", DUP_ACK, "/threshold/alpha", SHARE, NO_SHARE),
    ("avg-dev", DUP_ACK, "/threshold/beta", SHARE, NO_SHARE),
    ("avg-dev", DUP_ACK, "/threshold/gamma", SHARE, NO_SHARE),
    ("avg-dev", DUP_ACK, "/threshold/c1", SHARE, NO_SHARE),
    ("avg-dev", DUP_ACK, "/threshold/c2", SHARE, NO_SHARE),
    ("avg-dev", DUP_ACK, "/threshold/lambda", "[0.0, 100.0]", "[-0.000001, 100.000001]"),
    ("avg-dev", DUP_ACK, "/threshold/floor_segs", THOUSAND, OUTSIDE_THOUSAND),
    ("linux", DUP_ACK, "/threshold/initial", THOUSAND, OUTSIDE_THOUSAND),
    ("linux", DUP_ACK, "/threshold/max", THOUSAND, OUTSIDE_THOUSAND),
    ("fa", DUP_ACK, "/threshold/ratio", SHARE_ABOVE_0, NO_SHARE_ABOVE_0),
    ("fa", DUP_ACK, "/threshold/samples", "[1, 100000]", "[0, 100001]"),
    ("fa", DUP_ACK, "/threshold/flight_cwnds", "[1.0, 1000000.0]", "[0.999999, 1000000.1]"),
    ("fa", DUP_ACK, "/threshold/avoid_timeouts/step", SHARE_ABOVE_0, NO_SHARE_ABOVE_0),
    ("multipath", DUP_ACK, "/threshold/paths", "[1, 65536]", "[0, 65537]"),
    ("disorder", r#"{"kind": "extended"}"#, "/most_cwnds", "[0.0, 1000000.0]", "[-0.001, 1000001.0]"),
    ("recovery", r#"{"kind": "hoe"}"#, "/dups_per_segment", THOUSAND, OUTSIDE_THOUSAND),
    ("recovery", r#"{"kind": "newreno", "inflate": false}"#, "/deflate_uninflated", "[true, false]", "[1]"),
    ("recovery", r#"{"kind": "newreno", "inflate": true}"#, "/deflate_uninflated", "[false]", "[true]"),
    (
        "recovery",
        r#"{"kind": "newreno", "inflate": false, "deflate": false}"#,
        "/deflate_uninflated",
        "[false]",
        "[true]",
    ),
    ("congestion", r#"{"kind": "aimd"}"#, "/abc_limit_segs", "[1, 2]", "[0, 3]"),
    ("congestion", r#"{"kind": "net2"}"#, "/max_window", "[1]", "[0]"),
    ("congestion", r#"{"kind": "cubic"}"#, "/beta", "[0.000001, 0.999999]", "[0.0, 1.0]"),
    ("congestion", r#"{"kind": "cubic"}"#, "/c", "[0.000001, 1e300]", "[0.0, -0.4]"),
    ("congestion", r#"{"kind": "cubic-2008"}"#, "/beta_1024", "[1, 1023]", "[0, 1024]"),
    ("congestion", r#"{"kind": "cubic-2008"}"#, "/c", "[0.000001, 1e300]", "[0.0, -0.4]"),
    ("congestion", r#"{"kind": "linux-cubic"}"#, "/beta_1024", "[1, 1023]", "[0, 1024]"),
    ("congestion", r#"{"kind": "linux-cubic"}"#, "/hz", THOUSAND, OUTSIDE_THOUSAND),
    ("congestion", r#"{"kind": "bbr"}"#, "/hz", THOUSAND, OUTSIDE_THOUSAND),
    ("congestion", r#"{"kind": "vegas", "alpha": 1.5}"#, "/beta", "[1.5, 9.0]", "[1.499999]"),
    ("congestion", r#"{"kind": "vegas"}"#, "/alpha", "[0.0, 3.0]", "[-0.000001]"),
    ("congestion", r#"{"kind": "vegas"}"#, "/gamma", "[0.0]", "[-0.000001]"),
    ("congestion", r#"{"kind": "quic"}"#, "/loss_reduction", SHARE_ABOVE_0, NO_SHARE_ABOVE_0),
    ("congestion", r#"{"kind": "quic"}"#, "/minimum_window_segs", SEGMENTS, NO_SEGMENTS),
    ("spurious", r#"{"kind": "rtt-min"}"#, "/share", SHARE_ABOVE_0, NO_SHARE_ABOVE_0),
    ("spurious", r#"{"kind": "linux", "timestamps": false}"#, "/dsack", "[true]", "[false]"),
    ("spurious", r#"{"kind": "linux", "dsack": false}"#, "/timestamps", "[true]", "[false]"),
    ("undo", r#"{"kind": "eifel-response"}"#, "/initial_window_segs", "[1]", "[0]"),
    ("options", "{}", "/sack_blocks", "[1, 4]", "[0, 5]"),
    ("options", r#"{"window_scale": true}"#, "/rcv_wscale", "[0, 14]", "[15]"),
    ("limits", "{}", "/max_train", "[1, 65535]", "[0, 65536]"),
    ("limits", "{}", "/maxburst_segs", "[1]", "[0]"),
    ("limits", "{}", "/cwnd_cap_segs", "[1]", "[0]"),
];

/// Whether a stack with this description is accepted.
fn accepted(description: &Value) -> bool {
    serde_json::from_value::<Stack>(description.clone()).is_ok_and(|s| s.validate().is_ok())
}

/// Sets a member; objects on the way there are made.
fn set(at: &mut Value, pointer: &str, value: &Value) {
    let mut place = at;
    for name in pointer.split('/').skip(1) {
        if !place.is_object() {
            *place = serde_json::json!({});
        }
        place = place.as_object_mut().expect("an object").entry(name).or_insert(Value::Null);
    }
    *place = value.clone();
}

/// Named stacks with the component, in surroundings that may suit it.
fn hosts(layer: &str, component: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    for name in Stack::names() {
        let named = serde_json::to_value(Stack::named(name).expect("listed")).expect("a description");
        for (sack, timestamps) in [(true, false), (true, true), (false, false)] {
            let mut host = named.clone();
            set(&mut host, "/options/sack", &sack.into());
            set(&mut host, "/options/dsack", &sack.into());
            set(&mut host, "/options/timestamps", &timestamps.into());
            let old = host[layer].clone();
            host[layer] = component.clone();
            if layer == "options" || layer == "limits" {
                let (mut merged, new) = (old, component.as_object().expect("an object"));
                new.iter().for_each(|(key, value)| merged[key] = value.clone());
                host[layer] = merged;
            }
            all.push(host);
        }
    }
    // A component of Linux without SACK.
    let linux = Stack::named("linux-2025").expect("listed").without_sack();
    let mut host = serde_json::to_value(linux).expect("a description");
    host[layer] = component.clone();
    all.push(host);
    all
}

#[test]
fn both_ends_of_every_documented_range_are_accepted_and_what_lies_outside_is_refused() {
    let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).expect("a list");
    let mut wrong = Vec::new();
    for (layer, component, pointer, good, bad) in TABLE {
        let (good, bad) = (list(good), list(bad));
        let (layer, text) = match *component {
            DUP_ACK => ("detect", DUP_ACK.replace("THRESHOLD", layer)),
            other => (*layer, other.to_owned()),
        };
        let component: Value = serde_json::from_str(&text).expect("a component");
        let with = |host: &Value, value: &Value| {
            let mut host = host.clone();
            set(&mut host[layer], pointer, value);
            host
        };
        let Some(host) = hosts(layer, &component).into_iter().find(|host| accepted(&with(host, &good[0]))) else {
            wrong.push(format!("{text} {pointer} = {} is accepted in no surroundings", good[0]));
            continue;
        };
        let refused = good.iter().filter(|v| !accepted(&with(&host, v)));
        wrong.extend(refused.map(|v| format!("{text} {pointer} = {v} is refused")));
        let taken = bad.iter().filter(|v| accepted(&with(&host, v)));
        wrong.extend(taken.map(|v| format!("{text} {pointer} = {v} is accepted")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Decision 0015: Linux's rules go on with duplicates, any other stack becomes NewReno around what needs no SACK.
fn falls_back(s: &Stack) -> Result<(), String> {
    let got = s.without_sack();
    got.validate().map_err(|e| format!("is not possible: {e}"))?;
    let holds = |what: bool, why: &str| if what { Ok(()) } else { Err(format!("{why}: {got:?}")) };
    holds(!got.options.sack && !got.options.dsack, "has SACK")?;
    holds((&got.rto, &got.startup) == (&s.rto, &s.startup), "another timer or start")?;
    let mut plain = s.clone();
    (plain.options.sack, plain.options.dsack) = (false, false);
    if !s.options.sack && plain.validate().is_ok() {
        return holds(got == plain, "needs no change");
    }
    let bbr = matches!(s.congestion, CongestionSpec::Bbr(_));
    if let (DetectSpec::RackTlp(rack), RecoverySpec::Prr(prr), TimeoutSpec::Frto(frto), false) =
        (&s.detect, &s.recovery, &s.timeout, bbr)
    {
        let linux = rack.rules == Rules::Linux && prr.bound == Bound::Linux;
        if linux && matches!(frto.form, Form::Linux | Form::LinuxNoSack) {
            let DetectSpec::LinuxNoSack(d) = &got.detect else { return Err(format!("not Linux's detector: {got:?}")) };
            let same = (d.dupthresh, d.max_reordering) == (rack.dupthresh, rack.max_reordering);
            holds(same, "another threshold")?;
            let RecoverySpec::Prr(r) = &got.recovery else { return Err(format!("not PRR: {got:?}")) };
            let goes_on = r.beyond_recover && (r.order, r.restart_timer) == (prr.order, prr.restart_timer);
            holds(goes_on && r.bound == Bound::Linux, "another PRR")?;
            let TimeoutSpec::Frto(t) = &got.timeout else { return Err(format!("not F-RTO: {got:?}")) };
            holds(t.form == Form::LinuxNoSack && t.clear_sacks == frto.clear_sacks, "another F-RTO")?;
            // DSACKs will not come; timestamps still tell.
            let judge = match &s.spurious {
                SpuriousSpec::Linux(judge) if judge.timestamps => {
                    SpuriousSpec::Linux(LinuxSpec { dsack: false, timestamps: true })
                }
                SpuriousSpec::Linux(_) | SpuriousSpec::Dsack(_) => SpuriousSpec::Nothing,
                other => other.clone(),
            };
            holds(got.spurious == judge, "another judge of mistakes")?;
            return holds(got.dup_rule == DupRule::EmulatedSack && got.undo == s.undo, "duplicates are no SACKs");
        }
    }
    let linux = matches!(got.detect, DetectSpec::LinuxNoSack(_)) && matches!(got.recovery, RecoverySpec::Prr(_));
    if linux && matches!(s.detect, DetectSpec::LinuxNoSack(_)) {
        return holds(matches!(got.timeout, TimeoutSpec::Frto(_)), "no F-RTO");
    }
    holds(matches!(got.detect, DetectSpec::DupAck(_)), "does not count duplicates")?;
    holds(matches!(got.recovery, RecoverySpec::Newreno(_)), "is not NewReno")?;
    holds(matches!(got.timeout, TimeoutSpec::GoBackN(_)), "does not go back")?;
    holds(got.spurious == SpuriousSpec::Nothing && got.dup_rule == DupRule::Rfc5681, "still judges mistakes")
}

#[test]
fn without_sack_linux_counts_duplicates_and_any_other_stack_is_newreno() {
    let mut linux = 0;
    for number in 0..400 {
        let mut rng = Rng::new(number ^ 0x7361_636b);
        let mut s = any::draw(&mut rng);
        if rng.one_in(3) {
            s = Stack::named("linux-2025").expect("listed");
            if let (DetectSpec::RackTlp(d), TimeoutSpec::Frto(t)) = (&mut s.detect, &mut s.timeout) {
                (d.dupthresh, d.max_reordering) = (rng.of(&[2, 3, 5]), rng.of(&[5, 300]));
                let judges = [(true, true), (false, true), (true, false)];
                let (dsack, timestamps) = rng.of(&judges);
                s.spurious = SpuriousSpec::Linux(LinuxSpec { dsack, timestamps });
                (t.form, t.clear_sacks) = (rng.of(&[Form::Linux, Form::LinuxNoSack, Form::Basic]), rng.one_in(2));
            }
            linux += 1;
        }
        if let Err(why) = falls_back(&s) {
            panic!("number {number}: {why}\n  of {s:?}");
        }
    }
    assert!(linux > 100);
}
