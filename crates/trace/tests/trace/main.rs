//! The trace as others see it: listeners in, files and hashes out.

mod fates;
mod files;
mod hash;
mod page;
mod play;
