//! Amounts of data: segments, or bytes.

use ackclock_tcp::units::{Bytes, Length, Packets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much data, written in segments (`"500 packets"`) or in bytes (`"1 MB"`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Amount(pub(crate) Length);

impl From<Bytes> for Amount {
    fn from(n: Bytes) -> Self {
        Amount(Length::Bytes(n))
    }
}

impl Amount {
    /// In bytes, for a segment size of `mss`.
    pub(crate) fn bytes(self, mss: u32) -> Bytes {
        match self.0 {
            Length::Packets(Packets(n)) => Bytes::from(n) * Bytes::from(mss),
            Length::Bytes(n) => n,
        }
    }
}
