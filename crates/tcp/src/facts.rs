//! The facts that every algorithm sees, and the types of their answers. Nothing here knows an
//! algorithm.

pub mod ack;
pub mod answer;
pub mod ctx;
pub mod episode;
pub mod gate;
pub mod lateness;
pub mod ncr;
pub mod pace;
pub mod rate;
pub mod reorder;
pub mod scoreboard;
