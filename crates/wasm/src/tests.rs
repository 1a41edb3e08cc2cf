use super::*;
use border::Lists;

fn ask(request: Value) -> Value {
    serde_json::from_str(&answer(request.to_string().as_bytes(), &mut Lists::default())).unwrap()
}

/// Every scenario that the laboratory's own tests run.
fn scenarios() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/tests/scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    let files = files.filter(|f| f.extension().is_some_and(|e| e == "toml"));
    files.map(|f| (f.display().to_string(), std::fs::read_to_string(f).unwrap())).collect()
}

fn count(column: &Value, is: u64) -> u64 {
    column.as_array().unwrap().iter().filter(|v| v.as_u64() == Some(is)).count() as u64
}

#[test]
fn a_request_or_scenario_that_is_refused_is_answered_with_the_refusal() {
    let message = |request: Value| ask(request)["error"]["message"].as_str().unwrap().to_owned();
    assert!(message(json!({ "do": "fly" })).contains("unknown variant `fly`"));
    assert!(!message(json!({ "do": "run", "scenario": "bad = [" })).is_empty());
    assert!(message(json!({ "do": "run", "scenario": "", "seed": "one" })).contains("`--seed`: found one"));
    assert!(message(json!({ "do": "run", "scenario": "", "set": ["rto.tick"] })).contains("`--set`: found rto.tick"));
    let utf8: Value = serde_json::from_str(&answer(b"\xff", &mut Lists::default())).unwrap();
    assert!(utf8["error"]["message"].as_str().unwrap().starts_with("no request"));
}

#[test]
fn a_picture_counts_what_the_report_counts_and_does_not_change_the_run() {
    for (name, scenario) in scenarios() {
        let request = |what: &str| ask(json!({ "do": what, "scenario": scenario, "seed": "2" }));
        let answer = &request("trace")["ok"];
        assert_eq!(answer["report"], request("run")["ok"], "{name}");
        let flows = answer["report"]["runs"][0]["flows"].as_array().unwrap();
        assert!(!flows.is_empty());
        for (flow, summary) in answer["flows"].as_array().unwrap().iter().zip(flows) {
            let (sends, marks) = (&flow["sends"], &flow["marks"]);
            let again: u64 = (1..4).map(|verdict| count(&sends["verdict"], verdict)).sum();
            assert_eq!(sends["time"].as_array().unwrap().len() as u64, summary["data_packets_sent"], "{name}");
            assert_eq!(again, summary["retransmissions"], "{name}");
            for (verdict, name) in (1..).zip(["needed", "refused", "needless"]) {
                assert_eq!(count(&sends["verdict"], verdict), summary[format!("{name}_retransmissions")], "{name}");
            }
            assert_eq!(count(&flow["acks"]["dropped"], 1), summary["ack_drops"], "{name}");
            assert_eq!(count(&marks["kind"], 0), summary["timeouts"], "{name}");
            assert_eq!(count(&flow["phases"]["to"], 2), summary["fast_recoveries"], "{name}");
        }
    }
}

/// A scenario of RFC 6675's sender over one link of 20 ms, with further keys of the link and of the flow.
fn over_one_link(duration: &str, rate: &str, link: &str, flow: &str) -> String {
    format!(
        r#"
        [run]
        duration = "{duration}"
        [[link]]
        from = "A"
        to = "B"
        rate = "{rate}"
        delay = "20 ms"
        {link}
        [[flow]]
        from = "A"
        to = "B"
        stack = "rfc-6675"
        {flow}
        "#
    )
}

/// The run of a valid scenario as columns.
fn traced(scenario: &str) -> Value {
    let answer = ask(json!({ "do": "trace", "scenario": scenario }));
    assert_eq!(answer["error"], Value::Null, "{answer}");
    answer["ok"].clone()
}

#[test]
fn dropped_acks_are_at_their_time_of_sending() {
    let back = r#"back = { elements = [{ kind = "bernoulli", p = 0.3, at = "exit" }] }"#;
    let acks = &traced(&over_one_link("5 s", "5 Mbps", back, ""))["flows"][0]["acks"];
    let column = |name: &str| acks[name].as_array().unwrap().clone();
    let (sent, time, dropped) = (column("sent"), column("time"), column("dropped"));
    let key = |i: usize| if dropped[i] == 1 { sent[i].as_f64().unwrap() } else { time[i].as_f64().unwrap() };
    assert!((1..sent.len()).all(|i| key(i - 1) <= key(i)));
    assert!(dropped.iter().filter(|d| **d == 1).count() > 100);
    // Each ACK has its own number.
    let mut numbers: Vec<u64> = column("number").iter().map(|n| n.as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert!(numbers.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn a_dropped_packet_names_the_element_that_the_layout_has_under_that_number() {
    let (_, scenario) = scenarios().into_iter().find(|(name, _)| name.ends_with("elements.toml")).unwrap();
    let answer = &ask(json!({ "do": "trace", "scenario": scenario }))["ok"];
    let elements = answer["layout"]["elements"].as_array().unwrap();
    let kinds: Vec<&str> = answer["flows"][0]["sends"]["element"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|n| elements.iter().find(|e| e["number"] == *n))
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    let drops = ["bernoulli", "gilbert-elliott", "outage", "red"];
    assert!(kinds.iter().all(|k| drops.contains(k)) && kinds.contains(&"red"), "{kinds:?}");
}

#[test]
fn every_column_has_all_rows_of_its_table() {
    let lossy = r#"elements = [{ kind = "bernoulli", p = 0.02 }]
        back = { elements = [{ kind = "bernoulli", p = 0.02 }] }"#;
    let plain = over_one_link("2 s", "5 Mbps", "", "");
    let lost = over_one_link("2 s", "5 Mbps", lossy, "");
    for scenario in scenarios().into_iter().map(|(_, scenario)| scenario).chain([plain, lost]) {
        let answer = ask(json!({ "do": "trace", "scenario": scenario, "seed": "1" }));
        for flow in answer["ok"]["flows"].as_array().unwrap() {
            for (table, columns) in flow.as_object().unwrap() {
                let Some(columns) = columns.as_object() else { continue };
                let rows: Vec<usize> = columns.values().map(|column| column.as_array().unwrap().len()).collect();
                assert!(rows.windows(2).all(|pair| pair[0] == pair[1]), "{table}: {rows:?}");
            }
        }
    }
}

#[test]
fn a_segment_has_the_usual_value_of_each_column_unless_it_was_dropped_or_sent_again() {
    let lossy = r#"elements = [{ kind = "bernoulli", p = 0.02 }]"#;
    let sends = &traced(&over_one_link("5 s", "5 Mbps", lossy, ""))["flows"][0]["sends"];
    let column = |name: &str| sends[name].as_array().unwrap().clone();
    let [fate, time, element, nth] = ["fate", "fateTime", "element", "nth"].map(column);
    let [sends, verdict] = ["sends", "verdict"].map(column);
    let mut dropped = 0;
    for row in 0..fate.len() {
        let lost = fate[row] == 1;
        dropped += u32::from(lost);
        assert_eq!((element[row] != -1, nth[row] != -1), (lost, lost), "row {row}");
        assert_eq!(time[row].is_null(), fate[row] == 2, "row {row}");
        assert_eq!(sends[row] == 1, verdict[row] == 0, "row {row}");
    }
    assert!(dropped > 10 && fate.iter().any(|f| *f == 2));
}

#[test]
fn what_is_shown_checks_and_runs_as_the_scenario_does() {
    for (name, scenario) in scenarios() {
        let of = |what: &str, text: &Value| ask(json!({ "do": what, "scenario": text, "seed": "1" }))["ok"].clone();
        let shown = of("show", &scenario.clone().into());
        let (a, b) = (of("run", &scenario.into()), of("run", &shown));
        assert_eq!(a["runs"][0]["identity"], b["runs"][0]["identity"], "{name}");
        assert_eq!(of("check", &shown)["links"].as_array().unwrap().len() % 2, 0, "{name}");
    }
}

#[test]
fn trace_files_have_the_trace_hash_of_the_run() {
    let (_, scenario) = scenarios().into_iter().find(|(name, _)| name.ends_with("good.toml")).unwrap();
    let answer = |what: &str| ask(json!({ "do": what, "scenario": scenario, "seed": "1" }))["ok"].clone();
    let (csv, parquet, run) = (answer("csv"), answer("parquet"), answer("run"));
    let hash = run["runs"][0]["trace_hash"].as_str().unwrap();
    assert_eq!((csv["trace_hash"].as_str(), parquet["trace_hash"].as_str()), (Some(hash), Some(hash)));
    assert!(csv["description"].as_str().unwrap().contains(hash));
    let bytes = |file: &Value| -> Vec<u8> {
        file["file"].as_array().unwrap().iter().map(|b| b.as_u64().unwrap() as u8).collect()
    };
    assert!(bytes(&csv).starts_with(b"time"));
    let parquet = bytes(&parquet);
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    assert!(parquet.windows(hash.len()).any(|w| w == hash.as_bytes()));
}

#[test]
fn marked_packets_and_the_acks_that_echo_them_are_reported() {
    let link = r#"queue = "50 packets"
        elements = [{ kind = "red", min = "5 packets", max = "80 packets", mean_packet = "1500 B", ecn = true }]"#;
    let answer = traced(&over_one_link("20 s", "2 Mbps", link, r#"set = { "options.ecn" = true }"#));
    let (flow, marks) = (&answer["flows"][0], &answer["report"]["runs"][0]["links"][0]["marks"]);
    assert!(marks.as_u64() > Some(2));
    // Each marked packet arrived marked, unless it was in flight at the end.
    let (marks, arrived) = (marks.as_u64().unwrap(), count(&flow["sends"]["marked"], 1));
    assert!(arrived <= marks && arrived + count(&flow["sends"]["fate"], 2) >= marks);
    assert!(count(&flow["acks"]["echo"], 1) >= arrived && arrived > 2);
}

#[test]
fn means_are_those_of_reports_over_several_seeds() {
    let answer = ask(json!({ "do": "means", "of": [[1.0, 2.0, 3.0, 4.0, 5.0], [7.0], []] }));
    let [several, one, none] = [0, 1, 2].map(|i| &answer["ok"][i]);
    assert_eq!((&several["n"], &several["mean"]), (&json!(5), &json!(3.0)));
    let half = several["half_width_95"].as_f64().unwrap();
    assert!((half - 2.776_45 * (2.5f64 / 5.0).sqrt()).abs() < 1e-4);
    assert_eq!((&one["mean"], &one["half_width_95"], none), (&json!(7.0), &Value::Null, &Value::Null));
}

#[test]
fn a_trace_whose_numbers_would_need_much_memory_is_refused_with_what_is_allowed() {
    let opened = |record: &str| {
        let file = format!("time_ns,flow,side,event,packet,link,queue_packets\n{record}\n").into_bytes();
        let request = json!({ "do": "opened", "size": file.len() }).to_string();
        let answer: Value = serde_json::from_str(&answer(request.as_bytes(), &mut Lists { file })).unwrap();
        answer["error"]["message"].as_str().map(str::to_owned)
    };
    assert_eq!(opened("5,,,queue,,524287,3"), None);
    let refused = [
        ("5,,,queue,,4294967295,3", "line 2: link is \"4294967295\", allowed: 0 to 524287"),
        ("5,65536,sender,timeout,,,", "line 2: flow is \"65536\", allowed: 0 to 65535"),
    ];
    for (record, why) in refused {
        assert_eq!(opened(record).as_deref(), Some(why));
    }
}
