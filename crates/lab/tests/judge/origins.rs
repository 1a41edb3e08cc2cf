//! Captures as others make them: packets of simulated runs, rewritten as other hosts send them and as other devices show them.
//!
//! Idea: where only headers differ, the course of a transfer and the truth stay. Rewriting is exact only if the hosts would have
//! done the same: hosts without timestamps, or with a coarser clock, refuse nothing for them, so runs in which a host did are
//! left out there.

mod packets;
mod rewrite;
mod tally;

use crate::case::{self, Files};
use crate::paths::{self, Class, Hosts, Sender, HOSTS};
use crate::score::Point;
use ackclock_capture::{Heading, Input};
use packets::Packet;
use rewrite::Capture;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tally::{Tally, Wrong};

const SEVERAL: &str = "several of these";

/// A kind of captures.
pub(crate) struct Origin {
    pub(crate) name: &'static str,
    /// Its row of the table; several may share one.
    row: &'static str,
    steps: &'static [fn(&mut Capture)],
    timestamps: Clock,
    /// The hosts besides the first, by their place in [`HOSTS`].
    hosts: usize,
}

/// What becomes of the timestamps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Same,
    Coarse,
    None,
}

const fn origin(name: &'static str, timestamps: Clock, steps: &'static [fn(&mut Capture)]) -> Origin {
    let hosts = match name.as_bytes() {
        [b'W', ..] => 1,
        [b'B', ..] => 2,
        _ => 0,
    };
    Origin { name, row: name, steps, timestamps, hosts }
}

/// One that is several of the others at once.
const fn several(name: &'static str, timestamps: Clock, steps: &'static [fn(&mut Capture)]) -> Origin {
    Origin { row: SEVERAL, ..origin(name, timestamps, steps) }
}

pub(crate) const ORIGINS: &[Origin] = &[
    origin("simulated", Clock::Same, &[]),
    origin("Windows-like", Clock::None, &[Capture::count_per_host, Capture::without_timestamps, Capture::probes]),
    origin(
        "Windows-like, swapped",
        Clock::None,
        &[Capture::count_swapped, Capture::without_timestamps, Capture::probes],
    ),
    origin("BSD-like", Clock::Coarse, &[Capture::count_at_random, Capture::half_second_ticks, Capture::probes]),
    origin("ticks of 10 ms, host's counter", Clock::Coarse, &[Capture::count_per_host, Capture::ten_ms_ticks]),
    origin("IPv6", Clock::Same, &[Capture::sums, Capture::in_ipv6]),
    origin("GRO and TSO", Clock::Same, &[Capture::joined]),
    several("GRO and TSO, one number", Clock::Same, &[Capture::one_number_per_train, Capture::joined]),
    origin("mirror of a router", Clock::Same, &[Capture::before_and_behind_a_router]),
    origin("mirror", Clock::Same, &[Capture::mirrored]),
    several("IPv6, mirror", Clock::Same, &[Capture::mirrored, Capture::sums, Capture::in_ipv6]),
    origin("data alone", Clock::Same, &[Capture::data_alone]),
    origin("ACKs alone", Clock::Same, &[Capture::acks_alone]),
    origin("begun late", Clock::Same, &[Capture::begun_late]),
    origin("VLANs", Clock::Same, &[Capture::in_vlans]),
    several(
        "Windows-like, begun late",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::begun_late],
    ),
    several(
        "Windows-like, GRO and TSO",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::joined],
    ),
    several(
        "Windows-like, mirror of a router",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::before_and_behind_a_router],
    ),
    several(
        "IPv6, mirror of a router in VLANs",
        Clock::Same,
        &[Capture::before_and_behind_a_router, Capture::sums, Capture::in_ipv6, Capture::in_vlans_of_mirrors],
    ),
    several(
        "IPv6, GRO and TSO, begun late",
        Clock::Same,
        &[Capture::joined, Capture::sums, Capture::in_ipv6, Capture::begun_late],
    ),
    several(
        "Windows-like, data alone",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::data_alone],
    ),
];

impl Origin {
    /// What the receivers of a class report then; `None` if the run is no run of such hosts.
    fn class(&self, class: Class, refused: bool) -> Option<Class> {
        match self.timestamps {
            Clock::Same => Some(class),
            _ if refused => None,
            Clock::Coarse => {
                matches!(class, Class::SackAndTimestamps | Class::Timestamps | Class::Dsack).then_some(class)
            }
            Clock::None if class == Class::Dsack => Some(Class::Dsack),
            Clock::None => Some(Class::Nothing),
        }
    }
}

/// The places: at either host, and at a device between.
const POINTS: [Point; 3] = [Point::Sender, Point::Receiver, Point::Middle];
const SEGMENTS: u32 = 2_000;

/// By origin, point and class.
type Cells = BTreeMap<(usize, Point, Class), Tally>;

/// Each packet passes a router in the middle and one at the receiver.
fn packets(file: &[u8], point: Point, seed: u64) -> Vec<Packet> {
    let mut packets = Vec::new();
    // Half of the captures do not say which way a packet went.
    let says = seed.is_multiple_of(2);
    let read = ackclock_capture::read::read(Input::Bytes(file), |frame| {
        let mut packet = Packet::of(frame, if says { frame.heading } else { Heading::Unsaid });
        let routers = match (point, packet.from_sender) {
            (Point::Sender, true) | (Point::Receiver, false) => 0,
            (Point::Middle | Point::Both, _) => 1,
            (Point::Sender, false) | (Point::Receiver, true) => 2,
        };
        (0..routers).for_each(|_| packet.passes_a_router());
        packets.push(packet);
    });
    read.expect("a capture");
    packets
}

/// Judges one run as captures of all origins.
fn judge_run(run: &Files, hosts: usize, class: Class, seed: u64, show: &impl Fn(&Origin, Point, &[Wrong])) -> Cells {
    let mut cells = Cells::new();
    let whole = POINTS.map(|point| packets(&run.files[point as usize], point, seed));
    let pauses = Arc::new(rewrite::pauses([&whole[0], &whole[1], &whole[2]]));
    let at = |point: Point, trains: &Arc<_>| {
        let (packets, pauses, trains) = (whole[point as usize].clone(), Arc::clone(&pauses), Arc::clone(trains));
        Capture { point, seed, trains, pauses, packets }
    };
    let trains = Arc::new(at(Point::Sender, &Arc::default()).trains());
    for point in POINTS {
        for (i, origin) in ORIGINS.iter().enumerate().filter(|(_, o)| hosts == 0 || o.hosts == hosts) {
            let Some(class) = origin.class(class, run.refused) else { continue };
            let mut capture = at(point, &trains);
            origin.steps.iter().for_each(|step| step(&mut capture));
            let (tally, wrong) = tally::judge(&capture.packets, &run.truth, point);
            show(origin, point, &wrong);
            *cells.entry((i, point, class)).or_default() += tally;
        }
    }
    cells
}

/// Prints the wrong verdicts, if requested.
fn show(at: (&Origin, Point), path: &str, sender: &Sender, wrong: &[Wrong]) {
    let (origin, point) = (at.0.name, at.1.name());
    let asked = std::env::var("ACKCLOCK_JUDGE_ORIGIN").is_ok_and(|a| a == "*" || a == format!("{origin}/{point}"));
    for w in wrong.iter().filter(|_| asked) {
        println!("{origin}/{point}: {path} / {} {}: {w:?}", sender.stack, sender.class.name());
    }
}

fn seeds() -> u64 {
    std::env::var("ACKCLOCK_JUDGE_ORIGINS").map_or(1, |n| n.parse().expect("a number of seeds"))
}

fn judged() -> &'static Cells {
    static JUDGED: OnceLock<Cells> = OnceLock::new();
    JUDGED.get_or_init(|| {
        let paths = paths::all();
        let all_of = |hosts: &'static Hosts| hosts.senders.iter().map(move |sender| (hosts, sender));
        let pairs: Vec<(usize, &Hosts, &Sender)> = (0..)
            .zip(&HOSTS)
            .flat_map(|(i, hosts)| all_of(hosts).map(move |(hosts, sender)| (i, hosts, sender)))
            .collect();
        let each = |path| pairs.iter().flat_map(move |pair| (1..=seeds()).map(move |seed| (path, *pair, seed)));
        let jobs: Vec<_> = paths.iter().flat_map(each).collect();
        let (next, all) = (AtomicUsize::new(0), Mutex::new(Cells::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((path, (i, hosts, sender), seed)) =
                        jobs.get(next.fetch_add(1, Ordering::Relaxed)).copied()
                    {
                        let run = case::run(path, hosts, sender, SEGMENTS, seed);
                        let show = |origin: &Origin, point: Point, wrong: &[Wrong]| {
                            show((origin, point), path.name, sender, wrong);
                        };
                        let cells = judge_run(&run, i, sender.class, seed, &show);
                        let mut all = all.lock().expect("nobody panicked");
                        cells.into_iter().for_each(|(at, tally)| *all.entry(at).or_default() += tally);
                    }
                });
            }
        });
        all.into_inner().expect("nobody panicked")
    })
}

#[test]
fn of_the_sure_verdicts_at_least_995_of_1000_are_right_wherever_captures_come_from() {
    let mut bad = Vec::new();
    for ((origin, point, class), tally) in judged() {
        let line = format!("{} / {} / {}: {tally}", ORIGINS[*origin].name, point.name(), class.name());
        println!("{line}");
        let sure = tally.sure();
        if 200 * sure.wrong > sure.all {
            bad.push(line);
        }
    }
    assert!(bad.is_empty(), "{}:\n{}", bad.len(), bad.join("\n"));
}

/// The scores by row, place and what the receiver tells.
fn table() -> String {
    let mut rows: Vec<&str> = Vec::new();
    ORIGINS.iter().map(|o| o.row).filter(|row| *row != SEVERAL).for_each(|row| rows.push(row));
    rows.push(SEVERAL);
    let mut text = String::from("| captures | place |");
    Class::ALL.iter().for_each(|class| text += &format!(" {} |", class.name()));
    text += " likely | suspected |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (row, point) in rows.iter().flat_map(|row| POINTS.map(|point| (*row, point))) {
        let of = |(o, p, c): &(usize, Point, Class), class: Option<Class>| {
            ORIGINS[*o].row == row && *p == point && class.is_none_or(|class| class == *c)
        };
        let sum = |class| {
            let mut sum = Tally::default();
            judged().iter().filter(|(at, _)| of(at, class)).for_each(|(_, tally)| sum += *tally);
            sum
        };
        let whole = sum(None);
        if whole.all == 0 {
            continue;
        }
        text += &format!("| {row} | {} |", point.name());
        for tally in Class::ALL.map(|class| sum(Some(class))) {
            text += &match tally.sure().precision() {
                Some(share) => format!(" {:.2} / {:.0} |", percent(share), 100.0 * tally.recall()),
                None if tally.all > 0 => String::from(" none |"),
                None => String::from(" |"),
            };
        }
        for guess in [whole.likely, whole.suspected] {
            text += &guess.precision().map_or(String::from(" |"), |p| format!(" {:.0} of {} |", 100.0 * p, guess.all));
        }
        text.push('\n');
    }
    text
}

/// A share below one is not rounded to it.
fn percent(share: f64) -> f64 {
    (10_000.0 * share).floor() / 100.0
}

#[test]
fn the_table_of_origins_is_that_of_the_documents() {
    if let Ok(file) = std::env::var("ACKCLOCK_JUDGE_ORIGINS_TABLE") {
        std::fs::write(&file, table()).unwrap_or_else(|e| panic!("{file}: {e}"));
        return;
    }
    let read = |path: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let (kept, shown) = (read("tests/captures/origins.md"), read("docs/captures.md"));
    assert!(
        kept.lines().count() > 30 && shown.contains(&kept),
        "docs/captures.md does not have tests/captures/origins.md"
    );
    // The kept scores are of more seeds, but of the same rows.
    let rows = |text: &str| -> Vec<String> { text.lines().map(|l| l.split('|').take(3).collect()).collect() };
    assert_eq!(rows(&kept), rows(&table()));
}

#[test]
fn no_capture_is_taken_for_one_of_another_place() {
    let misplaced: Vec<_> = judged().iter().filter(|(_, tally)| tally.misplaced > 0).collect();
    assert!(misplaced.is_empty(), "{misplaced:?}");
}
