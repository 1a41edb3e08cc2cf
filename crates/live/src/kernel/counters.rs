//! The TCP counters of a namespace: `/proc/net/snmp` and `/proc/net/netstat`.
//!
//! Source: Linux, `net/ipv4/proc.c`.

use crate::error::LiveError;
use crate::namespace::Namespace;
use std::collections::BTreeMap;

/// The counters of loss, reordering and data that the receiver refused, in display order.
pub const SHOWN: &[&str] = &[
    "RetransSegs",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPLostRetransmit",
    "TCPSackRecovery",
    "TCPRenoRecovery",
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPLossProbeRecovery",
    "TCPSpuriousRTOs",
    "TCPSACKReorder",
    "TCPTSReorder",
    "TCPRenoReorder",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPDSACKUndo",
    "TCPLossUndo",
    "TCPDSACKRecv",
    "TCPDSACKOfoRecv",
    "TCPDSACKOldSent",
    "TCPDSACKOfoSent",
    "TCPOFOQueue",
    "PAWSEstab",
    "BeyondWindow",
    "TCPRcvCollapsed",
    "TCPChallengeACK",
];

/// Counters by their names in the kernel, `Tcp` and `TcpExt` together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters(BTreeMap<String, u64>);

impl Counters {
    /// Their current values in a namespace.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub fn of(namespace: &Namespace) -> Result<Counters, LiveError> {
        let text = namespace.run(|| {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{file}"));
            Ok(read("snmp")? + &read("netstat")?)
        })?;
        text.map(|t| Counters::parse(&t)).map_err(LiveError::system::<std::io::Error>("reading the kernel's counters"))
    }

    /// Pairs of lines: the first has the names, the second their values.
    fn parse(text: &str) -> Counters {
        let lines: Vec<&str> = text.lines().collect();
        let mut all = BTreeMap::new();
        for pair in lines.chunks_exact(2) {
            let mut names = pair[0].split_whitespace();
            if names.next().is_some_and(|of| matches!(of, "Tcp:" | "TcpExt:")) {
                let numbers = pair[1].split_whitespace().skip(1).map(|n| n.parse().unwrap_or(0));
                all.extend(names.map(str::to_owned).zip(numbers));
            }
        }
        Counters(all)
    }

    /// The increments since `before`, without zeros.
    pub fn since(&self, before: &Counters) -> Counters {
        let more =
            |(name, n): (&String, &u64)| Some((name.clone(), n.checked_sub(before.get(name)).filter(|n| *n > 0)?));
        Counters(self.0.iter().filter_map(more).collect())
    }

    /// The value of one counter; 0 if the kernel lacks it.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// All counters by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, n)| (name.as_str(), *n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_by_name_and_reported_as_differences() {
        let text = |retrans: u32, paws: u32| {
            format!("Ip: A B\nIp: 1 2\nTcp: InSegs RetransSegs MaxConn\nTcp: 5 {retrans} -1\nTcpExt: PAWSEstab\nTcpExt: {paws}\n")
        };
        let (before, after) = (Counters::parse(&text(7, 1)), Counters::parse(&text(9, 1)));
        assert_eq!(after.since(&before).iter().collect::<Vec<_>>(), [("RetransSegs", 2)]);
        assert_eq!((after.get("PAWSEstab"), after.get("A"), after.get("MaxConn")), (1, 0, 0));
    }
}
