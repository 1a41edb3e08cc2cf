//! The answer to a segment that is for nobody.
//!
//! Source: RFC 9293 §3.10.7.1 (which RST), §3.9.2.3 (none to or for a group's address).
//! The segment's own numbers are all that is known, so they are the connection's beginning: a border made of them answers.

use crate::border::Border;
use crate::dialect::Dialect;
use crate::initial::Initial;
use crate::packet::{Header, Packet};
use crate::write::{WriteError, Writing, Written};
use ackclock_tcp::connection::reset_for;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use std::net::IpAddr;

/// Writes the RST that answers `packet` into `buf`; `None` if none does: a RST, or one from or to an address that is not
/// one host's. How many of them leave in a second is the caller's to limit, as [`Host`](crate::host::Host) does.
///
/// # Errors
/// As [`Header::write`](crate::packet::Header::write).
pub fn reset(packet: &Packet<'_>, writing: Writing, buf: &mut [u8]) -> Result<Option<Written>, WriteError> {
    reset_header(packet).map(|header| header.write(Dialect::default(), writing, buf, 0, |_| {})).transpose()
}

/// The headers of that RST.
pub(crate) fn reset_header(packet: &Packet<'_>) -> Option<Header> {
    let asked = &packet.header;
    if !is_one_host(asked.src.ip()) || !is_one_host(asked.dst.ip()) {
        return None;
    }
    // A RST without an ACK to answer has the sequence number 0.
    let isn = if asked.flags & Segment::ACK != 0 { asked.ack } else { SeqNum(0) };
    let initial = Initial { isn, timestamp_offset: 0, label: 0 };
    let mut border = Border::for_nobody(asked, initial, Dialect::default());
    let segment = border.read(packet);
    reset_for(&segment).map(|answer| border.compose(&answer))
}

/// Whether this is the address of one host: no group's, no broadcast, not "unspecified".
pub(crate) fn is_one_host(ip: IpAddr) -> bool {
    let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    !(broadcast || ip.is_multicast() || ip.is_unspecified())
}
