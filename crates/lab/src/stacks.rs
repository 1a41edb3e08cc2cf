//! The named stacks, for people and programs.

use ackclock_tcp::stack::profiles::PROFILES;
use ackclock_tcp::stack::Stack;
use serde_json::{json, Value};

/// Every named stack as a JSON list of objects: `name`, `summary`, and its slots with their parameters.
pub fn json() -> String {
    let all: Vec<Value> = PROFILES
        .iter()
        .map(|p| {
            let mut stack = json!({ "name": p.name, "summary": p.summary });
            if let (Value::Object(to), Some(Ok(Value::Object(from)))) =
                (&mut stack, Stack::named(p.name).map(serde_json::to_value))
            {
                to.extend(from);
            }
            stack
        })
        .collect();
    format!("{:#}", Value::Array(all))
}
