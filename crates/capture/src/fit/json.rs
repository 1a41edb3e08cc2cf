//! A fit as JSON, with its scenarios.

use super::{End, Fit, Transfer};
use serde_json::{json, Value};

/// The longest run of a scenario, as a multiple of the capture's length.
const LONGER: f64 = 10.0;

impl Fit {
    /// The output of `ackclock capture --fit --json`, and the scenarios in which `stack` sends: the likeliest scenario and, if
    /// a value is uncertain, those at both ends of the intervals. `seconds`: their longest duration. Default: ten times the
    /// capture's length.
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
