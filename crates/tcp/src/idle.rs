//! And after a pause? What becomes of a window that nobody has used for a while.
//!
//! Source: RFC 5681 §4.1.
//!
//! Idea: after a pause nothing is known of the path any more, and no ACKs come that would space what is sent. So the window is again that
//! of the beginning, and slow start leads back to `ssthresh`.
//!
//! | source | here |
//! | --- | --- |
//! | RW = min (IW, cwnd) | `restart_window` |
//! | has not sent data in an interval exceeding the retransmission timeout | since the last segment with data, longer than the timeout with its back-off |

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a pause does to the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRule {
    /// Nothing: the window stays (ns-2, the older papers). Default.
    #[default]
    Keep,
    /// After a retransmission timeout without sending, at most the initial window (RFC 5681 §4.1).
    Restart,
}

impl IdleRule {
    /// Whether it is the default, which no file has to say.
    pub(crate) fn is_keep(&self) -> bool {
        *self == IdleRule::Keep
    }

    /// The window, in bytes, after a pause longer than the retransmission timeout, where `initial` was that of the beginning.
    pub(crate) fn restart_window(self, cwnd: f64, initial: f64) -> f64 {
        match self {
            IdleRule::Keep => cwnd,
            IdleRule::Restart => cwnd.min(initial),
        }
    }
}
