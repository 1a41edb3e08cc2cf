//! A rewritten file has the same packets, and without names the same results.

use crate::hostile::file;
use crate::make::{header, packet, read_all, whole, Finished};
use crate::rng::Rng;
use ackclock_capture::read::{read, Packing};
use ackclock_capture::survey::Survey;
use ackclock_capture::write::{anonymised, chosen, Copied};
use ackclock_capture::{analyse, Frame, Input, Seen, Wanted};

type Owned = (i64, u16, u32, Vec<u8>, ackclock_capture::Heading);

fn frames(bytes: &[u8]) -> Vec<Owned> {
    let mut all = vec![];
    let mut each = |f: &Frame<'_>| all.push((f.at, f.link, f.original, f.bytes.to_vec(), f.heading));
    let contents = read(Input::Bytes(bytes), &mut each).unwrap();
    assert_eq!(contents.packing, Packing::Plain);
    all
}

#[test]
fn chosen_packets_are_written_as_they_are() {
    let mut rng = Rng(7);
    let mut tried = 0;
    for _ in 0..200 {
        let bytes = file(&mut rng, 30);
        if read(Input::Bytes(&bytes), |_| {}).is_err() {
            continue;
        }
        let all = frames(&bytes);
        let numbers: Vec<u64> = (1..=40).filter(|_| rng.below(3) == 0).collect();
        let mut out = vec![];
        let copied = chosen(Input::Bytes(&bytes), &numbers, &mut out).unwrap();
        let mut place = 0;
        let mut want = vec![];
        read(Input::Bytes(&bytes), |f| {
            if numbers.contains(&f.number) && f.at >= 0 {
                want.push(all[place].clone());
            }
            place += 1;
        })
        .unwrap();
        assert_eq!(frames(&out), want);
        assert_eq!(copied, Copied { written: want.len() as u64, left_out: all.len() as u64 - copied.written });
        tried += want.len();
    }
    assert!(tried > 500);
}

/// All fields of a segment, except its frame.
fn unnamed(all: &[Finished]) -> Vec<Vec<Seen>> {
    let unnumbered = |seen: &Seen| Seen { frame: 0, ..*seen };
    all.iter().map(|t| t.segments.iter().map(unnumbered).collect()).collect()
}

#[test]
fn without_names_a_capture_says_the_same() {
    let mut rng = Rng(8);
    let mut segments = 0;
    for _ in 0..300 {
        let bytes = file(&mut rng, 60);
        let mut out = vec![];
        let Ok(copied) = anonymised(Input::Bytes(&bytes), None, &mut out) else { continue };
        let ((want, _, traffic), (got, contents, strange)) = (read_all(&bytes), read_all(&out));
        assert_eq!(unnamed(&got), unnamed(&want));
        assert_eq!(
            (strange.segments, strange.repeats, strange.mptcp_joins),
            (traffic.segments, traffic.repeats, traffic.mptcp_joins)
        );
        assert_eq!((copied.written, contents.damages.count()), (traffic.segments, 0));
        let surveyed = |bytes: &[u8]| {
            let mut survey = Survey::new(Wanted::default(), usize::MAX, None);
            analyse(Input::Bytes(bytes), 1000, &mut survey).unwrap();
            let ways = survey.finish().connections.into_iter().flat_map(|f| f.record.ways);
            ways.map(|w| (w.retransmissions, w.bytes, w.rtt)).collect::<Vec<_>>()
        };
        assert_eq!(surveyed(&out), surveyed(&bytes));
        segments += traffic.segments;
    }
    assert!(segments > 5000, "{segments}");
}

#[test]
fn neither_payload_nor_addresses_nor_ports_nor_strange_options_are_left() {
    let mut original = header(false, 0x10, 0x0102_0304, 7);
    original.src.set_ip([192, 0, 2, 77].into());
    original.dst.set_ip([198, 51, 100, 9].into());
    let mut bytes = packet(&original, 400);
    // An option of another kind, with a secret.
    bytes[32] = 0xa0;
    bytes.splice(
        40..40,
        [28, 10, 0x5e, 0xc2, 0xe7, 0x5e, 0xc2, 0xe7, 0x5e, 0xc2, 1, 0, 0x5e, 0xc2, 0xe7, 0x5e, 0xc2, 0xe7, 0x5e, 0xc2],
    );
    let len = bytes.len() as u16;
    bytes[2..4].copy_from_slice(&len.to_be_bytes());
    let mut out = vec![];
    anonymised(Input::Bytes(&whole(101, &[bytes])), None, &mut out).unwrap();
    let has = |bytes: &[u8]| out.windows(bytes.len()).any(|w| w == bytes);
    assert!(has(&[1, 2, 3, 4]), "the sequence number stays");
    for secret in [
        &[0x5a, 0x5a][..],
        &[192, 0, 2, 77],
        &[198, 51, 100, 9],
        &[0x5e, 0xc2],
        &1000u16.to_be_bytes(),
        &80u16.to_be_bytes(),
    ] {
        assert!(!has(secret), "{secret:x?}");
    }
    let (all, ..) = read_all(&out);
    assert_eq!((all[0].segments[0].len, all[0].flow.ends.map(|e| e.port())), (400, [1024, 1025]));
}
