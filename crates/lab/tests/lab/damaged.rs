//! Scenario files with mistakes, and changes of a command line: each is read, or refused in one line that names the file. What is
//! read is written and read again the same. `ACKCLOCK_FUZZ` sets the number of files (default 10,000).

#![expect(clippy::unwrap_used, reason = "a test may stop")]

#[path = "../../../../tests/fuzz/mod.rs"]
mod fuzz;
#[path = "../../../../tests/fuzz/rng.rs"]
mod rng;

use ackclock_lab::places;
use ackclock_lab::run::check;
use ackclock_lab::scenario::{Overrides, Plan};
use fuzz::Target;
use rng::Rng;
use std::path::Path;

impl Rng {
    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Values that are wrong at most places, and right at some.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "0.5",
    "1e308",
    "-1e-320",
    "nan",
    "inf",
    "-inf",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "0x10",
    "true",
    "[]",
    "{}",
    "[[]]",
    "[1, \"1 s\"]",
    "1979-05-27T07:32:00Z",
    "\"\"",
    "\" \"",
    "\"0 s\"",
    "\"1 ns\"",
    "\"-1 ms\"",
    "\"1e400 s\"",
    "\"584 years\"",
    "\"18446744073709551615 ns\"",
    "\"1 parsec\"",
    "\"0 Mbps\"",
    "\"1 bps\"",
    "\"1e9 Gbps\"",
    "\"0 packets\"",
    "\"1 packets\"",
    "\"1e18 B\"",
    "\"unlimited\"",
    "\"S\"",
    "\"\\u0000\"",
    "\"\\n\"",
    "\"\u{202e}\"",
    "\"💥\"",
    "\"#x:Y\"",
    "\"../x.csv\"",
    "{ kind = \"bernoulli\" }",
    "{ exponential = \"1 s\" }",
    "{ from = \"1 s\", to = \"0 s\" }",
    "\"newreno\"",
    "\"linux-2025\"",
    "\"quic\"",
];
const CHARACTERS: &[&str] =
    &["[", "]", "{", "}", "\"", "=", ",", ".", "#", "\n", "\\", "\0", "\u{7f}", "é", "9", "-", "_", " ", "'''"];
const OPTIONS: &[&str] = &[
    "rto.min",
    "rto.tick",
    "detect",
    "detect.threshold",
    "recovery",
    "startup.x",
    "options.sack",
    "",
    "a..b",
    "limits.cwnd_cap_segs",
];

/// Valid scenarios: ours and those of the tests.
fn good() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/scenarios", "../../scenarios", "../../scenarios/linux"];
    let files = folders.iter().flat_map(|f| std::fs::read_dir(root.join(f)).unwrap()).map(|f| f.unwrap().path());
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files.iter().map(|f| std::fs::read_to_string(f).unwrap()).collect()
}

/// A place between two characters.
fn place(text: &str, rng: &mut Rng) -> usize {
    let at = rng.below(text.len() + 1);
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Removes, repeats, moves or borrows a line.
fn line(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (at, to) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(4) {
        _ if lines.is_empty() => {}
        0 => _ = lines.remove(at),
        1 => lines.insert(to, lines[at]),
        2 => lines.swap(at, to),
        _ => lines.insert(at, rng.of(&other.lines().collect::<Vec<_>>())),
    }
    lines.join("\n")
}

/// Replaces the value behind an equals sign.
fn value(text: &str, rng: &mut Rng) -> String {
    let places: Vec<usize> = text.match_indices('=').map(|(at, _)| at + 1).collect();
    let Some(&at) = places.get(rng.below(places.len())) else { return text.to_owned() };
    let end = text[at..].find([',', '}', '\n']).map_or(text.len(), |n| at + n);
    format!("{} {}{}", &text[..at], rng.of(VALUES), &text[end..])
}

/// Replaces a word by another one of either file.
fn word(text: &str, other: &str, rng: &mut Rng) -> String {
    let words = |text: &str, rng: &mut Rng| {
        let split = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let words: Vec<&str> = split.filter(|w| !w.is_empty()).collect();
        words.get(rng.below(words.len())).map_or(String::new(), |w| (*w).to_owned())
    };
    let (from, to) = (words(text, rng), words(if rng.below(2) == 0 { text } else { other }, rng));
    text.replacen(&from, &to, 1 + rng.below(3))
}

/// Repeats something often.
fn deep(text: &str, rng: &mut Rng) -> String {
    let (at, times) = (place(text, rng), 10 << rng.below(9));
    let what = rng.of(&["[", "{", "a.", "\n[[link]]\n", "\n[[flow]]\nfrom=\"S\"\nto=\"D\"\n", " ", "elements = ["]);
    format!("{}{}{}", &text[..at], what.repeat(times), &text[at..])
}

fn damaged(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + rng.below(4).min(rng.below(4)) {
        text = match rng.below(80) {
            0..16 => line(&text, other, rng),
            16..48 => value(&text, rng),
            48..66 => word(&text, other, rng),
            66..79 => {
                let (from, to) = (place(&text, rng), place(&text, rng));
                let to = if rng.below(2) == 0 { from } else { to.max(from) };
                format!("{}{}{}", &text[..from], rng.of(CHARACTERS), &text[to..])
            }
            _ => deep(&text, rng),
        };
    }
    text
}

/// Changes of a command line, mostly none.
fn overrides(rng: &mut Rng) -> Overrides {
    let mut found = Overrides::default();
    if rng.below(4) == 0 {
        found.set = vec![(rng.of(OPTIONS).to_owned(), rng.of(VALUES).trim_matches('"').to_owned())];
    }
    if rng.below(8) == 0 {
        found.stack = Some(rng.of(&["newreno", "dsack-avg", "", "rneo", "quic", "\n"]).to_owned());
    }
    found
}

/// A plan of more flows is not written: its text would have 1.7 kB for each flow, and its reader needs 36 bytes for each byte of it.
const MOST_WRITTEN: usize = 700;

/// What is read can be laid out, and is written and read again the same.
fn lasts(plan: &Plan) -> Result<(), String> {
    check(plan).map_err(|e| e.to_string())?;
    if plan.scenario.flows.len() > MOST_WRITTEN {
        return Ok(());
    }
    let written = plan.to_toml();
    let again = Plan::parse("damaged.toml", &written, &Overrides::default());
    let again = again.unwrap_or_else(|e| panic!("{e} in\n{written}"));
    assert_eq!(again.scenario, plan.scenario, "{written}");
    assert_eq!(again.to_toml(), written);
    Ok(())
}

fn is_one_line(message: &str) {
    assert!(message.starts_with("damaged.toml") || message.starts_with("command line"), "{message}");
    assert!(message.lines().count() == 1 && message.chars().count() < 4_100, "{message}");
    assert!(message.contains("found ") && message.contains("allowed: "), "{message}");
}

#[test]
fn an_error_that_lists_long_names_or_many_is_short() {
    let name = "x".repeat(100_000);
    let link = |to: &str| format!("[[link]]\nfrom = \"A\"\nto = \"{to}\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n");
    let many: String = (0..5000).map(|i| link(&format!("node {i}"))).collect();
    for (links, from) in [(link(&name), "B"), (many, "B"), (link("B"), &name)] {
        let text =
            format!("[run]\nduration = \"1 s\"\n{links}[[flow]]\nfrom = \"{from}\"\nto = \"A\"\nstack = \"reno\"\n");
        let message = Plan::parse("x.toml", &text, &Overrides::default()).unwrap_err().to_string();
        assert!(message.contains("a node that a [[link]] names"), "{message}");
        assert!(message.chars().count() < 4_100, "{} characters", message.len());
    }
}

#[test]
fn an_error_that_lists_names_with_line_breaks_is_one_line() {
    let text = "[run]\nduration = \"1 s\"\n[[link]]\nfrom = \"a\\nb\"\nto = \"\\u2028\\r\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n[[flow]]\nfrom = \"S\"\nto = \"a\\nb\"\nstack = \"reno\"\n";
    let message = Plan::parse("x.toml", text, &Overrides::default()).unwrap_err().to_string();
    assert_eq!(
        message,
        "x.toml:9: key `flow[0].from`: found \"S\", allowed: a node that a [[link]] names: a\\nb, \\u{2028}\\r"
    );
}

/// A chain of links, with a flow from its one end to the other.
fn chain(links: usize) -> String {
    let link = |i| format!("[[link]]\nfrom = \"{}\"\nto = \"{i}\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n", i + 1);
    let all: String = (0..links).map(link).collect();
    format!("[run]\nduration = \"1 s\"\n{all}[[flow]]\nfrom = \"{links}\"\nto = \"0\"\nstack = \"reno\"\n")
}

#[test]
fn a_file_with_ten_thousand_links_is_read_within_a_second() {
    let text = chain(10_000);
    Target::new("a chain", 200_000_000).run(0, &"10,000 links", || {
        assert_eq!(Plan::parse("chain.toml", &text, &Overrides::default()).unwrap().scenario.links.len(), 10_000);
        assert_eq!(places::read("chain.toml", &text).unwrap()["lines"]["link[9999].delay"], 50_002);
    });
}

#[test]
fn a_damaged_scenario_is_refused_in_one_line_or_read_and_written_the_same() {
    let good = good();
    let (mut read, mut refused, cases) = (0, 0, fuzz::cases(10_000));
    // The largest file has 2,560 more links or flows; a count may ask for 65,536 flows.
    let (target, many) = (Target::new("scenarios", 50_000_000), Target::new("scenarios of many flows", 200_000_000));
    target.each(cases, |number, seed| {
        let mut rng = Rng(seed);
        let (one, other) = (rng.below(good.len()), rng.below(good.len()));
        let text = damaged(&good[one], &good[other], &mut rng);
        let overrides = overrides(&mut rng);
        let input = (&text, &overrides.set, &overrides.stack);
        let mut plan = None;
        target.run(number, &input, || {
            plan = Some(Plan::parse("damaged.toml", &text, &overrides).map_err(|e| e.to_string()))
        });
        let mut message = Ok(());
        match &plan {
            Some(Ok(plan)) if plan.scenario.flows.len() > MOST_WRITTEN => {
                many.run(number, &input, || message = lasts(plan))
            }
            Some(Ok(plan)) => target.run(number, &input, || message = lasts(plan)),
            Some(Err(e)) => message = Err(e.clone()),
            None => {}
        }
        match message {
            Ok(()) => read += 1,
            Err(message) => {
                refused += 1;
                target.run(number, &input, || is_one_line(&message));
            }
        }
    });
    assert!(read > cases / 20 && refused > cases / 4, "{read} read, {refused} refused: too few to say anything");
}
