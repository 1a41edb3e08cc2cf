//! Senders that find out whether a retransmission was needless by means other than DSACK.

use super::newreno;
use crate::spurious::eifel::EifelSpec;
use crate::spurious::SpuriousSpec;
use crate::stack::{Options, Stack};
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
