//! What the fuzz targets of all crates share; `tools/campaigns/fuzz.py` lists them.

pub(crate) mod heap;
pub(crate) mod watch;

pub(crate) use watch::{cases, Target};
