//! A fixed duplicate ACK threshold.
//!
//! Source: RFC 5681 §3.2 (three duplicates); RFC 6675 §2 `DupThresh`.
//!
//! Idea: three later segments arriving first are considered enough evidence that a segment is lost.
//!
//! | source | here |
//! | --- | --- |
//! | DupThresh | `segments` |

use super::{DupThresh, Learner};
use crate::event::Window;
use crate::facts::ctx::Ctx;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixedSpec {
    /// Duplicate ACKs that trigger a fast retransmit, at least 1. Default: 3 (RFC 5681 §3.2).
    #[schemars(range(min = 1, max = 1000))]
    pub segments: u32,
}

impl Default for FixedSpec {
    fn default() -> Self {
        FixedSpec { segments: 3 }
    }
}

/// A fixed threshold at work.
pub struct Fixed(u32);

impl Fixed {
    pub(super) fn new(spec: &FixedSpec) -> Self {
        Fixed(spec.segments)
    }
}

impl DupThresh for Fixed {
    fn segments(&self, _: &Window, _: &Ctx) -> u32 {
        self.0
    }
}

impl Learner for Fixed {}
