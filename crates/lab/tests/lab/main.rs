//! Scenario files, runs and their results from outside, in one program: each one would compile the engine again.

mod captures;
mod chosen;
mod damaged;
mod measures;
mod outside;
mod paths;
mod round_trip;
mod runs;
mod scenarios;
mod schema;
mod shipped;
