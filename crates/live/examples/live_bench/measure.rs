//! The measurements, their order, and the output.

use crate::{smoltcp_end, virtual_wire};
use ackclock_live::bench::{Direction, Family, Transfer};
use ackclock_live::supervise::{supervise, Answer};
use ackclock_live::{report, LiveError};
use ackclock_tcp::stack::Stack;
use ackclock_wire::Buffers;
use serde_json::{json, Value};

/// A little more than 2³² bytes: a stream that begins 64 KiB below 2³² passes it twice.
const TWICE: u64 = (1 << 32) + (1 << 20);

/// Runs everything; returns whether all hashes were equal.
pub(crate) fn all(quick: bool) -> Result<bool, LiveError> {
    let plain = if quick { 50_000_000 } else { 1_000_000_000 };
    let offload = if quick { 200_000_000 } else { TWICE };
    let (mut entries, mut equal) = (Vec::new(), true);
    for direction in [Direction::Send, Direction::Receive] {
        for (family, offload, bytes) in [
            (Family::V4, false, plain),
            (Family::V6, false, plain),
            (Family::V4, true, offload),
            (Family::V6, true, plain),
        ] {
            let entry = measured(direction, family, offload, bytes)?;
            equal &= entry["hashes_equal"] == json!(true);
            show(&format!("ackclock, {}", entry["stack"].as_str().unwrap_or_default()), &entry);
            entries.push(entry);
        }
        let entry = smoltcp_end::measured(direction, plain)?;
        equal &= entry["hashes_equal"] == json!(true);
        show("smoltcp", &entry);
        entries.push(entry);
    }
    for direction in [Direction::Send, Direction::Receive] {
        let entry = virtual_wire::measured(direction, if quick { 100_000_000 } else { TWICE })?;
        equal &= entry["hashes_equal"] == json!(true);
        show("virtual wire", &entry);
        entries.push(entry);
    }
    let text = json!({ "entries": entries }).to_string();
    std::fs::create_dir_all("results").map_err(LiveError::system("results"))?;
    std::fs::write("results/live-bench.json", text).map_err(LiveError::system("results/live-bench.json"))?;
    println!("results/live-bench.json: written");
    Ok(equal)
}

fn show(who: &str, entry: &Value) {
    let number = |key: &str| entry[key].as_f64().unwrap_or(f64::NAN);
    println!(
        "{who:24} {:8} {:4} offload {:5} {:6.2} Gb/s  hashes equal {}  wraps {}  engine {:.2} kernel {:.2} CPU  {}",
        entry["direction"].as_str().unwrap_or_default(),
        entry["family"].as_str().unwrap_or_default(),
        entry["offload"],
        number("gbps"),
        entry["hashes_equal"],
        entry["wraps"],
        number("engine_processor"),
        number("kernel_processor"),
        entry["priority"].as_str().unwrap_or_default(),
    );
}

fn measured(direction: Direction, family: Family, offload: bool, bytes: u64) -> Result<Value, LiveError> {
    let stack = Stack::named("linux-2025").ok_or_else(|| LiveError::Failed("no stack linux-2025".into()))?;
    let buffers = Buffers { send: 4 << 20, receive: 1 << 20 };
    let transfer =
        Transfer { direction, family, offload, bytes, mtu: 1500, stack, buffers, realtime: true, pcap: None };
    let (bench, link) = transfer.prepare()?;
    let outcome = supervise(&mut |_| Answer::GoOn, |shared| transfer.run(&bench, link, shared))?;
    Ok(report::entry(&transfer, &outcome))
}
