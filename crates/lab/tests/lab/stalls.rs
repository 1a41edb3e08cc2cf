//! Why a run's transfer stood still, in words.

use ackclock_course::places::Places;
use ackclock_course::record::{Courses, Recording};
use ackclock_course::stall::pauses::pauses;
use ackclock_course::stall::{stalls, Stall};
use ackclock_lab::many::{run_many, Job};
use ackclock_lab::run::run_watched;
use ackclock_lab::scenario::{Overrides, Plan};
use ackclock_lab::stalls::StallSummary;
use std::ops::ControlFlow;

fn plan(text: &str, stack: Option<&str>, set: &[(&str, &str)]) -> Plan {
    let set = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let overrides = Overrides { stack: stack.map(str::to_owned), set, ..Overrides::default() };
    Plan { stalls: true, ..Plan::parse("x.toml", text, &overrides).expect("a good scenario") }
}

fn shipped(file: &str, stack: Option<&str>) -> Plan {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/");
    plan(&std::fs::read_to_string(format!("{folder}{file}")).expect("a shipped scenario"), stack, &[])
}

fn run(plan: &Plan) -> Vec<StallSummary> {
    let runs = run_many(&Job::all(&[plan], None, None), 1, |_| ControlFlow::Continue(())).expect("nothing stops it");
    runs.into_iter().flat_map(|run| run.stalls.expect("requested")).collect()
}

/// The title and the sentences of the longest stall.
fn words(plan: &Plan) -> String {
    let stall = run(plan).into_iter().next().expect("a stall");
    format!("{}. {}", stall.title, stall.evidence)
}

/// A transfer of 30 segments, 12 of them at once, over a path of 100 ms that drops some packets.
fn transfer(data: &[u64], acks: &[u64]) -> String {
    let script = |only: &str, drop: &[u64]| match drop {
        [] => "[]".to_owned(),
        drop => format!("[{{ kind = \"script\", only = \"{only}\", drop = {drop:?} }}]"),
    };
    format!(
        r#"
        [run]
        duration = "10 s"
        [[link]]
        from = "A"
        to = "B"
        rate = "10 Mbps"
        delay = "50 ms"
        elements = {}
        back = {{ elements = {} }}
        [[flow]]
        from = "A"
        to = "B"
        stack = "newreno"
        app = {{ kind = "fixed", size = "30 packets" }}
        set = {{ "startup.initial_window_segs" = 12 }}
        "#,
        script("data", data),
        script("acks", acks)
    )
}

/// The evidence of all stalls, a line for each.
fn evidence(plan: &Plan) -> String {
    run(plan).into_iter().map(|stall| stall.evidence).collect::<Vec<_>>().join("\n")
}

/// The same for a transfer by a stack whose first window has some segments.
fn sent_by(stack: &str, window: &str, data: &[u64], acks: &[u64]) -> String {
    evidence(&plan(&transfer(data, acks), Some(stack), &[("startup.initial_window_segs", window)]))
}

fn lost(data: &[u64], acks: &[u64]) -> String {
    words(&plan(&transfer(data, acks), None, &[]))
}

/// The courses of a run, and its duration.
fn recorded(plan: &Plan) -> (Courses, f64) {
    let recording = Recording::new(plan.scenario.flows.len());
    let (summary, recording) =
        run_watched(plan, plan.seeds[0], recording, &mut |_| ControlFlow::Continue(())).expect("nothing stops it");
    (recording.finish(), summary.duration_s)
}

#[test]
fn a_lost_tail_has_too_few_segments_after_it_for_a_fast_retransmit() {
    let text = lost(&[28], &[]);
    assert!(text.contains("segment 29 was lost, and the timer had to send it again"), "{text}");
    let few = "1 duplicate ACK arrived, but a fast retransmit needs 3: only 1 packet sent after it arrived";
    assert!(text.contains(few) && text.contains("there was nothing new to send"), "{text}");
}

#[test]
fn a_lost_retransmission_waits_for_the_timer_which_backs_off_if_it_is_lost_again() {
    let (courses, _) = recorded(&plan(&transfer(&[4], &[]), None, &[]));
    let sends = &courses.flows[0].sends;
    let again = sends.sends.iter().position(|n| *n == 2).expect("a retransmission");
    let text = lost(&[4, sends.number[again].into()], &[]);
    assert!(text.contains("segment 5 and its retransmission were lost"), "{text}");
    let dropped =
        "3 duplicate ACKs began fast recovery (threshold 3): segment 5 was sent again and dropped by the script";
    assert!(text.contains(dropped), "{text}");
    assert!(text.contains("The retransmission timer fired 1 s after"), "{text}");
    assert!(text.contains("Segment 5 was sent again, and arrived"), "{text}");
    let backed = lost(&[29, 30, 31], &[]);
    assert!(backed.contains("(RTO 2 s, backed off once)"), "{backed}");
}

#[test]
fn duplicates_below_the_threshold_are_not_said_to_begin_a_fast_recovery() {
    let evidence: Vec<_> =
        run(&shipped("two-paths.toml", Some("linux-2025"))).into_iter().map(|s| s.evidence).collect();
    assert!(evidence
        .iter()
        .any(|s| s.contains("Fast recovery began after 38 duplicate ACKs, below the threshold of 43")));
    let counts = |s: &str| {
        let (before, after) = s.split_once(" duplicate ACKs began fast recovery (threshold ")?;
        let many: f64 = before.rsplit(' ').next()?.parse().ok()?;
        Some((many, after.split_once(')')?.0.parse::<f64>().ok()?))
    };
    assert!(evidence.iter().filter_map(|s| counts(s)).all(|(many, threshold)| many >= threshold), "{evidence:?}");
}

#[test]
fn a_segment_that_arrived_while_its_acks_were_lost_is_not_a_lost_segment() {
    let text = lost(&[], &[28, 29]);
    assert!(text.contains("segment 29 arrived, but its ACKs were lost"), "{text}");
    assert!(text.contains("2 ACKs that would have said so were dropped"), "{text}");
}

#[test]
fn a_sender_that_judges_by_time_is_said_to_count_no_duplicates() {
    let text = sent_by("rack-tlp", "2", &[0, 1], &[]);
    assert!(
        text.contains("This sender judges by time: it does not count duplicate ACKs. The retransmission timer fired")
    );
}

#[test]
fn segments_that_limited_transmit_sent_are_counted_among_the_new_ones() {
    // Of the first window of 2 and of the next, segments 2 and 3 are lost, and then the second copy of a later one.
    let set = [("startup.initial_window_segs", "2"), ("disorder", "limited-transmit")];
    let text = evidence(&plan(&transfer(&[1, 2, 5, 10], &[]), Some("newreno"), &set));
    let few =
        "2 duplicate ACKs arrived, but a fast retransmit needs 3: only 2 packets sent after it arrived, and 2 new \
               segments were sent, 2 of them by limited transmit.";
    assert!(text.contains(few), "{text}");
}

#[test]
fn a_window_that_is_full_of_segments_assumed_to_be_in_the_network_is_named() {
    let text = evidence(&Plan { seeds: vec![2], ..shipped("satellite.toml", Some("newreno")) });
    let full =
        "only 2 packets sent after it arrived, and the sender assumed 4 segments to be in the network, with a window \
                of 4 segments.";
    assert!(text.contains(full), "{text}");
}

#[test]
fn a_pause_that_begins_during_a_repair_says_so() {
    let recovery = sent_by("rack-tlp", "2", &[0, 2, 5, 8], &[]);
    let under_way = "Fast recovery was under way, and segment 3 had not been sent again yet.";
    assert!(recovery.contains(under_way), "{recovery}");
    let timeout = sent_by("linux-2025", "2", &[1, 2, 3, 4], &[]);
    let repairing =
        "The sender was still repairing the losses of an earlier timeout. An ACK covered 1 segment. Meanwhile 2 \
                     packets had been sent again.";
    assert!(timeout.contains(repairing), "{timeout}");
}

#[test]
fn needless_copies_of_a_pause_are_counted() {
    let text = sent_by("rack-tlp", "12", &[9], &[29]);
    assert!(text.contains("Meanwhile 2 packets had been sent again, 1 of them needlessly."), "{text}");
}

#[test]
fn a_mistake_without_an_undo_says_that_nothing_was_restored() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/handover.toml");
    let text = std::fs::read_to_string(file).expect("a shipped scenario");
    let plan = plan(&text, Some("eifel"), &[("undo", "nothing")]);
    let text = evidence(&plan);
    assert!(text.contains("The sender found that this was a mistake, but nothing was restored."), "{text}");
}

#[test]
fn an_ack_is_late_at_the_receiver_only_if_none_before_it_was_lost() {
    let late = evidence(&shipped("red-ecn.toml", Some("linux-2025")));
    assert!(late.contains("The receiver acknowledged it only after 42.3 ms."), "{late}");
    let lost = sent_by("linux-2025", "4", &[35], &[22]);
    assert!(lost.contains("1 ACK that would have said so was dropped."), "{lost}");
    assert!(!lost.contains("acknowledged it only after"), "{lost}");
}

#[test]
fn a_threshold_higher_than_the_number_of_possible_duplicates_is_named() {
    let text = words(&plan(&transfer(&[4], &[]), None, &[("detect.threshold.segments", "40")]));
    assert!(text.contains("duplicate ACKs arrived, but a fast retransmit needs 40"), "{text}");
}

#[test]
fn a_run_that_ends_in_a_pause_says_so() {
    let stalls = run(&plan(&transfer(&[29], &[]).replace("\"10 s\"", "\"900 ms\""), None, &[]));
    assert!((stalls[0].start_s + stalls[0].duration_s - 0.9).abs() < 1e-9);
    let last = stalls[0].sentences.last().map(|s| s.text.as_str());
    assert_eq!(last, Some("The run ended before an ACK of new data arrived."));
}

#[test]
fn a_run_without_a_loss_has_no_stall() {
    assert_eq!(run(&plan(&transfer(&[], &[]), None, &[])), []);
}

#[test]
fn a_pause_that_a_tail_loss_probe_ended_says_so() {
    // The last segment alone is lost: the probe is its copy.
    let repaired = words(&plan(&transfer(&[29], &[]), Some("rack-tlp"), &[]));
    assert!(repaired.contains("segment 30 was lost, and a tail loss probe sent it again"), "{repaired}");
    assert!(
        repaired.contains("after the last ACK of new data: segment 30 was sent again, and arrived at"),
        "{repaired}"
    );
    assert!(!repaired.contains("timer"), "{repaired}");
    // The last three are lost: the probe is a copy of the last, and its SACK reveals the others.
    let found = words(&plan(&transfer(&[27, 28, 29], &[]), Some("rack-tlp"), &[]));
    assert!(found.contains("segment 28 was lost, and a tail loss probe had to reveal that"), "{found}");
    let revealed = "segment 30 was sent again, and its ACK revealed the loss. Fast recovery began, by time and not by duplicate ACKs: \
                    segment 28 was sent again";
    assert!(found.contains(revealed), "{found}");
}

#[test]
fn a_handovers_timeout_is_needless_because_the_segment_had_arrived() {
    let stalls = run(&shipped("handover.toml", Some("eifel")));
    let text = format!("{}. {}", stalls[0].title, stalls[0].evidence);
    assert_eq!(stalls[0].cause, "needless timeout");
    assert!(text.contains("was late, not lost: a needless timeout"), "{text}");
    assert!(text.contains("while the shortest way back takes 15 ms"), "{text}");
    assert!(text.contains("needlessly") && text.contains("this was a mistake, and the window was restored"), "{text}");
}

#[test]
fn hoes_partial_repair_ends_recovery_uses_up_the_window_and_waits_for_the_timer() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/hoe-1995/scenario-every.toml");
    let text = std::fs::read_to_string(file).expect("the paper's scenario");
    let stall = run(&plan(&text, None, &[])).into_iter().next().expect("a stall");
    let title = "0.62 s without an ACK of new data: segment 53 was lost, and the timer had to send it again";
    assert_eq!(stall.title, title);
    let sentences: Vec<_> = stall.sentences.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(
        sentences,
        [
            "Segment 53 was dropped by the full queue A → B (10 packets). It was one of 19 lost among the 48 segments \
             outstanding when the pause began.",
            "An ACK ended fast recovery, though 19 segments sent earlier were still missing.",
            "No duplicate ACK arrived, but a fast retransmit needs 3: nothing sent after it arrived, and the window of 26 \
             segments allowed no new data with 48 segments outstanding.",
            "The retransmission timer fired 0.513 s after the last ACK of new data (RTO 1 s, in ticks of a coarse clock). \
             Segment 53 was sent again, and arrived at 1.557 s.",
            "An ACK covered 2 segments: the data sent after it had already arrived.",
        ]
    );
}

#[test]
fn a_short_last_segment_has_the_number_after_the_full_ones() {
    let text = transfer(&[10], &[]).replace("30 packets", "15000 B");
    let text = words(&plan(&text, None, &[]));
    assert!(text.contains("segment 11 was lost"), "{text}");
}

#[test]
fn a_transfer_whose_segments_were_all_sent_again_stood_still() {
    let text = transfer(&[0], &[]).replace("30 packets", "1 packet");
    let text = words(&plan(&text, None, &[]));
    assert!(text.contains("fired 1 s after the first transmission of outstanding data"), "{text}");
}

#[test]
fn after_a_recovery_duplicates_of_earlier_data_begin_no_further_fast_retransmit() {
    let text = words(&shipped("satellite.toml", Some("reno")));
    assert!(
        text.contains("duplicate ACKs arrived, with a threshold of 3; but data sent before an earlier recovery"),
        "{text}"
    );
}

#[test]
fn a_timer_that_fires_after_the_retransmission_has_arrived_is_not_the_cause() {
    let plan = Plan { seeds: vec![2], ..shipped("satellite.toml", Some("rack-tlp")) };
    let stall = run(&plan).remove(0);
    assert_eq!((stall.cause, stall.evidence.contains("needlessly")), ("loss", true), "{}", stall.evidence);
    assert!(stall.title.ends_with("was lost and sent again"), "{}", stall.title);
}

#[test]
fn stalls_do_not_change_a_run_and_are_those_of_a_traced_run() {
    let with = plan(&transfer(&[28], &[]), None, &[]);
    let without = Plan { stalls: false, ..with.clone() };
    let file = std::env::temp_dir().join(format!("ackclock-{}-stalls.parquet", std::process::id()));
    let of = |plan: &Plan, trace| {
        let jobs = Job::all(&[plan], trace, None);
        run_many(&jobs, 1, |_| ControlFlow::Continue(())).expect("nothing stops it").remove(0)
    };
    let (mut listened, traced) = (of(&with, None), of(&with, Some(&file)));
    std::fs::remove_file(&file).expect("the trace");
    assert_eq!(listened, traced);
    assert!(listened.stalls.take().is_some_and(|stalls| !stalls.is_empty()));
    assert_eq!(listened, of(&without, None));
}

/// The round trips by definition: for each ACK, all rows of `sends` before it.
fn shortest_round_trip(courses: &Courses) -> f64 {
    let (sends, acks) = (&courses.flows[0].sends, &courses.flows[0].acks);
    let (mut shortest, mut una) = (f64::INFINITY, 1.0);
    for i in (0..acks.time.len()).filter(|i| acks.dropped[*i] == 0) {
        if acks.ack[i] <= una {
            continue;
        }
        una = acks.ack[i];
        let ends =
            |row: &usize| sends.time[*row] <= acks.time[i] && sends.seq[*row] + f64::from(sends.len[*row]) == una;
        let rows: Vec<usize> = (0..sends.time.len()).filter(ends).collect();
        if rows.len() == 1 && sends.sends[rows[0]] == 1 {
            shortest = f64::min(shortest, acks.time[i] - sends.time[rows[0]]);
        }
    }
    shortest
}

const LOSSY: &str = r#"
    [run]
    duration = "30 s"
    seeds = [3]
    [[link]]
    from = "A"
    to = "B"
    rate = "2 Mbps"
    delay = "50 ms"
    queue = { limit = "12 packets" }
    elements = [{ kind = "bernoulli", p = 0.1 }]
    [[flow]]
    from = "A"
    to = "B"
    stack = "newreno"
"#;

#[test]
fn the_pauses_are_the_longest_above_two_round_trips_in_order() {
    for stack in ["newreno", "linux-2025", "tahoe"] {
        let (courses, duration) = recorded(&plan(LOSSY, Some(stack), &[]));
        let shortest = shortest_round_trip(&courses);
        let [few, all] = [3, 1_000_000].map(|most| pauses(&courses.flows[0], duration, most));
        assert!(shortest > 0.1 && all.long.len() > 3, "{stack}");
        assert_eq!(few.long, all.long[..3], "{stack}");
        assert!(all.long.iter().all(|p| p.length() > 2.0 * shortest), "{stack}");
        assert!(all.long.is_sorted_by(|a, b| a.length() >= b.length()), "{stack}");
        assert_eq!(all.long[0].length(), few.longest_s, "{stack}");
    }
}

#[test]
fn the_longest_pause_counts_even_if_none_is_long() {
    let text =
        LOSSY.replace("elements = [{ kind = \"bernoulli\", p = 0.1 }]", "").replace("12 packets", "1000 packets");
    let (courses, duration) = recorded(&plan(&text.replace("30 s", "5 s"), None, &[]));
    let (sends, acks) = (&courses.flows[0].sends, &courses.flows[0].acks);
    let times: Vec<f64> = (0..acks.time.len()).filter(|i| acks.ack[*i] > 1.0).map(|i| acks.time[i]).collect();
    let from: Vec<f64> = std::iter::once(sends.time[0]).chain(times.iter().copied()).collect();
    let to = times.iter().copied().chain([duration]);
    let widest = from.iter().zip(to).map(|(from, to)| to - from).fold(0.0, f64::max);
    let found = pauses(&courses.flows[0], duration, 5);
    assert_eq!((found.longest_s, found.long), (widest, Vec::new()));
}

#[test]
fn in_a_stall_no_ack_of_new_data_arrives_and_its_story_is_in_order_and_whole() {
    let mut seen = 0;
    let mut presets = Vec::new();
    for folder in ["", "linux/"] {
        let at = format!("{}/../../scenarios/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(at).expect("a folder of scenarios") {
            let file = entry.expect("a name").file_name().into_string().expect("text");
            if file.ends_with(".toml") {
                presets.push((format!("{folder}{file}"), None));
            }
        }
    }
    assert!(presets.len() > 30, "{presets:?}");
    presets.extend(
        [("handover", "linux-2025"), ("satellite", "rack-tlp"), ("leung-ma", "tcp-pr")]
            .map(|(file, stack)| (format!("{file}.toml"), Some(stack))),
    );
    for (file, stack) in presets {
        let plan = shipped(&file, stack);
        let (courses, duration) = recorded(&plan);
        for (flow, course) in courses.flows.iter().enumerate() {
            let found = stalls(&courses, flow, &Places::of(&plan.scenario), duration, 50).stalls;
            assert!(found.is_sorted_by(|a, b| a.to - a.from >= b.to - b.from), "{file}");
            seen += found.len();
            for Stall { from, to, cause: _, title, sentences } in found {
                let acks = &course.acks;
                let most = |wanted: &dyn Fn(f64) -> bool| {
                    let rows = (0..acks.time.len()).filter(|i| wanted(acks.time[*i]));
                    rows.map(|i| acks.ack[i]).fold(1.0, f64::max)
                };
                assert!(most(&|t| t > from && t < to) <= most(&|t| t <= from), "{file}: {title}");
                assert!(sentences.is_sorted_by(|a, b| a.at <= b.at), "{file}: {title}");
                assert!(sentences.iter().all(|s| (0.0..=duration).contains(&s.at)), "{file}: {title}");
                assert!(sentences.iter().all(|s| s.rows.iter().all(|row| *row < course.sends.time.len())));
                for text in sentences.iter().map(|s| &s.text).chain([&title]) {
                    assert!(
                        !["NaN", "inf ", "None", "element "].iter().any(|odd| text.contains(odd)),
                        "{file}: {text}"
                    );
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
