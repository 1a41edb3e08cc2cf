//! The path that explains captures, as JSON with its scenarios.

use super::{analysed, end, side, survey_file, tell};
use ackclock_capture::fit::observe::at_senders;
use ackclock_capture::fit::{fit, Observed, Observer};
use ackclock_capture::pair::apart::apart;
use ackclock_capture::survey::Survey;
use ackclock_capture::{Contents, Wanted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
        let look = |interface| observe(py, (&name, interface), Observer::new(at, chosen), limit);
        let (contents, found) = look(None)?;
        let survey = |one| {
            let new = Survey::new(Wanted::default(), limit, chosen);
            let found = py.detach(|| survey_file((&name, Some(one)), new, limit, |_| tell(None, 0.0)));
            Ok::<_, PyErr>(found.map_err(|refusal| refusal.raise(py, &name))?.2)
        };
        let parts = if at.is_none() && name != "-" { apart(&contents, survey)? } else { None };
        observed.extend(match parts {
            Some(parts) => {
                let each = parts.into_iter().map(|(one, _)| Ok(look(Some(one))?.1)).collect::<PyResult<_>>()?;
                at_senders(each)
            }
            None => found,
        });
    }
    let found = fit(&observed).map_err(|why| PyValueError::new_err(format!("fit: {why}")))?;
    Ok(found.json(stack, seconds).to_string())
}

/// The flows of a file, or of one interface of it.
fn observe(
    py: Python<'_>,
    (name, interface): (&str, Option<u32>),
    mut observer: Observer,
    limit: usize,
) -> PyResult<(Contents, Vec<Observed>)> {
    let check = |_| tell(None, 0.0);
    let read = py.detach(|| analysed((name, interface), &mut observer, limit, check));
    let (contents, _) = read.map_err(|refusal| refusal.raise(py, name))?;
    Ok((contents, observer.finish()))
}
