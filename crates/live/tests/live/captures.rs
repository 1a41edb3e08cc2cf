//! A capture contains the packets that were on the wire.

use crate::matrix::{transfer, within_limit};
use crate::trial;
use ackclock_live::bench::{Direction, Family, Transfer};
use ackclock_live::error::LiveError;
use ackclock_live::supervise::{supervise, Answer};
use ackclock_wire::{parse, Checksums};
use libtest_mimic::Trial;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::DataLink;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Time of day and bytes of each packet.
fn read(path: &Path) -> Vec<(Duration, Vec<u8>)> {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => assert_eq!(interface.linktype, DataLink::RAW),
            Block::EnhancedPacket(packet) => packets.push((packet.timestamp, packet.data.into_owned())),
            other => panic!("{other:?}"),
        }
    }
    packets
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("ackclock-live-{}-{name}.pcapng", std::process::id()))
}

fn captured(name: &str, offload: bool) {
    let path = file(name);
    let base = transfer("linux-2025", Direction::Send, Family::V4);
    let transfer = Transfer { offload, pcap: Some(path.clone()), ..base };
    let (bench, link) = transfer.prepare().unwrap();
    let outcome = within_limit(|shared| transfer.run(&bench, link, shared)).unwrap();
    let packets = read(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(packets.len() as u64, outcome.counts.sent + outcome.counts.received);
    assert!(packets.is_sorted_by_key(|(at, _)| *at));
    let span = packets.last().unwrap().0 - packets[0].0;
    let ratio = span.as_secs_f64() / outcome.time.as_secs_f64();
    assert!((0.5..2.0).contains(&ratio), "{span:?}: {outcome:?}");
    #[expect(clippy::disallowed_methods, reason = "a live test")]
    let today = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(today.abs_diff(packets[0].0) < Duration::from_secs(60), "{:?} is not today", packets[0].0);
    let checksums = if offload { Checksums::Trust } else { Checksums::Verify };
    let payload = |bytes: &Vec<u8>| parse(bytes, checksums).map_or(0, |p| p.payload.len() as u64);
    let total: u64 = packets.iter().map(|(_, bytes)| payload(bytes)).sum();
    assert!(total >= outcome.bytes, "{total} of {}", outcome.bytes);
}

fn stopped() {
    let path = file("stopped");
    let base = transfer("linux-2025", Direction::Receive, Family::V6);
    let transfer = Transfer { bytes: u64::MAX / 2, pcap: Some(path.clone()), ..base };
    let (bench, link) = transfer.prepare().unwrap();
    let mut stop = |p: ackclock_live::supervise::Progress| if p.done > 100_000 { Answer::Stop } else { Answer::GoOn };
    let ended = supervise(&mut stop, |shared| transfer.run(&bench, link, shared));
    assert!(matches!(ended, Err(LiveError::Interrupted)), "{ended:?}");
    let packets = read(&path);
    std::fs::remove_file(&path).unwrap();
    assert!(packets.len() > 50, "{} packets", packets.len());
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_capture_has_every_packet_at_its_time", || captured("plain", false)),
        trial("a_capture_has_trains_as_the_device_got_them", || captured("trains", true)),
        trial("a_run_that_is_stopped_leaves_a_whole_capture", stopped),
    ]
}
