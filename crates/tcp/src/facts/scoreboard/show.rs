//! The scoreboard printed for people, and recounted in test builds.

use super::{Marks, Scoreboard};
use std::fmt;

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(1, 'S'), (2, 'L'), (4, 'R'), (8, 'P'), (16, 'f'), (32, 'w'), (64, 'd')];
        names.iter().filter(|n| self.any(n.0)).try_for_each(|n| write!(f, "{}", n.1))
    }
}

impl fmt::Display for Scoreboard {
    /// A ruler: `1 ··SSL·R 14000`, one character per segment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.iter().next() else { return f.write_str("(empty)") };
        write!(f, "{} ", first.start)?;
        for s in self.iter() {
            let sign = match s.marks {
                m if m.any(Marks::SACKED) => 'S',
                m if m.any(Marks::REXMIT) => 'R',
                m if m.any(Marks::LOST) => 'L',
                _ => '·',
            };
            write!(f, "{sign}")?;
        }
        write!(f, " {}", self.at(self.tail.wrapping_sub(1)).end())
    }
}

#[cfg(debug_assertions)]
impl Scoreboard {
    /// Recounts everything. Test builds do so after every ACK and timer, and after every send off the fast path.
    pub(crate) fn check(&self) {
        let (mut pipe, mut sacked, mut lost, mut to_send) = (0, 0, 0, 0);
        let mut edge = None;
        for s in self.iter() {
            assert!(edge.is_none_or(|e| e == s.start), "records are not contiguous at {}", s.start);
            edge = Some(s.end());
            let n = u64::from(s.len);
            pipe += s.marks.weight() * n;
            sacked += u64::from(s.marks.any(Marks::SACKED)) * n;
            lost += u64::from(s.marks.any(Marks::LOST)) * n;
            to_send += u32::from(s.marks.waits_to_be_sent());
        }
        assert_eq!((self.pipe, self.sacked, self.lost, self.lost_to_send), (pipe, sacked, lost, to_send), "{self}");
        let mut below = self.iter().take(self.hole.wrapping_sub(self.head) as usize);
        assert!(below.all(|s| s.marks.any(Marks::SACKED | Marks::REXMIT)), "hole index too high: {self}");
    }
}
