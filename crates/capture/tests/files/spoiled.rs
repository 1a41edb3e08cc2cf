//! Transfers over a lossy path, with damaged captures: the detailed analyses (the path that explains them, both of their ends,
//! their graphs and rows) return a result or refuse, and never panic.

use crate::fuzz::Target;
use crate::hostile::executions;
use crate::make::{back, header, packet, pcap, MS, START};
use crate::rng::Rng;
use ackclock_capture::fit::{End, Observer};
use ackclock_capture::graph::Closely;
use ackclock_capture::pair::match_ends;
use ackclock_capture::place::Side;
use ackclock_capture::rows::{self, OneFile};
use ackclock_capture::survey::{Everything, Survey};
use ackclock_capture::{analyse, fit, Input, Wanted, Way};
use ackclock_tcp::seq::SeqNum;
use ackclock_wire::options::Timestamps;
use ackclock_wire::{Header, Options};

const SEGMENTS: u32 = 300;
const LEN: u32 = 100;

/// Packets of a capture: time and bytes.
type Packets = Vec<(i64, Vec<u8>)>;

/// A segment sent, and its time.
struct Sent {
    at: i64,
    number: u32,
    copy: bool,
}

/// A transfer as captured at both of its ends: half of the round trip each way; some segments lost, late, duplicated, or
/// retransmitted needlessly.
fn transfer(rng: &mut Rng) -> [Packets; 2] {
    let half = MS * (1 + rng.below(60) as i64);
    let (loss, late, again) = (rng.below(8), rng.below(20), rng.below(6));
    let (stamped, sack) = (rng.below(3) > 0, rng.below(3) > 0);
    let gap = 1 + rng.below(3 * MS as usize) as i64;
    let mut sent: Vec<Sent> =
        (0..SEGMENTS).map(|number| Sent { at: half * 2 + gap * i64::from(number), number, copy: false }).collect();
    for number in 0..SEGMENTS {
        if rng.below(100) < 5 * again {
            let at = sent[number as usize].at + half * (1 + rng.below(6) as i64);
            sent.push(Sent { at, number, copy: true });
        }
    }
    sent.sort_by_key(|s| s.at);
    let stamp = |at: i64, echo: u32| stamped.then_some(Timestamps { value: (at / MS) as u32 + 9, echo });
    let syn = |at, echo| Options {
        mss: Some(LEN as u16),
        window_scale: Some(7),
        sack_permitted: sack,
        timestamps: stamp(at, echo),
        ..Options::default()
    };
    let (mut left, mut reached) = (Packets::new(), vec![]);
    let opening = packet(&Header { options: syn(0, 0), ..header(false, 2, 999, 0) }, 0);
    let answer = packet(&back(Header { options: syn(half, 9), ..header(false, 0x12, 4999, 1000) }), 0);
    left.push((0, opening.clone()));
    for s in &sent {
        let options = Options { timestamps: stamp(s.at, 9), ..Options::default() };
        let bytes = packet(&Header { options, ..header(false, 0x10, 1000 + LEN * s.number, 5000) }, LEN as usize);
        left.push((s.at, bytes.clone()));
        if s.copy || rng.below(100) >= loss {
            let delay = if rng.below(100) < 5 * late { rng.below(40 * MS as usize) as i64 } else { 0 };
            reached.push((s.at + half + delay, s.number, (s.at / MS) as u32 + 9, bytes));
        }
    }
    reached.sort_by_key(|c| c.0);
    let mut arrived: Packets = vec![(half, opening), (half, answer.clone())];
    left.push((half * 2, answer));
    let (mut held, mut next, mut recent) = (vec![false; SEGMENTS as usize], 0u32, 9);
    for (at, number, value, bytes) in reached {
        arrived.push((at, bytes));
        held[number as usize] = true;
        if number == next {
            recent = value;
        }
        while held.get(next as usize) == Some(&true) {
            next += 1;
        }
        let mut options = Options { timestamps: stamp(at, recent), ..Options::default() };
        if sack && number > next {
            let edge = |n: u32| SeqNum(1000 + LEN * n);
            options.sack.push(edge(number), edge(number + 1));
        }
        let bytes = packet(&back(Header { options, ..header(false, 0x10, 5000, 1000 + LEN * next) }), 0);
        arrived.push((at, bytes.clone()));
        if rng.below(100) < 97 {
            left.push((at + half, bytes));
        }
    }
    left.sort_by_key(|p| p.0);
    [left, arrived]
}

/// A file of the capture, with packets changed, left out, duplicated or at other times.
fn spoiled(rng: &mut Rng, packets: &Packets) -> Vec<u8> {
    let mut packets = packets.clone();
    for _ in 0..rng.below(6) {
        let at = rng.below(packets.len());
        let byte = rng.below(packets[at].1.len());
        match rng.below(5) {
            0 => packets[at].1[byte] = rng.next() as u8,
            1 if packets.len() > 1 => drop(packets.remove(at)),
            1 | 2 => packets.insert(at, packets[at].clone()),
            3 => packets[at].0 = rng.next() as i64 >> rng.below(40),
            _ => packets.truncate(at + 1),
        }
    }
    let clock = START + rng.below(9) as i64 * 1000 * MS;
    let all: Vec<_> = packets.iter().map(|(at, p)| (clock.saturating_add(*at).max(0), &p[..], p.len())).collect();
    let mut file = pcap(101, &all);
    for _ in 0..rng.below(3) {
        let at = rng.below(file.len());
        file[at] = rng.next() as u8;
    }
    file
}

fn surveyed(name: &str, bytes: &[u8]) -> Option<OneFile> {
    let wanted = Wanted { each: true, densities: true, ..Wanted::default() };
    let mut survey = Survey::new(wanted, 9, None);
    let (contents, traffic) = analyse(Input::Bytes(bytes), 9, &mut survey).ok()?;
    Some(OneFile { name: name.to_owned(), contents, traffic, found: survey.finish(), part: None })
}

/// The number of repetitions: a hundredth of the packets in the other tests.
fn times() -> u64 {
    executions() / (100 * u64::from(SEGMENTS))
}

/// Fits a path to a file, draws each connection and lists it; returns whether it could be fitted.
fn detailed(file: &[u8], rng: &mut Rng) -> bool {
    let Some(one) = surveyed("one", file) else { return false };
    assert!(rows::json(std::slice::from_ref(&one), &[], true).is_object());
    for found in &one.found.connections {
        let name = found.name(if rng.below(2) == 0 { Way::Out } else { Way::Back });
        let mut closely = Closely::new(found.number, name, Wanted::default(), rng.below(500));
        let read = analyse(Input::Bytes(file), 9, &mut closely);
        assert!(read.is_ok() && closely.finish().is_some(), "it was found before");
    }
    let mut observer = Observer::new(Some(Side::Sender), None);
    if analyse(Input::Bytes(file), 9, &mut observer).is_err() {
        return false;
    }
    let Ok(fit) = fit::fit(&observer.finish()) else { return false };
    for end in [End::Value, End::Low, End::High] {
        let text = fit.scenario(end, "linux-2025", 10.0, 1);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
    true
}

#[test]
fn no_transfer_makes_a_fit_a_graph_or_a_row_panic() {
    let mut fitted = 0;
    let target = Target::new("fits", 10_000_000);
    target.each(100 * times(), |number, seed| {
        let mut rng = Rng(seed);
        let packets = transfer(&mut rng);
        let side = rng.below(2);
        let file = spoiled(&mut rng, &packets[side]);
        target.run(number, &file, || fitted += u64::from(detailed(&file, &mut rng)));
    });
    assert!(fitted > 20 * times(), "{fitted} were fitted: too few to say anything");
}

/// Matches the connections of two files; returns whether any match.
fn matched(files: &[Vec<u8>; 2]) -> bool {
    let found = files.each_ref().map(|f| surveyed("one", f).map_or_else(Everything::default, |one| one.found));
    let [mut one, mut other] = found.map(|f| f.connections);
    let wanted = Wanted { each: true, ..Wanted::default() };
    let mut both = [&mut one[..], &mut other[..]];
    let matched = match_ends(&mut both, &["one", "other"], wanted, |file, mut survey| {
        analyse(Input::Bytes(&files[file]), 9, &mut survey).map(|_| survey.finish().connections)
    });
    assert!(matched.is_ok(), "they were read before");
    one.iter().chain(&other).any(|s| s.beside.is_some())
}

#[test]
fn no_two_files_make_the_matching_of_both_ends_panic() {
    let mut both = 0;
    let target = Target::new("pairs of captures", 10_000_000);
    target.each(100 * times(), |number, seed| {
        let mut rng = Rng(seed);
        let files = transfer(&mut rng).map(|packets| spoiled(&mut rng, &packets));
        target.run(number, &files, || both += u64::from(matched(&files)));
    });
    assert!(both > 20 * times(), "{both} were matched: too few to say anything");
}
