//! A fit as JSON, with its scenarios.

use super::{End, Fit, Transfer};
use serde_json::{json, Value};

/// How many times as long as the capture a scenario runs at most.
const LONGER: f64 = 10.0;

impl Fit {
    /// What `ackclock capture --fit --json` tells, and the scenarios in which `stack` sends: the likeliest one, and if anything is open those at
    /// both ends of the intervals. `seconds`: how long they run at most. Default: ten times as long as the capture.
    pub fn json(&self, stack: &str, seconds: Option<f64>) -> Value {
        let last = self.transfers.iter().map(|t| t.start + t.seconds).fold(0.0, f64::max);
        let seconds = seconds.unwrap_or((LONGER * last).clamp(10.0, 86_400.0));
        let parameters: Vec<Value> = self
            .parameters()
            .into_iter()
            .map(|(name, unit, scale, e)| {
                json!({ "name": name, "unit": unit, "mark": e.mark.name(), "value": e.value * scale, "low": e.low * scale,
                    "high": e.high * scale, "how": e.how })
            })
            .collect();
        let scenario = |end| self.scenario(end, stack, seconds, 1);
        let mut scenarios = vec![scenario(End::Value)];
        if self.is_open() {
            scenarios.extend([scenario(End::Low), scenario(End::High)]);
            scenarios.dedup();
        }
        json!({
            "parameters": parameters,
            "answers": self.answers.words(),
            "disagreements": self.disagreements,
            "transfers": self.transfers.iter().map(transfer).collect::<Vec<_>>(),
            "scenarios": scenarios,
        })
    }
}

fn transfer(t: &Transfer) -> Value {
    json!({ "flow": t.name, "start_s": t.start, "duration_s": t.seconds, "bytes": t.bytes })
}
