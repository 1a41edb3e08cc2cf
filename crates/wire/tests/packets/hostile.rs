//! Arbitrary bytes: nothing panics on random or changed input, each case within a bound on time and memory. `ACKCLOCK_FUZZ`
//! sets the number of executions of each test (default 200,000).

use crate::fuzz::{self, Target};
use crate::rng::Rng;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Time;
use ackclock_wire::options::{walk, Timestamps};
use ackclock_wire::reset::reset;
use ackclock_wire::{
    offload, parse, Border, Buffers, Checksums, Dialect, Endpoint, Header, Initial, Options, Packet, Writing,
};

impl Rng {
    /// A number that is often a border case.
    fn edge(&mut self) -> u32 {
        match self.below(6) {
            0 => 0,
            1 => u32::MAX,
            2 => 1 << 31,
            3 => self.below(3000) as u32,
            _ => self.next() as u32,
        }
    }
}

pub(crate) fn executions() -> u64 {
    fuzz::cases(200_000)
}

/// Valid packets to start from: plain, with every option, with extension headers, as a device delivers them.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut all = vec![];
    for (src, dst) in [("10.0.0.2:2", "10.0.0.1:1"), ("[fd00::2]:2", "[fd00::1]:1")] {
        let ts = Some(Timestamps { value: 1, echo: 2 });
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: ts,
            ..Options::default()
        };
        let mut sack = Options { timestamps: ts, ..Options::default() };
        (0..3).for_each(|i| sack.sack.push(SeqNum(100 * i), SeqNum(100 * i + 50)));
        for (flags, options, len) in [(2, syn, 0), (0x12, syn, 5), (0x10, sack, 100), (0x11, Options::default(), 1400)]
        {
            let header = Header {
                src: src.parse().unwrap(),
                dst: dst.parse().unwrap(),
                seq: SeqNum(5_000),
                ack: SeqNum(1_000_001),
                flags,
                reserved: 0,
                window: 1000,
                urgent: 0,
                options,
                traffic_class: 0,
                hop_limit: 64,
                label: 0,
            };
            let mut buf = vec![0; 2000];
            let w = header.write(Dialect::Linux, Writing::Whole, &mut buf, len, |p| p.fill(3)).unwrap();
            buf.truncate(w.len);
            if header.src.is_ipv6() {
                let mut extended = buf.clone();
                extended.splice(40..40, [44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 9]);
                (extended[4], extended[6]) = (0, 60);
                extended[5] = (extended.len() - 40) as u8;
                all.push(extended);
            }
            all.push(buf);
        }
    }
    all
}

/// Another packet: one of the seeds with some bytes changed, words set to edge cases, a piece removed or duplicated; or
/// noise.
pub(crate) fn spoil(rng: &mut Rng, seeds: &[Vec<u8>], out: &mut Vec<u8>) {
    out.clear();
    if rng.below(8) == 0 {
        let len = rng.below(200);
        out.extend((0..len).map(|_| rng.next() as u8));
        if let (Some(first), true) = (out.first_mut(), rng.below(2) == 0) {
            *first = if *first & 1 == 0 { 0x45 } else { 0x60 };
        }
        return;
    }
    out.extend_from_slice(&seeds[rng.below(seeds.len())]);
    for _ in 0..rng.below(6) {
        let len = out.len();
        // Most changes are in the headers.
        let at = if rng.below(4) == 0 { rng.below(len) } else { rng.below(len.min(100)) };
        match rng.below(6) {
            0 => out.truncate(at),
            1 => drop(out.splice(at..at, [rng.next() as u8; 3])),
            2 if at + 4 <= len => out[at..at + 4].copy_from_slice(&rng.edge().to_be_bytes()),
            _ if at < len => {
                out[at] = if rng.below(2) == 0 { rng.next() as u8 } else { [0, 1, 2, 0x7f, 0x80, 0xff][rng.below(6)] }
            }
            _ => {}
        }
    }
}

#[test]
fn parsing_never_panics_and_what_is_read_lies_within_the_bytes() {
    let (seeds, mut bytes, mut good) = (seeds(), vec![], 0u64);
    let target = Target::new("packets", 0);
    target.each(executions(), |number, seed| {
        spoil(&mut Rng(seed), &seeds, &mut bytes);
        target.run(number, &bytes, || {
            for checksums in [Checksums::Trust, Checksums::Verify] {
                if let Ok(packet) = parse(&bytes, checksums) {
                    good += 1;
                    let range = bytes.as_ptr_range();
                    assert!(packet.payload.is_empty() || range.contains(&packet.payload.as_ptr()));
                    assert!(packet.payload.len() + packet.option_bytes.len() + 40 <= bytes.len());
                }
            }
            _ = offload::parse(&bytes).map(|p| assert!(p.train > 0));
        });
    });
    assert!(good > executions() / 10, "{good} were packets: too few to say anything");
}

/// A list of options: kinds and lengths that occur, or any bytes.
fn list(rng: &mut Rng) -> ([u8; 40], usize) {
    let mut list = [0u8; 40];
    let len = rng.below(41);
    for byte in &mut list[..len] {
        *byte = if rng.below(3) > 0 { [0, 1, 2, 3, 4, 5, 8, 10, 28, 34][rng.below(10)] } else { rng.next() as u8 };
    }
    (list, len)
}

#[test]
fn reading_options_never_panics_and_ends() {
    let mut malformed = 0u64;
    let target = Target::new("options", 0);
    target.each(executions(), |number, seed| {
        let (list, len) = list(&mut Rng(seed));
        let list = &list[..len];
        target.run(number, &list, || {
            let read = Options::read(list);
            malformed += u64::from(read.malformed.is_some());
            assert_eq!(walk(list).any(|e| e.is_err()), read.malformed.is_some());
            let mut out = [0; 40];
            let n = Dialect::FreeBsd.write(&read, &mut out).max(Dialect::Linux.write(&read, &mut out));
            assert!(n <= 40 && n.is_multiple_of(4));
        });
    });
    assert!(malformed > executions() / 10 && malformed < executions());
}

fn border(rng: &mut Rng) -> Border {
    let initial = Initial { isn: SeqNum(1_000_000), timestamp_offset: rng.edge(), label: rng.edge() };
    Border::new("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap(), 1500, initial, Dialect::Linux).unwrap()
}

/// Discards everything that an end has to send; this must terminate.
fn drain(end: &mut Endpoint, now: Time) {
    let mut buf = [0; 2000];
    for _ in 0..1000 {
        if end.poll_transmit(now, Writing::Whole, &mut buf, &mut ()).unwrap().is_none() {
            return;
        }
    }
    panic!("never stops sending");
}

/// An endpoint hears 50 packets; returns after how many of these it was established.
fn heard(mut rng: Rng, names: &[&str], seeds: &[Vec<u8>]) -> u64 {
    let stack = Stack::named(names[rng.below(names.len())]).unwrap();
    let (border, buffers) = (border(&mut rng), Buffers { send: 5000, receive: 5000 });
    let opens = if rng.below(2) == 0 { Endpoint::connect } else { Endpoint::listen };
    let (mut end, mut now, mut established, mut bytes) = (opens(&stack, border, buffers), Time(1), 0, vec![]);
    drain(&mut end, now);
    for _ in 0..50 {
        spoil(&mut rng, seeds, &mut bytes);
        let Ok(packet) = parse(&bytes, Checksums::Trust) else { continue };
        now.0 += 1 + rng.below(300_000_000) as u64;
        end.on_packet(now, &packet, &mut ());
        established += u64::from(end.connection().receiver().is_some());
        if rng.below(3) == 0 {
            end.write(&[5; 700]);
        }
        if end.next_timer().is_some_and(|t| t <= now) {
            end.on_timer(now, &mut ());
        }
        drain(&mut end, now);
        end.consume(rng.below(2000));
    }
    established
}

#[test]
fn reading_at_the_border_never_panics_nor_does_the_engine_behind_it() {
    let (seeds, names) = (seeds(), Stack::names().collect::<Vec<_>>());
    let mut established = 0;
    let target = Target::new("endpoint", 100_000);
    target.each(executions() / 50, |number, seed| {
        target.run(number, &"50 packets", || established += heard(Rng(seed), &names, &seeds));
    });
    assert!(established > executions() / 10, "{established}: too few to say anything");
}

/// A segment whose numbers are often border cases.
fn segment(rng: &mut Rng) -> Segment {
    let far = |rng: &mut Rng| ackclock_tcp::seq::Offset(u64::from(rng.edge()) << rng.below(20));
    let mut seg = Segment {
        seq: far(rng),
        ack: far(rng),
        len: if rng.below(4) == 0 { rng.edge() } else { 0 },
        wnd: rng.edge(),
        train: rng.edge() as u16,
        flags: rng.next() as u8,
        mss: rng.edge() as u16,
        wscale: rng.edge() as u8,
        opts: rng.next() as u8 & 15,
        tsval: rng.edge(),
        tsecr: rng.edge(),
        ..Segment::EMPTY
    };
    (0..rng.below(5)).for_each(|_| seg.push_sack(far(rng), far(rng)));
    seg
}

#[test]
fn segments_of_any_kind_are_written_or_refused() {
    let (mut buf, mut written) = (vec![0; 70_000], 0u64);
    let target = Target::new("segments", 0);
    target.each(executions() / 4, |number, seed| {
        let mut rng = Rng(seed);
        let mut border = border(&mut rng);
        let segments = [0; 4].map(|_| segment(&mut rng));
        target.run(number, &segments, || {
            for seg in &segments {
                let Ok(w) = border.write(seg, Writing::Whole, &mut buf, |_| {}) else { continue };
                written += 1;
                let read = parse(&buf[..w.len], Checksums::Verify).unwrap();
                assert_eq!(read.header.malformed(), None);
                _ = reset(&Packet { payload: &[], ..read }, Writing::Whole, &mut [0; 100]);
            }
        });
    });
    assert!(written > executions() / 10, "{written} were written: too few to say anything");
}
