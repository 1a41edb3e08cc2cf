//! Compares packet for packet with ns-2. The logs in `data/ns2-packet-logs` (or in the folder that `ACKCLOCK_NS2_LOGS` names)
//! contain the segments that ns-2.35's senders sent. Our simulator must send the same segments, within 10 µs, and mark the same
//! segments as retransmissions.

mod log;
mod network;
mod random;
mod stacks;

use ackclock_tcp::time::Nanos;
use std::path::PathBuf;

#[test]
fn every_log_of_ns_2_is_reproduced_packet_for_packet() {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/ns2-packet-logs");
    let folder = std::env::var_os("ACKCLOCK_NS2_LOGS").map_or(own, PathBuf::from);
    let logs = log::all(&folder).unwrap_or_else(|e| panic!("{e}"));
    assert!(!logs.is_empty(), "{}: no file of the form CASE_clean_VARIANT_every.csv.gz", folder.display());
    let mut failed = 0;
    for log in &logs {
        let stack = stacks::clean(&log.variant).unwrap_or_else(|e| panic!("{}: {e}", log.file));
        let ours = network::ours(&log.case, stack, Nanos::from_secs(10));
        match network::difference(&log.sends, &ours) {
            None => println!("same       {:40} {:5} sends", log.file, ours.len()),
            Some(d) => {
                failed += 1;
                println!("DIFFERENT  {:40} {d}", log.file);
            }
        }
    }
    println!("{} of {} logs reproduced", logs.len() - failed, logs.len());
    assert_eq!(failed, 0, "{failed} of {} logs differ; the lines above say where", logs.len());
}
