//! The trace from outside: listeners in, files and hashes out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

mod captures;
mod columns;
mod fates;
mod files;
mod hash;
mod page;
mod play;
mod read;
mod real;
