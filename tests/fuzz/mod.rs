//! What the fuzz targets of all crates share; `tools/fuzz.py` lists them.

pub(crate) mod heap;
mod watch;

pub(crate) use watch::{cases, Target};
