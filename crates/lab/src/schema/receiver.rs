//! When a receiver answers, as a flow's table says it.

use ackclock_tcp::time::Nanos;
use schemars::JsonSchema;

/// When a receiver answers.
#[derive(JsonSchema)]
#[serde(tag = "ack", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "receiver")]
pub(super) enum Receiver {
    /// An ACK for each segment.
    Every,
    /// Every second segment, or after a delay (RFC 1122 §4.2.3.2).
    Delayed {
        /// The delay.
        #[schemars(extend("default" = "200 ms"))]
        delay: Option<Nanos>,
    },
    /// The same for segments out of order, too: neither a gap nor its filling is answered at once (Leung & Ma 2005 §II).
    DelayedReordered {
        /// The delay.
        #[schemars(extend("default" = "200 ms"))]
        delay: Option<Nanos>,
    },
    /// Every second segment, or at the next beat of the host's clock (BSD).
    Heartbeat {
        /// Time between beats.
        #[schemars(extend("default" = "200 ms"))]
        interval: Option<Nanos>,
        /// Where in the interval the beats lie.
        #[schemars(extend("default" = "0 s"))]
        phase: Option<Nanos>,
    },
    /// As soon as two full segments have come, or at the next beat of the host's clock (BSD Net/2).
    WindowUpdate {
        /// Time between beats.
        #[schemars(extend("default" = "200 ms"))]
        interval: Option<Nanos>,
        /// Where in the interval the beats lie.
        #[schemars(extend("default" = "0 s"))]
        phase: Option<Nanos>,
    },
}
