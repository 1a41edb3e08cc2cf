//! Scenario files, runs and their results, tested from outside. These tests are one program, because each program compiles the engine
//! again.

mod captures;
mod chosen;
mod damaged;
mod identity;
mod measures;
mod outside;
mod paths;
mod round_trip;
mod runs;
mod scenarios;
mod schema;
mod shipped;
mod stalls;
