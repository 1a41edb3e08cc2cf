use crate::answer;
use crate::border::Lists;
use serde_json::{json, Value};
use std::path::Path;

/// The kernel's captures, compressed as stored.
fn captures(side: &str) -> Vec<(String, Lists)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/kernel");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    let of_side = |f: &std::path::PathBuf| f.to_string_lossy().ends_with(&format!("-{side}.pcapng.gz"));
    files
        .into_iter()
        .filter(of_side)
        .map(|f| (f.display().to_string(), Lists { file: std::fs::read(f).unwrap() }))
        .collect()
}

fn asked(file: &mut Lists, mut request: Value) -> Value {
    if request["do"] != "capture-fit" {
        request["file"] = "x.pcapng".into();
    }
    request["size"] = file.file.len().into();
    serde_json::from_str(&answer(request.to_string().as_bytes(), file)).unwrap()
}

fn ok(file: &mut Lists, request: Value) -> Value {
    let mut answer = asked(file, request);
    assert_eq!(answer["error"], Value::Null);
    answer["ok"].take()
}

fn refused(bytes: &[u8]) -> String {
    let answer = asked(&mut Lists { file: bytes.to_vec() }, json!({ "do": "capture" }));
    answer["error"]["message"].as_str().unwrap().to_owned()
}

fn main_flow(found: &Value) -> Value {
    found["flows"].as_array().unwrap().iter().find(|f| f["main"] == true).unwrap().clone()
}

fn numbers(column: &Value) -> Vec<f64> {
    column.as_array().unwrap().iter().map(|n| n.as_f64().unwrap_or(f64::NAN)).collect()
}

#[test]
fn a_drawn_flow_has_as_many_of_each_verdict_as_the_list_and_each_has_its_frame() {
    for side in ["sender", "receiver"] {
        let all = captures(side);
        assert!(all.len() >= 20);
        for (name, mut file) in all {
            let flow = main_flow(&ok(&mut file, json!({ "do": "capture" })));
            let one =
                ok(&mut file, json!({ "do": "capture-flow", "connection": flow["connection"], "flow": flow["flow"] }));
            assert_eq!(one["flow"], flow, "{name}");
            let sends = &one["drawn"]["sends"];
            let verdicts = numbers(&sends["verdict"]);
            let listed = one["retransmissions"].as_array().unwrap();
            for (place, key) in [(1.0, "needed"), (2.0, "refused"), (3.0, "needless"), (5.0, "undecided")] {
                let drawn = verdicts.iter().filter(|v| **v == place).count();
                let of_kind: Vec<_> = listed.iter().filter(|r| r["verdict"] == key).collect();
                assert_eq!(drawn, of_kind.len(), "{name}: {key}");
                let sure = of_kind.iter().filter(|r| r["likely"] == false).count() as u64;
                assert_eq!(sure, flow[format!("{key}_retransmissions")].as_u64().unwrap(), "{name}: {key}");
            }
            let drawn: Vec<f64> = verdicts
                .iter()
                .zip(numbers(&sends["frame"]))
                .filter(|(verdict, _)| **verdict > 0.0)
                .map(|(_, frame)| frame)
                .collect();
            assert_eq!(listed.iter().map(|r| r["frame"].as_f64().unwrap()).collect::<Vec<_>>(), drawn, "{name}");
            assert!(listed.iter().all(|r| !r["evidence"].as_str().unwrap().is_empty()));
        }
    }
}

#[test]
fn what_is_drawn_begins_at_1_with_the_data_and_ends_with_the_last_byte() {
    for (name, mut file) in captures("sender") {
        let flow = main_flow(&ok(&mut file, json!({ "do": "capture" })));
        let one =
            ok(&mut file, json!({ "do": "capture-flow", "connection": flow["connection"], "flow": flow["flow"] }));
        let sends = &one["drawn"]["sends"];
        let (seq, len) = (numbers(&sends["seq"]), numbers(&sends["len"]));
        assert_eq!(seq.iter().copied().fold(f64::INFINITY, f64::min), 1.0, "{name}");
        let (time, verdicts) = (numbers(&sends["time"]), numbers(&sends["verdict"]));
        assert!(time.windows(2).all(|t| t[0] <= t[1]), "{name}");
        // Data sent once begins beyond all earlier data.
        let mut top = 1.0;
        for i in 0..seq.len() {
            assert!(verdicts[i] > 0.0 || seq[i] >= top, "{name}: row {i}");
            top = f64::max(top, seq[i] + len[i]);
        }
        let acks = numbers(&one["drawn"]["acks"]["ack"]);
        assert!(acks.iter().all(|ack| *ack <= top), "{name}");
        let blocks = (numbers(&one["drawn"]["sackLeft"]), numbers(&one["drawn"]["sackRight"]));
        assert!(blocks.0.iter().zip(&blocks.1).all(|(left, right)| left < right && *right <= top), "{name}");
    }
}

#[test]
fn a_fitted_path_is_a_scenario_that_runs_and_another_sender_can_be_put_into_it() {
    let (_, mut file) =
        captures("sender").into_iter().find(|(name, _)| name.contains("cubic-swap12-loss-1-s")).unwrap();
    let flow = main_flow(&ok(&mut file, json!({ "do": "capture" })));
    let fit = ok(&mut file, json!({ "do": "capture-fit", "flow": flow["flow"], "stack": "linux-2025" }));
    assert_eq!(fit["parameters"][0]["name"], "rate");
    let scenario = &fit["scenarios"][0];
    for stack in [Value::Null, "rack-tlp".into()] {
        let run = ok_run(&json!({ "do": "run", "scenario": scenario, "stack": stack }));
        let flow = &run["runs"][0]["flows"][0];
        assert_eq!(flow["acked_bytes"], fit["transfers"][0]["bytes"], "{flow}");
    }
}

fn ok_run(request: &Value) -> Value {
    let mut answer: Value =
        serde_json::from_str(&answer(request.to_string().as_bytes(), &mut Lists::default())).unwrap();
    assert_eq!(answer["error"], Value::Null);
    answer["ok"].take()
}

#[test]
fn a_capture_that_cannot_be_fitted_says_why() {
    let (_, mut file) = captures("receiver").swap_remove(0);
    let flow = main_flow(&ok(&mut file, json!({ "do": "capture" })));
    let answer = asked(&mut file, json!({ "do": "capture-fit", "flow": flow["flow"], "stack": "linux-2025" }));
    assert!(answer["error"]["message"].as_str().unwrap().contains("a capture at the receiver"), "{answer}");
    let other = asked(&mut file, json!({ "do": "capture-fit", "flow": "A to B", "stack": "linux-2025" }));
    assert_eq!(other["error"]["message"], "found the flow A to B, allowed: A:p > B:p");
    let none = asked(&mut file, json!({ "do": "capture-flow", "connection": 99, "flow": flow["flow"] }));
    assert!(none["error"]["message"].as_str().unwrap().starts_with("found no flow"));
}

#[test]
fn what_is_no_capture_or_damaged_from_its_first_packet_is_refused_in_a_sentence() {
    assert!(refused(b"hello, this is no capture at all").starts_with("at byte 0: it begins with 68 65 6c 6c"));
    assert_eq!(refused(b""), "it is empty");
    assert_eq!(refused(b"\xfd7zXZ\0 and so on, packed"), "it is compressed with xz; decompress it first");
    // Ethernet, and a packet without any bytes.
    let mut pcap = [0xd4u8, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0].to_vec();
    pcap.extend([0u32, 0, 65535, 1, 1, 0, 60, 60].iter().flat_map(|n| n.to_le_bytes()));
    assert_eq!(refused(&pcap), "no packet can be read: packet 1 at byte 24: the file ends after 16 of 76 bytes");
}

#[test]
fn the_share_that_is_read_rises_to_the_whole() {
    struct WithProgress(Lists, Vec<f64>);
    impl crate::border::Border for WithProgress {
        fn progress(&mut self, share: f64) {
            self.1.push(share);
        }
        fn read(&mut self, at: u64, into: &mut [u8]) -> usize {
            self.0.read(at, &mut into[..1000])
        }
        fn column(&mut self, column: crate::border::Column) -> Value {
            self.0.column(column)
        }
    }
    let (_, file) = captures("sender").swap_remove(0);
    let whole = ok(&mut file.clone(), json!({ "do": "capture" }));
    let request = json!({ "do": "capture", "file": "x.pcapng", "size": file.file.len() }).to_string();
    let mut border = WithProgress(file, Vec::new());
    let answer: Value = serde_json::from_str(&answer(request.as_bytes(), &mut border)).unwrap();
    assert_eq!(answer["ok"], whole, "the size of the pieces changes nothing");
    assert!(border.1.len() > 20 && border.1.windows(2).all(|t| t[0] <= t[1]));
    assert_eq!(border.1.last(), Some(&1.0));
}
