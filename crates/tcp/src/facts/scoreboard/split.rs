//! Splits records: segments that were too large for the path are resent as smaller ones.

use super::{Scoreboard, Sent};
use crate::seq::Offset;
use crate::units::Bytes;

impl Scoreboard {
    /// Splits every record of more than `mss` bytes of payload into segments of `mss` bytes, and marks those not SACKed lost (a
    /// receiver that reneges may need the others, too). `fin` is the end of the stream, if its FIN was sent. Returns the bytes
    /// newly marked.
    #[cold]
    pub(crate) fn split(&mut self, mss: u32, fin: Option<Offset>) -> Bytes {
        let cut = |s: &Sent| s.payload(fin) > mss;
        if mss == 0 || !self.iter().any(cut) {
            return 0;
        }
        self.begin_ack();
        let (mut records, mut lost) = (Vec::with_capacity(2 * self.len()), Vec::new());
        for s in self.iter() {
            if cut(s) {
                lost.push(records.len() as u32);
                records.extend(s.pieces(mss, fin));
                lost.extend(lost[lost.len() - 1] + 1..records.len() as u32);
            } else {
                records.push(*s);
            }
        }
        self.replace(&records);
        lost.into_iter().map(|k| self.mark_index_lost(self.head.wrapping_add(k))).sum()
    }

    /// Replaces the records on the board by these, which have the same bytes and marks.
    fn replace(&mut self, records: &[Sent]) {
        let mut ring = vec![records[0]; (records.len() + 1).next_power_of_two()].into_boxed_slice();
        // From now on, indices remembered elsewhere are out of date.
        (self.head, self.released) = (self.tail, self.tail);
        for s in records {
            ring[self.tail as usize & (ring.len() - 1)] = *s;
            self.tail = self.tail.wrapping_add(1);
        }
        self.ring = ring;
        self.hole = self.head;
        self.settle_hole();
        self.lost_to_send = records.iter().filter(|s| s.marks.waits_to_be_sent()).count() as u32;
        let below_top = records.iter().take_while(|s| s.end() <= self.sack.top).count() as u32;
        self.sack.moved(self.head.wrapping_add(below_top));
    }
}

impl Sent {
    fn payload(&self, fin: Option<Offset>) -> u32 {
        self.len - u32::from(Some(self.end()) == fin)
    }

    /// Segments of `mss` bytes that replace it; the last has the rest and the FIN.
    fn pieces(self, mss: u32, fin: Option<Offset>) -> impl Iterator<Item = Sent> {
        let n = self.payload(fin).div_ceil(mss);
        (0..n).map(move |k| {
            let before = k * mss;
            let len = if k + 1 == n { self.len - before } else { mss };
            Sent { start: self.start + u64::from(before), len, ..self }
        })
    }
}
