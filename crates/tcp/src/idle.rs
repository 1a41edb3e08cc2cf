//! And after a pause? The fate of a window that was not used for a while.
//!
//! Source: RFC 5681 §4.1; Linux 6.18 (`tcp_cwnd_restart` in `net/ipv4/tcp_output.c`), in our words.
//!
//! Idea: after a pause nothing is known about the path any more, and no ACKs arrive to space transmissions. So the window is
//! reset to the initial one, and slow start leads back to `ssthresh`. Linux halves it for each timeout that the pause lasted.
//!
//! | source | here |
//! | --- | --- |
//! | RW = min (IW, cwnd) | `restart` |
//! | has not sent data in an interval exceeding the retransmission timeout | time since the last segment with data, against the timeout with back-off |

use crate::event::Window;
use crate::time::Nanos;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effect of a pause on the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleRule {
    /// None: the window stays as it is (ns-2, the older papers). Default.
    #[default]
    Keep,
    /// Limits the window to the initial window after a pause of one retransmission timeout (RFC 5681 §4.1).
    Restart,
    /// After a retransmission timeout without sending, the window is halved for each timeout that has passed, down to the initial
    /// one; `ssthresh` is at least three quarters of the earlier window (Linux).
    Halve,
}

impl IdleRule {
    /// Whether it is the default, which files can omit.
    pub(crate) fn is_keep(&self) -> bool {
        *self == IdleRule::Keep
    }

    /// The window after a `pause` longer than the retransmission timeout `rto`, if the initial window was `initial` bytes.
    pub(crate) fn restart(self, w: Window, initial: f64, pause: Nanos, rto: Nanos) -> Window {
        match self {
            IdleRule::Keep => w,
            IdleRule::Restart => Window { cwnd: w.cwnd.min(initial), ..w },
            IdleRule::Halve => {
                let (least, mut left, mut cwnd) = (w.cwnd.min(initial), pause, w.cwnd);
                while left > rto && cwnd > least {
                    left = Nanos(left.0 - rto.0);
                    cwnd /= 2.0;
                }
                Window { cwnd: cwnd.max(least), ssthresh: w.ssthresh.max(0.75 * w.cwnd) }
            }
        }
    }
}
