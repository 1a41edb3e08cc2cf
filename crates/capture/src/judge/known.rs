//! Verdicts from both sides: what became of each copy is known.

use crate::both::{Arrivals, Fate, Parcel};
use crate::stream::cases::Copy;
use crate::verdict::{Evidence, Judged, Verdict};

/// The verdict on `copies[i]`, first sent first, as far as it carries `bytes`.
pub(super) fn judge(arrivals: &Arrivals, bytes: (u64, u64), copies: &[Copy], i: usize) -> Judged {
    let judged = |verdict, evidence, earlier, proof| Judged { verdict, likely: false, evidence, earlier, proof };
    let mut refused = None;
    for earlier in &copies[..i] {
        let sent = &earlier.sent;
        // A FIN counts one in what a first copy takes, and is no payload.
        let id = (sent.order != 0).then_some(sent.order as u16);
        let fate = |len| arrivals.fate(Parcel { seq: earlier.begin, len, id, tsval: sent.tsval }, bytes);
        let whole = fate(earlier.payload);
        match if whole == Fate::Lost && !earlier.again { fate(earlier.payload.saturating_sub(1)) } else { whole } {
            Fate::Lost => {}
            Fate::Taken(frame) => {
                return judged(Verdict::Needless, Evidence::TakenThere, Some(sent.frame), Some(frame));
            }
            Fate::Refused(frame) => refused = refused.or(Some((sent, frame))),
        }
    }
    match refused {
        Some((sent, frame)) => {
            let evidence = Evidence::RefusedThere { value: sent.tsval };
            judged(Verdict::Refused, evidence, Some(sent.frame), Some(frame))
        }
        None => {
            let last = i.checked_sub(1).map(|j| copies[j].sent.frame);
            judged(Verdict::Needed, Evidence::NoneArrived, last, None)
        }
    }
}
