//! Verdicts from both sides: the fate of each copy is known.

use crate::both::{Arrivals, Fate, Parcel};
use crate::stream::copies::{Copy, SentBefore};
use crate::verdict::{Evidence, Judged, Verdict};

/// The verdict on `copies[i]`, in the order of transmission, as far as it carries `bytes`; `acknowledged` is whether
/// they were.
pub(super) fn judge(arrivals: &Arrivals, bytes: (u64, u64), acknowledged: bool, copies: &[Copy], i: usize) -> Judged {
    let judged = |verdict, evidence, earlier, proof| Judged { verdict, likely: false, evidence, earlier, proof };
    let mut refused = None;
    for earlier in &copies[..i] {
        let sent = &earlier.sent;
        match fate(arrivals, earlier, bytes) {
            Fate::Lost => {}
            Fate::Taken(frame) => {
                return judged(Verdict::Needless, Evidence::TakenThere, Some(sent.frame), Some(frame));
            }
            Fate::Refused(frame) => refused = refused.or(Some((sent, frame))),
        }
    }
    let last = i.checked_sub(1).map(|j| copies[j].sent.frame);
    // That capture may have begun after an earlier copy arrived, or have ended before any did.
    let arrived = || copies.iter().any(|copy| fate(arrivals, copy, bytes) != Fate::Lost);
    if arrivals.may_precede(bytes.0) || acknowledged && !arrived() {
        return judged(Verdict::Undecided, Evidence::NotThere, last, None);
    }
    match refused {
        Some((sent, frame)) => {
            let evidence = Evidence::RefusedThere { value: sent.tsval };
            judged(Verdict::Refused, evidence, Some(sent.frame), Some(frame))
        }
        None => Judged { likely: arrivals.has_gaps(), ..judged(Verdict::Needed, Evidence::NoneArrived, last, None) },
    }
}

/// The fate of a copy of these bytes.
fn fate(arrivals: &Arrivals, copy: &Copy, bytes: (u64, u64)) -> Fate {
    let sent = &copy.sent;
    let id = (sent.order != 0).then_some(sent.order as u16);
    // A FIN counts as one byte in the length of a first copy, but is not payload.
    let with = |len| arrivals.fate(Parcel { seq: copy.begin, len, id, tsval: sent.tsval }, bytes);
    let whole = with(copy.payload);
    if whole == Fate::Lost && copy.again == SentBefore::No {
        with(copy.payload.saturating_sub(1))
    } else {
        whole
    }
}
