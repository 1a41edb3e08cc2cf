//! Verdicts from facts.
//!
//! | place of the capture | file |
//! | --- | --- |
//! | where data begins, or midway | [`onward`]: acknowledgments show the fate of a copy |
//! | at both ends | [`known`]: the fate of each copy is known |
//! | where data arrives | [`arrivals`]: the arrivals are known |

mod arrivals;
mod bare_acks;
mod known;
mod onward;
mod order;

use crate::both::Arrivals;
use crate::ids::Ids;
use crate::place::Side;
use crate::seen::Way;
use crate::stream::copies::{Before, Cases, Copy, Piece, SentBefore};
use crate::stream::{older, Stream};
use crate::verdict::{Evidence, Judged, Retransmission, Verdict};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The basis of all verdicts, besides the pieces.
pub(crate) struct Facts<'a> {
    pub(crate) way: Way,
    pub(crate) side: Side,
    pub(crate) stream: &'a Stream,
    /// The smallest round-trip time between the hosts, nanoseconds.
    pub(crate) round_trip: Option<i64>,
    pub(crate) cases: &'a Cases,
    /// The arrivals, if the receiver's side was captured too.
    pub(crate) arrivals: Option<&'a Arrivals>,
    /// Identifications of the packets that carry the data.
    pub(crate) ids: &'a Ids,
    /// Identifications of the packets that carry the acknowledgments.
    pub(crate) ack_ids: &'a Ids,
}

/// The verdict on a packet that may be a retransmission.
const SUSPECTED: Judged =
    Judged { verdict: Verdict::Needed, likely: true, evidence: Evidence::FilledLate, earlier: None, proof: None };

/// Whether two copies are one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Same {
    No,
    Perhaps,
    Yes,
}

/// The verdict on each retransmission of a stream, in the order of frames.
pub(crate) fn judge(facts: &Facts<'_>) -> Vec<Retransmission> {
    let mut found: BTreeMap<u64, Retransmission> = BTreeMap::new();
    let ctx = onward::Context::new(facts);
    for (from, piece) in &facts.cases.pieces {
        let copies = facts.in_order_of_sending(piece);
        let mut sendings = u32::from(piece.before == Before::Yes);
        for (i, copy) in copies.iter().enumerate() {
            let same = copies[..i].iter().map(|earlier| facts.same(earlier, copy)).max().unwrap_or(Same::No);
            if same == Same::Yes {
                continue;
            }
            sendings += 1;
            let proved = i > 0 || piece.before == Before::Yes || copy.fills && copy.again == SentBefore::Yes;
            let suspected = !proved && copy.fills && copy.again == SentBefore::Perhaps;
            if copy.payload == 0 || !proved && !suspected {
                continue;
            }
            let mut judged = if suspected {
                SUSPECTED
            } else {
                match (facts.arrivals, facts.side) {
                    (Some(arrivals), _) if piece.before == Before::No && i > 0 => {
                        known::judge(arrivals, (*from, piece.end), piece.cover.is_some(), &copies, i)
                    }
                    (_, Side::Receiver) => arrivals::judge(facts, piece, &copies, i),
                    (_, Side::Sender | Side::Middle) => onward::judge(&ctx, piece, &copies, i),
                }
            };
            if same == Same::Perhaps && matches!(judged.evidence, Evidence::Reported { .. }) {
                // What was reported may be this packet.
                judged = Judged { verdict: Verdict::Undecided, likely: false, evidence: Evidence::Alike, ..judged };
            }
            judged.likely |= same == Same::Perhaps && judged.verdict != Verdict::Undecided;
            let one = Retransmission {
                frame: copy.sent.frame,
                at: copy.sent.at,
                way: facts.way,
                seq: copy.sent.seq,
                len: copy.sent.len,
                copies: sendings - 1,
                suspected,
                judged,
            };
            found.entry(one.frame).and_modify(|r| join(r, &one)).or_insert(one);
        }
    }
    found.into_values().collect()
}

/// Joins two parts of one retransmission: the worse verdict holds for both.
fn join(r: &mut Retransmission, other: &Retransmission) {
    r.copies = r.copies.max(other.copies);
    r.suspected &= other.suspected;
    let rank = |j: &Judged| (j.verdict, !j.likely);
    let worse = match rank(&other.judged).cmp(&rank(&r.judged)) {
        Ordering::Greater => true,
        Ordering::Less | Ordering::Equal => false,
    };
    // If one of the parts that must hold together is a guess, the whole is a guess.
    let likely = r.judged.verdict != Verdict::Needed
        && other.judged.verdict != Verdict::Needed
        && (r.judged.likely || other.judged.likely);
    if worse {
        r.judged = other.judged;
    }
    r.judged.likely |= likely && r.judged.verdict != Verdict::Undecided;
}

impl Facts<'_> {
    /// The copies of a piece in the order of transmission; packets that the network duplicated are
    /// next to each other.
    fn in_order_of_sending(&self, piece: &Piece) -> Vec<Copy> {
        let mut copies: Vec<Copy> = piece.copies.iter().map(|c| self.cases.copies[*c as usize]).collect();
        if self.side != Side::Sender {
            copies.sort_by(|a, b| self.sent_before(a, b));
        }
        copies
    }

    /// Whether two copies are one packet that the network duplicated.
    ///
    /// Each packet has an identification and a timestamp of its own (RFC 6864 §4), unless all have the same one or the clock ticks too
    /// slowly. Otherwise a second packet comes a round trip later, after an answer to the first or the lack of one, if the first was
    /// not held up.
    fn same(&self, a: &Copy, b: &Copy) -> Same {
        let (x, y) = (&a.sent, &b.sent);
        if self.side == Side::Sender {
            return Same::No;
        }
        let one = |equal: bool| if equal { Same::Yes } else { Same::No };
        let (whole, part) = if a.payload >= b.payload { (a, b) } else { (b, a) };
        let after = part.begin.wrapping_sub(whole.begin);
        if self.ids.differ() && x.order != 0 && y.order != 0 {
            // Where a device joined segments, their numbers count on from the first one's.
            let place = after / u64::from(part.payload.max(1));
            return one(whole.sent.order.wrapping_add(place) as u16 == part.sent.order as u16);
        }
        // A FIN counts in the length of a first copy.
        if after.saturating_add(u64::from(part.payload)) > u64::from(whole.payload) + 1 {
            return Same::No;
        }
        let fine = || self.round_trip.zip(self.stream.tick()).is_some_and(|(rtt, tick)| rtt >= 2 * tick);
        match self.stream.timestamps {
            true if x.tsval != y.tsval => Same::No,
            true if fine() => Same::Yes,
            _ if self.round_trip.is_some_and(|rtt| y.at.abs_diff(x.at) as i64 >= rtt) => Same::No,
            true | false => Same::Perhaps,
        }
    }

    fn sent_before(&self, a: &Copy, b: &Copy) -> Ordering {
        let (x, y) = (&a.sent, &b.sent);
        if self.ids.tell_order() && x.order != 0 && y.order != 0 {
            x.order.cmp(&y.order)
        } else if self.stream.timestamps && x.tsval != y.tsval {
            if older(x.tsval, y.tsval) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        } else {
            x.frame.cmp(&y.frame)
        }
    }
}
