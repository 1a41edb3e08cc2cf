//! Prints `docs/capture-columns.md`, or with `types` `web/src/engine/rows.ts`.

use ackclock_capture::rows::tables::{page, types};

fn main() {
    let wants_types = std::env::args().nth(1).is_some_and(|what| what == "types");
    print!("{}", if wants_types { types() } else { page() });
}
