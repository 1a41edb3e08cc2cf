//! Writes `docs/scenario.schema.json` and `docs/scenario.md`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::write(docs.join("scenario.schema.json"), ackclock_lab::schema::json())?;
    std::fs::write(docs.join("scenario.md"), ackclock_lab::schema::page())
}
