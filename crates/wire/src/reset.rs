//! The answer to a segment without a connection.
//!
//! Source: RFC 9293 §3.10.7.1 (which RST), §3.9.2.3 (none to or for a group's address). Only the segment's own numbers are
//! known, so they serve as the initial numbers of a border, which writes the answer.

use crate::border::Border;
use crate::dialect::Dialect;
use crate::initial::Initial;
use crate::packet::{Header, Packet};
use crate::write::{WriteError, Writing, Written};
use ackclock_tcp::connection::reset_for;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::SeqNum;
use std::net::IpAddr;

/// Writes the RST that answers `packet` into `buf`; `None` if there is no answer: the packet is a RST, or is from or to an
/// address that is not a single host's. The caller must limit the RSTs per second, as [`Host`](crate::host::Host) does.
///
/// # Errors
/// Those of [`Header::write`](crate::packet::Header::write).
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

/// Whether this is the address of a single host: not multicast, not broadcast, not "unspecified".
pub(crate) fn is_one_host(ip: IpAddr) -> bool {
    let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
    !(broadcast || ip.is_multicast() || ip.is_unspecified())
}
