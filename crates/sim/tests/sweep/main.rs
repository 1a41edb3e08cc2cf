//! Every named stack on the same paths, one table for each path: `tables.snap`, written to be read.
//!
//! `paths.rs` is the list of paths, `notes.txt` explains cells that look strange. After an intended change,
//! `INSTA_UPDATE=always cargo test -p ackclock-sim --test sweep` rewrites the tables; the diff shows the effect.

mod notes;
mod paths;
mod table;
mod watch;

#[test]
fn every_named_stack_repairs_every_path_as_recorded() {
    let tables: Vec<table::Table> = paths::PATHS.iter().map(table::measure).collect();
    let notes = notes::read();
    notes::check(&notes, &tables);
    let text: Vec<String> = tables.iter().map(|t| table::show(t, &notes)).collect();
    insta::with_settings!({
        snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sweep"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("tables", text.join("\n"));
    });
}
