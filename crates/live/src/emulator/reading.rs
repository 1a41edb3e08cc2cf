//! An observer between two TCPs: converts packets of both directions to segments with their offsets.
//!
//! Source: RFC 9293 §3.4, RFC 7323 §2.3. Idea: the same conversion as in a connection's own border, but both initial
//! sequence numbers are learned from the SYNs that pass.

use super::copies::Copies;
use ackclock_sim::engine::outside::Entering;
use ackclock_sim::watch::Side;
use ackclock_tcp::segment::Segment;
use ackclock_tcp::seq::{Offset, SeqNum};
use ackclock_wire::options::MAX_SHIFT;
use ackclock_wire::Packet;

/// One connection, observed between its ends.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    ends: [End; 2],
}

/// The data that one end has sent.
#[derive(Clone, Debug, Default)]
struct End {
    isn: Option<SeqNum>,
    /// The window scale in its SYN.
    shift: Option<u8>,
    max: Offset,
    copies: Copies,
}

/// The flags of an engine's segment, which do not include URG.
const FLAGS: u8 = 0xdf;

impl Reading {
    /// A packet that this end sends.
    pub fn sent(&mut self, from: Side, packet: &Packet<'_>, wire: u32) -> Entering {
        let seg = self.segment(from, packet);
        let end = &mut self.ends[place(from)];
        let whole = seg.has(Segment::RST) || end.isn.is_none();
        let sends = if whole { u8::from(seg.seq_len() > 0) } else { end.copies.sent(seg.seq, seg.end()) };
        if !whole {
            end.max = end.max.max(seg.end());
        }
        Entering { seg, wire, sends, resend: None }
    }

    fn segment(&mut self, from: Side, packet: &Packet<'_>) -> Segment {
        let header = &packet.header;
        let mut seg = Segment { len: packet.payload.len() as u32, flags: header.flags & FLAGS, ..Segment::EMPTY };
        let syn = seg.has(Segment::SYN);
        let end = &mut self.ends[place(from)];
        if syn && end.isn.is_none() {
            (end.isn, end.shift) = (Some(header.seq), header.options.window_scale.map(|s| s.min(MAX_SHIFT)));
        }
        seg.seq = end.isn.map_or(Offset::SYN, |isn| header.seq.unwrap_or_later(isn, end.max));
        let [own, peer] = [&self.ends[place(from)], &self.ends[1 - place(from)]];
        let scaled = if syn { None } else { own.shift.zip(peer.shift) };
        seg.wnd = u32::from(header.window) << scaled.map_or(0, |(own, _)| own);
        seg.opts = header.ecn();
        if let (true, Some(isn)) = (seg.has(Segment::ACK), peer.isn) {
            seg.ack = header.ack.unwrap_or_later(isn, peer.max);
        }
        header.options.read_into(&mut seg, peer.isn);
        seg
    }
}

fn place(side: Side) -> usize {
    usize::from(side == Side::Receiver)
}
