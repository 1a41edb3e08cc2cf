//! Helpers shared by the unit tests of this crate.

use crate::event::{Cause, Window};
use crate::facts::ack::AckEvent;
use crate::facts::ctx::Ctx;
use crate::facts::episode::{Episode, Saved};
use crate::facts::reorder::ReorderSample;
use crate::facts::scoreboard::Delivered;
use crate::seq::Offset;
use crate::stack::Stack;
use crate::time::Time;

/// Milliseconds since the start.
pub(crate) fn ms(n: u64) -> Time {
    Time(n * 1_000_000)
}

/// A named stack.
pub(crate) fn named(name: &str) -> Stack {
    Stack::named(name).unwrap()
}

/// A sender of 1000-byte segments without any measurements.
pub(crate) fn context() -> Ctx {
    Ctx::at_start(1000)
}

/// A window so wide that no ceiling binds.
pub(crate) fn wide() -> Window {
    Window { cwnd: 1e9, ssthresh: 1e9 }
}

/// A spurious fast retransmit whose hole took `dupacks` duplicates.
pub(crate) fn spurious(dupacks: u32) -> ReorderSample {
    let at = Time(0);
    ReorderSample { dupacks, first_dup: at, last_dup: at, filled: at, resent: Some(at), segments: 1 }
}

/// An ACK without news.
pub(crate) fn blank() -> AckEvent {
    Delivered::default().ack_event(Offset(0), Offset(0), Time(0))
}

/// A running episode.
pub(crate) fn episode() -> Episode {
    let prior = Window { cwnd: 11_000.0, ssthresh: 1e9 };
    Episode {
        id: 1,
        cause: Cause::Fast,
        began: Time(0),
        recover: Offset(13_001),
        prior,
        target: 5_500.0,
        cc_undo: Saved::default(),
        flight: 11_000,
        retransmits: 0,
        proven_spurious: 0,
        dupacks_to_fill: 0,
        first_dup: Time(0),
        last_dup: Time(0),
        filled: None,
        ended: None,
        void: false,
    }
}
