//! How fast a sender may send: passed from a congestion control that knows a rate to the pacing
//! code.

/// A burst is the data sent at the rate in 2⁻¹⁰ seconds (Linux: `sk_pacing_shift`).
const SHIFT: u32 = 10;
/// The largest burst, bytes: 64 KiB less one and `MAX_TCP_HEADER` (Linux: `sk_setup_caps`).
pub(crate) const LARGEST_BURST: u64 = 65_536 - 1 - 320;

/// A pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes of payload per second.
    pub rate: u64,
    /// The smallest burst, segments.
    pub min_burst: u32,
}

impl Pace {
    /// Bytes sent together in one burst, before the largest burst limits them.
    pub(crate) fn burst_bytes(self) -> u64 {
        self.rate >> SHIFT
    }
}
