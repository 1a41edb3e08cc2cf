//! A record of Endace's ERF: of a file, or a packet of the link type of that name.

use std::ops::RangeInclusive;

/// `LINKTYPE_ERF`.
pub(crate) const LINK: u16 = 197;
/// The bits of the type; the highest one says that extension headers follow.
pub(crate) const TYPE: u8 = 0x7f;
/// The types of records.
pub(crate) const TYPES: RangeInclusive<u8> = 1..=27;
/// The types whose records count the losses before them; later ones have a color there.
pub(crate) const COUNTING: RangeInclusive<u8> = 1..=9;
/// A record that only fills up.
pub(crate) const PADDING: u8 = 48;
/// A record about the capture.
pub(crate) const META: u8 = 27;

/// The packet within a record: its link type, and where it begins. `None` if it is not read.
pub(crate) fn within(record: &[u8]) -> Option<(u16, usize)> {
    let mut more = *record.get(8)?;
    let kind = more & TYPE;
    let mut at = 16;
    while more & !TYPE != 0 {
        more = *record.get(at)?;
        at += 8;
    }
    match kind {
        // Ethernet, behind two bytes that align it.
        2 | 11 | 16 | 20 => Some((1, at + 2)),
        // HDLC or PPP on a line, and on one of several channels.
        1 | 10 | 15 | 19 => Some((50, at)),
        5 | 17 => Some((50, at + 4)),
        22 => Some((228, at)),
        23 => Some((229, at)),
        _ => None,
    }
}
