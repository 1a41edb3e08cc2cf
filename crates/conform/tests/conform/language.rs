//! The language of scripts: the events that it yields, and the messages about text that cannot be read.

mod code;
mod damaged;
mod events;
mod folders;
mod fuzz;
