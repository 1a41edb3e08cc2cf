//! Verdicts on simulated captures of thirty paths and six stacks, from the sender's side, the receiver's and the middle, compared
//! with the truth.
//!
//! `ACKCLOCK_JUDGE="PATH/POINT"` (`*` for all paths) prints the wrong verdicts there, for paths that are not held back.
//! `ACKCLOCK_JUDGE_SEEDS=N` runs N seeds of each (default 4), `ACKCLOCK_JUDGE_TABLE=FILE` writes the scores (`tools/dev campaign judge`).

mod case;
mod kernel;
mod origins;
mod paths;
mod score;

use ackclock_capture::place::Side;
use ackclock_capture::survey::Surveyed;
use ackclock_capture::Way;
use ackclock_lab::summary::ReorderingSummary;
use case::Case;
use paths::{Class, Path, HOSTS, SENDERS};
use score::{score, Point, Score, Wrong};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

/// The length of each transfer.
const SEGMENTS: u32 = 3_000;

/// The results of all runs.
struct Judged {
    /// By path, class and point.
    scores: BTreeMap<(usize, Class, Point), Score>,
    /// With the first seed, in the middle, by path.
    first: BTreeMap<usize, Score>,
    /// Paths and stacks on which the reordering metrics differ, with the side.
    reordering: Vec<String>,
    /// Captures assigned to a wrong place.
    misplaced: Vec<String>,
}

fn seeds() -> u64 {
    std::env::var("ACKCLOCK_JUDGE_SEEDS").map_or(4, |n| n.parse().expect("a number of seeds"))
}

fn judged() -> &'static Judged {
    static JUDGED: OnceLock<Judged> = OnceLock::new();
    JUDGED.get_or_init(|| {
        let seeds = seeds();
        let paths = paths::all();
        let jobs: Vec<(usize, usize, u64)> = (0..paths.len())
            .flat_map(|path| {
                (0..SENDERS.len()).flat_map(move |sender| (1..=seeds).map(move |seed| (path, sender, seed)))
            })
            .collect();
        let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((path, sender, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                        let case = case::judge(case::run(&paths[path], &HOSTS[0], &SENDERS[sender], SEGMENTS, seed));
                        let one = judge_path(&paths[path], sender, seed, &case);
                        all.lock().expect("nobody panicked").push(((path, sender, seed), one));
                    }
                });
            }
        });
        let mut all = all.into_inner().expect("nobody panicked");
        all.sort_by_key(|(at, _)| *at);
        let mut judged =
            Judged { scores: BTreeMap::new(), first: BTreeMap::new(), reordering: vec![], misplaced: vec![] };
        for ((path, sender, seed), one) in all {
            for (point, score) in Point::ALL.into_iter().zip(one.scores) {
                if seed == 1 && point == Point::Middle {
                    *judged.first.entry(path).or_default() += score;
                }
                *judged.scores.entry((path, SENDERS[sender].class, point)).or_default() += score;
            }
            judged.reordering.extend(one.reordering);
            judged.misplaced.extend(one.misplaced);
        }
        judged
    })
}

/// The results of one run.
struct One {
    scores: [Score; 4],
    reordering: Vec<String>,
    misplaced: Vec<String>,
}

fn judge_path(path: &Path, sender: usize, seed: u64, case: &Case) -> One {
    let scores = Point::ALL.map(|point| {
        let (score, wrong) = score(&case.truth, case.at(point), point);
        show(path, sender, point, &wrong);
        score
    });
    let named =
        |what: &str| format!("{} / {} {}: {what}", path.name, SENDERS[sender].stack, SENDERS[sender].class.name());
    let orders = &case.reordering;
    // With the first seed no first packet is lost. The receiver could not know of such a loss, but the ledger's buffer would
    // lack the packet.
    let [sent, arrived] = [0, 1].map(|i: usize| case.found[i].record.way(Way::Out).syns);
    let known = |of: &Option<ReorderingSummary>, everything: bool| {
        let mut of = of.clone();
        of.iter_mut().filter(|_| !everything).for_each(|of| of.buffer_occupancy_density.clear());
        of
    };
    let sides = [("receiver", &orders.receiver, seed == 1 || sent == arrived), ("both", &orders.both, true)];
    let differs = sides.iter().filter(|(_, of, all)| known(of, *all) != known(&orders.ledger, *all));
    let reordering = differs.map(|(side, of, _)| named(&format!("{side}: {of:?}, not {:?}", orders.ledger))).collect();
    let placed = |found: &Surveyed| found.record.place.side(Way::Out);
    let expected = [Side::Sender, Side::Receiver, Side::Middle];
    let off = case.found.iter().zip(expected).filter(|(found, side)| placed(found) != *side);
    let misplaced = off.map(|(found, side)| named(&format!("{side:?}: {:?}", found.record.why))).collect();
    One { scores, reordering, misplaced }
}

/// Prints the wrong verdicts, if requested.
fn show(path: &Path, sender: usize, point: Point, wrong: &[Wrong]) {
    let Ok(asked) = std::env::var("ACKCLOCK_JUDGE") else { return };
    let asked = asked.split_once('/').is_some_and(|(p, at)| (p == "*" || p == path.name) && at == point.name());
    if !asked || path.held_back {
        return;
    }
    for w in wrong {
        let truth = w.truth.map(|t| format!("{:?} seq {} len {} sends {}", t.verdict, t.seq, t.len, t.sends));
        let frames = w.truth.map(|t| (t.sender_frame, t.middle_frame, t.receiver_frame));
        let stack = SENDERS[sender].stack;
        let class = SENDERS[sender].class.name();
        println!(
            "{} / {stack} {class} / {}: truth {truth:?} frames {frames:?}, found {:?}",
            path.name,
            point.name(),
            w.found
        );
    }
}

/// The sum over all paths, or over those held back.
fn sum(class: Option<Class>, point: Point, held_back: bool) -> Score {
    let paths = paths::all();
    let mut sum = Score::default();
    for ((path, c, p), score) in &judged().scores {
        if *p == point && class.is_none_or(|class| class == *c) && (!held_back || paths[*path].held_back) {
            sum += *score;
        }
    }
    sum
}

/// All paths, then those held back.
const SETS: [bool; 2] = [false, true];

#[test]
fn with_dsack_the_sender_side_finds_the_needless_ones_and_decides_nearly_all() {
    for held_back in SETS {
        let s = sum(Some(Class::Dsack), Point::Sender, held_back);
        assert!(s.precision() >= 0.99 && s.recall() >= 0.99 && s.decided() >= 0.96, "held back: {held_back}: {s:?}");
        assert!(s.needless > 500, "there is something to find: {s:?}");
    }
}

#[test]
fn without_dsack_the_sender_side_is_never_wrong_unless_it_says_likely() {
    for held_back in SETS {
        for class in Class::ALL.into_iter().filter(|class| *class != Class::Dsack) {
            let s = sum(Some(class), Point::Sender, held_back);
            assert_eq!((s.wrong, s.invented), (0, 0), "{class:?}, held back: {held_back}: {s:?}");
        }
    }
}

#[test]
fn without_dsack_timestamps_decide_most_with_sack_and_half_without() {
    for held_back in SETS {
        for (class, least) in [(Class::SackAndTimestamps, 0.85), (Class::Timestamps, 0.5)] {
            let s = sum(Some(class), Point::Sender, held_back);
            assert!(s.decided() >= least, "{class:?}, held back: {held_back}: {s:?}");
        }
    }
}

#[test]
fn from_both_sides_every_verdict_is_right() {
    for held_back in SETS {
        let s = sum(None, Point::Both, held_back);
        assert_eq!((s.right, s.invented), (s.all, 0), "held back: {held_back}: {s:?}");
    }
}

#[test]
fn few_verdicts_are_marked_likely() {
    for held_back in SETS {
        let mut all = Score::default();
        Point::ALL.into_iter().for_each(|point| all += sum(None, point, held_back));
        assert!(all.likely() <= 0.05, "held back: {held_back}: {all:?}");
    }
}

#[test]
fn at_the_receiver_every_copy_that_arrived_is_judged_right() {
    for held_back in SETS {
        let s = sum(None, Point::Receiver, held_back);
        assert_eq!((s.right + s.unseen, s.invented), (s.all, 0), "held back: {held_back}: {s:?}");
        // For these, neither an earlier copy nor any data sent after the first copy had arrived: nothing shows them.
        assert!(50 * s.unseen <= s.all, "held back: {held_back}: {s:?}");
    }
}

#[test]
fn in_the_middle_no_verdict_is_wrong_unless_it_says_likely() {
    for held_back in SETS {
        let s = sum(None, Point::Middle, held_back);
        assert_eq!((s.wrong, s.invented), (0, 0), "held back: {held_back}: {s:?}");
    }
}

#[test]
fn reordering_from_the_receiver_and_from_both_sides_is_the_ledgers() {
    let differ = &judged().reordering;
    assert!(differ.is_empty(), "{} of {}:\n{}", differ.len(), 60 * SENDERS.len(), differ.join("\n"));
}

#[test]
fn most_retransmissions_are_decided_on_every_path() {
    let mut text = String::from(
        "Retransmissions that came by the capture, of all six stacks or of those with what the receiver tells.\n\n",
    );
    text += "| capture | receiver tells | paths | all | needless: precision | recall | decided | wrong | likely | likely and wrong |\n";
    text += "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for point in Point::ALL {
        for class in Class::ALL {
            for (held_back, paths) in [(false, "all"), (true, "held back")] {
                let s = sum(Some(class), point, held_back);
                let percent = |share: f64| format!("{:.1} %", 100.0 * share);
                let _ = writeln!(
                    text,
                    "| {} | {} | {paths} | {} | {} | {} | {} | {} | {} | {} |",
                    point.name(),
                    class.name(),
                    s.all,
                    percent(s.precision()),
                    percent(s.recall()),
                    percent(s.decided()),
                    s.wrong + s.invented,
                    percent(s.likely()),
                    s.wrong_likely
                );
            }
        }
    }
    text += "\nIn the middle, path by path:\n\n| path | all | decided | wrong | likely |\n| --- | --- | --- | --- | --- |\n";
    for (i, path) in paths::all().iter().enumerate() {
        let mut s = Score::default();
        judged().scores.iter().filter(|((p, _, at), _)| *p == i && *at == Point::Middle).for_each(|(_, one)| s += *one);
        // With neither timestamps nor reports of duplicates there is too little evidence to require a share with every seed.
        let mut informed = Score::default();
        let telling =
            judged().scores.iter().filter(|((p, c, at), _)| *p == i && *at == Point::Middle && *c != Class::Nothing);
        telling.for_each(|(_, one)| informed += *one);
        let first = judged().first[&i];
        let decided = first.decided().min(informed.decided());
        assert!(s.all > 50 && decided > 0.45, "{}: {s:?}, {informed:?}, {first:?}", path.name);
        let (decided, likely) = (100.0 * s.decided(), 100.0 * s.likely());
        let _ =
            writeln!(text, "| {} | {} | {decided:.1} % | {} | {likely:.1} % |", path.name, s.all, s.wrong + s.invented);
    }
    let _ = writeln!(text, "\nTaken for a capture of another place: {} of {}.", judged().misplaced.len(), 540);
    if let Ok(file) = std::env::var("ACKCLOCK_JUDGE_TABLE") {
        std::fs::write(&file, &text).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
    println!("{text}");
    judged().misplaced.iter().for_each(|m| println!("misplaced: {m}"));
}
