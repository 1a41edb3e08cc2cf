//! Stacks as text: written stacks are read back, unknown keys are refused, and invalid values are refused with a
//! sentence that names the key, the value found and the values allowed.

use ackclock_tcp::stack::Stack;

fn named(name: &str) -> Stack {
    Stack::named(name).expect("listed")
}

#[test]
fn every_named_stack_survives_being_written_and_read() {
    for name in Stack::names() {
        let text = toml::to_string(&named(name)).expect("can be written");
        let back: Stack = toml::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        assert_eq!(back, named(name), "{text}");
        assert_eq!(toml::to_string(&back).expect("can be written"), text);
    }
}

#[test]
fn a_short_description_gets_the_defaults() {
    let text =
        "name = \"mine\"\nidle = \"restart\"\ndetect = { kind = \"dup-ack\" }\nrecovery = { kind = \"newreno\" }";
    let mine: Stack = toml::from_str(text).expect("is enough");
    assert_eq!(Stack { name: "newreno".into(), ..mine.clone() }, named("newreno"));
    assert_eq!(mine.validate(), Ok(()));
}

/// A description with one extra line, in the root or in one of its tables.
fn read(table: &str, line: &str) -> Result<Stack, String> {
    let mut text: toml::Table = toml::from_str(&toml::to_string(&named("rfc-6675")).expect("written")).expect("read");
    let add: toml::Table = toml::from_str(line).expect("a line of TOML");
    let into = match table {
        "" => &mut text,
        path => path.split('.').fold(&mut text, |t, key| {
            t.entry(key).or_insert_with(|| toml::Table::new().into()).as_table_mut().expect("a table")
        }),
    };
    into.extend(add);
    toml::from_str(&toml::to_string(&text).expect("written")).map_err(|e| e.to_string())
}

#[test]
fn an_unknown_key_is_refused_by_name_wherever_it_is() {
    let tables = [
        "",
        "rto",
        "detect",
        "detect.threshold",
        "recovery",
        "congestion",
        "startup",
        "options",
        "limits",
        "ack",
        "timeout",
        "disorder",
        "spurious",
        "undo",
    ];
    for table in tables {
        let e = read(table, "no_such_key = 1").expect_err(table);
        assert!(e.contains("no_such_key") && e.contains("unknown field"), "[{table}]: {e}");
    }
}

#[test]
fn an_unknown_algorithm_is_refused_with_the_known_ones() {
    for (table, known) in
        [("recovery", "sack-ff96"), ("detect", "dup-ack"), ("rto", "net2-ticks"), ("ack", "heartbeat")]
    {
        let e = read(table, "kind = \"magic\"").expect_err(table);
        assert!(e.contains("magic") && e.contains(known), "{table}: {e}");
    }
}

#[test]
fn a_time_without_its_unit_is_refused() {
    for value in ["200", "\"200\"", "\"200 parsecs\""] {
        let e = read("rto", &format!("min = {value}")).expect_err(value);
        assert!(e.contains("ms"), "{value}: {e}");
    }
}

/// The refusal of a named stack with one line changed.
fn refusal(name: &str, table: &str, line: &str) -> String {
    let mut text: toml::Table = toml::from_str(&toml::to_string(&named(name)).expect("written")).expect("read");
    let add: toml::Table = toml::from_str(line).expect("a line of TOML");
    let into = if table.is_empty() { &mut text } else { text[table].as_table_mut().expect("a table") };
    into.extend(add);
    let stack: Stack = toml::from_str(&toml::to_string(&text).expect("written")).expect("only its sense is wrong");
    stack.validate().expect_err(line).to_string()
}

#[test]
fn a_number_out_of_its_range_is_refused_by_its_key() {
    let lines = [
        ("dsack-del", "detect", "arming_dups = 0", "detect.arming_dups"),
        ("dsack-del", "detect", "arming_dups = 1001", "detect.arming_dups"),
        ("dsack-del", "detect", "wait = { kind = \"round-trip\", share = 10.5 }", "detect.wait.share"),
        ("newreno", "", "disorder = { kind = \"extended\", most_cwnds = -1.0 }", "disorder.most_cwnds"),
        (
            "newreno",
            "",
            "startup = { kind = \"hystart-plus-plus\", css_growth_divisor = 0 }",
            "startup.css_growth_divisor",
        ),
        ("newreno", "", "startup = { kind = \"hystart-plus-plus\", css_rounds = 0 }", "startup.css_rounds"),
        ("newreno", "", "startup = { kind = \"bdp\", gap_share = 1.5 }", "startup.gap_share"),
        ("newreno", "", "congestion = { kind = \"cubic-2008\", beta_1024 = 0 }", "congestion.beta_1024"),
        ("newreno", "", "congestion = { kind = \"cubic-2008\", beta_1024 = 1024 }", "congestion.beta_1024"),
        ("newreno", "", "congestion = { kind = \"cubic-2008\", c = 0.0 }", "congestion.c"),
        ("tcp-pr", "detect", "alpha = 0.0", "detect.alpha"),
        ("tcp-pr", "detect", "alpha = 1.5", "detect.alpha"),
        ("newreno", "", "rto = { kind = \"rfc6298\", min = \"0 s\", initial = \"0 s\" }", "rto.initial"),
        ("newreno", "", "detect = { kind = \"linux-no-sack\" }", "detect"),
    ];
    for (name, table, line, key) in lines {
        let message = refusal(name, table, line);
        assert!(message.contains(key), "{line}: {message}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    let lines = [
        ("newreno", "detect", "threshold = { kind = \"fixed\", segments = 0 }"),
        ("newreno", "detect", "threshold = { kind = \"fixed\", segments = 1001 }"),
        ("dsack-inc", "detect", "threshold = { kind = \"inc\", step = 0 }"),
        ("newreno", "detect", "threshold = { kind = \"inc\", update_per = \"dsack\" }"),
        ("dsack-avg", "detect", "threshold = { kind = \"avg\", cap = { floor_segs = 0 } }"),
        ("dsack-ewma", "detect", "threshold = { kind = \"ewma\", alpha = 1.5 }"),
        ("dsack-ewma", "detect", "threshold = { kind = \"ewma\", x = nan }"),
        ("dsack-ewma", "detect", "threshold = { kind = \"ewma\", cap = { floor_segs = 1001 } }"),
        ("dsack", "detect", "judge_in_recovery = false"),
        ("dsack-del", "detect", "judge_in_recovery = false"),
        ("newreno", "startup", "initial_window_segs = 0"),
        ("newreno", "startup", "initial_window_segs = 65536"),
        ("newreno", "startup", "ssthresh_segs = 1"),
        ("newreno", "rto", "max = \"500 ms\""),
        ("newreno", "rto", "tick = \"0 s\""),
        ("newreno", "", "rto = { kind = \"rfc6298\", min = \"0 s\", max = \"0 s\" }"),
        ("newreno", "", "rto = { kind = \"rfc6298\", min = \"0 s\", initial = \"0 s\" }"),
        ("newreno", "", "rto = { kind = \"net2-ticks\", tick = \"0 s\" }"),
        ("newreno", "", "rto = { kind = \"net2-ticks\", min_ticks = 0 }"),
        ("newreno", "", "rto = { kind = \"net2-ticks\", min_ticks = 9, max_ticks = 8 }"),
        ("newreno", "", "rto = { kind = \"net2-ticks\", initial_ticks = 0 }"),
        ("newreno", "options", "sack_blocks = 0"),
        ("newreno", "options", "sack_blocks = 5"),
        ("newreno", "limits", "max_train = 0"),
        ("newreno", "limits", "maxburst_segs = 0"),
        ("newreno", "limits", "cwnd_cap_segs = 0"),
        ("newreno", "options", "dsack = true"),
        ("newreno", "", "dup_rule = \"new-sack-info\""),
        ("newreno", "", "recovery = { kind = \"sack-ff96\" }"),
        ("newreno", "", "recovery = { kind = \"rfc6675\" }"),
        ("newreno", "recovery", "deflate_uninflated = true"),
        ("newreno", "", "detect = { kind = \"sack\" }"),
        ("newreno", "", "timeout = { kind = \"sack\" }"),
        ("rfc-6675", "", "recovery = { kind = \"tahoe\" }"),
        ("rfc-6675", "", "recovery = { kind = \"reno\" }"),
        ("newreno", "", "ack = { kind = \"heartbeat\", interval = \"0 s\" }"),
        ("newreno", "", "ack = { kind = \"heartbeat\", interval = \"1 s\", phase = \"1 s\" }"),
    ];
    let all: String = lines.iter().map(|(n, t, l)| format!("{n} [{t}] {l}\n    {}\n", refusal(n, t, l))).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn a_judge_or_an_answer_to_a_mistake_that_makes_no_sense_is_refused_with_a_sentence() {
    let lines = [
        ("newreno", "", "spurious = { kind = \"eifel\" }"),
        ("newreno", "", "spurious = { kind = \"rtt-min\", share = 0.0 }"),
        ("newreno", "", "spurious = { kind = \"rtt-min\", share = nan }"),
        ("newreno", "", "spurious = { kind = \"linux\" }"),
        ("newreno", "", "spurious = { kind = \"linux\", dsack = false, timestamps = false }"),
        ("newreno", "", "undo = { kind = \"eifel-response\", initial_window_segs = 0 }"),
        ("newreno", "", "timeout = { kind = \"frto\", form = \"sack\" }"),
        ("newreno", "", "timeout = { kind = \"frto\", form = \"linux\" }"),
        ("tahoe", "", "timeout = { kind = \"frto\" }"),
        ("newreno", "", "recovery = { kind = \"in-open\" }"),
        ("newreno", "", "rto = { kind = \"rfc6298\", divide_gains = true }"),
        ("newreno", "detect", "threshold = { kind = \"linux\", initial = 0 }"),
        ("newreno", "detect", "threshold = { kind = \"linux\", max = 1001 }"),
        ("tcp-pr", "detect", "alpha = 0.0"),
        ("tcp-pr", "detect", "alpha = 1.5"),
        ("tcp-pr", "detect", "beta = 0.5"),
        ("tcp-pr", "detect", "initial = \"0 s\""),
        ("tcp-pr", "detect", "max = \"500 ms\""),
    ];
    let all: String = lines.iter().map(|(n, t, l)| format!("{n} [{t}] {l}\n    {}\n", refusal(n, t, l))).collect();
    insta::assert_snapshot!(all);
}
