//! The language of scripts: what it reads, and what it says about text that it cannot read.

mod language {
    mod code;
    mod damaged;
    mod events;
    mod folders;
    mod fuzz;
}
