//! Senders that detect needless retransmissions by means other than DSACK.

use super::{newreno, rfc_6675};
use crate::spurious::eifel::EifelSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Options, Stack};
use crate::timeout::frto::{Form, FrtoSpec};
use crate::timeout::TimeoutSpec;
use crate::undo::eifel_response::EifelResponseSpec;
use crate::undo::UndoSpec;

/// RFC 3522 and RFC 4015 around NewReno, as RFC 4015 §4 recommends.
pub(super) fn eifel(name: &str) -> Stack {
    Stack {
        spurious: SpuriousSpec::Eifel(EifelSpec::default()),
        undo: UndoSpec::EifelResponse(EifelResponseSpec::default()),
        options: Options { timestamps: true, ..Options::default() },
        ..newreno(name)
    }
}

/// RFC 5682 §3.1 around RFC 6675, with RFC 4015's response.
pub(super) fn frto(name: &str) -> Stack {
    Stack {
        timeout: TimeoutSpec::Frto(FrtoSpec { form: Form::Sack, ..Default::default() }),
        undo: UndoSpec::EifelResponse(EifelResponseSpec::default()),
        ..rfc_6675(name)
    }
}
