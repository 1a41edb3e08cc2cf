//! Usual packets are processed for all parts together; no result may show it.

use super::*;
use crate::flows::Flows;
use crate::read::open;
use std::path::{Path, PathBuf};

/// The same packets with and without the shortcut for usual packets.
struct Twice {
    short: Survey,
    long: Survey,
    usual: u64,
    packets: u64,
    spoil: Spoil,
}

/// Changes packets on their way to both.
#[derive(Clone, Copy, Debug, Default)]
struct Spoil {
    state: u64,
    /// One in this many packets is left out, duplicated, or swapped with the next; 0: none.
    odd: u64,
    identifications: Identifications,
    timestamps: bool,
    blocks: bool,
    /// One in this many acknowledgments carries data, and one in this many segments has another length; 0:
    /// none.
    both_ways: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Identifications {
    #[default]
    Kept,
    None,
    Random,
    Skipping,
}

struct Pair {
    states: [State; 2],
    held: Option<Seen>,
    /// Bytes inserted, each way.
    more: [u64; 2],
}

impl Spoil {
    fn draw(&mut self, below: u64) -> u64 {
        // A linear congruential generator instead of random numbers.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn one_of(&mut self, many: u64) -> bool {
        many > 0 && self.draw(many) == 0
    }

    fn spoil(&mut self, seen: &Seen, more: &mut [u64; 2]) -> Seen {
        let mut s = *seen;
        let (w, b) = (s.way as usize, s.way.back() as usize);
        s.seq += more[w];
        s.ack = s.ack.map(|ack| ack + more[b]);
        s.sack.iter_mut().for_each(|block| *block = (block.0 + more[b], block.1 + more[b]));
        if !s.has(Segment::SYN) && self.one_of(self.both_ways) {
            let extra = if s.len == 0 { 100 } else { s.len };
            s.len += extra;
            more[w] += u64::from(extra);
        }
        s.id = match self.identifications {
            Identifications::Kept => s.id,
            Identifications::None => None,
            Identifications::Random => Some(self.draw(65_535) as u16 + 1),
            Identifications::Skipping => s.id.map(|id| id.wrapping_mul(3)).filter(|id| *id != 0),
        };
        s.timestamps = s.timestamps.filter(|_| self.timestamps);
        if !self.blocks {
            (s.sack, s.sacks) = ([(0, 0); 4], 0);
        }
        s
    }
}

impl Twice {
    fn new(wanted: Wanted, spoil: Spoil) -> Twice {
        let survey = || Survey::new(wanted, usize::MAX, None);
        Twice { short: survey(), long: survey(), usual: 0, packets: 0, spoil }
    }

    fn both(&mut self, flow: &Flow, states: &mut [State; 2], seen: &Seen) {
        let [State(Some(short)), State(Some(long))] = states else { return };
        self.packets += 1;
        if short.usual(seen) {
            self.usual += 1;
        } else {
            short.unusual(flow, seen);
        }
        long.any(flow, seen);
    }

    /// Surveys a file, and compares the results of both.
    fn survey(mut self, file: &Path) -> Twice {
        let mut flows = Flows::new(&mut self, 1000);
        let mut opened = open(file).unwrap();
        opened.read(|frame| flows.frame(frame)).unwrap();
        flows.finish();
        let found = |survey: &mut Survey| format!("{:#?}", std::mem::take(survey).finish());
        let (short, long) = (found(&mut self.short), found(&mut self.long));
        let apart = short.lines().zip(long.lines()).find(|(a, b)| a != b);
        assert!(short == long, "{}: {apart:?} of {:?}", file.display(), self.spoil);
        self
    }
}

impl Analysis for Twice {
    type State = Pair;

    fn begin(&mut self, flow: &Flow) -> Pair {
        Pair { states: [self.short.begin(flow), self.long.begin(flow)], held: None, more: [0; 2] }
    }

    fn segment(&mut self, flow: &Flow, pair: &mut Pair, seen: &Seen) {
        let seen = self.spoil.spoil(seen, &mut pair.more);
        let odd = self.spoil.odd;
        if !seen.has(Segment::SYN) {
            if self.spoil.one_of(odd) {
                return;
            }
            if pair.held.is_none() && self.spoil.one_of(odd) {
                pair.held = Some(seen);
                return;
            }
        }
        self.both(flow, &mut pair.states, &seen);
        if self.spoil.one_of(odd) {
            self.both(flow, &mut pair.states, &seen);
        }
        if let Some(held) = pair.held.take_if(|_| odd == 0 || self.spoil.one_of(1 + odd / 8)) {
            self.both(flow, &mut pair.states, &Seen { at: seen.at, frame: seen.frame, ..held });
        }
    }

    fn end(&mut self, flow: &Flow, pair: Pair, why: Ended) {
        let [short, long] = pair.states;
        self.short.end(flow, short, why);
        self.long.end(flow, long, why);
    }
}

fn kernel_captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/kernel");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "gz"));
    files.sort();
    assert!(files.len() >= 40);
    files
}

const KEPT: Spoil =
    Spoil { state: 1, odd: 0, identifications: Identifications::Kept, timestamps: true, blocks: true, both_ways: 0 };
const EACH: Wanted = Wanted { at: None, each: true, densities: false };

#[test]
fn kernel_captures_show_the_same_with_and_without_the_shortcut_of_usual_packets() {
    let (mut usual, mut packets) = (0, 0);
    for file in kernel_captures() {
        for wanted in [EACH, Wanted { densities: true, ..EACH }] {
            let done = Twice::new(wanted, KEPT).survey(&file);
            (usual, packets) = (usual + done.usual, packets + done.packets);
        }
    }
    assert!(3 * usual > packets, "{usual} of {packets} packets were usual");
}

#[test]
fn spoiled_captures_show_the_same_with_and_without_the_shortcut_of_usual_packets() {
    use Identifications::{Kept, None, Random, Skipping};
    let mut usual = 0;
    for (file, state) in kernel_captures().iter().zip(1..) {
        let mut chance = Spoil { state, ..KEPT };
        for _ in 0..5 {
            let (odd, both_ways) = [(0, 7), (500, 0), (60, 40), (9, 3)][chance.draw(4) as usize];
            let identifications = [Kept, Kept, None, Random, Skipping][chance.draw(5) as usize];
            let (timestamps, blocks) = (chance.draw(4) > 0, chance.draw(2) == 0);
            let spoil = Spoil { odd, both_ways, identifications, timestamps, blocks, ..chance };
            usual += Twice::new(EACH, spoil).survey(file).usual;
        }
    }
    assert!(usual > 20_000, "{usual} packets were usual");
}
