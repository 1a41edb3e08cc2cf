//! A file of many concurrent transfers, packet by packet in the order of time.

use crate::transfer::{transfer, Captured};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Different transfers; many flows share each one, with different addresses.
const TEMPLATES: usize = 8;
/// Flows begin within this time, nanoseconds.
const SPREAD: u64 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000;
/// 2026-01-01.
const START: u64 = 1_767_225_600;

/// Writes a pcap file of Ethernet frames, in nanoseconds.
pub(crate) fn make(file: &Path, flows: usize, packets: usize, snap: usize) -> Result<(), Box<dyn Error>> {
    let each = packets.div_ceil(flows.max(1));
    let templates = (0..TEMPLATES.min(flows) as u64).map(|seed| transfer(seed, each)).collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    for word in [0xa1b2_3c4du32, 0x0004_0002, 0, 0, snap.min(262_144) as u32, 1] {
        out.write_all(&word.to_le_bytes())?;
    }
    let start = |flow: usize| (flow as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) % SPREAD;
    let mut next: BinaryHeap<_> = (0..flows).map(|f| Reverse((start(f), f, 0))).collect();
    let filler = [0x5a; 1500];
    while let Some(Reverse((at, flow, i))) = next.pop() {
        let template = &templates[flow % templates.len()];
        let packet = &template[i];
        let frame = frame(packet, flow);
        let original = 14 + usize::from(packet.len);
        let kept = original.min(snap);
        for word in [START as u32 + (at / SECOND) as u32, (at % SECOND) as u32, kept as u32, original as u32] {
            out.write_all(&word.to_le_bytes())?;
        }
        let headers = kept.min(14 + usize::from(packet.kept));
        out.write_all(&frame[..headers])?;
        out.write_all(&filler[..kept - headers])?;
        if let Some(following) = template.get(i + 1) {
            next.push(Reverse((start(flow) + following.at.0, flow, i + 1)));
        }
    }
    out.flush()?;
    Ok(())
}

/// A packet with the addresses of a flow. The TCP checksum stays that of the template.
fn frame(packet: &Captured, flow: usize) -> [u8; 14 + crate::transfer::KEPT] {
    let mut frame = [0; 14 + crate::transfer::KEPT];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    frame[14..].copy_from_slice(&packet.head);
    let flow = flow as u32;
    let client = [10, 1 + (flow >> 16) as u8, (flow >> 8) as u8, flow as u8];
    let port = (1024 + flow % 60_000) as u16;
    let (address, at) = if packet.back { (30, 36) } else { (26, 34) };
    frame[address..address + 4].copy_from_slice(&client);
    frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
    let mut sum = ackclock_wire::checksum::Sum::default();
    frame[24..26].copy_from_slice(&[0, 0]);
    sum.add(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.checksum());
    frame
}
