//! The path that explains captures, as JSON with its scenarios.

use super::{end, side, unreadable};
use ackclock_capture::fit::{fit, Observer};
use ackclock_capture::read::open;
use ackclock_capture::Flows;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;

/// Packets between two checks for Ctrl-C.
const LOOK_EVERY: u64 = 1 << 16;

/// Fits a path to all flows of captures, which share a bottleneck. `seconds`: the scenario's longest duration. Default: ten times
/// the capture's length.
#[pyfunction]
pub(crate) fn capture_fit(
    py: Python<'_>,
    files: Vec<String>,
    at: Option<&str>,
    limit: usize,
    chosen: Option<(String, String)>,
    stack: &str,
    seconds: Option<f64>,
) -> PyResult<String> {
    let at = at.map(side).transpose()?;
    let chosen = chosen.map(|(a, b)| Ok::<_, PyErr>((end(&a)?, end(&b)?))).transpose()?;
    let mut observed = Vec::new();
    for name in files {
        let mut observer = Observer::new(at, chosen);
        let mut raised = None;
        let read = py.detach(|| {
            let mut flows = Flows::new(&mut observer, limit);
            let read = open(Path::new(&name)).and_then(|mut file| {
                file.read(|frame| {
                    if raised.is_none() && frame.number % LOOK_EVERY == 0 {
                        raised = Python::attach(|py| py.check_signals()).err();
                    }
                    if raised.is_none() {
                        flows.frame(frame);
                    }
                })
            });
            flows.finish();
            read
        });
        if let Some(e) = raised {
            return Err(e);
        }
        read.map_err(|e| unreadable(py, &name, &e))?;
        observed.extend(observer.finish());
    }
    let found = fit(&observed).map_err(|why| PyValueError::new_err(format!("fit: {why}")))?;
    Ok(found.json(stack, seconds).to_string())
}
