//! Captures of a kernel's TCP, stored in `tests/captures/kernel` with the path's record of each copy
//! (`tools/campaigns/kernel_captures.py`).

use crate::case::{matched, survey};
use crate::paths::Class;
use crate::score::{score, Point, Score, Wrong};
use ackclock_sim::fate::Verdict;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::Time;
use ackclock_trace::truth::Retransmission;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/kernel")
}

/// The lines of a comma-separated file, by the names in its first line.
fn table(file: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    lines
        .map(|line| names.iter().zip(line.split(',')).map(|(n, v)| ((*n).to_owned(), v.to_owned())).collect())
        .collect()
}

fn truth(file: &Path) -> Vec<Retransmission> {
    let row = |row: BTreeMap<String, String>| {
        let number = |name: &str| row[name].parse::<u64>().ok();
        Retransmission {
            flow: 0,
            at: Time(number("time_ns").expect("a time")),
            seq: Offset(number("seq").expect("a sequence number")),
            len: number("length").expect("a length") as u32,
            sends: number("sends").expect("a count") as u8,
            sender_frame: number("sender_frame").expect("a frame"),
            middle_frame: number("middle_frame"),
            receiver_frame: number("receiver_frame"),
            verdict: match row["verdict"].as_str() {
                "needed" => Verdict::Needed,
                "refused" => Verdict::Refused,
                "needless" => Verdict::Needless,
                other => panic!("{}: a verdict `{other}`", file.display()),
            },
        }
    };
    table(file).into_iter().map(row).collect()
}

/// The receiver's reports to its sender in a run with these options.
fn class(options: &str) -> Class {
    let off = |name: &str| options.contains(&format!("tcp_{name}=0"));
    match (off("sack") || off("dsack"), off("timestamps")) {
        (false, _) => Class::Dsack,
        (true, true) => Class::Nothing,
        (true, false) if off("sack") => Class::Timestamps,
        (true, false) => Class::SackAndTimestamps,
    }
}

struct Kept {
    name: String,
    class: Class,
    point: Point,
    score: Score,
    wrong: Vec<Wrong>,
}

fn kept() -> Vec<Kept> {
    let mut all = Vec::new();
    for row in table(&folder().join("runs.csv")) {
        let name = &row["name"];
        let truth = truth(&folder().join(format!("{name}-truth.csv")));
        assert_eq!(truth.len(), row["retransmissions"].parse::<usize>().expect("a count"), "{name}");
        let files = ["sender", "receiver"].map(|side| {
            let file = folder().join(format!("{name}-{side}.pcapng.gz"));
            let bytes = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            assert!(bytes.len() <= 2 << 20, "{}: {} bytes", file.display(), bytes.len());
            bytes
        });
        let [sender, receiver] = [&files[0], &files[1]].map(|file| survey(file).retransmissions);
        let both = matched(&files[0], &files[1]).retransmissions;
        for (point, found) in [(Point::Sender, sender), (Point::Receiver, receiver), (Point::Both, both)] {
            let (score, wrong) = score(&truth, &found, point);
            all.push(Kept { name: name.clone(), class: class(&row["options"]), point, score, wrong });
        }
    }
    all
}

fn sum(class: Option<Class>, point: Point) -> Score {
    let mut sum = Score::default();
    let asked = std::env::var("ACKCLOCK_JUDGE").is_ok_and(|asked| asked == format!("kernel/{}", point.name()));
    for kept in kept().into_iter().filter(|k| k.point == point && class.is_none_or(|class| class == k.class)) {
        sum += kept.score;
        if asked {
            kept.wrong.iter().for_each(|w| println!("{}: {w:?}", kept.name));
        }
    }
    sum
}

#[test]
fn twenty_captures_of_a_kernel_are_kept_and_none_of_them_is_dull() {
    let kept = kept();
    assert!(kept.len() >= 60, "{} times three points", kept.len() / 3);
    for k in kept {
        assert!(k.score.all >= 3, "{} has {} retransmissions", k.name, k.score.all);
    }
}

#[test]
fn on_a_kernel_with_dsack_the_sender_side_finds_the_needless_ones_and_decides_nearly_all() {
    let s = sum(Some(Class::Dsack), Point::Sender);
    assert!(s.precision() >= 0.99 && s.recall() >= 0.99 && s.decided() >= 0.97, "{s:?}");
    assert!(s.needless > 100, "there is something to find: {s:?}");
}

#[test]
fn on_a_kernel_without_dsack_the_sender_side_is_never_wrong_unless_it_says_likely() {
    for class in Class::ALL.into_iter().filter(|class| *class != Class::Dsack) {
        let s = sum(Some(class), Point::Sender);
        assert_eq!((s.wrong, s.invented), (0, 0), "{class:?}: {s:?}");
    }
}

#[test]
fn on_a_kernel_without_dsack_timestamps_decide_most_with_sack_and_half_without() {
    for (class, least) in [(Class::SackAndTimestamps, 0.85), (Class::Timestamps, 0.5)] {
        let s = sum(Some(class), Point::Sender);
        assert!(s.decided() >= least, "{class:?}: {s:?}");
    }
}

#[test]
fn at_a_kernels_receiver_every_copy_that_arrived_is_judged_right() {
    let s = sum(None, Point::Receiver);
    assert_eq!((s.right + s.unseen, s.invented), (s.all, 0), "{s:?}");
    // Of lost tails that were sent again, nothing had arrived before.
    assert!(50 * s.unseen <= s.all, "{s:?}");
}

#[test]
fn from_both_sides_of_kernels_every_verdict_is_right() {
    let s = sum(None, Point::Both);
    assert_eq!((s.right, s.invented), (s.all, 0), "{s:?}");
}

#[test]
fn few_verdicts_on_a_kernel_are_marked_likely() {
    let mut all = Score::default();
    [Point::Sender, Point::Receiver].into_iter().for_each(|point| all += sum(None, point));
    assert!(all.likely() <= 0.05, "{all:?}");
}
