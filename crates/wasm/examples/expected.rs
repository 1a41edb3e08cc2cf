//! Prints the cases for `tests/same.mjs`: each scenario file given, with its own stacks and with every existing stack, and
//! the trace hashes of the native build.

use ackclock_wasm::border::Lists;
use serde_json::{json, Value};
use std::process::ExitCode;

/// Two seeds, so that random elements are drawn differently.
const SEEDS: [u64; 2] = [1, 2];

fn main() -> ExitCode {
    match cases() {
        Ok(cases) => {
            println!("{cases:#}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn cases() -> Result<Value, String> {
    let stacks: Value = serde_json::from_str(&ackclock_lab::stacks::json()).map_err(|e| e.to_string())?;
    let names = stacks.as_array().into_iter().flatten().filter_map(|s| s["name"].as_str()).map(Some);
    let stacks: Vec<Option<&str>> = std::iter::once(None).chain(names).collect();
    let mut all = Vec::new();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
        for (stack, seed) in stacks.iter().flat_map(|s| SEEDS.map(|seed| (*s, seed))) {
            let request =
                json!({ "do": "run", "scenario": text, "stack": stack, "seed": seed.to_string() }).to_string();
            let answer = ackclock_wasm::answer(request.as_bytes(), &mut Lists::default());
            let answer: Value = serde_json::from_str(&answer).map_err(|e| e.to_string())?;
            if let Some(e) = answer["error"]["message"].as_str() {
                // A file may set parameters that another stack's parts lack.
                let of_the_file = answer["error"]["key"].as_str().is_some_and(|key| key.contains(".set."));
                if stack.is_some() && of_the_file {
                    eprintln!("{file}: left out: {e}");
                    continue;
                }
                return Err(format!("{file}: {e}"));
            }
            let hash = &answer["ok"]["runs"][0]["trace_hash"];
            all.push(json!({ "scenario": file, "stack": stack, "seed": seed, "trace_hash": hash }));
        }
    }
    Ok(Value::Array(all))
}
