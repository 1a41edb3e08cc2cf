//! The laboratory for pages and for Node: the text of a scenario in, results out as JSON.
//!
//! The exports of `abi` are plain functions over linear memory, and `ackclock.mjs` beside this crate is their whole
//! loader. A binding generator would add a program to install whose version must equal a library's; it will pay when more
//! than text goes in and out.

#[cfg(target_family = "wasm")]
pub mod abi;

use ackclock_lab::report::run_text;
use serde_json::json;

/// Runs a scenario once: `{"ok": report}` as `ackclock run --json` prints it, or `{"error": {…, "message": …}}`.
///
/// An empty `stack` leaves the scenario's own.
pub fn answer(scenario: &[u8], stack: &[u8], seed: u64) -> String {
    let text = |what: &str, bytes| {
        std::str::from_utf8(bytes).map_err(|e| json!({ "message": format!("{what} is not UTF-8: {e}") }))
    };
    let ran = text("the scenario", scenario).and_then(|scenario| {
        let stack = Some(text("the stack's name", stack)?).filter(|s| !s.is_empty());
        run_text(scenario, stack, seed).map_err(|e| e.to_json())
    });
    match ran {
        Ok(report) => format!("{{\"ok\":{report}}}"),
        Err(error) => json!({ "error": error }).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn message(scenario: &[u8], stack: &[u8]) -> String {
        let answer: Value = serde_json::from_str(&answer(scenario, stack, 1)).unwrap();
        answer["error"]["message"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_scenario_that_is_refused_is_answered_with_the_refusal() {
        assert!(!message(b"bad = [", b"").is_empty());
    }

    #[test]
    fn a_text_that_is_not_utf8_is_refused_by_name() {
        assert!(message(b"\xff", b"").contains("the scenario is not UTF-8"));
        assert!(message(b"", b"\xff").contains("the stack's name is not UTF-8"));
    }
}
