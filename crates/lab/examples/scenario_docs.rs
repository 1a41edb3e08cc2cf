//! Prints `docs/scenario.md` (`page`) or `docs/scenario.schema.json` (`json`).

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("json") => print!("{}", ackclock_lab::schema::json()),
        _ => print!("{}", ackclock_lab::schema::page()),
    }
}
