//! Captures as others make them: packets of simulated runs, rewritten as other hosts send them and as other devices show them.
//!
//! Idea: where only headers differ, the course of a transfer and the truth stay. Rewriting is exact only if the hosts would have
//! done the same: hosts without timestamps, or with a coarser clock, refuse nothing for them, so runs in which a host did are
//! left out there.

mod packets;
mod rewrite;
mod tally;

use crate::case::{self, Files};
use crate::paths::{self, Class, Sender, SENDERS};
use crate::score::Point;
use ackclock_capture::{Heading, Input};
use packets::Packet;
use rewrite::Capture;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tally::{Tally, Wrong};

/// A kind of captures.
pub(crate) struct Origin {
    pub(crate) name: &'static str,
    steps: &'static [fn(&mut Capture)],
    timestamps: Clock,
}

/// What becomes of the timestamps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Same,
    Coarse,
    None,
}

const fn origin(name: &'static str, timestamps: Clock, steps: &'static [fn(&mut Capture)]) -> Origin {
    Origin { name, steps, timestamps }
}

pub(crate) const ORIGINS: &[Origin] = &[
    origin("simulated", Clock::Same, &[]),
    origin("Windows-like", Clock::None, &[Capture::count_per_host, Capture::without_timestamps]),
    origin("Windows-like, swapped", Clock::None, &[Capture::count_swapped, Capture::without_timestamps]),
    origin("BSD-like", Clock::Coarse, &[Capture::count_at_random, Capture::half_second_ticks]),
    origin("ticks of 10 ms, host's counter", Clock::Coarse, &[Capture::count_per_host, Capture::ten_ms_ticks]),
    origin("IPv6", Clock::Same, &[Capture::sums, Capture::in_ipv6]),
    origin("GRO and TSO", Clock::Same, &[Capture::joined]),
    origin("GRO and TSO, one number", Clock::Same, &[Capture::one_number_per_train, Capture::joined]),
    origin("mirror of a router", Clock::Same, &[Capture::before_and_behind_a_router]),
    origin("mirror", Clock::Same, &[Capture::mirrored]),
    origin("IPv6, mirror", Clock::Same, &[Capture::mirrored, Capture::sums, Capture::in_ipv6]),
    origin("data alone", Clock::Same, &[Capture::data_alone]),
    origin("ACKs alone", Clock::Same, &[Capture::acks_alone]),
    origin("begun late", Clock::Same, &[Capture::begun_late]),
    origin("VLANs", Clock::Same, &[Capture::in_vlans]),
    origin(
        "Windows-like, begun late",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::begun_late],
    ),
    origin(
        "Windows-like, GRO and TSO",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::joined],
    ),
    origin(
        "Windows-like, mirror of a router",
        Clock::None,
        &[Capture::count_per_host, Capture::without_timestamps, Capture::before_and_behind_a_router],
    ),
    origin(
        "IPv6, mirror of a router in VLANs",
        Clock::Same,
        &[Capture::before_and_behind_a_router, Capture::sums, Capture::in_ipv6, Capture::in_vlans_of_mirrors],
    ),
    origin(
        "IPv6, GRO and TSO, begun late",
        Clock::Same,
        &[Capture::joined, Capture::sums, Capture::in_ipv6, Capture::begun_late],
    ),
    origin(
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

/// The places: those that a host or a device between has.
const POINTS: [Point; 3] = [Point::Sender, Point::Receiver, Point::Middle];
const SEGMENTS: u32 = 2_000;

/// By origin, point and class.
type Cells = BTreeMap<(usize, Point, Class), Tally>;

fn packets(file: &[u8], seed: u64) -> Vec<Packet> {
    let mut packets = Vec::new();
    // Half of the captures do not say which way a packet went.
    let says = seed.is_multiple_of(2);
    let read = ackclock_capture::read::read(Input::Bytes(file), |frame| {
        packets.push(Packet::of(frame, if says { frame.heading } else { Heading::Unsaid }));
    });
    read.expect("a capture");
    packets
}

/// Judges one run as captures of all origins.
fn judge_run(run: &Files, class: Class, seed: u64, show: &impl Fn(&Origin, Point, &[Wrong])) -> Cells {
    let mut cells = Cells::new();
    let sent = Capture { point: Point::Sender, seed, trains: Arc::default(), packets: packets(&run.files[0], seed) };
    let trains = Arc::new(sent.trains());
    for (point, file) in POINTS.into_iter().zip(&run.files) {
        let whole = packets(file, seed);
        for (i, origin) in ORIGINS.iter().enumerate() {
            let Some(class) = origin.class(class, run.refused) else { continue };
            let mut capture = Capture { point, seed, trains: Arc::clone(&trains), packets: whole.clone() };
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
        let each =
            |path| (0..SENDERS.len()).flat_map(move |sender| (1..=seeds()).map(move |seed| (path, sender, seed)));
        let jobs: Vec<(usize, usize, u64)> = (0..paths.len()).flat_map(each).collect();
        let (next, all) = (AtomicUsize::new(0), Mutex::new(Cells::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((path, sender, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                        let (path, sender) = (&paths[path], &SENDERS[sender]);
                        let run = case::run(path, sender, SEGMENTS, seed);
                        let show = |origin: &Origin, point: Point, wrong: &[Wrong]| {
                            show((origin, point), path.name, sender, wrong);
                        };
                        let cells = judge_run(&run, sender.class, seed, &show);
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

#[test]
fn no_capture_is_taken_for_one_of_another_place() {
    let misplaced: Vec<_> = judged().iter().filter(|(_, tally)| tally.misplaced > 0).collect();
    assert!(misplaced.is_empty(), "{misplaced:?}");
}
