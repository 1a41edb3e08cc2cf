//! Compares with tshark and tcpdump, where they are installed; otherwise the tests report that they were
//! skipped.

use crate::hostile::segment;
use crate::make::{behind, pcap, read_all, MS, START};
use crate::rng::Rng;
use ackclock_capture::write::anonymised;
use ackclock_capture::{Input, Seen};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Transfers of any kind, undamaged, in Ethernet frames of 90 bytes at most.
fn transfers() -> Vec<u8> {
    let mut rng = Rng(11);
    let frames: Vec<_> = (0..1500)
        .map(|_| {
            let ip = segment(&mut rng);
            let kind: [u8; 2] = if ip[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] };
            behind(&[&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &kind].concat(), &ip)
        })
        .collect();
    let all: Vec<_> =
        frames.iter().zip(0..).map(|(f, i)| (START + 2 * i * MS + 7, &f[..f.len().min(114)], f.len())).collect();
    pcap(1, &all)
}

/// The output of a program for a file; `None` if it is not installed.
fn printed(program: &str, arguments: &[&str], bytes: &[u8]) -> Option<String> {
    let path: PathBuf = std::env::temp_dir().join(format!("ackclock-{}-{program}-{}", std::process::id(), bytes.len()));
    std::fs::write(&path, bytes).unwrap();
    let done = Command::new(program).args(arguments).arg("-r").arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    match done {
        Ok(output) => {
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(_) => {
            eprintln!("SKIPPED: {program} is not installed");
            None
        }
    }
}

fn by_frame(bytes: &[u8]) -> BTreeMap<u64, Seen> {
    read_all(bytes).0.into_iter().flat_map(|t| t.segments).map(|s| (s.frame, s)).collect()
}

#[test]
fn tshark_reads_the_same_numbers_in_a_file_and_in_what_was_written_of_it() {
    let original = transfers();
    let mut disguised = vec![];
    anonymised(Input::Bytes(&original), None, &mut disguised).unwrap();
    for bytes in [original, disguised] {
        const FIELDS: [&str; 9] = [
            "frame.number",
            "frame.time_epoch",
            "tcp.seq_raw",
            "tcp.ack_raw",
            "tcp.len",
            "tcp.flags",
            "tcp.window_size_value",
            "tcp.options.timestamp.tsval",
            "tcp.options.sack_re",
        ];
        let mut arguments = vec!["-n", "-o", "tcp.relative_sequence_numbers:FALSE", "-T", "fields"];
        FIELDS.iter().for_each(|field| arguments.extend(["-e", field]));
        let Some(text) = printed("tshark", &arguments, &bytes) else { return };
        let seen = by_frame(&bytes);
        let mut compared = 0;
        for line in text.lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let Some(one) = seen.get(&cells[0].parse().unwrap()) else { panic!("{line}") };
            let (seconds, nanos) = cells[1].split_once('.').unwrap();
            let at = seconds.parse::<i64>().unwrap() * 1_000_000_000 + nanos.parse::<i64>().unwrap();
            let number = |cell: &str| cell.parse::<u32>().ok();
            let flags = u32::from_str_radix(cells[5].trim_start_matches("0x"), 16).unwrap();
            // tshark reads an acknowledgment number even if its flag is not set.
            let ack = one.ack.map(|ack| ack as u32);
            let edges: Vec<u32> = cells[8].split(',').filter_map(number).collect();
            assert_eq!(
                (at, number(cells[2]), number(cells[4])),
                (one.at, Some(one.seq as u32), Some(one.len)),
                "{line}"
            );
            assert_eq!(ack.or(number(cells[3])), number(cells[3]), "{line}");
            assert_eq!((flags & 0xff, number(cells[6])), (one.flags.into(), Some(one.window.into())), "{line}");
            assert_eq!(number(cells[7]), one.timestamps.map(|t| t.value), "{line}");
            if one.ack.is_some() {
                assert_eq!(edges, one.blocks().iter().map(|b| b.1 as u32).collect::<Vec<_>>(), "{line}");
            }
            compared += 1;
        }
        assert_eq!((compared, seen.len()), (1500, 1500));
    }
}

#[test]
fn tcpdump_reads_the_same_lengths() {
    let bytes = transfers();
    let Some(text) = printed("tcpdump", &["-nn", "-tt", "-#", "--nano", "-S"], &bytes) else { return };
    let seen = by_frame(&bytes);
    let mut compared = 0;
    for line in text.lines() {
        let Some(frame) = line.split_whitespace().next().and_then(|n| n.parse().ok()) else { continue };
        let len = line.rsplit_once("length ").and_then(|(_, len)| len.split(':').next()?.trim().parse::<u32>().ok());
        assert_eq!(len, seen.get(&frame).map(|s| s.len), "{line}");
        compared += 1;
    }
    assert_eq!(compared, 1500);
}
