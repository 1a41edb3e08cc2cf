//! What a store asks of the texts of many runs at once.

use blake2b_simd::many::{hash_many, HashManyJob, MAX_DEGREE};
use blake2b_simd::Params;
use memchr::memmem::Finder;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The checksum of each stored run: 63 bits of BLAKE2b over its key, a new line, and its JSON. `None` if one of them is not text,
/// as in a damaged file.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn checksums(keys: Vec<Bound<'_, PyAny>>, runs: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Option<u64>>> {
    if keys.len() != runs.len() {
        return Err(PyValueError::new_err(format!("{} keys of {} runs", keys.len(), runs.len())));
    }
    let mut sums = Vec::with_capacity(runs.len());
    // As many as the processor hashes at the same time.
    let mut inputs: [Vec<u8>; MAX_DEGREE] = Default::default();
    for (keys, runs) in keys.chunks(MAX_DEGREE).zip(runs.chunks(MAX_DEGREE)) {
        let mut are_texts = [false; MAX_DEGREE];
        for (((key, run), input), is_text) in keys.iter().zip(runs).zip(&mut inputs).zip(&mut are_texts) {
            input.clear();
            if let (Ok(key), Ok(run)) = (key.cast::<PyString>(), run.cast::<PyString>()) {
                let parts = [key.to_str()?.as_bytes(), b"\n", run.to_str()?.as_bytes()];
                parts.iter().for_each(|part| input.extend_from_slice(part));
                *is_text = true;
            }
        }
        let of = checksums_of(&inputs);
        sums.extend(of.iter().zip(are_texts).take(runs.len()).map(|(&sum, is_text)| is_text.then_some(sum)));
    }
    Ok(sums)
}

/// 63 bits of BLAKE2b over each input.
fn checksums_of(inputs: &[Vec<u8>; MAX_DEGREE]) -> [u64; MAX_DEGREE] {
    let mut params = Params::new();
    params.hash_length(8);
    let mut jobs = inputs.each_ref().map(|input| HashManyJob::new(&params, input));
    hash_many(&mut jobs);
    jobs.map(|job| job.to_hash().as_bytes().iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)) >> 1)
}

/// The identity of each run that has neither measures nor reordering, from its JSON as the engine writes it. `None` for any
/// other run, and if the text has to be unpacked to find it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 passes the values that it converted")]
pub(crate) fn plain_identities(runs: Vec<Bound<'_, PyString>>) -> PyResult<Vec<Option<String>>> {
    let reports = [Finder::new("\"measures\":"), Finder::new("\"reordering\":")];
    // In a text of JSON a quotation mark has a backslash before it, so the first place is the run's own identity.
    let (name, end) = ("\"identity\":\"", ['"', '\\']);
    let identity = Finder::new(name);
    let of = |run: &Bound<'_, PyString>| {
        let text = run.to_str()?;
        if reports.iter().any(|report| report.find(text.as_bytes()).is_some()) {
            return Ok(None);
        }
        let rest = identity.find(text.as_bytes()).map(|at| &text[at + name.len()..]);
        let found = rest.and_then(|rest| rest.find(end).map(|until| rest.split_at(until)));
        Ok(found.filter(|(_, rest)| rest.starts_with('"')).map(|(found, _)| found.to_owned()))
    };
    runs.iter().map(of).collect()
}
