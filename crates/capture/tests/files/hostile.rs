//! Malformed files: nothing panics on random or changed input, time and memory stay bounded, and the results do not depend on
//! how the bytes arrive. `ACKCLOCK_FUZZ` sets the number of packets for each test (default 200,000).

use crate::fuzz::{self, Target};
use crate::make::{behind, erf, framed, header, packet, snoop, snoop_header, tagged, LINKS};
use crate::rng::Rng;
use ackclock_capture::read::{Contents, Format, Packing, Reader};
use ackclock_capture::survey::Survey;
use ackclock_capture::verdict::Counts;
use ackclock_capture::{analyse, Analysis, Ended, Flow, Flows, Frame, Input, Seen, Wanted};
use ackclock_tcp::seq::SeqNum;
use ackclock_wire::options::Timestamps;
use ackclock_wire::{Header, Options};

impl Rng {
    fn edge(&mut self) -> u32 {
        match self.below(7) {
            0 => 0,
            1 => u32::MAX,
            2 => 1 << 31,
            3 => self.below(70_000) as u32,
            4 => 16 + self.below(64) as u32,
            _ => self.next() as u32,
        }
    }
}

pub(crate) fn executions() -> u64 {
    fuzz::cases(200_000)
}

/// A segment of one of a few connections, close to earlier ones: data, acknowledgments with SACK blocks, all flags.
pub(crate) fn segment(rng: &mut Rng) -> Vec<u8> {
    let near = |rng: &mut Rng| if rng.below(30) == 0 { rng.edge() } else { 5000 + 100 * rng.below(60) as u32 };
    let flags = match rng.below(40) {
        0 => 2,
        1 => 0x12,
        2 => 0x11,
        3 => 4,
        4 => rng.next() as u8,
        _ => 0x10,
    };
    let mut options = Options::default();
    if rng.below(3) > 0 {
        options.timestamps = Some(Timestamps { value: rng.below(500) as u32, echo: rng.below(500) as u32 });
    }
    for _ in 0..rng.below(4).min(rng.below(4)) {
        let left = near(rng);
        options.sack.push(SeqNum(left), SeqNum(left.wrapping_add(100 * (1 + rng.below(5) as u32))));
    }
    if flags & 2 > 0 {
        options = Options { mss: Some(rng.next() as u16), window_scale: Some(rng.next() as u8), ..options };
        options.sack_permitted = rng.below(2) == 0;
        options.sack = Default::default();
    }
    let (seq, ack) = (near(rng), near(rng));
    let mut header = Header { options, label: rng.below(9) as u32, ..header(rng.below(5) == 0, flags, seq, ack) };
    header.src.set_port(1000 + rng.below(3) as u16);
    if rng.below(2) == 0 {
        header = crate::make::back(header);
    }
    let len = if rng.below(3) == 0 { 0 } else { 100 * rng.below(4) };
    packet(&header, len)
}

/// A file of some packets in any format: valid ones, then damaged ones.
pub(crate) fn file(rng: &mut Rng, packets: usize) -> Vec<u8> {
    let format = [Format::Pcap, Format::Pcap, Format::PcapNg, Format::PcapNg, Format::Snoop, Format::Erf][rng.below(6)];
    let link = match format {
        // Half of them the usual ones.
        Format::Pcap | Format::PcapNg if rng.below(2) == 0 => [101, 1, 113, 276, 0][rng.below(5)],
        Format::Pcap | Format::PcapNg => LINKS[rng.below(LINKS.len())],
        Format::Snoop | Format::Erf => 1,
    };
    let mut out = vec![];
    let word = |out: &mut Vec<u8>, word: u32| out.extend(word.to_le_bytes());
    match format {
        Format::Pcap => [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, link].iter().for_each(|w| word(&mut out, *w)),
        Format::PcapNg => {
            for block in [&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28][..], &[1, 20, link, 0, 20]] {
                block.iter().for_each(|w| word(&mut out, *w));
            }
        }
        Format::Snoop => out = snoop_header(4),
        Format::Erf => {}
    }
    let mut time = 1_000_000u64;
    for _ in 0..packets {
        let mut bytes = framed(link, &segment(rng));
        if link == 1 && rng.below(3) == 0 {
            bytes = tagged(&[rng.below(3) as u16, rng.below(3) as u16][rng.below(2)..], &bytes);
        }
        let original = bytes.len() as u32;
        if rng.below(4) == 0 {
            let (at, how) = (rng.below(bytes.len()), rng.below(3));
            match how {
                0 => bytes[at] = rng.next() as u8,
                1 => bytes.truncate(at),
                _ => drop(bytes.splice(at..at, [rng.next() as u8; 5])),
            }
        }
        time += rng.below(3_000_000) as u64;
        match format {
            Format::PcapNg => {
                let padded = bytes.len().next_multiple_of(4);
                let len = 32 + padded as u32;
                let words = [6, len, 0, (time >> 32) as u32, time as u32, bytes.len() as u32, original];
                words.iter().for_each(|w| word(&mut out, *w));
                bytes.resize(padded, 0);
                out.extend(&bytes);
                word(&mut out, len);
            }
            Format::Pcap => {
                let words =
                    [(time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32, bytes.len() as u32, original];
                words.iter().for_each(|w| word(&mut out, *w));
                out.extend(&bytes);
            }
            Format::Snoop => out.extend(snoop(time as i64, 0, &bytes, bytes.len().max(original as usize))),
            Format::Erf => out.extend(erf(2, time as i64, &behind(&[0, 0], &bytes))),
        }
    }
    spoil(rng, &mut out);
    out
}

/// Damages a file in up to three places.
fn spoil(rng: &mut Rng, out: &mut Vec<u8>) {
    for _ in 0..rng.below(4) {
        let at = if rng.below(4) == 0 { rng.below(out.len().min(60)) } else { rng.below(out.len()) };
        match rng.below(5) {
            0 => out.truncate(at),
            1 => drop(out.splice(at..at, [rng.next() as u8; 3])),
            2 if at + 4 <= out.len() => out[at..at + 4].copy_from_slice(&rng.edge().to_le_bytes()),
            _ if at < out.len() => out[at] = rng.next() as u8,
            _ => {}
        }
    }
}

/// Analyses a file; returns its segments and frames. Parts add up to wholes.
fn analysed(bytes: &[u8], limit: usize) -> Option<(u64, u64)> {
    let wanted = Wanted { each: true, ..Wanted::default() };
    let mut survey = Survey::new(wanted, usize::MAX, None);
    let (contents, traffic) = analyse(Input::Bytes(bytes), limit, &mut survey).ok()?;
    let found = survey.finish().connections;
    let others: u64 = traffic.others.iter().map(|o| o.0).sum();
    assert_eq!(traffic.segments + others, traffic.packets);
    assert!(traffic.packets <= contents.frames && contents.bytes == bytes.len() as u64);
    assert_eq!(traffic.connections, found.len() as u64);
    let carried: u64 = found.iter().flat_map(|f| f.record.ways).map(|way| way.packets).sum();
    assert_eq!(carried + traffic.repeats, traffic.segments, "every segment is someone's");
    for retransmissions in found.iter().flat_map(|f| f.record.ways).map(|way| way.retransmissions) {
        let Counts { total, needed, needless, refused, undecided, likely, suspected: _ } = retransmissions;
        assert_eq!(needed + needless + refused + undecided + likely, total);
    }
    Some((traffic.segments, contents.frames))
}

#[test]
fn no_file_makes_the_reader_or_the_analysis_panic_and_what_is_read_adds_up() {
    const PACKETS: usize = 100;
    let (mut segments, mut frames) = (0, 0);
    let target = Target::new("captures", 2_000_000);
    target.each(executions() / PACKETS as u64, |number, seed| {
        let mut rng = Rng(seed);
        let (bytes, limit) = (file(&mut rng, PACKETS), 1 + rng.below(6));
        target.run(number, &bytes, || {
            let found = analysed(&bytes, limit).unwrap_or_default();
            (segments, frames) = (segments + found.0, frames + found.1);
        });
    });
    assert!(
        segments > executions() / 2 && frames > segments,
        "{segments} segments of {frames} packets: too few to say anything"
    );
}

/// The frames and the contents of a file that arrives in pieces, which `rng` cuts, or whole.
fn fed(bytes: &[u8], mut rng: Option<Rng>) -> Result<(Vec<impl PartialEq + std::fmt::Debug>, Contents), String> {
    let (mut reader, mut frames, mut done, mut offered) = (Reader::default(), vec![], 0, 0);
    let mut each = |f: &Frame<'_>| frames.push((f.number, f.offset, f.at, f.interface, f.original, f.bytes.to_vec()));
    while offered < bytes.len() {
        offered = rng.as_mut().map_or(bytes.len(), |rng| (offered + 1 + rng.below(300)).min(bytes.len()));
        done += reader.feed(&bytes[done..offered], offered == bytes.len(), &mut each).map_err(|e| e.to_string())?;
    }
    let contents = reader.finish(Packing::Plain).map_err(|e| e.to_string())?;
    Ok((frames, contents))
}

#[test]
fn a_spoiled_file_is_the_same_in_one_piece_and_in_many() {
    let mut damaged = 0;
    let target = Target::new("captures in pieces", 200_000);
    target.each(executions() / 2000, |number, seed| {
        let mut rng = Rng(seed);
        let bytes = file(&mut rng, 20);
        let cut = rng.next();
        target.run(number, &bytes, || {
            let (one, many) = (fed(&bytes, None), fed(&bytes, Some(Rng(cut))));
            assert_eq!(one, many);
            damaged += u64::from(one.is_ok_and(|(_, contents)| contents.damages.count() > 0));
        });
    });
    assert!(damaged > executions() / 8000, "{damaged} were damaged: too few to say anything");
}

/// A file, packed in one of three ways, with some damage.
fn packed(rng: &mut Rng) -> Vec<u8> {
    use std::io::Write;
    let bytes = file(rng, 20);
    let mut packed = match rng.below(3) {
        0 => {
            let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
            gzip.write_all(&bytes).unwrap();
            gzip.finish().unwrap()
        }
        1 => {
            let mut lz4 = lz4_flex::frame::FrameEncoder::new(vec![]);
            lz4.write_all(&bytes).unwrap();
            lz4.finish().unwrap()
        }
        _ => ruzstd::encoding::compress_to_vec(&bytes[..], ruzstd::encoding::CompressionLevel::Fastest),
    };
    for _ in 0..rng.below(4) {
        let at = 4 + rng.below(packed.len() - 4);
        packed[at] = rng.next() as u8;
    }
    packed.truncate(packed.len() - rng.below(packed.len() / 4));
    packed
}

#[test]
fn packed_files_with_random_content_end_well() {
    let target = Target::new("packed captures", 20_000_000);
    target.each(executions() / 2000, |number, seed| {
        let packed = packed(&mut Rng(seed));
        target.run(number, &packed, || {
            _ = analyse(Input::Bytes(&packed), 9, &mut Survey::new(Wanted::default(), usize::MAX, None));
        });
    });
}

/// Counts the states that exist at a time.
#[derive(Default)]
struct AtOnce {
    now: usize,
    most: usize,
    ended: usize,
}

impl Analysis for AtOnce {
    type State = ();

    fn begin(&mut self, _: &Flow) {
        self.now += 1;
        self.most = self.most.max(self.now);
    }
    fn segment(&mut self, _: &Flow, _: &mut (), _: &Seen) {}
    fn end(&mut self, _: &Flow, _state: (), _: Ended) {
        self.now -= 1;
        self.ended += 1;
    }
}

#[test]
fn no_more_connections_than_the_limit_are_in_memory_at_once_and_each_is_reported() {
    for limit in [1, 2, 63, 1000] {
        let mut at_once = AtOnce::default();
        let mut flows = Flows::new(&mut at_once, limit);
        let mut rng = Rng(limit as u64);
        for number in 1..=5000u64 {
            let mut header = header(rng.below(2) == 0, [2, 0x10, 4][rng.below(3)], rng.next() as u32, 1);
            header.src.set_port(rng.below(4000) as u16);
            let bytes = packet(&header, 10);
            flows.frame(&Frame {
                number,
                offset: 0,
                at: number as i64 * 1_000_000,
                interface: 0,
                link: 101,
                heading: Default::default(),
                original: bytes.len() as u32,
                bytes: &bytes,
            });
        }
        let traffic = flows.finish();
        assert_eq!((at_once.most, at_once.now), (limit, 0));
        assert_eq!(at_once.ended as u64, traffic.connections);
        assert!(traffic.connections > 3000);
    }
}
