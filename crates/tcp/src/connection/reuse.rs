//! Whether a new connection may take the place of one in TIME-WAIT.
//!
//! Source: RFC 6191 §2; RFC 9293 §3.6.1 (RFC 1122 §4.2.2.13): the new initial sequence number is larger than any used before.
//! Idea: a SYN that is newer than everything the old connection saw, by its timestamp or its sequence number, cannot be an old
//! duplicate.
//!
//! | RFC 6191 | here |
//! | --- | --- |
//! | last timestamp seen | the receiver's `ts_recent` |
//! | last sequence number seen | one below `rcv_nxt` |
//!
//! Departures: a SYN that may not reuse the pair is answered with a challenge ACK if it is still passed to
//! [`Connection::on_segment`] (RFC 5961 §4.2), not dropped silently.

use super::{Connection, State};
use crate::segment::{is_older, timestamp, Segment};
use crate::seq::Offset;
use crate::time::Time;

/// Constraints on a connection that replaces one in TIME-WAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// Its initial sequence number must be at or after this offset of the old connection, which used nothing from there on.
    pub isn_from: Offset,
    /// Its timestamps must not be older than this value of the old connection's clock; `None` if the old connection had none.
    pub tsval_from: Option<u32>,
}

impl Connection {
    /// Says whether `syn`, in the old connection's offsets, may open a new connection between the same two ends.
    /// `offers_timestamps`: whether the new one would agree to timestamps. Returns `None` unless this connection is in TIME-WAIT
    /// and the SYN is newer than it.
    pub fn may_reuse(&self, now: Time, syn: &Segment, offers_timestamps: bool) -> Option<Reuse> {
        let plain_syn = syn.flags & (Segment::SYN | Segment::ACK | Segment::RST) == Segment::SYN;
        let (Some(tx), Some(rx), State::TimeWait, true) = (&self.tx, &self.rx, self.state(), plain_syn) else {
            return None;
        };
        let old = rx.ts_recent();
        let new = (offers_timestamps && syn.opts & Segment::TIMESTAMPS != 0).then_some(syn.tsval);
        is_newer(old, new, syn.seq >= rx.rcv_nxt())
            .then(|| Reuse { isn_from: tx.positions().2, tsval_from: old.map(|_| timestamp(now)) })
    }
}

/// The rule of RFC 6191 §2, for callers that keep no [`Connection`] in TIME-WAIT. `old`: the last timestamp seen, if any; `new`:
/// the SYN's timestamp, if the new connection would use timestamps; `later`: whether the SYN's sequence number is larger than the
/// last one seen.
pub fn is_newer(old: Option<u32>, new: Option<u32>, later: bool) -> bool {
    match (old, new) {
        (Some(old), Some(new)) if old == new => later,
        (Some(old), Some(new)) => !is_older(new, old),
        (None, Some(_)) => true,
        (_, None) => later,
    }
}
