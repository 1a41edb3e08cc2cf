//! Formats that are recognized but not read, so that a message can name them.
//!
//! Source: the signatures of file(1) and of Wireshark's library.

/// Their signatures.
const SIGNATURES: [(&[u8], &str); 22] = [
    (b"RTSS", "Microsoft Network Monitor 1"),
    (b"GMBU", "Microsoft Network Monitor 2"),
    (b"TRSNIFF data    \x1a", "Sniffer (DOS)"),
    (b"XCP\0", "Sniffer (Windows), NetXray"),
    (b"VL\0\0", "NetXray"),
    (b"\0\0\x02\0\x12\x05\0\x10", "Tektronix K12 (rf5)"),
    (b"+---------+---------------+----------+", "Tektronix K12 (text)"),
    (b"TR\0d\0", "HP-UX nettl"),
    (b"ObserverPktBufferVersion=", "Observer"),
    (b"iptrace 1.0", "AIX iptrace"),
    (b"iptrace 2.0", "AIX iptrace"),
    (b"\x01\x10\x4c\0\x01\x05", "Novell LANalyzer"),
    (b"\x05VNF", "Visual Networks"),
    (b"\xaa\xaa\xaa\xaa", "InfoVista 5View"),
    (b"\x7fver", "EtherPeek, OmniPeek"),
    (b"cpse", "Capsa"),
    (b"\xac\x01\0\x1c", "Ixia"),
    (b"\xab\x01\0\x1c", "Ixia"),
    (b"\x1c\0\x01\xac", "Ixia"),
    (b"\x1c\0\x01\xab", "Ixia"),
    (b"btsnoop\0", "btsnoop (Bluetooth)"),
    (b"Session Transcript", "Catapult DCT2000"),
];

/// The format of a file with this beginning, if it is one of those.
pub(super) fn name(bytes: &[u8]) -> Option<&'static str> {
    let found = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature));
    found.map(|(_, name)| *name).or_else(|| is_commview(bytes).then_some("CommView"))
}

/// CommView's files have no signature: the length of the first packet (in the older format twice, and a version), then its date.
fn is_commview(bytes: &[u8]) -> bool {
    let date = |at: usize| match bytes.get(at..at + 7) {
        Some(&[a, b, month, day, hour, minute, second]) => {
            let year = u16::from_le_bytes([a, b]);
            let is_day = (1990..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
            is_day && hour < 24 && minute < 60 && second < 61
        }
        _ => false,
    };
    date(4) || date(5)
}
