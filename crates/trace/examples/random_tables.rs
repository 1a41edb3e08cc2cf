//! Writes tables of random records: each as `NUMBER.parquet`, and as `NUMBER.csv` for comparison. The values are extreme, often
//! missing, or many; the row groups are of every size.
//!
//! ```bash
//! cargo run -p ackclock-trace --example random_tables -- FOLDER FIRST COUNT
//! ```

use ackclock_sim::fate::Verdict;
use ackclock_sim::watch::{DropWhy, Side};
use ackclock_tcp::connection::Refusal;
use ackclock_tcp::event::{Cause, Event, Phase, Slot, Why, Window};
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::Offset;
use ackclock_tcp::time::{Nanos, Time};
use ackclock_trace::csv::CsvSink;
use ackclock_trace::parquet::ParquetSink;
use ackclock_trace::sink::Chunk;
use ackclock_trace::{Meta, Row, Sink, TraceHash, What};
use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    fn yes(&mut self) -> bool {
        self.below(2) == 0
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// The kinds of number in one table: few different ones, small steps, any width, or extremes.
#[derive(Clone, Copy)]
enum Range {
    Few(u64),
    Narrow(u64),
    Wide,
    Extreme,
}

struct Draw {
    rng: Rng,
    range: Range,
}

impl Draw {
    fn int(&mut self) -> u64 {
        match self.range {
            Range::Few(many) => self.rng.below(many),
            Range::Narrow(from) => from.saturating_add(self.rng.below(300)),
            Range::Wide => {
                let bits = self.rng.below(64);
                self.rng.next() >> bits
            }
            Range::Extreme => {
                let edge = [0, 1, 127, 128, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, u64::MAX];
                self.rng.of(&edge)
            }
        }
    }
    fn small(&mut self) -> u32 {
        self.int() as u32
    }
    fn real(&mut self) -> f64 {
        let special =
            [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0 / 3.0];
        match self.range {
            Range::Extreme => self.rng.of(&special),
            Range::Wide => Some(f64::from_bits(self.rng.next())).filter(|v| !v.is_nan()).unwrap_or(f64::NAN),
            Range::Few(_) | Range::Narrow(_) => self.int() as f64 / 8.0,
        }
    }
    fn offset(&mut self) -> Offset {
        Offset(self.int())
    }
    fn window(&mut self) -> Window {
        Window { cwnd: self.real(), ssthresh: self.real() }
    }
    fn segment(&mut self) -> Segment {
        let mut seg = Segment {
            seq: self.offset(),
            ack: self.offset(),
            len: self.small(),
            wnd: self.small(),
            flags: self.int() as u8,
            opts: self.int() as u8,
            tsval: self.small(),
            tsecr: self.small(),
            ..Segment::EMPTY
        };
        // No offset of a run comes near 2⁶³, so blocks beyond are not written.
        let blocks = if seg.ack.0 < 1 << 62 { self.rng.below(5) } else { 0 };
        for _ in 0..blocks {
            let left = seg.ack.0.wrapping_add(self.rng.below(1 << 31));
            seg.push_sack(Offset(left), Offset(left.wrapping_add(self.rng.below(1 << 30))));
        }
        seg
    }
    fn slot(&mut self) -> Slot {
        let Draw { rng, .. } = self;
        rng.of(&[
            Slot::Sequencer,
            Slot::Startup,
            Slot::Congestion,
            Slot::Disorder,
            Slot::Recovery,
            Slot::Timeout,
            Slot::Undo,
        ])
    }
    fn verdict(&mut self) -> Verdict {
        self.rng.of(&[Verdict::Needless, Verdict::Refused, Verdict::Needed])
    }
    fn what(&mut self, kinds: &[u64]) -> What {
        let seg = self.segment();
        match self.rng.of(kinds) {
            0 => What::Sent {
                seg,
                wire: self.small(),
                sends: self.int() as u8,
                verdict: if self.rng.yes() { None } else { Some(self.verdict()) },
                by: if self.rng.yes() { None } else { Some((self.slot(), self.small())) },
            },
            1 => {
                let why = self.rng.of(&[DropWhy::Queue, DropWhy::Loss, DropWhy::Early, DropWhy::Script]);
                What::Dropped { seg, element: self.small(), nth: self.int(), why }
            }
            2 => What::Delivered { seg, wire: self.small() },
            3 => {
                let why = self.rng.of(&[Refusal::Window, Refusal::Paws]);
                What::Refused { seg, sends: self.int() as u8, why, missing: self.small() }
            }
            4 => What::Queue { link: self.small(), packets: self.small(), bytes: self.int() },
            _ => What::Tcp(self.event()),
        }
    }
    fn event(&mut self) -> Event {
        let episode = self.small();
        let phases = Phase::ALL;
        let whys =
            [Why::Suspected, Why::Lost, Why::Timeout, Why::Resolved, Why::Repaired, Why::Restarted, Why::Mistaken];
        match self.rng.below(9) {
            0 => {
                Event::Phase { from: self.rng.of(&phases), to: self.rng.of(&phases), why: self.rng.of(&whys), episode }
            }
            1 => Event::Window { by: self.slot(), episode, from: self.window(), to: self.window() },
            2 => Event::Inflation { episode, bytes: self.real() },
            3 => Event::Acked { ack: self.offset(), delivered: self.int(), dup_run: self.small(), pipe: self.int() },
            4 => {
                let cause = self.rng.of(&[Cause::Fast, Cause::Rto, Cause::Ecn]);
                Event::Mistake { episode, cause, undone: self.rng.yes() }
            }
            5 => Event::Timeout { episode, backoff: self.small() },
            6 => Event::Threshold { dupthresh: self.small(), mss: self.small(), cwnd: self.real() },
            7 => Event::Persist { at: self.offset() },
            _ => Event::Rtt { srtt: Nanos(self.int()), rttvar: Nanos(self.int()), rto: Nanos(self.int()) },
        }
    }
}

/// The records of a table, in row groups; each with the verdict that its retransmission gets later.
fn table(seed: u64) -> Vec<Vec<(Row, Option<Verdict>)>> {
    let mut rng = Rng(seed);
    let range = match rng.below(4) {
        0 => Range::Few(1 + rng.below(20)),
        1 => Range::Narrow(rng.next() >> rng.below(64)),
        2 => Range::Wide,
        _ => Range::Extreme,
    };
    // Some tables have only some kinds of record, so that columns are empty or full.
    let kinds: Vec<u64> = (0..6).filter(|_| rng.yes()).collect();
    let kinds = if kinds.is_empty() { vec![rng.below(6)] } else { kinds };
    let groups = [0, 1, 1, 2, 5, 40][rng.below(6) as usize];
    let most = [1, 9, 200, 3000][rng.below(4) as usize] / (1 + groups / 10);
    let step = rng.next() >> (8 + rng.below(56));
    let (mut draw, mut at) = (Draw { rng, range }, 0u64);
    let mut record = |draw: &mut Draw| {
        at = at.saturating_add(draw.rng.below(step)).min(i64::MAX as u64);
        let end = if draw.rng.below(8) == 0 {
            None
        } else {
            Some((draw.small(), draw.rng.of(&[Side::Sender, Side::Receiver])))
        };
        let packet = if draw.rng.below(4) == 0 { None } else { Some(draw.small()) };
        let what = draw.what(&kinds);
        let open = matches!(what, What::Sent { verdict: None, .. });
        let later = if open && draw.rng.yes() { Some(draw.verdict()) } else { None };
        (Row { at: Time(at), end, packet, what }, later)
    };
    (0..groups).map(|_| (0..1 + draw.rng.below(most)).map(|_| record(&mut draw)).collect()).collect()
}

fn write<S: Sink>(mut sink: S, table: &[Vec<(Row, Option<Verdict>)>]) -> std::io::Result<S::Out> {
    let mut chunk = sink.chunk();
    for group in table {
        group.iter().for_each(|(row, _)| chunk.push(row.by_ref()));
        // Verdicts come in another order than their records.
        for (nth, (_, later)) in group.iter().enumerate().rev() {
            later.iter().for_each(|verdict| chunk.judge(nth, *verdict));
        }
        sink.write(&mut chunk)?;
        chunk.clear();
    }
    sink.finish(TraceHash(7))
}

fn main() -> Result<(), Box<dyn Error>> {
    let [folder, first, count] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "FOLDER FIRST COUNT")?;
    let (first, count): (u64, u64) = (first.parse()?, count.parse()?);
    let path = |number: u64, ending: &str| -> PathBuf { Path::new(&folder).join(format!("{number}.{ending}")) };
    fs::create_dir_all(&folder)?;
    for number in first..first + count {
        let table = table(number.wrapping_mul(6_364_136_223_846_793_005));
        let long = "é\u{0}\"\n".repeat(if number.is_multiple_of(50) { 500_000 } else { 3 });
        let meta = Meta { scenario: long.clone(), seed: number, stacks: vec![long, String::new()] };
        write(ParquetSink::new(File::create(path(number, "parquet"))?, &meta)?, &table)?;
        write(CsvSink::new(File::create(path(number, "csv"))?)?, &table)?;
    }
    Ok(())
}
