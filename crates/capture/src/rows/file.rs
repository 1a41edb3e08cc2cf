//! The row of a captured file, and its sentences.

use super::{datagrams, flows, OneFile};
use crate::link::Kind;
use ackclock_table::row;
use std::collections::BTreeMap;

/// If at least one segment of this number was captured twice, the file may hold both ends.
const MANY_REPEATS: u64 = 3;
const REPEATED: &str =
    "If the copies come from the two ends of a path, keep the ends apart: give two files, or a pcapng file with an \
    interface for each (mergecap makes one).";

row! {
    /// A captured file.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedFile pub of (f, files): (&OneFile, &[OneFile]) {
        /// The file, as named on the command line.
        file: String = f.name.clone();
        /// `pcap`, `pcapng`, `snoop` or `erf`.
        format: &'static str = f.contents.format.name();
        /// All packets.
        packets: u64 = f.traffic.packets;
        /// Their bytes, before truncation.
        bytes: u64 [unit("bytes")] = f.traffic.bytes;
        /// TCP segments.
        segments: u64 = f.traffic.segments;
        /// Connections.
        connections: u64 = f.traffic.connections;
        /// Connections that `--flow` did not choose.
        not_chosen: u64 = f.found.passed_over;
        /// Connections that `--limit` left out because they have fewer bytes.
        left_out: u64 = f.found.left_out;
        /// Connections that `--limit` ended early.
        cut_by_limit: u64 = f.traffic.cut_by_limit;
        /// Packets that were captured twice: they count once.
        repeats: u64 = f.traffic.repeats;
        /// Packets with an earlier time than the packet before them.
        times_back: u64 = f.traffic.times_back;
        /// Segments whose options are cut short by the snap length.
        options_cut: u64 = f.traffic.options_cut;
        /// Connections that are part of a Multipath TCP connection (RFC 8684).
        mptcp_joins: u64 = f.traffic.mptcp_joins;
        /// Packets that the capturing machine dropped, according to the file.
        dropped_by_capture: u64 = f.dropped();
        /// Damaged places.
        damaged_places: u64 = f.contents.damages.count();
        /// The first damaged place.
        first_damage: Option<String> = f.contents.damages.first().map(ToString::to_string);
        /// Packets that were not analysed, by their kind.
        skipped: BTreeMap<&'static str, Skipped> = f.skipped().map(|(kind, s)| (kind.name(), s)).collect();
        /// What a reader should know about the file, in sentences.
        remarks: Vec<String> = f.remarks(files);
    }
}

row! {
    /// The file and the kind of packets to which a row belongs.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SkippedOf pub of (f, k): (&OneFile, Kind) {
        /// The file, as named on the command line.
        file: String = f.name.clone();
        /// `udp`, `quic`, `ipsec`, `wireguard`, `icmp`, `sctp`, `arp`, `fragment` (of IP packets), `other_ip`, `not_ip`,
        /// `unknown_link` (a link type that is not read), `encrypted_wifi` (IEEE 802.11), `headers_cut` (by the snap length) or `broken` (headers).
        kind: &'static str = k.name();
    }
}

row! {
    /// Packets of one kind that were not analysed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Skipped pub of (count, size): (u64, u64) {
        /// Their number.
        packets: u64 = count;
        /// Their bytes, before truncation.
        bytes: u64 [unit("bytes")] = size;
    }
}

impl OneFile {
    /// Packets and bytes of each kind that is not analysed.
    pub fn skipped(&self) -> impl Iterator<Item = (Kind, Skipped)> + '_ {
        let all = Kind::ALL.iter().zip(self.traffic.others);
        all.filter(|(_, n)| n.0 > 0).map(|(kind, counts)| (*kind, Skipped::of(counts)))
    }

    /// What a reader should know about the file, in sentences.
    fn remarks(&self, files: &[OneFile]) -> Vec<String> {
        let traffic = &self.traffic;
        let has_data = flows(files).any(|f| f.file.name == self.name || f.receiver_file == Some(&self.name));
        let kinds: Vec<_> =
            self.skipped().map(|(kind, s)| format!("{} ({})", kind.words(), grouped(s.packets))).collect();
        let mut remarks = vec![match (traffic.segments, has_data, self.found.passed_over) {
            (0, ..) if traffic.numbered.is_empty() => format!("{}, no TCP.", counted(traffic.packets, "packet")),
            (1.., false, 0) if datagrams(files).all(|(file, _)| file.name != self.name) => format!(
                "{} without data, of {}.",
                counted(traffic.segments, "TCP segment"),
                counted(traffic.connections, "connection")
            ),
            _ => format!("{}, {}.", counted(traffic.packets, "packet"), counted(traffic.connections, "connection")),
        }];
        if !kinds.is_empty() {
            remarks.push(format!("Packets not analysed: {}.", kinds.join(", ")));
        }
        remarks.extend(traffic.unread_links.iter().map(|(link, packets)| {
            let packets = counted(*packets, "packet");
            format!("Link type {link} is not read ({packets}): capture at another interface, or name the right type with editcap -T.")
        }));
        let row = [
            ("Captured twice, counted once", traffic.repeats, "packet"),
            ("Dropped by the capture, according to the file", self.dropped(), "packet"),
            ("Ended early, because too many were open at once", traffic.cut_by_limit, "connection"),
            ("Left out, because they have fewer bytes", self.found.left_out, "connection"),
            ("Times jump, and nothing is measured across a jump", traffic.time_jumps, "time"),
            ("With truncated options", traffic.options_cut, "segment"),
            ("Parts of a Multipath TCP connection", traffic.mptcp_joins, "connection"),
        ];
        remarks.extend(
            row.iter().filter(|(_, n, _)| *n > 0).map(|(what, n, one)| format!("{what}: {}.", counted(*n, one))),
        );
        if self.contents.interfaces.len() < 2
            && traffic.repeats * MANY_REPEATS >= traffic.segments
            && traffic.repeats > 0
        {
            remarks.push(REPEATED.to_owned());
        }
        let damages = &self.contents.damages;
        remarks.extend(
            damages
                .first()
                .map(|first| format!("Damaged in {}; the first is {first}.", counted(damages.count(), "place"))),
        );
        remarks
    }

    fn dropped(&self) -> u64 {
        self.contents.interfaces.iter().filter_map(|i| i.dropped).sum()
    }
}

pub(super) fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A count with its digits in groups of three.
pub(super) fn grouped(n: u64) -> String {
    if n < 1000 {
        n.to_string()
    } else {
        format!("{},{:03}", grouped(n / 1000), n % 1000)
    }
}
