//! Verdicts from both sides: what became of each copy is known.

use crate::both::{Arrivals, Fate};
use crate::stream::cases::Copy;
use crate::verdict::{Evidence, Judged, Verdict};

/// The verdict on `copies[i]`, first sent first.
pub(super) fn judge(arrivals: &Arrivals, copies: &[Copy], i: usize) -> Judged {
    let judged = |verdict, evidence, earlier, proof| Judged { verdict, likely: false, evidence, earlier, proof };
    let mut refused = None;
    for earlier in &copies[..i] {
        let sent = &earlier.sent;
        // A FIN counts one in what a first copy takes, and is no payload.
        let fate = |len| arrivals.fate(earlier.begin, len, sent.order as u16, sent.tsval);
        let whole = fate(earlier.payload);
        match if whole == Fate::Lost && !earlier.again { fate(earlier.payload.saturating_sub(1)) } else { whole } {
            Fate::Lost => {}
            Fate::Taken(frame) => {
                return judged(Verdict::Needless, Evidence::EarlierArrived, Some(sent.frame), Some(frame));
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
