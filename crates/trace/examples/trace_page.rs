//! Prints `docs/trace.md`.

fn main() {
    print!("{}", ackclock_trace::schema::page());
}
